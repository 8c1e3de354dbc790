package functions

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

const urlencoded = "application/x-www-form-urlencoded"

// parts returns a multipart body of names and values, and its Content-Type. The name "picture@a.jpg" stands for the file a.jpg in the
// field picture.
func parts(t testing.TB, pairs ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		name, filename, isFile := strings.Cut(pairs[i], "@")
		part, err := w.CreateFormField(name)
		if isFile {
			part, err = w.CreateFormFile(name, filename)
		}
		if err == nil {
			_, err = io.WriteString(part, pairs[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// send posts a body to submit-contact with the anon key, each time from another IP address, so that no rate limit applies.
func (s *site) send(contentType, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/functions/v1/submit-contact", strings.NewReader(body))
	s.calls++
	r.RemoteAddr = "198.51.100." + strconv.Itoa(s.calls%250) + ":1"
	r.Header.Set("apikey", s.keys["anon"])
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

// Proves FN-body-json, FN-body-form.
//
// TestEveryKindOfBodyHasTheSameRules sends the same fields in every accepted kind of body.
func TestEveryKindOfBodyHasTheSameRules(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, c := range []struct {
			fields [5]string // name, email, message, reason, language
			status int
			want   string
			rows   [2]int // submissions, quarantined
		}{
			{[5]string{"Inês", "a@b.pt", "Olá,\r\numa parede; 3 × 4 m", "", ""}, 200, success, [2]int{1, 0}},
			{[5]string{"Inês", "a@b.pt", "Gosto muito do mural.", "purchase", "pt"}, 200, `{"success":true,"message":"` + portuguese.sent + `"}`, [2]int{1, 0}},
			{[5]string{"Inês", "a@b.pt", "buy & sell = %41 +", "watches", ""}, 200, success, [2]int{0, 1}},
			{[5]string{" I ", "x", "short", "", ""}, 400, `{"success":false,"error":"Name must be at least 2 characters"}`, [2]int{}},
			{[5]string{"Inês", "x", "short", "", "pt"}, 400, `{"success":false,"error":"` + portuguese.email + `"}`, [2]int{}},
			{[5]string{"Inês", "a@b.pt", strings.Repeat("🎨", 9), "", "en"}, 400, `{"success":false,"error":"Message must be at least 10 characters"}`, [2]int{}},
			{[5]string{"a\x00b", "a@b.pt", "long enough", "", ""}, 400, `{"success":false,"error":"Name must not contain control characters"}`, [2]int{}},
		} {
			names := [5]string{"name", "email", "message", "reason", "language"}
			form, object, pairs := url.Values{}, map[string]any{}, []string{}
			for i, name := range names {
				form.Set(name, c.fields[i])
				object[name] = c.fields[i]
				pairs = append(pairs, name, c.fields[i])
			}
			multi, multiType := parts(t, pairs...)
			for contentType, text := range map[string]string{
				"": body(t, object), "application/json": body(t, object), "Application/JSON; charset=UTF-8": body(t, object), "text/plain;charset=UTF-8": body(t, object),
				urlencoded: form.Encode(), urlencoded + ";charset=utf-8": form.Encode(), multiType: multi,
			} {
				people, machines := len(s.stored("contact_submissions")), len(s.stored("contact_quarantine"))
				answered(t, s.send(contentType, text), c.status, c.want)
				if got := [2]int{len(s.stored("contact_submissions")) - people, len(s.stored("contact_quarantine")) - machines}; got != c.rows {
					t.Errorf("%s %q: %v rows", contentType, c.fields, got)
				}
			}
		}
		rows := s.stored("contact_submissions")
		for _, m := range rows[:7] {
			if m[2] != "Olá,\numa parede; 3 × 4 m" && m[2] != "Gosto muito do mural." {
				t.Errorf("%q", m)
			}
		}
	})
}

// Proves FN-body-form, FN-body-other, FN-body-broken.
func TestBodiesOfOtherKinds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		const (
			unknown = `{"success":false,"error":"The body must be application/json, application/x-www-form-urlencoded or multipart/form-data, in UTF-8"}`
			badForm = `{"success":false,"error":"Could not parse request body as a form"}`
			badName = `{"success":false,"error":"Name must be at least 2 characters"}`
			large   = `{"success":false,"error":"The request is too large"}`
		)
		head := "--b\r\nContent-Disposition: form-data; name="
		for _, c := range []struct {
			contentType, body string
			status            int
			want              string
		}{
			{"application/xml", "<a/>", 415, unknown},
			{"application/octet-stream", good, 415, unknown},
			{"image/png", "\x89PNG", 415, unknown},
			{"nonsense;;;", good, 415, unknown},
			{"/", good, 415, unknown},
			{"application/json; charset=iso-8859-1", good, 415, unknown},
			{urlencoded + "; charset=utf-16", "name=a", 415, unknown},
			{urlencoded, "name=%zz", 400, badForm},
			{urlencoded, "name=a;b=c", 400, badForm},
			{urlencoded, "", 400, badName},
			{urlencoded, "&&==&", 400, badName},
			{urlencoded, "Name=Ines&email=a@b.pt&message=long+enough", 400, badName},
			{urlencoded, good, 400, badName},
			{"multipart/form-data", "name", 400, badForm},
			{"multipart/form-data; boundary=b", "", 400, badName},
			{"multipart/form-data; boundary=b", "--b--\r\n", 400, badName},
			{"multipart/form-data; boundary=b", head + "\"name\"\r\n\r\nInes", 400, badForm},
			{"multipart/form-data; boundary=b", head + "\"name\"; filename=\"x.txt\"\r\n\r\nInes\r\n--b--\r\n", 400, badForm},
			{"multipart/form-data; boundary=b", strings.Repeat(head+"\"x\"\r\n\r\ny\r\n", maxParts+1) + "--b--\r\n", 400, badForm},
			{"multipart/mixed; boundary=b", "--b--\r\n", 415, unknown},
			{urlencoded, "name=Ines&message=" + strings.Repeat("a", maxBody), 413, large},
			{"application/xml", strings.Repeat("a", maxBody+1), 413, large},
		} {
			answered(t, s.send(c.contentType, c.body), c.status, c.want)
		}
		if n := len(s.stored("contact_submissions")); n != 0 {
			t.Errorf("%d stored", n)
		}
		// The first field of a name counts. Invalid UTF-8 can be stored too.
		answered(t, s.send(urlencoded, "name=In%EAs&name=other&email=a@b.pt&message=%ff+long+enough&reason=%00%fe"), 200, success)
		if got := s.stored("contact_quarantine"); len(got) != 1 || got[0] != [4]string{"In\uFFFDs", "a@b.pt", "\uFFFD long enough", "\uFFFD"} {
			t.Errorf("%q", got)
		}
	})
}

// Proves FN-body-broken.
func FuzzContactBody(f *testing.F) {
	multi, multiType := parts(f, "name", "Inês", "email", "a@b.pt", "message", "long enough", "reason", "")
	f.Add("application/json", good)
	f.Add("", "{}")
	f.Add(urlencoded, "name=In%C3%AAs&email=a@b.pt&message=long+enough")
	f.Add(multiType, multi)
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=00=ff\r\n--b--")
	f.Add("text/plain; charset=x", "null")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		req, err := parseContactRequest(contentType, []byte(body))
		if err != nil {
			var known *apperr.Error
			if !errors.As(err, &known) || known.Status < http.StatusBadRequest || known.Status >= http.StatusInternalServerError {
				t.Fatalf("not a clear refusal: %v", err)
			}
			return
		}
		problems := req.normalizeAndValidate()
		for _, text := range []string{req.Name, req.Email, req.Message, sanitize(req.Reason)} {
			if !utf8.ValidString(text) {
				t.Fatalf("broken UTF-8 in %q", text)
			}
		}
		if len(problems) == 0 && (strings.ContainsRune(req.Name+req.Email+req.Message+sanitize(req.Reason), 0) || len(req.Email) > maxEmail || utf8.RuneCountInString(req.Message) > maxMessage) {
			t.Fatalf("a message passed that cannot be stored: %+v", req)
		}
	})
}
