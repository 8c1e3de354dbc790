package functions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
)

// This file receives, stores and serves the pictures of replies in a conversation about a message. A picture is stored in two steps: its
// file while the form is being received, and its database rows later, together with the reply.

// Limits of pictures (docs/product.md).
const (
	maxReplyPictures       = 5                // of one reply
	maxPicturesPerAuthor   = 50               // in one conversation, by the visitor or by all owners together
	maxPicturesPerHour     = 200              // by all visitors together, in all conversations
	maxPictureFormsPerHour = 20               // forms with pictures from one IP address
	pictureFormTimeout     = 10 * time.Minute // limit of receiving the whole form
	pictureTextLimit       = 64 << 10         // bytes of one text field of the form

	// maxPictureForm is the maximum number of bytes of a form. It has room for five pictures of 10 MB, the texts, and a margin. With the
	// margin, the error for a picture that is slightly too large is about the picture, and not about the form.
	maxPictureForm = 64 << 20
)

// ReceivedPicture is a picture whose file is stored, but whose rows in the tables of package storage are not inserted yet. Save inserts
// them. Discard deletes the file, unless Save was successful. The caller must always call Discard in the end. If Save was successful but its
// transaction is rolled back, Discard leaves the file, and package storage deletes it later.
type ReceivedPicture struct {
	Width, Height int
	Size          int64 // bytes
	Save          func(ctx context.Context, tx *db.Tx) error
	Discard       func(ctx context.Context)
}

// unsavedPicture is a picture of a reply that is being stored. Its file is stored, its rows are not.
type unsavedPicture struct {
	ReceivedPicture

	Name string // name of the object in the bucket conversation-pictures
}

func discardPictures(ctx context.Context, pictures []unsavedPicture) {
	for _, p := range pictures {
		p.Discard(ctx)
	}
}

// mayHavePictures reports whether the body of a request is a form of the type that can contain files.
func mayHavePictures(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "multipart/form-data"
}

// withPictureTimeout returns the request without the general timeout of requests, which is too short for pictures. The body has
// pictureFormTimeout instead, and each SQL statement storeTimeout.
func (s *Service) withPictureTimeout(r *http.Request) *http.Request {
	return r.WithContext(db.WithStatementTimeout(context.WithoutCancel(r.Context()), s.storeTimeout))
}

// readPictureForm reads a form with pictures in the field "picture". Before it stores the first picture, it calls onFirstPicture with the
// fields that precede the picture. onFirstPicture returns the id of the message. With an error, readPictureForm returns the fields that it
// could read, and no pictures. It reads the whole body even then, because browsers show no response before they have sent everything.
func (s *Service) readPictureForm(w http.ResponseWriter, r *http.Request, onFirstPicture func(url.Values) (messageID string, err error)) (values url.Values, pictures []unsavedPicture, err error) {
	values = url.Values{}
	if deadline := time.Now().Add(pictureFormTimeout); r.Body != nil {
		c := http.NewResponseController(w)
		// An error means that the writer has no connection, as in tests.
		_ = errors.Join(c.SetReadDeadline(deadline), c.SetWriteDeadline(deadline.Add(time.Minute)))
	}
	body := http.MaxBytesReader(w, r.Body, maxPictureForm)
	defer func() {
		if err != nil {
			_, _ = io.Copy(io.Discard, body) // an error is that of the form, or means that the client has gone
			discardPictures(r.Context(), pictures)
			pictures = nil
		}
	}()
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return values, pictures, errUnsupportedType.Because(err)
	}
	parts, folder := multipart.NewReader(body, params["boundary"]), ""
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return values, pictures, nil
		case err != nil:
			return values, pictures, formError(err)
		case n == maxParts:
			return values, pictures, errBadForm.Because(errTooManyParts)
		case part.FormName() != "picture":
			value, err := io.ReadAll(io.LimitReader(part, pictureTextLimit+1))
			if err != nil {
				return values, pictures, formError(err)
			}
			if part.FileName() != "" {
				return values, pictures, errBadForm.Because(errFilePart)
			}
			if len(value) > pictureTextLimit {
				return values, pictures, httpx.ErrTooLarge
			}
			values.Add(part.FormName(), string(value))
			continue
		case part.FileName() == "": // browsers send an empty part for a field without files
			continue
		case len(pictures) == maxReplyPictures:
			return values, pictures, errTooManyPictures
		}
		if folder == "" {
			messageID, err := onFirstPicture(values)
			if err != nil {
				return values, pictures, err
			}
			folder = messageID + "/" + uuid.NewString() + "/"
		}
		p := unsavedPicture{Name: folder + strconv.Itoa(len(pictures)+1)}
		if p.ReceivedPicture, err = s.cfg.ReceivePicture(r.Context(), p.Name, part); err != nil {
			return values, pictures, pictureError(err)
		}
		pictures = append(pictures, p)
	}
}

func formError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return httpx.ErrTooLarge.Because(err)
	}
	return errBadForm.Because(err)
}

// pictureError returns the error for the response to a refused picture, by the codes of package storage.
func pictureError(err error) error {
	refusal, ok := errors.AsType[*apperr.Error](err)
	if !ok || refusal.Status >= http.StatusInternalServerError {
		return err
	}
	switch refusal.Code {
	case "EntityTooLarge":
		return errLargePicture.Because(err)
	case "InvalidMimeType", "HEICNotRead", "PictureBroken":
		return errBadPicture.Because(err)
	}
	return errBadForm.Because(err)
}

// checkPictures returns an error if an author has too many pictures in the conversation, or, for a visitor, if all visitors together have
// sent too many in the last hour. It is called before further pictures are read.
func (s *Service) checkPictures(ctx context.Context, messageID, author string) error {
	byAuthor, byVisitors, err := countPictures(ctx, s.db, messageID, author, s.now().Add(-time.Hour))
	switch {
	case err != nil:
		return err
	case byAuthor >= maxPicturesPerAuthor:
		return errPicturesFull
	case author == authorVisitor && byVisitors >= maxPicturesPerHour:
		return errPicturesBusy
	}
	return nil
}

// savePictures saves the pictures of a reply, in the transaction that stores the reply.
func (s *Service) savePictures(ctx context.Context, tx *db.Tx, r reply) error {
	if len(r.NewPictures) == 0 {
		return nil
	}
	byAuthor, _, err := countPictures(ctx, tx, r.MessageID, r.Author, r.CreatedAt)
	if err == nil && byAuthor+len(r.NewPictures) > maxPicturesPerAuthor {
		err = errPicturesFull
	}
	if err != nil {
		return err
	}
	for i, p := range r.NewPictures {
		if err := p.Save(ctx, tx); err != nil {
			return err
		}
		row := picture{ID: uuid.NewString(), MessageID: r.MessageID, ReplyID: r.ID, Position: i + 1, Name: p.Name, Width: p.Width, Height: p.Height, Bytes: p.Size}
		if err := insertPicture(ctx, tx, row, r.CreatedAt); err != nil {
			return err
		}
	}
	return nil
}

// readEnquiryForm reads the form of a private link's page that can have pictures.
func (s *Service) readEnquiryForm(w http.ResponseWriter, r *http.Request, e enquiry) (url.Values, []unsavedPicture, error) {
	return s.readPictureForm(w, r, func(url.Values) (string, error) {
		if e.Quarantined { // its page has no form
			return "", errBadForm
		}
		hits, err := s.db.Hit(r.Context(), "enquiry-pictures", httpx.LimitSubject(r.Context()), time.Hour, s.now())
		if err == nil && hits > maxPictureFormsPerHour {
			err = errPicturesBusy
		}
		return e.Message.ID, errors.Join(err, s.cfg.CheckSpace(), s.checkPictures(r.Context(), e.Message.ID, authorVisitor))
	})
}

// messageAction has the fields that the bodies of all calls of an owner about a message share.
type messageAction struct {
	Action    string `json:"action"`     // "" means state
	MessageID string `json:"message_id"` // a message in the inbox

	pictures []unsavedPicture
}

// parseMessageID parses MessageID as a UUID, and brings it into the form that the database stores.
func (m *messageAction) parseMessageID() error {
	id, err := uuid.Parse(m.MessageID)
	if err != nil {
		return errInvalid("The message_id must be a UUID")
	}
	m.MessageID = id.String()
	return nil
}

// readMessageAction reads the body of an owner's call into req, which embeds m. The body is JSON or, with pictures, a form whose first
// field "request" contains the JSON. The caller must discard the pictures, even if readMessageAction returns an error.
func (s *Service) readMessageAction(w http.ResponseWriter, r *http.Request, req any, m *messageAction) error {
	if !mayHavePictures(r) {
		if err := httpx.DecodeJSON(w, r, maxBody, req); err != nil {
			return err
		}
		return m.parseMessageID()
	}
	decode := func(form url.Values) error {
		if err := json.Unmarshal([]byte(form.Get("request")), req); err != nil {
			return httpx.ErrBadJSON.Because(err)
		}
		return m.parseMessageID()
	}
	form, pictures, err := s.readPictureForm(w, r, func(form url.Values) (string, error) {
		if err := decode(form); err != nil {
			return "", err
		}
		return m.MessageID, errors.Join(s.cfg.CheckSpace(), s.checkPictures(r.Context(), m.MessageID, authorOwner))
	})
	if err != nil {
		return err
	}
	m.pictures = pictures
	return decode(form)
}

// enquiryPicture handles /enquiry/{token}/picture/{id}, and the small rendition at /small below it. If the link or the picture does not
// exist, it responds with the page for a link that does not exist.
func (s *Service) enquiryPicture(w http.ResponseWriter, r *http.Request, token, rest string) error {
	if r.Method == http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD")
		return errMethodNotAllowed
	}
	p := enquiryPage{Language: requestedLanguage(r, "")}
	if err := s.enforceLimit(w, r, "enquiry-picture", httpx.LimitSubject(r.Context()), enquiryPicturesPerMinute, errTooManyRequests); errors.Is(err, errTooManyRequests) {
		return s.writeEnquiryRefusal(w, r, p, apperr.From(err))
	} else if err != nil {
		return err
	}
	text, small := strings.CutSuffix(rest, "/small")
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		id = uuid.Nil
	}
	name, err := findPicture(r.Context(), s.db, hashText(token), id.String(), s.now())
	if errors.Is(err, db.ErrNoRows) {
		return s.writeNoEnquiry(w, r, p)
	}
	if err != nil {
		return err
	}
	err = s.cfg.ServePicture(w, r, name, small)
	if refusal, ok := errors.AsType[*apperr.Error](err); ok && refusal.Status < http.StatusInternalServerError {
		// The picture was removed meanwhile, or it is broken.
		httpx.NoteError(r.Context(), refusal)
		return s.writeNoEnquiry(w, r, p)
	}
	return err
}

// addPictures adds their pictures to the replies of a message.
func addPictures(ctx context.Context, q db.Querier, messageID string, replies []reply) error {
	all, err := listPictures(ctx, q, messageID)
	for _, p := range all {
		if i := slices.IndexFunc(replies, func(r reply) bool { return r.ID == p.ReplyID }); i >= 0 {
			replies[i].Pictures = append(replies[i].Pictures, p)
		}
	}
	return err
}

// PictureSrc returns the URL path of a picture, for the template.
func (p enquiryPage) PictureSrc(id string) string {
	path, _, _ := strings.Cut(p.Path, "?")
	return path + "/picture/" + id
}

// PictureAlt returns the text for a picture of a reply, for the template.
func (p enquiryPage) PictureAlt(r reply, at picture) string {
	return p.Language.Text("enquiry.pictures.alt", "n", strconv.Itoa(at.Position), "all", strconv.Itoa(len(r.Pictures)))
}

// mailedText returns the text of a reply for a mail, followed by the number of its pictures.
func mailedText(text string, pictures int, language i18n.Language) string {
	if pictures == 0 {
		return text
	}
	return strings.TrimPrefix(text+"\n\n"+language.Text("enquiry.pictures.mailed", "count", strconv.Itoa(pictures)), "\n\n")
}
