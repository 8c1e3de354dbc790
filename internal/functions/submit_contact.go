package functions

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
)

// Limits of a message. Lengths are in code points, without white space at both ends; those in bytes have a comment.
const (
	minName     = 2
	maxName     = 100
	maxEmail    = 254 // bytes
	minMessage  = 10
	maxMessage  = 5000
	maxBody     = 64 << 10 // bytes of the request body
	maxHoneypot = 1000     // characters of the hidden field that are stored; the rest is cut off
)

// reasons are the valid values of the field "reason", which the form hides from visitors. The form itself sets it when the
// message is about a work. Only spam programs fill in another value.
var reasons = []string{"general", "commission", "purchase", "collaboration"}

// quarantineLife is how long a message stays in quarantine before it is deleted.
const quarantineLife = 30 * 24 * time.Hour

// storeTimeout limits how long storing a message can take, for example because the database is busy.
const storeTimeout = 15 * time.Second

// emailPattern matches a valid e-mail address of a visitor. It is the pattern of zod, the validation library of the site's
// form, and allows less than RFC 5321.
var emailPattern = regexp.MustCompile(`^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`)

// contactRequest is the body of a call of submit-contact. Language is the language of the response: "pt", or English for any
// other value.
type contactRequest struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Language string `json:"language"`

	language i18n.Language // set from Language by requestedLanguage
}

// submitContact handles the function submit-contact: it stores a visitor's message. A message whose hidden field was filled in
// goes into quarantine (docs/product.md, rule 13). The response is the same in both cases, so that a spam program does
// not notice.
func (s *Service) submitContact(w http.ResponseWriter, r *http.Request) error {
	req, err := readContact(w, r)
	if err != nil {
		return err
	}
	req.language = requestedLanguage(r, req.Language)
	if problems := req.normalize(); len(problems) > 0 {
		return errInvalid(req.language.Text(problems[0].key))
	}
	if err := s.storeContact(r.Context(), req); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}{true, req.language.Text("contact.toast.sentBody")})
}

// storeContact stores a message that has passed normalize. The message goes into quarantine when its hidden field was filled
// in, or when it is part of a flood. A visitor who closes the page does not cancel it.
func (s *Service) storeContact(ctx context.Context, req contactRequest) error {
	m := contactMessage{ID: uuid.NewString(), Name: req.Name, Email: req.Email, Message: req.Message, Reason: req.Reason, CreatedAt: s.now()}
	switch {
	case req.Reason == "":
		m.Reason = reasons[0]
	case !slices.Contains(reasons, req.Reason):
		m.Reason, m.Cause = sanitize(req.Reason), causeField
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		kept := m // a copy, because WithTx may call this function again
		if m.Cause == "" {
			flood, err := s.exceedsFloodLimit(ctx, tx)
			if err != nil {
				return err
			}
			if flood {
				kept.Cause = causeFlood
			}
		}
		if kept.Cause != "" {
			return insertQuarantined(ctx, tx, kept)
		}
		if err := s.insertRecorded(ctx, tx, kept); err != nil {
			return err
		}
		return s.queueNotice(ctx, tx, kept.ID, req.language)
	})
}

// insertRecorded stores the message and records it for live changes.
func (s *Service) insertRecorded(ctx context.Context, tx *db.Tx, m contactMessage) error {
	if err := insertSubmission(ctx, tx, m); err != nil {
		return err
	}
	return s.cfg.Recorded(ctx, tx, m.ID)
}

// problem is an error in a field. key is the key of its text in package i18n.
type problem struct{ field, key string }

// normalize trims the fields and returns their problems in the order of the form, at most one for each field. In the message
// it changes line ends to \n and tabs to spaces, because pasted text contains them. Other control characters are a problem.
func (req *contactRequest) normalize() (problems []problem) {
	req.Name, req.Email, req.Reason = trimSpace(req.Name), trimSpace(req.Email), trimSpace(req.Reason)
	req.Message = trimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(req.Message))
	add := func(field, key string) { problems = append(problems, problem{field, key}) }
	switch length := utf8.RuneCountInString(req.Name); {
	case strings.ContainsFunc(req.Name, unicode.IsControl):
		add("name", "contact.error.nameSigns")
	case length < minName:
		add("name", "contact.error.name")
	case length > maxName:
		add("name", "contact.error.nameLong")
	}
	if len(req.Email) > maxEmail || !emailPattern.MatchString(req.Email) { // the pattern allows only ASCII
		add("email", "contact.error.email")
	}
	switch length := utf8.RuneCountInString(req.Message); {
	case strings.ContainsFunc(req.Message, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }):
		add("message", "contact.error.messageSigns")
	case length < minMessage:
		add("message", "contact.error.message")
	case length > maxMessage:
		add("message", "contact.error.messageLong")
	}
	return problems
}

// trimSpace trims white space and the byte order mark, as JavaScript's trim does in the site's form.
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// sanitize removes control characters and cuts the text after maxHoneypot characters.
func sanitize(s string) string {
	length := 0
	return strings.Map(func(r rune) rune {
		if length++; length > maxHoneypot || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
