package functions

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// browserAccept is the Accept header of a browser that follows a link or sends a form.
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// browse sends a request as a browser without scripts: without a key, and with an Accept header for a page.
func (s *site) browse(method, target, contentType, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.10:1"
	r.Header.Set("Accept", browserAccept)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

const contactAddress = "/functions/v1/submit-contact"

// hasAll checks that a page contains all texts.
func hasAll(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
}

// expectPage checks the status of a page, that it contains all texts, and that it contains no scripts, pictures, styles or catalogue keys.
func expectPage(t *testing.T, rec *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	page := rec.Body.String()
	if rec.Code != status || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") {
		t.Errorf("got %d %s, want %d\n%s", rec.Code, rec.Header().Get("Content-Type"), status, page)
	}
	hasAll(t, page, texts...)
	for _, text := range []string{"<script", "<img", " style=", "javascript:", "ZgotmplZ", "contact."} {
		if strings.Contains(page, text) {
			t.Errorf("%q in\n%s", text, page)
		}
	}
}

// Proves FN-contact-language, FN-page-sent.
func TestPlainFormGetsAPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		fields := url.Values{"name": {"Inês"}, "email": {"a@b.pt"}, "message": {"Uma parede de 3 m"}, "reason": {""}}
		multi, multiType := parts(t, "name", "Inês", "email", "a@b.pt", "message", "Uma parede de 3 m", "language", "pt")
		expectPage(t, s.browse("POST", contactAddress, urlencoded, fields.Encode()), 200, `<html lang="en">`, "Message Sent Successfully!", "Thank you for reaching out.", `href="/functions/v1/submit-contact"`)
		expectPage(t, s.browse("POST", contactAddress+"?lang=pt", urlencoded, fields.Encode()), 200, `<html lang="pt">`, "Mensagem enviada com sucesso!", `href="/functions/v1/submit-contact?lang=pt"`)
		expectPage(t, s.browse("POST", contactAddress, multiType, multi), 200, `<html lang="pt">`, "Mensagem enviada com sucesso!")
		fields.Set("language", "en") // the form's field takes precedence over ?lang=
		expectPage(t, s.browse("POST", contactAddress+"?lang=pt", urlencoded, fields.Encode()), 200, `<html lang="en">`)
		fields.Set("reason", "watches") // the response must not reveal that this is spam
		expectPage(t, s.browse("POST", contactAddress, urlencoded, fields.Encode()), 200, "Message Sent Successfully!")
		if inInbox, inQuarantine := len(s.stored("contact_submissions")), len(s.stored("contact_quarantine")); inInbox != 4 || inQuarantine != 1 {
			t.Errorf("%d and %d stored", inInbox, inQuarantine)
		}
	})
}

// Proves FN-page-wrong, FN-page-safe.
func TestPlainFormIsShownAgainWithItsProblems(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		attack := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
		fields := url.Values{"name": {" I "}, "email": {attack}, "message": {"</textarea>" + attack[2:]}, "reason": {"purchase"}, "language": {"pt"}}
		rec := s.browse("POST", contactAddress, urlencoded, fields.Encode())
		expectPage(t, rec, 400, `<html lang="pt"><title>A mensagem ainda não foi enviada.`, `role="alert"`,
			`value="I" autocomplete="name" maxlength="100" aria-required="true" aria-invalid="true" aria-describedby="name-error" autofocus`, portuguese.nameShort,
			`value="&#34;&gt;&lt;script&gt;`, portuguese.email, `id="email-error"`, "&lt;/textarea&gt;&lt;script&gt;", `value="purchase"`, `name="language" value="pt"`, `method="post" novalidate`)
		if page := rec.Body.String(); strings.Count(page, "autofocus") != 1 || strings.Contains(page, "message-error") {
			t.Errorf("%s", page)
		}
		expectPage(t, s.browse("POST", contactAddress, urlencoded, ""), 400, english.nameShort, english.email, english.messageShort)
		expectPage(t, s.browse("POST", contactAddress, urlencoded, "name=%zz"), 400, "The form could not be read", `value=""`)
		expectPage(t, s.browse("POST", contactAddress+"?lang=pt", urlencoded, "message="+strings.Repeat("a", maxBody)), 413, "A mensagem é demasiado grande")
		// The fields that can be read are shown again, also if the body is too large or malformed.
		for contentType, text := range map[string]string{
			urlencoded:                        "name=Ines&email=a@b.pt&message=" + strings.Repeat("a", maxBody),
			urlencoded + ";charset=utf-8":     "name=Ines&email=a@b.pt&message=%zz",
			"multipart/form-data; boundary=b": "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nInes\r\n--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\na@b.pt\r\n--b\r\nContent-Dis",
		} {
			status := 400
			if len(text) > maxBody {
				status = 413
			}
			expectPage(t, s.browse("POST", contactAddress, contentType, text), status, `value="Ines"`, `value="a@b.pt"`)
		}
		if n := len(s.stored("contact_submissions")); n != 0 {
			t.Errorf("%d stored", n)
		}
		if _, err := d.Exec(t.Context(), "alter table contact_submissions rename to gone"); err != nil {
			t.Fatal(err)
		}
		rec = s.browse("POST", contactAddress, urlencoded, "name=Ines&email=a@b.pt&message=long+enough")
		expectPage(t, rec, 500, "Failed to send message. Please try again.", `value="Ines"`, "long enough</textarea>")
	})
}

// Proves FN-call-limit, FN-page-wrong.
func TestPlainFormIsRateLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 30 {
			s.callFrom("192.0.2.10:1", "anon", "submit-contact", "{")
		}
		rec := s.browse("POST", contactAddress, urlencoded, "name=Ines&email=a@b.pt&message=long+enough&language=pt")
		expectPage(t, rec, 429, "Demasiadas mensagens.", `value="Ines"`, "long enough</textarea>")
		if rec.Header().Get("Retry-After") != "45" || len(s.stored("contact_submissions")) != 0 {
			t.Errorf("%v", rec.Header())
		}
		expectPage(t, s.browse("GET", contactAddress, "", ""), 200, "Send a Message")
	})
}

// Proves FN-call-browser, FN-call-method.
func TestMethodsAndPages(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	expectPage(t, s.browse("GET", contactAddress, "", ""), 200, `<html lang="en">`, "Get in Touch", `<form action="/functions/v1/submit-contact" method="post"`)
	expectPage(t, s.browse("GET", contactAddress+"?lang=pt", "", ""), 200, `<html lang="pt">`, "Fale comigo", `<form action="/functions/v1/submit-contact?lang=pt"`)
	expectPage(t, s.browse("HEAD", contactAddress, "", ""), 200)
	for _, c := range []struct {
		method, path, accept, contentType string
		key                               bool
		status                            int
		kind                              string
	}{
		{"GET", contactAddress, "*/*", "", true, 405, "application/json"},
		{"GET", contactAddress, "application/json, text/html;q=0.5", "", true, 405, "application/json"},
		{"GET", contactAddress, "text/html;q=0", "", false, 401, "application/json"},
		{"GET", contactAddress, "text/html;q=x", "", false, 401, "application/json"},
		{"GET", contactAddress, "text/html;level=1;q=0.4", "", false, 200, "text/html"},
		{"PUT", contactAddress, browserAccept, "", true, 405, "application/json"},
		{"PATCH", contactAddress, "*/*", "", true, 405, "application/json"},
		{"DELETE", contactAddress, "*/*", "", true, 405, "application/json"},
		{"DELETE", contactAddress, browserAccept, "", false, 401, "application/json"},
		{"OPTIONS", contactAddress, "*/*", "", false, 204, ""},
		{"OPTIONS", "/functions/v1/nope", "*/*", "", false, 404, "application/json"},
		{"GET", "/functions/v1/nope", "*/*", "", true, 404, "application/json"},
		{"POST", "/functions/v1/nope", browserAccept, urlencoded, false, 404, "application/json"},
		{"POST", contactAddress, "*/*", urlencoded, true, 400, "application/json"},
		{"POST", contactAddress, "*/*", urlencoded, false, 401, "application/json"},
		{"POST", contactAddress, browserAccept, "application/json", true, 400, "application/json"},
		{"POST", contactAddress, browserAccept, "application/json", false, 401, "application/json"},
		{"POST", contactAddress, browserAccept, "text/plain", false, 401, "application/json"},
		{"POST", contactAddress + "?apikey=forged", browserAccept, urlencoded, false, 401, "application/json"},
		{"POST", contactAddress, browserAccept, urlencoded, true, 400, "text/html"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		r.Header.Set("Accept", c.accept)
		if c.contentType != "" {
			r.Header.Set("Content-Type", c.contentType)
		}
		if c.key {
			r.Header.Set("apikey", s.keys["anon"])
		}
		rec := httptest.NewRecorder()
		s.http.ServeHTTP(rec, r)
		if kind, _, _ := strings.Cut(rec.Header().Get("Content-Type"), ";"); rec.Code != c.status || kind != c.kind {
			t.Errorf("%+v: %d %s %s", c, rec.Code, kind, rec.Body)
		}
		if allow := rec.Header().Get("Allow"); (rec.Code == 405 || rec.Code == 204) != (allow == "GET, HEAD, POST, OPTIONS") {
			t.Errorf("%+v: Allow %q", c, allow)
		}
	}
}
