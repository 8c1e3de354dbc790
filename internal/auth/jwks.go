package auth

import (
	"fmt"
	"net/http"
	"time"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// jwksMaxAge is how long clients can cache the published keys. Supabase Auth has the same value.
const jwksMaxAge = 10 * time.Minute

// jwksResponse is the response body of JWKS: a JSON Web Key Set (RFC 7517 §5).
type jwksResponse struct {
	Keys []identity.JWK `json:"keys"`
}

// JWKS handles GET /auth/v1/.well-known/jwks.json. The response has the public keys with which other programs can check access tokens. Only
// tokens signed with ES256 have a public key. With HS256 there is none, because one secret both signs and checks the tokens.
func (s *Service) JWKS(w http.ResponseWriter, _ *http.Request) error {
	keys, err := s.tokens.PublicKeys()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(jwksMaxAge.Seconds())))
	return httpx.JSON(w, http.StatusOK, jwksResponse{keys})
}
