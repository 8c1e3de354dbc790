package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
)

// This file exchanges the code of a finished PKCE flow for a session. In a PKCE flow the client begins the sign-in with a challenge, which
// it has derived from a secret verifier. The sign-in ends with a code, which works only together with the verifier (RFC 7636).

// pkceRequest is the body of POST /auth/v1/token?grant_type=pkce.
type pkceRequest struct {
	AuthCode     string `json:"auth_code"`     // the code that the client received in the redirect
	CodeVerifier string `json:"code_verifier"` // the secret from which the client derived the flow's challenge
}

// pkceSessionResponse is the response body of pkceGrant: the session, and after a sign-in at an OAuth provider the provider's tokens.
type pkceSessionResponse struct {
	sessionResponse
	providerTokens
}

// pkceGrant handles POST /auth/v1/token?grant_type=pkce: it exchanges the code of a finished PKCE flow for a session (RFC 7636 §4.5). A
// code works once.
func (s *Service) pkceGrant(w http.ResponseWriter, r *http.Request) error {
	var body pkceRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.AuthCode == "" || body.CodeVerifier == "" {
		return errPKCEIncomplete
	}
	if err := s.limitPerIP(w, r, limitVerifies, verifiesPerIP); err != nil {
		return err
	}
	issued, tokens, err := s.exchangeAuthCode(r.Context(), clientOf(r), body)
	if err != nil {
		return err
	}
	session, err := s.newSessionResponse(issued)
	return respondPrivate(w, pkceSessionResponse{session, tokens}, err)
}

// exchangeAuthCode consumes the flow to which the code belongs and opens a session, in one transaction. After a sign-in at an OAuth
// provider, tokens are the provider's tokens. After a sign-in of another kind, tokens is the zero value.
func (s *Service) exchangeAuthCode(ctx context.Context, c clientInfo, body pkceRequest) (issued issuedSession, tokens providerTokens, err error) {
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		tokens = providerTokens{} // WithShortTx may call this function again
		f, err := s.redeemAuthCode(ctx, tx, body.AuthCode, body.CodeVerifier)
		if err != nil {
			return err
		}
		if f.providerSecrets != "" {
			plain, err := s.sealer.unseal(purposeProviderTokens, f.providerSecrets)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(plain, &tokens); err != nil {
				return err
			}
		}
		issued, err = s.startSession(ctx, tx, c, f.userID, signIn{method: f.authMethod, provider: f.provider, notAfter: f.notAfter})
		if errors.Is(err, db.ErrNoRows) {
			err = errFlowNotFound.Becausef("user %s is gone", f.userID)
		}
		return err
	})
	return issued, tokens, err
}
