package functions

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/activity"
	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// giveLinks turns private links on or off. commissions is the state of commissions; it is optional.
func (s *site) giveLinks(on bool, commissions ...string) {
	s.t.Helper()
	if err := settings.Delete(s.t.Context(), s.d, settings.SiteKey); err != nil {
		s.t.Fatal(err)
	}
	site := map[string]any{"name": "Alvor", "enquiryLinks": on}
	if len(commissions) > 0 {
		site["commissions"] = map[string]string{"state": commissions[0]}
	}
	if err := settings.Insert(s.t.Context(), s.d, settings.SiteKey, site, s.clock); err != nil {
		s.t.Fatal(err)
	}
}

// sendMessageWithLink sends a message as the site's form does, and returns the path of its private link.
func (s *site) sendMessageWithLink(language, reason string) (path string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"name":"Inês Prado","email":"ines@exemplo.pt","message":"Gosto muito do mural.","reason":%q,"language":%q,"follow":true}`, reason, language)
	rec := s.call("anon", "submit-contact", body)
	var response struct {
		Success bool   `json:"success"`
		URL     string `json:"enquiry_url"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || !response.Success {
		s.t.Fatalf("%d %s: %v", rec.Code, rec.Body, err)
	}
	path, found := strings.CutPrefix(response.URL, "https://alvor.example")
	if !found || len(path) != len("/enquiry/")+22 {
		s.t.Fatalf("link %q", response.URL)
	}
	return path
}

// visit opens a private link in a browser, each time from another IP address.
func (s *site) visit(method, target, contentType, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	s.calls++
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	r.RemoteAddr = fmt.Sprintf("198.18.%d.%d:1", s.calls/250, s.calls%250)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

// post sends the fields of a form on the page of a link.
func (s *site) post(target string, fields ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.visit("POST", target, urlencoded, form.Encode())
}

func (s *site) scan(dst any, query string, args ...any) {
	s.t.Helper()
	if err := s.d.QueryRow(s.t.Context(), query, args...).Scan(dst); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) messageID() (id string) {
	s.t.Helper()
	s.scan(&id, "select id from contact_submissions")
	return id
}

// texts returns the replies as "author: text (delivery)", the oldest first.
func (s *site) texts() (all []string) {
	s.t.Helper()
	all, err := db.Collect(s.t.Context(), s.d, db.ScanOne[string], "select author || ': ' || text || ' (' || delivery || ')' from contact_replies order by created_at, id")
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// reply calls contact-reply as the owner, and returns its status, the state and the body.
func (s *site) reply(body string) (int, conversationState, string) {
	s.t.Helper()
	rec := s.call("admin", "contact-reply", body)
	var state conversationState
	_ = json.Unmarshal(rec.Body.Bytes(), &state) // errors have another form, which the caller checks
	return rec.Code, state, rec.Body.String()
}

// Proves FN-contact-link.
// Without a request for a link, the response has the same bytes as before, whatever the owner has set.
func TestLinkIsGivenOnRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		with := func(value string) string { return strings.Replace(good, "}", `,"follow":`+value+`}`, 1) }
		answered(t, s.call("anon", "submit-contact", with("true")), 200, success)
		s.giveLinks(false)
		answered(t, s.call("anon", "submit-contact", with("true")), 200, success)
		s.giveLinks(true)
		for _, body := range []string{good, with("false"), with("null"), with(`"true"`), with("1"), with(`{"a":[]}`)} {
			answered(t, s.call("anon", "submit-contact", body), 200, success)
		}
		var links int
		if s.scan(&links, "select count(*) from contact_links"); links != 0 {
			t.Fatalf("%d links without a request", links)
		}
		path := s.sendMessageWithLink("pt", "")
		token := strings.TrimPrefix(path, EnquiryPath)
		var hash, nonce string
		s.scan(&hash, "select token_hash from contact_links")
		s.scan(&nonce, "select nonce from contact_links")
		if strings.Contains(hash+nonce, token) || len(hash) != 64 {
			t.Errorf("stored %s and %s of %s", hash, nonce, token)
		}
		// A browser without scripts.
		fields := url.Values{"name": {"Rui"}, "email": {"rui@exemplo.pt"}, "message": {"Quanto custa o mural?"}, "reason": {""}, "language": {"pt"}}
		rec := s.browse("POST", contactAddress, urlencoded, fields.Encode())
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), `<a href="https://alvor.example/enquiry/`) || rec.Header().Get("Cache-Control") != "" && rec.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}

// Proves E-page-1, E-page-2.
func TestThePageOfALinkShowsTheEnquiry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true, "waitlist")
		path := s.sendMessageWithLink("pt", "commission")
		if _, err := d.Exec(t.Context(), "update contact_submissions set artwork_id = $1", visitorID); err != nil {
			t.Fatal(err)
		}
		rec := s.visit("GET", path, "", "")
		expectPage(t, rec, 200, `<html lang="pt"><title>A sua mensagem`, "Gosto muito do mural.", "Inês Prado", "Recebida em 12 de março de 2026, 10:00 UTC. Ainda não foi lida.",
			"Lugar na lista de espera: 1.º.", "Romãs pt", `href="`+path+`?lang=en" lang="en" hreflang="en"`, `<form action="`+path+`" method="post"`)
		for name, want := range map[string]string{"X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if got := rec.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		expectPage(t, s.visit("GET", path+"?lang=en", "", ""), 200, `<html lang="en"><title>Your message`, "Received on 12 March 2026, 10:00 UTC. Not read yet.", `lang="pt">Gosto muito`, `href="`+path+`?lang=pt"`, "Romãs en")
		if rec := s.visit("HEAD", path, "", ""); rec.Code != 200 {
			t.Errorf("HEAD: %d", rec.Code)
		}
		status := func(status string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), "update contact_submissions set status = $1", status); err != nil {
				t.Fatal(err)
			}
		}
		status("read")
		expectPage(t, s.visit("GET", path, "", ""), 200, "Lida em ", "lista de espera")
		status("replied")
		s.exec("update contact_submissions set answered_at = $1", s.clock.Add(time.Hour)) // the trigger has stored the time of the database
		rec = s.visit("GET", path, "", "")
		expectPage(t, rec, 200, "Respondida por e-mail em 12 de março de 2026, 11:00 UTC.")
		if strings.Contains(rec.Body.String(), "lista de espera") {
			t.Error("an answered message is on a waiting list")
		}
		status("new")
		expectPage(t, s.visit("GET", path, "", ""), 200, "Ainda não foi lida.")
	})
}

// Proves E-page-1.
//
// Mailed answers are not texts of the conversation, and only the time of the first answer is stored. So the page has no date of a later one.
func TestThePageOfALinkGivesNoWrongDateOfAnAnswer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.giveLinks(true)
		path := s.sendMessageWithLink("en", "")
		id := s.messageID()
		says := func(state string) {
			t.Helper()
			expectPage(t, s.visit("GET", path, "", ""), 200, ">"+state)
		}
		const mailed = "update contact_submissions set status = 'replied'" // as the link to the owner's mail program does
		s.exec(mailed)
		s.exec("update contact_submissions set answered_at = $1", s.clock.Add(time.Hour)) // the trigger has stored the time of the database
		says("Answered by email on 12 March 2026, 11:00 UTC.")
		s.clock = s.clock.AddDate(0, 0, 9)
		s.post(path, "text", "Which blue?")
		says("Received on 21 March 2026, 10:00 UTC.")
		s.exec(mailed)
		says("Answered by email.<")

		s.clock = s.clock.AddDate(0, 0, 1)
		if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Cobalt."}`); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		says("Answered on 22 March 2026, 10:00 UTC.")
		s.clock = s.clock.AddDate(0, 0, 1)
		s.post(path, "text", "And how large?")
		says("Received on 23 March 2026, 10:00 UTC.")
		s.exec(mailed)
		says("Answered by email.<")
	})
}

// Proves E-link-1.
//
// Unknown, expired, replaced and malformed tokens have the same response, and none reveals a row.
func TestMissingLinksHaveEqualResponses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("pt", "")
		token := strings.TrimPrefix(path, EnquiryPath)
		var page string
		missing := func(what, target string) {
			t.Helper()
			for _, send := range []func() *httptest.ResponseRecorder{
				func() *httptest.ResponseRecorder { return s.visit("GET", target, "", "") },
				func() *httptest.ResponseRecorder { return s.post(target, "text", "Olá?") },
				func() *httptest.ResponseRecorder { return s.post(target, "action", "erase", "confirm", "yes") },
			} {
				rec := send()
				if page == "" {
					page = rec.Body.String()
				}
				if rec.Code != 404 || rec.Body.String() != page || strings.Contains(page, "mural") {
					t.Errorf("%s: %d %s", what, rec.Code, rec.Body)
				}
			}
		}
		missing("an unknown token", EnquiryPath+"AAAAAAAAAAAAAAAAAAAAAA")
		for _, malformed := range []string{"", "x", token[:21], token + "A", token + "/", token + "/x", strings.ToLower(token) + "-", "%00", "%2e%2e", "..%2f" + token, "%ff%fe", "a'or'1'='1", strings.Repeat("a", 8000), "null", "%25s%25n", token + "%00", "%F0%9F%8E%A8"} {
			missing(fmt.Sprintf("%.40q", malformed), EnquiryPath+malformed)
		}
		s.clock = s.clock.AddDate(1, 0, 0).Add(-time.Second)
		expectPage(t, s.visit("GET", path, "", ""), 200, "Gosto muito")
		s.clock = s.clock.Add(time.Second)
		missing("an expired token", path)
		if err := s.PurgeLinks(t.Context()); err != nil {
			t.Fatal(err)
		}
		var links int
		if s.scan(&links, "select count(*) from contact_links"); links != 0 {
			t.Errorf("%d expired links are left", links)
		}
		if s.messageID() == "" || len(s.texts()) != 0 {
			t.Errorf("the message, or %v", s.texts())
		}
	})
}

// Proves E-reply-1, E-reply-2.
func TestVisitorReplies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("pt", "")
		id := s.messageID()
		if _, err := d.Exec(t.Context(), "update contact_submissions set status = 'read'"); err != nil {
			t.Fatal(err)
		}
		s.clock = s.clock.AddDate(0, 6, 0)
		for range 2 { // a second press of the button
			rec := s.post(path+"?lang=en", "text", " E a\tcor?\r\n<b>Azul</b> ", "id", "form-1")
			if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != path+"?lang=en#last" {
				t.Fatalf("%d %s", rec.Code, rec.Header().Get("Location"))
			}
		}
		if got := s.texts(); !slices.Equal(got, []string{"visitor: E a cor?\n<b>Azul</b> (none)"}) {
			t.Errorf("%q", got)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "E a cor?\n&lt;b&gt;Azul&lt;/b&gt;", "Ainda não foi lida.", "Recebida em 12 de setembro")
		var status string
		if s.scan(&status, "select status from contact_submissions"); status != "new" {
			t.Errorf("status %s", status)
		}
		if len(s.live) != 2 || !strings.HasPrefix(s.live[0], "reply ") || !strings.HasSuffix(s.live[0], "inserted true") || s.live[1] != "message "+id {
			t.Errorf("live: %q", s.live)
		}
		var plans, jobsAbout int
		s.scan(&plans, "select count(*) from contact_notices where reply_id is not null and channel = 'plan'")
		s.scan(&jobsAbout, "select count(*) from jobs where kind = 'contact.plan' and about = $1", id)
		if plans != 1 || jobsAbout != 2 {
			t.Errorf("%d plans, %d jobs", plans, jobsAbout)
		}
		// The link ends a year after this reply.
		s.clock = s.clock.AddDate(0, 11, 0)
		expectPage(t, s.visit("GET", path, "", ""), 200, "Gosto muito")

		for text, want := range map[string]string{"": "Escreva primeiro", " \r\n\t": "Escreva primeiro", "a\x07": "caracteres de controlo", strings.Repeat("ã", 5001): "5000"} {
			rec := s.post(path, "text", text, "id", "form-2")
			expectPage(t, rec, 400, want, `role="alert"`, `aria-invalid="true"`, `value="form-2"`)
		}
		expectPage(t, s.visit("POST", path, "application/json", `{"text":"x"}`), 415, `role="alert"`)
		expectPage(t, s.visit("POST", path, urlencoded, "text="+strings.Repeat("a", maxBody)), 413, "demasiado grande")
		expectPage(t, s.visit("POST", path, urlencoded, "text=%zz"), 400, `role="alert"`)
		s.space = apperr.NoSpace
		expectPage(t, s.post(path, "text", "Fica aqui"), 507, "Fica aqui</textarea>")
		s.space = nil
		if got := s.texts(); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if rec := s.visit("PUT", path, "", ""); rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("PUT: %d, Allow %q", rec.Code, rec.Header().Get("Allow"))
		}
		s.clock = s.clock.AddDate(0, -17, 0) // to before the expiry of the callers' keys
		// The same id in another conversation is another reply.
		other := s.sendMessageWithLink("en", "")
		if rec := s.post(other, "text", "Hello", "id", "form-1"); rec.Code != http.StatusSeeOther {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if got := s.texts(); len(got) != 2 {
			t.Errorf("%q", got)
		}
		if page := s.visit("GET", other, "", "").Body.String(); strings.Contains(page, "Azul") {
			t.Errorf("a conversation shows another one: %s", page)
		}
		// So is a text that was changed after a response was lost, and sent with the id of the form.
		if rec := s.post(other, "text", "Hello again", "id", "form-1"); rec.Code != http.StatusSeeOther {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if got := s.texts(); len(got) != 3 {
			t.Errorf("%q", got)
		}
	})
}

// Proves E-limit-1.
func TestRequestsForLinksAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("en", "")
		for i := range enquiryPostsPerLink {
			if rec := s.post(path, "text", fmt.Sprint("Hello ", i)); rec.Code != http.StatusSeeOther {
				t.Fatalf("%d: %d", i, rec.Code)
			}
		}
		rec := s.post(path, "text", "Hello")
		if expectPage(t, rec, 429, "Too many requests."); rec.Header().Get("Retry-After") != "45" {
			t.Errorf("Retry-After %q", rec.Header().Get("Retry-After"))
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Hello 9")
		s.clock = s.clock.Add(time.Minute)
		from := func() int {
			r := httptest.NewRequestWithContext(t.Context(), "GET", EnquiryPath+"guess", nil)
			r.RemoteAddr = "203.0.113.9:1"
			rec := httptest.NewRecorder()
			s.http.ServeHTTP(rec, r)
			return rec.Code
		}
		for i := range enquiryRequestsPerMinute {
			if code := from(); code != 404 {
				t.Fatalf("guess %d: %d", i, code)
			}
		}
		if code := from(); code != 429 {
			t.Errorf("one more guess: %d", code)
		}
	})
}

// wantErasures checks how many erasures by visitors the activity lists.
func (s *site) wantErasures(want int) {
	s.t.Helper()
	var n int
	if s.scan(&n, "select coalesce(sum(number), 0) from activity where table_name = 'contact_submissions' and action = 'delete' and actor = '"+activity.VisitorActor+"'"); n != want {
		s.t.Errorf("%d erasures by visitors in the activity, want %d", n, want)
	}
}

// Proves E-erase-1.
func TestAVisitorErasesTheEnquiry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path, other := s.sendMessageWithLink("en", ""), s.sendMessageWithLink("en", "")
		s.post(path, "text", "Hello")
		expectPage(t, s.post(path, "action", "erase"), 200, "Erase your message and all answers?", `name="confirm" value="yes"`)
		expectPage(t, s.visit("GET", path, "", ""), 200, "Hello")
		expectPage(t, s.post(path, "action", "erase", "confirm", "yes"), 200, "Your message was erased")
		for _, target := range []string{path} {
			expectPage(t, s.visit("GET", target, "", ""), 404, "There is nothing here")
		}
		expectPage(t, s.visit("GET", other, "", ""), 200, "Gosto muito")
		s.wantErasures(1)
		for table, want := range map[string]int{"contact_submissions": 1, "contact_replies": 0, "contact_links": 1, "contact_notices": 1} {
			var n int
			if s.scan(&n, "select count(*) from "+table); n != want {
				t.Errorf("%s: %d, want %d", table, n, want)
			}
		}
	})
}

// Proves E-quarantine-1.
//
// A message in quarantine has a link like any other, so that spam programs cannot detect the quarantine and a visitor during a flood
// keeps the link.
func TestAQuarantinedMessageKeepsItsLink(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("pt", "buy now")
		expectPage(t, s.visit("GET", path, "", ""), 200, "Gosto muito do mural.", "Ainda não foi lida.")
		expectPage(t, s.post(path, "text", "Olá"), 400)
		var id string
		s.scan(&id, "select id from contact_quarantine")
		answered(t, s.call("admin", "contact-quarantine", `{"action":"restore","id":"`+id+`"}`), 200, `{"success":true,"id":"`+id+`"}`)
		if rec := s.post(path, "text", "Olá"); rec.Code != http.StatusSeeOther {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Gosto muito do mural.", "Olá", `<html lang="pt">`)
		spam := s.sendMessageWithLink("en", "buy now")
		expectPage(t, s.post(spam, "action", "erase", "confirm", "yes"), 200, "Your message was erased")
		s.wantErasures(1)
		var n int
		if s.scan(&n, "select count(*) from contact_quarantine"); n != 0 {
			t.Errorf("%d in quarantine", n)
		}
		deleted := s.sendMessageWithLink("en", "buy now")
		s.scan(&id, "select id from contact_quarantine")
		answered(t, s.call("admin", "contact-quarantine", `{"action":"delete","id":"`+id+`"}`), 200, `{"success":true,"id":"`+id+`"}`)
		expectPage(t, s.visit("GET", deleted, "", ""), 404)
	})
}

// A response can be lost after its request was carried out. If the owner then changes the text and sends it again with the same id, both are
// stored. Proves FN-reply-reply, FN-commission-offer.
func TestTextsChangedAfterALostResponse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.giveLinks(true)
		s.sendMessageWithLink("pt", "")
		id := s.messageID()
		for _, text := range []string{"Claro!", "Claro, em maio.", "Claro, em maio."} {
			s.clock = s.clock.Add(time.Minute)
			if code, _, answer := s.reply(`{"action":"reply","message_id":"` + id + `","id":"draft","text":"` + text + `"}`); code != 200 {
				t.Fatalf("%d %s", code, answer)
			}
		}
		if got := s.texts(); !slices.Equal(got, []string{"owner: Claro! (queued)", "owner: Claro, em maio. (queued)"}) {
			t.Errorf("%q", got)
		}
		var state commissionState
		for _, price := range []string{"300 €", "250 €", "250 €"} {
			s.clock = s.clock.Add(time.Minute)
			state = s.mustCallCommission("offer", id, "id", "draft", "text", "Um retrato", "price", price)
		}
		if len(state.Offers) != 2 || state.Offers[0].Price != "250 €" || state.Offers[0].State != "open" || state.Offers[1].State != "withdrawn" {
			t.Errorf("%+v", state.Offers)
		}
	})
}

// Proves FN-reply-state, FN-reply-reply, FN-reply-resend, FN-reply-renew.
func TestOwnerReplies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.giveLinks(true)
		path := s.sendMessageWithLink("pt", "")
		id := s.messageID()
		code, state, text := s.reply(`{"message_id":"` + id + `"}`)
		if code != 200 || !state.Mail || !state.Links || state.Language != "pt" || state.Link == nil || state.Link.URL != "https://alvor.example"+path {
			t.Fatalf("%d %s", code, text)
		}
		s.clock = s.clock.Add(time.Hour)
		for range 2 { // the client has lost the first response and retries the request
			if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","id":"draft-1","text":" Claro!\r\nEm maio. "}`); code != 200 {
				t.Fatalf("%d %s", code, text)
			}
		}
		if got := s.texts(); !slices.Equal(got, []string{"owner: Claro!\nEm maio. (queued)"}) {
			t.Fatalf("%q", got)
		}
		var status string
		if s.scan(&status, "select status from contact_submissions"); status != "replied" {
			t.Errorf("status %s", status)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Claro!\nEm maio.", "Respondida em 12 de março de 2026, 11:00 UTC.", "Resposta · ")

		var replyOfOwner string
		s.scan(&replyOfOwner, "select id from contact_replies")
		deliver := func() error {
			return s.sendReply(t.Context(), []byte(`{"id":"`+replyOfOwner+`","reply_to":"owner@exemplo.pt"}`))
		}
		if code, _, text := s.reply(`{"action":"resend","message_id":"` + id + `","id":"` + replyOfOwner + `"}`); code != 409 {
			t.Errorf("a queued reply is sent again: %d %s", code, text)
		}
		s.mailErr = errors.New("connection refused")
		if err := deliver(); err == nil || s.texts()[0] != "owner: Claro!\nEm maio. (queued)" {
			t.Errorf("%v %q", err, s.texts())
		}
		s.mailErr = nil
		s.mails = nil
		for range 2 { // a job that runs twice
			if err := deliver(); err != nil {
				t.Fatal(err)
			}
		}
		want := ReplyMail{To: Recipient{"ines@exemplo.pt", "pt"}, ReplyTo: "owner@exemplo.pt", Link: "https://alvor.example" + path, MessageID: id, Text: "Claro!\nEm maio.", At: s.clock}
		if len(s.mails) != 1 {
			t.Fatalf("%+v", s.mails)
		}
		s.mails[0].At, want.ID = s.mails[0].At.UTC(), s.mails[0].ID
		if s.mails[0] != want || s.texts()[0] != "owner: Claro!\nEm maio. (sent)" {
			t.Errorf("%+v, want %+v; %q", s.mails[0], want, s.texts())
		}
		if code, _, text := s.reply(`{"action":"resend","message_id":"` + id + `","id":"` + replyOfOwner + `"}`); code != 200 || s.texts()[0] != "owner: Claro!\nEm maio. (queued)" {
			t.Errorf("%d %s %q", code, text, s.texts())
		}
		var queued int
		if s.scan(&queued, "select count(*) from jobs where kind = 'contact.reply' and about = $1", id); queued != 2 {
			t.Errorf("%d jobs", queued)
		}

		_, state, _ = s.reply(`{"action":"renew","message_id":"` + id + `"}`)
		renewed := strings.TrimPrefix(state.Link.URL, "https://alvor.example")
		if renewed == path {
			t.Error("the link is the same")
		}
		expectPage(t, s.visit("GET", path, "", ""), 404)
		expectPage(t, s.visit("GET", renewed, "", ""), 200, "Claro!")

		// After two changes of the secret the server cannot derive the link any more, and the next mail contains a new one.
		s.cfg.PreviousLinkKey, s.cfg.LinkKey = s.cfg.LinkKey, []byte("another key")
		if _, state, _ := s.reply(`{"message_id":"` + id + `"}`); state.Link.URL != "https://alvor.example"+renewed {
			t.Errorf("with the previous key %q", state.Link.URL)
		}
		s.cfg.PreviousLinkKey = nil
		if _, state, _ := s.reply(`{"message_id":"` + id + `"}`); state.Link == nil || state.Link.URL != "" {
			t.Errorf("without the key %+v", state.Link)
		}
		expectPage(t, s.visit("GET", renewed, "", ""), 200, "Claro!")
		if _, state, _ := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Até maio"}`); state.Link.URL == "" {
			t.Error("a mailed reply has no link")
		}

		for body, want := range map[string]int{
			`{}`: 400, `{"message_id":"x"}`: 400, `{"message_id":"` + id + `","action":"burn"}`: 400, `{"message_id":"` + visitorID + `"}`: 200,
			`{"message_id":"` + visitorID + `","action":"reply","text":"x"}`: 404, `{"message_id":"` + id + `","action":"reply","text":" "}`: 400,
			`{"message_id":"` + id + `","action":"resend","id":"x"}`: 400, `{"message_id":"` + id + `","action":"resend","id":"` + visitorID + `"}`: 404,
			`[`: 400, `{"message_id":7}`: 400,
		} {
			if code, _, text := s.reply(body); code != want {
				t.Errorf("%s: %d %s, want %d", body, code, text, want)
			}
		}
		for who, want := range map[string]int{"anon": 403, "user": 403, "service": 200, "nobody": 401, "forged": 401} {
			if rec := s.call(who, "contact-reply", `{"message_id":"`+id+`"}`); rec.Code != want {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
		}
	})
}

// Proves FN-reply-reply.
//
// Without a mail server a reply is read at the link. Without a link too it would reach nobody, so it is refused.
func TestReplyWithoutMailNeedsALink(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		answered(t, s.call("anon", "submit-contact", good), 200, success)
		id := s.messageID()
		if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Claro!"}`); code != 409 || len(s.texts()) != 0 {
			t.Errorf("%d %s", code, text)
		}
		if code, _, text := s.reply(`{"action":"renew","message_id":"` + id + `"}`); code != 409 {
			t.Errorf("links are off: %d %s", code, text)
		}
		s.giveLinks(true)
		_, state, _ := s.reply(`{"action":"renew","message_id":"` + id + `"}`)
		if state.Link == nil || state.Mail {
			t.Fatalf("%+v", state)
		}
		if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Claro!"}`); code != 200 {
			t.Errorf("%d %s", code, text)
		}
		if got := s.texts(); !slices.Equal(got, []string{"owner: Claro! (none)"}) {
			t.Errorf("%q", got)
		}
		expectPage(t, s.visit("GET", strings.TrimPrefix(state.Link.URL, "https://alvor.example"), "", ""), 200, "Claro!")
	})
}

// Proves AM-reply-3.
func TestRetentionAndExportIncludeConversations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("en", "")
		begun := s.clock
		s.clock = begun.AddDate(0, 5, 0)
		s.post(path, "text", "Any news?")
		if err := settings.Delete(t.Context(), d, settings.SiteKey); err != nil {
			t.Fatal(err)
		}
		if err := settings.Insert(t.Context(), d, settings.SiteKey, map[string]any{"name": "Alvor", "messageMonths": 6}, s.clock); err != nil {
			t.Fatal(err)
		}
		left := func(at time.Time) int {
			t.Helper()
			s.clock = at
			if err := s.PurgeMessages(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(s.stored("contact_submissions"))
		}
		if n := left(begun.AddDate(0, 6, 1)); n != 1 {
			t.Error("a conversation went although its last text is a month old")
		}
		exported := string(s.export("json"))
		if !strings.Contains(exported, `"replies":[{"created_at":"2026-08-12T10:00:15Z","author":"visitor","text":"Any news?"}],"link":{"created_at":"2026-03-12T10:00:15Z","expires_at":"2027-08-12T10:00:15Z"}`) {
			t.Errorf("%s", exported)
		}
		if strings.Contains(exported, strings.TrimPrefix(path, EnquiryPath)) {
			t.Error("the export has the token")
		}
		if n := left(begun.AddDate(0, 11, 1)); n != 0 || len(s.texts()) != 0 {
			t.Errorf("%d messages, %v", n, s.texts())
		}
	})
}

// Proves E-erase-1.
//
// An owner restores a message from quarantine after the visitor's request has found it there.
func TestAVisitorErasesAMessageThatAnOwnerRestores(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("en", "buy now")
		var id string
		s.scan(&id, "select id from contact_quarantine")
		found := enquiryPage{Language: i18n.EN, Path: path, Enquiry: &enquiry{Message: contactMessage{ID: id}, Quarantined: true}}
		answered(t, s.call("admin", "contact-quarantine", `{"action":"restore","id":"`+id+`"}`), 200, `{"success":true,"id":"`+id+`"}`)
		rec := httptest.NewRecorder()
		if err := s.handleErase(rec, httptest.NewRequestWithContext(t.Context(), "POST", path, nil), found, true); err != nil {
			t.Fatal(err)
		}
		expectPage(t, rec, 200, "Your message was erased")
		expectPage(t, s.visit("GET", path, "", ""), 404)
		for _, table := range []string{"contact_submissions", "contact_quarantine", "contact_links"} {
			if n := s.count("select count(*) from " + table); n != 0 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
	})
}
