package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file reads the request bodies and writes the responses of the handlers in this package. errors.go writes errors.

// respond writes body as JSON. If err is not nil, it writes nothing and returns err, so that a handler can end with "return respond(w,
// status, body, err)". The functions below whose names begin with respond do the same with their parameter err, if they have one.
func respond(w http.ResponseWriter, status int, body any, err error) error {
	if err != nil {
		return err
	}
	return httpx.JSON(w, status, body)
}

// respondPrivate writes body with status 200, marked so that no cache stores it.
func respondPrivate(w http.ResponseWriter, body any, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
	}
	return respond(w, http.StatusOK, body, err)
}

// respondPrivateText is respondPrivate for a body that is already encoded as JSON.
func respondPrivateText(w http.ResponseWriter, body []byte) error {
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSONText(w, http.StatusOK, body)
}

// respondEmpty writes {}. A request for a mail or SMS gets this response whether or not an account exists, so that the response does not
// reveal who has an account.
func respondEmpty(w http.ResponseWriter, err error) error {
	return respond(w, http.StatusOK, struct{}{}, err)
}

// respondNoContent sends status 204.
func respondNoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// accessClaims are the claims of an access token: identity.Claims, with three claims in Supabase Auth's form. aud is a string instead of a
// list. app_metadata and user_metadata are present even if they are empty.
type accessClaims struct {
	identity.Claims
	Audience     string         `json:"aud"`
	AppMetadata  map[string]any `json:"app_metadata"`
	UserMetadata map[string]any `json:"user_metadata"`
}

// sessionResponse is the response body of a sign-in or refresh, in the form that Supabase's client reads.
type sessionResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"` // always "bearer"
	ExpiresIn    int64  `json:"expires_in"` // seconds
	ExpiresAt    int64  `json:"expires_at"` // Unix seconds
	RefreshToken string `json:"refresh_token"`
	User         User   `json:"user"`
}

// passwordSessionResponse is the response to a sign-in with a password.
type passwordSessionResponse struct {
	sessionResponse
	WeakPassword *weakPassword `json:"weak_password"` // why the password should be changed; nil when it is good enough
}

// newSessionResponse signs an access token for the session and returns the response body. The token expires after JWTExpiry, or
// when the session ends, whichever comes first.
func (s *Service) newSessionResponse(issued issuedSession) (sessionResponse, error) {
	issuedAt := s.now().UTC().Truncate(time.Second)
	expiresAt := issuedAt.Add(s.cfg.JWTExpiry)
	if end := issued.session.notAfter; end != nil && end.Before(expiresAt) {
		expiresAt = end.UTC().Truncate(time.Second)
	}
	token, err := s.tokens.Sign(accessClaims{
		Claims: identity.Claims{
			RegisteredClaims: jwt.RegisteredClaims{
				Issuer: s.issuer(), Subject: issued.user.ID,
				IssuedAt: jwt.NewNumericDate(issuedAt), ExpiresAt: jwt.NewNumericDate(expiresAt),
			},
			Role: identity.Authenticated, Email: issued.user.Email, Phone: issued.user.Phone,
			AAL: issued.session.aal, AMR: issued.session.amr, SessionID: issued.session.id, IsAnonymous: issued.user.IsAnonymous,
		},
		Audience: issued.user.Aud, AppMetadata: issued.user.AppMetadata, UserMetadata: issued.user.UserMetadata,
	})
	if err != nil {
		return sessionResponse{}, err
	}
	return sessionResponse{
		AccessToken: token, TokenType: "bearer", ExpiresIn: int64(expiresAt.Sub(issuedAt) / time.Second), ExpiresAt: expiresAt.Unix(),
		RefreshToken: issued.refreshToken, User: issued.user,
	}, nil
}

// respondSession writes the session, for sign-ins without a password.
func (s *Service) respondSession(w http.ResponseWriter, issued issuedSession, err error) error {
	if err != nil {
		return err
	}
	body, err := s.newSessionResponse(issued)
	return respondPrivate(w, body, err)
}

// respondPasswordSession writes the session, and whether the password that opened it is weak.
func (s *Service) respondPasswordSession(w http.ResponseWriter, issued issuedSession, password string, err error) error {
	if err != nil {
		return err
	}
	body, err := s.newSessionResponse(issued)
	return respondPrivate(w, passwordSessionResponse{body, s.weakness(password)}, err)
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 64 << 10

// decode reads a JSON request body of at most maxBody bytes into dst. If dst has a method validate, decode calls it.
func decode(w http.ResponseWriter, r *http.Request, dst any) error {
	err := httpx.DecodeJSON(w, r, maxBody, dst)
	if body, ok := dst.(interface{ validate() error }); ok && err == nil {
		return body.validate()
	}
	return err
}

// authorizeAndDecode is decode for requests of the admin API. It returns an error unless the caller has the service key. limit is in
// bytes.
func authorizeAndDecode(w http.ResponseWriter, r *http.Request, limit int64, dst any) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	return httpx.DecodeJSON(w, r, limit, dst)
}

// pageLinks returns the Link header of a list. In each URL, page is the first parameter, because the client reads what follows
// the first "=". query is changed.
func pageLinks(path string, query url.Values, page, lastPage int) string {
	query.Del("page")
	query.Del("apikey")
	link := func(page int, rel string) string {
		target := fmt.Sprintf("%s?page=%d", path, page)
		if more := query.Encode(); more != "" {
			target += "&" + more
		}
		return "<" + target + `>; rel="` + rel + `"`
	}
	if page < lastPage {
		return link(page+1, "next") + ", " + link(lastPage, "last")
	}
	return link(lastPage, "last")
}
