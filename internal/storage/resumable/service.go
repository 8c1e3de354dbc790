// Package resumable takes uploads in pieces that may be interrupted: TUS 1.0.0 at /storage/v1/upload/resumable. The
// protocol is tusd's; state is in the database and in the blob store, so that any node can go on. Nothing of a file can
// be seen before it is whole and has passed the checks of an ordinary upload.
package resumable

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	tus "github.com/tus/tusd/v2/pkg/handler"
	xslog "golang.org/x/exp/slog"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// Path is where uploads are begun; each then has an address below it. SignedPath is the same for those that a signed
// upload address allows, whose token comes in X-Signature with every request.
const (
	Path       = "/storage/v1/upload/resumable"
	SignedPath = Path + "/sign"
)

// Service answers the protocol's requests.
type Service struct {
	db     *db.DB
	files  *storage.Service
	tus    *tus.UnroutedHandler
	signed *tus.UnroutedHandler // gives addresses below SignedPath
	life   time.Duration
	now    func() time.Time
}

// New makes the service. apiURL is the public address of the backend, maxUpload the largest file in bytes,
// life how long an upload may take from its beginning.
func New(d *db.DB, files *storage.Service, apiURL string, maxUpload int64, life time.Duration, now func() time.Time) (*Service, error) {
	s := &Service{db: d, files: files, life: life, now: now}
	composer := tus.NewStoreComposer()
	composer.UseCore(s)
	composer.UseTerminater(s)
	composer.UseLocker(locker{s})
	for path, handler := range map[string]**tus.UnroutedHandler{Path: &s.tus, SignedPath: &s.signed} {
		var err error
		*handler, err = tus.NewUnroutedHandler(tus.Config{
			StoreComposer: composer, MaxSize: maxUpload, BasePath: apiURL + path + "/", DisableDownload: true, DisableConcatenation: true,
			Cors: &tus.CorsConfig{Disable: true}, AcquireLockTimeout: lockPatience,
			Logger: xslog.New(xslog.NewTextHandler(io.Discard, nil)), // every request has its line in our own log
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

var (
	errNoUpload    = apperr.New(http.StatusNotFound, "NoSuchUpload", "Upload not found")
	errDeferred    = apperr.New(http.StatusBadRequest, "InvalidRequest", "Upload-Length must be known at the beginning")
	errBadMetadata = apperr.New(http.StatusBadRequest, "InvalidParameter", "Upload-Metadata must name bucketName and objectName; metadata must be a JSON object")
	errLocked      = apperr.New(http.StatusLocked, "ResourceLocked", "The upload is being written by another request")
)

type (
	upsertKey    struct{}
	signatureKey struct{}
)

// Signed makes of a handler the one below SignedPath: the token in X-Signature decides, and nothing else is looked at.
func (s *Service) Signed(h httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return h(w, r.WithContext(context.WithValue(r.Context(), signatureKey{}, r.Header.Get("X-Signature"))))
	}
}

// who names whom an upload belongs to: the caller, or the signed address, which is given too.
func (s *Service) who(ctx context.Context) (string, *storage.UploadGrant, error) {
	token, signed := ctx.Value(signatureKey{}).(string)
	if !signed {
		c := identity.Of(ctx)
		return string(c.Role) + ":" + c.UserID, nil, nil
	}
	grant, err := s.files.ReadGrant(token)
	if err != nil {
		return "", nil, err
	}
	return "signed:" + grant.ID, grant, nil
}

// Options answers OPTIONS: what the server can do.
func (s *Service) Options(w http.ResponseWriter, r *http.Request) error {
	s.tus.Middleware(http.NotFoundHandler()).ServeHTTP(w, r)
	return nil
}

// Create answers POST: a new upload, with its first bytes or without.
func (s *Service) Create(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upload-Defer-Length") != "" || r.Header.Get("Upload-Concat") != "" {
		return tell(w, r, errDeferred)
	}
	upsert := strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Upsert")), "true")
	w.Header().Set("Upload-Expires", s.now().Add(s.life).UTC().Format(http.TimeFormat))
	if _, _, err := s.who(r.Context()); err != nil {
		return tell(w, r, err)
	}
	s.serve((*tus.UnroutedHandler).PostFile, w, r.WithContext(context.WithValue(r.Context(), upsertKey{}, upsert)), "")
	return nil
}

// Head answers HEAD: how much has arrived. Patch takes the next bytes, Delete ends an upload.
func (s *Service) Head(w http.ResponseWriter, r *http.Request) error {
	return s.known((*tus.UnroutedHandler).HeadFile, w, r)
}

// Patch answers PATCH.
func (s *Service) Patch(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upload-Length") != "" {
		return tell(w, r, errDeferred)
	}
	return s.known((*tus.UnroutedHandler).PatchFile, w, r)
}

// Delete answers DELETE.
func (s *Service) Delete(w http.ResponseWriter, r *http.Request) error {
	return s.known((*tus.UnroutedHandler).DelFile, w, r)
}

// known passes a request on when its upload belongs to the caller: before any lock is asked for, so that strangers
// cannot disturb it.
func (s *Service) known(h request, w http.ResponseWriter, r *http.Request) error {
	u, err := s.find(r.Context(), r.PathValue("id"))
	if err != nil {
		return tell(w, r, err)
	}
	w.Header().Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	s.serve(h, w, r, u.ID)
	return nil
}

// request is a method of tusd's handler, which is chosen by how the upload is addressed.
type request func(*tus.UnroutedHandler, http.ResponseWriter, *http.Request)

func (s *Service) serve(do request, w http.ResponseWriter, r *http.Request, id string) {
	h := s.tus
	if _, signed := r.Context().Value(signatureKey{}).(string); signed {
		h = s.signed
	}
	r = r.Clone(r.Context())
	r.URL.Path = "/" + id // tusd takes the whole rest of a path for the id
	r.Header.Del("X-Http-Method-Override")
	r.Body = body{r.Body}
	asked := new(atomic.Bool)
	h.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { do(h, w, r) })).ServeHTTP(interruptible{w, asked}, r.WithContext(context.WithValue(r.Context(), askedKey{}, asked)))
}

// askedKey leads the lock to what interruptible looks at: whether the request was asked to let go.
type askedKey struct{}

// interruptible answers 423 to a request that was interrupted for another one, where tusd has 400: clients try again
// after 423 and 409 alone, and a late piece of a broken connection may interrupt the one that goes on.
type interruptible struct {
	http.ResponseWriter
	asked *atomic.Bool
}

func (i interruptible) WriteHeader(status int) {
	if status == http.StatusBadRequest && i.asked.Load() {
		status = http.StatusLocked
	}
	i.ResponseWriter.WriteHeader(status)
}

// Unwrap leads http.ResponseController to the connection.
func (i interruptible) Unwrap() http.ResponseWriter { return i.ResponseWriter }

// body tells of broken framing (RFC 9112 §7.1) as of a body that ended too soon: tusd takes what it does not know for a
// failure of ours.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var network net.Error
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) && !errors.As(err, &network) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// find gives a living upload of the caller.
func (s *Service) find(ctx context.Context, id string) (*upload, error) {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return nil, errNoUpload
	}
	owner, grant, err := s.who(ctx)
	if err != nil {
		return nil, err
	}
	u, err := findUpload(ctx, s.db, id)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errNoUpload
	}
	if err != nil {
		return nil, err
	}
	if u.Owner != owner || !s.now().Before(u.ExpiresAt) {
		return nil, errNoUpload
	}
	u.s, u.file.Grant = s, grant
	return u, nil
}

// tell answers an error as this protocol's clients expect it: the true status, and a text.
func tell(w http.ResponseWriter, r *http.Request, err error) error {
	e := apperr.From(err)
	httpx.NoteError(r.Context(), e)
	w.Header().Set("Tus-Resumable", "1.0.0")
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, e.Message, e.Status)
	return nil
}

// wireError turns an error into tusd's, which would show an unknown one's text to anybody.
func wireError(ctx context.Context, err error) error {
	var known tus.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := apperr.From(err)
	httpx.NoteError(ctx, e)
	if e.Status >= http.StatusInternalServerError {
		slog.ErrorContext(ctx, "resumable upload", "cause", err.Error())
	}
	out := tus.NewError(e.Code, e.Message, e.Status)
	out.HTTPResponse.Body = e.Message
	return out
}

// Sweep removes uploads whose time is over, and pieces that nothing knows. Call it now and then.
func (s *Service) Sweep(ctx context.Context) error {
	old, err := listExpired(ctx, s.db, s.now())
	if err != nil {
		return err
	}
	for _, u := range old {
		if err := s.files.Abandon(ctx, u.BlobID, u.Stored); err != nil {
			return err
		}
		if err := deleteUpload(ctx, s.db, u.ID); err != nil {
			return err
		}
	}
	blobs, err := listBlobs(ctx, s.db)
	if err != nil {
		return err
	}
	return s.files.SweepArriving(ctx, func(id string) bool { return blobs[id] })
}
