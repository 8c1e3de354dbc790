package functions

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
)

// setSite stores settings of the site with private links.
func (s *site) setSite(commissions map[string]any) {
	s.t.Helper()
	if err := settings.Delete(s.t.Context(), s.d, settings.SiteKey); err != nil {
		s.t.Fatal(err)
	}
	if err := settings.Insert(s.t.Context(), s.d, settings.SiteKey, map[string]any{"name": "Alvor", "enquiryLinks": true, "commissions": commissions}, s.clock); err != nil {
		s.t.Fatal(err)
	}
}

// terms are settings with terms in English and Portuguese.
func terms(en, pt string) map[string]any {
	return map[string]any{"state": "open", "texts": map[string]any{"en": map[string]any{"terms": en}, "pt": map[string]any{"terms": pt}}}
}

// callCommission calls the commission function as the owner. more has names and values of fields.
func (s *site) callCommission(action, id string, more ...any) (int, commissionState, string) {
	s.t.Helper()
	return callOwner[commissionState](s, "commission", action, id, more...)
}

// mustCallCommission calls callCommission with an action that must succeed.
func (s *site) mustCallCommission(action, id string, more ...any) commissionState {
	s.t.Helper()
	return mustCallOwner[commissionState](s, "commission", action, id, more...)
}

func (s *site) count(query string, args ...any) (n int) {
	s.t.Helper()
	s.scan(&n, query, args...)
	return n
}

// Proves FN-commission-offer, E-offer-1, E-offer-2.
func TestAnOfferIsMadeAndAccepted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.setSite(terms("Half in advance.", "Metade adiantada.\n<b>Sempre</b>"))
		path := s.sendMessageWithLink("pt", "commission")
		id := s.messageID()
		if state := s.mustCallCommission("state", id); state.Stage != "enquiry" || state.StageAt != nil || len(state.Offers) != 0 || state.Terms != "Metade adiantada.\n<b>Sempre</b>" {
			t.Errorf("got %+v", state)
		}
		s.clock = s.clock.Add(time.Hour)
		s.live = nil
		for range 2 { // the client has lost the first response and retries the request
			state := s.mustCallCommission("offer", id, "id", "draft", "text", " Um retrato\r\nde 40 × 50. <i>", "price", " 300 €", "deposit", "100 €", "promised_on", "2026-06-01", "expires_on", "2026-03-20")
			if state.Stage != "offer" || len(state.Offers) != 1 || state.Offers[0].State != "open" {
				t.Fatalf("got %+v", state)
			}
		}
		if want := []string{"commission_offers inserted true", "commissions inserted true"}; !slices.Equal(s.live[2:], want) {
			t.Errorf("live: %q", s.live)
		}
		if n := s.count("select count(*) from jobs where kind = 'contact.reply' and about = $1", id); n != 1 {
			t.Errorf("%d mails", n)
		}
		// Later changes of the settings do not change the terms of an offer.
		s.setSite(terms("All in advance.", "Tudo adiantado."))
		rec := s.visit("GET", path, "", "")
		expectPage(t, rec, 200, "Foi feita uma proposta em 12 de março de 2026, 11:00 UTC.", "Um retrato\nde 40 × 50. &lt;i&gt;", "300 €", "100 €", "1 de junho de 2026", "20 de março de 2026",
			"Metade adiantada.\n&lt;b&gt;Sempre&lt;/b&gt;", `name="answer" value="accepted"`, "Proposta · ")
		var offerID string
		s.scan(&offerID, "select id from commission_offers")
		if err := s.sendReply(t.Context(), []byte(`{"id":"`+offerID+`","reply_to":""}`)); err != nil {
			t.Fatal(err)
		}
		if len(s.mails) != 1 || s.mails[0].Offer == nil || *s.mails[0].Offer != (OfferMail{"300 €", "100 €", "2026-06-01", "2026-03-20"}) || s.mails[0].Link != "https://alvor.example"+path || s.mails[0].Progress {
			t.Errorf("%+v", s.mails)
		}

		answer := func(answer, name string) int {
			t.Helper()
			return s.post(path, "action", "answer", "offer", offerID, "answer", answer, "name", name).Code
		}
		expectPage(t, s.post(path, "action", "answer", "offer", offerID, "answer", "accepted", "name", " "), 400, "Indique o seu nome", `role="alert"`, `aria-invalid="true"`)
		expectPage(t, s.post(path, "action", "answer", "offer", offerID, "answer", "accepted", "name", strings.Repeat("é", 101)), 400, "100 caracteres", strings.Repeat("é", 101))
		expectPage(t, s.post(path, "action", "answer", "offer", offerID, "answer", "accepted", "name", "a\x07"), 400, "100 caracteres")
		for _, other := range []string{"", "x", visitorID, offerID + "'", "00"} {
			expectPage(t, s.post(path, "action", "answer", "offer", other, "answer", "accepted", "name", "Rui"), 409, "Não existe essa proposta.", `value="Rui"`)
		}
		expectPage(t, s.post(path, "action", "answer", "offer", offerID, "answer", "burned", "name", "Rui"), 400, `role="alert"`)
		if n := s.count("select count(*) from commission_offers where answer is not null"); n != 0 {
			t.Fatal("a wrong answer was stored")
		}
		s.clock = s.clock.Add(time.Hour)
		s.live = nil
		for range 2 { // a second press of the button
			rec := s.post(path+"?lang=en", "action", "answer", "offer", offerID, "answer", "accepted", "name", " Inês <Prado> ")
			if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != path+"?lang=en#offer" {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		if s.live[0] != "commission_offers inserted false" || s.live[1] != "commissions inserted false" {
			t.Errorf("live: %q", s.live)
		}
		state := s.mustCallCommission("state", id)
		if state.Stage != "accepted" || state.PromisedOn != "2026-06-01" || state.Taken != 1 || state.Offers[0].State != "accepted" || state.Offers[0].AnsweredName != "Inês <Prado>" || !state.Offers[0].AnsweredAt.Equal(s.clock) {
			t.Errorf("%+v", state)
		}
		if got := s.texts(); len(got) != 2 || got[1] != "visitor: I accept the offer of 12 March 2026: 300 €\nInês <Prado> (none)" {
			t.Errorf("%q", got)
		}
		if n := s.count("select count(*) from contact_notices n join contact_replies r on r.id = n.reply_id where r.kind = 'answer' and n.channel = 'plan'"); n != 1 {
			t.Errorf("%d notices about the answer", n)
		}
		var status string
		if s.scan(&status, "select status from contact_submissions"); status != "new" {
			t.Errorf("status %s", status)
		}
		rec = s.visit("GET", path, "", "")
		expectPage(t, rec, 200, "A encomenda foi acordada em 12 de março de 2026, 12:00 UTC.", "Prometida para 1 de junho de 2026.", "Aceite por Inês &lt;Prado&gt; em 12 de março de 2026, 12:00 UTC.", "Metade adiantada.")
		if strings.Contains(rec.Body.String(), `name="answer"`) {
			t.Error("an answered offer has a form")
		}
		expectPage(t, s.post(path, "action", "answer", "offer", offerID, "answer", "declined", "name", "Rui"), 409, "já foi respondida")
		if code := answer("accepted", "Rui"); code != 409 {
			t.Errorf("another name: %d", code)
		}
		for action, want := range map[string]int{"withdraw": 409, "offer": 409} {
			if code, _, text := s.callCommission(action, id, "id", offerID, "text", "x", "price", "1"); code != want {
				t.Errorf("%s of an answered offer: %d %s", action, code, text)
			}
		}
		exported := string(s.export("json"))
		for _, want := range []string{`"kind":"offer"`, `"kind":"answer"`, `"commission":{"stage":"accepted","stage_at":"2026-03-12T12:00:15Z","promised_on":"2026-06-01","offers":[{"created_at":"2026-03-12T11:00:15Z","price":"300 €","deposit":"100 €"`,
			`"answered_name":"Inês \u003cPrado\u003e"`} {
			if !strings.Contains(exported, want) {
				t.Errorf("the export lacks %s: %s", want, exported)
			}
		}
		// Erasing the message deletes all of this.
		expectPage(t, s.post(path, "action", "erase", "confirm", "yes"), 200, "A sua mensagem foi eliminada")
		if n := s.count("select (select count(*) from commissions) + (select count(*) from commission_offers) + (select count(*) from contact_replies)"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// Proves E-offer-2.
func TestOffersThatCannotBeAnswered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.setSite(map[string]any{"state": "open"})
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		first := s.mustCallCommission("offer", id, "id", "1", "text", "A portrait", "price", "300 €").Offers[0].ID
		s.clock = s.clock.Add(time.Second)
		second := s.mustCallCommission("offer", id, "id", "2", "text", "A larger portrait", "price", "500 €", "expires_on", "2026-03-12").Offers[0].ID
		s.clock = s.clock.Add(time.Second)
		answer := func(offer, answer, name string) (int, string) {
			t.Helper()
			rec := s.post(path, "action", "answer", "offer", offer, "answer", answer, "name", name)
			return rec.Code, rec.Body.String()
		}
		if code, page := answer(first, "accepted", "Ana"); code != 409 || !strings.Contains(page, "was withdrawn") || !strings.Contains(page, "500 €") || !strings.Contains(page, `value="Ana"`) {
			t.Errorf("a replaced offer: %d %s", code, page)
		}
		began := s.clock
		// At noon UTC of the next day, the day of expiry has ended in every time zone.
		s.clock = time.Date(2026, 3, 13, 11, 59, 59, 0, time.UTC)
		expectPage(t, s.visit("GET", path, "", ""), 200, `value="accepted"`)
		s.clock = s.clock.Add(time.Second)
		if code, page := answer(second, "accepted", "Ana"); code != 409 || !strings.Contains(page, "has expired") {
			t.Errorf("an expired offer: %d %s", code, page)
		}
		if state := s.mustCallCommission("state", id); state.Offers[0].State != "expired" || state.Offers[1].State != "withdrawn" || state.Stage != "offer" {
			t.Errorf("%+v", state)
		}
		s.clock = began
		for range 2 {
			if state := s.mustCallCommission("withdraw", id, "id", second); state.Offers[0].State != "withdrawn" || state.Stage != "enquiry" {
				t.Errorf("%+v", state)
			}
		}
		if code, page := answer(second, "declined", ""); code != 409 || !strings.Contains(page, "This offer was withdrawn") {
			t.Errorf("a withdrawn offer: %d %s", code, page)
		}
		s.clock = s.clock.Add(time.Second)
		third := s.mustCallCommission("offer", id, "id", "3", "text", "A small portrait", "price", "200 €").Offers[0].ID
		if code, page := answer(third, "declined", ""); code != http.StatusSeeOther {
			t.Errorf("declined without a name: %d %s", code, page)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "The commission was declined on", "Declined on ")
		s.clock = s.clock.Add(time.Second)
		if state := s.mustCallCommission("offer", id, "id", "4", "text", "Another try", "price", "150 €"); state.Stage != "offer" || len(state.Offers) != 4 {
			t.Errorf("%+v", state)
		}
		// Another stage ends the open offer.
		if state := s.mustCallCommission("stage", id, "stage", "accepted", "from", "offer"); state.Offers[0].State != "withdrawn" {
			t.Errorf("%+v", state)
		}
		// An offer of another conversation cannot be answered here.
		other := s.sendMessageWithLink("en", "commission")
		expectPage(t, s.post(other, "action", "answer", "offer", third, "answer", "accepted", "name", "Eve"), 409, "no such offer")
		// A message in quarantine has no offers.
		spam := s.sendMessageWithLink("en", "buy now")
		expectPage(t, s.post(spam, "action", "answer", "offer", third, "answer", "accepted", "name", "Eve"), 400)
	})
}

// Proves FN-reply-resend.
//
// An offer that can no longer be answered is not mailed: neither by a job that was queued before, nor again.
func TestClosedOffersAreNotMailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.setSite(map[string]any{"state": "open"})
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		offer := func(client string, more ...any) string {
			t.Helper()
			s.clock = s.clock.Add(time.Minute)
			return s.mustCallCommission("offer", id, append([]any{"id", client, "text", "A portrait", "price", "300 €"}, more...)...).Offers[0].ID
		}
		delivery := func(offerID string) (state string) {
			t.Helper()
			s.scan(&state, "select delivery from contact_replies where id = $1", offerID)
			return state
		}
		mailed := func(what, offerID, want string) {
			t.Helper()
			s.mails = nil
			if err := s.sendReply(t.Context(), []byte(`{"id":"`+offerID+`","reply_to":""}`)); err != nil {
				t.Fatal(err)
			}
			if got := delivery(offerID); got != want || len(s.mails) != map[string]int{deliverySent: 1, deliveryNone: 0}[want] {
				t.Errorf("%s: %d mails, then %s", what, len(s.mails), got)
			}
			code, _, body := s.reply(`{"action":"resend","message_id":"` + id + `","id":"` + offerID + `"}`)
			if want == deliveryNone && (code != http.StatusConflict || !strings.Contains(body, "can no longer be answered") || delivery(offerID) != deliveryNone) {
				t.Errorf("%s is mailed again: %d %s, %s", what, code, body, delivery(offerID))
			}
			if want == deliverySent && code != http.StatusOK {
				t.Errorf("%s is not mailed again: %d %s", what, code, body)
			}
		}
		open := offer("1")
		mailed("an open offer", open, deliverySent)
		replaced := offer("2")
		withdrawn := offer("3", "expires_on", "2026-03-12")
		mailed("a replaced offer", replaced, deliveryNone)
		s.mustCallCommission("withdraw", id, "id", withdrawn)
		mailed("a withdrawn offer", withdrawn, deliveryNone)
		expired := offer("4", "expires_on", "2026-03-12")
		s.clock = s.clock.AddDate(0, 0, 2)
		mailed("an expired offer", expired, deliveryNone)
		answered := offer("5")
		if rec := s.post(path, "action", "answer", "offer", answered, "answer", "accepted", "name", "Ana"); rec.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		mailed("an answered offer", answered, deliveryNone)
	})
}

// Proves E-offer-2.
//
// Of two concurrent answers one is stored, and the other one gets an error.
func TestOneOfTwoConcurrentAnswersIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.setSite(map[string]any{"state": "open"})
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		for round := range 5 {
			s.clock = s.clock.Add(time.Minute)
			offerID := s.mustCallCommission("offer", id, "id", fmt.Sprint(round), "text", "A portrait", "price", "300 €").Offers[0].ID
			e, err := findEnquiry(t.Context(), d, hashText(strings.TrimPrefix(path, EnquiryPath)), s.clock)
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			errs := make([]error, 2)
			for i, answer := range []string{offerAccepted, offerDeclined} {
				all.Go(func() { errs[i] = s.answerOffer(t.Context(), e.Message, "en", offerID, answer, "Ana") })
			}
			all.Wait()
			won := slices.Index(errs, nil)
			if won < 0 || errs[1-won] == nil || errs[1-won].Error() != errOfferAnswered.Error() {
				t.Fatalf("%v", errs)
			}
			state := s.mustCallCommission("state", id)
			if want := []string{"accepted", "declined"}[won]; state.Offers[0].State != want || state.Stage != want {
				t.Errorf("%s, %+v", want, state)
			}
			if n := s.count("select count(*) from contact_replies where kind = 'answer'"); n != round+1 {
				t.Errorf("%d answers", n)
			}
			if state.Stage == "accepted" {
				s.mustCallCommission("stage", id, "stage", "offer")
			}
		}
	})
}

// Proves FN-commission-stage, E-stage-1.
func TestTheOwnerMovesACommission(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.setSite(map[string]any{"state": "open", "slots": 1})
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		stages := []string{"enquiry", "offer", "accepted", "in_progress", "finished", "declined"}
		for _, from := range stages {
			for _, to := range stages {
				if _, err := d.Exec(t.Context(), "delete from commissions"); err != nil {
					t.Fatal(err)
				}
				if _, err := d.Exec(t.Context(), "insert into commissions (message_id, stage, stage_at) values ($1, $2, $3)", id, from, s.clock); err != nil {
					t.Fatal(err)
				}
				want := 200
				if from != to && !slices.Contains(nextStages[from], to) {
					want = 409
				}
				code, state, text := s.callCommission("stage", id, "stage", to, "from", from)
				if code != want || code == 200 && (state.Stage != to || !slices.Equal(state.Next, nextStages[to])) {
					t.Errorf("%s to %s: %d %s", from, to, code, text)
				}
			}
		}
		if _, err := d.Exec(t.Context(), "delete from commissions"); err != nil {
			t.Fatal(err)
		}
		if code, _, text := s.callCommission("stage", id, "stage", "accepted", "from", "offer"); code != 409 || !strings.Contains(text, "changed meanwhile") {
			t.Errorf("a stage that another one has changed: %d %s", code, text)
		}
		if code, _, text := s.callCommission("promise", id, "promised_on", "2026-07-01"); code != 409 {
			t.Errorf("a date before an agreement: %d %s", code, text)
		}
		s.mustCallCommission("stage", id, "stage", "enquiry") // stays an enquiry explicitly
		s.mustCallCommission("stage", id, "stage", "accepted")
		state := s.mustCallCommission("promise", id, "promised_on", "2026-07-01")
		if state.PromisedOn != "2026-07-01" || state.Slots != 1 || state.Taken != 1 {
			t.Errorf("%+v", state)
		}
		if _, err := d.Exec(t.Context(), "update contact_submissions set status = 'new'"); err != nil {
			t.Fatal(err)
		}
		s.clock = s.clock.Add(time.Hour)
		s.mustCallCommission("stage", id, "stage", "in_progress")
		for range 2 {
			s.mustCallCommission("progress", id, "id", "note", "text", "The first layer is <dry>.")
		}
		if got := s.texts(); !slices.Equal(got, []string{"owner: The first layer is <dry>. (none)"}) {
			t.Errorf("%q", got)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "in progress since 12 March 2026, 11:00 UTC", "Promised for 1 July 2026.", "Progress · ", "The first layer is &lt;dry&gt;.", "Read on 12 March 2026, 11:00 UTC.")
		s.mustCallCommission("promise", id, "promised_on", "")
		if page := s.visit("GET", path, "", "").Body.String(); strings.Contains(page, "Promised") {
			t.Error("the promise stays")
		}
		// The retention does not delete commissions that are in progress.
		s.setSite(map[string]any{"state": "open"})
		if err := settings.Delete(t.Context(), d, settings.SiteKey); err != nil {
			t.Fatal(err)
		}
		if err := settings.Insert(t.Context(), d, settings.SiteKey, map[string]any{"name": "Alvor", "messageMonths": 6}, s.clock); err != nil {
			t.Fatal(err)
		}
		begun := s.clock
		s.clock = begun.AddDate(0, 7, 0)
		if err := s.PurgeMessages(t.Context()); err != nil || len(s.stored("contact_submissions")) != 1 {
			t.Errorf("a commission in progress went: %v", err)
		}
		s.clock = begun
		s.mustCallCommission("stage", id, "stage", "finished")
		s.clock = begun.AddDate(0, 7, 0)
		if err := s.PurgeMessages(t.Context()); err != nil || len(s.stored("contact_submissions")) != 0 || s.count("select count(*) from commissions") != 0 {
			t.Errorf("a finished commission stays: %v", err)
		}
	})
}

// Proves FN-commission-who.
func TestCommissionRefusesOtherCallersAndInvalidRequests(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(false)
		answered(t, s.call("anon", "submit-contact", good), 200, success)
		id := s.messageID()
		for who, want := range map[string]int{"anon": 403, "user": 403, "admin": 200, "service": 200, "nobody": 401, "forged": 401, "expired": 401} {
			for _, action := range []string{"", "stage"} {
				if rec := s.call(who, "commission", `{"action":"`+action+`","message_id":"`+id+`","stage":"enquiry"}`); rec.Code != want {
					t.Errorf("%s %q: %d %s", who, action, rec.Code, rec.Body)
				}
			}
		}
		long := strings.Repeat("é", 5001)
		for _, c := range []struct {
			body string
			want int
		}{
			{`{}`, 400}, {`[`, 400}, {`{"message_id":"x"}`, 400}, {`{"message_id":7}`, 400}, {`{"message_id":"` + visitorID + `"}`, 200},
			{`{"message_id":"` + id + `","action":"burn"}`, 400}, {`{"message_id":"` + visitorID + `","action":"stage","stage":"offer"}`, 404},
			{`{"message_id":"` + id + `","action":"stage","stage":"sold"}`, 400}, {`{"message_id":"` + id + `","action":"stage"}`, 400},
			{`{"message_id":"` + id + `","action":"promise","promised_on":"tomorrow"}`, 400}, {`{"message_id":"` + id + `","action":"promise","promised_on":"0001-01-01"}`, 400},
			{`{"message_id":"` + id + `","action":"promise","promised_on":"2026-02-30"}`, 400}, {`{"message_id":"` + id + `","action":"promise","promised_on":"2026-02-03"}`, 409},
			{`{"message_id":"` + id + `","action":"progress","text":" "}`, 400}, {`{"message_id":"` + id + `","action":"progress","text":"` + long + `"}`, 400},
			{`{"message_id":"` + id + `","action":"progress","text":"a\u0007"}`, 400}, {`{"message_id":"` + id + `","action":"progress","text":"a\u0000"}`, 400},
			{`{"message_id":"` + id + `","action":"withdraw","id":"x"}`, 400}, {`{"message_id":"` + id + `","action":"withdraw","id":"` + visitorID + `"}`, 404},
			{`{"message_id":"` + id + `","action":"offer","text":"","price":"1"}`, 400}, {`{"message_id":"` + id + `","action":"offer","text":"x","price":" "}`, 400},
			{`{"message_id":"` + id + `","action":"offer","text":"x","price":"1\n2"}`, 400}, {`{"message_id":"` + id + `","action":"offer","text":"x","price":"` + long + `"}`, 400},
			{`{"message_id":"` + id + `","action":"offer","text":"x","price":"1","deposit":"\u0000"}`, 400}, {`{"message_id":"` + id + `","action":"offer","text":"` + long + `","price":"1"}`, 400},
			{`{"message_id":"` + id + `","action":"offer","text":"x","price":"1","promised_on":"1"}`, 400}, {`{"message_id":"` + id + `","action":"offer","text":"x","price":"1","expires_on":"2026-03-10"}`, 400},
			{`{"message_id":"` + id + `","action":"offer","text":"x","price":"1","expires_on":"99999-01-01"}`, 400}, {`{"message_id":"` + id + `","action":"offer","text":"x","price":"1"}`, 409}, // reaches nobody
			{`{"message_id":"` + id + `","action":"progress","text":"x"}`, 409},
		} {
			if rec := s.call("admin", "commission", c.body); rec.Code != c.want {
				t.Errorf("%.120s: %d %s, want %d", c.body, rec.Code, rec.Body, c.want)
			}
		}
		// Without a link the visitor could not answer.
		s.cfg.MailServer = true
		if code, _, text := s.callCommission("offer", id, "text", "x", "price", "1"); code != 409 || !strings.Contains(text, "could not answer") || len(s.texts()) != 0 {
			t.Errorf("%d %s", code, text)
		}
		s.giveLinks(true)
		if code, state, text := s.callCommission("offer", id, "text", "x", "price", "1", "expires_on", "2026-03-12"); code != 200 || state.Terms != "" || state.Offers[0].Terms != "" {
			t.Errorf("%d %s", code, text)
		}
	})
}

// Proves E-place-1.
func TestPositionOnTheWaitingList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.setSite(map[string]any{"state": "waitlist"})
		var paths, ids []string
		for i, reason := range []string{"commission", "purchase", "commission", "commission", "commission"} {
			s.clock = s.clock.Add(time.Minute)
			paths = append(paths, s.sendMessageWithLink([]string{"en", "pt"}[i%2], reason))
			var id string
			s.scan(&id, "select id from contact_submissions order by created_at desc limit 1")
			ids = append(ids, id)
		}
		place := func(i int, want string) {
			t.Helper()
			page := s.visit("GET", paths[i], "", "").Body.String()
			if want == "" && (strings.Contains(page, "waiting list") || strings.Contains(page, "lista de espera")) || !strings.Contains(page, want) {
				t.Errorf("%d: not %q: %s", i, want, page)
			}
		}
		place(0, "Place on the waiting list: 1st.")
		place(1, "")
		place(2, "Place on the waiting list: 2nd.")
		place(3, "Lugar na lista de espera: 3.º.")
		// An answered message leaves the list, unless the owner keeps it as an enquiry.
		if _, err := d.Exec(t.Context(), "update contact_submissions set status = 'replied' where id in ($1, $2)", ids[0], ids[2]); err != nil {
			t.Fatal(err)
		}
		place(0, "")
		place(3, "Lugar na lista de espera: 1.º.")
		if state := s.mustCallCommission("stage", ids[2], "stage", "enquiry"); state.Place != 1 {
			t.Errorf("%+v", state)
		}
		place(2, "Place on the waiting list: 1st.")
		place(4, "Place on the waiting list: 3rd.")
		s.mustCallCommission("stage", ids[3], "stage", "declined")
		place(4, "Place on the waiting list: 2nd.")
		// A message that is marked as done is not on the list, until the mark is removed.
		if code, _, body := s.reply(`{"action":"done","message_id":"` + ids[4] + `"}`); code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
		place(4, "")
		if state := s.mustCallCommission("state", ids[4]); state.Place != 0 {
			t.Errorf("%+v", state)
		}
		if code, _, body := s.reply(`{"action":"reopen","message_id":"` + ids[4] + `"}`); code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
		place(4, "Place on the waiting list: 2nd.")
		s.setSite(map[string]any{"state": "open"})
		place(4, "")
	})
}
