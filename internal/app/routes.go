package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"atelie/internal/apperr"
	"atelie/internal/auth"
	"atelie/internal/db"
	"atelie/internal/functions"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/pages"
	"atelie/internal/realtime"
	"atelie/internal/storage"
	"atelie/internal/storage/resumable"
	"atelie/internal/tables"
)

// This file maps URLs to handlers. The backend consists of surfaces: parts of the API with their own URL prefix and error format, such as
// /auth/v1/. A new route of the backend needs a line in eachSurface. All other URLs are registered in Handler.

// route is a pattern of http.ServeMux with its handler. A request is accepted only with a valid API key or access token, unless the route is
// public or allowAnonymous returns true for the request.
type route struct {
	pattern string
	handler httpx.Handler
	public  bool // keys and tokens are not checked, so the handler knows no caller and makes its own checks
	// allowAnonymous reports whether a request is accepted without a key or token. The handler then gets an anonymous caller. A nil function
	// accepts none. It is not used for a public route.
	allowAnonymous func(*http.Request) bool
}

const authPrefix = "/auth/v1/" // the surface of package auth

// Handler returns the handler for all URLs of the program.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	a.eachSurface(func(prefix string, writeError httpx.ErrorWriter, routes []route, middleware ...httpx.Middleware) {
		a.handleSurface(mux, prefix, writeError, routes, middleware...)
	})
	mux.HandleFunc("GET /health/live", a.live)
	mux.HandleFunc("GET /health/ready", a.ready)
	// Browsers report violations of the pages' content security policy here. The pattern names no method: with "POST", requests with other
	// methods would match the pattern "/" below, and get the page for unknown paths instead of the status 405.
	mux.Handle(pages.ReportPath, httpx.Handle(pages.WriteError, allowMethod(http.MethodPost, a.pages.Report)))
	for path, handler := range map[string]httpx.Handler{
		"/robots.txt": a.pages.Robots, "/sitemap.xml": a.pages.Sitemap, "/feed.xml": a.pages.Feed, "/site.webmanifest": a.pages.WebManifest,
		functions.EnquiryPath: a.Functions.Enquiry, functions.CalendarPath: a.Functions.Calendar,
	} {
		mux.Handle(path, httpx.Chain(httpx.Handle(pages.WriteError, handler), a.withTimeout, compressed))
	}
	page := httpx.Chain(httpx.Handle(pages.WriteError, a.pages.Page), a.pages.FromCache, a.withTimeout)
	for _, path := range []string{functions.EnquiryPath, functions.CalendarPath} {
		// Without this pattern, ServeMux would redirect the path without the slash to the path with it.
		mux.Handle(strings.TrimSuffix(path, "/"), page)
	}
	mux.Handle("/", page)
	middleware := []httpx.Middleware{httpx.Log(a.log, a.trusted, a.newObserver(surfaceOf)), withBodyDeadline(a.bodyTimeout), a.rejectDotSegments}
	if a.cfg.CDN.On {
		middleware = append([]httpx.Middleware{withSharedCache(a.cfg.CDN.PurgeURL != "")}, middleware...)
	}
	return httpx.Chain(mux, middleware...)
}

// eachSurface calls add with the prefix, error format, routes and middleware of each surface of the backend.
func (a *App) eachSurface(add func(prefix string, writeError httpx.ErrorWriter, routes []route, middleware ...httpx.Middleware)) {
	add(authPrefix, auth.WriteError, []route{
		{pattern: "POST /auth/v1/token", handler: a.Auth.Token},
		{pattern: "POST /auth/v1/logout", handler: a.Auth.Logout},
		{pattern: "GET /auth/v1/user", handler: a.Auth.GetUser},
		{pattern: "GET /auth/v1/authorize", handler: a.Auth.Authorize, public: true}, // a browser opens this URL and sends no key
		{pattern: "GET /auth/v1/callback", handler: a.Auth.Callback, public: true},   // the provider redirects the browser here
		{pattern: "POST /auth/v1/callback", handler: a.Auth.Callback, public: true},  // Apple sends a form
		{pattern: "GET /auth/v1/user/identities/authorize", handler: a.Auth.LinkIdentity},
		{pattern: "DELETE /auth/v1/user/identities/{identity_id}", handler: a.Auth.UnlinkIdentity},
		{pattern: "GET /auth/v1/settings", handler: a.Auth.Settings},
		{pattern: "GET /auth/v1/health", handler: a.Auth.Health},
		{pattern: "POST /auth/v1/setup", handler: a.Auth.Setup},
		{pattern: "POST /auth/v1/invite", handler: a.needsSpace(a.Auth.Invite)},
		{pattern: "GET /auth/v1/admin/users", handler: a.Auth.AdminListUsers},
		{pattern: "POST /auth/v1/admin/users", handler: a.needsSpace(a.Auth.AdminCreateUser)},
		{pattern: "GET /auth/v1/admin/users/{user_id}", handler: a.Auth.AdminGetUser},
		{pattern: "PUT /auth/v1/admin/users/{user_id}", handler: a.Auth.AdminUpdateUser},
		{pattern: "DELETE /auth/v1/admin/users/{user_id}", handler: a.Auth.AdminDeleteUser},
		{pattern: "GET /auth/v1/admin/users/{user_id}/factors", handler: a.Auth.AdminListFactors},
		{pattern: "PUT /auth/v1/admin/users/{user_id}/factors/{factor_id}", handler: a.Auth.AdminUpdateFactor},
		{pattern: "DELETE /auth/v1/admin/users/{user_id}/factors/{factor_id}", handler: a.Auth.AdminDeleteFactor},
		{pattern: "POST /auth/v1/admin/generate_link", handler: a.Auth.GenerateLink},
		{pattern: "POST /auth/v1/factors", handler: a.Auth.EnrolFactor},
		{pattern: "POST /auth/v1/factors/{id}/challenge", handler: a.Auth.ChallengeFactor},
		{pattern: "POST /auth/v1/factors/{id}/verify", handler: a.Auth.VerifyFactor},
		{pattern: "DELETE /auth/v1/factors/{id}", handler: a.Auth.UnenrolFactor},
		{pattern: "POST /auth/v1/factors/recovery_codes", handler: a.Auth.MakeRecoveryCodes},
		{pattern: "GET /auth/v1/factors/recovery_codes", handler: a.Auth.CountRecoveryCodes},
		{pattern: "POST /auth/v1/factors/recovery_codes/verify", handler: a.Auth.VerifyRecoveryCode},
		{pattern: "GET /auth/v1/user/sessions", handler: a.Auth.Sessions},
		{pattern: "DELETE /auth/v1/user/sessions/{id}", handler: a.Auth.EndSession},
		{pattern: "GET /auth/v1/admin/audit", handler: a.Auth.AuditLog},
		{pattern: "GET /auth/v1/.well-known/jwks.json", handler: a.Auth.JWKS, public: true},
		{pattern: "POST /auth/v1/signup", handler: a.needsSpace(a.Auth.Signup)},
		{pattern: "POST /auth/v1/otp", handler: a.Auth.OTP},
		{pattern: "POST /auth/v1/magiclink", handler: a.Auth.MagicLink},
		{pattern: "POST /auth/v1/recover", handler: a.Auth.Recover},
		{pattern: "POST /auth/v1/resend", handler: a.Auth.Resend},
		{pattern: "GET /auth/v1/reauthenticate", handler: a.Auth.Reauthenticate},
		{pattern: "POST /auth/v1/reauthenticate", handler: a.Auth.ConfirmReauthentication},
		{pattern: "POST /auth/v1/verify", handler: a.Auth.Verify},
		{pattern: "GET /auth/v1/verify", handler: a.Auth.VerifyLink, public: true}, // HEAD too
		{pattern: "PUT /auth/v1/user", handler: a.Auth.UpdateUser},
		{pattern: "POST /auth/v1/sso", handler: a.Auth.SSO},
		{pattern: "GET /auth/v1/sso/saml/metadata", handler: a.Auth.SAMLMetadata, public: true},
		{pattern: "POST /auth/v1/sso/saml/acs", handler: a.Auth.SAMLACS, public: true},
		{pattern: "GET /auth/v1/admin/sso/providers", handler: a.Auth.AdminListSSOProviders},
		{pattern: "POST /auth/v1/admin/sso/providers", handler: a.Auth.AdminAddSSOProvider},
		{pattern: "GET /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminGetSSOProvider},
		{pattern: "PUT /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminUpdateSSOProvider},
		{pattern: "DELETE /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminDeleteSSOProvider},
	}, a.withTimeout, compressed)
	add("/rest/v1/", tables.WriteError, []route{
		{pattern: "GET /rest/v1/rpc/{function}", handler: a.Tables.RPC},
		{pattern: "POST /rest/v1/rpc/{function}", handler: withActor(a.Tables.RPC)},
		{pattern: "GET /rest/v1/rpc/get_site_settings", handler: a.settings.Get}, // HEAD too
		{pattern: "POST /rest/v1/rpc/get_site_settings", handler: a.settings.Get},
		{pattern: "POST /rest/v1/rpc/save_site_settings", handler: withActor(a.needsSpace(a.settings.Save))},
		{pattern: "POST /rest/v1/rpc/get_site_health", handler: a.health.GetSiteHealth},
		{pattern: "POST /rest/v1/rpc/get_history", handler: a.history.GetHistory},
		{pattern: "POST /rest/v1/rpc/get_deleted", handler: a.history.GetDeleted},
		{pattern: "POST /rest/v1/rpc/restore_files", handler: a.history.RestoreFiles},
		{pattern: "POST /rest/v1/rpc/get_activity", handler: a.activity.GetActivity},
		{pattern: "GET /rest/v1/{table}", handler: a.withOwnerCookie(a.Tables.Read)}, // HEAD too
		{pattern: "POST /rest/v1/{table}", handler: withActor(a.needsSpace(a.Tables.Insert))},
		{pattern: "PATCH /rest/v1/{table}", handler: withActor(a.needsSpace(a.Tables.Update))},
		{pattern: "DELETE /rest/v1/{table}", handler: withActor(a.Tables.Delete)},
		{pattern: "PUT /rest/v1/{table}", handler: withActor(a.needsSpace(a.Tables.Put))},
		{pattern: "OPTIONS /rest/v1/{table}", handler: a.Tables.Options},
		{pattern: "OPTIONS /rest/v1/rpc/{function}", handler: a.Tables.RPCOptions},
		{pattern: "/rest/v1/{$}", handler: a.Tables.Root},
		{pattern: "/rest/v1/{table}", handler: a.Tables.RejectMethod},
		{pattern: "/rest/v1/rpc/{function}", handler: a.Tables.RejectRPCMethod},
	}, a.responses.FromCache, a.withTimeout, compressed)
	add("/storage/v1/", storage.WriteError, []route{
		{pattern: "GET /storage/v1/bucket", handler: a.Storage.Buckets},
		{pattern: "POST /storage/v1/bucket", handler: a.needsSpace(a.Storage.CreateBucket)},
		{pattern: "GET /storage/v1/bucket/{bucket}", handler: a.Storage.Bucket},
		{pattern: "PUT /storage/v1/bucket/{bucket}", handler: a.needsSpace(a.Storage.UpdateBucket)},
		{pattern: "POST /storage/v1/bucket/{bucket}/empty", handler: a.Storage.EmptyBucket},
		{pattern: "DELETE /storage/v1/bucket/{bucket}", handler: a.Storage.DeleteBucket},
		{pattern: "GET /storage/v1/object/public/{bucket}/{path...}", handler: a.Storage.Public, public: true}, // HEAD too
		{pattern: "GET /storage/v1/object/authenticated/{bucket}/{path...}", handler: a.Storage.Download},
		{pattern: "GET /storage/v1/object/{bucket}/{path...}", handler: a.Storage.Download},
		{pattern: "GET /storage/v1/object/sign/{bucket}/{path...}", handler: a.Storage.Signed, public: true}, // checks the token in the URL; HEAD too
		{pattern: "POST /storage/v1/object/sign/{bucket}/{path...}", handler: a.Storage.Sign},
		{pattern: "POST /storage/v1/object/sign/{bucket}", handler: a.Storage.SignMany},
		{pattern: "POST /storage/v1/object/upload/sign/{bucket}/{path...}", handler: a.Storage.SignUpload},
		{pattern: "PUT /storage/v1/object/upload/sign/{bucket}/{path...}", handler: a.needsSpace(a.Storage.SignedUpload), public: true},
		{pattern: "GET /storage/v1/object/info/public/{bucket}/{path...}", handler: a.Storage.PublicInfo, public: true},
		{pattern: "GET /storage/v1/object/info/authenticated/{bucket}/{path...}", handler: a.Storage.Info},
		{pattern: "GET /storage/v1/object/info/{bucket}/{path...}", handler: a.Storage.Info},
		{pattern: "GET /storage/v1/render/image/public/{bucket}/{path...}", handler: a.Media.RenderPublic, public: true}, // HEAD too
		{pattern: "GET /storage/v1/render/image/authenticated/{bucket}/{path...}", handler: a.Media.Render},
		{pattern: "GET /storage/v1/render/image/sign/{bucket}/{path...}", handler: a.Storage.RenderSigned, public: true}, // checks the token in the URL
		{pattern: "POST /storage/v1/object/list/{bucket}", handler: a.Storage.List},
		{pattern: "POST /storage/v1/object/list-v2/{bucket}", handler: a.Storage.ListV2},
		{pattern: "POST /storage/v1/object/move", handler: a.Storage.Move},
		{pattern: "POST /storage/v1/object/copy", handler: a.needsSpace(a.Storage.Copy)},
		{pattern: "POST /storage/v1/object/{bucket}/{path...}", handler: a.needsSpace(a.Storage.Upload)},
		{pattern: "PUT /storage/v1/object/{bucket}/{path...}", handler: a.needsSpace(a.Storage.Replace)},
		{pattern: "OPTIONS " + resumable.Path, handler: a.uploads.Options, public: true},
		{pattern: "OPTIONS " + resumable.Path + "/{id...}", handler: a.uploads.Options, public: true},
		{pattern: "POST " + resumable.Path, handler: a.needsSpace(a.uploads.Create)},
		{pattern: "POST " + resumable.Path + "/{$}", handler: a.needsSpace(a.uploads.Create)},
		{pattern: "POST " + resumable.SignedPath, handler: a.needsSpace(a.uploads.Signed(a.uploads.Create)), public: true}, // Signed checks the signature
		{pattern: "POST " + resumable.SignedPath + "/{$}", handler: a.needsSpace(a.uploads.Signed(a.uploads.Create)), public: true},
		{pattern: "HEAD " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Head), public: true},
		{pattern: "PATCH " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Patch), public: true},
		{pattern: "DELETE " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Delete), public: true},
		{pattern: "HEAD " + resumable.Path + "/{id}", handler: a.uploads.Head},
		{pattern: "PATCH " + resumable.Path + "/{id}", handler: a.uploads.Patch},
		{pattern: "DELETE " + resumable.Path + "/{id}", handler: a.uploads.Delete},
		{pattern: "DELETE /storage/v1/object/{bucket}", handler: a.Storage.Remove},
		{pattern: "DELETE /storage/v1/object/{bucket}/{path...}", handler: a.Storage.RemoveOne},
	}, a.Storage.FromCache, a.Media.FromCache, a.withStatementTimeout)
	add("/functions/v1/", functions.WriteError, []route{
		{pattern: "/functions/v1/{name}", handler: withActor(a.Functions.Invoke), allowAnonymous: functions.AllowAnonymous},
	}, a.withTimeout, compressed)
	add("/realtime/v1/", realtime.WriteError, []route{
		{pattern: "GET /realtime/v1/websocket", handler: a.Realtime.WebSocket},
		{pattern: "POST /realtime/v1/api/broadcast", handler: a.Realtime.Broadcast},
		{pattern: "POST /realtime/v1/api/broadcast/{topic}/events/{event}", handler: a.Realtime.SendEvent},
	}, a.withTimeout)
}

// handleSurface registers the routes of one surface. A request passes CORS first, then middleware, then the check of its key or token. An
// unknown path gets the status 404, a path without a route for the method 405, both in the error format of the surface.
func (a *App) handleSurface(mux *http.ServeMux, prefix string, writeError httpx.ErrorWriter, routes []route, middleware ...httpx.Middleware) {
	authenticator := a.authenticator
	if prefix == authPrefix {
		// Caller.Admin stays false, which saves a query. The handlers of package auth do not use that field, because they read the caller's
		// account themselves.
		authenticator = &identity.Authenticator{Tokens: a.Tokens}
	}
	inner := http.NewServeMux()
	for _, r := range routes {
		h := httpx.Handle(writeError, r.handler)
		if !r.public {
			h = guardUnlessAnonymous(r.allowAnonymous, h, httpx.Guard(authenticator, writeError)(h))
		}
		inner.Handle(r.pattern, h)
	}
	nowhere := httpx.Handle(writeError, func(w http.ResponseWriter, r *http.Request) error {
		if methods := allowedMethods(inner, r); len(methods) > 0 {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			return errNoMethod.Becausef("%s %s", r.Method, r.URL.Path)
		}
		return apperr.New(http.StatusNotFound, "not_found", "Not found")
	})
	mux.Handle(prefix, httpx.Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if matchesRoute(inner, r.Method, r) {
			inner.ServeHTTP(w, r)
		} else {
			nowhere.ServeHTTP(w, r)
		}
	}), append([]httpx.Middleware{httpx.CORS}, middleware...)...))
}

// matchesRoute reports whether a method and the path of a request match a route. A path that lacks the slash before a {path...}
// does not match, although the mux would redirect it.
func matchesRoute(mux *http.ServeMux, method string, r *http.Request) bool {
	_, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
	return pattern != "" && (!strings.HasSuffix(pattern, "...}") || strings.Count(r.URL.EscapedPath(), "/") >= strings.Count(pattern, "/"))
}

// allowedMethods returns the methods with which the path of a request matches a route.
func allowedMethods(mux *http.ServeMux, r *http.Request) []string {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}
	return slices.DeleteFunc(all, func(method string) bool { return !matchesRoute(mux, method, r) })
}

// withActor names the caller's account to the transactions of a request, for the revisions and the activity that they leave.
func withActor(next httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		return next(w, r.WithContext(db.WithActor(ctx, identity.Of(ctx).UserID)))
	}
}

// allowMethod returns a handler that rejects all methods except one with the status 405.
func allowMethod(method string, next httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != method {
			w.Header().Set("Allow", method)
			return errNoMethod
		}
		return next(w, r)
	}
}

var errNoMethod = apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")

// guardUnlessAnonymous returns a handler that passes requests for which anonymous returns true to open, with the rights of an
// anonymous caller, and all others to guarded.
func guardUnlessAnonymous(anonymous func(*http.Request) bool, open, guarded http.Handler) http.Handler {
	if anonymous == nil {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if anonymous(r) {
			open.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Caller{Role: identity.Anon})))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// withBodyDeadline ends a request whose body has not arrived after limit, even if no handler reads it. Uploads extend the
// deadline with each piece that arrives.
func withBodyDeadline(limit time.Duration) httpx.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body != nil && r.Body != http.NoBody {
				c := http.NewResponseController(w)
				// An error means that the writer has no connection, as in tests; then no deadline is needed.
				_ = c.SetReadDeadline(time.Now().Add(limit))
				r.Body = deadlineBody{r.Body, c}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// deadlineBody removes the read deadline when the body has been read. From then on net/http reads from the connection to
// notice that the client disconnects, and would mistake the deadline for that.
type deadlineBody struct {
	io.ReadCloser
	c *http.ResponseController
}

func (b deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.c.SetReadDeadline(time.Time{})
	}
	return n, err
}

// withTimeout ends the context of a request after requestTimeout.
func (a *App) withTimeout(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.requestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// withStatementTimeout limits each statement of a request to requestTimeout, because the transfer of a file may take longer.
func (a *App) withStatementTimeout(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(db.WithStatementTimeout(r.Context(), a.requestTimeout)))
	})
}

// compressed compresses responses with zstd or gzip if the client accepts it. It does not compress pictures and videos.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }

// rejectDotSegments rejects, with the status 400, URLs of the backend with empty segments or dot segments. The mux would
// redirect them, which clients of an API do not expect.
func (a *App) rejectDotSegments(next http.Handler) http.Handler {
	rejections := map[string]http.Handler{} // by the prefix of the surface
	a.eachSurface(func(prefix string, writeError httpx.ErrorWriter, _ []route, _ ...httpx.Middleware) {
		rejections[prefix] = httpx.Handle(writeError, func(http.ResponseWriter, *http.Request) error {
			return apperr.New(http.StatusBadRequest, "invalid_path", "The URL has empty or dot segments")
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
			for prefix, rejection := range rejections {
				if strings.HasPrefix(r.URL.Path, prefix) {
					rejection.ServeHTTP(w, r)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
