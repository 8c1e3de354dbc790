package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage/storagetest"
)

// askForReview makes a finished commission of the message with this name and asks for a review.
func (s *noticeSite) askForReview(name string) (id string) {
	s.t.Helper()
	if err := s.DB.QueryRow(s.t.Context(), "select id from contact_submissions where name = $1", name).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	for _, stage := range []string{"accepted", "in_progress", "finished"} {
		s.call(identity.Service, "commission", `{"action":"stage","message_id":"`+id+`","stage":"`+stage+`"}`)
	}
	s.call(identity.Service, "commission-review", `{"action":"ask","message_id":"`+id+`"}`)
	return id
}

func (s *noticeSite) get(target string) *httptest.ResponseRecorder {
	s.t.Helper()
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, target, nil))
	return rec
}

// Proves E-review-3, E-review-who, FN-review-approve.
//
// The picture of a review is private. The approval makes a public copy of it. The client can replace and remove the private picture, and
// erasing the message deletes it.
func TestPicturesOfReviews(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en")
		id := s.askForReview("Canary")
		photo := storagetest.WithComment(storagetest.JPEG(300, 200), "canary")
		fields := []string{"action=review", "name=Canary", "text=Three weeks."}
		version := s.count("select version from content_version")
		for name, c := range map[string]struct {
			status   int
			sentence string
			pictures [][]byte
		}{
			"two":   {400, "Please choose one picture", [][]byte{photo, photo}},
			"six":   {400, "Please choose one picture", [][]byte{photo, photo, photo, photo, photo, photo}},
			"text":  {415, "not a picture", [][]byte{[]byte("<script>alert(1)</script>")}},
			"large": {413, "too large", [][]byte{append(storagetest.JPEG(3, 2), make([]byte, 10<<20)...)}},
		} {
			rec := s.send(path, "", fields, c.pictures...)
			if body := rec.Body.String(); rec.Code != c.status || !strings.Contains(body, c.sentence) || !strings.Contains(body, "Three weeks.</textarea>") || !strings.Contains(body, `id="review-picture-error"`) {
				t.Errorf("%s: %d %s", name, rec.Code, body)
			}
		}
		if n := s.count("select count(*) from storage_objects"); n != 0 {
			t.Fatalf("%d objects of refused pictures", n)
		}
		for range 2 { // the second picture replaces the first one
			if rec := s.send(path, "", fields, photo); rec.Code != http.StatusSeeOther {
				t.Fatalf("status %d: %s", rec.Code, rec.Body)
			}
		}
		if n := s.count("select count(*) from storage_objects where bucket_id = 'conversation-pictures'"); n != 1 {
			t.Fatalf("%d pictures", n)
		}
		if rec := s.send(path, "", fields); rec.Code != http.StatusSeeOther { // keeps it
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		if rec := browseLink(t, s.App, path); !strings.Contains(rec.Body.String(), `alt="The picture of your review"`) {
			t.Error("the form does not show the picture")
		}
		if got := s.count("select version from content_version"); got != version {
			t.Errorf("a review that waits has raised the content version by %d", got-version)
		}
		// Nobody but owners and the link reads what waits.
		for _, who := range []identity.Role{identity.Anon, identity.Authenticated} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/rest/v1/commission_reviews?select=*", nil)
			r.Header.Set("Authorization", "Bearer "+key(t, s.App, who))
			rec := httptest.NewRecorder()
			s.Handler().ServeHTTP(rec, r)
			if strings.Contains(rec.Body.String(), "Three weeks") {
				t.Errorf("%s: %s", who, rec.Body)
			}
		}
		if body := s.get("/").Body.String(); strings.Contains(body, "Three weeks") {
			t.Error("home shows a review that waits")
		}
		var name string
		if err := s.DB.QueryRow(t.Context(), "select name from contact_pictures").Scan(&name); err != nil {
			t.Fatal(err)
		}
		if rec := s.get(files.PublicPath + "conversation-pictures/" + name); rec.Code == http.StatusOK {
			t.Error("the picture is public before the approval")
		}

		var state struct {
			State    string
			ReviewID string `json:"review_id"`
		}
		if err := json.Unmarshal(s.call(identity.Service, "commission-review", `{"action":"approve","message_id":"`+id+`"}`), &state); err != nil || state.State != "approved" {
			t.Fatal(err, state)
		}
		var imageURL string
		if err := s.DB.QueryRow(t.Context(), "select image_url from reviews where id = $1 and from_commission", state.ReviewID).Scan(&imageURL); err != nil {
			t.Fatal(err)
		}
		if rec := s.get(imageURL); rec.Code != http.StatusOK || strings.Contains(rec.Body.String(), "canary") {
			t.Errorf("%s: %d", imageURL, rec.Code)
		}
		if body := s.get("/").Body.String(); !strings.Contains(body, "Three weeks.") || !strings.Contains(body, "From a finished commission") {
			t.Error("home does not show the approved review with its mark")
		}
		if body := s.get("/?lang=pt").Body.String(); !strings.Contains(body, "De uma encomenda concluída") {
			t.Error("the Portuguese page lacks the mark")
		}
		// Erasing everything about the address leaves the review and its own picture.
		s.addressPlacesOf("erase", "canary@exemplo.example")
		if n := s.count("select count(*) from storage_objects where bucket_id = 'conversation-pictures'"); n != 0 {
			t.Errorf("%d private pictures are left", n)
		}
		if rec := s.get(imageURL); rec.Code != http.StatusOK {
			t.Errorf("the public picture: %d", rec.Code)
		}
	})
}

// Proves E-review-3.
//
// A review that waits is erased with its message, picture and all; its picture goes when the client removes it or takes the review back.
func TestWaitingReviewsAreErased(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en")
		id := s.askForReview("Canary")
		fields := []string{"action=review", "name=Canary", "text=Three weeks."}
		gone := func(after string) {
			t.Helper()
			for _, table := range []string{"storage_objects", "storage_trash", "contact_pictures"} {
				if n := s.count("select count(*) from " + table); n != 0 {
					t.Errorf("%s: %d rows of %s", after, n, table)
				}
			}
		}
		s.send(path, "", fields, storagetest.JPEG(30, 20))
		s.send(path, "", append(fields, "remove=yes"))
		s.waitFor("the sweep after the removal", func() bool { return s.count("select count(*) from storage_objects") == 0 })
		gone("removed")
		s.send(path, "", fields, storagetest.JPEG(30, 20))
		browseLink(t, s.App, path, "action", "remove-review")
		gone("taken back")
		s.send(path, "", fields, storagetest.JPEG(30, 20))
		// A failed approval leaves no copy.
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/functions/v1/commission-review", strings.NewReader(`{"action":"approve","message_id":"`+id+`","name":" "}`))
		r.Header.Set("Authorization", "Bearer "+key(t, s.App, identity.Service))
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		if n := s.count("select count(*) from storage_objects where bucket_id = 'review-images'"); rec.Code != http.StatusBadRequest || n != 0 {
			t.Errorf("%d, %d copies", rec.Code, n)
		}
		if exported := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`)); !strings.Contains(exported, `"review":{"state":"waiting"`) || !strings.Contains(exported, "Three weeks.") {
			t.Errorf("%s", exported)
		}
		s.addressPlacesOf("erase", "canary@exemplo.example")
		gone("erased")
		if n := s.count("select count(*) from commission_reviews"); n != 0 {
			t.Errorf("%d reviews are left", n)
		}
	})
}
