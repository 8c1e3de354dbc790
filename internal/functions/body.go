package functions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"atelie/internal/httpx"
)

// maxParts bounds the fields of a multipart form; the site's own has five.
const maxParts = 50

// isForm tells what a browser makes of a form without scripts, which no other caller needs a page for.
func isForm(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/x-www-form-urlencoded" || media == "multipart/form-data")
}

// readContact reads the body in any of the three forms; what it returns beside an error is as far as it got.
func readContact(w http.ResponseWriter, r *http.Request) (contactRequest, error) {
	body, err := httpx.ReadBody(w, r, maxBody)
	if err != nil {
		return contactRequest{}, err
	}
	return parseContact(r.Header.Get("Content-Type"), body)
}

// parseContact takes JSON, also under text/plain, as the client labels a text, and without a label; and both kinds of
// forms. In forms the first field of a name counts, and broken UTF-8 becomes U+FFFD, as in JSON.
func parseContact(contentType string, body []byte) (req contactRequest, err error) {
	media, params := "application/json", map[string]string{}
	if contentType != "" {
		if media, params, err = mime.ParseMediaType(contentType); err != nil {
			return req, errUnknownType.Because(err)
		}
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return req, errUnknownType.Becausef("charset %q", charset)
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
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return req, errBadForm.Because(err)
		}
		return contactOf(values), nil
	case "multipart/form-data":
		values, err := parseParts(body, params["boundary"])
		if err != nil {
			return req, errBadForm.Because(err)
		}
		return contactOf(values), nil
	}
	return req, errUnknownType.Becausef("%q", media)
}

var (
	errFile      = errors.New("a file, which the form does not take")
	errManyParts = errors.New("more than " + strconv.Itoa(maxParts) + " parts")
)

// parseParts reads a multipart form (RFC 7578) that lies in memory.
func parseParts(body []byte, boundary string) (url.Values, error) {
	values := url.Values{}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return nil, err
		case part.FileName() != "":
			return nil, errFile
		case n == maxParts:
			return nil, errManyParts
		}
		value, err := io.ReadAll(part) // no more than the body
		if err != nil {
			return nil, err
		}
		values.Add(part.FormName(), string(value))
	}
}

func contactOf(form url.Values) contactRequest {
	get := func(name string) string { return strings.ToValidUTF8(form.Get(name), "\uFFFD") }
	return contactRequest{Name: get("name"), Email: get("email"), Message: get("message"), Reason: get("reason"), Language: get("language")}
}
