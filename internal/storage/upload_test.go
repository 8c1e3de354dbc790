package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage/storagetest"
)

var owner = identity.Caller{Role: identity.Authenticated, UserID: storagetest.AdminID, Admin: true}

// Proves F-upload-raw.
func TestUploadReturnsIDAndKey(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		content := storagetest.JPEG(40, 30)
		rec := s.Call("admin", "POST", "/object/product-images/2026/O%20mar%20%C3%A0%20noite.jpg", bytes.NewReader(content), "Content-Type", "image/jpeg", "Cache-Control", "max-age=31536000, immutable",
			"x-metadata", base64.StdEncoding.EncodeToString([]byte(`{"artist":"Inês","n":[1,{"a":null}]}`)))
		var response map[string]string
		storagetest.Decode(t, rec, &response)
		if rec.Code != 200 || len(response) != 2 || response["Key"] != "product-images/2026/O mar à noite.jpg" {
			t.Fatalf("got %d %s", rec.Code, rec.Body)
		}
		if _, err := uuid.Parse(response["Id"]); err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(content)
		o := s.Object("product-images", "2026/O mar à noite.jpg")
		if want := (files.Object{ID: response["Id"], Bucket: "product-images", Name: "2026/O mar à noite.jpg", BlobID: o.BlobID, Size: int64(len(content)), MimeType: "image/jpeg",
			ETag: hex.EncodeToString(sum[:]), CacheControl: "max-age=31536000, immutable", OwnerID: storagetest.AdminID, CreatedAt: s.Clock, UpdatedAt: s.Clock}); o != want {
			t.Errorf("got  %+v\nwant %+v", o, want)
		}
		var metadata string
		if err := d.QueryRow(t.Context(), "select user_metadata from storage_objects").Scan(&metadata); err != nil {
			t.Fatal(err)
		}
		var m struct {
			Artist string
			N      []any
		}
		if err := json.Unmarshal([]byte(metadata), &m); err != nil || m.Artist != "Inês" || len(m.N) != 2 {
			t.Errorf("metadata %s, %v", metadata, err)
		}
		s.Holds(1)
	})
}

// Proves F-upload-form.
func TestFormsInAnyOrder(t *testing.T) {
	file := storagetest.Field{Name: "", Value: string(storagetest.JPEG(40, 30))}
	cache, metadata, other := storagetest.Field{Name: "cacheControl", Value: "7200"}, storagetest.Field{Name: "metadata", Value: `{"a":"b"}`}, storagetest.Field{Name: "contentType", Value: "text/html"}
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i, order := range [][]storagetest.Field{{cache, metadata, file}, {file, cache, metadata}, {metadata, file, cache}, {other, cache, file, metadata}} {
			contentType, body := storagetest.Form(t, order...)
			name := "f" + string(rune('0'+i)) + ".jpg"
			if rec := s.Call("admin", "POST", "/object/cover-images/"+name, bytes.NewReader(body), "Content-Type", contentType); rec.Code != 200 {
				t.Fatalf("%d: %d %s", i, rec.Code, rec.Body)
			}
			var text string
			if err := d.QueryRow(t.Context(), "select user_metadata from storage_objects where name = $1", name).Scan(&text); err != nil {
				t.Fatal(err)
			}
			if o := s.Object("cover-images", name); o.CacheControl != "max-age=7200" || o.MimeType != "image/jpeg" || strings.ReplaceAll(text, " ", "") != `{"a":"b"}` {
				t.Errorf("%d: %+v %s", i, o, text)
			}
			if s.PublicFile("cover-images/"+name) != file.Value {
				t.Errorf("%d: other bytes", i)
			}
		}
		contentType, body := storagetest.Form(t, file)
		if rec := s.Call("admin", "POST", "/object/cover-images/plain.jpg", bytes.NewReader(body), "Content-Type", contentType); rec.Code != 200 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if o := s.Object("cover-images", "plain.jpg"); o.CacheControl != "max-age=3600" {
			t.Errorf("%+v", o)
		}
		s.Holds(5)
	})
}

// Proves F-upload-form.
func TestRefusedForms(t *testing.T) {
	file := storagetest.Field{Name: "", Value: string(storagetest.JPEG(40, 30))}
	contentType, whole := storagetest.Form(t, storagetest.Field{Name: "cacheControl", Value: "60"}, file)
	many := []storagetest.Field{file}
	for range maxFields + 1 {
		many = append(many, storagetest.Field{Name: "x", Value: "y"})
	}
	build := func(fields ...storagetest.Field) (string, []byte) { return storagetest.Form(t, fields...) }
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, c := range []struct {
			name        string
			build       func() (string, []byte)
			status, err string
		}{
			{"no file", func() (string, []byte) { return build(storagetest.Field{Name: "cacheControl", Value: "60"}) }, "400", "InvalidRequest"},
			{"empty file", func() (string, []byte) { return build(storagetest.Field{Name: "", Value: ""}) }, "400", "InvalidRequest"},
			{"two files", func() (string, []byte) { return build(file, file) }, "400", "InvalidRequest"},
			{"many fields", func() (string, []byte) { return build(many...) }, "400", "InvalidRequest"},
			{"metadata is a list", func() (string, []byte) { return build(file, storagetest.Field{Name: "metadata", Value: "[1]"}) }, "400", "InvalidParameter"},
			{"metadata is not JSON", func() (string, []byte) { return build(file, storagetest.Field{Name: "metadata", Value: "{"}) }, "400", "InvalidParameter"},
			{"metadata with U+0000", func() (string, []byte) {
				return build(file, storagetest.Field{Name: "metadata", Value: `{"a":["\u0000"]}`})
			}, "400", "InvalidParameter"},
			{"metadata key with U+0000", func() (string, []byte) {
				return build(file, storagetest.Field{Name: "metadata", Value: `{"\u0000":1}`})
			}, "400", "InvalidParameter"},
			{"metadata too deep", func() (string, []byte) {
				return build(file, storagetest.Field{Name: "metadata", Value: `{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`})
			}, "400", "InvalidParameter"},
			{"metadata too long", func() (string, []byte) {
				return build(file, storagetest.Field{Name: "metadata", Value: strings.Repeat(" ", maxMetadataBytes+1)})
			}, "413", "Payload too large"},
			{"cacheControl is a header", func() (string, []byte) {
				return build(storagetest.Field{Name: "cacheControl", Value: "60\r\nX-Evil: 1"}, file)
			}, "400", "InvalidParameter"},
			{"cacheControl is a word", func() (string, []byte) { return build(file, storagetest.Field{Name: "cacheControl", Value: "forever"}) }, "400", "InvalidParameter"},
			{"SVG", func() (string, []byte) {
				return build(storagetest.Field{Name: "", Value: "<svg xmlns='http://www.w3.org/2000/svg'/>"})
			}, "415", "invalid_mime_type"},
			{"cut in the file", func() (string, []byte) { return contentType, whole[:len(whole)/2] }, "400", "InvalidRequest"},
			{"cut in the last border", func() (string, []byte) { return contentType, whole[:len(whole)-6] }, "400", "InvalidRequest"},
			{"cut in the first field", func() (string, []byte) { return contentType, whole[:40] }, "400", "InvalidRequest"},
			{"no boundary", func() (string, []byte) { return "multipart/form-data", whole }, "400", "InvalidRequest"},
			{"other boundary", func() (string, []byte) { return "multipart/form-data; boundary=xyz", whole }, "400", "InvalidRequest"},
			{"nothing", func() (string, []byte) { return contentType, nil }, "400", "InvalidRequest"},
		} {
			kind, body := c.build()
			rec := s.Call("admin", "POST", "/object/product-images/x.jpg", bytes.NewReader(body), "Content-Type", kind)
			t.Run(c.name, func(t *testing.T) {
				storagetest.Refused(t, rec, c.status, c.err)
				if left := s.Files(); len(left) != 0 || s.Count("storage_objects") != 0 || s.Count("storage_trash") != 0 {
					t.Errorf("left %v", left)
				}
			})
		}
	})
}

// Proves F-upload-upsert, F-upload-update.
func TestDuplicateUpsertAndReplace(t *testing.T) {
	first, second, third := storagetest.JPEG(10, 10), storagetest.PNG(20, 20), storagetest.WebPLossy()
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		before := s.UploadFile("product-images/a", first)
		unread := &countingReader{r: bytes.NewReader(second)}
		e := storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/a", unread), "409", "Duplicate")
		if e.Message != "The resource already exists" || e.Code != "ResourceAlreadyExists" || unread.n != 0 {
			t.Errorf("%+v, %d bytes read", e, unread.n)
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/a", bytes.NewReader(second), "x-upsert", "false"), "409", "Duplicate")
		if s.PublicFile("product-images/a") != string(first) {
			t.Error("the first file is gone")
		}
		old := s.Object("product-images", "a")
		s.Clock = s.Clock.Add(time.Minute)
		after := s.UploadFile("product-images/a", second, "x-upsert", "true", "Cache-Control", "no-cache")
		o := s.Object("product-images", "a")
		if after != before || o.ID != before.ID || !o.CreatedAt.Equal(old.CreatedAt) || !o.UpdatedAt.Equal(s.Clock) || o.MimeType != "image/png" || o.CacheControl != "no-cache" || o.BlobID == old.BlobID {
			t.Errorf("upsert: %+v", o)
		}
		s.Holds(1)
		if rec := s.Call("service", "PUT", "/object/product-images/a", bytes.NewReader(third)); rec.Code != 200 || s.PublicFile("product-images/a") != string(third) {
			t.Errorf("replace: %d %s", rec.Code, rec.Body)
		}
		if o := s.Object("product-images", "a"); o.OwnerID != "" || o.MimeType != "image/webp" || o.CacheControl != "max-age=3600" {
			t.Errorf("replace: %+v", o)
		}
		if rec := s.Call("admin", "PUT", "/object/product-images/b.jpg", bytes.NewReader(first)); rec.Code != 200 {
			t.Errorf("PUT where nothing is: %d %s", rec.Code, rec.Body)
		}
		s.UploadFile("product-images/c.jpg", first, "x-upsert", "true")
		s.UploadFile("review-images/a", first) // the same file in another bucket under another name
		s.Holds(4)
	})
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Proves F-upload-encoding.
func TestRefusedFiles(t *testing.T) {
	html := []byte("<!doctype html><html><script>alert(document.domain)</script></html>")
	jpeg := storagetest.JPEG(4, 4)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, c := range []struct {
			name, at    string
			body        []byte
			headers     []string
			status, err string
		}{
			{"HTML as JPEG", "product-images/x.jpg", html, []string{"Content-Type", "image/jpeg"}, "415", "invalid_mime_type"},
			{"SVG", "product-images/x.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), []string{"Content-Type", "image/svg+xml"}, "415", "invalid_mime_type"},
			{"JPEG as HTML", "product-images/x.html", jpeg, []string{"Content-Type", "image/jpeg"}, "415", "invalid_mime_type"},
			{"JPEG as PNG", "product-images/x.png", jpeg, nil, "415", "invalid_mime_type"},
			{"JPEG as SVG", "cover-images/x.svg", jpeg, nil, "415", "invalid_mime_type"},
			{"film among reviews", "review-images/x.mp4", storagetest.ISO("isom"), nil, "415", "invalid_mime_type"},
			{"WebM among reviews", "review-images/x", storagetest.EBML("webm"), nil, "415", "invalid_mime_type"},
			{"HEIC", "product-images/x.heic", storagetest.ISO("heic", "mif1"), nil, "415", "invalid_mime_type"},
			{"compressed", "product-images/x.jpg", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), []string{"Content-Encoding", "gzip"}, "415", "invalid_mime_type"},
			{"broken picture", "product-images/x.jpg", []byte("\xff\xd8\xff\xe0 no more"), nil, "415", "invalid_mime_type"},
			{"bomb", "product-images/x.png", storagetest.PNGHeader(50000, 50000), nil, "413", "Payload too large"},
			{"nothing", "product-images/x.jpg", nil, nil, "400", "InvalidRequest"},
			{"Cache-Control with a header in it", "product-images/x.jpg", jpeg, []string{"Cache-Control", "max-age=1, x=\"y\""}, "400", "InvalidParameter"},
			{"metadata is not base64", "product-images/x.jpg", jpeg, []string{"x-metadata", "{}"}, "400", "InvalidParameter"},
			{"metadata is not an object", "product-images/x.jpg", jpeg, []string{"x-metadata", base64.StdEncoding.EncodeToString([]byte(`"a"`))}, "400", "InvalidParameter"},
		} {
			rec := s.Call("admin", "POST", "/object/"+c.at, bytes.NewReader(c.body), c.headers...)
			t.Run(c.name, func(t *testing.T) { storagetest.Refused(t, rec, c.status, c.err) })
		}
		for at, kind := range map[string][]byte{"a.mp4": storagetest.ISO("isom"), "b.mov": storagetest.ISO("qt  "), "c.webm": storagetest.EBML("webm"), "d.mkv": storagetest.EBML("matroska"), "e.gif": storagetest.GIF(2, 2), "f": storagetest.WebPLossless()} {
			s.UploadFile("cover-images/"+at, kind, "Content-Type", "text/plain;charset=UTF-8") // as the client sends it from Node
			s.UploadFile("product-images/"+at, kind)
		}
		s.Holds(12)
	})
}

// Proves F-upload-name.
func TestBadNamesAreRefusedEverywhere(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, name := range []string{"%2e%2e/x.jpg", "a/%2e%2e/%2e%2e/x.jpg", "%252e%252e%252fx.jpg", "a%5cb.jpg", "a%00.jpg", "a%0d%0ab.jpg", "%ff.jpg", "a%2f%2fb.jpg", "%2fa.jpg", "a/%2e", strings.Repeat("a", 1025)} {
			for _, c := range []struct{ who, method, at string }{
				{"admin", "POST", "/object/product-images/"}, {"admin", "PUT", "/object/product-images/"}, {"admin", "DELETE", "/object/product-images/"},
				{"admin", "GET", "/object/product-images/"}, {"nobody", "GET", "/object/public/product-images/"},
			} {
				if e := storagetest.Refused(t, s.Call(c.who, c.method, c.at+name, bytes.NewReader(storagetest.JPEG(2, 2))), "400", "InvalidKey"); !strings.HasPrefix(e.Message, "Invalid key: ") {
					t.Errorf("%s %s: %+v", c.method, name, e)
				}
			}
		}
		s.Holds(0)
	})
}

// Proves F-upload-cache.
func TestCacheControl(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "max-age=3600"}, {"  ", "max-age=3600"}, {"max-age=0", "max-age=0"}, {"Max-Age=60", "max-age=60"}, {"max-age=31536000,immutable", "max-age=31536000, immutable"}, {"no-cache", "no-cache"},
		{"public , max-age=60,stale-while-revalidate=30", "public, max-age=60, stale-while-revalidate=30"}, {"max-age=2147483648", "max-age=2147483648"},
		{"max-age", ""}, {"max-age=", ""}, {"max-age=-1", ""}, {"max-age=1.5", ""}, {"max-age=2147483649", ""}, {"max-age=99999999999", ""}, {"max-age=undefined", ""}, {"immutable=1", ""},
		{"max-age=1;x", ""}, {"max-age=1\r\nx: y", ""}, {"hello", ""}, {",", ""}, {strings.Repeat("public,", 20) + "public", ""},
	} {
		got, err := parseCacheControl(c.in)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v", c.in, got, err)
		}
	}
}

// endless returns a file that begins with head and never ends.
func endless(head []byte) *countingReader {
	return &countingReader{r: io.MultiReader(bytes.NewReader(head), zeros{})}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Proves F-upload-size.
func TestTooLargeUploadIsStoppedImmediately(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		film := storagetest.ISO("isom")
		exact := io.MultiReader(bytes.NewReader(film), io.LimitReader(zeros{}, maxUpload-int64(len(film))))
		if rec := s.Call("admin", "POST", "/object/product-images/exact.mp4", exact); rec.Code != 200 {
			t.Errorf("a film of exactly the limit: %d %s", rec.Code, rec.Body)
		}
		body := endless(film)
		storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/a.mp4", body), "413", "Payload too large")
		if body.n > maxUpload+maxFormOverhead {
			t.Errorf("%d bytes were taken", body.n)
		}
		declared := endless(film)
		r := httptest.NewRequest("POST", "/storage/v1/object/product-images/b.mp4", declared)
		r.ContentLength = maxUpload + 1
		r.Header.Set("Authorization", "Bearer "+s.Keys["admin"])
		rec := httptest.NewRecorder()
		s.HTTP.ServeHTTP(rec, r)
		storagetest.Refused(t, rec, "413", "Payload too large")
		if declared.n != 0 {
			t.Errorf("%d bytes were read of a body with a too large Content-Length", declared.n)
		}
		border := "--b\r\nContent-Disposition: form-data; name=\"\"; filename=\"blob\"\r\n\r\n"
		storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/c.mp4", endless(append([]byte(border), film...)), "Content-Type", "multipart/form-data; boundary=b"), "413", "Payload too large")
		storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/d.mp4", endless([]byte("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n")), "Content-Type", "multipart/form-data; boundary=b"), "413", "Payload too large")
		storagetest.Refused(t, s.Call("admin", "POST", "/object/product-images/e.mp4", endless([]byte("no border ever comes")), "Content-Type", "multipart/form-data; boundary=b"), "400", "InvalidRequest")
		s.Holds(1)
	})
}

// Proves F-upload-size, F-render-bound.
func TestPicturesHaveTheirOwnLimit(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.cfg.MaxUpload = 2 << 30
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		head := storagetest.JPEG(40, 30)
		put := func(name string, size int64) (files.Object, int64, error) {
			body := &countingReader{r: io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, size-int64(len(head))))}
			o, err := s.Put(t.Context(), owner, "review-images", name, body, -1, PutOptions{})
			return o, body.n, err
		}
		if o, _, err := put("exact.jpg", 50<<20); err != nil || o.Size > 1<<10 { // bytes after the end of the picture are not published
			t.Errorf("50 MB: %+v, %v", o, err)
		}
		if used, err := usedBytes(t.Context(), d, "", ""); err != nil || used != 50<<20 { // but the original is kept and counted
			t.Errorf("%d bytes are counted, %v", used, err)
		}
		if _, n, err := put("over.jpg", 60<<20); apperr.From(err).Status != 413 || n > 50<<20+1<<20 {
			t.Errorf("60 MB: %v after %d bytes", err, n)
		}
		s.HoldsFiles(1, 2)
	})
}

// TestFilesAreNotReadIntoMemory uploads and serves a video that is much larger than the memory that may be allocated meanwhile.
func TestFilesAreNotReadIntoMemory(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.cfg.MaxUpload = 1 << 30
	if err := s.EnsureBuckets(t.Context()); err != nil {
		t.Fatal(err)
	}
	const size = 100 << 20
	film := storagetest.ISO("isom")
	border := "--b\r\nContent-Disposition: form-data; name=\"\"; filename=\"blob\"\r\n\r\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, body := range map[string]io.Reader{
		"raw.mp4":  io.MultiReader(bytes.NewReader(film), io.LimitReader(zeros{}, size)),
		"form.mp4": io.MultiReader(strings.NewReader(border), bytes.NewReader(film), io.LimitReader(zeros{}, size), strings.NewReader("\r\n--b--\r\n")),
	} {
		contentType := "application/octet-stream"
		if name == "form.mp4" {
			contentType = "multipart/form-data; boundary=b"
		}
		if rec := s.Call("admin", "POST", "/object/product-images/"+name, body, "Content-Type", contentType); rec.Code != 200 {
			t.Fatalf("%s: %d %s", name, rec.Code, rec.Body)
		}
		w := &countingWriter{header: http.Header{}}
		s.HTTP.ServeHTTP(w, httptest.NewRequest("GET", "/storage/v1/object/public/product-images/"+name, nil))
		if w.n != size+int64(len(film)) {
			t.Errorf("%d bytes were served", w.n)
		}
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size/10 {
		t.Errorf("%d bytes were allocated for 200 MB up and down", allocated)
	}
}

type countingWriter struct {
	header http.Header
	n      int64
}

func (w *countingWriter) Header() http.Header         { return w.header }
func (w *countingWriter) WriteHeader(int)             {}
func (w *countingWriter) Write(p []byte) (int, error) { w.n += int64(len(p)); return len(p), nil }

func TestFileIsRemovedIfItsRowCannotBeStored(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if _, err := d.Exec(t.Context(), "alter table storage_objects rename to elsewhere"); err != nil {
			t.Fatal(err)
		}
		rec := s.Call("admin", "POST", "/object/product-images/x.jpg", bytes.NewReader(storagetest.JPEG(2, 2)), "x-upsert", "true")
		var e storagetest.WireError
		storagetest.Decode(t, rec, &e)
		if rec.Code != 500 || e.StatusCode != "500" || strings.Contains(rec.Body.String(), "storage_objects") {
			t.Errorf("got %d %s", rec.Code, rec.Body)
		}
		if left := s.Files(); len(left) != 0 || s.Count("storage_trash") != 0 {
			t.Errorf("left %v", left)
		}
		if _, err := d.Exec(t.Context(), "alter table elsewhere rename to storage_objects"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "alter table storage_trash rename to elsewhere"); err != nil {
			t.Fatal(err)
		}
		if rec := s.Call("admin", "POST", "/object/product-images/x.jpg", bytes.NewReader(storagetest.JPEG(2, 2))); rec.Code != 500 {
			t.Errorf("got %d %s", rec.Code, rec.Body)
		}
		if left := s.Files(); len(left) != 0 || s.Count("storage_objects") != 0 {
			t.Errorf("left %v", left)
		}
	})
}

func TestDiskErrorIsAServerError(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if err := os.RemoveAll(filepath.Join(s.Root, "tmp")); err != nil {
			t.Fatal(err)
		}
		_, err := s.Put(t.Context(), owner, "product-images", "x.jpg", bytes.NewReader(storagetest.JPEG(2, 2)), -1, PutOptions{})
		if apperr.From(err).Status != 500 {
			t.Errorf("got %v", err)
		}
	})
}

func TestPutByTheProgram(t *testing.T) {
	content := storagetest.PNG(5, 5)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		o, err := s.Put(t.Context(), owner, "cover-images", "a.png", bytes.NewReader(content), int64(len(content)), PutOptions{CacheControl: "max-age=60", Metadata: map[string]any{"a": 1}})
		if err != nil || o != s.Object("cover-images", "a.png") || s.PublicFile("cover-images/a.png") != string(content) {
			t.Errorf("got %+v, %v", o, err)
		}
		for _, c := range []struct {
			name string
			ctx  context.Context
			who  identity.Caller
			at   string
			body io.Reader
			size int64
			opts PutOptions
			code string
		}{
			{"anonymous", t.Context(), identity.Caller{Role: identity.Anon}, "b.png", bytes.NewReader(content), -1, PutOptions{}, "AccessDenied"},
			{"nobody", t.Context(), identity.Caller{}, "b.png", bytes.NewReader(content), -1, PutOptions{}, "AccessDenied"},
			{"taken", t.Context(), owner, "a.png", bytes.NewReader(content), -1, PutOptions{}, "ResourceAlreadyExists"},
			{"shorter than said", t.Context(), owner, "b.png", bytes.NewReader(content), int64(len(content)) + 1, PutOptions{}, "InvalidRequest"},
			{"longer than said", t.Context(), owner, "b.png", bytes.NewReader(content), int64(len(content)) - 1, PutOptions{}, "InvalidRequest"},
			{"breaks off", t.Context(), owner, "b.png", io.MultiReader(bytes.NewReader(content), iotest.ErrReader(io.ErrUnexpectedEOF)), -1, PutOptions{}, "InvalidRequest"},
			{"given up", cancelled, owner, "b.png", bytes.NewReader(content), -1, PutOptions{Upsert: true}, ""},
			{"cache", t.Context(), owner, "b.png", bytes.NewReader(content), -1, PutOptions{CacheControl: "x"}, "InvalidParameter"},
			{"metadata", t.Context(), owner, "b.png", bytes.NewReader(content), -1, PutOptions{Metadata: map[string]any{"a": func() {}}}, "InvalidParameter"},
		} {
			if _, err := s.Put(c.ctx, c.who, "cover-images", c.at, c.body, c.size, c.opts); err == nil || (c.code != "" && apperr.From(err).Code != c.code) {
				t.Errorf("%s: got %v", c.name, err)
			}
		}
		s.Holds(1)
	})
}

func TestConcurrentUploadsOfOneName(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		var (
			wg      sync.WaitGroup
			mu      sync.Mutex
			created int
		)
		for i := range 8 {
			content := storagetest.PNG(i+1, 3)
			wg.Go(func() {
				switch _, err := s.Put(t.Context(), owner, "product-images", "first.png", bytes.NewReader(content), -1, PutOptions{}); {
				case err == nil:
					mu.Lock()
					created++
					mu.Unlock()
				case apperr.From(err).Code != "ResourceAlreadyExists":
					t.Error(err)
				}
				for range 5 {
					if _, err := s.Put(t.Context(), owner, "product-images", "last.png", bytes.NewReader(content), -1, PutOptions{Upsert: true}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if created != 1 {
			t.Errorf("%d uploads succeeded", created)
		}
		s.Holds(2)
	})
}
