package resumable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/media"
	"atelie/internal/s3client"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

var (
	owner      = identity.Caller{Role: identity.Authenticated, UserID: "11111111-1111-4111-8111-111111111111", Admin: true}
	otherAdmin = identity.Caller{Role: identity.Authenticated, UserID: "22222222-2222-4222-8222-222222222222", Admin: true}
	visitor    = identity.Caller{Role: identity.Anon}
)

const (
	maxUpload = 40 << 20
	life      = 24 * time.Hour // of an unfinished upload
)

// site has two nodes with the same database and file store.
type site struct {
	t     *testing.T
	nodes [2]*node
	left  func() []string // the names of the files in the store
	moved time.Duration   // how far the clock is ahead of the real time
}

// node is one of several programs with the same database and store.
type node struct {
	*Service
	files *storage.Service
	blobs blob.Store
	http  http.Handler
}

// each runs a test on both databases with both stores.
func each(t *testing.T, fn func(t *testing.T, s *site)) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, store := range []string{"disk", "s3"} {
			t.Run(string(dialect)+"/"+store, func(t *testing.T) {
				d := dbtest.Open(t, dialect)
				s := &site{t: t}
				root, cfg := t.TempDir(), s3client.Config{}
				if store == "s3" {
					cfg = blobtest.Bucket(t)
					root = blobtest.Folder(cfg.Bucket)
				}
				s.left = func() []string { return listFiles(t, root) }
				for i := range s.nodes {
					var (
						blobs blob.Store
						err   error
					)
					if store == "s3" {
						blobs, err = blob.NewS3(t.Context(), cfg)
					} else {
						blobs, err = blob.NewDisk(root, blob.Unbounded)
					}
					if err != nil {
						t.Fatal(err)
					}
					s.nodes[i] = s.node(d, blobs)
				}
				fn(t, s)
			})
		}
	}
}

func (s *site) now() time.Time { return time.Now().Add(s.moved) }

func (s *site) node(d *db.DB, blobs blob.Store) *node {
	log := slog.New(slog.DiscardHandler)
	stored := storage.NewBlobs(d, blobs, storage.NoRecorder, log, s.now)
	n := &node{files: storage.New(d, stored, media.New(d, stored, media.Config{}, log, s.now), storage.Config{MaxUpload: maxUpload, SignKey: []byte("a key for signed addresses, of tests")}, s.now), blobs: blobs}
	if err := n.files.EnsureBuckets(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	var err error
	if n.Service, err = New(d, n.files, "https://api.example", maxUpload, life, log, s.now); err != nil {
		s.t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range map[string]httpx.Handler{
		"OPTIONS " + Path: n.Options, "POST " + Path: n.Create, "HEAD " + Path + "/{id}": n.Head, "PATCH " + Path + "/{id}": n.Patch, "DELETE " + Path + "/{id}": n.Delete,
		"POST " + SignedPath: n.Signed(n.Create), "HEAD " + SignedPath + "/{id}": n.Signed(n.Head), "PATCH " + SignedPath + "/{id}": n.Signed(n.Patch), "DELETE " + SignedPath + "/{id}": n.Signed(n.Delete),
		"POST /storage/v1/object/upload/sign/{bucket}/{path...}": n.files.SignUpload,
		"GET /storage/v1/object/public/{bucket}/{path...}":       n.files.Public,
	} {
		mux.Handle(pattern, httpx.Handle(storage.WriteError, h))
	}
	n.http = mux
	return n
}

func listFiles(t *testing.T, root string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// call sends a request of the protocol to a node. headers are pairs of name and value.
func (s *site) call(at int, who identity.Caller, method, address string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(identity.With(s.t.Context(), who), method, strings.TrimPrefix(address, "https://api.example"), body)
	r.Header.Set("Tus-Resumable", "1.0.0")
	if method == "PATCH" {
		r.Header.Set("Content-Type", "application/offset+octet-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	s.nodes[at].http.ServeHTTP(rec, r)
	return rec
}

func metadata(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return strings.Join(out, ",")
}

func (s *site) create(name string, size int, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.call(0, owner, "POST", Path, http.NoBody, append([]string{"Upload-Length", strconv.Itoa(size),
		"Upload-Metadata", metadata("bucketName", "product-images", "objectName", name, "contentType", "video/mp4", "cacheControl", "60", "metadata", `{"a":1}`)}, headers...)...)
}

func (s *site) begin(name string, size int, headers ...string) string {
	s.t.Helper()
	rec := s.create(name, size, headers...)
	if rec.Code != 201 || !strings.HasPrefix(rec.Header().Get("Location"), "https://api.example"+Path+"/") || rec.Header().Get("Upload-Expires") == "" {
		s.t.Fatalf("create: %d %s %v", rec.Code, rec.Body, rec.Header())
	}
	return rec.Header().Get("Location")
}

func (s *site) patch(at int, address string, offset int, data []byte) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.call(at, owner, "PATCH", address, bytes.NewReader(data), "Upload-Offset", strconv.Itoa(offset))
}

func (s *site) offset(at int, address string) string {
	s.t.Helper()
	rec := s.call(at, owner, "HEAD", address, http.NoBody)
	return strconv.Itoa(rec.Code) + " " + rec.Header().Get("Upload-Offset")
}

func (s *site) public(name string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.call(1, visitor, "GET", "/storage/v1/object/public/product-images/"+name, http.NoBody)
}

func film(size int) []byte {
	head := []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41")
	out := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(size)})
	if _, err := r.Read(out); err != nil {
		panic(err)
	}
	copy(out, head)
	return out
}

// broken returns its bytes and then an error, like a broken connection.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Proves F-tus-create, F-tus-metadata, F-tus-told, F-tus-delete.
func TestUploadContinuesOnAnyNode(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(21<<20 + 11)
		address := s.begin("a.mp4", len(content))
		cut := s.call(0, owner, "PATCH", address, broken{bytes.NewReader(content[:7<<20])}, "Upload-Offset", "0")
		if cut.Code < 400 {
			t.Errorf("a cut request: %d", cut.Code)
		}
		at := 7 << 20
		for i, size := range []int{1 << 20, 10, 6 << 20, 6 << 20} {
			if got := s.offset(i%2, address); got != "200 "+strconv.Itoa(at) {
				t.Fatalf("after %d bytes: %s", at, got)
			}
			if rec := s.patch(1-i%2, address, at, content[at:at+size]); rec.Code != 204 {
				t.Fatalf("patch: %d %s", rec.Code, rec.Body)
			}
			at += size
		}
		if rec := s.public("a.mp4"); rec.Code != 400 {
			t.Errorf("seen before it was whole: %d", rec.Code)
		}
		if rec := s.patch(0, address, at-1, content[at-1:]); rec.Code != 409 {
			t.Errorf("wrong offset: %d", rec.Code)
		}
		if rec := s.patch(0, address, at, content[at:]); rec.Code != 204 {
			t.Fatalf("the last piece: %d %s", rec.Code, rec.Body)
		}
		got := s.public("a.mp4")
		if got.Code != 200 || !bytes.Equal(got.Body.Bytes(), content) || got.Header().Get("Content-Type") != "video/mp4" || got.Header().Get("Cache-Control") != "max-age=60" {
			t.Errorf("%d, %d bytes, %v", got.Code, got.Body.Len(), got.Header())
		}
		if got := s.offset(1, address); got != "200 "+strconv.Itoa(len(content)) {
			t.Errorf("after the end: %s", got)
		}
		if rec := s.call(0, owner, "DELETE", address, http.NoBody); rec.Code != 204 {
			t.Errorf("delete after the end: %d", rec.Code)
		}
		if s.public("a.mp4").Code != 200 {
			t.Error("ending an upload removed its object")
		}
		if left := s.left(); len(left) != 1 {
			t.Errorf("left %v", left)
		}
	})
}

// Proves F-tus-metadata, F-tus-upsert, F-tus-size, F-tus-refused.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(5000)
		address := s.begin("kept.mp4", len(content))
		for name, who := range map[string]identity.Caller{"another admin": otherAdmin, "a visitor": visitor} {
			for method, body := range map[string]io.Reader{"HEAD": http.NoBody, "DELETE": http.NoBody, "PATCH": bytes.NewReader(content)} {
				if rec := s.call(1, who, method, address, body, "Upload-Offset", "0"); rec.Code != 404 {
					t.Errorf("%s by %s: %d", method, name, rec.Code)
				}
			}
		}
		if rec := s.patch(0, address, 0, content); rec.Code != 204 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		for name, c := range map[string]struct {
			rec  *httptest.ResponseRecorder
			want int
		}{
			"exists":                  {s.create("kept.mp4", 10), 409},
			"key":                     {s.create("../x.mp4", 10), 400},
			"too large":               {s.create("x.mp4", maxUpload+1), 413},
			"empty":                   {s.create("x.mp4", 0), 400},
			"no length":               {s.create("x.mp4", 10, "Upload-Length", "many"), 400},
			"deferred":                {s.create("x.mp4", 10, "Upload-Defer-Length", "1"), 400},
			"parts":                   {s.create("x.mp4", 10, "Upload-Concat", "partial"), 400},
			"length later":            {s.call(0, owner, "PATCH", address, http.NoBody, "Upload-Offset", "0", "Upload-Length", "9"), 400},
			"no metadata":             {s.create("x.mp4", 10, "Upload-Metadata", ""), 400},
			"bad metadata":            {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4", "metadata", "[")), 400},
			"broken text in metadata": {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4", "metadata", "{\"a\":\"\xff\"}")), 400},
			"a NUL in metadata":       {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4", "metadata", `{"a":"\u0000"}`)), 400},
			"a broken name":           {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x\xff.mp4")), 400},
			"a broken bucket":         {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "\xff\x00", "objectName", "x.mp4")), 404},
			"a broken age":            {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4", "cacheControl", "\xff")), 400},
			"a broken type":           {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4", "contentType", "\xff\x00")), 201},
			"a broken type alone":     {s.create("y.mp4", 10, "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "y.mp4", "contentType", "video/\xff")), 201},
			"no such bucket":          {s.create("x.mp4", 10, "Upload-Metadata", metadata("bucketName", "secrets", "objectName", "x.mp4")), 404},
			"version":                 {s.create("x.mp4", 10, "Tus-Resumable", "0.2.0"), 412},
			"visitor":                 {s.call(0, visitor, "POST", Path, http.NoBody, "Upload-Length", "10", "Upload-Metadata", metadata("bucketName", "product-images", "objectName", "x.mp4")), 403},
			"not an id":               {s.call(0, owner, "HEAD", Path+"/zzz", http.NoBody), 404},
		} {
			if c.rec.Code != c.want {
				t.Errorf("%s: %d %s", name, c.rec.Code, c.rec.Body)
			}
		}
		page := append([]byte("<!doctype html><script>"), make([]byte, 6000)...)
		wrong := s.begin("wrong.mp4", len(page))
		if rec := s.patch(0, wrong, 0, page[:4500]); rec.Code != 415 {
			t.Errorf("a page as a film: %d %s", rec.Code, rec.Body)
		}
		if got := s.offset(0, wrong); !strings.HasPrefix(got, "404") {
			t.Errorf("a refused upload lives on: %s", got)
		}
		late := s.begin("late.mp4", len(page)) // in pieces too small to detect the type
		for at := range 6 {
			s.patch(0, late, at*1000, page[at*1000:(at+1)*1000])
		}
		if rec := s.patch(0, late, 6000, page[6000:]); rec.Code != 415 {
			t.Errorf("a page as a film, at the end: %d %s", rec.Code, rec.Body)
		}
		again := film(6000)
		replaced := s.begin("kept.mp4", len(again), "X-Upsert", "true")
		if rec := s.patch(0, replaced, 0, again); rec.Code != 204 || !bytes.Equal(s.public("kept.mp4").Body.Bytes(), again) {
			t.Errorf("upsert: %d %s", rec.Code, rec.Body)
		}
		if left := s.left(); len(left) != 1 {
			t.Errorf("left %v", left)
		}
	})
}

// Proves F-tus-delete, F-tus-expiry.
func TestUploadsExpireAndAreDeleted(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(7 << 20)
		ended, old := s.begin("ended.mp4", len(content)), s.begin("old.mp4", len(content))
		for _, address := range []string{ended, old} {
			if rec := s.patch(0, address, 0, content[:6<<20+5]); rec.Code != 204 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
		if rec := s.call(1, owner, "DELETE", ended, http.NoBody); rec.Code != 204 {
			t.Errorf("delete: %d", rec.Code)
		}
		if got := s.offset(0, ended); !strings.HasPrefix(got, "404") {
			t.Errorf("after delete: %s", got)
		}
		if err := s.nodes[0].Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.offset(0, old); !strings.HasPrefix(got, "200") {
			t.Errorf("swept too early: %s", got)
		}
		s.moved = life
		if got := s.offset(0, old); !strings.HasPrefix(got, "404") {
			t.Errorf("expired: %s", got)
		}
		// A request that began before the end still stores a piece.
		writing := &lock{service: s.nodes[0].Service, id: path.Base(old), token: uuid.NewString()}
		if locked, err := writing.tryLock(t.Context()); err != nil || !locked {
			t.Fatal(locked, err)
		}
		before := s.left()
		if err := s.nodes[1].Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := s.left(); len(before) == 0 || !slices.Equal(left, before) {
			t.Errorf("left %v of a locked upload with %v", left, before)
		}
		if err := writing.release(); err != nil {
			t.Fatal(err)
		}
		if err := s.nodes[1].Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := s.left(); len(left) != 0 {
			t.Errorf("left %v", left)
		}
	})
}

// Proves F-tus-lock.
func TestLockIsSharedByNodesAndReleasedOnRequest(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(3 << 20)
		address := s.begin("a.mp4", len(content))
		body, feed := io.Pipe()
		first := make(chan int, 1)
		go func() {
			first <- s.call(0, owner, "PATCH", address, body, "Upload-Offset", "0").Code
		}()
		if _, err := feed.Write(content[:1<<20]); err != nil {
			t.Fatal(err)
		}
		head := make(chan string, 1)
		go func() { head <- s.offset(1, address) }()
		// The recorder has no deadlines by which the server could end a read, so the pipe ends it once the first writer is asked to stop.
		// A writer that is asked between two reads ends by itself, and the second node gets its response.
		id := address[strings.LastIndexByte(address, '/')+1:]
		for wanted := false; !wanted && len(head) == 0; {
			if err := s.nodes[0].db.QueryRow(t.Context(), "select lock_wanted from storage_uploads where id = $1", id).Scan(&wanted); err != nil {
				t.Fatal(err)
			}
		}
		if err := feed.CloseWithError(io.ErrUnexpectedEOF); err != nil {
			t.Fatal(err)
		}
		if code := <-first; code < 400 {
			t.Errorf("the first writer: %d", code)
		}
		if got := <-head; got != "200 "+strconv.Itoa(1<<20) {
			t.Errorf("the second node: %s", got)
		}
		if rec := s.patch(1, address, 1<<20, content[1<<20:]); rec.Code != 204 || !bytes.Equal(s.public("a.mp4").Body.Bytes(), content) {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}

// Proves F-tus-options.
func TestOptionsListsTheExtensions(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		h := s.call(0, visitor, "OPTIONS", Path, http.NoBody).Header()
		if h.Get("Tus-Version") != "1.0.0" || h.Get("Tus-Extension") != "creation,creation-with-upload,termination,expiration" || h.Get("Tus-Max-Size") != strconv.Itoa(maxUpload) {
			t.Errorf("%v", h)
		}
	})
}

// grant requests a signed upload URL as the owner and returns its token.
func (s *site) grant(name string, headers ...string) string {
	s.t.Helper()
	rec := s.call(0, owner, "POST", "/storage/v1/object/upload/sign/product-images/"+name, http.NoBody, headers...)
	var response struct{ Token string }
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || response.Token == "" {
		s.t.Fatalf("sign: %d %s", rec.Code, rec.Body)
	}
	return response.Token
}

// Proves F-tus-sign.
//
// TestSignedResumableUploads checks that the token alone allows one upload of its name, for two hours.
func TestSignedResumableUploads(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(5000)
		begin := func(token, name string, headers ...string) *httptest.ResponseRecorder {
			return s.call(0, identity.Caller{}, "POST", SignedPath, http.NoBody, append([]string{"X-Signature", token, "Upload-Length", strconv.Itoa(len(content)), "Upload-Metadata", metadata("bucketName", "product-images", "objectName", name)}, headers...)...)
		}
		token := s.grant("a.mp4")
		first, second := begin(token, "a.mp4"), begin(token, "a.mp4")
		address := first.Header().Get("Location")
		if first.Code != 201 || second.Code != 201 || !strings.HasPrefix(address, "https://api.example"+SignedPath+"/") {
			t.Fatalf("%d %s %v", first.Code, first.Body, first.Header())
		}
		send := func(node int, address, token string, at, end int) int {
			return s.call(node, identity.Caller{}, "PATCH", address, bytes.NewReader(content[at:end]), "Upload-Offset", strconv.Itoa(at), "X-Signature", token).Code
		}
		if got := send(0, address, token, 0, 4500); got != 204 {
			t.Errorf("patch: %d", got)
		}
		other := s.grant("b.mp4")
		for name, c := range map[string]struct {
			rec  *httptest.ResponseRecorder
			want int
		}{
			"no signature":          {begin("", "x.mp4"), 400},
			"a forged signature":    {begin(token+"x", "a.mp4"), 400},
			"another name":          {begin(token, "x.mp4"), 400},
			"another bucket":        {s.call(0, identity.Caller{}, "POST", SignedPath, http.NoBody, "X-Signature", token, "Upload-Length", "10", "Upload-Metadata", metadata("bucketName", "cover-images", "objectName", "a.mp4")), 400},
			"head without":          {s.call(1, owner, "HEAD", address, http.NoBody), 400},
			"head by another":       {s.call(1, identity.Caller{}, "HEAD", address, http.NoBody, "X-Signature", other), 404},
			"end by another":        {s.call(1, identity.Caller{}, "DELETE", address, http.NoBody, "X-Signature", other), 404},
			"without /sign":         {s.call(1, owner, "HEAD", strings.Replace(address, "/sign/", "/", 1), http.NoBody, "X-Signature", token), 404},
			"another's, as a token": {s.call(1, owner, "HEAD", s.begin("c.mp4", 10), http.NoBody, "X-Signature", token), 200}, // the caller's own session allows it
		} {
			if c.rec.Code != c.want {
				t.Errorf("%s: %d %s", name, c.rec.Code, c.rec.Body)
			}
		}
		if got := send(1, address, other, 4500, 5000); got != 404 {
			t.Errorf("patch with another token: %d", got)
		}
		if rec := s.call(1, identity.Caller{}, "HEAD", address, http.NoBody, "X-Signature", token); rec.Header().Get("Upload-Offset") != "4500" {
			t.Errorf("%d %v", rec.Code, rec.Header())
		}
		if got := send(1, address, token, 4500, 5000); got != 204 || !bytes.Equal(s.public("a.mp4").Body.Bytes(), content) {
			t.Errorf("the last piece: %d", got)
		}
		if rec := s.call(0, identity.Caller{}, "HEAD", address, http.NoBody, "X-Signature", token); rec.Code != 200 || rec.Header().Get("Upload-Offset") != "5000" {
			t.Errorf("after the end: %d %v", rec.Code, rec.Header())
		}
		if got := send(0, second.Header().Get("Location"), token, 0, 5000); got != 409 {
			t.Errorf("the second upload of one token: %d", got)
		}
		if rec := begin(token, "a.mp4"); rec.Code != 409 {
			t.Errorf("used again: %d", rec.Code)
		}

		// The signature decides whether the upload may replace an object, not a header.
		late := s.grant("late.mp4")
		put := s.begin("late.mp4", len(content), "X-Upsert", "true")
		if got := s.patch(0, put, 0, content).Code; got != 204 {
			t.Fatalf("%d", got)
		}
		if rec := begin(late, "late.mp4", "X-Upsert", "true"); rec.Code != 409 {
			t.Errorf("replaced without leave: %d %s", rec.Code, rec.Body)
		}
		replacing := s.grant("late.mp4", "X-Upsert", "true")
		content = film(6000)
		if got := send(1, begin(replacing, "late.mp4").Header().Get("Location"), replacing, 0, len(content)); got != 204 || !bytes.Equal(s.public("late.mp4").Body.Bytes(), content) {
			t.Errorf("replacing: %d", got)
		}

		ending := s.grant("d.mp4")
		address = begin(ending, "d.mp4").Header().Get("Location")
		s.moved = 2 * time.Hour
		if got := send(0, address, ending, 0, 10); got != 400 {
			t.Errorf("an ended token: %d", got)
		}
	})
}

func TestMalformedChunkedBodyIsABadRequest(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		address := s.begin("broken.mp4", 5000)
		body := func() io.Reader {
			return io.MultiReader(bytes.NewReader(film(1000)), iotest.ErrReader(errors.New("malformed chunked encoding")))
		}
		if w := s.call(0, owner, "PATCH", address, body(), "Upload-Offset", "0"); w.Code != http.StatusBadRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if got := s.offset(1, address); got != "200 1000" {
			t.Errorf("%s instead of the 1000 that came", got)
		}
	})
}

// Proves F-tus-lock.
func TestInterruptedRequestGets423(t *testing.T) {
	s := &site{t: t}
	d := dbtest.Open(t, db.SQLite)
	blobs, err := blob.NewDisk(t.TempDir(), blob.Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	s.nodes[0], s.nodes[1] = s.node(d, blobs), s.node(d, blobs)
	// A server with real connections, whose reads have deadlines.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.nodes[0].http.ServeHTTP(w, r.WithContext(identity.With(r.Context(), owner)))
	}))
	t.Cleanup(server.Close)
	content := film(2 << 20)
	address := s.begin("a.mp4", len(content))
	body, feed := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, server.URL+strings.TrimPrefix(address, "https://api.example"), body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(content))
	for name, value := range map[string]string{"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"} {
		r.Header.Set(name, value)
	}
	answered := make(chan string, 1)
	go func() {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		text, err := io.ReadAll(response.Body)
		answered <- fmt.Sprint(response.StatusCode, " ", string(text), err, response.Body.Close())
	}()
	if _, err := feed.Write(content[:1<<20]); err != nil {
		t.Fatal(err)
	}
	for held := 0; held == 0; { // until the first request has the lock; an earlier request would interrupt nobody
		if err := d.QueryRow(t.Context(), "select count(lock_token) from storage_uploads").Scan(&held); err != nil {
			t.Fatal(err)
		}
	}
	got := s.offset(1, address) // asks the first request to release the lock, and waits
	if text := <-answered; !strings.HasPrefix(text, "423 ERR_UPLOAD_INTERRUPTED") {
		t.Errorf("the response to the first request: %s", text)
	}
	_ = feed.Close() // there is no reader any more
	have, err := strconv.Atoi(strings.TrimPrefix(got, "200 "))
	if err != nil {
		t.Fatal(got)
	}
	if rec := s.patch(1, address, have, content[have:]); rec.Code != 204 || !bytes.Equal(s.public("a.mp4").Body.Bytes(), content) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// Proves F-tus-told.
//
// TestMetadataIsReturnedUnchanged compares bytes and order, on every node, before and after the upload is complete.
func TestMetadataIsReturnedUnchanged(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		content := film(100)
		for i, sent := range []string{
			"objectName %s,bucketName cHJvZHVjdC1pbWFnZXM=,contentType dmlkZW8vbXA0,cacheControl NjA=,metadata eyJiIjoxLCJhIjoiw6MifQ==,own,empty ",
			"bucketName cHJvZHVjdC1pbWFnZXM=,z eg==,objectName %s,a YQ==",
		} {
			sent = fmt.Sprintf(sent, base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("told-%d.mp4", i))))
			rec := s.create("x.mp4", len(content), "Upload-Metadata", sent)
			address := rec.Header().Get("Location")
			if rec.Code != 201 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			for node, offset := range []int{0, len(content)} {
				head := s.call(node, owner, "HEAD", address, http.NoBody)
				if got := head.Header().Get("Upload-Metadata"); got != sent || head.Header().Get("Upload-Expires") == "" || head.Header().Get("Upload-Offset") != strconv.Itoa(offset) {
					t.Errorf("%d: %q %v", head.Code, got, head.Header())
				}
				if offset == 0 {
					if rec := s.call(0, owner, "PATCH", address, bytes.NewReader(content), "Upload-Offset", "0"); rec.Code != 204 || rec.Header().Get("Upload-Expires") == "" {
						t.Errorf("%d %s", rec.Code, rec.Body)
					}
				}
			}
		}
		long := metadata("bucketName", "product-images", "objectName", "x.mp4", "long", strings.Repeat("x", maxMetadataHeader))
		if rec := s.create("x.mp4", len(content), "Upload-Metadata", long); rec.Code != 400 {
			t.Errorf("too long: %d", rec.Code)
		}
	})
}
