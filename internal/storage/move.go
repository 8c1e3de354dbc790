package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles requests to move an object to another name or bucket.

// moveRequest is the body of a request to Move or Copy.
type moveRequest struct {
	BucketID          string  `json:"bucketId"`          // bucket of the source
	SourceKey         string  `json:"sourceKey"`         // name of the source
	DestinationKey    string  `json:"destinationKey"`    // name of the destination
	DestinationBucket string  `json:"destinationBucket"` // bucket of the destination; "" means the source's bucket
	SourceVersionID   *string `json:"sourceVersionId"`   // rejected: objects have no versions

	// For Copy only. If CopyMetadata is false, the copy gets Metadata instead of the metadata of its source; nil means true.
	CopyMetadata *bool           `json:"copyMetadata"`
	Metadata     json.RawMessage `json:"metadata"`
}

// readAndAuthorizeMove reads a request to Move or Copy, and checks source and destination. The caller needs permission for sourceAction
// in the source's bucket. The permission to write to the destination is checked first: a caller who may not write there learns nothing
// about the source.
func (s *Service) readAndAuthorizeMove(w http.ResponseWriter, r *http.Request, sourceAction policy.FileAction) (req moveRequest, destination bucket, err error) {
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return req, destination, err
	}
	if req.DestinationBucket == "" {
		req.DestinationBucket = req.BucketID
	}
	caller := identity.Of(r.Context())
	if destination, err = s.writableBucket(r.Context(), caller, req.DestinationBucket); err != nil {
		return req, destination, err
	}
	if _, err := s.bucket(r.Context(), req.BucketID); err != nil {
		return req, destination, err
	}
	switch {
	case !policy.Object(caller, req.BucketID, sourceAction):
		return req, destination, errForbidden
	case req.SourceVersionID != nil:
		return req, destination, files.ErrNotSupported("sourceVersionId")
	case !files.ValidName(req.SourceKey):
		return req, destination, files.ErrInvalidKey(req.SourceKey)
	case !files.ValidName(req.DestinationKey):
		return req, destination, files.ErrInvalidKey(req.DestinationKey)
	}
	return req, destination, nil
}

// Move handles POST /storage/v1/object/move. It gives an object another name, another bucket, or both. Only the row changes, so running
// downloads of the object continue. If a row or a revision (a row as it was before a change) refers to the old URL, a copy of the object is
// kept for that URL.
func (s *Service) Move(w http.ResponseWriter, r *http.Request) error {
	req, destination, err := s.readAndAuthorizeMove(w, r, policy.FileWrite)
	if err != nil {
		return err
	}
	moved, err := s.moveAndKeep(r.Context(), req, destination)
	return respond(w, struct {
		Message string `json:"message"`
		uploadResult
	}{"Successfully moved", uploadResult{moved.ID, destination.ID + "/" + req.DestinationKey}}, err)
}

// errNeedsCopy means that moveAndKeep must copy the object's bytes before the move.
var errNeedsCopy = errors.New("the object's bytes have to be copied first")

// moveAndKeep moves an object. If a copy of the object must be kept for its old URL, moveAndKeep copies the bytes before the transaction of
// the move, and again if the object is replaced meanwhile.
func (s *Service) moveAndKeep(ctx context.Context, req moveRequest, destination bucket) (moved files.Object, err error) {
	var c *keptCopy
	for range maxAttempts {
		committing := false
		err = s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
			committing = false
			moved, err = s.move(ctx, tx, req, destination, c)
			committing = err == nil
			return err
		})
		// Otherwise the commit may have succeeded, even if it returned an error. Then Sweep removes the copy if no row refers to it.
		if c != nil && !committing {
			s.blobs.Remove(context.WithoutCancel(ctx), c.ids()...)
		}
		if !errors.Is(err, errNeedsCopy) {
			return moved, err
		}
		if c, err = s.copyForKept(ctx, moved); err != nil {
			return moved, db.NoRowsAs(err, files.ErrNoObject) // removed meanwhile
		}
	}
	return moved, fmt.Errorf("%s/%s keeps changing", req.BucketID, req.SourceKey)
}

// move moves an object in a transaction. c is the copy for the old URL of the object, or nil if no copy was made yet.
func (s *Service) move(ctx context.Context, tx *db.Tx, req moveRequest, destination bucket, c *keptCopy) (files.Object, error) {
	o, err := lockObject(ctx, tx, req.BucketID, req.SourceKey)
	if err != nil {
		return o, db.NoRowsAs(err, files.ErrNoObject)
	}
	kind := files.TypeOf(o.MimeType)
	if kind == nil {
		return o, errTypeRefused(o.MimeType)
	}
	if err := checkAllowed(destination, kind, req.DestinationKey); err != nil {
		return o, err
	}
	bothPublic := files.SiteBucket(destination.ID) && files.SiteBucket(o.Bucket)
	if files.SiteOrConversationBucket(destination.ID) && destination.ID != o.Bucket && !bothPublic && kind.Image {
		return o, errMoveIntoSite // pictures there must have no metadata, and a move changes no file
	}
	if limit := s.sizeLimit(destination); destination.ID != o.Bucket && o.Size > limit {
		return o, errTooLarge.Becausef("%d bytes of at most %d", o.Size, limit)
	}
	if destination.ID != o.Bucket || req.DestinationKey != o.Name {
		referenced, err := s.isReferenced(ctx, tx, o)
		switch {
		case err != nil:
			return o, err
		case !referenced:
		case c == nil || c.source != o.BlobID:
			return o, errNeedsCopy
		default:
			if err := s.keepMoved(ctx, tx, o, c); err != nil {
				return o, err
			}
		}
	}
	err = constraintAs(renameObject(ctx, tx, o.ID, destination.ID, req.DestinationKey, s.now()), db.UniqueViolation, errDuplicate)
	return o, constraintAs(err, db.ForeignKeyViolation, files.ErrNoBucket) // the bucket was deleted meanwhile
}
