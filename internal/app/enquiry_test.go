package app

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/archive"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
	"atelie/internal/storage/storagetest"
)

// sendMessageWithLink sends a visitor's message that requests a private link, and returns the link's path.
func (s *noticeSite) sendMessageWithLink(name, email, language string) (path string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "email": email, "message": "Temos uma parede.", "reason": "commission", "language": language, "follow": true})
	if err != nil {
		s.t.Fatal(err)
	}
	var response struct {
		URL string `json:"enquiry_url"`
	}
	if err := json.Unmarshal(s.call(identity.Anon, "submit-contact", string(body)), &response); err != nil {
		s.t.Fatal(err)
	}
	path, found := strings.CutPrefix(response.URL, "http://site.example/enquiry/")
	if !found {
		s.t.Fatalf("link %q", response.URL)
	}
	return "/enquiry/" + path
}

// browseLink opens a private link as a browser does; with fields it sends the page's form.
func browseLink(t *testing.T, a *App, target string, fields ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, body := http.MethodGet, ""
	if len(fields) > 0 {
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		method, body = http.MethodPost, form.Encode()
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	a.Handler().ServeHTTP(rec, r)
	return rec
}

// Proves AM-reply-1, AM-reply-2, FN-reply-reply, E-reply-2, E-erase-1.
//
// TestAConversationByMailAndLink performs a whole conversation with a real mail server and a webhook. The owner's reply is mailed once
// with the link, the owner is notified of the visitor's reply, and erasing the conversation leaves no data.
func TestAConversationByMailAndLink(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		s.set("site", `{"name":"Alvor","email":"atelier@alvor.example","enquiryLinks":true}`)
		s.set("notice.webhook", `"`+s.hook.URL+`"`)
		serve(t, s.App)
		path := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en")
		var id string
		if err := s.DB.QueryRow(t.Context(), "select id from contact_submissions").Scan(&id); err != nil {
			t.Fatal(err)
		}
		waitForState(t, s.App, "", jobs.State{})
		before := len(s.mailServer.Mails())

		s.call(identity.Service, "contact-reply", `{"action":"reply","message_id":"`+id+`","text":"Of course.\nCanary blue?"}`)
		waitForState(t, s.App, "", jobs.State{})
		mails := s.mailServer.Mails()[before:]
		if len(mails) != 1 || mails[0].To != "canary@exemplo.example" {
			t.Fatalf("%d mails", len(mails))
		}
		m, err := mailtest.Open(mails[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		data := string(mails[0].Data)
		if m.Subject != "Alvor: an answer to your message" || !strings.Contains(m.Text, "> Of course.\n> Canary blue?") || !strings.Contains(m.Text, "http://site.example"+path) ||
			!strings.Contains(data, "Reply-To: \"Alvor\" <atelier@alvor.example>") || strings.Contains(data, "Auto-Submitted") {
			t.Errorf("%s\n%s", m.Subject, data)
		}
		if strings.Contains(m.Text, "parede") {
			t.Error("the visitor's own text is mailed")
		}
		if got := s.count("select count(*) from contact_replies where delivery = 'sent'"); got != 1 {
			t.Errorf("%d sent", got)
		}

		if rec := browseLink(t, s.App, path, "text", "Canary yellow, please."); rec.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		waitForState(t, s.App, "", jobs.State{})
		if got := s.subjects("ana@alvor.example"); !slices.Equal(got, []string{"Alvor: mensagem de Canary", "Alvor: Canary voltou a escrever"}) {
			t.Errorf("%q", got)
		}
		if got := s.subjects("canary@exemplo.example"); len(got) != 1 {
			t.Errorf("the author of the text got a mail too: %q", got)
		}
		calls := s.webhookCalls()
		if last := string(calls[len(calls)-1].body); len(calls) != 2 || !strings.Contains(last, `"type":"contact_reply.created"`) || !strings.Contains(last, "Canary yellow") {
			t.Errorf("%d calls, %s", len(calls), last)
		}
		if s.count("select count(*) from realtime_outbox where payload like '%Canary yellow%'") == 0 {
			t.Error("no live event has the visitor's reply")
		}

		// A picture is not mailed; the mail says that there is one.
		rec := s.send("/functions/v1/contact-reply", key(t, s.App, identity.Service), []string{`request={"action":"reply","message_id":"` + id + `","text":""}`}, storagetest.JPEG(3, 2))
		if rec.Code != http.StatusOK {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		waitForState(t, s.App, "", jobs.State{})
		mails = s.mailServer.Mails()
		if m, err = mailtest.Open(mails[len(mails)-1].Data); err != nil || !strings.Contains(m.Text, "> Pictures: 1. They are shown in the conversation.") {
			t.Errorf("%v: %s", err, m.Text)
		}

		browseLink(t, s.App, path, "action", "erase", "confirm", "yes")
		waitForState(t, s.App, "", jobs.State{})
		if rec := browseLink(t, s.App, path); rec.Code != http.StatusNotFound {
			t.Errorf("%d", rec.Code)
		}
		if left := s.tablesWith("canary"); len(left) != 0 {
			t.Errorf("left in %q", left)
		}
		if n := s.count("select count(*) from contact_links"); n != 0 {
			t.Errorf("%d links", n)
		}
	})
}

// Proves AM-reply-2.
//
// A reply that the mail server refuses is shown as failed with the reason, and can be sent again.
func TestARefusedReplyCanBeMailedAgain(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		serve(t, s.App)
		id := s.write("Rui", "rui@exemplo.example", "pt")
		waitForState(t, s.App, "", jobs.State{})
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox"))
		s.call(identity.Service, "contact-reply", `{"action":"reply","message_id":"`+id+`","text":"Claro."}`)
		s.waitFor("the mail is refused", func() bool {
			return s.count("select count(*) from contact_replies where delivery = 'failed' and delivery_error like '%550%'") == 1
		})
		var reply string
		if err := s.DB.QueryRow(t.Context(), "select id from contact_replies").Scan(&reply); err != nil {
			t.Fatal(err)
		}
		s.call(identity.Service, "contact-reply", `{"action":"resend","message_id":"`+id+`","id":"`+reply+`"}`)
		s.waitFor("the mail is sent", func() bool {
			return s.count("select count(*) from contact_replies where delivery = 'sent' and delivery_error is null") == 1
		})
		if got := s.subjects("rui@exemplo.example"); len(got) != 1 || !strings.HasSuffix(got[0], ": resposta à sua mensagem") {
			t.Errorf("%q", got)
		}
	})
}

// Proves AM-reply-3.
//
// The data about an address includes its conversations, both in an export and when it is erased.
func TestAddressDataIncludesConversations(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path, other := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en"), s.sendMessageWithLink("Rui", "rui@exemplo.example", "en")
		browseLink(t, s.App, path, "text", "Canary yellow, please.")
		exported := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`))
		if !strings.Contains(exported, `"text":"Canary yellow, please."`) || !strings.Contains(exported, `"link":{"created_at"`) || strings.Contains(exported, strings.TrimPrefix(path, "/enquiry/")) {
			t.Errorf("%s", exported)
		}
		s.addressPlacesOf("erase", "canary@exemplo.example")
		for table, want := range map[string]int{"contact_replies": 0, "contact_links": 1, "contact_submissions": 1} {
			if n := s.count("select count(*) from " + table); n != want {
				t.Errorf("%s: %d, want %d", table, n, want)
			}
		}
		if rec := browseLink(t, s.App, other); rec.Code != http.StatusOK {
			t.Errorf("%d", rec.Code)
		}
	})
}

// Proves E-page-1.
//
// The page of a private link has the work that the message is about. It links to the work only if a page of the site shows the work.
func TestAPrivateLinkLinksToAShownWork(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		withoutRendering(t, s.App)
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		works := []map[string]any{ // the gallery does not show oil
			{"id": workID(0), "title": "Cais", "artwork_type": "oil", "is_featured": true},
			{"id": workID(1), "title": "Sol", "artwork_type": "oil", "is_featured": false},
			{"id": workID(2), "title": "Serra", "artwork_type": "mural", "is_featured": false},
		}
		if err := s.Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "products", works); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct{ title, url string }{{"Cais", "/?art=" + workID(0)}, {"Sol", ""}, {"Serra", "/gallery/mural?art=" + workID(2)}} {
			path := s.sendMessageWithLink("About "+c.title, "rui@exemplo.example", "en")
			s.exec("update contact_submissions set artwork_id = $1 where name = $2", workID(i), "About "+c.title)
			want := `<span class="break-words">` + c.title + `</span>`
			if c.url != "" {
				want = `<a href="` + c.url + `" class="text-link break-words">` + c.title + `</a>`
				if rec := browseLink(t, s.App, c.url); rec.Code != http.StatusOK {
					t.Errorf("%s: %d", c.url, rec.Code)
				}
			}
			if page := browseLink(t, s.App, path).Body.String(); !strings.Contains(page, want) {
				t.Errorf("%s: no %s in %s", c.title, want, page)
			}
		}
	})
}

// Proves E-secret-1, CAL-secret.
//
// The token of a link or calendar is in no log line, whatever the URL looks like, in no label of the metrics, and in no header but the redirect.
func TestTheTokenStaysOutOfLogsAndMetrics(t *testing.T) {
	cfg := configuration(t)
	cfg.Database.URL, cfg.Server.MetricsListen, cfg.CDN.On = dbtest.URL(t, db.SQLite), "127.0.0.1:0", true
	var log lockedBuffer
	a, err := New(t.Context(), cfg, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	const token = "c2VjcmV0LXRva2VuLW9mLWE"
	h := a.Handler()
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS"} {
		for _, target := range []string{
			"/enquiry/" + token, "/enquiry/" + token + "/", "/enquiry/" + token + "/picture/11111111-1111-4111-8111-111111111111/small", "/enquiry/" + token + "/x?lang=pt", "//enquiry/" + token, "/./enquiry/" + token, "/x/../enquiry/" + token, "/Enquiry/" + token,
			"/ENQUIRY/" + token, "/enquiry%2F" + token, "/pt/enquiry/" + token, "/İ/enquiry/" + token,
			"/calendar/" + token + ".ics", "/calendar/" + token, "//calendar/" + token + ".ics", "/x/../calendar/" + token, "/Calendar/" + token + ".ICS", "/pt/calendar/" + token,
			"/calendar/enquiry/" + token, "/enquiry/calendar/" + token, "/İ/calendar/" + token,
		} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader("text=x"))
			u, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(target, "//") {
				u = &url.URL{Path: target}
			}
			r.URL = u
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if rec.Code >= 500 {
				t.Errorf("%s %s: %d", method, target, rec.Code)
			}
			if strings.HasPrefix(target, "/enquiry/") || strings.HasPrefix(target, "/calendar/") {
				for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "CDN-Cache-Control": ""} {
					if got := rec.Header().Get(name); got != want {
						t.Errorf("%s %s: %s is %q", method, target, name, got)
					}
				}
			}
		}
	}
	if text := log.String(); strings.Contains(text, token) || !strings.Contains(text, `"path":"/enquiry/…"`) || !strings.Contains(text, `"path":"/calendar/…"`) {
		t.Errorf("%s", text)
	}
	rec := httptest.NewRecorder()
	a.metrics.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if strings.Contains(rec.Body.String(), token) || strings.Contains(rec.Body.String(), "enquiry") || strings.Contains(rec.Body.String(), "calendar") {
		t.Error("the metrics name the link")
	}
	if scrape(t, a)[requestsOf("pages", "4xx")] == 0 {
		t.Error("the requests were not counted as pages")
	}
}

// Proves H-archive-conversations.
//
// An import restores conversations. Private links of the source still work, although they were derived from another secret.
func TestArchivesKeepConversations(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newNoticeSite(t, dialect, false)
			s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
			path := s.sendMessageWithLink("Inês", "ines@exemplo.example", "pt")
			browseLink(t, s.App, path, "text", "E a cor?")
			file, entries := exportSite(t, s.App)
			for name, text := range entries {
				if strings.Contains(text, strings.TrimPrefix(path, "/enquiry/")) || strings.HasPrefix(name, "site/") && strings.Contains(text, "E a cor?") {
					t.Errorf("%s has the token, or shows the conversation", name)
				}
			}
			from, err := archive.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = from.Close() }()
			cfg := configuration(t)
			cfg.Database.URL, cfg.Auth.JWTSecret = dbtest.URL(t, dialect), strings.Repeat("o", 32)
			other := newAppOf(t, cfg, time.Now)
			if err := importAll(t.Context(), other, from, noReport); err != nil {
				t.Fatal(err)
			}
			if page := browseLink(t, other, path).Body.String(); !strings.Contains(page, "Temos uma parede.") || !strings.Contains(page, "E a cor?") {
				t.Errorf("%s", page)
			}
		})
	}
}
