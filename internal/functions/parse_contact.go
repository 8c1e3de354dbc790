package functions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"atelie/internal/httpx"
)

// This file parses the bodies of visitors' requests: the contact form, which a script sends as JSON, and the forms on the page of a private
// link.

// maxParts is the maximum number of parts (fields) of a multipart form. The contact form has five.
const maxParts = 50

// isFormType reports whether contentType (the Content-Type header) is the type of a URL-encoded or multipart form.
func isFormType(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/x-www-form-urlencoded" || media == "multipart/form-data")
}

// readContactRequest reads and parses the body of a call of submit-contact. With an error it also returns the fields that it could read, so
// that the page with the error can show them again.
func readContactRequest(w http.ResponseWriter, r *http.Request) (contactRequest, error) {
	body, err := httpx.ReadBody(w, r, maxBody)
	req, parseErr := parseContactRequest(r.Header.Get("Content-Type"), body)
	if err == nil {
		err = parseErr
	}
	return req, err
}

// parseContactRequest parses a body that is JSON, a URL-encoded form or a multipart form. It reads a body as JSON also if it has no
// Content-Type, or text/plain, which Supabase's client sets for a string. If several fields of a form have the same name, the first one
// counts. Invalid UTF-8 becomes U+FFFD.
func parseContactRequest(contentType string, body []byte) (req contactRequest, err error) {
	media, params := "application/json", map[string]string{}
	if contentType != "" {
		if media, params, err = mime.ParseMediaType(contentType); err != nil {
			return req, errUnsupportedType.Because(err)
		}
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return req, errUnsupportedType.Becausef("charset %q", charset)
	}
	switch media {
	case "application/json", "text/plain":
		if len(bytes.TrimSpace(body)) == 0 {
			return req, nil
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return contactRequest{}, httpx.ErrBadJSON.Because(err)
		}
		return req, nil
	}
	values, err := parseForm(media, params, body)
	return contactRequestFromForm(values), err
}

// readForm reads and parses the form in the body of a request. With an error it returns the fields that can be read.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	body, err := httpx.ReadBody(w, r, maxBody)
	media, params, typeErr := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if typeErr != nil {
		return nil, cmp.Or(err, error(errUnsupportedType.Because(typeErr)))
	}
	values, formErr := parseForm(media, params, body)
	return values, cmp.Or(err, formErr)
}

// parseForm parses a URL-encoded or a multipart form. With an error it returns the fields that can be read.
func parseForm(media string, params map[string]string, body []byte) (values url.Values, err error) {
	switch media {
	case "application/x-www-form-urlencoded":
		values, err = url.ParseQuery(string(body))
	case "multipart/form-data":
		values, err = parseParts(body, params["boundary"])
	default:
		return nil, errUnsupportedType.Becausef("%q", media)
	}
	if err != nil {
		err = errBadForm.Because(err)
	}
	return values, err
}

var (
	errFilePart     = errors.New("a file, which the form does not take")
	errTooManyParts = errors.New("more than " + strconv.Itoa(maxParts) + " parts")
)

// parseParts parses a multipart form (RFC 7578). A file in the form is an error, and so are more than maxParts parts. With an error it
// returns the parts before it.
func parseParts(body []byte, boundary string) (url.Values, error) {
	values := url.Values{}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return values, err
		case part.FileName() != "":
			return values, errFilePart
		case n == maxParts:
			return values, errTooManyParts
		}
		value, err := io.ReadAll(part) // limited by the length of body
		if err != nil {
			return values, err
		}
		values.Add(part.FormName(), string(value))
	}
}

func contactRequestFromForm(form url.Values) contactRequest {
	get := func(name string) string { return strings.ToValidUTF8(form.Get(name), "\uFFFD") }
	return contactRequest{Name: get("name"), Email: get("email"), Message: get("message"), Reason: get("reason"), Language: get("language"), ArtworkID: toArtworkID(get("artwork_id")), Follow: get("follow") == "true"}
}

// artworkID is the id of a work in the form in which databases store it, or "".
type artworkID string

func toArtworkID(text string) artworkID {
	id, err := uuid.Parse(text)
	if err != nil {
		return ""
	}
	return artworkID(id.String())
}

// UnmarshalJSON accepts any JSON value. Every value except the text of a UUID becomes "".
func (a *artworkID) UnmarshalJSON(data []byte) error {
	var text string
	_ = json.Unmarshal(data, &text) // leaves "" for another value than a text
	*a = toArtworkID(text)
	return nil
}

// follow is the field with which a client asks for the private link to its message.
type follow bool

// UnmarshalJSON accepts any JSON value. Every value except true means false: a wrong value must not prevent that the message is stored.
func (f *follow) UnmarshalJSON(data []byte) error {
	*f = string(data) == "true"
	return nil
}

// pointer returns nil for "".
func (a artworkID) pointer() *string {
	if a == "" {
		return nil
	}
	text := string(a)
	return &text
}
