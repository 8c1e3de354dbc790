package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// pkceRequest is the body of POST /auth/v1/token?grant_type=pkce.
type pkceRequest struct {
	AuthCode     string `json:"auth_code"`
	CodeVerifier string `json:"code_verifier"`
}

// pkceSessionResponse is the response body: the session, and after a sign-in at an OAuth provider also the provider's tokens.
type pkceSessionResponse struct {
	sessionResponse
	providerTokens
}

// pkceGrant handles POST /auth/v1/token?grant_type=pkce: it exchanges the code of a finished PKCE flow for a session (RFC 7636
// §4.5). A code works once.
func (s *Service) pkceGrant(w http.ResponseWriter, r *http.Request) error {
	var body pkceRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.AuthCode == "" || body.CodeVerifier == "" {
		return errPKCEIncomplete
	}
	if err := s.limit(w, r, "auth verify address", httpx.LimitSubject(r.Context()), verifiesPerIP); err != nil {
		return err
	}
	issued, extra, err := s.exchange(r.Context(), clientOf(r), body)
	if err != nil {
		return err
	}
	session, err := s.newSessionResponse(issued)
	return respondPrivate(w, pkceSessionResponse{session, extra}, err)
}

// exchange consumes the flow to which a code belongs and opens a session, in one transaction. extra are the provider's tokens,
// if a provider was used.
func (s *Service) exchange(ctx context.Context, c client, body pkceRequest) (issued issuedSession, extra providerTokens, err error) {
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		issued, extra = issuedSession{}, providerTokens{}
		f, err := s.redeemAuthCode(ctx, tx, body.AuthCode, body.CodeVerifier)
		if err != nil {
			return err
		}
		if f.providerSecrets != "" {
			plain, err := s.sealer.unseal(purposeProviderTokens, f.providerSecrets)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(plain, &extra); err != nil {
				return err
			}
		}
		issued, err = s.startSession(ctx, tx, c, f.userID, f.signIn())
		if errors.Is(err, db.ErrNoRows) {
			err = errFlowNotFound.Becausef("user %s is gone", f.userID)
		}
		return err
	})
	return issued, extra, err
}

// signIn returns how the session of the flow is opened.
func (f flowState) signIn() signIn {
	return signIn{method: f.authMethod, provider: f.provider, notAfter: f.notAfter}
}
