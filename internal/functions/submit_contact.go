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

// contactTexts are what the call answers, in one language.
type contactTexts struct {
	sent, nameShort, nameLong, nameSigns, email, messageShort, messageLong, messageSigns string
}

var (
	english = contactTexts{
		sent:         "Thank you for reaching out. I'll get back to you soon.",
		nameShort:    "Name must be at least 2 characters",
		nameLong:     "Name must be at most 100 characters",
		nameSigns:    "Name must not contain control characters",
		email:        "Please enter a valid email address",
		messageShort: "Message must be at least 10 characters",
		messageLong:  "Message must be at most 5000 characters",
		messageSigns: "Message must not contain control characters",
	}
	portuguese = contactTexts{
		sent:         "Agradeço o seu contacto. Respondo em breve.",
		nameShort:    "O nome deve ter pelo menos 2 caracteres",
		nameLong:     "O nome deve ter no máximo 100 caracteres",
		nameSigns:    "O nome não pode conter caracteres de controlo",
		email:        "Indique um endereço de e-mail válido",
		messageShort: "A mensagem deve ter pelo menos 10 caracteres",
		messageLong:  "A mensagem deve ter no máximo 5000 caracteres",
		messageSigns: "A mensagem não pode conter caracteres de controlo",
	}
)

// contactRequest is the body. Language says in which language to answer: "pt", else English.
type contactRequest struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Language string `json:"language"`
}

// submitContact stores a visitor's message and then says so (spec §7, READING §3.1, §3.28-30). A message whose hidden
// field was filled in by a machine gets the same answer and goes into quarantine.
func (s *Service) submitContact(w http.ResponseWriter, r *http.Request) error {
	var req contactRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	texts := english
	if req.Language == "pt" {
		texts = portuguese
	}
	if problem := req.normalize(texts); problem != "" {
		return errInvalid(problem)
	}
	m := contactMessage{ID: uuid.NewString(), Name: req.Name, Email: req.Email, Message: req.Message, Reason: req.Reason, CreatedAt: s.now()}
	insert := s.insertRecorded
	switch {
	case req.Reason == "":
		m.Reason = reasons[0]
	case !slices.Contains(reasons, req.Reason):
		m.Reason = harmless(req.Reason)
		insert = insertQuarantined
	}
	// Who closes the page now has sent the message all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
	defer cancel()
	if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return insert(ctx, tx, m) }); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}{true, texts.sent})
}

// insertRecorded stores the message and records it for live changes, both or neither.
func (s *Service) insertRecorded(ctx context.Context, tx *db.Tx, m contactMessage) error {
	if err := insertSubmission(ctx, tx, m); err != nil {
		return err
	}
	return s.recorded(ctx, tx, m.ID)
}

// normalize trims the fields and returns what is wrong with the first bad one, or "". Lines end in \n and tabs become
// spaces, as people paste them; no other control character means anything in a message.
func (req *contactRequest) normalize(t contactTexts) string {
	req.Name, req.Email, req.Reason = trim(req.Name), trim(req.Email), trim(req.Reason)
	req.Message = trim(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(req.Message))
	name, message := utf8.RuneCountInString(req.Name), utf8.RuneCountInString(req.Message)
	switch {
	case strings.ContainsFunc(req.Name, unicode.IsControl):
		return t.nameSigns
	case name < minName:
		return t.nameShort
	case name > maxName:
		return t.nameLong
	case len(req.Email) > maxEmail, !email.MatchString(req.Email): // the rule leaves only ASCII
		return t.email
	case strings.ContainsFunc(req.Message, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }):
		return t.messageSigns
	case message < minMessage:
		return t.messageShort
	case message > maxMessage:
		return t.messageLong
	}
	return ""
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
