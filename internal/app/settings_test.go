package app

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/mail/mailtest"
)

// savedSettings is the response of save_site_settings: a version, or an error.
type savedSettings struct {
	Code, Details, Hint, Version string
}

// saveSettings saves the given settings; all others stay unchanged.
func (s *noticeSite) saveSettings(given string) (status int, response savedSettings) {
	s.t.Helper()
	send := func(name, body string) (int, savedSettings) {
		r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/rest/v1/rpc/"+name, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+key(s.t, s.App, identity.Service))
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		var saved savedSettings
		if err := json.Unmarshal(rec.Body.Bytes(), &saved); err != nil {
			s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		return rec.Code, saved
	}
	_, current := send("get_site_settings", "{}")
	return send("save_site_settings", `{"version":"`+current.Version+`","settings":`+given+`}`)
}

// Proves A-set-address.
//
// TestSettingsAddressesAreCheckedWhenSaved checks that a portrait must be an uploaded picture, and a webhook a URL that may be called.
// URLs that were saved before must not prevent other changes.
func TestSettingsAddressesAreCheckedWhenSaved(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newNoticeSite(t, dialect, false)
			upload := httptest.NewRequestWithContext(t.Context(), "POST", "/storage/v1/object/product-images/ana.png", tinyPNG(t))
			upload.Header.Set("Authorization", "Bearer "+key(t, s.App, identity.Service))
			upload.Header.Set("Content-Type", "image/png")
			rec := httptest.NewRecorder()
			s.Handler().ServeHTTP(rec, upload)
			if rec.Code != http.StatusOK {
				t.Fatalf("status %d: %s", rec.Code, rec.Body)
			}
			const publicFiles = "/storage/v1/object/public/product-images/"
			for _, c := range []struct{ given, field, reason string }{
				{`{"site":{"portrait":"` + publicFiles + `gone.png"}}`, "site.portrait", "portrait_unknown"},
				{`{"site":{"portrait":"https://elsewhere.example` + publicFiles + `gone.png"}}`, "site.portrait", "portrait_unknown"},
				{`{"site":{"portrait":"https://elsewhere.example/ana.png"}}`, "site.portrait", ""},
				{`{"noticeWebhook":"http://127.0.0.1:5678/"}`, "noticeWebhook", "webhook_https"},
				{`{"noticeWebhook":"http://localhost/"}`, "noticeWebhook", "webhook_https"},
				{`{"noticeWebhook":"https://127.0.0.1/"}`, "noticeWebhook", "webhook_private"},
				{`{"noticeWebhook":"https://intranet/"}`, "noticeWebhook", "webhook_host"},
			} {
				if status, a := s.saveSettings(c.given); status != 400 || a.Code != "22023" || a.Details != c.field || a.Hint != c.reason {
					t.Errorf("%s: %d %+v", c.given, status, a)
				}
			}
			for _, given := range []string{
				`{"site":{"portrait":"` + publicFiles + `ana.png"},"noticeWebhook":"https://hooks.invalid/in"}`, `{"site":{"portrait":"http://site.example` + publicFiles + `ana.png"}}`,
			} {
				if status, a := s.saveSettings(given); status != 200 {
					t.Errorf("%s: %d %+v", given, status, a)
				}
			}
			s.set("notice.webhook", `"https://10.0.0.1/"`)
			if status, a := s.saveSettings(`{"site":{"name":"Alvor"}}`); status != 200 {
				t.Errorf("another change: %d %+v", status, a)
			}
		})
	}
}

// Proves A-set-mail, FN-mail-status, FN-mail-send.
//
// TestOwnerSendsATestMail sends a test mail to the owner's address in three cases: a mail server accepts it, a mail server refuses it, no
// mail server is configured.
func TestOwnerSendsATestMail(t *testing.T) {
	const email, password = "ana@alvor.example", "a wall of whitewash"
	test := func(s *noticeSite, token, action string) (status int, response struct {
		Server            bool
		Result, To, Error string
	}, header http.Header) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/functions/v1/mail-test", strings.NewReader(`{"action":"`+action+`"}`))
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return rec.Code, response, rec.Header()
	}
	signIn := func(s *noticeSite) string {
		t.Helper()
		if err := s.Auth.AddOwner(t.Context(), email, password); err != nil {
			t.Fatal(err)
		}
		s.owner("22222222-2222-4222-8222-222222222222", "bea@alvor.example", "en")
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/auth/v1/token?grant_type=password", strings.NewReader(`{"email":"`+email+`","password":"`+password+`"}`))
		r.Header.Set("Authorization", "Bearer "+key(t, s.App, identity.Anon))
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		var session struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil || session.AccessToken == "" {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return session.AccessToken
	}
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		token := signIn(s)
		if status, a, _ := test(s, token, "status"); status != 200 || !a.Server {
			t.Errorf("%d %+v", status, a)
		}
		if status, a, _ := test(s, token, "send"); status != 200 || a.Result != "sent" || a.To != email {
			t.Errorf("%d %+v", status, a)
		}
		if mails := s.subjects(email); len(mails) != 1 || mails[0] != "Ateliê: mail works" || len(s.mailServer.Mails()) != 1 {
			t.Errorf("%q", mails)
		}
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox"))
		if status, a, _ := test(s, token, "send"); status != 200 || a.Result != "failed" || !strings.Contains(a.Error, "550") {
			t.Errorf("%d %+v", status, a)
		}
		test(s, token, "send")
		status, _, header := test(s, token, "send")
		if status != http.StatusTooManyRequests || header.Get("Retry-After") != "60" {
			t.Errorf("the fourth in a minute: %d %v", status, header)
		}
		if status, _, _ := test(s, key(t, s.App, identity.Service), "send"); status != http.StatusBadRequest { // the service key has no address
			t.Errorf("the service key: %d", status)
		}
	})
	s := &noticeSite{t: t}
	s.clock.Store(time.Date(2026, 11, 21, 9, 41, 0, 0, time.UTC).UnixMicro())
	s.App = newAppOf(t, configuration(t), s.now)
	token := signIn(s)
	if status, a, _ := test(s, token, "status"); status != 200 || a.Server {
		t.Errorf("%d %+v", status, a)
	}
	if status, a, _ := test(s, token, "send"); status != 200 || a.Result != "kept" || a.To != email || len(filesContaining(t, s.cfg.MailDir(), "mail works")) != 1 {
		t.Errorf("%d %+v", status, a)
	}
}

func tinyPNG(t *testing.T) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return &b
}
