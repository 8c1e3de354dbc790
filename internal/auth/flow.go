package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file starts and finishes flows. A flow is a sign-in that needs more than one request. A row of auth_flow_states keeps its state
// between the requests. Adding an identity (a way to sign in) to an account is a flow too. The later requests of a flow are:
//   - the callback of an OAuth provider, after the user has signed in at the provider
//   - in a PKCE flow (RFC 7636), the exchange of a code for the session
//
// In an implicit flow (a flow without PKCE) the client gets the session itself instead of a code.

// authCodeLife is how long a client can exchange the code of a finished PKCE flow for a session.
const authCodeLife = 5 * time.Minute

// pkceChallenge is the PKCE part of a request body: a challenge that the client has derived from its verifier (a secret). Only a client
// that knows the verifier can later exchange the code of the sign-in for a session. Both fields are "" in an implicit flow.
type pkceChallenge struct {
	CodeChallenge       string `json:"code_challenge"`
	CodeChallengeMethod string `json:"code_challenge_method"` // s256 (the challenge is a hash of the verifier) or plain; in upper or lower case
}

// challengePattern matches a valid code challenge (RFC 7636 §4.2).
var challengePattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// validate checks both fields and returns the method: "s256" or "plain", or "" for an implicit flow. It returns errChallengeMethod if the
// method is unknown or only one field is set, and errCodeChallenge if the challenge is malformed.
func (c pkceChallenge) validate() (method string, err error) {
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

// startFlow stores a flow and returns it with its id. state is the secret that the OAuth provider must send back, or "" without an OAuth
// provider. If there is neither a PKCE challenge nor a state, no later request needs the flow: startFlow stores nothing, and the id is "".
func (s *Service) startFlow(ctx context.Context, tx *db.Tx, f flowState, c pkceChallenge, state string) (flowState, error) {
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

// issueAuthCode finishes the sign-in of a PKCE flow and returns a code. The client exchanges code and verifier for a session. secrets are
// the sealed providerTokens that the response to this exchange contains, or "". issueAuthCode returns errFlowNotFound if the flow was
// deleted.
func (s *Service) issueAuthCode(ctx context.Context, tx *db.Tx, flowID, userID, secrets string) (code string, err error) {
	code = uuid.NewString() // clients expect a UUID
	return code, setAuthCode(ctx, tx, flowID, userID, hashToken(code), secrets, s.now())
}

// redeemAuthCode checks code and verifier and consumes the flow, in the transaction that opens the session. Errors:
// errFlowNotFound, errFlowExpired, errBadCodeVerifier.
func (s *Service) redeemAuthCode(ctx context.Context, tx *db.Tx, code, verifier string) (flowState, error) {
	f, err := flowByCode(ctx, tx, hashToken(code))
	if err != nil {
		return flowState{}, db.NoRowsAs(err, errFlowNotFound)
	}
	if f.codeIssuedAt == nil || s.now().After(f.codeIssuedAt.Add(authCodeLife)) {
		return flowState{}, errFlowExpired
	}
	if !verifierMatches(f, verifier) {
		return flowState{}, errBadCodeVerifier
	}
	return f, deleteFlow(ctx, tx, f.id, errFlowNotFound.Becausef("used in the meantime"))
}

// verifierMatches reports whether the verifier belongs to the flow's challenge (RFC 7636 §4.6).
func verifierMatches(f flowState, verifier string) bool {
	derived := verifier
	if f.challengeMethod == "s256" {
		sum := sha256.Sum256([]byte(verifier))
		derived = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return f.codeChallenge != "" && subtle.ConstantTimeCompare([]byte(derived), []byte(f.codeChallenge)) == 1
}
