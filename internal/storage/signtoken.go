package storage

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// This file creates and verifies the tokens (JSON Web Tokens) of signed URLs.

// Purposes of signed URLs. The purpose is the token's audience (the aud claim), so that a token is valid for one purpose only.
const (
	purposeDownload = "storage:download"
	purposeUpload   = "storage:upload"
	purposeRender   = "storage:render"
)

// signedClaims are the claims in the token of a signed URL.
type signedClaims struct {
	jwt.RegisteredClaims
	Object string `json:"url"`              // bucket/name
	Owner  string `json:"owner,omitempty"`  // in a token for an upload: the account that will own the object
	Upsert bool   `json:"upsert,omitempty"` // in a token for an upload: it may replace an object

	// ByOwner is used in a token for reading. It is true if the caller who requested the URL may write to the bucket. Such a URL also
	// gives access to files that visitors must not read.
	ByOwner bool `json:"by_owner,omitempty"`

	Transform json.RawMessage `json:"transform,omitempty"` // in a token for a rendition: describes the rendition
}

var errNoSignKey = errors.New("no key for signed URLs")

// signToken returns the token of a signed URL. The token is valid for lifetime. SignKey signs only these tokens, so a session's
// token is not valid in a URL, and a URL's token does not sign anybody in.
func (s *Service) signToken(purpose string, c signedClaims, lifetime time.Duration) (string, error) {
	if len(s.cfg.SignKey) == 0 {
		return "", errNoSignKey
	}
	now := s.now()
	c.RegisteredClaims = jwt.RegisteredClaims{
		Audience: jwt.ClaimStrings{purpose}, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)), ID: uuid.NewString(),
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(s.cfg.SignKey)
}

// checkSignedFor returns an error unless object, for which a token was signed, is this object.
func checkSignedFor(object, bucketID, name string) error {
	if object != bucketID+"/"+name {
		return errOtherObject.Becausef("signed for %q", object)
	}
	return nil
}

// verifyToken verifies a token's key, purpose and expiry, but not the object. Errors: errNoToken for an empty token,
// errTokenExpired for an expired one, errBadToken for any other invalid one.
func (s *Service) verifyToken(purpose, token string) (*signedClaims, error) {
	if token == "" {
		return nil, errNoToken
	}
	if len(s.cfg.SignKey) == 0 {
		return nil, errNoSignKey
	}
	var c signedClaims
	_, err := jwt.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("extensions are not supported (RFC 7515 §4.1.11)")
		}
		if s.cfg.PreviousSignKey == nil {
			return s.cfg.SignKey, nil
		}
		return jwt.VerificationKeySet{Keys: []jwt.VerificationKey{s.cfg.SignKey, s.cfg.PreviousSignKey}}, nil
	}, jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithAudience(purpose), jwt.WithTimeFunc(s.now))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, errTokenExpired.Because(err)
	case err != nil:
		return nil, errBadToken.Because(err)
	}
	return &c, nil
}
