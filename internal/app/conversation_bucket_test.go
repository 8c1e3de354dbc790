package app

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
	"atelie/internal/storage/resumable"
	"atelie/internal/storage/storagetest"
)

// bucketSite has a conversation with a picture, and the tokens of all roles; "nobody" has none.
type bucketSite struct {
	*noticeSite
	tokens map[string]string
	path   string // of the private link
	photo  []byte
	name   string // of the picture in the bucket
}

// everyRole has the keys of bucketSite.tokens.
var everyRole = []string{"nobody", "anon", "user", "owner", "service"}

func eachBucketSite(t *testing.T, fn func(*testing.T, *bucketSite)) {
	t.Helper()
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := &bucketSite{noticeSite: newNoticeSite(t, dialect, false), photo: storagetest.JPEG(30, 20)}
			s.tokens = map[string]string{"nobody": "", "anon": key(t, s.App, identity.Anon), "service": key(t, s.App, identity.Service)}
			const password = "a wall of whitewash"
			if err := s.Auth.AddOwner(t.Context(), "ana@alvor.example", password); err != nil {
				t.Fatal(err)
			}
			s.must(s.sendAs("service", "POST", "/auth/v1/admin/users", `{"email":"rui@alvor.example","password":"`+password+`","email_confirm":true}`), http.StatusOK)
			for who, email := range map[string]string{"owner": "ana@alvor.example", "user": "rui@alvor.example"} {
				var session struct {
					Access string `json:"access_token"`
				}
				rec := s.must(s.sendAs("anon", "POST", "/auth/v1/token?grant_type=password", `{"email":"`+email+`","password":"`+password+`"}`), http.StatusOK)
				if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil || session.Access == "" {
					t.Fatal(err, rec.Body)
				}
				s.tokens[who] = session.Access
			}
			s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
			s.path = s.sendMessageWithLink("Eva", "eva@exemplo.example", "en")
			if rec := s.send(s.path, "", []string{"text=See"}, s.photo); rec.Code != http.StatusSeeOther {
				t.Fatal(rec.Code, rec.Body)
			}
			if err := s.DB.QueryRow(t.Context(), "select name from contact_pictures").Scan(&s.name); err != nil {
				t.Fatal(err)
			}
			fn(t, s)
		})
	}
}

// sendAs sends a request with the token of a role. header has names and values of additional headers.
func (s *bucketSite) sendAs(who, method, target, body string, header ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	if s.tokens[who] != "" {
		r.Header.Set("Authorization", "Bearer "+s.tokens[who])
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	return rec
}

func (s *bucketSite) must(rec *httptest.ResponseRecorder, want int) *httptest.ResponseRecorder {
	s.t.Helper()
	if rec.Code != want {
		s.t.Fatalf("%d, want %d: %s", rec.Code, want, rec.Body)
	}
	return rec
}

// Proves E-picture-who.
//
// Resumable uploads write into the bucket with the service key alone.
func TestResumableUploadsOfConversationPictures(t *testing.T) {
	eachBucketSite(t, func(t *testing.T, s *bucketSite) {
		encode := base64.StdEncoding.EncodeToString
		for _, who := range everyRole {
			name := "tus/" + who
			rec := s.sendAs(who, "POST", resumable.Path, "", "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(len(s.photo)),
				"Upload-Metadata", "bucketName "+encode([]byte(policy.ConversationBucket))+",objectName "+encode([]byte(name))+",contentType "+encode([]byte("image/jpeg")))
			if (rec.Code == http.StatusCreated) != (who == "service") {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
			if rec.Code != http.StatusCreated {
				if rec.Code < 400 || rec.Code >= 500 {
					t.Errorf("%s: %d", who, rec.Code)
				}
				continue
			}
			upload := strings.TrimPrefix(rec.Header().Get("Location"), "http://site.example")
			for _, other := range everyRole { // who may not begin an upload may not continue one
				if other == "service" {
					continue
				}
				rec := s.sendAs(other, "PATCH", upload, string(s.photo), "Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream")
				if rec.Code < 400 || rec.Code >= 500 {
					t.Errorf("%s continues: %d", other, rec.Code)
				}
			}
			s.must(s.sendAs(who, "PATCH", upload, string(s.photo), "Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream"), http.StatusNoContent)
			if n := s.count("select count(*) from media m join storage_objects o on o.id = m.object_id where o.name = 'tus/service' and m.private"); n != 1 {
				t.Errorf("%d private pictures", n)
			}
		}
	})
}

// Proves E-picture-who, E-picture-3, E-picture-5.
//
// Renditions and signed URLs of the bucket: for whom, with which headers, and no longer than the message exists.
func TestRenditionsOfConversationPictures(t *testing.T) {
	eachBucketSite(t, func(t *testing.T, s *bucketSite) {
		at := policy.ConversationBucket + "/" + s.name
		for _, who := range everyRole {
			for _, target := range []string{"/storage/v1/render/image/public/" + at + "?width=320", "/storage/v1/object/public/" + at} {
				if rec := s.sendAs(who, "GET", target, ""); rec.Code < 400 || rec.Code >= 500 {
					t.Errorf("%s, %s: %d", who, target, rec.Code)
				}
			}
			rec := s.sendAs(who, "GET", "/storage/v1/render/image/authenticated/"+at+"?width=20", "")
			if (rec.Code == http.StatusOK) != (who == "owner" || who == "service") || rec.Code >= 500 {
				t.Errorf("%s: %d", who, rec.Code)
			}
			if rec.Code == http.StatusOK && (rec.Header().Get("Cache-Control") != "no-store" || !strings.HasPrefix(rec.Header().Get("Content-Type"), "image/")) {
				t.Errorf("%s: %v", who, rec.Header())
			}
		}
		// The cookie with which an owner's pages show files of unpublished works opens nothing here.
		list := s.sendAs("owner", "GET", "/rest/v1/products?select=*,media", "")
		for _, cookie := range list.Result().Cookies() {
			for _, target := range []string{"/storage/v1/object/public/" + at, "/storage/v1/render/image/public/" + at + "?width=20"} {
				if rec := s.sendAs("nobody", "GET", target, "", "Cookie", cookie.Name+"="+cookie.Value); rec.Code < 400 {
					t.Errorf("with the cookie %s: %s: %d", cookie.Name, target, rec.Code)
				}
			}
		}
		var signed []string
		for _, body := range []string{`{"expiresIn":60}`, `{"expiresIn":60,"transform":{"width":20}}`} {
			for _, who := range []string{"nobody", "anon", "user", "owner"} {
				if rec := s.sendAs(who, "POST", "/storage/v1/object/sign/"+at, body); rec.Code < 400 || rec.Code >= 500 {
					t.Errorf("%s signs: %d", who, rec.Code)
				}
			}
			var response struct {
				URL string `json:"signedURL"`
			}
			rec := s.must(s.sendAs("service", "POST", "/storage/v1/object/sign/"+at, body), http.StatusOK)
			if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil {
				t.Fatal(err)
			}
			signed = append(signed, "/storage/v1"+response.URL)
			if rec := s.must(s.sendAs("nobody", "GET", signed[len(signed)-1], ""), http.StatusOK); strings.Contains(rec.Header().Get("Cache-Control"), "public") {
				t.Errorf("%s", rec.Header())
			}
		}
		s.clock.Add(61 * time.Second.Microseconds())
		for _, target := range signed {
			if rec := s.sendAs("nobody", "GET", target, ""); rec.Code < 400 || rec.Code >= 500 {
				t.Errorf("an old signed URL: %d", rec.Code)
			}
		}
		rec := s.must(s.sendAs("service", "POST", "/storage/v1/object/sign/"+at, `{"expiresIn":600}`), http.StatusOK)
		var response struct {
			URL string `json:"signedURL"`
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil {
			t.Fatal(err)
		}
		s.must(s.sendAs("nobody", "GET", "/storage/v1"+response.URL, ""), http.StatusOK)
		browseLink(t, s.App, s.path, "action", "erase", "confirm", "yes")
		if rec := s.sendAs("nobody", "GET", "/storage/v1"+response.URL, ""); rec.Code < 400 || rec.Code >= 500 {
			t.Errorf("an erased picture: %d", rec.Code)
		}
	})
}

// Proves E-picture-who.
//
// Moves and copies between the bucket and others. A picture does not come into a bucket of the site by a move; a copy is an upload, which
// owners may make of what they can read. Whether its changes change pages follows the bucket.
func TestMovesOfConversationPictures(t *testing.T) {
	eachBucketSite(t, func(t *testing.T, s *bucketSite) {
		s.must(s.sendAs("service", "POST", "/storage/v1/bucket", `{"id":"press","name":"press","public":true}`), http.StatusOK)
		private := func(name string) (is bool) {
			t.Helper()
			if err := s.DB.QueryRow(t.Context(), "select m.private from media m join storage_objects o on o.id = m.object_id where o.name = $1", name).Scan(&is); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return is
		}
		transfer := func(who, action, from, source, to, destination string) int {
			t.Helper()
			rec := s.sendAs(who, "POST", "/storage/v1/object/"+action, `{"bucketId":"`+from+`","sourceKey":"`+source+`","destinationBucket":"`+to+`","destinationKey":"`+destination+`"}`)
			if rec.Code >= 500 {
				t.Errorf("%s %s: %d %s", who, action, rec.Code, rec.Body)
			}
			return rec.Code
		}
		const conversations, works = policy.ConversationBucket, "product-images"
		s.must(s.sendAs("service", "POST", "/storage/v1/object/"+works+"/work.jpg", string(storagetest.JPEG(31, 20)), "Content-Type", "image/jpeg"), http.StatusOK)
		if private("work.jpg") || !private(s.name) {
			t.Fatalf("work %v, picture %v", private("work.jpg"), private(s.name))
		}
		for _, who := range everyRole {
			mayCopyOut, isService := who == "owner" || who == "service", who == "service"
			for _, c := range []struct {
				action, from, source, to string
				want                     bool
			}{
				{"move", conversations, s.name, works, false},
				{"move", works, "work.jpg", conversations, false},
				{"copy", conversations, s.name, works, mayCopyOut},
				{"copy", works, "work.jpg", conversations, isService},
				{"copy", conversations, s.name, conversations, isService},
				{"copy", conversations, s.name, "press", isService},
			} {
				destination := c.action + "-" + who + "-" + strings.ReplaceAll(c.from, "/", "") + "-" + c.to + ".jpg"
				if got := transfer(who, c.action, c.from, c.source, c.to, destination); (got == http.StatusOK) != c.want {
					t.Errorf("%s: %s from %s to %s: %d", who, c.action, c.from, c.to, got)
				} else if c.want && private(destination) != (c.to == conversations) {
					t.Errorf("%s: %s from %s to %s: private %v", who, c.action, c.from, c.to, private(destination))
				}
			}
			if isService {
				continue
			}
			for _, to := range []string{conversations, "press"} {
				if got := transfer(who, "move", conversations, s.name, to, "moved.jpg"); got == http.StatusOK {
					t.Errorf("%s moves to %s", who, to)
				}
			}
		}
		// The service key moves a picture out, after which changes of it are those of a public file.
		if got := transfer("service", "move", conversations, s.name, conversations, "renamed.jpg"); got != http.StatusOK || !private("renamed.jpg") {
			t.Errorf("renamed: %d", got)
		}
		if got := transfer("service", "move", conversations, "renamed.jpg", "press", "public.jpg"); got != http.StatusOK || private("public.jpg") {
			t.Errorf("moved out: %d, private %v", got, private("public.jpg"))
		}
		version := s.count("select version from content_version")
		s.exec("update media set color = '#123456' where object_id = (select id from storage_objects where name = 'public.jpg')")
		if s.count("select version from content_version") == version {
			t.Error("a change of a picture that was moved to a public bucket changes no page")
		}
		if got := transfer("service", "move", "press", "public.jpg", conversations, s.name); got == http.StatusOK {
			t.Error("a picture comes into the bucket by a move")
		}
		// The conversation shows what is left of it.
		if page := browseLink(t, s.App, s.path); page.Code != http.StatusOK || strings.Contains(page.Body.String(), "/picture/") {
			t.Errorf("%d %s", page.Code, page.Body)
		}
	})
}

// Proves AM-retention-2, E-picture-5.
//
// Pictures go with the messages that are older than messages are kept, and those of younger ones stay.
func TestRetentionRemovesPicturesOfConversations(t *testing.T) {
	eachBucketSite(t, func(t *testing.T, s *bucketSite) {
		at := policy.ConversationBucket + "/" + s.name
		s.clock.Store(s.now().AddDate(0, 5, 0).UnixMicro())
		young := s.sendMessageWithLink("Rui", "rui@exemplo.example", "pt")
		if rec := s.send(young, "", []string{"text=Mine"}, storagetest.JPEG(40, 20)); rec.Code != http.StatusSeeOther {
			t.Fatal(rec.Code)
		}
		s.clock.Store(s.now().AddDate(0, 1, 0).UnixMicro())
		s.set("site", `{"name":"Alvor","enquiryLinks":true,"messageMonths":6}`)
		s.maintain(t.Context())
		for query, want := range map[string]int{
			"select count(*) from contact_pictures": 1, "select count(*) from media": 1, "select count(*) from storage_trash": 0,
			"select count(*) from storage_objects where bucket_id = '" + policy.ConversationBucket + "'": 1,
		} {
			if n := s.count(query); n != want {
				t.Errorf("%s: %d", query, n)
			}
		}
		if rec := s.sendAs("service", "GET", "/storage/v1/object/"+at, ""); rec.Code == http.StatusOK {
			t.Errorf("the picture of the old message: %d", rec.Code)
		}
		if found := pictureLinks.FindStringSubmatch(browseLink(t, s.App, young).Body.String()); found == nil || browseLink(t, s.App, found[1]).Code != http.StatusOK {
			t.Errorf("the picture of the young message: %q", found)
		}
	})
}

// Proves E-picture-1, E-picture-4.
//
// A telephone's HEIC is shown as every browser can show it, and is never given out itself. Without a libvips that reads it, it is refused
// with a sentence.
func TestHEICInAConversation(t *testing.T) {
	source, err := os.ReadFile("../media/rendition/vips.go")
	if err != nil {
		t.Fatal(err)
	}
	photo, err := base64.StdEncoding.DecodeString(regexp.MustCompile(`tinyHEIC = "([^"]+)"`).FindStringSubmatch(string(source))[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, vips := range []string{"auto", "off"} {
		t.Run(vips, func(t *testing.T) {
			s := newNoticeSite(t, db.SQLite, false, func(c *config.Config) { c.Pictures.Vips = vips })
			s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
			path := s.sendMessageWithLink("Eva", "eva@exemplo.example", "en")
			rec := s.send(path, "", []string{"text=Kept & shown"}, photo)
			if vips == "off" {
				if body := rec.Body.String(); rec.Code != http.StatusUnsupportedMediaType || !strings.Contains(body, "not a picture that can be shown") || !strings.Contains(body, "Kept &amp; shown</textarea>") {
					t.Errorf("%d %s", rec.Code, body)
				}
				return
			}
			if rec.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			serve(t, s.App)
			found := pictureLinks.FindStringSubmatch(browseLink(t, s.App, path).Body.String())
			if found == nil {
				t.Fatal("no picture")
			}
			for _, target := range []string{found[1], found[1] + "/small"} {
				rec := browseLink(t, s.App, target)
				if mime := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || mime != "image/webp" && mime != "image/jpeg" && mime != "image/png" || bytes.Contains(rec.Body.Bytes(), []byte("ftyp")) {
					t.Errorf("%s: %d %s", target, rec.Code, rec.Header())
				}
			}
		})
	}
}
