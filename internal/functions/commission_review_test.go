package functions

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
)

// callReview calls the commission-review function as the owner. more has names and values of fields.
func (s *site) callReview(action, id string, more ...any) (int, reviewState, string) {
	s.t.Helper()
	return callOwner[reviewState](s, "commission-review", action, id, more...)
}

// mustCallReview calls callReview with an action that must succeed.
func (s *site) mustCallReview(action, id string, more ...any) reviewState {
	s.t.Helper()
	return mustCallOwner[reviewState](s, "commission-review", action, id, more...)
}

// reviewNotices counts the notices about texts of reviews.
func (s *site) reviewNotices() int {
	s.t.Helper()
	return s.count("select count(*) from contact_notices n join contact_replies r on r.id = n.reply_id where r.kind = 'review'")
}

// addFinishedCommission makes a finished commission. It returns the path of its link and the id of its message.
func (s *site) addFinishedCommission(language string) (path, id string) {
	s.t.Helper()
	s.setSite(map[string]any{"state": "open"})
	path, id = s.sendMessageWithLink(language, "commission"), s.messageID()
	for _, stage := range []string{"accepted", "in_progress", "finished"} {
		s.mustCallCommission("stage", id, "stage", stage)
	}
	s.clock = s.clock.Add(time.Hour)
	return path, id
}

// Proves FN-review-ask, E-review-1, E-review-2, FN-review-approve.
func TestAReviewIsRequestedWrittenAndApproved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.setSite(map[string]any{"state": "open"})
		path := s.sendMessageWithLink("pt", "commission")
		id := s.messageID()
		if code, _, text := s.callReview("ask", id); code != 409 || !strings.Contains(text, "finished") {
			t.Errorf("before the end: %d %s", code, text)
		}
		if state := s.mustCallReview("state", id); state.State != "" || state.CanAsk || state.AskedAt != nil {
			t.Errorf("got %+v", state)
		}
		for _, stage := range []string{"accepted", "in_progress", "finished"} {
			s.mustCallCommission("stage", id, "stage", stage)
		}
		if !s.mustCallReview("state", id).CanAsk {
			t.Error("a finished commission cannot be asked about")
		}
		if strings.Contains(s.visit("GET", path, "", "").Body.String(), `id="review"`) {
			t.Error("the page has a form that nobody asked for")
		}
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", "Bom"), 409, "já não pode ser alterado")
		s.clock, s.live = s.clock.Add(time.Hour), nil
		state := s.mustCallReview("ask", id)
		if state.State != "asked" || state.CanAsk || !state.AskedAt.Equal(s.clock) || !state.AskAgainAt.Equal(s.clock.Add(24*time.Hour)) {
			t.Errorf("got %+v", state)
		}
		if s.live[len(s.live)-1] != "commission_reviews inserted true" {
			t.Errorf("live: %q", s.live)
		}
		var status, request string
		if s.scan(&status, "select status from contact_submissions"); status != "new" {
			t.Errorf("the request has made the message %s", status)
		}
		s.scan(&request, "select id from contact_replies where kind = 'review_request' and delivery = 'queued'")
		if err := s.sendReply(t.Context(), []byte(`{"id":"`+request+`","reply_to":""}`)); err != nil {
			t.Fatal(err)
		}
		if len(s.mails) != 1 || !s.mails[0].Review || s.mails[0].Link != "https://alvor.example"+path || s.mails[0].To.Language != i18n.PT || !strings.HasPrefix(s.mails[0].Text, "A sua encomenda está concluída.") {
			t.Errorf("%+v", s.mails)
		}

		expectPage(t, s.visit("GET", path, "", ""), 200, "Quer escrever um testemunho?", "Só é publicado depois de aprovado", `name="name" autocomplete="name" maxlength="200" value="Inês Prado"`, "Pedido de testemunho · ")
		refused := s.post(path, "action", "review", "name", " ", "place", strings.Repeat("é", 201), "text", "a\x07<b>")
		expectPage(t, refused, 400, `role="alert"`, "Escreva o nome", "200 caracteres", strings.Repeat("é", 201), "&lt;b&gt;", `aria-describedby="review-name-error" autofocus`, `aria-describedby="review-place-error"`, `aria-describedby="review-text-error"`)
		if strings.Count(refused.Body.String(), "autofocus") != 1 {
			t.Error("more than one field has the focus")
		}
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", strings.Repeat("é", 5001)), 400, strings.Repeat("é", 5001), "5000")
		s.clock, s.live = s.clock.Add(time.Hour), nil
		for range 2 { // a second press of the button
			rec := s.post(path+"?lang=en", "action", "review", "name", " Inês <Prado> ", "place", "Faro", "text", "Três semanas.\r\n<script>alert(1)</script>")
			if rec.Code != 303 || rec.Header().Get("Location") != path+"?lang=en#review" {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		if n := s.count("select count(*) from contact_replies where kind = 'review' and author = 'visitor'"); n != 1 {
			t.Errorf("%d texts of the visitor", n)
		}
		if n := s.reviewNotices(); n != 1 {
			t.Errorf("%d notices", n)
		}
		if !slices.Contains(s.live, "commission_reviews inserted false") {
			t.Errorf("live: %q", s.live)
		}
		state = s.mustCallReview("state", id)
		if state.State != "waiting" || state.Name != "Inês <Prado>" || state.Place != "Faro" || state.Text != "Três semanas.\n<script>alert(1)</script>" || state.CanAsk || state.AskAgainAt != nil {
			t.Errorf("%+v", state)
		}
		if n := s.count("select count(*) from reviews"); n != 0 {
			t.Fatal("a review that waits is public")
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "aguarda aprovação", "&lt;script&gt;alert(1)&lt;/script&gt;</textarea>", `value="Inês &lt;Prado&gt;"`, "Guardar as alterações", "Retirar o testemunho")
		exported := string(s.export("json"))
		if !strings.Contains(exported, `"review":{"state":"waiting","asked_at":"2026-03-12T11:00:15Z","name":"Inês \u003cPrado\u003e","place":"Faro","text":"Três semanas.`) {
			t.Errorf("the export lacks the review: %s", exported)
		}

		if code, _, text := s.callReview("ask", id); code != 409 || !strings.Contains(text, "has written") {
			t.Errorf("%d %s", code, text)
		}
		if code, _, _ := s.callReview("withdraw", id); code != 409 {
			t.Errorf("withdraw: %d", code)
		}
		seen := state.WrittenAt.Add(-time.Minute)
		for _, action := range []string{"approve", "decline"} {
			if code, _, text := s.callReview(action, id, "written_at", seen); code != 409 || !strings.Contains(text, "meanwhile") {
				t.Errorf("%s of an earlier text: %d %s", action, code, text)
			}
		}
		for _, bad := range []map[string]any{{"name": ""}, {"name": strings.Repeat("é", 201)}, {"place": "a\nb"}, {"text": " "}, {"text": strings.Repeat("é", 5001)}} {
			for field, value := range bad {
				if code, _, _ := s.callReview("approve", id, field, value); code != 400 {
					t.Errorf("%s: %d", field, code)
				}
			}
		}
		s.clock, s.live = s.clock.Add(time.Hour), nil
		for range 2 { // the client has not seen the first response
			state = s.mustCallReview("approve", id, "text", "Três semanas, e valeu a pena.", "active", false, "written_at", state.WrittenAt)
		}
		if state.State != "approved" || state.Text != "" || state.ReviewID == nil || !state.DecidedAt.Equal(s.clock) {
			t.Errorf("%+v", state)
		}
		if want := []string{"review", "commission_reviews inserted false"}; !slices.Equal(s.live, want) {
			t.Errorf("live: %q", s.live)
		}
		var row string
		s.scan(&row, "select client_name || '|' || location || '|' || message || '|' || (case when from_commission and not is_active then 'marked' else 'no' end) || '|' || display_order from reviews where id = $1", *state.ReviewID)
		if row != "Inês <Prado>|Faro|Três semanas, e valeu a pena.|marked|1" {
			t.Errorf("%s", row)
		}
		if n := s.count("select count(*) from reviews"); n != 1 {
			t.Errorf("%d reviews", n)
		}
		for _, action := range []string{"ask", "decline", "withdraw"} {
			if code, _, text := s.callReview(action, id); code != 409 {
				t.Errorf("%s after the approval: %d %s", action, code, text)
			}
		}
		page := s.visit("GET", path, "", "")
		expectPage(t, page, 200, "O seu testemunho foi aprovado em 12 de março de 2026, 13:00 UTC.")
		if strings.Contains(page.Body.String(), `value="review"`) {
			t.Error("an approved review has a form")
		}
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", "Outro texto"), 409, "já não pode ser alterado", "Outro texto</textarea>")
		expectPage(t, s.post(path, "action", "remove-review"), 409, "já não pode ser alterado")
		// Erasing the conversation keeps the approved review, and says so before.
		expectPage(t, s.post(path, "action", "erase"), 200, "O seu testemunho aprovado fica no site.")
		expectPage(t, s.post(path, "action", "erase", "confirm", "yes"), 200, "A sua mensagem foi eliminada")
		if n := s.count("select count(*) from commission_reviews"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		if n := s.count("select count(*) from reviews"); n != 1 {
			t.Errorf("%d reviews are left", n)
		}
	})
}

// Proves E-review-2, FN-review-ask, FN-review-approve.
func TestAReviewIsWithdrawnDeclinedAndRequestedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		path, id := s.addFinishedCommission("en")
		s.mustCallReview("ask", id)
		var request string
		s.scan(&request, "select id from contact_replies where kind = 'review_request'")
		if code, _, text := s.callReview("ask", id); code != 409 || !strings.Contains(text, "last day") {
			t.Errorf("asked again at once: %d %s", code, text)
		}
		for range 2 {
			if state := s.mustCallReview("withdraw", id); state.State != "withdrawn" || state.CanAsk {
				t.Errorf("%+v", state)
			}
		}
		// The mail of a request that was withdrawn is not sent.
		if err := s.sendReply(t.Context(), []byte(`{"id":"`+request+`","reply_to":""}`)); err != nil || len(s.mails) != 0 {
			t.Errorf("%v, %d mails", err, len(s.mails))
		}
		if code, _, text := s.reply(`{"action":"resend","message_id":"` + id + `","id":"` + request + `"}`); code != 409 || !strings.Contains(text, "no longer asked for") {
			t.Errorf("%d %s", code, text)
		}
		if strings.Contains(s.visit("GET", path, "", "").Body.String(), `id="review"`) {
			t.Error("the page has a form")
		}
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", "Lost & found"), 409, "no longer asks", "Lost &amp; found</textarea>")

		s.clock = s.clock.Add(25 * time.Hour)
		s.mustCallReview("ask", id)
		if code := s.post(path, "action", "review", "name", "Inês", "text", "Lovely").Code; code != 303 {
			t.Fatal(code)
		}
		if code := s.post(path, "action", "remove-review").Code; code != 303 {
			t.Fatal(code)
		}
		if n := s.count("select count(*) from commission_reviews where message is null and client_name is null and state = 'asked'"); n != 1 {
			t.Error("something is left of a review that was taken back")
		}
		if code, _, _ := s.callReview("approve", id); code != 409 {
			t.Errorf("approved without a text: %d", code)
		}
		// Written again it is the same text of the conversation, without another notice.
		if code := s.post(path, "action", "review", "name", "Inês", "text", "Lovely after all").Code; code != 303 {
			t.Fatal(code)
		}
		if n := s.reviewNotices(); n != 1 {
			t.Errorf("%d notices", n)
		}
		for range 2 {
			if state := s.mustCallReview("decline", id); state.State != "declined" || state.Text != "Lovely after all" || state.CanAsk {
				t.Errorf("%+v", state)
			}
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Your review was not published", "Take the review back")
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", "Again"), 409, "cannot be changed any more")
		s.clock = s.clock.Add(25 * time.Hour)
		if state := s.mustCallReview("ask", id); state.State != "asked" || state.Text != "Lovely after all" {
			t.Errorf("%+v", state)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Would you write a review?", "Lovely after all</textarea>")
		if code := s.post(path, "action", "review", "name", "Inês", "text", "Lovely after all").Code; code != 303 {
			t.Fatal(code)
		}
		if n := s.reviewNotices(); n != 2 {
			t.Errorf("%d notices", n)
		}
		s.mustCallReview("decline", id)
		s.clock = s.clock.Add(25 * time.Hour)
		if code, state, _ := s.callReview("ask", id); code != 409 || state.CanAsk {
			t.Errorf("a fourth request: %d", code)
		}
		if state := s.mustCallReview("approve", id); state.State != "approved" { // after all
			t.Errorf("%+v", state)
		}
		if n := s.count("select count(*) from reviews where is_active"); n != 1 {
			t.Errorf("%d visible reviews", n)
		}
	})
}

// withPictures returns a site that keeps the objects of pictures in their table alone.
func withPictures(t *testing.T, d *db.DB) *site {
	t.Helper()
	s := newSiteWith(t, d, Config{
		MailServer: true,
		ReceivePicture: func(_ context.Context, name string, body io.Reader) (ReceivedPicture, error) {
			size, err := io.Copy(io.Discard, body)
			return ReceivedPicture{Width: 3, Height: 2, Size: size, Discard: func(context.Context) {}, Save: func(ctx context.Context, tx *db.Tx) error {
				return db.Exec(ctx, tx, `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at)
					values ($1, 'conversation-pictures', $2, $1, $3, 'image/jpeg', 'e', '', $4, $4)`, uuid.NewString(), name, size, time.Now())
			}}, err
		},
		RemovePicture: func(ctx context.Context, tx *db.Tx, name string) error {
			return db.Exec(ctx, tx, "delete from storage_objects where name = $1", name)
		},
		CopyForReview: func(context.Context, string) (ReviewPicture, error) {
			return ReviewPicture{
				ReceivedPicture: ReceivedPicture{Discard: func(context.Context) {}, Save: func(context.Context, *db.Tx) error { return nil }},
				URL:             "https://alvor.example/copy.jpg",
			}, nil
		},
	})
	s.exec("insert into storage_buckets (id, name, created_at, updated_at) values ('conversation-pictures', 'conversation-pictures', $1, $1)", s.clock)
	return s
}

// writeReview sends the form of a review with a picture if picture is not "".
func (s *site) writeReview(path, text, picture string, more ...string) {
	s.t.Helper()
	fields := append([]string{"action", "review", "name", "Inês", "text", text}, more...)
	if picture != "" {
		fields = append(fields, "picture@a.jpg", picture)
	}
	body, contentType := parts(s.t, fields...)
	if rec := s.visit("POST", path, contentType, body); rec.Code != 303 {
		s.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
}

// declined makes a review with a picture that is declined, of a commission about which is asked again.
func (s *site) declined() (path, id string) {
	s.t.Helper()
	path, id = s.addFinishedCommission("en")
	s.mustCallReview("ask", id)
	s.writeReview(path, "Lovely", "picture")
	s.mustCallReview("decline", id)
	s.clock = s.clock.Add(25 * time.Hour)
	s.mustCallReview("ask", id)
	s.clock = s.clock.Add(time.Hour)
	return path, id
}

// Proves FN-review-ask, FN-review-approve.
func TestADeclinedReviewIsApprovedAfterARequestThatWasWithdrawn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := withPictures(t, d)
		path, id := s.declined()
		if code, _, text := s.callReview("approve", id); code != 409 {
			t.Errorf("approved while it is asked for: %d %s", code, text)
		}
		for range 2 { // the owner has not seen the first response
			if state := s.mustCallReview("withdraw", id); state.State != "declined" || state.Text != "Lovely" || state.Picture == nil {
				t.Errorf("%+v", state)
			}
		}
		page := s.visit("GET", path, "", "").Body.String()
		hasAll(t, page, "Your review was not published", "Take the review back")
		if strings.Contains(page, `value="review"`) {
			t.Error("the page has a form after the request was withdrawn")
		}
		if state := s.mustCallReview("approve", id); state.State != "approved" {
			t.Errorf("%+v", state)
		}
		if n := s.count("select count(*) from reviews where is_active and message = 'Lovely' and image_url is not null"); n != 1 {
			t.Errorf("%d reviews", n)
		}
	})
}

// Proves E-review-2, E-review-3.
func TestADeclinedReviewIsWithdrawnInEachState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, c := range []struct{ before, after string }{{"asked", "asked"}, {"declined", "declined"}, {"withdrawn", "withdrawn"}} {
			t.Run(c.before, func(t *testing.T) {
				s := withPictures(t, d)
				path, id := s.declined()
				defer s.exec("delete from storage_buckets")
				defer s.exec("delete from contact_submissions")
				switch c.before {
				case "declined":
					s.mustCallReview("withdraw", id)
				case "withdrawn": // with a text, as earlier versions stored it
					s.exec("update commission_reviews set state = 'withdrawn'")
				}
				hasAll(t, s.visit("GET", path, "", "").Body.String(), "Take the review back")
				for range 2 { // a second press of the button
					if rec := s.post(path, "action", "remove-review"); rec.Code != 303 {
						t.Errorf("%d %s", rec.Code, rec.Body)
					}
				}
				state := s.mustCallReview("state", id)
				if state.State != c.after || state.Text != "" || state.Name != "" || state.Picture != nil {
					t.Errorf("%+v", state)
				}
				if n := s.count("select (select count(*) from storage_objects) + (select count(*) from contact_pictures)"); n != 0 {
					t.Error("the picture is left")
				}
				if strings.Contains(s.visit("GET", path, "", "").Body.String(), "Take the review back") {
					t.Error("the page takes back a review without a text")
				}
				if c.before != "asked" {
					return
				}
				// What is written now is the first text after the second request.
				s.writeReview(path, "Lovely after all", "")
				if n := s.reviewNotices(); n != 2 {
					t.Errorf("%d notices", n)
				}
			})
		}
	})
}

// Proves E-review-2, E-review-3.
func TestAPictureStaysInAReviewThatIsRequestedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := withPictures(t, d)
		path, id := s.declined()
		hasAll(t, s.visit("GET", path, "", "").Body.String(), "Lovely</textarea>", "Remove this picture", "Send the review")
		for range 2 { // the second is a change, which is not said in the conversation
			s.writeReview(path, "Lovely and quick", "")
		}
		state := s.mustCallReview("state", id)
		if state.State != "waiting" || state.Picture == nil || state.Picture.ReplyID != *state.ReplyID {
			t.Errorf("%+v", state)
		}
		if n := s.reviewNotices(); n != 2 {
			t.Errorf("%d notices", n)
		}
		if last := s.count("select count(*) from contact_replies where kind = 'review' and id = $1 and created_at > $2", *state.ReplyID, *state.AskedAt); last != 1 {
			t.Error("the review's text in the conversation is not that after the second request")
		}
		s.writeReview(path, "Lovely and quick", "", "remove", "yes")
		if n := s.count("select (select count(*) from storage_objects) + (select count(*) from contact_pictures)"); n != 0 || s.mustCallReview("state", id).Picture != nil {
			t.Errorf("%d rows of a removed picture", n)
		}
	})
}

// Proves E-review-3.
//
// Whoever has the service key can remove the object of a picture.
func TestAPictureWithoutAnObjectIsReplacedAndRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := withPictures(t, d)
		path, id := s.addFinishedCommission("en")
		s.mustCallReview("ask", id)
		for _, again := range []struct{ picture, remove string }{{"other", ""}, {"", "yes"}, {"other", "yes"}} {
			s.writeReview(path, "Lovely", "picture")
			s.exec("delete from storage_objects")
			s.writeReview(path, "Lovely", again.picture, "remove", again.remove)
			if state := s.mustCallReview("state", id); (state.Picture != nil) != (again.picture != "") {
				t.Errorf("%+v: %+v", again, state.Picture)
			}
			if rows, shown := s.count("select count(*) from contact_pictures"), s.count("select count(*) from storage_objects"); rows != shown {
				t.Errorf("%+v: %d rows of %d objects", again, rows, shown)
			}
		}
		s.exec("delete from storage_objects")
		if rec := s.post(path, "action", "remove-review"); rec.Code != 303 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if n := s.count("select count(*) from contact_pictures"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		s.writeReview(path, "Lovely", "picture")
	})
}

// Proves FN-review-ask.
func TestAReviewNeedsALink(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d) // without a mail server
		path, id := s.addFinishedCommission("en")
		if state := s.mustCallReview("ask", id); state.State != "asked" {
			t.Errorf("%+v", state)
		}
		expectPage(t, s.visit("GET", path, "", ""), 200, "Would you write a review?")
		s.space = errInvalid("full")
		expectPage(t, s.post(path, "action", "review", "name", "Inês", "text", "Kept"), 400, "Kept</textarea>")
		s.space = nil
		if err := db.Exec(t.Context(), d, "delete from contact_links"); err != nil {
			t.Fatal(err)
		}
		s.clock = s.clock.Add(25 * time.Hour)
		s.giveLinks(false)
		if code, _, text := s.callReview("ask", id); code != 409 {
			t.Errorf("%d %s", code, text)
		}
		for body, want := range map[string]int{`{}`: 400, `{"action":"burn","message_id":"` + id + `"}`: 400, `{"action":"ask","message_id":"` + visitorID + `"}`: 404, `{"message_id":"` + visitorID + `"}`: 200} {
			if rec := s.call("admin", "commission-review", body); rec.Code != want {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
		}
		for _, who := range []string{"anon", "user"} {
			if rec := s.call(who, "commission-review", `{"action":"ask","message_id":"`+id+`"}`); rec.Code != 403 {
				t.Errorf("%s: %d", who, rec.Code)
			}
		}
	})
}

// Proves E-limit-1.
func TestReviewsAreLimitedAsOtherForms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		path, id := s.addFinishedCommission("en")
		s.mustCallReview("ask", id)
		for n := range enquiryPostsPerLink + 1 {
			want := 303
			if n == enquiryPostsPerLink {
				want = 429
			}
			if rec := s.post(path, "action", "review", "name", "Inês", "text", "Lovely"); rec.Code != want {
				t.Errorf("%d: %d", n, rec.Code)
			}
		}
	})
}
