package auth

import (
	"fmt"
	"net/http"
	"time"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// jwksMaxAge is how long the published keys may be kept, as Supabase Auth says it.
const jwksMaxAge = 10 * time.Minute

type jwksBody struct {
	Keys []identity.JWK `json:"keys"`
}

// JWKS is GET /auth/v1/.well-known/jwks.json: the public keys that access tokens can be checked with (RFC 7517 §5). With
// HS256 there are none: its secret is never shown.
func (s *Service) JWKS(w http.ResponseWriter, _ *http.Request) error {
	keys, err := s.tokens.PublicKeys()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(jwksMaxAge.Seconds())))
	return httpx.JSON(w, http.StatusOK, jwksBody{keys})
}
