package httpx

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/identity"
)

// Middleware wraps a handler.
type Middleware func(http.Handler) http.Handler

// Chain applies middlewares so that the first one named is the outermost.
func Chain(h http.Handler, ms ...Middleware) http.Handler {
	for i := len(ms) - 1; i >= 0; i-- {
		h = ms[i](h)
	}
	return h
}

// requestInfo travels in the context so that the access log can tell what went wrong further down.
type requestInfo struct {
	id  string
	ip  string
	err *apperr.Error
}

type infoKey struct{}

func info(ctx context.Context) *requestInfo {
	i, _ := ctx.Value(infoKey{}).(*requestInfo)
	return i
}

// NoteError lets the access log tell of an error that is answered otherwise than by an error body, such as a redirect.
func NoteError(ctx context.Context, e *apperr.Error) {
	if i := info(ctx); i != nil {
		i.err = e
	}
}

// RequestID gives the id under which the request stands in the log.
func RequestID(ctx context.Context) string {
	if i := info(ctx); i != nil {
		return i.id
	}
	return ""
}

// ClientIP gives the visitor's address, found with the proxies that the owner trusts.
func ClientIP(ctx context.Context) string {
	if i := info(ctx); i != nil {
		return i.ip
	}
	return ""
}

// LimitSubject gives what limits count the visitor as: the address, or a whole /64 for IPv6, as one subscriber commands
// all of it.
func LimitSubject(ctx context.Context) string {
	ip := ClientIP(ctx)
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}
	return netip.PrefixFrom(addr.WithZone(""), 64).Masked().String()
}

// Log gives each request an id, writes one line when it is done, and turns a panic into a 500.
func Log(log *slog.Logger, trusted []netip.Prefix) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
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
				writeLine(r, log, rec, i, time.Since(start))
				if p != nil {
					panic(http.ErrAbortHandler) // half an answer must not look like a whole one
				}
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

func writeLine(r *http.Request, log *slog.Logger, rec *recorder, i *requestInfo, took time.Duration) {
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("id", i.id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", status), slog.Int64("bytes", rec.bytes), slog.Duration("took", took), slog.String("ip", i.ip),
	}
	if i.err != nil {
		attrs = append(attrs, slog.String("code", i.err.Code), slog.String("message", i.err.Message))
		if i.err.Cause != nil {
			attrs = append(attrs, slog.String("cause", loggedCause(i.err.Cause, status)))
		}
	}
	switch {
	case status >= 500:
		level = slog.LevelError
	case i.err != nil:
		level = slog.LevelWarn
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

const maxCause = 1000 // bytes

// loggedCause cuts the causes of refusals, which quote what callers send: they must not fill the log. Our own failures
// are kept whole.
func loggedCause(cause error, status int) string {
	text := cause.Error()
	if status < http.StatusInternalServerError && len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "…"
	}
	return text
}

// recorder remembers what was answered.
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
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// clientIP believes X-Forwarded-For only as far as the chain of trusted proxies reaches, read from the right.
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
	return addr.Unmap().WithZone("").String() // a forwarded zone can be any text
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// CORS answers preflights for any origin with the client's headers: credentials are bearer tokens, never cookies.
func CORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, ETag, Location, Link, X-Total-Count, X-Request-Id, "+
			"Preference-Applied, Range-Unit, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-Supabase-Api-Version")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD")
			allow := "authorization, x-client-info, apikey, content-type, x-region"
			if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
				allow = asked
			}
			h.Set("Access-Control-Allow-Headers", allow)
			h.Set("Access-Control-Max-Age", "3600")
			h.Add("Vary", "Access-Control-Request-Headers")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Guard lets a request through with its caller in the context, or writes why not.
func Guard(auth *identity.Authenticator, write ErrorWriter) Middleware {
	return func(next http.Handler) http.Handler {
		return Handle(write, func(w http.ResponseWriter, r *http.Request) error {
			caller, err := auth.Caller(r)
			if err != nil {
				return err
			}
			next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), caller)))
			return nil
		})
	}
}
