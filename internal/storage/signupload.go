package storage

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file creates signed URLs for uploading objects, and handles uploads to such URLs. What a signed upload URL permits is its grant.

// uploadLifetime is how long a signed upload URL is valid: two hours, as the client's documentation says.
const uploadLifetime = 2 * time.Hour

// SignUpload handles POST /storage/v1/object/upload/sign/{bucket}/{path...}. It responds with a signed URL, to which an object of that name
// can be uploaded without a key. If the request has the x-upsert: true header, the upload may replace an object.
func (s *Service) SignUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	caller, upsert := identity.Of(r.Context()), wantsUpsert(r)
	if _, err := s.checkUpload(r.Context(), caller, bucketID, name, upsert); err != nil {
		return err
	}
	token, err := s.signToken(purposeUpload, signedClaims{Object: bucketID + "/" + name, Owner: ownerID(caller), Upsert: upsert}, uploadLifetime)
	signed := url.URL{Path: "/object/upload/sign/" + bucketID + "/" + name}
	return respond(w, map[string]string{"url": signed.EscapedPath() + "?token=" + token, "token": token}, err)
}

// SignedUpload handles PUT to a signed upload URL. A URL that was signed with x-upsert: true can be used until it expires. Any other URL
// can be used for one successful upload; after a failed upload the client may try again.
func (s *Service) SignedUpload(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	grant, err := s.ReadGrant(r.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	b, err := s.grantedBucket(r.Context(), grant, bucketID, name)
	if err != nil {
		return err
	}
	o, err := s.receive(w, r, identity.Caller{UserID: grant.Owner}, b, name, grant.Upsert, grant.consume)
	return respond(w, uploadResult{o.ID, o.Bucket + "/" + o.Name}, err)
}

// grantedBucket returns the bucket of an object, if the grant is for this object and was not used already.
func (s *Service) grantedBucket(ctx context.Context, g *UploadGrant, bucketID, name string) (bucket, error) {
	if err := checkSignedFor(g.object, bucketID, name); err != nil {
		return bucket{}, err
	}
	if err := s.checkGrantUnused(ctx, g, bucketID, name); err != nil {
		return bucket{}, err
	}
	return s.bucket(ctx, bucketID)
}

// checkGrantUnused returns an error if a signed upload URL was used already. The error is errDuplicate if the object exists, so that a
// client that lost the response to its upload learns that the upload succeeded. If the object does not exist, the error is errTokenUsed.
func (s *Service) checkGrantUnused(ctx context.Context, g *UploadGrant, bucketID, name string) error {
	if g.Upsert {
		return nil
	}
	used, err := tokenIsUsed(ctx, s.db, g.ID)
	if err != nil || !used {
		return err
	}
	if _, err = findObject(ctx, s.db, bucketID, name); err != nil {
		return db.NoRowsAs(err, errTokenUsed)
	}
	return errDuplicate.Becausef("by this signed URL")
}

// consume marks a signed upload URL as used, in the transaction that saves the upload. Of two concurrent uploads to
// one URL, the second gets errDuplicate.
func (g *UploadGrant) consume(ctx context.Context, tx *db.Tx) error {
	if g.Upsert {
		return nil
	}
	isFirst, err := recordTokenUse(ctx, tx, g.ID, g.until)
	if err == nil && !isFirst {
		return errDuplicate.Becausef("by this signed URL")
	}
	return err
}

// UploadGrant is what the token of a signed upload URL allows: one upload of one object or, with Upsert, any number of
// them.
type UploadGrant struct {
	ID     string // id of the token
	Owner  string // the account that will own the object, "" for none
	Upsert bool   // the upload may replace an object
	object string // bucket/name
	until  time.Time
}

// ReadGrant checks a token of SignUpload and returns its grant. The errors are those of SignedUpload.
func (s *Service) ReadGrant(token string) (*UploadGrant, error) {
	c, err := s.verifyToken(purposeUpload, token)
	if err != nil {
		return nil, err
	}
	return &UploadGrant{ID: c.ID, Owner: c.Owner, Upsert: c.Upsert, object: c.Object, until: c.ExpiresAt.Time}, nil
}

func wantsUpsert(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("X-Upsert")), "true")
}
