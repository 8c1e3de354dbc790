package auth

import "net/http"

// Token handles POST /auth/v1/token: it opens or refreshes a session. The query parameter grant_type says what the body
// contains: a password, a refresh token, the code of a PKCE flow (a sign-in that ends with a code, RFC 7636), or an ID token.
func (s *Service) Token(w http.ResponseWriter, r *http.Request) error {
	switch grantType := r.URL.Query().Get("grant_type"); grantType {
	case "password":
		return s.passwordGrant(w, r)
	case "refresh_token":
		return s.refreshGrant(w, r)
	case "pkce":
		return s.pkceGrant(w, r)
	case "id_token":
		return s.idTokenGrant(w, r)
	case "web3":
		return errWeb3Disabled
	default:
		return errUnsupportedGrant.Becausef("grant_type %q", grantType)
	}
}
