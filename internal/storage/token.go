package storage

import (
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// What a signed address is for. It stands in the token as its audience, so that no kind is taken for another.
const (
	forDownload = "storage:download"
	forUpload   = "storage:upload"
	forRender   = "storage:render"
)

// signedClaims are a signed address. URL is bucket/name; Owner and Upsert count for uploads alone, Transform for
// renditions.
type signedClaims struct {
	jwt.RegisteredClaims
	URL    string `json:"url"`
	Owner  string `json:"owner,omitempty"`
	Upsert bool   `json:"upsert,omitempty"`

	Transform *transform `json:"transform,omitempty"`
}

var errNoSignKey = errors.New("no key for signed addresses")

// sign makes a token with a key of its own: a session's token is never one, and the other way round.
func (s *Service) sign(purpose string, c signedClaims, life time.Duration) (string, error) {
	if len(s.cfg.SignKey) == 0 {
		return "", errNoSignKey
	}
	now := s.now()
	c.RegisteredClaims = jwt.RegisteredClaims{
		Audience: jwt.ClaimStrings{purpose}, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)), ID: uuid.NewString(),
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(s.cfg.SignKey)
}

// signed checks the token of an address that was asked for.
func (s *Service) signed(purpose, token, bucketID, name string) (*signedClaims, error) {
	c, err := s.signature(purpose, token)
	if err != nil {
		return nil, err
	}
	if c.URL != bucketID+"/"+name {
		return nil, errOtherObject.Becausef("signed for %q", c.URL)
	}
	return c, nil
}

// signature checks a token without regard to what it was signed for.
func (s *Service) signature(purpose, token string) (*signedClaims, error) {
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
		return s.cfg.SignKey, nil
	}, jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithAudience(purpose), jwt.WithTimeFunc(s.now))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, errSignedEnded.Because(err)
	case err != nil:
		return nil, errBadSigned.Because(err)
	}
	return &c, nil
}
