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

// Limits of a message, in code points after trimming (spec §5, READING §3.28), and of the body in bytes.
const (
	minName     = 2
	maxName     = 100
	maxEmail    = 254
	minMessage  = 10
	maxMessage  = 5000
	maxBody     = 64 << 10
	maxHoneypot = 1000
)

// reasons are what a message can be about (spec §9).
var reasons = []string{"general", "commission", "purchase", "collaboration"}

// quarantineTime is how long the owner can restore a message whose hidden field was filled in (READING §3.1).
const quarantineTime = 30 * 24 * time.Hour

// storeTime bounds the wait for a busy database.
const storeTime = 15 * time.Second

// email is the rule of the page, which is that of its form library: what people call an address, not all of RFC 5321.
var email = regexp.MustCompile(`^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`)

// contactRequest is the body. Language says in which language to answer: "pt", else English.
type contactRequest struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Language string `json:"language"`

	language i18n.Language // what Language comes to
}

// submitContact stores a visitor's message and then says so (spec §7, READING §3.1, §3.28-30). A message whose hidden
// field was filled in by a machine gets the same answer and goes into quarantine.
func (s *Service) submitContact(w http.ResponseWriter, r *http.Request) error {
	req, err := readContact(w, r)
	if err != nil {
		return err
	}
	req.language = languageOf(r, req.Language)
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

// storeContact keeps a message that has passed normalize. Who closes the page now has sent it all the same.
func (s *Service) storeContact(ctx context.Context, req contactRequest) error {
	m := contactMessage{ID: uuid.NewString(), Name: req.Name, Email: req.Email, Message: req.Message, Reason: req.Reason, CreatedAt: s.now()}
	insert := func(ctx context.Context, tx *db.Tx, m contactMessage) error {
		if err := s.insertRecorded(ctx, tx, m); err != nil {
			return err
		}
		return s.queueNotice(ctx, tx, m.ID, req.language)
	}
	switch {
	case req.Reason == "":
		m.Reason = reasons[0]
	case !slices.Contains(reasons, req.Reason):
		m.Reason = harmless(req.Reason)
		insert = insertQuarantined
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	return s.db.WithTx(ctx, func(tx *db.Tx) error { return insert(ctx, tx, m) })
}

// insertRecorded stores the message and records it for live changes, both or neither.
func (s *Service) insertRecorded(ctx context.Context, tx *db.Tx, m contactMessage) error {
	if err := insertSubmission(ctx, tx, m); err != nil {
		return err
	}
	return s.recorded(ctx, tx, m.ID)
}

// problem is what is wrong with a field, as a key of the catalogue.
type problem struct{ field, key string }

// normalize trims the fields and returns what is wrong with them, at most one problem each, in their order. Lines end in
// \n and tabs become spaces, as people paste them; no other control character means anything in a message.
func (req *contactRequest) normalize() (problems []problem) {
	req.Name, req.Email, req.Reason = trim(req.Name), trim(req.Email), trim(req.Reason)
	req.Message = trim(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(req.Message))
	add := func(field, key string) { problems = append(problems, problem{field, key}) }
	switch length := utf8.RuneCountInString(req.Name); {
	case strings.ContainsFunc(req.Name, unicode.IsControl):
		add("name", "contact.error.nameSigns")
	case length < minName:
		add("name", "contact.error.name")
	case length > maxName:
		add("name", "contact.error.nameLong")
	}
	if len(req.Email) > maxEmail || !email.MatchString(req.Email) { // the rule leaves only ASCII
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

// trim cuts what the page's own trim cuts: white space and the byte order mark.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// harmless makes a text that was never meant to be read fit for the database.
func harmless(s string) string {
	length := 0
	return strings.Map(func(r rune) rune {
		if length++; length > maxHoneypot || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// PurgeQuarantine forgets messages that have been in quarantine for 30 days.
func (s *Service) PurgeQuarantine(ctx context.Context) error {
	return deleteQuarantined(ctx, s.db, s.now().Add(-quarantineTime))
}
