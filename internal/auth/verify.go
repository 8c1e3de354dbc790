package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// This file handles the requests that use the links and codes that were sent by mail or SMS. verification.go makes the changes.

// verifyRequest is the body of Verify. It contains either a code and the e-mail address or phone number to which the code was
// sent, or the token of a link.
type verifyRequest struct {
	Type       string `json:"type"`       // one of the constants verifySignup to verifyPhoneChange
	Token      string `json:"token"`      // the code
	TokenHash  string `json:"token_hash"` // the link's token
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	RedirectTo string `json:"redirect_to"` // not used, but an error together with TokenHash, as in Supabase Auth
}

// firstConfirmationText is the message in the response to the first of the two confirmations of an e-mail change.
const firstConfirmationText = "Confirmation link accepted. Please proceed to confirm link sent to the other email"

// Verify handles POST /auth/v1/verify: it consumes a code or a link, and opens a session. After the first of the two
// confirmations of an e-mail change, it responds with firstConfirmationText instead.
func (s *Service) Verify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body verifyRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := s.limitPerIP(w, r, limitVerifies, verifiesPerIP); err != nil {
		return err
	}
	var (
		t   oneTimeToken
		err error
	)
	if body.TokenHash != "" {
		t, err = s.findLinkOfType(ctx, body.Type, body.TokenHash)
	} else {
		t, err = s.findCode(ctx, body)
	}
	if err != nil {
		return err
	}
	result, err := s.redeemToken(ctx, clientOf(r), t, false) // false: a session, not the code of a PKCE flow
	if err != nil {
		return err
	}
	if result.isFirstConfirmation {
		return httpx.JSON(w, http.StatusOK, map[string]string{"msg": firstConfirmationText, "code": "200"})
	}
	return s.respondSession(w, result.session, nil)
}

// validate checks that the body has exactly one code or link, and only the fields that belong to it.
func (v verifyRequest) validate() error {
	switch {
	case v.Type == "":
		return errVerifyType
	case (v.Token == "") == (v.TokenHash == ""):
		return errVerifyAmbiguous
	case v.Token != "" && (v.Email == "") == (v.Phone == ""):
		return errVerifyIdentifierAmbiguous
	case v.TokenHash != "" && (v.Email != "" || v.Phone != "" || v.RedirectTo != ""):
		return errVerifyHashAlone
	}
	return nil
}

// VerifyLink handles GET /auth/v1/verify, the URL of the links in mails. It consumes the link and redirects the browser with a
// session in the fragment, with the code of a PKCE flow, or with an error. A HEAD request consumes nothing, because mail
// scanners send one for each link.
func (s *Service) VerifyLink(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	link, kind := q.Get("token"), q.Get("type")
	if link == "" {
		link = q.Get("token_hash")
	}
	switch {
	case kind == "":
		return errVerifyType
	case link == "":
		return errVerifyTokenMissing
	case r.Method == http.MethodHead:
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if err := s.limitPerIP(w, r, limitVerifies, verifiesPerIP); err != nil {
		return err
	}
	to, pkce := s.redirectTarget(requestedRedirect(r)), strings.HasPrefix(link, "pkce_")
	t, err := s.findLinkOfType(ctx, kind, link)
	var v verifyResult
	if err == nil {
		v, err = s.redeemToken(ctx, clientOf(r), t, pkce)
	}
	var refusal *apperr.Error
	switch {
	case errors.As(err, &refusal):
		return s.redirectWithError(w, r, to, refusal, pkce)
	case err != nil:
		return err
	case v.isFirstConfirmation:
		return redirectWith(w, r, to, url.Values{"message": {firstConfirmationText}}, pkce)
	}
	return s.redirectWithResult(w, r, to, v.signInResult, url.Values{"type": {kind}})
}

// findCode returns the token of a code that was sent to the request's e-mail address or phone number. If these have no
// account, it looks for the codes of a decoy id, so that the response takes the same time. It returns errOTPExpired when no
// code matches.
func (s *Service) findCode(ctx context.Context, v verifyRequest) (oneTimeToken, error) {
	to, candidates, err := s.codeCandidates(ctx, v)
	if err != nil {
		return oneTimeToken{}, err
	}
	refusal := error(errOTPExpired)
	for _, c := range candidates {
		t, err := s.checkCode(ctx, c.userID, v.Token, c.kinds...)
		if err == nil && t.sentTo == to {
			return t, nil
		}
		if err == nil {
			err = errOTPExpired.Becausef("the code was sent elsewhere")
		}
		if !errors.Is(err, errOTPExpired) {
			return oneTimeToken{}, err
		}
		refusal = err
	}
	return oneTimeToken{}, refusal
}

// codeCandidates returns the normalized e-mail address or phone number of a request, and the accounts and kinds of code to
// compare.
func (s *Service) codeCandidates(ctx context.Context, v verifyRequest) (to string, list []candidate, err error) {
	if v.Phone != "" {
		return s.phoneCandidates(ctx, v)
	}
	kinds, ok := linkKinds[v.Type]
	if !ok {
		return "", nil, errVerifyUnsupported.Becausef("type %q for an e-mail address", v.Type)
	}
	if to, err = normalizeEmail(v.Email); err != nil {
		return "", nil, err
	}
	id, err := s.userIDOrDecoy(ctx, login{email: to})
	if err != nil {
		return "", nil, err
	}
	// A code for a new address belongs to an account that does not have the address yet: see below.
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k tokenKind) bool { return k == tokenEmailNew })
	list = append(list, candidate{id, kinds})
	if v.Type == verifyEmailChange {
		ids, err := usersChanging(ctx, s.db, colEmailChange, to)
		if err != nil {
			return "", nil, err
		}
		for _, id := range ids {
			list = append(list, candidate{id, []tokenKind{tokenEmailNew}})
		}
	}
	return to, list, nil
}

func (s *Service) phoneCandidates(ctx context.Context, v verifyRequest) (to string, list []candidate, err error) {
	if to, err = normalizePhone(v.Phone); err != nil {
		return "", nil, err
	}
	switch v.Type {
	case verifySMS:
		id, err := s.userIDOrDecoy(ctx, login{phone: to})
		return to, []candidate{{id, []tokenKind{tokenConfirmation, tokenRecovery}}}, err
	case verifyPhoneChange:
		ids, err := usersChanging(ctx, s.db, colPhoneChange, to)
		for _, id := range ids {
			list = append(list, candidate{id, []tokenKind{tokenPhoneChange}})
		}
		if len(list) == 0 {
			list = []candidate{{uuid.NewSHA1(decoyNamespace, []byte(to)).String(), []tokenKind{tokenPhoneChange}}}
		}
		return to, list, err
	}
	return "", nil, errVerifyUnsupported.Becausef("type %q for a number", v.Type)
}
