package functions

import (
	"errors"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
)

// Proves A-set-address.
//
// TestWebhookAddressesAreCheckedWhenTheyAreSaved: with the same rules as when they are called.
func TestWebhookAddressesAreCheckedWhenTheyAreSaved(t *testing.T) {
	for _, c := range []struct {
		address         string
		public, private error // what is wrong, without and with private webhooks allowed
	}{
		{"https://93.184.215.14/in?token=x", nil, nil},
		{"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/", nil, nil},
		{"https://does-not-exist.invalid/", nil, nil}, // the name may resolve later
		{"https://műhely.invalid/", nil, nil},
		{"http://93.184.215.14/", ErrWebhookURL, nil},
		{"https://ana:pw@93.184.215.14/", ErrWebhookURL, ErrWebhookURL},
		{"ftp://93.184.215.14/", ErrWebhookURL, ErrWebhookURL},
		{"https:///path", ErrWebhookURL, ErrWebhookURL},
		{"hooks.example", ErrWebhookURL, ErrWebhookURL},
		{"https://%zz", ErrWebhookURL, ErrWebhookURL},
		{"http://127.0.0.1:5678/hook", ErrWebhookURL, nil},
		{"https://127.0.0.1/", ErrWebhookPrivate, nil},
		{"https://localhost/", ErrWebhookPrivate, nil},
		{"https://LOCALHOST./", ErrWebhookPrivate, nil},
		{"https://a.localhost/", ErrWebhookPrivate, nil},
		{"https://10.1.2.3/", ErrWebhookPrivate, nil},
		{"https://[::ffff:169.254.169.254]/latest", ErrWebhookPrivate, nil},
		{"https://[fd00::1]/", ErrWebhookPrivate, nil},
		{"https://intranet/", ErrWebhookHost, nil},
		{"https://127.1/", ErrWebhookHost, ErrWebhookHost},
		{"https://0x7f.1/", ErrWebhookHost, ErrWebhookHost},
		{"https://2130706433/", ErrWebhookHost, ErrWebhookHost},
		{"https://a..b.example/", ErrWebhookHost, ErrWebhookHost},
		{"https://-a.example/", ErrWebhookHost, ErrWebhookHost},
		{"https://a.example:99999/", ErrWebhookHost, ErrWebhookHost},
		{"https://" + strings.Repeat("a", 64) + ".example/", ErrWebhookHost, ErrWebhookHost},
	} {
		for private, want := range map[bool]error{false: c.public, true: c.private} {
			s := &Service{cfg: Config{PrivateWebhooks: private}}
			if err := s.CheckWebhook(t.Context(), c.address); !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, private %v: %v, want %v", c.address, private, err, want)
			}
		}
	}
}

// Proves A-set-address.
//
// TestWebhookAddressIsCheckedAtEachCall too.
func TestWebhookAddressIsCheckedAtEachCall(t *testing.T) {
	s := newSiteWith(t, dbtest.Open(t, db.SQLite), Config{WebhookKey: []byte("0123456789abcdef")})
	for address, want := range map[string]error{"https://127.1/": ErrWebhookHost, "https://localhost:1/": ErrWebhookPrivate, "http://a.example/": ErrWebhookURL} {
		if err := s.callWebhook(t.Context(), address, noID, nil); !errors.Is(err, want) || !jobs.IsPermanent(err) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
