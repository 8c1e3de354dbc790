package storage

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/media"
	"atelie/internal/storage/blob/blobtest"
	"atelie/internal/storage/storagetest"
)

// TestMain runs the tests. If TestKilledProcess has started this process, it instead uploads files until it is killed.
func TestMain(m *testing.M) {
	if address := os.Getenv("UPLOAD_DATABASE"); address != "" {
		fmt.Fprintln(os.Stderr, uploadForever(address, os.Getenv("UPLOAD_FOLDER")))
		os.Exit(1)
	}
	blobtest.Main(m, dbtest.Stop)
}

const maxUpload = 8 << 20

// site has the storage surface, connected as in the program.
type site struct {
	*Service
	*storagetest.Site
}

func newSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	return (&site{Site: storagetest.New(t, d)}).wire()
}

// wire creates new services with the site's database and file store.
func (s *site) wire() *site {
	s.T.Helper()
	log := slog.New(slog.DiscardHandler)
	blobs := NewBlobs(s.DB, s.Blobs, NoRecorder, log, s.Now)
	version := content.NewVersion(s.DB, log)
	s.Service = New(s.DB, blobs, media.New(s.DB, blobs, media.Config{Content: version}, log, s.Now), Config{MaxUpload: maxUpload, SignKey: []byte("a key for addresses alone, in tests"), Content: version}, s.Now)
	if err := s.EnsureBuckets(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
	s.HTTP = s.FromCache(s.routes(s.Auth))
	return s
}

// routes returns the handler of the storage routes.
func (s *site) routes(auth *identity.Authenticator) http.Handler {
	mux := http.NewServeMux()
	guard := httpx.Guard(auth, WriteError)
	for pattern, h := range map[string]httpx.Handler{
		"POST /storage/v1/object/{bucket}/{path...}":              s.Upload,
		"PUT /storage/v1/object/{bucket}/{path...}":               s.Replace,
		"GET /storage/v1/object/{bucket}/{path...}":               s.Download,
		"GET /storage/v1/object/authenticated/{bucket}/{path...}": s.Download,
		"POST /storage/v1/object/list/{bucket}":                   s.List,
		"DELETE /storage/v1/object/{bucket}":                      s.Remove,
		"DELETE /storage/v1/object/{bucket}/{path...}":            s.RemoveOne,
		"GET /storage/v1/bucket":                                  s.Buckets,
		"GET /storage/v1/bucket/{bucket}":                         s.Bucket,
		"POST /storage/v1/bucket":                                 s.CreateBucket,
		"PUT /storage/v1/bucket/{bucket}":                         s.UpdateBucket,
		"POST /storage/v1/bucket/{bucket}/empty":                  s.EmptyBucket,
		"DELETE /storage/v1/bucket/{bucket}":                      s.DeleteBucket,
		"POST /storage/v1/object/sign/{bucket}/{path...}":         s.Sign,
		"POST /storage/v1/object/sign/{bucket}":                   s.SignMany,
		"POST /storage/v1/object/upload/sign/{bucket}/{path...}":  s.SignUpload,
		"GET /storage/v1/object/info/{bucket}/{path...}":          s.Info,
		"POST /storage/v1/object/list-v2/{bucket}":                s.ListV2,
		"POST /storage/v1/object/move":                            s.Move,
		"POST /storage/v1/object/copy":                            s.Copy,
	} {
		mux.Handle(pattern, guard(httpx.Handle(WriteError, h)))
	}
	for pattern, h := range map[string]httpx.Handler{
		"GET /storage/v1/object/public/{bucket}/{path...}":      s.Public,
		"GET /storage/v1/object/sign/{bucket}/{path...}":        s.Signed,
		"PUT /storage/v1/object/upload/sign/{bucket}/{path...}": s.SignedUpload,
		"GET /storage/v1/object/info/public/{bucket}/{path...}": s.PublicInfo,
		"GET /storage/v1/render/image/sign/{bucket}/{path...}":  s.RenderSigned,
	} {
		mux.Handle(pattern, httpx.Handle(WriteError, h))
	}
	return mux
}
