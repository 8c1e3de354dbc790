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

// Limits of a message. Lengths are in code points unless the comment says bytes. White space at both ends does not count.
const (
	minName        = 2
	maxName        = 100
	maxEmail       = 254 // bytes
	minMessage     = 10
	maxMessage     = 5000
	maxBody        = 64 << 10 // bytes; limit of a request body
	maxHiddenField = 1000     // a longer text in the hidden field is cut off here
)

// reasons are the valid values of the field "reason", which the form hides from visitors ("the hidden field"). The form itself
// sets the field if the message is about a work. Only spam programs enter another value. The first reason is the default.
var reasons = []string{"general", "commission", "purchase", "collaboration"}

// quarantineLife is how long a message stays in quarantine before it is deleted.
const quarantineLife = 30 * 24 * time.Hour

// storeTimeout limits how long a write or a query of this package can take that does not end with the request.
const storeTimeout = 15 * time.Second

// emailPattern matches a valid e-mail address of a visitor. It is the pattern of zod, the library with which the site's form
// checks its fields. It matches fewer addresses than RFC 5321 allows.
var emailPattern = regexp.MustCompile(`^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`)

// contactRequest is the body of a call of submit-contact.
type contactRequest struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Language string `json:"language"` // of the response: "pt", or English for any other value

	responseLanguage i18n.Language // what requestedLanguage returns for Language
}

// submitContact handles the function submit-contact: it stores a visitor's message. A message that looks like spam goes into
// quarantine (docs/product.md, rule 13). The response does not show this, so that a spam program does not notice.
func (s *Service) submitContact(w http.ResponseWriter, r *http.Request) error {
	req, err := readContactRequest(w, r)
	if err != nil {
		return err
	}
	req.responseLanguage = requestedLanguage(r, req.Language)
	if problems := req.normalize(); len(problems) > 0 {
		return errInvalid(req.responseLanguage.Text(problems[0].key))
	}
	if err := s.storeMessage(r.Context(), req); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}{true, req.responseLanguage.Text("contact.toast.sentBody")})
}

// storeMessage stores a message that has passed normalize. The message goes into quarantine if its hidden field was filled in, or
// if it is part of a flood. It is stored even if the visitor closes the page.
func (s *Service) storeMessage(ctx context.Context, req contactRequest) error {
	m := contactMessage{ID: uuid.NewString(), Name: req.Name, Email: req.Email, Message: req.Message, Reason: req.Reason, CreatedAt: s.now()}
	switch {
	case req.Reason == "":
		m.Reason = reasons[0]
	case !slices.Contains(reasons, req.Reason):
		m.Reason, m.Cause = sanitize(req.Reason), causeHiddenField
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		stored := m // a copy, because WithTx may call this function again
		if m.Cause == "" {
			flood, err := s.countAgainstFloodLimit(ctx, tx)
			if err != nil {
				return err
			}
			if flood {
				stored.Cause = causeFlood
			}
		}
		if stored.Cause != "" {
			return insertQuarantined(ctx, tx, stored)
		}
		if err := s.insertAndRecord(ctx, tx, stored); err != nil {
			return err
		}
		return s.queuePlan(ctx, tx, stored.ID, req.responseLanguage)
	})
}

// insertAndRecord stores a message in the inbox and records it for live changes.
func (s *Service) insertAndRecord(ctx context.Context, tx *db.Tx, m contactMessage) error {
	if err := insertInboxMessage(ctx, tx, m); err != nil {
		return err
	}
	return s.cfg.RecordInserted(ctx, tx, m.ID)
}

// problem is a mistake in a field of the form. key is the key of its text in package i18n.
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

// sanitize removes control characters, and cuts the text after maxHiddenField characters.
func sanitize(s string) string {
	length := 0
	return strings.Map(func(r rune) rune {
		if length++; length > maxHiddenField || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
