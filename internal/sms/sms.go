// Package sms sends codes to phones: through a signed webhook, or through a service that speaks as Twilio does.
package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"atelie/internal/i18n"
	"atelie/internal/jobs"
)

// Message is a code for a phone.
type Message struct {
	ID       string // same at every try to send it; made up when empty
	UserID   string
	Phone    string // digits with the country's, without +
	Code     string
	Type     string // what the code is for, as the service says it
	Channel  string // sms, or whatsapp
	Language i18n.Language
}

// Config holds the one sender that is set up; both nil means none.
type Config struct {
	Hook     *Hook
	Twilio   *Twilio
	SiteName func(ctx context.Context) (string, error)
}

// Sender sends messages.
type Sender struct {
	cfg    Config
	client *http.Client
	now    func() time.Time
}

// Limits of one exchange.
const (
	exchangeTime = 15 * time.Second
	maxAnswer    = 64 << 10 // bytes that are read of an answer
)

// New checks the settings of the sender.
func New(cfg Config, now func() time.Time) (*Sender, error) {
	if cfg.Hook != nil {
		if err := cfg.Hook.prepare(); err != nil {
			return nil, err
		}
	}
	// A redirect would carry the code to an address that nobody has set.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{cfg: cfg, client: &http.Client{Timeout: exchangeTime, CheckRedirect: stay}, now: now}, nil
}

var (
	phone = regexp.MustCompile(`^[1-9][0-9]{1,14}$`) // WIRE: the service's own rule
	code  = regexp.MustCompile(`^[0-9A-Za-z]{4,12}$`)
)

// Send hands the message over. An error that another try would only repeat is jobs.Permanent. No error has the code or
// the number in it.
func (s *Sender) Send(ctx context.Context, m Message) error {
	if !phone.MatchString(m.Phone) || !code.MatchString(m.Code) {
		return jobs.Permanent(errors.New("sms: the number or the code cannot be used"))
	}
	if m.ID == "" {
		m.ID = uuid.NewString()
	}
	switch {
	case s.cfg.Hook != nil:
		return s.callHook(ctx, m)
	case s.cfg.Twilio != nil:
		return s.callTwilio(ctx, m)
	}
	return jobs.Permanent(errors.New("sms: no sender of text messages is set up"))
}

// text is what the phone shows.
func (s *Sender) text(ctx context.Context, m Message) (string, error) {
	site, err := s.cfg.SiteName(ctx)
	if err != nil {
		return "", fmt.Errorf("sms: the site's name: %w", err)
	}
	site = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, site)
	site = strings.Join(strings.Fields(site), " ")
	if r := []rune(site); len(r) > 40 { // a message of one part has 70 letters, or 160 without accents
		site = string(r[:40])
	}
	return i18n.Choose(string(m.Language)).Text("sms.code", "code", m.Code, "site", site), nil
}

// exchange sends the request and gives the answer's first bytes; what is no 2xx is an error that says whether to try again.
func (s *Sender) exchange(req *http.Request) (answer []byte, err error) {
	res, err := s.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its own text has the whole address, which may hold a secret
		}
		return nil, fmt.Errorf("sms: %s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode/100 == 2 {
		if err != nil {
			return nil, fmt.Errorf("sms: %s: %w", req.URL.Host, err)
		}
		return answer, nil
	}
	return nil, refusal(res.StatusCode, fmt.Errorf("sms: %s answered %d%s", req.URL.Host, res.StatusCode, reason(answer)))
}

// later are the statuses under 500 that pass: too slow, too early, too many, and refusals of our own login, which the
// owner can put right while the message waits.
var later = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

func refusal(status int, err error) error {
	if status >= 500 || slices.Contains(later, status) {
		return err
	}
	return jobs.Permanent(err)
}

// reason is the number that Twilio gives a failure; its texts repeat the phone number, and stay out of the log.
func reason(answer []byte) string {
	var body struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(answer, &body) != nil || body.Code == 0 {
		return "" // an answer that is no JSON has no reason to show
	}
	return fmt.Sprintf(" (reason %d)", body.Code)
}
