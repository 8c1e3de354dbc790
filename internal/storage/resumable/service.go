// Package resumable serves uploads that arrive in pieces and may be interrupted, at /storage/v1/upload/resumable. Their protocol is TUS
// 1.0.0, which the library tusd implements. The state of an upload is in the database and in the blob store, so that any node (server of
// the site) can continue the upload. A file becomes visible when it is complete and has passed the checks of an ordinary upload.
package resumable

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"
	xslog "golang.org/x/exp/slog" // tusd's Config requires a logger of this package; the rest of the program uses log/slog

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// Clients create uploads with POST to Path. The URL of each upload is below Path. Clients with a signed upload URL (a URL that permits the
// upload of one file without an API key) use SignedPath instead, and send the token of that URL in the X-Signature header, as in Supabase.
const (
	Path       = "/storage/v1/upload/resumable"
	SignedPath = Path + "/sign"
)

// Service handles the protocol's requests. It also implements tusd's DataStore interface: tusd calls NewUpload and GetUpload to create and
// read the rows of uploads.
type Service struct {
	db            *db.DB
	storage       *storage.Service
	handler       *tus.UnroutedHandler // handles requests at Path and below
	signedHandler *tus.UnroutedHandler // handles requests at SignedPath and below
	expiry        time.Duration        // time from an upload's creation until it expires
	log           *slog.Logger
	now           func() time.Time

	// CheckSpace returns an error while the disk is too full for uploads. If it is nil, there is no such check. It must be set before the
	// first request.
	CheckSpace func() error
}

// New returns a Service. apiURL is the public URL of the backend. maxUpload is the size limit of a file in bytes. expiry is the time from
// an upload's creation until the upload expires and Sweep removes it.
func New(d *db.DB, storageService *storage.Service, apiURL string, maxUpload int64, expiry time.Duration, log *slog.Logger, now func() time.Time) (*Service, error) {
	s := &Service{db: d, storage: storageService, expiry: expiry, log: log, now: now}
	composer := tus.NewStoreComposer() // tells tusd who implements which part of the protocol
	composer.UseCore(s)                // create uploads, read their state and write their bytes
	composer.UseTerminater(s)          // delete unfinished uploads
	composer.UseLocker(locker{s})      // let only one request at a time write to an upload
	newHandler := func(path string) (*tus.UnroutedHandler, error) {
		return tus.NewUnroutedHandler(tus.Config{
			StoreComposer:        composer,
			MaxSize:              maxUpload,
			BasePath:             apiURL + path + "/",
			DisableDownload:      true,
			DisableConcatenation: true,
			Cors:                 &tus.CorsConfig{Disable: true},
			AcquireLockTimeout:   lockTimeout,
			Logger:               xslog.New(xslog.NewTextHandler(io.Discard, nil)), // the server's own log has a line for each request
		})
	}
	var err error
	if s.handler, err = newHandler(Path); err != nil {
		return nil, err
	}
	if s.signedHandler, err = newHandler(SignedPath); err != nil {
		return nil, err
	}
	return s, nil
}

var (
	errNoUpload      = apperr.New(http.StatusNotFound, "NoSuchUpload", "Upload not found")
	errLengthUnknown = apperr.New(http.StatusBadRequest, "InvalidRequest", "Upload-Length must be known at the beginning")
	errBadMetadata   = apperr.New(http.StatusBadRequest, "InvalidParameter", "Upload-Metadata must name bucketName and objectName; metadata must be a JSON object")
	errLocked        = apperr.New(http.StatusLocked, "ResourceLocked", "The upload is being written by another request")
)

// Keys of values in a request's context.
type (
	upsertKey         struct{} // bool: the upload may replace an object
	metadataHeaderKey struct{} // string: the Upload-Metadata header
	signatureKey      struct{} // string: the token in the X-Signature header; only in requests below SignedPath
	interruptedKey    struct{} // *atomic.Bool: set when another request waits for the lock and interrupts this one
)

// maxMetadataHeader is the maximum length of the Upload-Metadata header in bytes.
const maxMetadataHeader = 64 << 10

// Signed returns h for requests below SignedPath, where only the token in X-Signature decides who may upload.
func (s *Service) Signed(h httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return h(w, r.WithContext(context.WithValue(r.Context(), signatureKey{}, r.Header.Get("X-Signature"))))
	}
}

// owner returns the text that names the owner of an upload in its row: role and account of the caller or, below SignedPath, the
// id of the token, whose grant it returns too.
func (s *Service) owner(ctx context.Context) (string, *storage.UploadGrant, error) {
	token, signed := ctx.Value(signatureKey{}).(string)
	if !signed {
		c := identity.Of(ctx)
		return string(c.Role) + ":" + c.UserID, nil, nil
	}
	grant, err := s.storage.ReadGrant(token)
	if err != nil {
		return "", nil, err
	}
	return "signed:" + grant.ID, grant, nil
}

// Options responds to OPTIONS with what the server supports.
func (s *Service) Options(w http.ResponseWriter, r *http.Request) error {
	s.handler.Middleware(http.NotFoundHandler()).ServeHTTP(response{ResponseWriter: w, interrupted: new(atomic.Bool)}, r)
	return nil
}

// Create handles POST. It creates an upload; the body may have its first bytes.
func (s *Service) Create(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upload-Defer-Length") != "" || r.Header.Get("Upload-Concat") != "" {
		return writeError(w, r, errLengthUnknown)
	}
	upsert := strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Upsert")), "true")
	w.Header().Set("Upload-Expires", s.now().Add(s.expiry).UTC().Format(http.TimeFormat))
	if _, _, err := s.owner(r.Context()); err != nil {
		return writeError(w, r, err)
	}
	ctx := context.WithValue(context.WithValue(r.Context(), upsertKey{}, upsert), metadataHeaderKey{}, r.Header.Get("Upload-Metadata"))
	s.serve((*tus.UnroutedHandler).PostFile, w, r.WithContext(ctx), &upload{})
	return nil
}

// Head responds to HEAD with the number of bytes that have arrived.
func (s *Service) Head(w http.ResponseWriter, r *http.Request) error {
	return s.serveUpload((*tus.UnroutedHandler).HeadFile, w, r)
}

// Patch handles PATCH, whose body has the next bytes.
func (s *Service) Patch(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upload-Length") != "" {
		return writeError(w, r, errLengthUnknown)
	}
	return s.serveUpload((*tus.UnroutedHandler).PatchFile, w, r)
}

// Delete handles DELETE. It cancels an upload.
func (s *Service) Delete(w http.ResponseWriter, r *http.Request) error {
	return s.serveUpload((*tus.UnroutedHandler).DelFile, w, r)
}

// serveUpload serves a request for an existing upload of the caller. It checks the owner before tusd requests the lock, so that
// others cannot interrupt the upload.
func (s *Service) serveUpload(h request, w http.ResponseWriter, r *http.Request) error {
	u, err := s.find(r.Context(), r.PathValue("id"))
	if err != nil {
		return writeError(w, r, err)
	}
	w.Header().Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	s.serve(h, w, r, u)
	return nil
}

// request is a method of tusd's handler that handles one HTTP method.
type request func(*tus.UnroutedHandler, http.ResponseWriter, *http.Request)

func (s *Service) serve(do request, w http.ResponseWriter, r *http.Request, u *upload) {
	h := s.handler
	if _, signed := r.Context().Value(signatureKey{}).(string); signed {
		h = s.signedHandler
	}
	r = r.Clone(r.Context())
	r.URL.Path = "/" + u.ID // tusd takes the whole path as the id
	r.Header.Del("X-Http-Method-Override")
	r.Body = body{r.Body}
	interrupted := new(atomic.Bool)
	r = r.WithContext(context.WithValue(r.Context(), interruptedKey{}, interrupted))
	h.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { do(h, w, r) })).ServeHTTP(response{w, interrupted, u.MetadataHeader}, r)
}

// response changes three things in tusd's responses:
//   - A request that another one interrupted gets 423 in place of 400. Clients try again only after 409 and 423, and the
//     request that was interrupted may be the client's current one, if a late piece of a broken connection interrupted it.
//   - Upload-Metadata is returned as the client sent it, not in another order.
//   - The extension "expiration" is listed, because this package sends Upload-Expires.
type response struct {
	http.ResponseWriter
	interrupted    *atomic.Bool
	metadataHeader string
}

func (x response) WriteHeader(status int) {
	if status == http.StatusBadRequest && x.interrupted.Load() {
		status = http.StatusLocked
	}
	h := x.Header()
	if x.metadataHeader != "" && h.Get("Upload-Metadata") != "" {
		h.Set("Upload-Metadata", x.metadataHeader)
	}
	if extensions := h.Get("Tus-Extension"); extensions != "" {
		h.Set("Tus-Extension", extensions+",expiration")
	}
	x.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController the underlying writer.
func (x response) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// body reports a body with broken framing (RFC 9112 §7.1) as io.ErrUnexpectedEOF. tusd would respond to an error that it
// does not know with status 500.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if _, network := errors.AsType[net.Error](err); err != nil && !network && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// find returns an upload of the caller that has not expired, or errNoUpload.
func (s *Service) find(ctx context.Context, id string) (*upload, error) {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return nil, errNoUpload
	}
	owner, grant, err := s.owner(ctx)
	if err != nil {
		return nil, err
	}
	u, err := findUpload(ctx, s.db, id)
	if err != nil {
		return nil, db.NoRowsAs(err, errNoUpload)
	}
	if u.Owner != owner || !s.now().Before(u.ExpiresAt) {
		return nil, errNoUpload
	}
	u.service, u.file.Grant = s, grant
	return u, nil
}

// writeError responds with an error in the form of this protocol: the true status and a text, unlike storage.WriteError.
func writeError(w http.ResponseWriter, r *http.Request, err error) error {
	e := apperr.From(err)
	httpx.NoteError(r.Context(), e)
	w.Header().Set("Tus-Resumable", "1.0.0")
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, e.Message, e.Status)
	return nil
}

// tusError converts an error to a tus.Error. tusd would send the text of any other error to the client, which may have
// details of the server.
func tusError(ctx context.Context, err error) error {
	if _, known := errors.AsType[tus.Error](err); err == nil || known {
		return err
	}
	e := apperr.From(err)
	httpx.NoteError(ctx, e)
	out := tus.NewError(e.Code, e.Message, e.Status)
	out.HTTPResponse.Body = e.Message
	return out
}

// Sweep removes expired uploads, and pieces without an upload. It is to be called from time to time. An upload that a request has locked,
// because its last piece arrives at the moment, is left to a later call.
func (s *Service) Sweep(ctx context.Context) error {
	old, err := listExpired(ctx, s.db, s.now())
	if err != nil {
		return err
	}
	for _, u := range old {
		if err := s.removeExpired(ctx, u.ID); err != nil {
			return err
		}
	}
	blobs, err := listBlobs(ctx, s.db)
	if err != nil {
		return err
	}
	return s.storage.SweepPieces(ctx, func(id string) bool {
		_, known := slices.BinarySearch(blobs, id)
		return known
	})
}

// removeExpired removes an expired upload, unless a request has it locked.
func (s *Service) removeExpired(ctx context.Context, id string) error {
	l := &lock{service: s, id: id, token: uuid.NewString()}
	if locked, err := l.tryLock(ctx); err != nil || !locked {
		return err
	}
	u, err := findUpload(ctx, s.db, id) // with the lock, because a request may have stored pieces until now
	if err == nil {
		err = s.storage.Abandon(ctx, u.BlobID, u.Pieces)
	}
	if err == nil {
		err = deleteUpload(ctx, s.db, id) // and with it the lock
	}
	if err != nil {
		return errors.Join(err, l.release())
	}
	return nil
}
