package storage

import (
	"bytes"
	"context"
	"encoding/base64"
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
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

// TestMain is the program that TestKilledProcess kills when that test has started it, and the tests otherwise.
func TestMain(m *testing.M) {
	if address := os.Getenv("UPLOAD_DATABASE"); address != "" {
		fmt.Fprintln(os.Stderr, uploadForever(address, os.Getenv("UPLOAD_FOLDER")))
		os.Exit(1)
	}
	blobtest.Main(m, dbtest.Stop)
}

const (
	adminID   = "11111111-1111-4111-8111-111111111111"
	visitorID = "22222222-2222-4222-8222-222222222222"
	maxUpload = 8 << 20
)

// site is the surface as the program wires it, on a fresh database and folder.
type site struct {
	*Service
	t     *testing.T
	root  string
	http  http.Handler
	clock time.Time
	keys  map[string]string
}

func newSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	s := &site{t: t, root: t.TempDir()}
	blobs, err := s.openBlobs()
	if err != nil {
		t.Fatal(err)
	}
	return s.on(d, blobs)
}

// on wires the surface to a store.
func (s *site) on(d *db.DB, blobs blob.Store) *site {
	t := s.t
	t.Helper()
	s.clock = time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
	now := func() time.Time { return s.clock }
	s.Service = New(d, blobs, Config{MaxUpload: maxUpload, SignKey: []byte("a key for addresses alone, in tests")}, now)
	if err := s.EnsureBuckets(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens := identity.NewTokens([]byte("a secret for tests, long enough to sign"), now)
	s.keys = map[string]string{"forged": "x.y.z", "nobody": ""}
	for who, claims := range map[string]jwt.MapClaims{
		"anon":    {"role": "anon", "exp": s.clock.AddDate(0, 0, 1).Unix()},
		"user":    {"role": "authenticated", "sub": visitorID, "exp": s.clock.AddDate(0, 0, 1).Unix()},
		"admin":   {"role": "authenticated", "sub": adminID, "exp": s.clock.AddDate(0, 0, 1).Unix()},
		"service": {"role": "service_role", "exp": s.clock.AddDate(0, 0, 1).Unix()},
		"expired": {"role": "authenticated", "sub": adminID, "exp": s.clock.Add(-time.Hour).Unix()},
	} {
		var err error
		if s.keys[who], err = tokens.Sign(claims); err != nil {
			t.Fatal(err)
		}
	}
	s.http = s.routes(&identity.Authenticator{Tokens: tokens, IsAdmin: func(_ context.Context, user, _ string) (bool, error) { return user == adminID, nil }})
	return s
}

// each runs a test on both databases with files on disk and in a bucket; newSite takes the store from the test's name.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		t.Run("disk", func(t *testing.T) { fn(t, d) })
		t.Run(inBucket, func(t *testing.T) { fn(t, dbtest.Open(t, d.Dialect)) })
	})
}

const inBucket = "s3"

func (s *site) openBlobs() (blob.Store, error) {
	if !strings.HasSuffix(s.t.Name(), "/"+inBucket) {
		return blob.NewDisk(s.root)
	}
	cfg := blobtest.Bucket(s.t)
	s.root = blobtest.Folder(cfg.Bucket)
	return blob.NewS3(s.t.Context(), cfg)
}

func (s *site) routes(auth *identity.Authenticator) http.Handler {
	mux := http.NewServeMux()
	guard := httpx.Guard(auth, WriteError)
	for pattern, h := range map[string]httpx.Handler{
		"POST /storage/v1/object/{bucket}/{path...}":                    s.Upload,
		"PUT /storage/v1/object/{bucket}/{path...}":                     s.Replace,
		"GET /storage/v1/object/{bucket}/{path...}":                     s.Download,
		"GET /storage/v1/object/authenticated/{bucket}/{path...}":       s.Download,
		"POST /storage/v1/object/list/{bucket}":                         s.List,
		"DELETE /storage/v1/object/{bucket}":                            s.Remove,
		"DELETE /storage/v1/object/{bucket}/{path...}":                  s.RemoveOne,
		"GET /storage/v1/bucket":                                        s.Buckets,
		"GET /storage/v1/bucket/{bucket}":                               s.Bucket,
		"POST /storage/v1/bucket":                                       s.CreateBucket,
		"PUT /storage/v1/bucket/{bucket}":                               s.UpdateBucket,
		"POST /storage/v1/bucket/{bucket}/empty":                        s.EmptyBucket,
		"DELETE /storage/v1/bucket/{bucket}":                            s.DeleteBucket,
		"POST /storage/v1/object/sign/{bucket}/{path...}":               s.Sign,
		"POST /storage/v1/object/sign/{bucket}":                         s.SignMany,
		"POST /storage/v1/object/upload/sign/{bucket}/{path...}":        s.SignUpload,
		"GET /storage/v1/object/info/{bucket}/{path...}":                s.Info,
		"POST /storage/v1/object/list-v2/{bucket}":                      s.ListV2,
		"POST /storage/v1/object/move":                                  s.Move,
		"POST /storage/v1/object/copy":                                  s.Copy,
		"GET /storage/v1/render/image/authenticated/{bucket}/{path...}": s.Render,
	} {
		mux.Handle(pattern, guard(httpx.Handle(WriteError, h)))
	}
	for pattern, h := range map[string]httpx.Handler{
		"GET /storage/v1/object/public/{bucket}/{path...}":       s.Public,
		"GET /storage/v1/object/sign/{bucket}/{path...}":         s.Signed,
		"PUT /storage/v1/object/upload/sign/{bucket}/{path...}":  s.SignedUpload,
		"GET /storage/v1/object/info/public/{bucket}/{path...}":  s.PublicInfo,
		"GET /storage/v1/render/image/public/{bucket}/{path...}": s.RenderPublic,
		"GET /storage/v1/render/image/sign/{bucket}/{path...}":   s.RenderSigned,
	} {
		mux.Handle(pattern, httpx.Handle(WriteError, h))
	}
	return mux
}

// call sends a request to an address below /storage/v1 with the key of who; headers come in pairs.
func (s *site) call(who, method, address string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/storage/v1"+address, body)
	if key := s.keys[who]; key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	} else if who != "nobody" {
		s.t.Fatalf("who is %q", who)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

// upload puts a file as the owner and fails the test when that does not work.
func (s *site) upload(bucketAndName string, content []byte, headers ...string) uploaded {
	s.t.Helper()
	rec := s.call("admin", "POST", "/object/"+bucketAndName, bytes.NewReader(content), headers...)
	if rec.Code != 200 {
		s.t.Fatalf("upload of %s: %d %s", bucketAndName, rec.Code, rec.Body)
	}
	var u uploaded
	decode(s.t, rec, &u)
	return u
}

func decode(t *testing.T, rec *httptest.ResponseRecorder, dst any) {
	t.Helper()
	if err := json.Unmarshal(rec.Body.Bytes(), dst); err != nil {
		t.Fatalf("%v in %s", err, rec.Body)
	}
}

type wireError struct{ StatusCode, Error, Message, Code string }

// refused checks an error in the contract's shape: HTTP 400 around the true status.
func refused(t *testing.T, rec *httptest.ResponseRecorder, statusCode, word string) wireError {
	t.Helper()
	var e wireError
	want := http.StatusBadRequest
	if statusCode == "401" {
		want = http.StatusUnauthorized
	}
	decode(t, rec, &e)
	if rec.Code != want || e.StatusCode != statusCode || e.Error != word || e.Message == "" || e.Code == "" {
		t.Errorf("got HTTP %d %s, want %d with %s %s", rec.Code, rec.Body, want, statusCode, word)
	}
	return e
}

// files lists what lies in the store's folder.
func (s *site) files() []string {
	s.t.Helper()
	var found []string
	err := filepath.WalkDir(s.root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, strings.TrimPrefix(p, s.root+"/"))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

func (s *site) count(table string) int {
	s.t.Helper()
	var n int
	if err := s.db.QueryRow(context.Background(), "select count(*) from "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// holds checks how many objects there are, and that the folder holds their files and nothing else.
func (s *site) holds(objects int) {
	s.t.Helper()
	s.holdsFiles(objects, objects)
}

// holdsFiles is holds for objects with originals or renditions beside their files.
func (s *site) holdsFiles(objects, want int) {
	s.t.Helper()
	if rows, files, trash := s.count("storage_objects"), s.files(), s.count("storage_trash"); rows != objects || len(files) != want || trash != 0 {
		s.t.Errorf("%d rows, %d files (%v …), %d in the trash; want %d objects in %d files", rows, len(files), files[:min(3, len(files))], trash, objects, want)
	}
}

func picture(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w {
		img.Set(i, i%h, color.RGBA{uint8(i), 100, 200, 255})
	}
	return img
}

func pngFile(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, picture(w, h)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegFile(w, h int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(w, h), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func gifFile(w, h int) []byte {
	var b bytes.Buffer
	if err := gif.Encode(&b, picture(w, h), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Two pictures of one pixel, lossless and lossy.
func webpLossless() []byte { return fromBase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==") }
func webpLossy() []byte {
	return fromBase64("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
}

func fromBase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// isoFile begins as MP4, MOV and their relatives do.
func isoFile(major string, compatible ...string) []byte {
	box := major + "\x00\x00\x02\x00" + strings.Join(compatible, "")
	return append([]byte{0, 0, 0, byte(8 + len(box))}, "ftyp"+box+"\x00\x00\x00\x08free"+strings.Repeat("film", 50)...)
}

// ebmlFile begins as WebM and Matroska do.
func ebmlFile(docType string) []byte {
	header := "\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82" + string([]byte{0x80 | byte(len(docType))}) + docType + "\x42\x87\x81\x04"
	return append([]byte{0x1a, 0x45, 0xdf, 0xa3, 0x01, 0, 0, 0, 0, 0, 0, byte(len(header))}, header+"\x18\x53\x80\x67"+strings.Repeat("film", 50)...)
}

// field is a part of a form; the file has no name, as the client sends it.
type field struct{ name, value string }

func formBody(t *testing.T, fields ...field) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		var (
			part io.Writer
			err  error
		)
		if f.name == "" {
			part, err = w.CreateFormFile("", "blob")
		} else {
			part, err = w.CreateFormField(f.name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, f.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func crcOf(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// same compares an answer as JSON.
func same(t *testing.T, rec *httptest.ResponseRecorder, want any) {
	t.Helper()
	var got, expected any
	decode(t, rec, &got)
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
