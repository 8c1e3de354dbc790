package functions

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"atelie/internal/jobs"
)

// webhookTimeout limits one call of a webhook, from the DNS query to the end of the response.
const webhookTimeout = 10 * time.Second

// Errors of CheckWebhook. A webhook is a URL in the owner's settings, to which the server posts new messages.
var (
	ErrWebhookURL     = errors.New("the webhook's address must be https:// and without a user name")
	ErrWebhookHost    = errors.New("the webhook's address names a host that cannot exist")
	ErrWebhookPrivate = errors.New("the webhook's address leads into a private network")
)

// lookupTimeout limits the DNS query for a webhook's host when the webhook is saved.
const lookupTimeout = 2 * time.Second

// CheckWebhook checks the URL of a webhook before it is saved. It returns ErrWebhookURL, ErrWebhookHost, ErrWebhookPrivate
// or nil. It accepts a host name that does not resolve now, because each call of the webhook checks the IP address again
// (newWebhookClient).
func (s *Service) CheckWebhook(ctx context.Context, webhook string) error {
	u, err := s.parseWebhookURL(webhook)
	if err != nil || s.cfg.PrivateWebhooks {
		return err
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		if !isPublic(ip) {
			return ErrWebhookPrivate
		}
		return nil
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return ErrWebhookPrivate
	}
	if !strings.Contains(name, ".") {
		return ErrWebhookHost
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name); err == nil && slices.ContainsFunc(found, func(ip netip.Addr) bool { return !isPublic(ip) }) {
		return ErrWebhookPrivate
	}
	return nil
}

// hostName matches host names of the DNS (RFC 1123 §2.1). numericHost matches names whose last part is a number. URL parsers read
// such names as IP addresses in an old form, such as 0x7f.1.
var (
	hostName    = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)
	numericHost = regexp.MustCompile(`(^|\.)(0[xX][0-9A-Fa-f]*|[0-9]+)\.?$`)
)

// parseWebhookURL parses the URL of a webhook. It returns ErrWebhookURL or ErrWebhookHost, and makes no DNS query.
func (s *Service) parseWebhookURL(webhook string) (*url.URL, error) {
	u, err := url.Parse(webhook)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && (u.Scheme != "http" || !s.cfg.PrivateWebhooks)) {
		return nil, ErrWebhookURL
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, ErrWebhookHost
		}
	}
	name := u.Hostname()
	if _, err := netip.ParseAddr(name); err == nil {
		return u, nil
	}
	// The HTTP client converts names in other scripts to their ASCII form (punycode), so their form is not checked here.
	ascii := !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	if name == "" || len(name) > 253 || (ascii && (!hostName.MatchString(name) || numericHost.MatchString(name))) {
		return nil, ErrWebhookHost
	}
	return u, nil
}

// hostOfWebhook returns the host of a webhook's URL. The path and the query may be secret and are not shown or stored.
func hostOfWebhook(webhook string) string {
	u, err := url.Parse(webhook)
	if err != nil {
		return ""
	}
	return u.Host
}

// webhookSecret returns the signing key in the form that Standard Webhooks 1.0 defines for receivers.
func (s *Service) webhookSecret() string {
	return "whsec_" + base64.StdEncoding.EncodeToString(s.cfg.WebhookKey)
}

// newWebhookClient returns an HTTP client for URLs that an owner entered. It follows no redirect and uses no proxy. Unless
// private is set, it connects only to public IP addresses. It checks the IP address of each connection and not the host name,
// because a name can resolve to another IP address than before (DNS rebinding).
func newWebhookClient(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: webhookTimeout}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !isPublic(at.Addr()) {
				return ErrWebhookPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       webhookTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: webhookTimeout, MaxResponseHeaderBytes: 64 << 10},
	}
}

// reservedNetworks are networks that are not private by netip's rules, but are not part of the public internet either
// (RFC 6890, RFC 6052, RFC 3056).
var reservedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
}

func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(reservedNetworks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// signWebhook returns one signature of Standard Webhooks 1.0. sent is the time in Unix seconds.
func signWebhook(key []byte, id, sent string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// callWebhook posts a body to the owner's webhook, signed as Standard Webhooks 1.0 says. id must be the same at every attempt.
// An error that another attempt would only repeat is jobs.Permanent. Errors contain the host, but no other part of the URL and
// nothing of the response, because both may be secret.
func (s *Service) callWebhook(ctx context.Context, webhook, id string, body []byte) error {
	if _, err := s.parseWebhookURL(webhook); err != nil {
		return jobs.Permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook, bytes.NewReader(body))
	if err != nil {
		return jobs.Permanent(ErrWebhookURL)
	}
	id, sent := "msg_"+id, strconv.FormatInt(s.now().Unix(), 10)
	signature := signWebhook(s.cfg.WebhookKey, id, sent, body)
	if previous := s.cfg.PreviousWebhookKey; previous != nil { // the header may hold several signatures
		signature += " " + signWebhook(previous, id, sent, body)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", sent)
	req.Header.Set("webhook-signature", signature)
	res, err := s.webhooks.Do(req)
	if errors.Is(err, ErrWebhookPrivate) {
		return jobs.Permanent(ErrWebhookPrivate)
	}
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the text of url.Error contains the whole URL
		}
		return fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)); err != nil && res.StatusCode/100 == 2 {
		return fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	if res.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("%s answered %d", req.URL.Host, res.StatusCode)
	if res.StatusCode == http.StatusGone { // by Standard Webhooks, 410 means that the receiver wants no more calls
		return jobs.Permanent(err)
	}
	return err
}

// webhookEvent is the body of a webhook call, in the form of Standard Webhooks.
type webhookEvent struct {
	Type      string `json:"type"`      // contact_submission.created or contact_submission.digest
	Timestamp string `json:"timestamp"` // RFC 3339, in UTC
	Data      any    `json:"data"`      // depends on Type
}

// webhookMessage is a visitor's message in an event.
type webhookMessage struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Message   string `json:"message"`
	Reason    string `json:"reason"`     // one of reasons
	CreatedAt string `json:"created_at"` // RFC 3339, in UTC
}

func toWebhookMessage(m contactMessage) webhookMessage {
	return webhookMessage{m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt.UTC().Format(time.RFC3339Nano)}
}

// encodeMessageEvent returns the event about a new message in JSON.
func encodeMessageEvent(m contactMessage) ([]byte, error) {
	d := toWebhookMessage(m)
	return json.Marshal(webhookEvent{"contact_submission.created", d.CreatedAt, d})
}
