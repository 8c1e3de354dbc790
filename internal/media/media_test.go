package media

import (
	"log/slog"
	"net/http"
	"testing"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/storage"
	"atelie/internal/storage/blob/blobtest"
	"atelie/internal/storage/storagetest"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

const maxUpload = 8 << 20

// site has both surfaces, storage and media, connected as in the program.
type site struct {
	*Service
	*storagetest.Site
	stored *storage.Service
}

func newSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	return (&site{Site: storagetest.New(t, d)}).wire()
}

// wire creates new services with the site's database and file store.
func (s *site) wire() *site {
	s.T.Helper()
	log := slog.New(slog.DiscardHandler)
	version := content.NewVersion(s.DB, log)
	blobs := storage.NewBlobs(s.DB, s.Blobs, storage.NoRecorder, log, s.Now)
	s.Service = New(s.DB, blobs, Config{Content: version}, log, s.Now)
	s.stored = storage.New(s.DB, blobs, s.Service, storage.Config{MaxUpload: maxUpload, SignKey: []byte("a key for addresses alone, in tests"), Content: version}, s.Now)
	if err := s.stored.EnsureBuckets(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
	mux := http.NewServeMux()
	guard := httpx.Guard(s.Auth, storage.WriteError)
	for pattern, h := range map[string]httpx.Handler{
		"POST /storage/v1/object/{bucket}/{path...}":                    s.stored.Upload,
		"PUT /storage/v1/object/{bucket}/{path...}":                     s.stored.Replace,
		"DELETE /storage/v1/object/{bucket}/{path...}":                  s.stored.RemoveOne,
		"GET /storage/v1/object/{bucket}/{path...}":                     s.stored.Download,
		"GET /storage/v1/object/authenticated/{bucket}/{path...}":       s.stored.Download,
		"GET /storage/v1/object/info/{bucket}/{path...}":                s.stored.Info,
		"GET /storage/v1/bucket":                                        s.stored.Buckets,
		"POST /storage/v1/bucket":                                       s.stored.CreateBucket,
		"PUT /storage/v1/bucket/{bucket}":                               s.stored.UpdateBucket,
		"POST /storage/v1/object/sign/{bucket}/{path...}":               s.stored.Sign,
		"POST /storage/v1/object/sign/{bucket}":                         s.stored.SignMany,
		"POST /storage/v1/object/move":                                  s.stored.Move,
		"POST /storage/v1/object/copy":                                  s.stored.Copy,
		"GET /storage/v1/render/image/authenticated/{bucket}/{path...}": s.Render,
	} {
		mux.Handle(pattern, guard(httpx.Handle(storage.WriteError, h)))
	}
	for pattern, h := range map[string]httpx.Handler{
		"GET /storage/v1/object/public/{bucket}/{path...}":       s.stored.Public,
		"GET /storage/v1/object/info/public/{bucket}/{path...}":  s.stored.PublicInfo,
		"GET /storage/v1/object/sign/{bucket}/{path...}":         s.stored.Signed,
		"GET /storage/v1/render/image/public/{bucket}/{path...}": s.RenderPublic,
		"GET /storage/v1/render/image/sign/{bucket}/{path...}":   s.stored.RenderSigned,
	} {
		mux.Handle(pattern, httpx.Handle(storage.WriteError, h))
	}
	s.HTTP = httpx.Chain(mux, s.stored.FromCache, s.FromCache)
	return s
}
