package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"atelie/internal/apperr"
	"atelie/internal/auth"
	"atelie/internal/functions"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/pages"
	"atelie/internal/realtime"
	"atelie/internal/storage"
	"atelie/internal/storage/resumable"
	"atelie/internal/tables"
)

// route is one line of the URL map. A guarded route needs a valid key or token; a public one does not look at them.
// What keyless tells comes without a key, and counts as an anonymous visitor's.
type route struct {
	pattern string
	handler httpx.Handler
	public  bool
	keyless func(*http.Request) bool
}

// Handler is the whole URL map.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	a.surface(mux, "/auth/v1/", auth.WriteError, []route{
		{pattern: "POST /auth/v1/token", handler: a.Auth.Token},
		{pattern: "POST /auth/v1/logout", handler: a.Auth.Logout},
		{pattern: "GET /auth/v1/user", handler: a.Auth.GetUser},
		{pattern: "GET /auth/v1/authorize", handler: a.Auth.Authorize, public: true}, // a browser goes there by itself
		{pattern: "GET /auth/v1/callback", handler: a.Auth.Callback, public: true},   // and comes back here
		{pattern: "POST /auth/v1/callback", handler: a.Auth.Callback, public: true},  // Apple
		{pattern: "GET /auth/v1/user/identities/authorize", handler: a.Auth.LinkIdentity},
		{pattern: "DELETE /auth/v1/user/identities/{identity_id}", handler: a.Auth.UnlinkIdentity},
		{pattern: "GET /auth/v1/settings", handler: a.Auth.Settings},
		{pattern: "GET /auth/v1/health", handler: a.Auth.Health},
		{pattern: "POST /auth/v1/setup", handler: a.Auth.Setup},
		{pattern: "POST /auth/v1/invite", handler: a.Auth.Invite},
		{pattern: "GET /auth/v1/admin/users", handler: a.Auth.AdminListUsers},
		{pattern: "POST /auth/v1/admin/users", handler: a.Auth.AdminCreateUser},
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
		{pattern: "POST /auth/v1/signup", handler: a.Auth.Signup},
		{pattern: "POST /auth/v1/otp", handler: a.Auth.OTP},
		{pattern: "POST /auth/v1/magiclink", handler: a.Auth.MagicLink},
		{pattern: "POST /auth/v1/recover", handler: a.Auth.Recover},
		{pattern: "POST /auth/v1/resend", handler: a.Auth.Resend},
		{pattern: "GET /auth/v1/reauthenticate", handler: a.Auth.Reauthenticate},
		{pattern: "POST /auth/v1/verify", handler: a.Auth.Verify},
		{pattern: "GET /auth/v1/verify", handler: a.Auth.VerifyLink, public: true}, // HEAD too
		{pattern: "PUT /auth/v1/user", handler: a.Auth.UpdateUser},
		{pattern: "POST /auth/v1/sso", handler: a.Auth.SSO},
		{pattern: "GET /auth/v1/sso/saml/metadata", handler: a.Auth.SAMLMetadata, public: true},
		{pattern: "POST /auth/v1/sso/saml/acs", handler: a.Auth.SAMLACS, public: true},
		{pattern: "GET /auth/v1/admin/sso/providers", handler: a.Auth.AdminSSOProviders},
		{pattern: "POST /auth/v1/admin/sso/providers", handler: a.Auth.AdminAddSSOProvider},
		{pattern: "GET /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminSSOProvider},
		{pattern: "PUT /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminUpdateSSOProvider},
		{pattern: "DELETE /auth/v1/admin/sso/providers/{id}", handler: a.Auth.AdminDeleteSSOProvider},
	}, a.timely, compressed)
	a.surface(mux, "/rest/v1/", tables.WriteError, []route{
		{pattern: "GET /rest/v1/rpc/{function}", handler: a.Tables.RPC},
		{pattern: "POST /rest/v1/rpc/{function}", handler: a.Tables.RPC},
		{pattern: "GET /rest/v1/rpc/get_site_settings", handler: a.pages.GetSettings}, // HEAD too
		{pattern: "POST /rest/v1/rpc/get_site_settings", handler: a.pages.GetSettings},
		{pattern: "POST /rest/v1/rpc/save_site_settings", handler: a.pages.SaveSettings},
		{pattern: "GET /rest/v1/{table}", handler: a.Tables.Read}, // HEAD too
		{pattern: "POST /rest/v1/{table}", handler: a.Tables.Insert},
		{pattern: "PATCH /rest/v1/{table}", handler: a.Tables.Update},
		{pattern: "DELETE /rest/v1/{table}", handler: a.Tables.Delete},
		{pattern: "PUT /rest/v1/{table}", handler: a.Tables.Put},
		{pattern: "OPTIONS /rest/v1/{table}", handler: a.Tables.Options},
		{pattern: "OPTIONS /rest/v1/rpc/{function}", handler: a.Tables.RPCOptions},
		{pattern: "/rest/v1/{$}", handler: a.Tables.Root},
		{pattern: "/rest/v1/{table}", handler: a.Tables.NoMethod},
		{pattern: "/rest/v1/rpc/{function}", handler: a.Tables.NoRPCMethod},
	}, a.kept.Around, a.timely, compressed)
	a.surface(mux, "/storage/v1/", storage.WriteError, []route{
		{pattern: "GET /storage/v1/bucket", handler: a.Storage.Buckets},
		{pattern: "POST /storage/v1/bucket", handler: a.Storage.CreateBucket},
		{pattern: "GET /storage/v1/bucket/{bucket}", handler: a.Storage.Bucket},
		{pattern: "PUT /storage/v1/bucket/{bucket}", handler: a.Storage.UpdateBucket},
		{pattern: "POST /storage/v1/bucket/{bucket}/empty", handler: a.Storage.EmptyBucket},
		{pattern: "DELETE /storage/v1/bucket/{bucket}", handler: a.Storage.DeleteBucket},
		{pattern: "GET /storage/v1/object/public/{bucket}/{path...}", handler: a.Storage.Public, public: true}, // HEAD too
		{pattern: "GET /storage/v1/object/authenticated/{bucket}/{path...}", handler: a.Storage.Download},
		{pattern: "GET /storage/v1/object/{bucket}/{path...}", handler: a.Storage.Download},
		{pattern: "GET /storage/v1/object/sign/{bucket}/{path...}", handler: a.Storage.Signed, public: true}, // its token opens it; HEAD too
		{pattern: "POST /storage/v1/object/sign/{bucket}/{path...}", handler: a.Storage.Sign},
		{pattern: "POST /storage/v1/object/sign/{bucket}", handler: a.Storage.SignMany},
		{pattern: "POST /storage/v1/object/upload/sign/{bucket}/{path...}", handler: a.Storage.SignUpload},
		{pattern: "PUT /storage/v1/object/upload/sign/{bucket}/{path...}", handler: a.Storage.SignedUpload, public: true},
		{pattern: "GET /storage/v1/object/info/public/{bucket}/{path...}", handler: a.Storage.PublicInfo, public: true},
		{pattern: "GET /storage/v1/object/info/authenticated/{bucket}/{path...}", handler: a.Storage.Info},
		{pattern: "GET /storage/v1/object/info/{bucket}/{path...}", handler: a.Storage.Info},
		{pattern: "GET /storage/v1/render/image/public/{bucket}/{path...}", handler: a.Storage.RenderPublic, public: true}, // HEAD too
		{pattern: "GET /storage/v1/render/image/authenticated/{bucket}/{path...}", handler: a.Storage.Render},
		{pattern: "GET /storage/v1/render/image/sign/{bucket}/{path...}", handler: a.Storage.RenderSigned, public: true}, // its token opens it
		{pattern: "POST /storage/v1/object/list/{bucket}", handler: a.Storage.List},
		{pattern: "POST /storage/v1/object/list-v2/{bucket}", handler: a.Storage.ListV2},
		{pattern: "POST /storage/v1/object/move", handler: a.Storage.Move},
		{pattern: "POST /storage/v1/object/copy", handler: a.Storage.Copy},
		{pattern: "POST /storage/v1/object/{bucket}/{path...}", handler: a.Storage.Upload},
		{pattern: "PUT /storage/v1/object/{bucket}/{path...}", handler: a.Storage.Replace},
		{pattern: "OPTIONS " + resumable.Path, handler: a.uploads.Options, public: true},
		{pattern: "OPTIONS " + resumable.Path + "/{id...}", handler: a.uploads.Options, public: true},
		{pattern: "POST " + resumable.Path, handler: a.uploads.Create},
		{pattern: "POST " + resumable.Path + "/{$}", handler: a.uploads.Create},
		{pattern: "POST " + resumable.SignedPath, handler: a.uploads.Signed(a.uploads.Create), public: true}, // its signature opens it
		{pattern: "POST " + resumable.SignedPath + "/{$}", handler: a.uploads.Signed(a.uploads.Create), public: true},
		{pattern: "HEAD " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Head), public: true},
		{pattern: "PATCH " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Patch), public: true},
		{pattern: "DELETE " + resumable.SignedPath + "/{id}", handler: a.uploads.Signed(a.uploads.Delete), public: true},
		{pattern: "HEAD " + resumable.Path + "/{id}", handler: a.uploads.Head},
		{pattern: "PATCH " + resumable.Path + "/{id}", handler: a.uploads.Patch},
		{pattern: "DELETE " + resumable.Path + "/{id}", handler: a.uploads.Delete},
		{pattern: "DELETE /storage/v1/object/{bucket}", handler: a.Storage.Remove},
		{pattern: "DELETE /storage/v1/object/{bucket}/{path...}", handler: a.Storage.RemoveOne},
	})
	a.surface(mux, "/functions/v1/", functions.WriteError, []route{
		{pattern: "/functions/v1/{name}", handler: a.Functions.Invoke, keyless: functions.Keyless},
	}, a.timely, compressed)
	a.surface(mux, "/realtime/v1/", realtime.WriteError, []route{
		{pattern: "GET /realtime/v1/websocket", handler: a.Realtime.WebSocket},
		{pattern: "POST /realtime/v1/api/broadcast", handler: a.Realtime.Broadcast},
		{pattern: "POST /realtime/v1/api/broadcast/{topic}/events/{event}", handler: a.Realtime.SendEvent},
	}, a.timely)
	mux.HandleFunc("GET /health/live", a.live)
	mux.HandleFunc("GET /health/ready", a.ready)
	mux.Handle("POST "+pages.ReportPath, httpx.Handle(pages.WriteError, a.pages.Report(a.log)))
	for path, handler := range map[string]httpx.Handler{
		"/robots.txt": a.pages.Robots, "/sitemap.xml": a.pages.Sitemap, "/feed.xml": a.pages.Feed, "/site.webmanifest": a.pages.WebManifest,
	} {
		mux.Handle(path, httpx.Chain(httpx.Handle(pages.WriteError, handler), a.timely, compressed))
	}
	mux.Handle("/", httpx.Chain(httpx.Handle(pages.WriteError, a.pages.Page), a.pages.Kept, a.timely))
	return httpx.Chain(mux, httpx.Log(a.log, a.trusted), bounded(a.bodyTime), refuseClimbing)
}

// surface registers the routes of one contract: CORS outside, then the token check, then the endpoint. What is not
// listed is closed, in the contract's own error shape.
func (a *App) surface(mux *http.ServeMux, prefix string, write httpx.ErrorWriter, routes []route, ms ...httpx.Middleware) {
	inner := http.NewServeMux()
	for _, r := range routes {
		h := httpx.Handle(write, r.handler)
		if !r.public {
			h = allow(r.keyless, h, httpx.Guard(a.authenticator, write)(h))
		}
		inner.Handle(r.pattern, h)
	}
	inner.Handle(prefix, httpx.Handle(write, func(http.ResponseWriter, *http.Request) error {
		return apperr.New(http.StatusNotFound, "not_found", "Not found")
	}))
	mux.Handle(prefix, httpx.Chain(inner, append([]httpx.Middleware{httpx.CORS}, ms...)...))
}

// allow lets what keyless tells past the guard, as an anonymous visitor.
func allow(keyless func(*http.Request) bool, open, guarded http.Handler) http.Handler {
	if keyless == nil {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if keyless(r) {
			open.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Caller{Role: identity.Anon})))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// bounded ends a request whose body does not arrive in time, also when nobody reads it. Uploads move the deadline on
// with every piece: a film on a slow line takes as long as it takes.
func bounded(limit time.Duration) httpx.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Body != nil && r.Body != http.NoBody {
				c := http.NewResponseController(w)
				// An error means that the connection has no deadlines (a test's recorder): then there is nothing to bound.
				_ = c.SetReadDeadline(time.Now().Add(limit))
				r.Body = boundedBody{r.Body, c}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// boundedBody takes the deadline away at its end: net/http then waits for the caller to leave, and would take a
// deadline for that.
type boundedBody struct {
	io.ReadCloser
	c *http.ResponseController
}

func (b boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.c.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timely gives up on a request that waits for the database for too long.
func (a *App) timely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.answerTime)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// compressed answers with zstd or gzip when the client takes it. Pictures and films are left as they are.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }

// refuseClimbing answers dot segments and empty ones in backend addresses with 400, where the mux would redirect to
// what is left of them.
func refuseClimbing(next http.Handler) http.Handler {
	surfaces := map[string]httpx.ErrorWriter{
		"/auth/v1": auth.WriteError, "/rest/v1": tables.WriteError, "/storage/v1": storage.WriteError, "/functions/v1": functions.WriteError,
		"/realtime/v1": realtime.WriteError,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for prefix, write := range surfaces {
			if !strings.HasPrefix(r.URL.Path, prefix+"/") {
				continue
			}
			if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
				httpx.Handle(write, func(http.ResponseWriter, *http.Request) error {
					return apperr.New(http.StatusBadRequest, "invalid_path", "The address holds empty or dot segments")
				}).ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
