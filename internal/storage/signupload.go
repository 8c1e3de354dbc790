package storage

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// uploadLife is how long a signed upload address can be used (the client's documentation: two hours).
const uploadLife = 2 * time.Hour

// SignUpload answers POST /storage/v1/object/upload/sign/{bucket}/{path...} with an address for one upload of that
// name. x-upsert: true lets it replace an object.
func (s *Service) SignUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	caller, upsert := identity.Of(r.Context()), wantsUpsert(r)
	if _, err := s.mayPut(r.Context(), caller, bucketID, name, upsert); err != nil {
		return err
	}
	token, err := s.sign(forUpload, signedClaims{URL: bucketID + "/" + name, Owner: ownerID(caller), Upsert: upsert}, uploadLife)
	if err != nil {
		return err
	}
	at := url.URL{Path: "/object/upload/sign/" + bucketID + "/" + name}
	return httpx.JSON(w, http.StatusOK, map[string]string{"url": at.EscapedPath() + "?token=" + token, "token": token})
}

// SignedUpload answers PUT on that address. Whether it may replace was decided when it was signed. It is used up by
// the upload that is saved: one that fails may be tried again.
func (s *Service) SignedUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	claims, err := s.signed(forUpload, r.URL.Query().Get("token"), bucketID, name)
	if err != nil {
		return err
	}
	if err := s.unused(r.Context(), claims.ID); err != nil {
		return err
	}
	b, err := s.bucket(r.Context(), bucketID)
	if err != nil {
		return err
	}
	o, err := s.receive(w, r, identity.Caller{UserID: claims.Owner}, b, name, claims.Upsert, func(ctx context.Context, tx *db.Tx) error {
		return useUp(ctx, tx, claims.ID, claims.ExpiresAt.Time)
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, uploaded{o.ID, o.Bucket + "/" + o.Name})
}

// unused refuses a signed upload address that an upload has used up.
func (s *Service) unused(ctx context.Context, id string) error {
	used, err := tokenIsUsed(ctx, s.db, id)
	if err == nil && used {
		return errTokenUsed
	}
	return err
}

// useUp marks a signed upload address as used, in the transaction that saves the upload: of two at a time one is refused.
func useUp(ctx context.Context, tx *db.Tx, id string, until time.Time) error {
	first, err := useToken(ctx, tx, id, until)
	if err == nil && !first {
		return errTokenUsed
	}
	return err
}

// UploadGrant is what the token of a signed upload address allows: one upload of one name, for its Owner ("" for none).
type UploadGrant struct {
	ID, Owner string
	Upsert    bool
	url       string // bucket/name
	until     time.Time
}

// ReadGrant checks a token of SignUpload. The errors are those of SignedUpload.
func (s *Service) ReadGrant(token string) (*UploadGrant, error) {
	c, err := s.signature(forUpload, token)
	if err != nil {
		return nil, err
	}
	return &UploadGrant{ID: c.ID, Owner: c.Owner, Upsert: c.Upsert, url: c.URL, until: c.ExpiresAt.Time}, nil
}

func wantsUpsert(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Upsert")), "true")
}
