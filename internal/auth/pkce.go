package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type pkceRequest struct {
	AuthCode     string `json:"auth_code"`
	CodeVerifier string `json:"code_verifier"`
}

type pkceSessionBody struct {
	sessionBody
	providerTokens
}

// pkceGrant exchanges the code of a finished sign-in for a session (RFC 7636 §4.5). Code and verifier work once.
func (s *Service) pkceGrant(w http.ResponseWriter, r *http.Request) error {
	var body pkceRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.AuthCode == "" || body.CodeVerifier == "" {
		return errPKCEIncomplete
	}
	if err := s.limit(w, r, "auth verify address", httpx.LimitSubject(r.Context()), verifiesPerAddress); err != nil {
		return err
	}
	g, extra, err := s.exchange(r.Context(), clientOf(r), body)
	if err != nil {
		return err
	}
	session, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, pkceSessionBody{session, extra})
}

func (s *Service) exchange(ctx context.Context, c client, body pkceRequest) (g grant, extra providerTokens, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		g, extra = grant{}, providerTokens{}
		f, err := s.redeemAuthCode(ctx, tx, body.AuthCode, body.CodeVerifier)
		if err != nil {
			return err
		}
		if f.providerSecrets != "" {
			plain, err := s.sealer.unseal(providerTokensPurpose, f.providerSecrets)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(plain, &extra); err != nil {
				return err
			}
		}
		g, err = s.startSession(ctx, tx, c, f.userID, f.signIn())
		if errors.Is(err, db.ErrNoRows) {
			err = errFlowNotFound.Becausef("user %s is gone", f.userID)
		}
		return err
	})
	return g, extra, err
}
