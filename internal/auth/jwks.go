package auth

import (
	"fmt"
	"net/http"
	"time"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// jwksMaxAge is how long clients can cache the published keys, as in Supabase Auth.
const jwksMaxAge = 10 * time.Minute

// jwksResponse is the response body of JWKS.
type jwksResponse struct {
	Keys []identity.JWK `json:"keys"`
}

// JWKS handles GET /auth/v1/.well-known/jwks.json. The response has the public keys of ES256 access tokens (RFC 7517 §5), so that other
// programs can check the tokens. HS256 tokens have no public key, because the secret both signs and checks them.
func (s *Service) JWKS(w http.ResponseWriter, _ *http.Request) error {
	keys, err := s.tokens.PublicKeys()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(jwksMaxAge.Seconds())))
	return httpx.JSON(w, http.StatusOK, jwksResponse{keys})
}
