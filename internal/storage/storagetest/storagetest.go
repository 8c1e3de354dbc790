// Package storagetest provides a store, example files and requests for tests of packages storage and media.
package storagetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

// Ids of the accounts for which a Site has tokens.
const (
	AdminID = "11111111-1111-4111-8111-111111111111"
	UserID  = "22222222-2222-4222-8222-222222222222"
)

// Site is the fixture of a test of packages storage and media: a database, an empty store, tokens and a clock.
type Site struct {
	T     *testing.T
	DB    *db.DB
	Blobs blob.Store
	Root  string                  // the folder with the store's files; for an S3 bucket, the folder of the test's S3 server
	Clock time.Time               // the current time of the site; the test changes it
	HTTP  http.Handler            // handles the requests of Call; set by the test
	Keys  map[string]string       // tokens for Call by name: anon, user, admin, service, expired, forged, and nobody, which is ""
	Auth  *identity.Authenticator // checks these tokens
}

// New returns a Site with a new store. The store is an S3 bucket in the subtests that Each runs for S3, and a folder in all other tests.
func New(t *testing.T, d *db.DB) *Site {
	t.Helper()
	root := t.TempDir()
	var (
		blobs blob.Store
		err   error
	)
	if strings.HasSuffix(t.Name(), "/"+s3Subtest) {
		cfg := blobtest.Bucket(t)
		root = blobtest.Folder(cfg.Bucket)
		blobs, err = blob.NewS3(t.Context(), cfg)
	} else {
		blobs, err = blob.NewDisk(root, blob.Unbounded)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := NewWithStore(t, d, blobs)
	s.Root = root
	return s
}

// NewWithStore returns a Site with a given store. The Site's tokens are valid for a day of the Site's clock.
func NewWithStore(t *testing.T, d *db.DB, blobs blob.Store) *Site {
	t.Helper()
	s := &Site{T: t, DB: d, Blobs: blobs}
	s.Clock = time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
	tokens := identity.New(identity.Config{Secret: []byte("a secret for tests, long enough to sign")}, s.Now)
	s.Keys = map[string]string{"forged": "x.y.z", "nobody": ""}
	for who, claims := range map[string]jwt.MapClaims{
		"anon":    {"role": "anon", "exp": s.Clock.AddDate(0, 0, 1).Unix()},
		"user":    {"role": "authenticated", "sub": UserID, "exp": s.Clock.AddDate(0, 0, 1).Unix()},
		"admin":   {"role": "authenticated", "sub": AdminID, "exp": s.Clock.AddDate(0, 0, 1).Unix()},
		"service": {"role": "service_role", "exp": s.Clock.AddDate(0, 0, 1).Unix()},
		"expired": {"role": "authenticated", "sub": AdminID, "exp": s.Clock.Add(-time.Hour).Unix()},
	} {
		var err error
		if s.Keys[who], err = tokens.Sign(claims); err != nil {
			t.Fatal(err)
		}
	}
	s.Auth = &identity.Authenticator{Tokens: tokens, IsAdmin: func(_ context.Context, user, _ string) (bool, error) { return user == AdminID, nil }}
	return s
}

// Now returns the time of the site's clock.
func (s *Site) Now() time.Time { return s.Clock }

// s3Subtest is the name of the subtests with an S3 bucket.
const s3Subtest = "s3"

// Each runs a test four times: on both databases, each with files on disk and in an S3 bucket.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		t.Run("disk", func(t *testing.T) { fn(t, d) })
		t.Run(s3Subtest, func(t *testing.T) { fn(t, dbtest.Open(t, d.Dialect)) })
	})
}

// Files lists all files in the store's folder.
func (s *Site) Files() []string {
	s.T.Helper()
	var found []string
	err := filepath.WalkDir(s.Root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, strings.TrimPrefix(p, s.Root+"/"))
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return found
}

// Holds checks the number of objects, and that the store has one file for each and nothing else.
func (s *Site) Holds(objects int) {
	s.T.Helper()
	s.HoldsFiles(objects, objects)
}

// HoldsFiles is Holds for objects that have originals or renditions: want is the number of files.
func (s *Site) HoldsFiles(objects, want int) {
	s.T.Helper()
	if rows, files, pending := s.Count("storage_objects"), s.Files(), s.Count("storage_trash"); rows != objects || len(files) != want || pending != 0 {
		s.T.Errorf("%d rows, %d files (%v …), %d pending; want %d objects in %d files", rows, len(files), files[:min(3, len(files))], pending, objects, want)
	}
}

// PublicFile requests an object at its public URL and returns its bytes.
func (s *Site) PublicFile(bucketAndName string) string {
	s.T.Helper()
	rec := s.Call("nobody", "GET", "/object/public/"+bucketAndName, nil)
	if rec.Code != 200 {
		s.T.Fatalf("%s: %d %s", bucketAndName, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// Change sends a JSON body to a call, "move" or "copy".
func (s *Site) Change(who, call, body string, headers ...string) *httptest.ResponseRecorder {
	s.T.Helper()
	return s.Call(who, "POST", "/object/"+call, strings.NewReader(body), headers...)
}

// SignedURL requests a signed URL and encodes it as the client does.
func (s *Site) SignedURL(who, bucketAndName, body string) string {
	s.T.Helper()
	rec := s.Call(who, "POST", "/object/sign/"+bucketAndName, strings.NewReader(body))
	var answer struct {
		SignedURL string `json:"signedURL"`
	}
	Decode(s.T, rec, &answer)
	path, query, ok := strings.Cut(answer.SignedURL, "?")
	if rec.Code != 200 || !ok {
		s.T.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// Uploaded is the body of the response to an upload.
type Uploaded struct {
	ID  string `json:"Id"`
	Key string `json:"Key"`
}

// Call sends a request to a URL below /storage/v1 with the token of who, or none for "nobody". headers are pairs of
// name and value.
func (s *Site) Call(who, method, address string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), method, "/storage/v1"+address, body)
	if key := s.Keys[who]; key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	} else if who != "nobody" {
		s.T.Fatalf("who is %q", who)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	s.HTTP.ServeHTTP(rec, r)
	return rec
}

// UploadFile uploads a file as the owner. It fails the test if the upload fails.
func (s *Site) UploadFile(bucketAndName string, content []byte, headers ...string) Uploaded {
	s.T.Helper()
	rec := s.Call("admin", "POST", "/object/"+bucketAndName, bytes.NewReader(content), headers...)
	if rec.Code != 200 {
		s.T.Fatalf("upload of %s: %d %s", bucketAndName, rec.Code, rec.Body)
	}
	var u Uploaded
	Decode(s.T, rec, &u)
	return u
}

// Decode reads a JSON response.
func Decode(t *testing.T, rec *httptest.ResponseRecorder, dst any) {
	t.Helper()
	if err := json.Unmarshal(rec.Body.Bytes(), dst); err != nil {
		t.Fatalf("%v in %s", err, rec.Body)
	}
}

// WireError is the body of an error.
type WireError struct{ StatusCode, Error, Message, Code string }

// Refused checks that a response is an error in the form of storage.WriteError: HTTP 400 (401 for statusCode "401"), with
// statusCode and the word of the field "error" in the body.
func Refused(t *testing.T, rec *httptest.ResponseRecorder, statusCode, word string) WireError {
	t.Helper()
	var e WireError
	want := http.StatusBadRequest
	if statusCode == "401" {
		want = http.StatusUnauthorized
	}
	Decode(t, rec, &e)
	if rec.Code != want || e.StatusCode != statusCode || e.Error != word || e.Message == "" || e.Code == "" {
		t.Errorf("got HTTP %d %s, want %d with %s %s", rec.Code, rec.Body, want, statusCode, word)
	}
	return e
}

// WantJSON checks that a response is 200 and its body equals want as JSON.
func WantJSON(t *testing.T, rec *httptest.ResponseRecorder, want any) {
	t.Helper()
	var got, expected any
	Decode(t, rec, &got)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	if rec.Code != 200 || !reflect.DeepEqual(got, expected) {
		t.Errorf("%d\n got %s\nwant %s", rec.Code, rec.Body, text)
	}
}

// Picture returns an image of a size in pixels.
func Picture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w {
		img.Set(i, i%h, color.RGBA{uint8(i), 100, 200, 255})
	}
	return img
}

// encoded returns the bytes that encode writes.
func encoded(encode func(io.Writer) error) []byte {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// PNG returns a PNG of a size in pixels.
func PNG(w, h int) []byte {
	return encoded(func(out io.Writer) error { return png.Encode(out, Picture(w, h)) })
}

// JPEG returns a JPEG of a size in pixels.
func JPEG(w, h int) []byte {
	return encoded(func(out io.Writer) error { return jpeg.Encode(out, Picture(w, h), nil) })
}

// GIF returns a GIF of a size in pixels.
func GIF(w, h int) []byte {
	return encoded(func(out io.Writer) error { return gif.Encode(out, Picture(w, h), nil) })
}

// WebPLossless returns a lossless WebP of one pixel.
func WebPLossless() []byte { return fromBase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==") }

// WebPLossy returns a lossy WebP of one pixel.
func WebPLossy() []byte {
	return fromBase64("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
}

func fromBase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// ISO returns a file that begins like an MP4 or MOV with these brands. It is no valid video.
func ISO(major string, compatible ...string) []byte {
	box := major + "\x00\x00\x02\x00" + strings.Join(compatible, "")
	return append([]byte{0, 0, 0, byte(8 + len(box))}, "ftyp"+box+"\x00\x00\x00\x08free"+strings.Repeat("film", 50)...)
}

// EBML returns a file that begins like a WebM or Matroska with this document type. It is no valid video.
func EBML(docType string) []byte {
	header := "\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82" + string([]byte{0x80 | byte(len(docType))}) + docType + "\x42\x87\x81\x04"
	return append([]byte{0x1a, 0x45, 0xdf, 0xa3, 0x01, 0, 0, 0, 0, 0, 0, byte(len(header))}, header+"\x18\x53\x80\x67"+strings.Repeat("film", 50)...)
}

// Photo returns a JPEG whose colours change across the picture.
func Photo(w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), 90, 255})
		}
	}
	return encoded(func(out io.Writer) error { return jpeg.Encode(out, img, nil) })
}

// WithComment adds a comment to a JPEG. Cleaning the file removes it.
func WithComment(file []byte, text string) []byte {
	segment := append([]byte{0xff, 0xfe, byte((len(text) + 2) >> 8), byte(len(text) + 2)}, text...)
	return slices.Concat(file[:2], segment, file[2:])
}

// WithPreview adds EXIF with an orientation and a preview to a JPEG, as cameras do.
func WithPreview(file []byte, orientation byte, preview []byte) []byte {
	const mainDirectory, previewDirectory = "\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00%c\x00\x00\x00\x00\x00\x1a",
		"\x00\x02\x02\x01\x00\x04\x00\x00\x00\x01\x00\x00\x00\x38\x02\x02\x00\x04\x00\x00\x00\x01\x00\x00"
	exif := fmt.Appendf(nil, "Exif\x00\x00MM\x00*\x00\x00\x00\x08"+mainDirectory+previewDirectory, orientation)
	exif = append(binary.BigEndian.AppendUint16(exif, uint16(len(preview))), 0, 0, 0, 0)
	exif = append(exif, preview...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return slices.Concat(file[:2], segment, exif, file[2:])
}

// Field is a field of a form. The field with the file has an empty Name, as the client sends it.
type Field struct{ Name, Value string }

// Form returns a multipart form as a body, and its Content-Type.
func Form(t *testing.T, fields ...Field) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		var (
			part io.Writer
			err  error
		)
		if f.Name == "" {
			part, err = w.CreateFormFile("", "blob")
		} else {
			part, err = w.CreateFormField(f.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// NoisyFilm returns a file of size bytes that begins like an MP4 and goes on with random bytes, so that a test notices a
// piece in the wrong place. seed selects the bytes.
func NoisyFilm(size int, seed byte) []byte {
	out := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{seed}).Read(out); err != nil {
		panic(err)
	}
	copy(out, "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41")
	return out
}

// PNGHeader returns a PNG whose header claims the given size; it has the pixels of a picture of 1 × 1.
func PNGHeader(w, h int) []byte {
	b := PNG(1, 1)
	binary.BigEndian.PutUint32(b[16:], uint32(w))
	binary.BigEndian.PutUint32(b[20:], uint32(h))
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}
