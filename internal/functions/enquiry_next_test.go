package functions

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
)

// Proves E-next-1.
//
// The page says at each step what the visitor can do or expect next, with and without a mail server.
func TestThePageSaysWhatComesNext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, c := range []struct {
			mail              bool
			language          i18n.Language
			answer, news, way string
		}{
			{true, i18n.EN, "enquiry.next.answerMailed", "enquiry.next.newsMailed", "mailed"},
			{false, i18n.PT, "enquiry.next.answer", "enquiry.next.news", "guarde a ligação"},
		} {
			s := newSiteWith(t, d, Config{MailServer: c.mail})
			s.setSite(map[string]any{"state": "open"})
			s.exec("delete from contact_submissions")
			path := s.sendMessageWithLink(string(c.language), "commission")
			id := s.messageID()
			all := []string{"offer", "review", "answer", "answerMailed", "news", "newsMailed", "write"}
			says := func(key string) {
				t.Helper()
				s.clock = s.clock.Add(time.Minute) // texts of one moment have no order
				page := s.visit("GET", path, "", "").Body.String()
				for _, other := range all {
					text := c.language.Text("enquiry.next." + other)
					if got := strings.Contains(page, ">"+text+"<"); got != ("enquiry.next."+other == key) {
						t.Errorf("mail %v, want %s: %s %v", c.mail, key, other, got)
					}
				}
			}
			if text := c.language.Text(c.answer); !strings.Contains(text, c.way) {
				t.Errorf("%q says nothing of mails", text)
			}
			says(c.answer)
			if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Com gosto."}`); code != 200 {
				t.Fatalf("%d %s", code, text)
			}
			says("enquiry.next.write")
			s.post(path, "text", "Quando?")
			says(c.answer)
			offer := s.mustCallCommission("offer", id, "text", "Uma aguarela", "price", "300 €").Offers[0].ID
			says("enquiry.next.offer")
			expectPage(t, s.visit("GET", path, "", ""), 200, `<a href="#offer"`, `id="offer"`)
			s.mustCallCommission("withdraw", id, "id", offer)
			says("enquiry.next.write") // the offer was an answer
			// Its form is gone, so the error about the name is above.
			expectPage(t, s.post(path, "action", "answer", "offer", offer, "answer", "accepted"), 400, `role="alert"`, c.language.Text("enquiry.offer.error.name"))
			offer = s.mustCallCommission("offer", id, "text", "Duas aguarelas", "price", "500 €").Offers[0].ID
			s.post(path, "action", "answer", "offer", offer, "answer", "accepted", "name", "Inês")
			says(c.news)
			told := c.language.Text("enquiry.offer.told")
			expectPage(t, s.visit("GET", path, "", ""), 200, told)
			moved := s.clock
			s.mustCallCommission("stage", id, "stage", "in_progress")
			says(c.news)
			page := s.visit("GET", path, "", "").Body.String()
			if strings.Contains(page, told) {
				t.Error("the next step is announced after it has happened")
			}
			_, unread, _ := strings.Cut(c.language.Text("enquiry.state.received", "when", "|"), "|")
			if strings.Contains(page, unread) || !strings.Contains(page, c.language.Text("enquiry.state.read", "when", c.language.Time(moved))) {
				t.Error("an owner who moves the commission has not read the answer")
			}
			s.mustCallCommission("stage", id, "stage", "finished")
			says("enquiry.next.write")
			s.post(path, "text", "E a moldura?")
			says(c.answer)
			if !strings.Contains(s.visit("GET", path, "", "").Body.String(), unread) {
				t.Error("a new text of the visitor is read")
			}
			if code, _, text := s.reply(`{"action":"reply","message_id":"` + id + `","text":"Também."}`); code != 200 {
				t.Fatalf("%d %s", code, text)
			}
			says("enquiry.next.write")
			s.mustCallReview("ask", id)
			says("enquiry.next.review")
			expectPage(t, s.visit("GET", path, "", ""), 200, `<a href="#review"`, `id="review"`)
			s.post(path, "action", "review", "name", "Inês", "text", "A casa sorri.")
			says("enquiry.next.write")
		}
	})
}

// Proves E-secret-1.
//
// Whatever visitor and owner write is shown at the link as text: no element and no attribute comes of it.
func TestHostileTextsOfAConversationAreInert(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		const attack = `"'></textarea></title><script>alert(1)</script><img src=x onerror=alert(1)> {{.Path}} javascript:alert(1)`
		escaped := []string{"<script", "<img src=x", "</textarea></title>", `href="javascript:`}
		s.setSite(terms(attack+" terms", attack+" terms"))
		s.cfg.FindWork = func(_ context.Context, id string, _ i18n.Language) (*EnquiryWork, error) {
			return &EnquiryWork{Title: attack + " work", URL: "/gallery/mural?art=" + id}, nil
		}
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		s.exec("update contact_submissions set name = $1, message = $2, artwork_id = $3", attack+" name", attack+" message", visitorID)
		inert := func(page string, want ...string) {
			t.Helper()
			for _, never := range escaped {
				if strings.Contains(page, never) {
					t.Errorf("%s came through: %s", never, page)
				}
			}
			for _, text := range want {
				if !strings.Contains(page, "alert(1)&gt; {{.Path}} javascript:alert(1) "+text) {
					t.Errorf("%s is not shown: %s", text, page)
				}
			}
		}
		if code, _, text := s.reply(fmt.Sprintf(`{"action":"reply","message_id":%q,"text":%q}`, id, attack+" reply")); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		s.post(path, "text", attack+" answer")
		offer := s.mustCallCommission("offer", id, "text", attack+" offer", "price", attack+" price", "deposit", attack+" deposit").Offers[0].ID
		inert(s.visit("GET", path, "", "").Body.String(), "name", "message", "work", "reply", "answer", "offer", "price", "deposit", "terms")
		inert(s.post(path, "action", "answer", "offer", offer, "answer", "accepted", "name", attack+strings.Repeat("é", 100)).Body.String())
		inert(s.post(path, "text", attack+"\x07").Body.String())
		// A name that reverses the text around it is isolated, so that the date beside it is as it was.
		const turned = "\u202eInês\u2067"
		s.exec("update contact_submissions set name = $1", turned)
		if page := s.visit("GET", path, "", "").Body.String(); strings.Count(page, "<bdi>"+turned+"</bdi> ·") != 2 {
			t.Errorf("the name is not isolated: %s", page)
		}
		s.exec("update contact_submissions set name = $1", attack+" name")
		short := `"><script>alert(1)</script>`
		s.post(path, "action", "answer", "offer", offer, "answer", "accepted", "name", "\u202e"+short+"\u2067")
		if page := s.visit("GET", path, "", "").Body.String(); strings.Contains(page, "<script") || !strings.Contains(page, "&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt; on ") {
			t.Errorf("the name of the answer: %s", page)
		}
		for _, stage := range []string{"in_progress", "finished"} {
			s.mustCallCommission("stage", id, "stage", stage)
		}
		s.mustCallReview("ask", id)
		inert(s.visit("GET", path, "", "").Body.String(), "name") // the form has the name
		s.post(path, "action", "review", "name", short, "place", short, "text", attack+" review")
		inert(s.visit("GET", path, "", "").Body.String(), "review")
	})
}
