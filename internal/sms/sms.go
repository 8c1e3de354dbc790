// Package sms sends codes to phones as text messages, through a signed webhook or through a service with Twilio's API.
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

// Message is a text message with a code for a phone.
type Message struct {
	ID       string // the same at every attempt, so that receivers can ignore duplicates; if "", Send creates an id
	UserID   string // id of the account; only the hook gets it
	Phone    string // country code and number, digits without +
	Code     string
	Type     string // purpose of the code: a value of sms_type in Supabase's Send SMS hook
	Channel  string // sms or whatsapp; only Twilio uses it
	Language i18n.Language
}

// Config configures how messages are sent. If both Hook and Twilio are set, Hook is used. If both are nil, every Send fails.
type Config struct {
	Hook     *Hook
	Twilio   *Twilio
	SiteName func(ctx context.Context) (string, error) // returns the site's name, for the texts of messages that Twilio sends
}

// Sender sends messages.
type Sender struct {
	cfg    Config
	client *http.Client
	now    func() time.Time
}

// Limits of one HTTP request.
const (
	requestTimeout   = 15 * time.Second
	maxResponseBytes = 64 << 10 // the rest of a longer response is not read
)

// New returns a sender. It returns an error when the hook's secret is malformed.
func New(cfg Config, now func() time.Time) (*Sender, error) {
	if cfg.Hook != nil {
		if err := cfg.Hook.decodeSecret(); err != nil {
			return nil, err
		}
	}
	// Redirects are not followed, because they could send the code to a URL that was not configured.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{cfg: cfg, client: &http.Client{Timeout: requestTimeout, CheckRedirect: noRedirect}, now: now}, nil
}

// Formats of the phone number and the code of a Message.
var (
	phonePattern = regexp.MustCompile(`^[1-9][0-9]{1,14}$`) // the pattern of Supabase Auth
	codePattern  = regexp.MustCompile(`^[0-9A-Za-z]{4,12}$`)
)

// Send sends the message through the hook or Twilio. It returns a jobs.Permanent error if another attempt would fail in the same way. No
// error contains the code or the phone number, because errors are logged.
func (s *Sender) Send(ctx context.Context, m Message) error {
	if !phonePattern.MatchString(m.Phone) || !codePattern.MatchString(m.Code) {
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

// messageText returns the text that the phone shows.
func (s *Sender) messageText(ctx context.Context, m Message) (string, error) {
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
	if r := []rune(site); len(r) > 40 { // an SMS of one part has 70 characters, or 160 of the GSM alphabet
		site = string(r[:40])
	}
	return i18n.Choose(string(m.Language)).Text("sms.code", "code", m.Code, "site", site), nil
}

// exchange sends the request and returns the first maxResponseBytes bytes of the response. A status other than 2xx is an error,
// which is jobs.Permanent when another attempt would only repeat it.
func (s *Sender) exchange(req *http.Request) (response []byte, err error) {
	res, err := s.client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the text of url.Error contains the whole URL, which may be secret
		}
		return nil, fmt.Errorf("sms: %s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	response, err = io.ReadAll(io.LimitReader(res.Body, maxResponseBytes))
	if res.StatusCode/100 == 2 {
		if err != nil {
			return nil, fmt.Errorf("sms: %s: %w", req.URL.Host, err)
		}
		return response, nil
	}
	return nil, refusalError(res.StatusCode, fmt.Errorf("sms: %s responded with status %d%s", req.URL.Host, res.StatusCode, errorNumber(response)))
}

// retriable are the statuses below 500 after which another attempt may succeed. 401 and 403 are among them because the operator can
// correct the login while the message waits.
var retriable = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// refusalError marks err as jobs.Permanent when another attempt would get the same status.
func refusalError(status int, err error) error {
	if status >= 500 || slices.Contains(retriable, status) {
		return err
	}
	return jobs.Permanent(err)
}

// errorNumber returns Twilio's error number, such as " (reason 21211)", or "". Twilio's error texts are left out: they contain
// the phone number and would reach the log.
func errorNumber(response []byte) string {
	var body struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(response, &body) != nil || body.Code == 0 {
		return "" // not Twilio's JSON
	}
	return fmt.Sprintf(" (reason %d)", body.Code)
}
