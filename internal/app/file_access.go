package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
	"atelie/internal/settings"
	"atelie/internal/storage"
)

// This file hides the files of works and covers that visitors must not see yet.
//   - A file is hidden if only unpublished works and covers use it. A cover (a picture or video at the top of the home page) is unpublished
//     while the home page does not show it.
//   - For a hidden file, visitors get the response for a missing file, even at its public URL.
//   - Owners (administrators) see hidden files in the <img> and <video> elements of the admin area. These elements send no token, so a
//     cookie identifies the owners.

const (
	ownerCookie         = "atelie-files" // name of the cookie, and purpose string (deriveKey) of the key that signs it
	ownerCookieLifetime = 12 * time.Hour // each response with a list of works or covers renews the cookie
	// ownerCookiePath is the beginning of the paths of all files. Browsers send the cookie to no other path.
	ownerCookiePath = "/storage/v1/"
)

// ownerClaims are the claims of the cookie, which is a JWT: the account and its session.
type ownerClaims struct {
	jwt.RegisteredClaims // Subject is the id of the account

	SessionID string `json:"session_id"`
	AAL       string `json:"aal"` // assurance level of the session: aal2 after a second factor, otherwise aal1
}

// fileAccess returns which access to an object (a stored file) this request has: AccessAll if everybody may read the object, AccessOwner if
// an owner sent the request, otherwise AccessNone. An owner is recognized by a token, a signed URL or the cookie. Packages storage and
// media call fileAccess for each request of a file (files.AccessFunc).
func (a *App) fileAccess(r *http.Request, bucket, name string) (files.Access, error) {
	if !files.SiteBucket(bucket) { // files in other buckets are never hidden
		return files.AccessAll, nil
	}
	ctx := r.Context()
	isHidden, err := a.hiddenFiles.contain(ctx, a, bucket+"/"+name)
	if err != nil {
		return files.AccessNone, err
	}
	if !isHidden {
		return files.AccessAll, nil
	}
	// Every caller may read a public bucket, but only owners and the service key (the API key with full rights) may write to it. So the right
	// to write identifies a caller who may also read hidden files.
	if policy.Object(identity.Of(ctx), bucket, policy.FileWrite) || files.IsSignedByOwner(r) {
		return files.AccessOwner, nil
	}
	isOwner, err := a.hasOwnerCookie(r)
	if err != nil || !isOwner {
		return files.AccessNone, err
	}
	return files.AccessOwner, nil
}

// hiddenFiles is the set of the hidden objects. The set is read again after each edit.
type hiddenFiles struct {
	mu      sync.Mutex // locked during a read, so that concurrent requests read the set only once
	version int64      // content version of the last edit before the read; 0 before the first read
	objects map[string]bool
}

// contain reports whether an object, named as bucket/name, is in the set.
func (h *hiddenFiles) contain(ctx context.Context, a *App, object string) (bool, error) {
	versions, err := a.content.Current(ctx)
	if err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != versions.Edited {
		objects, err := a.findHiddenFiles(ctx)
		if err != nil {
			return false, err
		}
		h.version, h.objects = versions.Edited, objects
	}
	return h.objects[object], nil
}

func (a *App) findHiddenFiles(ctx context.Context) (map[string]bool, error) {
	unpublished, others, err := a.Tables.UnpublishedMediaURLs(ctx)
	if err != nil || len(unpublished) == 0 {
		return nil, err
	}
	site, err := settings.LoadSite(ctx, a.DB)
	if err != nil {
		return nil, err
	}
	hidden := storage.ReferencedObjects(unpublished)
	for object := range storage.ReferencedObjects(append(others, site.Portrait)) {
		delete(hidden, object)
	}
	return hidden, nil
}

// withOwnerCookie sets the cookie in responses with works or covers to administrators.
func (a *App) withOwnerCookie(next httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if caller := identity.Of(r.Context()); caller.Admin && caller.SessionID != "" && (r.PathValue("table") == "products" || r.PathValue("table") == "cover_images") {
			if err := a.setOwnerCookie(w, caller); err != nil {
				return err
			}
		}
		return next(w, r)
	}
}

func (a *App) setOwnerCookie(w http.ResponseWriter, caller identity.Caller) error {
	claims := ownerClaims{jwt.RegisteredClaims{Subject: caller.UserID, ExpiresAt: jwt.NewNumericDate(a.now().Add(ownerCookieLifetime))}, caller.SessionID, caller.AAL}
	value, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(a.currentKey(ownerCookie))
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: ownerCookie, Value: value, Path: ownerCookiePath, MaxAge: int(ownerCookieLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(a.cfg.Server.SiteURL, "https:"),
	})
	return nil
}

// hasOwnerCookie reports whether the request has the cookie of an administrator whose session has not ended.
func (a *App) hasOwnerCookie(r *http.Request) (bool, error) {
	cookies := r.CookiesNamed(ownerCookie)
	if len(cookies) != 1 {
		return false, nil
	}
	var claims ownerClaims
	if _, err := jwt.ParseWithClaims(cookies[0].Value, &claims, func(*jwt.Token) (any, error) { return a.currentKey(ownerCookie), nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(a.now)); err != nil {
		return false, nil //nolint:nilerr // it was signed with another secret, for example; the next list of works brings a new one
	}
	ctx := identity.With(r.Context(), identity.Caller{Role: identity.Authenticated, UserID: claims.Subject, SessionID: claims.SessionID, AAL: claims.AAL})
	return a.Auth.IsAdmin(ctx, claims.Subject, claims.SessionID)
}
