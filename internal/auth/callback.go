package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

const callbacksPerAddress = 200 // in limitWindow

// Callback is GET and POST /auth/v1/callback: the browser comes back from an identity provider and is sent on to the
// address that the flow began with, with a session, a code (PKCE) or an error.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) error {
	if err := s.limit(w, r, "auth callback address", httpx.LimitSubject(r.Context()), callbacksPerAddress); err != nil {
		return err
	}
	answer, err := readAnswer(w, r)
	if err != nil {
		return s.failCallback(w, r, s.cfg.SiteURL, apperr.From(err))
	}
	f, err := s.takeOAuthFlow(r.Context(), answer.Get("state"))
	if err != nil {
		return s.failCallback(w, r, s.cfg.SiteURL, apperr.From(err))
	}
	done, err := s.finishAtProvider(w, r, f, answer)
	var told *providerError
	if errors.As(err, &told) {
		httpx.NoteError(r.Context(), errProviderRefused.Because(err))
		return s.sendBack(w, r, f.redirectTo, url.Values{"error": {told.kind}, "error_description": {told.description}})
	}
	if err != nil {
		return s.failCallback(w, r, f.redirectTo, callbackError(err))
	}
	if done.code != "" {
		return s.redirectWithCode(w, r, f.redirectTo, done.code)
	}
	tokens := url.Values{"provider_token": {done.tokens.Token}, "sb": {""}}
	if done.tokens.RefreshToken != "" {
		tokens.Set("provider_refresh_token", done.tokens.RefreshToken)
	}
	return s.redirectWithSession(w, r, f.redirectTo, done.session, tokens)
}

// readAnswer gives the parameters of the query, or of the form that a provider's page posts.
func readAnswer(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		return r.URL.Query(), nil
	}
	body, err := httpx.ReadBody(w, r, maxBody)
	if err != nil {
		return nil, errOAuthCallback.Because(err)
	}
	v, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errOAuthCallback.Because(err)
	}
	return v, nil
}

// takeOAuthFlow finds the flow of a state, which then is used up whatever becomes of it.
func (s *Service) takeOAuthFlow(ctx context.Context, state string) (flowState, error) {
	if state == "" {
		return flowState{}, errOAuthStateMissing
	}
	var f flowState
	err := s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
		f, err = takeFlowByState(ctx, tx, hashToken(state))
		return err
	})
	switch {
	case errors.Is(err, db.ErrNoRows):
		return flowState{}, errOAuthState
	case err != nil:
		return flowState{}, err
	case f.authMethod != "oauth":
		return flowState{}, errOAuthState.Becausef("the state of a flow by %s", f.authMethod)
	case !s.now().Before(f.createdAt.Add(oauthFlowLife)):
		return flowState{}, errOAuthStateExpired
	}
	return f, nil
}

// finished is a flow that ended well.
type finished struct {
	code    string // of a PKCE flow
	session grant  // of an implicit flow
	tokens  providerTokens
}

// finishAtProvider asks the provider who came back, and lets them in.
func (s *Service) finishAtProvider(w http.ResponseWriter, r *http.Request, f flowState, answer url.Values) (finished, error) {
	var secrets flowSecrets
	plain, err := s.sealer.unseal(flowSecretsPurpose, f.providerSecrets)
	if err != nil {
		return finished{}, err
	}
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return finished{}, err
	}
	if secrets.Cookie {
		name := flowCookieName(answer.Get("state"))
		if _, err := r.Cookie(name); err != nil {
			return finished{}, errOAuthState.Becausef("another browser began this flow")
		}
		http.SetCookie(w, &http.Cookie{Name: name, Path: "/auth/v1/callback", MaxAge: -1})
	}
	if kind := answer.Get("error"); kind != "" {
		return finished{}, newProviderError(kind, answer.Get("error_description"))
	}
	if answer.Get("code") == "" {
		return finished{}, errOAuthCodeMissing
	}
	p, err := s.provider(f.provider)
	if err != nil {
		return finished{}, errProviderNotSupported.Because(err)
	}
	who, err := p.Exchange(r.Context(), oauth.Answer{
		Code: answer.Get("code"), Issuer: answer.Get("iss"), User: answer.Get("user"), Nonce: secrets.Nonce, Verifier: secrets.Verifier,
	})
	if err != nil {
		return finished{}, err
	}
	return s.letIn(r.Context(), clientOf(r), f, newPerson(p.Name(), who))
}

// letIn ends the flow for a person whom the provider vouches for.
func (s *Service) letIn(ctx context.Context, c client, f flowState, who person) (finished, error) {
	done := finished{tokens: providerTokens{Token: who.AccessToken, RefreshToken: who.RefreshToken}}
	err := s.withPerson(ctx, c, f.linkingUserID, f.redirectTo, who, func(tx *db.Tx, userID string) (err error) {
		if f.codeChallenge != "" {
			sealed, err := s.sealProviderTokens(done.tokens)
			if err != nil {
				return err
			}
			done.code, err = s.issueAuthCode(ctx, tx, f.id, userID, sealed)
			return err
		}
		if _, err := deleteFlow(ctx, tx, f.id); err != nil {
			return err
		}
		done.session, err = s.startSession(ctx, tx, c, userID, signIn{method: "oauth", provider: who.provider})
		return err
	})
	return done, err
}

// providerError is what the provider says instead of giving a code: consent was refused, for example.
type providerError struct{ kind, description string }

func (e *providerError) Error() string {
	return "the provider answers " + e.kind + ": " + e.description
}

var errorName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,60}$`)

const maxErrorText = 300 // code points

// newProviderError bounds what came with the address: it goes on to the page.
func newProviderError(kind, description string) *providerError {
	if !errorName.MatchString(kind) {
		kind = "server_error"
	}
	if description = cleanText(description); description == "" {
		description = kind // the client knows an error by its description
	}
	return &providerError{kind, description}
}

// callbackError gives the text for the page. Whatever went wrong inside stays inside.
func callbackError(err error) *apperr.Error {
	switch {
	case errors.Is(err, oauth.ErrUnavailable):
		return errProviderDown.Because(err)
	case errors.Is(err, oauth.ErrRefused):
		return errProviderCode.Because(err)
	}
	return apperr.From(err)
}

// cleanText bounds a text that came with the address, and takes control characters out of it.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if runes := []rune(s); len(runes) > maxErrorText {
		return string(runes[:maxErrorText])
	}
	return s
}
