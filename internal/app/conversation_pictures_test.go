package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/archive"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
	"atelie/internal/policy"
	"atelie/internal/storage/storagetest"
)

// pictureForm returns a form with text fields ("name=value") and files of the field "picture".
func pictureForm(t *testing.T, fields []string, pictures ...[]byte) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range pictures {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="picture"; filename="%d.jpg"`, i)}})
		if err == nil {
			_, err = part.Write(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// send sends a form with pictures: to the page of a link, or with a key.
func (s *noticeSite) send(target, key string, fields []string, pictures ...[]byte) *httptest.ResponseRecorder {
	s.t.Helper()
	contentType, body := pictureForm(s.t, fields, pictures...)
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, target, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	return rec
}

var pictureLinks = regexp.MustCompile(`<a href="([^"]*/picture/[0-9a-f-]{36})"><img src="[^"]*/small" alt="([^"]*)"`)

// Proves E-picture-1, E-picture-2, E-picture-3, E-picture-5.
//
// TestPicturesInAConversation sends pictures as visitor and as owner. They must be shown only at the link, and be erased with the
// message.
func TestPicturesInAConversation(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path, other := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en"), s.sendMessageWithLink("Rui", "rui@exemplo.example", "pt")
		version := s.count("select version from content_version")
		photo := storagetest.WithComment(storagetest.JPEG(300, 200), "canary")
		for range 2 { // the second time is a double click
			if rec := s.send(path, "", []string{"id=once", "text="}, photo, storagetest.PNG(20, 30)); rec.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		if n := s.count("select count(*) from contact_pictures"); n != 2 {
			t.Errorf("%d pictures", n)
		}
		if n := s.count("select count(*) from storage_objects"); n != 2 {
			t.Errorf("%d objects", n)
		}
		if n := s.count("select count(*) from storage_trash"); n != 0 {
			t.Errorf("%d pending blobs", n)
		}
		found := pictureLinks.FindAllStringSubmatch(browseLink(t, s.App, path).Body.String(), -1)
		if len(found) != 2 || found[0][2] != "Picture 1 of 2" || found[1][2] != "Picture 2 of 2" {
			t.Fatalf("%q", found)
		}
		for _, suffix := range []string{"", "/small"} {
			rec := browseLink(t, s.App, found[0][1]+suffix)
			for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"} {
				if got := rec.Header().Get(name); got != want {
					t.Errorf("%s: %s is %q", suffix, name, got)
				}
			}
			if rec.Code != http.StatusOK || !strings.HasPrefix(rec.Header().Get("Content-Type"), "image/") || strings.Contains(rec.Body.String(), "canary") {
				t.Errorf("%q: %d %s", suffix, rec.Code, rec.Header())
			}
		}
		// All URLs of missing pictures have the same response.
		id := found[0][1][strings.LastIndex(found[0][1], "/")+1:]
		unknown := browseLink(t, s.App, "/enquiry/unknown/picture/"+id)
		for _, target := range []string{other + "/picture/" + id, path + "/picture/11111111-1111-4111-8111-111111111111", path + "/picture/" + strings.ToUpper(id) + "x", path + "/picture/", path + "/picture/" + id + "/large", other + "/picture/" + id + "/small"} {
			if rec := browseLink(t, s.App, target); rec.Code != http.StatusNotFound || rec.Body.String() != unknown.Body.String() {
				t.Errorf("%s: %d", target, rec.Code)
			}
		}
		if rec := browseLink(t, s.App, found[0][1]+"?original&download=x"); rec.Code != http.StatusOK || rec.Header().Get("Content-Disposition") != "" {
			t.Errorf("%d %s", rec.Code, rec.Header())
		}
		// The owner's side.
		var message string
		if err := s.DB.QueryRow(t.Context(), "select id from contact_submissions where name = 'Canary'").Scan(&message); err != nil {
			t.Fatal(err)
		}
		service := key(t, s.App, identity.Service)
		rec := s.send("/functions/v1/contact-reply", service, []string{`request={"action":"reply","message_id":"` + message + `","id":"a","text":"So?"}`}, photo)
		var state struct {
			Pictures []struct {
				Name          string
				Width, Height int
				Position      int
			}
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil || rec.Code != http.StatusOK || len(state.Pictures) != 3 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		rec = s.send("/functions/v1/commission", service, []string{`request={"action":"progress","message_id":"` + message + `","id":"note","text":"The first layer."}`}, photo)
		if n := s.count("select count(*) from contact_pictures p join contact_replies r on r.id = p.reply_id where r.kind = 'progress' and r.text = 'The first layer.'"); rec.Code != http.StatusOK || n != 1 {
			t.Fatalf("a note with a picture: %d pictures, %d %s", n, rec.Code, rec.Body)
		}
		if rec := s.send("/functions/v1/commission", key(t, s.App, identity.Anon), []string{`request={"action":"progress","message_id":"` + message + `"}`}, photo); rec.Code != http.StatusForbidden {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if rec := s.send("/functions/v1/contact-reply", key(t, s.App, identity.Anon), []string{`request={"action":"reply","message_id":"` + message + `"}`}, photo); rec.Code != http.StatusForbidden {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		if got := s.count("select version from content_version"); got != version {
			t.Errorf("pictures of visitors have raised the content version by %d", got-version)
		}
		if exported := string(s.call(identity.Service, "address-data", `{"action":"export","address":"canary@exemplo.example"}`)); strings.Count(exported, `"width":300,"height":200`) != 3 {
			t.Errorf("%s", exported)
		}
		if rec := s.send(other, "", []string{"text=Mine"}, photo); rec.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		browseLink(t, s.App, path, "action", "erase", "confirm", "yes")
		if n := s.count("select count(*) from storage_objects"); n != 1 {
			t.Errorf("%d objects are left", n)
		}
		if got := s.count("select version from content_version"); got != version {
			t.Errorf("a visitor's erasure has raised the content version by %d", got-version)
		}
		s.addressPlacesOf("erase", "rui@exemplo.example")
		for _, table := range []string{"storage_objects", "storage_trash", "media", "media_renditions", "contact_pictures"} {
			if n := s.count("select count(*) from " + table); n != 0 {
				t.Errorf("%s: %d rows are left", table, n)
			}
		}
	})
}

// wantError checks whether the error on a page belongs to a field of the form. Pictures need no text, so none is required.
func wantError(t *testing.T, what, page, field string, want bool) {
	t.Helper()
	start := strings.Index(page, `id="`+field+`" name="`+field+`"`)
	if start < 0 {
		t.Fatalf("%s: no field %s", what, field)
	}
	tag, _, _ := strings.Cut(page[start:], ">")
	described := strings.Contains(tag, `aria-describedby="`+field+`-error`)
	if got := strings.Contains(tag, `aria-invalid="true"`) && described && strings.Contains(page, `id="`+field+`-error"`); got != want || described != want {
		t.Errorf("%s: the error belongs to the field %s: %v, want %v: %s", what, field, got, want, tag)
	}
}

// Proves E-erase-1, E-picture-5.
//
// A text that arrives while its message is erased leaves nothing: no picture, no row, no live event.
func TestATextWhileItsMessageIsErased(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		photo := storagetest.JPEG(30, 20)
		stored := 0
		for round := range 20 {
			s.clock.Add(time.Hour.Microseconds()) // beyond the limits of an address
			path := s.sendMessageWithLink(fmt.Sprintf("Canary %d", round), "canary@exemplo.example", "en")
			var writing sync.WaitGroup
			for range 3 {
				writing.Go(func() {
					if rec := s.send(path, "", []string{"text=Canary yellow"}, photo); rec.Code == http.StatusSeeOther {
						s.mu.Lock()
						stored++
						s.mu.Unlock()
					} else if rec.Code != http.StatusNotFound {
						t.Errorf("%d", rec.Code)
					}
				})
			}
			writing.Go(func() {
				if rec := browseLink(t, s.App, path, "action", "erase", "confirm", "yes"); rec.Code != http.StatusOK {
					t.Errorf("%d %s", rec.Code, rec.Body)
				}
			})
			writing.Wait()
		}
		t.Logf("%d texts were stored before", stored)
		for _, table := range []string{"contact_submissions", "contact_replies", "contact_pictures", "contact_notices", "storage_objects", "media", "storage_trash"} {
			if n := s.count("select count(*) from " + table); n != 0 {
				t.Errorf("%s: %d rows are left", table, n)
			}
		}
		if left := s.tablesWith("canary"); len(left) != 0 {
			t.Errorf("left in %q", left)
		}
	})
}

// Proves E-picture-4.
//
// A refused form is shown again with an error and the text, and nothing of it is stored.
func TestRefusedPictures(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en")
		photo := storagetest.JPEG(30, 20)
		large := append(bytes.Clone(photo), make([]byte, 10<<20)...)
		for name, c := range map[string]struct {
			status   int
			sentence string
			pictures [][]byte
		}{
			"six":       {400, "at most five pictures", [][]byte{photo, photo, photo, photo, photo, photo}},
			"large":     {413, "too large", [][]byte{photo, large}},
			"text":      {415, "not a picture", [][]byte{photo, []byte("<script>alert(1)</script>")}},
			"broken":    {415, "not a picture", [][]byte{photo[:20]}},
			"animation": {415, "not a picture", [][]byte{storagetest.GIF(3, 3)}},
			"film":      {415, "not a picture", [][]byte{storagetest.ISO("isom")}},
			"pixels":    {413, "too large", [][]byte{storagetest.PNGHeader(29000, 29000)}},
			"empty":     {400, "read", [][]byte{{}}},
		} {
			rec := s.send(path, "", []string{"text=Kept & shown"}, c.pictures...)
			if body := rec.Body.String(); rec.Code != c.status || !strings.Contains(body, c.sentence) || !strings.Contains(body, "Kept &amp; shown</textarea>") {
				t.Errorf("%s: %d %s", name, rec.Code, body)
			}
			wantError(t, name, rec.Body.String(), "picture", name != "empty")
			wantError(t, name, rec.Body.String(), "text", false)
		}
		rec := s.send(path, "", []string{"text= "})
		wantError(t, "no text", rec.Body.String(), "text", true)
		wantError(t, "no text", rec.Body.String(), "picture", false)
		if rec.Code != http.StatusBadRequest || strings.Contains(rec.Body.String(), "required") {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		for _, table := range []string{"storage_objects", "storage_trash", "contact_pictures", "contact_replies"} {
			if n := s.count("select count(*) from " + table); n != 0 {
				t.Errorf("%s: %d rows", table, n)
			}
		}
	})
}

// Proves H-archive-conversations.
//
// An archive has the pictures of conversations as files, an import restores them, and the static copy of the site does not contain them.
func TestArchivesKeepPicturesOfConversations(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		path := s.sendMessageWithLink("Canary", "canary@exemplo.example", "en")
		photo := storagetest.JPEG(30, 20)
		s.send(path, "", []string{"text=See"}, photo)
		file, entries := exportSite(t, s.App)
		kept := 0
		for name, text := range entries {
			if text != string(photo) {
				continue
			}
			if kept++; !strings.HasPrefix(name, "files/"+policy.ConversationBucket+"/") {
				t.Errorf("the picture is %s", name)
			}
		}
		if kept != 1 {
			t.Errorf("%d copies", kept)
		}
		from, err := archive.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = from.Close() }()
		cfg := configuration(t)
		cfg.Database.URL, cfg.Auth.JWTSecret = dbtest.URL(t, s.DB.Dialect), strings.Repeat("o", 32)
		next := newAppOf(t, cfg, time.Now)
		if err := from.Verify(t.Context(), noReport); err != nil {
			t.Fatal(err)
		}
		refused, err := next.Import(t.Context(), from, false, noReport)
		if err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		found := pictureLinks.FindStringSubmatch(browseLink(t, next, path).Body.String())
		if found == nil {
			t.Fatal("no picture")
		}
		if rec := browseLink(t, next, found[1]); rec.Body.String() != string(photo) {
			t.Errorf("%d", rec.Code)
		}
	})
}

// Proves E-reply-2.
//
// The mail, the webhook and the digest say how many pictures a visitor's text has.
func TestNoticesCountPictures(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		s.set("notice.webhook", `"`+s.hook.URL+`"`)
		path := s.sendMessageWithLink("Eva", "eva@exemplo.example", "en")
		photo := storagetest.JPEG(30, 20)
		text := func(text string, pictures ...[]byte) {
			t.Helper()
			if rec := s.send(path, "", []string{"text=" + text}, pictures...); rec.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			waitForState(t, s.App, "contact.plan", jobs.State{}) // the first notices of an hour are single ones: they are planned in this order
			s.clock.Add(time.Second.Microseconds())
		}
		serve(t, s.App)
		text("", photo, photo)
		text("Without any")
		for range 4 {
			text("More", photo)
		}
		waitForState(t, s.App, "contact.notice", jobs.State{})
		s.clock.Store(s.now().Truncate(time.Hour).Add(time.Hour).UnixMicro())
		s.set("notice.email", `["other@alvor.example"]`)
		s.write("Wakes the queue", "v@exemplo.example", "en")
		waitForState(t, s.App, "", jobs.State{})

		var mailed []string
		for _, received := range s.mailServer.Mails() {
			m, err := mailtest.Open(received.Data)
			if err != nil {
				t.Fatal(err)
			}
			if received.To == "ana@alvor.example" {
				mailed = append(mailed, m.Text)
			}
		}
		if all := strings.Join(mailed, "\n"); !strings.Contains(all, "> Imagens: 2. Estão na conversa.") || strings.Contains(all, "Imagens: 0") || !strings.Contains(all, ", imagens: 1\n") {
			t.Errorf("%s", all)
		}
		counts := map[string]int{}
		for _, call := range s.webhookCalls() {
			var event struct {
				Type string
				Data struct {
					Message  string
					Pictures *int
					Messages []struct {
						Message  string
						Pictures int
					}
				}
			}
			if err := json.Unmarshal(call.body, &event); err != nil {
				t.Fatal(err)
			}
			switch d := event.Data; event.Type {
			case "contact_reply.created":
				if d.Pictures == nil {
					t.Fatalf("%s", call.body)
				}
				counts[fmt.Sprintf("%s:%d", d.Message, *d.Pictures)]++
			case "contact_submission.created":
				if d.Pictures != nil { // stays as it was
					t.Errorf("%s", call.body)
				}
			default:
				for _, m := range d.Messages {
					counts[fmt.Sprintf("digest %s:%d", m.Message, m.Pictures)]++
				}
			}
		}
		if counts[":2"] != 1 || counts["Without any:0"] != 1 || counts["More:1"] == 0 || counts["digest More:1"] == 0 {
			t.Errorf("%v", counts)
		}
	})
}
