package functions

import (
	"errors"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
	"atelie/internal/webhook"
)

// Proves A-set-address.
//
// TestWebhookAddressesAreCheckedWhenTheyAreSaved checks that the rules for saving a URL are those for calling it.
func TestWebhookAddressesAreCheckedWhenTheyAreSaved(t *testing.T) {
	for _, c := range []struct {
		address         string
		public, private error // expected errors: with private addresses forbidden, and with them allowed
	}{
		{"https://93.184.215.14/in?token=x", nil, nil},
		{"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/", nil, nil},
		{"https://does-not-exist.invalid/", nil, nil}, // the name may resolve later
		{"https://műhely.invalid/", nil, nil},
		{"http://93.184.215.14/", webhook.ErrURL, nil},
		{"https://ana:pw@93.184.215.14/", webhook.ErrURL, webhook.ErrURL},
		{"ftp://93.184.215.14/", webhook.ErrURL, webhook.ErrURL},
		{"https:///path", webhook.ErrURL, webhook.ErrURL},
		{"hooks.example", webhook.ErrURL, webhook.ErrURL},
		{"https://%zz", webhook.ErrURL, webhook.ErrURL},
		{"http://127.0.0.1:5678/hook", webhook.ErrURL, nil},
		{"https://127.0.0.1/", webhook.ErrPrivate, nil},
		{"https://localhost/", webhook.ErrPrivate, nil},
		{"https://LOCALHOST./", webhook.ErrPrivate, nil},
		{"https://a.localhost/", webhook.ErrPrivate, nil},
		{"https://10.1.2.3/", webhook.ErrPrivate, nil},
		{"https://[::ffff:169.254.169.254]/latest", webhook.ErrPrivate, nil},
		{"https://[fd00::1]/", webhook.ErrPrivate, nil},
		{"https://intranet/", webhook.ErrHost, nil},
		{"https://127.1/", webhook.ErrHost, webhook.ErrHost},
		{"https://0x7f.1/", webhook.ErrHost, webhook.ErrHost},
		{"https://2130706433/", webhook.ErrHost, webhook.ErrHost},
		{"https://a..b.example/", webhook.ErrHost, webhook.ErrHost},
		{"https://-a.example/", webhook.ErrHost, webhook.ErrHost},
		{"https://a.example:99999/", webhook.ErrHost, webhook.ErrHost},
		{"https://" + strings.Repeat("a", 64) + ".example/", webhook.ErrHost, webhook.ErrHost},
	} {
		for private, want := range map[bool]error{false: c.public, true: c.private} {
			s := &Service{cfg: Config{AllowPrivateWebhooks: private}}
			if err := s.CheckWebhook(t.Context(), c.address); !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, private %v: %v, want %v", c.address, private, err, want)
			}
		}
	}
}

// Proves A-set-address.
//
// TestWebhookAddressIsCheckedAtEachCall checks the IP address at each call too.
func TestWebhookAddressIsCheckedAtEachCall(t *testing.T) {
	s := newSiteWith(t, dbtest.Open(t, db.SQLite), Config{WebhookKey: []byte("0123456789abcdef")})
	for address, want := range map[string]error{"https://127.1/": webhook.ErrHost, "https://localhost:1/": webhook.ErrPrivate, "http://a.example/": webhook.ErrURL} {
		if err := s.callWebhook(t.Context(), address, noID, nil); !errors.Is(err, want) || !jobs.IsPermanent(err) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
