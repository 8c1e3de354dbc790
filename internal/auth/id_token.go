package auth

import (
	"errors"
	"net/http"

	"atelie/internal/auth/oauth"
	"atelie/internal/db"
)

// This file signs users in with ID tokens. An ID token states who has signed in at an OpenID Connect provider, and has the provider's
// signature. The client, for example a mobile app, has obtained the token directly from the provider.

// idTokenRequest is the body of POST /auth/v1/token?grant_type=id_token. The client names the provider by Provider, or by Issuer
// and ClientID together. As in Supabase Auth, Provider can also be the issuer (the URL in the iss claim of the provider's tokens).
type idTokenRequest struct {
	Provider     string `json:"provider"` // the provider's name, such as google, or the issuer of its tokens
	Issuer       string `json:"issuer"`
	ClientID     string `json:"client_id"` // required with Issuer, but not used: the accepted client ids are in the provider's settings
	IDToken      string `json:"id_token"`
	AccessToken  string `json:"access_token"`  // issued together with the ID token; may be ""
	Nonce        string `json:"nonce"`         // random string that the client has chosen, or ""; the ID token contains its SHA-256
	LinkIdentity bool   `json:"link_identity"` // add the identity (the account at the provider) to the caller's account
}

// validate checks that the body has a token and names a provider. The function decode calls it.
func (b idTokenRequest) validate() error {
	switch {
	case b.IDToken == "":
		return errIDTokenMissing
	case b.Provider == "" && (b.ClientID == "" || b.Issuer == ""):
		return errIDTokenProviderMissing
	}
	return nil
}

// idTokenGrant handles POST /auth/v1/token?grant_type=id_token. It opens a session for the user that the ID token describes. If
// link_identity is true, it first adds the user's identity to the caller's account. Errors:
//   - validation_failed: a field is missing.
//   - provider_disabled: no configured provider has the name or issuer.
//   - bad_oauth_callback: the token is not valid.
//   - signup_disabled: the user has no account, and the site does not create accounts.
//   - user_banned: the account is banned.
//   - provider_email_needs_verification: the provider has not verified the e-mail address. Usually a confirmation mail was sent to it.
//   - the errors of LinkIdentity and identity_already_exists, if link_identity is true.
func (s *Service) idTokenGrant(w http.ResponseWriter, r *http.Request) error {
	var body idTokenRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := s.limitPerIP(w, r, limitSignIns, signInsPerIP); err != nil {
		return err
	}
	linkingUserID := ""
	if body.LinkIdentity {
		u, err := s.authorizeLinking(w, r)
		if err != nil {
			return err
		}
		linkingUserID = u.ID
	}
	provider, err := s.idTokenProvider(body)
	if err != nil {
		return err
	}
	reported, err := provider.VerifyIDToken(r.Context(), oauth.IDToken{Raw: body.IDToken, Nonce: body.Nonce, AccessToken: body.AccessToken})
	if err != nil {
		return idTokenError(err)
	}
	c := clientOf(r)
	user := newProviderUser(provider.Name(), reported)
	redirectTo := "" // if a confirmation mail is sent, its link leads to the site
	var issued issuedSession
	err = s.signInProviderUser(r.Context(), c, linkingUserID, redirectTo, user, func(tx *db.Tx, userID string) (err error) {
		issued, err = s.startSession(r.Context(), tx, c, userID, signIn{method: "oauth", provider: provider.Name()})
		return err
	})
	return s.respondSession(w, issued, err)
}

// idTokenProvider returns the provider whose name or issuer the request contains, or errProviderDisabled.
func (s *Service) idTokenProvider(body idTokenRequest) (*oauth.Provider, error) {
	if provider, err := s.providerByName(body.Provider); err == nil {
		return provider, nil
	}
	for _, provider := range s.cfg.Providers {
		if provider.Issues(body.Provider) || body.Provider == "" && provider.Issues(body.Issuer) {
			return provider, nil
		}
	}
	return nil, errProviderDisabled.Becausef("provider %q, issuer %q", body.Provider, body.Issuer)
}

// idTokenError converts an error of package oauth to the error of the response.
func idTokenError(err error) error {
	switch {
	case errors.Is(err, oauth.ErrUnavailable):
		return errProviderDown.Because(err)
	case errors.Is(err, oauth.ErrAudience):
		return errIDTokenAudience.Because(err)
	case errors.Is(err, oauth.ErrNonceMissing):
		return errIDTokenNonceMissing.Because(err)
	case errors.Is(err, oauth.ErrNonceMismatch):
		return errIDTokenNonce.Because(err)
	case errors.Is(err, oauth.ErrRefused):
		return errIDTokenBad.Because(err)
	}
	return err
}
