package storage

import (
	"bytes"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-download-range, F-download-validators, F-download-defused.
func TestServing(t *testing.T) {
	content := storagetest.JPEG(60, 40)
	size := len(content)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/praia/mar%20alto.jpg", content, "Content-Type", "text/html", "Cache-Control", "max-age=31536000, immutable")
		s.UploadFile("product-images/film.webm", storagetest.EBML("webm"))
		o := s.Object("product-images", "praia/mar alto.jpg")
		etag, modified := `"`+o.ETag+`"`, "Thu, 12 Mar 2026 10:00:00 GMT"
		const public, token = "/object/public/product-images/praia/mar%20alto.jpg", "/object/authenticated/product-images/praia/mar%20alto.jpg"
		get := func(method, target string, headers ...string) (int, http.Header, []byte) {
			who := "nobody"
			if target == token {
				who = "anon"
			}
			rec := s.Call(who, method, target, nil, headers...)
			return rec.Code, rec.Header(), rec.Body.Bytes()
		}
		for _, target := range []string{public, token} {
			status, h, body := get("GET", target)
			if status != 200 || !bytes.Equal(body, content) {
				t.Fatalf("%s: %d, %d bytes", target, status, len(body))
			}
			for name, want := range map[string]string{
				"Content-Type": "image/jpeg", "Cache-Control": "max-age=31536000, immutable", "ETag": etag, "Last-Modified": modified, "Accept-Ranges": "bytes",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": "",
			} {
				if got := h.Get(name); got != want {
					t.Errorf("%s %s: got %q, want %q", target, name, got, want)
				}
			}
			if status, head, body := get("HEAD", target); status != 200 || len(body) != 0 || head.Get("Content-Length") != h.Get("Content-Length") || head.Get("ETag") != etag || head.Get("Content-Type") != "image/jpeg" {
				t.Errorf("HEAD %s: %d %v", target, status, head)
			}
			for _, c := range []struct {
				name         string
				headers      []string
				status       int
				from, to     int // the part of the content that the body has
				contentRange string
			}{
				{"first bytes", []string{"Range", "bytes=0-9"}, 206, 0, 10, "bytes 0-9/"},
				{"last bytes", []string{"Range", "bytes=-5"}, 206, size - 5, size, "bytes "},
				{"rest", []string{"Range", "bytes=10-"}, 206, 10, size, "bytes 10-"},
				{"past the end", []string{"Range", "bytes=999999-"}, 416, 0, 0, "bytes */"},
				{"not a range", []string{"Range", "bytes=9-1"}, 416, 0, 0, ""},
				{"several ranges count as none", []string{"Range", "bytes=0-1,4-5"}, 200, 0, size, ""},
				{"range of the same content", []string{"Range", "bytes=0-9", "If-Range", etag}, 206, 0, 10, "bytes 0-9/"},
				{"range of other content", []string{"Range", "bytes=0-9", "If-Range", `"other"`}, 200, 0, size, ""},
				{"same content", []string{"If-None-Match", etag}, 304, 0, 0, ""},
				{"same content among others", []string{"If-None-Match", `"a", ` + etag}, 304, 0, 0, ""},
				{"other content", []string{"If-None-Match", `"other"`}, 200, 0, size, ""},
				{"not modified", []string{"If-Modified-Since", modified}, 304, 0, 0, ""},
				{"modified", []string{"If-Modified-Since", "Thu, 12 Mar 2026 09:59:59 GMT"}, 200, 0, size, ""},
				{"content decides before time", []string{"If-None-Match", `"other"`, "If-Modified-Since", modified}, 200, 0, size, ""},
				{"precondition", []string{"If-Match", `"other"`}, 412, 0, 0, ""},
			} {
				status, h, body := get("GET", target, c.headers...)
				if status != c.status || !strings.HasPrefix(h.Get("Content-Range"), c.contentRange) || (c.status < 300 && !bytes.Equal(body, content[c.from:c.to])) || (c.status == 304 && len(body) > 0) {
					t.Errorf("%s: %d %q, %d bytes", c.name, status, h.Get("Content-Range"), len(body))
				}
				if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "" {
					t.Errorf("%s: %v", c.name, h)
				}
			}
		}
		if status, h, _ := get("GET", "/object/public/product-images/film.webm", "Range", "bytes=0-1"); status != 206 || h.Get("Content-Type") != "video/webm" {
			t.Errorf("film: %d %v", status, h)
		}
		for _, target := range []string{"/object/public/product-images/nothing.jpg", "/object/public/product-images/praia", "/object/public/cover-images/film.webm"} {
			rec := s.Call("nobody", "GET", target, nil)
			if e := storagetest.Refused(t, rec, "404", "not_found"); e.Message != "Object not found" || e.Code != "NoSuchKey" || rec.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %+v %v", target, e, rec.Header())
			}
			if rec := s.Call("nobody", "HEAD", target, nil); rec.Code != 400 {
				t.Errorf("HEAD %s: %d", target, rec.Code)
			}
		}
	})
}

// Proves F-download-validators.
func TestAReplacedFileHasANewETag(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("review-images/a.jpg", storagetest.JPEG(4, 4))
		old := `"` + s.Object("review-images", "a.jpg").ETag + `"`
		s.Clock = s.Clock.Add(time.Second)
		s.UploadFile("review-images/a.jpg", storagetest.JPEG(5, 5), "x-upsert", "true")
		rec := s.Call("nobody", "GET", "/object/public/review-images/a.jpg", nil, "If-None-Match", old, "If-Modified-Since", "Thu, 12 Mar 2026 10:00:00 GMT")
		if rec.Code != 200 || rec.Header().Get("ETag") == old || rec.Header().Get("Last-Modified") != "Thu, 12 Mar 2026 10:00:01 GMT" {
			t.Errorf("%d %v", rec.Code, rec.Header())
		}
	})
}

// Proves F-download-download.
func TestDownloadNames(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.UploadFile("product-images/a.jpg", storagetest.JPEG(4, 4))
	for _, c := range []struct{ query, header, name string }{
		{"download", "attachment", ""},
		{"download=", "attachment", ""},
		{"download=mar.jpg", `attachment; filename="mar.jpg"; filename*=UTF-8''mar.jpg`, "mar.jpg"},
		{"download=O%20mar%20%C3%A0%20noite.jpg", `attachment; filename="O mar _ noite.jpg"; filename*=UTF-8''O%20mar%20%C3%A0%20noite.jpg`, "O mar à noite.jpg"},
		{"download=%E7%B5%B5.png", `attachment; filename="_.png"; filename*=UTF-8''%E7%B5%B5.png`, "絵.png"},
		{"download=a%22b%25c%27d%28e%29%2A%3B.jpg", `attachment; filename="a_b_c'd(e)*;.jpg"; filename*=UTF-8''a%22b%25c%27d%28e%29%2A%3B.jpg`, `a"b%c'd(e)*;.jpg`},
		{"download=..%2F..%2Fetc%5Cpasswd", `attachment; filename="_.._etc_passwd"; filename*=UTF-8''_.._etc_passwd`, "_.._etc_passwd"},
		{"download=x%0D%0ASet-Cookie%3A%20a%3Db", `attachment; filename="xSet-Cookie: a=b"; filename*=UTF-8''xSet-Cookie%3A%20a%3Db`, "xSet-Cookie: a=b"},
		{"download=gpj%E2%80%AEexe.jpg", `attachment; filename="gpjexe.jpg"; filename*=UTF-8''gpjexe.jpg`, "gpjexe.jpg"},
		{"download=%FF.jpg", `attachment; filename="_.jpg"; filename*=UTF-8''_.jpg`, "_.jpg"},
		{"download=%20.%00.", "attachment", ""},
		{"download=" + strings.Repeat("a", 300), `attachment; filename="` + strings.Repeat("a", 200) + `"; filename*=UTF-8''` + strings.Repeat("a", 200), strings.Repeat("a", 200)},
	} {
		for _, at := range []string{"/object/public/", "/object/authenticated/", "/object/"} {
			rec := s.Call("anon", "GET", at+"product-images/a.jpg?"+c.query, nil)
			got := rec.Header().Get("Content-Disposition")
			kind, params, err := mime.ParseMediaType(got)
			if rec.Code != 200 || got != c.header || err != nil || kind != "attachment" || params["filename"] != c.name {
				t.Errorf("%s%s: %d %s (%v %v)", at, c.query, rec.Code, got, params, err)
			}
		}
	}
}

// Proves F-download-defused.
func TestUnknownTypeIsServedAsAttachment(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.JPEG(4, 4))
		if _, err := d.Exec(t.Context(), "update storage_objects set mime_type = 'text/html'"); err != nil {
			t.Fatal(err)
		}
		rec := s.Call("nobody", "GET", "/object/public/product-images/a.jpg", nil)
		if rec.Code != 200 || rec.Header().Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(rec.Header().Get("Content-Disposition"), "attachment") {
			t.Errorf("%d %v", rec.Code, rec.Header())
		}
	})
}

func TestAPrivateBucketIsNotPublic(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.JPEG(4, 4))
		if _, err := d.Exec(t.Context(), "update storage_buckets set public = $1", false); err != nil {
			t.Fatal(err)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.jpg", nil), "404", "Bucket not found")
		if rec := s.Call("anon", "GET", "/object/authenticated/product-images/a.jpg", nil); rec.Code != 200 {
			t.Errorf("with a token: %d", rec.Code)
		}
	})
}

func TestObjectWithoutItsFileIsNotFound(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.JPEG(4, 4))
		if err := os.Remove(filepath.Join(s.Root, s.Files()[0])); err != nil {
			t.Fatal(err)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.jpg", nil), "404", "not_found")
	})
}
