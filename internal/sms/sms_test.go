package sms

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/webhook"
)

var at = time.Date(2026, 11, 21, 5, 40, 0, 0, time.UTC)

const secret = "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // the example key of the Standard Webhooks documents

func message() Message {
	return Message{ID: "0190", UserID: "7d9e0c1a-0000-4000-8000-000000000001", Phone: "351912345678", Code: "482913", Type: "sms", Language: i18n.PT}
}

func newSender(t *testing.T, cfg Config) *Sender {
	t.Helper()
	cfg.SiteName = func(context.Context) (string, error) { return "Alvor", nil }
	s, err := New(cfg, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request is a request as the receiver got it.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// listen starts a server that responds with the given statuses in turn, and repeats the last one. answer is the body of its responses. The
// returned function lists the requests so far.
func listen(t *testing.T, answer string, statuses ...int) (*httptest.Server, func() []request) {
	t.Helper()
	var (
		mu  sync.Mutex
		got []request
	)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, request{r.Method, r.URL.Path, r.Header, body})
		status := statuses[min(len(got), len(statuses))-1]
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer) // the client may close the connection earlier
	}))
	t.Cleanup(s.Close)
	return s, func() []request {
		mu.Lock()
		defer mu.Unlock()
		return append([]request(nil), got...)
	}
}

// verify checks a signature as a receiver of Standard Webhooks does. It is written from the specification and does not use our code.
func verify(t *testing.T, r request) map[string]any {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "v1,whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "."))
	mac.Write(r.body)
	version, signature, _ := strings.Cut(r.header.Get("webhook-signature"), ",")
	sent, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || version != "v1" || !hmac.Equal(sent, mac.Sum(nil)) {
		t.Errorf("the signature %q is wrong", r.header.Get("webhook-signature"))
	}
	if unix, err := strconv.ParseInt(r.header.Get("webhook-timestamp"), 10, 64); err != nil || unix != at.Unix() {
		t.Errorf("timestamp %d %v", unix, err)
	}
	var body map[string]any
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// Proves A-sms-1.
func TestTheHookIsSignedAndComplete(t *testing.T) {
	server, requests := listen(t, "", http.StatusOK)
	s := newSender(t, Config{Hook: &Hook{URL: server.URL + "/hook", Secret: secret}})
	m := message()
	for range 2 {
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	got := requests()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	for _, r := range got {
		body := verify(t, r)
		if r.method != http.MethodPost || r.path != "/hook" || r.header.Get("Content-Type") != "application/json" || r.header.Get("webhook-id") != "msg_0190" {
			t.Errorf("%+v", r)
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"sms":{"otp":"482913","phone":"351912345678","sms_type":"sms"},"user":{"id":"7d9e0c1a-0000-4000-8000-000000000001","phone":"351912345678","user_metadata":{"locale":"pt"}}}`
		if string(text) != want {
			t.Errorf("body %s", text)
		}
	}
	m.ID = ""
	if err := s.Send(t.Context(), m); err != nil || len(requests()[2].header.Get("webhook-id")) != 40 {
		t.Errorf("%v %v", err, requests()[2].header)
	}
}

// Proves A-sms-1.
//
// The example of the Standard Webhooks documents.
func TestSignatureOfTheStandardWebhooksExample(t *testing.T) {
	h := &Hook{Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	if err := h.decodeSecret(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodPost, "/", nil)
	webhook.Sign(req, "p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), h.key)
	if got := req.Header.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("got %s", got)
	}
}

func TestBadHookSecrets(t *testing.T) {
	for _, bad := range []string{"", "secret", "v1,whsec_", "v1,whsec_###", "v1,whsec_c2hvcnQ=", "v2,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if _, err := New(Config{Hook: &Hook{URL: "https://a.example", Secret: bad}}, time.Now); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// Proves A-sms-2.
func TestTwilio(t *testing.T) {
	server, requests := listen(t, `{"sid":"SM1","status":"queued"}`, http.StatusCreated)
	for _, c := range []struct {
		from, channel string
		language      i18n.Language
		want          url.Values
	}{
		{"+15005550006", "sms", i18n.PT, url.Values{"To": {"+351912345678"}, "From": {"+15005550006"}, "Body": {"482913 é o seu código para Alvor. Não o partilhe com ninguém."}}},
		{"MG0123", "", i18n.EN, url.Values{"To": {"+351912345678"}, "MessagingServiceSid": {"MG0123"}, "Body": {"482913 is your code for Alvor. Share it with nobody."}}},
		{"+15005550006", "whatsapp", i18n.EN, url.Values{"To": {"whatsapp:+351912345678"}, "From": {"whatsapp:+15005550006"}, "Body": {"482913 is your code for Alvor. Share it with nobody."}}},
	} {
		s := newSender(t, Config{Twilio: &Twilio{Account: "AC/1", Token: "t0ken", From: c.from, BaseURL: server.URL + "/"}})
		m := message()
		m.Channel, m.Language = c.channel, c.language
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		all := requests()
		r := all[len(all)-1]
		login := "Basic " + base64.StdEncoding.EncodeToString([]byte("AC/1:t0ken"))
		if r.method != http.MethodPost || r.path != "/2010-04-01/Accounts/AC/1/Messages.json" || r.header.Get("Authorization") != login {
			t.Errorf("%+v", r)
		}
		if form, err := url.ParseQuery(string(r.body)); err != nil || form.Encode() != c.want.Encode() {
			t.Errorf("%v %v", form, err)
		}
	}
}

// Proves A-sms-3.
func TestHTTPStatusDecidesAboutRetry(t *testing.T) {
	for _, c := range []struct {
		status    int
		answer    string
		ok        bool
		permanent bool
	}{
		{200, "", true, false},
		{204, "", true, false},
		{200, "not json", true, false},
		{200, `{"error":{"http_code":422,"message":"no such number"}}`, false, true},
		{200, `{"error":{"http_code":503}}`, false, false},
		{200, `{"error":{"message":"?"}}`, false, false},
		{301, "", false, true},
		{307, "", false, true},
		{400, "", false, true},
		{401, "", false, false},
		{403, "", false, false},
		{404, "", false, true},
		{408, "", false, false},
		{422, "", false, true},
		{429, "", false, false},
		{500, "", false, false},
		{503, strings.Repeat("x", 1<<20), false, false},
	} {
		server, requests := listen(t, c.answer, c.status)
		s := newSender(t, Config{Hook: &Hook{URL: server.URL, Secret: secret}})
		err := s.Send(t.Context(), message())
		if (err == nil) != c.ok || jobs.IsPermanent(err) != c.permanent {
			t.Errorf("%d %.60s: %v", c.status, c.answer, err)
		}
		if len(requests()) != 1 {
			t.Errorf("%d was followed or retried: %d requests", c.status, len(requests()))
		}
	}
	server, _ := listen(t, `{"code":21211,"message":"+351912345678 is not valid"}`, http.StatusBadRequest)
	err := newSender(t, Config{Twilio: &Twilio{Account: "AC1", Token: "t0ken", From: "+1", BaseURL: server.URL}}).Send(t.Context(), message())
	if !jobs.IsPermanent(err) || !strings.Contains(err.Error(), "21211") {
		t.Errorf("%v", err)
	}
	for _, hidden := range []string{"351912345678", "t0ken", "482913"} {
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("%s is in %v", hidden, err)
		}
	}
}

// Proves A-sms-3.
func TestHangingAndUnreachableServers(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hang) })
	s := newSender(t, Config{Hook: &Hook{URL: server.URL + "/?key=geheim", Secret: secret}})
	if s.client.Timeout <= 0 || s.client.Timeout > 30*time.Second {
		t.Errorf("time limit %s", s.client.Timeout)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Send(ctx, message()); err == nil || jobs.IsPermanent(err) || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
	// Nothing listens at this port. The port of a closed server could be used by another program by now.
	err := newSender(t, Config{Hook: &Hook{URL: "http://127.0.0.1:1/?key=geheim", Secret: secret}}).Send(t.Context(), message())
	if err == nil || jobs.IsPermanent(err) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}

// A response without an end is read up to the limit.
func TestEndlessResponses(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("x", 32<<10))
		for {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	if err := newSender(t, Config{Hook: &Hook{URL: server.URL, Secret: secret}}).Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
	if sent.Load() > 64<<20 {
		t.Errorf("%d bytes were taken", sent.Load())
	}
}

func TestUnusableMessagesAreNotSent(t *testing.T) {
	server, requests := listen(t, "", 200)
	s := newSender(t, Config{Hook: &Hook{URL: server.URL, Secret: secret}})
	for _, number := range []string{"", "+351912345678", "0912345678", "1", "1234567890123456", "351 912", "351912345678\n", "١٢٣٤", "351;ext=1"} {
		m := message()
		m.Phone = number
		if err := s.Send(t.Context(), m); !jobs.IsPermanent(err) {
			t.Errorf("%q: %v", number, err)
		}
	}
	for _, bad := range []string{"", "12", "123456\r\n", "12 34", "<b>123</b>"} {
		m := message()
		m.Code = bad
		if err := s.Send(t.Context(), m); !jobs.IsPermanent(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := newSender(t, Config{}).Send(t.Context(), message()); !jobs.IsPermanent(err) {
		t.Errorf("no sender: %v", err)
	}
	if len(requests()) != 0 {
		t.Errorf("%d requests", len(requests()))
	}
}

func TestTextWithHostileNames(t *testing.T) {
	for name, want := range map[string]string{
		"Ateliê":                  "482913 é o seu código para Ateliê. Não o partilhe com ninguém.",
		"A\r\n\u202eB\x00":        "482913 é o seu código para A B. Não o partilhe com ninguém.",
		"{code}":                  "482913 é o seu código para {code}. Não o partilhe com ninguém.",
		strings.Repeat("ã", 1000): "482913 é o seu código para " + strings.Repeat("ã", 40) + ". Não o partilhe com ninguém.",
	} {
		s := &Sender{cfg: Config{SiteName: func(context.Context) (string, error) { return name, nil }}}
		if got, err := s.messageText(t.Context(), message()); err != nil || got != want {
			t.Errorf("%q: %q %v", name, got, err)
		}
	}
	s := &Sender{cfg: Config{Twilio: &Twilio{}, SiteName: func(context.Context) (string, error) { return "", errors.New("away") }}}
	if err := s.Send(t.Context(), message()); err == nil || jobs.IsPermanent(err) {
		t.Errorf("%v", err)
	}
}
