package httpx

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file has the middleware that wraps handlers, and the data about a request that the middleware puts into the context.

// Middleware returns a handler that wraps another one.
type Middleware func(http.Handler) http.Handler

// Chain wraps h with the middlewares ms. A request passes through them in the order of ms.
func Chain(h http.Handler, ms ...Middleware) http.Handler {
	for _, m := range slices.Backward(ms) {
		h = m(h)
	}
	return h
}

// requestInfo collects what the access log writes about a request. The middleware Log puts it into the request's context.
type requestInfo struct {
	id    string        // random id of the request
	ip    string        // IP address of the client
	err   *apperr.Error // set by NoteError; nil for none
	stale bool          // the response came from a cache during an outage of the database (MarkStale)
}

// infoKey is the key of the requestInfo in a context.
type infoKey struct{}

// requestInfoOf returns the requestInfo of a context, or an empty one if the request has not passed Log.
func requestInfoOf(ctx context.Context) *requestInfo {
	if i, ok := ctx.Value(infoKey{}).(*requestInfo); ok {
		return i
	}
	return &requestInfo{}
}

// NoteError sets the error that the access log writes. Handlers call it when they respond to an error themselves, for example with a page
// or a redirect, instead of returning the error.
func NoteError(ctx context.Context, e *apperr.Error) { requestInfoOf(ctx).err = e }

// RequestID returns the id of the request in the access log.
func RequestID(ctx context.Context) string { return requestInfoOf(ctx).id }

// ClientIP returns the IP address of the client. If a trusted proxy has forwarded the request, that is the address in the
// proxy's X-Forwarded-For.
func ClientIP(ctx context.Context) string { return requestInfoOf(ctx).ip }

// LimitSubject returns the key under which rate limits count the client. For IPv4 that is the client's address. For IPv6 it is the /64
// network of the address, because one subscriber can use all addresses of that network.
func LimitSubject(ctx context.Context) string {
	ip := ClientIP(ctx)
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}
	return netip.PrefixFrom(addr.WithZone(""), 64).Masked().String()
}

// Observer is called at the end of each request, with the status and the duration that the access log writes.
type Observer func(r *http.Request, status int, took time.Duration)

// Log is the middleware that gives each request an id, writes a line to the access log at its end, and sends the status 500
// after a panic. trusted are the networks of the proxies whose X-Forwarded-For is believed. observe may be nil.
func Log(log *slog.Logger, trusted []netip.Prefix, observe Observer) Middleware {
	var warned forwardedWarning
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			warned.check(r, log, trusted, start)
			i := &requestInfo{id: uuid.NewString(), ip: clientIP(r, trusted)}
			w.Header().Set("X-Request-Id", i.id)
			rec := &recorder{ResponseWriter: w}
			r = r.WithContext(context.WithValue(r.Context(), infoKey{}, i))
			defer func() {
				p := recover()
				if p != nil && !isAbort(p) {
					i.err = apperr.From(&panicError{p, debug.Stack()})
					if rec.status == 0 {
						http.Error(rec, "Internal Server Error", http.StatusInternalServerError)
						p = nil
					}
				}
				rec.status = cmp.Or(rec.status, http.StatusOK) // net/http sends this status if the handler has written nothing
				took := time.Since(start)
				if observe != nil {
					observe(r, rec.status, took)
				}
				logRequest(r, log, rec, i, took)
				if p != nil {
					panic(http.ErrAbortHandler) // abort the connection: the client must notice that the response is incomplete
				}
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

func logRequest(r *http.Request, log *slog.Logger, rec *recorder, i *requestInfo, took time.Duration) {
	status := rec.status
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("id", i.id), slog.String("method", r.Method), slog.String("path", LoggedPath(r.URL.Path)),
		slog.Int("status", status), slog.Int64("bytes", rec.bytes), slog.Duration("took", took), slog.String("ip", i.ip),
	}
	if i.stale {
		attrs = append(attrs, slog.Bool("stale", true))
	}
	outage := i.err != nil && errors.Is(i.err, db.ErrOutage) // the outage itself is logged once
	if i.err != nil {
		attrs = append(attrs, slog.String("code", i.err.Code), slog.String("message", i.err.Message))
		if i.err.Cause != nil && !outage {
			attrs = append(attrs, slog.String("cause", loggedCause(i.err.Cause, status)))
		}
	}
	switch {
	case outage:
	case status >= 500:
		level = slog.LevelError
	case i.err != nil:
		level = slog.LevelWarn
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

// Paths that contain a secret, which the log must not contain, begin with one of these.
const (
	SecretPath   = "/enquiry/"
	CalendarPath = "/calendar/"
)

// LoggedPath returns a path or URL for the log. It leaves out what follows the first of the secret paths, wherever that is and in whatever
// case, because a mistyped URL can contain the secret too, as can one whose slash is encoded twice.
func LoggedPath(path string) string {
	lower := strings.ToLower(path)
	first, secret := len(lower), ""
	for _, prefix := range []string{SecretPath, CalendarPath} {
		prefix = strings.TrimSuffix(prefix, "/")
		if i := strings.Index(lower, prefix); i >= 0 && i < first && i+len(prefix) < len(lower) {
			first, secret = i, prefix
		}
	}
	switch {
	case secret == "":
		return path
	case len(lower) != len(path): // the case of some characters differs in length, so that first is no index of path
		return secret + "/…"
	}
	return path[:first+len(secret)] + "/…"
}

const maxCause = 1000 // bytes

// loggedCause returns the text of a cause for the log. It shortens causes of 4xx responses, because they quote the request, by
// which a client could fill the log.
func loggedCause(cause error, status int) string {
	text := cause.Error()
	if status < http.StatusInternalServerError && len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

// recorder is a ResponseWriter that records the status and the number of bytes of the body for the access log.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// copyBuffers has buffers for ReadFrom, *[]byte.
var copyBuffers = sync.Pool{New: func() any { return new(make([]byte, 32<<10)) }}

// ReadFrom lets net/http send a file by sendfile. The buffer is for connections without sendfile, such as those of HTTP/2.
func (r *recorder) ReadFrom(src io.Reader) (int64, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	buffer := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buffer)
	n, err := io.CopyBuffer(r.ResponseWriter, src, *buffer)
	r.bytes += n
	return n, err
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// clientIP returns the IP address of the client: the address of the connection, or if that is a trusted proxy's, the last
// address in X-Forwarded-For that is not a trusted proxy's. The client could have made up the addresses further left.
func clientIP(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(addr, trusted); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = next
	}
	return addr.Unmap().WithZone("").String() // a client could put any text into the zone
}

// forwardedWarningInterval is the minimum time between two warnings of a forwardedWarning.
const forwardedWarningInterval = time.Hour

// forwardedWarning logs, at most once in forwardedWarningInterval, that a request with X-Forwarded-For was received from an untrusted IP
// address. If that is the operator's own proxy, all visitors have the proxy's address in rate limits and in the log until the operator
// configures the proxy as trusted.
type forwardedWarning struct{ next atomic.Int64 } // Unix time of the next warning

func (f *forwardedWarning) check(r *http.Request, log *slog.Logger, trusted []netip.Prefix, now time.Time) {
	if len(r.Header["X-Forwarded-For"]) == 0 {
		return
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	next := f.next.Load()
	if err != nil || isTrusted(from.Addr(), trusted) || now.Unix() < next || !f.next.CompareAndSwap(next, now.Add(forwardedWarningInterval).Unix()) {
		return
	}
	log.Warn("X-Forwarded-For from an address that is not trusted is ignored: if it is your proxy, name it in trusted-proxies (ATELIE_TRUSTED_PROXIES); if not, a visitor made it up",
		"address", from.Addr().Unmap().String())
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// Values of headers of every response that CORS allows.
var (
	anyOrigin      = []string{"*"}
	exposedHeaders = []string{"Content-Encoding, Content-Location, Content-Range, Content-Type, Date, ETag, Location, Link, X-Total-Count, X-Request-Id, " +
		"Preference-Applied, Range-Unit, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-Supabase-Api-Version"}
)

// CORS lets pages of any origin call the surface, with any headers. That is safe because credentials are bearer tokens, which
// browsers do not add by themselves. The one cookie that is read, by which owners see the files of unpublished works, is not sent from
// other sites (SameSite=Strict).
func CORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Access-Control-Allow-Origin"] = anyOrigin
		h["Access-Control-Expose-Headers"] = exposedHeaders
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD")
			requested := r.Header.Get("Access-Control-Request-Headers")
			h.Set("Access-Control-Allow-Headers", cmp.Or(requested, "authorization, x-client-info, apikey, content-type, x-region"))
			h.Set("Access-Control-Max-Age", "3600")
			h.Add("Vary", "Access-Control-Request-Headers")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Guard is the middleware that checks the key or token of a request. It puts the caller into the context, or responds with an
// error. Responses to callers who are not anonymous get Cache-Control: no-store; a handler may replace it for public content.
func Guard(auth *identity.Authenticator, writeError ErrorWriter) Middleware {
	return func(next http.Handler) http.Handler {
		return Handle(writeError, func(w http.ResponseWriter, r *http.Request) error {
			caller, err := auth.Caller(r)
			if caller.Role != identity.Anon {
				w.Header().Set("Cache-Control", "no-store")
			}
			if err != nil {
				return err
			}
			next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
			return nil
		})
	}
}
