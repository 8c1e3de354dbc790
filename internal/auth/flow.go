package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// flowState is a sign-in under way whose result the client picks up with a code (PKCE, RFC 7636), or that an identity
// provider must answer.
type flowState struct {
	id              string
	codeChallenge   string // "" for the implicit flow
	challengeMethod string // s256 or plain
	authMethod      string // as the amr claim will say: otp, magiclink, oauth, sso/saml, …
	provider        string
	providerSecrets string // sealed by whoever wrote them
	userID          string // set with the code
	linkingUserID   string // the account that the provider's identity is to be added to
	redirectTo      string
	notAfter        *time.Time // when the identity provider ends the session that the code will open
	codeIssuedAt    *time.Time
	createdAt       time.Time
}

// authCodeLife is how long the code of a finished sign-in may be exchanged.
const authCodeLife = 5 * time.Minute

// challenge is the part of a request body in which the client commits to its verifier. Both empty: implicit flow.
type challenge struct {
	CodeChallenge       string `json:"code_challenge"`
	CodeChallengeMethod string `json:"code_challenge_method"`
}

var challengePattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// validate returns the method in the service's spelling, or "" for the implicit flow.
func (c challenge) validate() (method string, err error) {
	if c.CodeChallenge == "" && c.CodeChallengeMethod == "" {
		return "", nil
	}
	if c.CodeChallenge == "" || c.CodeChallengeMethod == "" {
		return "", errChallengeMethod
	}
	method = strings.ToLower(c.CodeChallengeMethod)
	if method != "s256" && method != "plain" {
		return "", errChallengeMethod.Becausef("method %q", c.CodeChallengeMethod)
	}
	if !challengePattern.MatchString(c.CodeChallenge) {
		return "", errCodeChallenge
	}
	return method, nil
}

// startFlow keeps a flow; without a challenge and without a provider there is nothing to keep and its id stays "".
// state is the secret that a provider must give back, or "".
func (s *Service) startFlow(ctx context.Context, tx *db.Tx, f flowState, c challenge, state string) (flowState, error) {
	method, err := c.validate()
	if err != nil {
		return flowState{}, err
	}
	f.codeChallenge, f.challengeMethod, f.createdAt = c.CodeChallenge, method, s.now()
	if method == "" && state == "" {
		return f, nil
	}
	f.id = uuid.NewString()
	stateHash := ""
	if state != "" {
		stateHash = hashToken(state)
	}
	return f, insertFlow(ctx, tx, f, stateHash)
}

// issueAuthCode ends a PKCE flow for the user: the client exchanges the code with its verifier. secrets (sealed) travel
// to the exchange. errFlowNotFound when the flow is gone.
func (s *Service) issueAuthCode(ctx context.Context, tx *db.Tx, flowID, userID, secrets string) (code string, err error) {
	code = uuid.NewString() // the client knows codes by this form
	err = setAuthCode(ctx, tx, flowID, userID, hashToken(code), secrets, s.now())
	if errors.Is(err, db.ErrNoRows) {
		err = errFlowNotFound
	}
	return code, err
}

// redeemAuthCode checks code and verifier and strikes the flow out, in the transaction that opens the session. Errors:
// flow_state_not_found, flow_state_expired, bad_code_verifier.
func (s *Service) redeemAuthCode(ctx context.Context, tx *db.Tx, code, verifier string) (flowState, error) {
	f, err := flowByCode(ctx, tx, hashToken(code))
	if errors.Is(err, db.ErrNoRows) {
		return flowState{}, errFlowNotFound
	}
	if err != nil {
		return flowState{}, err
	}
	if f.codeIssuedAt == nil || s.now().After(f.codeIssuedAt.Add(authCodeLife)) {
		return flowState{}, errFlowExpired
	}
	if !verifies(f, verifier) {
		return flowState{}, errBadCodeVerifier
	}
	deleted, err := deleteFlow(ctx, tx, f.id)
	if err == nil && !deleted {
		err = errFlowNotFound.Becausef("used in the meantime")
	}
	return f, err
}

// signIn says how the session of an exchanged code is opened.
func (f flowState) signIn() signIn {
	return signIn{method: f.authMethod, provider: f.provider, notAfter: f.notAfter}
}

// verifies compares a verifier with what the client committed to (RFC 7636 §4.6).
func verifies(f flowState, verifier string) bool {
	derived := verifier
	if f.challengeMethod == "s256" {
		sum := sha256.Sum256([]byte(verifier))
		derived = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return f.codeChallenge != "" && subtle.ConstantTimeCompare([]byte(derived), []byte(f.codeChallenge)) == 1
}
