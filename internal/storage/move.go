package storage

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// moveRequest is the body of move and copy; without a destination bucket the object stays in its own.
type moveRequest struct {
	BucketID          string  `json:"bucketId"`
	SourceKey         string  `json:"sourceKey"`
	DestinationKey    string  `json:"destinationKey"`
	DestinationBucket string  `json:"destinationBucket"`
	SourceVersionID   *string `json:"sourceVersionId"`

	// For copy alone: with copyMetadata false, what the copy gets instead.
	CopyMetadata *bool           `json:"copyMetadata"`
	Metadata     json.RawMessage `json:"metadata"`
}

// accept reads the request and checks both ends. A caller who may not write learns nothing about the objects.
func (s *Service) accept(w http.ResponseWriter, r *http.Request, source policy.FileAction) (req moveRequest, to bucket, err error) {
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return req, to, err
	}
	if req.DestinationBucket == "" {
		req.DestinationBucket = req.BucketID
	}
	caller := identity.Of(r.Context())
	if to, err = s.mayWrite(r.Context(), caller, req.DestinationBucket); err != nil {
		return req, to, err
	}
	if _, err := s.bucket(r.Context(), req.BucketID); err != nil {
		return req, to, err
	}
	switch {
	case !policy.Object(caller, req.BucketID, source):
		return req, to, errForbidden
	case req.SourceVersionID != nil:
		return req, to, errNotOffered("sourceVersionId")
	case !validName(req.SourceKey):
		return req, to, errInvalidKey(req.SourceKey)
	case !validName(req.DestinationKey):
		return req, to, errInvalidKey(req.DestinationKey)
	}
	return req, to, nil
}

// Move answers POST /storage/v1/object/move: another name, another bucket, or both. Only the row changes, so that whoever
// is reading the object reads on.
func (s *Service) Move(w http.ResponseWriter, r *http.Request) error {
	req, to, err := s.accept(w, r, policy.FileWrite)
	if err != nil {
		return err
	}
	var moved Object
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) (err error) {
		moved, err = s.move(r.Context(), tx, req, to)
		return err
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Message string `json:"message"`
		uploaded
	}{"Successfully moved", uploaded{moved.ID, to.ID + "/" + req.DestinationKey}})
}

func (s *Service) move(ctx context.Context, tx *db.Tx, req moveRequest, to bucket) (Object, error) {
	o, err := lockObject(ctx, tx, req.BucketID, req.SourceKey)
	if errors.Is(err, db.ErrNoRows) {
		return o, errNoObject
	}
	if err != nil {
		return o, err
	}
	kind := typeOf(o.MimeType)
	if kind == nil {
		return o, errTypeRefused(o.MimeType)
	}
	if err := admit(to, kind, req.DestinationKey); err != nil {
		return o, err
	}
	if ofTheSite(to.ID) && !ofTheSite(o.Bucket) && kind.isImage() {
		return o, errMovedIn // a copy is cleaned on its way, a move touches no file
	}
	if limit := s.sizeLimit(to); to.ID != o.Bucket && o.Size > limit {
		return o, errTooLarge.Becausef("%d bytes of at most %d", o.Size, limit)
	}
	err = renameObject(ctx, tx, o.ID, to.ID, req.DestinationKey, s.now())
	switch {
	case db.IsConstraint(err, db.UniqueViolation):
		return o, errDuplicate.Because(err)
	case db.IsConstraint(err, db.ForeignKeyViolation):
		return o, errNoBucket.Because(err) // deleted meanwhile
	}
	return o, err
}
