package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
)

// Proves E-copy-1, E-copy-2, E-copy-5.
//
// A visitor gets one copy with the link, from a real mail server. The text in it contains no links and no markup. Replies of the owner
// and later texts of the visitor cause no further copy. Erasing a message deletes its copy.
func TestAVisitorGetsACopyByMail(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		s.set("site", `{"name":"Alvor","enquiryLinks":true,"enquiryCopies":true}`)
		serve(t, s.App)
		const text = `<a href=\"https://evil.example/x\">grátis</a> www.evil.example canary@evil.example\n\nSubject: x`
		response := string(s.call(identity.Anon, "submit-contact", `{"name":"https://evil.example","email":"canary@exemplo.example","message":"`+text+`","language":"pt","follow":true}`))
		_, path, found := strings.Cut(strings.TrimSuffix(response, `"`), "/enquiry/")
		if !found || !strings.Contains(response, `"enquiry_copy":true`) {
			t.Fatalf("got %s", response)
		}
		path = "/enquiry/" + path[:22]
		waitForState(t, s.App, "", jobs.State{})
		if got := s.subjects("canary@exemplo.example"); !slices.Equal(got, []string{"Alvor: cópia da sua mensagem"}) {
			t.Fatalf("got %q", got)
		}
		mails := s.mailServer.Mails()
		i := slices.IndexFunc(mails, func(m mailtest.Received) bool { return m.To == "canary@exemplo.example" })
		m, err := mailtest.Open(mails[i].Data)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Text, "http://site.example"+path) || !strings.Contains(m.HTML, `href="http://site.example`+path+`"`) {
			t.Errorf("without the link: %s", m.Text)
		}
		if !strings.Contains(m.Text, "> Subject:\u200b x") || !strings.Contains(m.Text, "grátis") {
			t.Errorf("without the text: %s", m.Text)
		}
		for _, part := range []string{m.Text, m.HTML, m.Subject} {
			for _, link := range []string{"evil.example", "https://evil", "canary@evil"} {
				if strings.Contains(part, link) {
					t.Errorf("%s is in %s", link, part)
				}
			}
		}

		if strings.Contains(m.HTML, "grátis</a>") || !strings.Contains(m.HTML, "grátis&lt;/") {
			t.Errorf("the text is markup: %s", m.HTML)
		}

		var id string
		if err := s.DB.QueryRow(t.Context(), "select id from contact_submissions").Scan(&id); err != nil {
			t.Fatal(err)
		}
		before := len(s.mailServer.Mails())
		s.call(identity.Service, "contact-reply", `{"action":"reply","message_id":"`+id+`","text":"Claro."}`)
		waitForState(t, s.App, "", jobs.State{})
		if mails := s.mailServer.Mails()[before:]; len(mails) != 1 || mails[0].To != "canary@exemplo.example" {
			t.Errorf("a reply caused %d mails", len(mails))
		}
		if rec := browseLink(t, s.App, path, "text", "Obrigada!"); rec.Code != http.StatusSeeOther {
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		waitForState(t, s.App, "", jobs.State{})
		if got := s.subjects("canary@exemplo.example"); len(got) != 2 {
			t.Errorf("the author of the text got a mail too: %q", got)
		}
		if got := s.subjects("ana@alvor.example"); len(got) != 2 {
			t.Errorf("the owner got a mail: %q", got)
		}
		exported := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`))
		if !strings.Contains(exported, `"channel":"copy","recipient":"canary@exemplo.example","state":"sent"`) {
			t.Errorf("%s", exported)
		}
		s.call(identity.Service, "address-data", `{"action":"erase","address":"canary@exemplo.example"}`)
		waitForState(t, s.App, "", jobs.State{})
		if left := s.tablesWith("canary"); len(left) != 0 {
			t.Errorf("left in %q", left)
		}
		if n := s.count("select count(*) from rate_limits where name = 'contact-copy-to'"); n != 0 {
			t.Errorf("%d counters of the mailbox", n)
		}
	})
}

// Proves E-copy-9.
//
// A visitor who gets a copy gets no thank-you mail: the copy has its words. A visitor who gets no copy gets the thank-you mail.
func TestACopyHasTheThanks(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true,"enquiryCopies":true}`)
		s.set("notice.email", `[]`)
		serve(t, s.App)
		const thanks = "Thank you for writing to Alvor. The answer will come to this address."
		mail := func(to string) string {
			t.Helper()
			waitForState(t, s.App, "", jobs.State{})
			var texts []string
			for _, received := range s.mailServer.Mails() {
				if received.To != to {
					continue
				}
				m, err := mailtest.Open(received.Data)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, m.Subject+"\n"+m.Text)
			}
			if len(texts) != 1 {
				t.Fatalf("%s: %d mails: %q", to, len(texts), texts)
			}
			return texts[0]
		}
		s.sendMessageWithLink("Ana", "ana@exemplo.example", "en")
		if text := mail("ana@exemplo.example"); !strings.Contains(text, ": a copy of your message\n") || strings.Contains(text, thanks) {
			t.Errorf("without thanks: %s", text)
		}
		s.set("thanks.enabled", "true")
		s.sendMessageWithLink("Rui", "rui@exemplo.example", "en")
		if text := mail("rui@exemplo.example"); !strings.Contains(text, ": a copy of your message\n") || !strings.Contains(text, thanks) || !strings.Contains(text, "/enquiry/") {
			t.Errorf("with thanks: %s", text)
		}
		if n := s.count("select count(*) from rate_limits where name = 'contact-thanks'"); n != 0 {
			t.Errorf("a copy counts as %d thank-you mails", n)
		}
		s.write("Eva", "eva@exemplo.example", "en")
		if text := mail("eva@exemplo.example"); !strings.Contains(text, ": your message has arrived\n") || !strings.Contains(text, thanks) || strings.Contains(text, "parede") {
			t.Errorf("no copy: %s", text)
		}
	})
}

// Proves E-copy-7.
//
// A copy that the mail server refuses is shown as failed, and can be sent again.
func TestARefusedCopyCanBeMailedAgain(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true,"enquiryCopies":true}`)
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox"))
		serve(t, s.App)
		s.sendMessageWithLink("Rui", "rui@exemplo.example", "en")
		s.waitFor("the copy is refused", func() bool {
			return s.count("select count(*) from contact_notices where channel = 'copy' and failed_at is not null and last_error like '%550%'") == 1
		})
		var id string
		if err := s.DB.QueryRow(t.Context(), "select id from contact_submissions").Scan(&id); err != nil {
			t.Fatal(err)
		}
		s.states("retry", id)
		s.waitFor("the copy is sent", func() bool {
			return s.count("select count(*) from contact_notices where channel = 'copy' and sent_at is not null and failed_at is null") == 1
		})
		if got := s.subjects("rui@exemplo.example"); !slices.Equal(got, []string{"Alvor: a copy of your message"}) {
			t.Errorf("%q", got)
		}
	})
}
