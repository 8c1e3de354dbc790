package storage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file handles requests to remove objects.

// removeRequest is the body of a request to Remove. The client (supabase-js) calls the array "prefixes", but its elements are whole names.
type removeRequest struct {
	Prefixes []removeEntry `json:"prefixes"`
}

// removeEntry is one element of the array: a name, or a JSON object {path, versionId}. Remove rejects a JSON object, because stored files
// have no versions.
type removeEntry struct {
	name         string
	isJSONObject bool // the element is {path, versionId}; name is ""
}

// UnmarshalJSON accepts both forms of an element.
func (e *removeEntry) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		e.isJSONObject = true
		return nil
	}
	return httpx.UnmarshalLenient(text, &e.name)
}

// removedItem is a removed object in the form of the client's type FileObject.
type removedItem struct {
	Name           string        `json:"name"`
	BucketID       string        `json:"bucket_id"`
	Owner          string        `json:"owner"`
	ID             string        `json:"id"`
	UpdatedAt      string        `json:"updated_at"`
	CreatedAt      string        `json:"created_at"`
	LastAccessedAt string        `json:"last_accessed_at"`
	Metadata       *fileMetadata `json:"metadata"`
}

// Remove handles DELETE /storage/v1/object/{bucket}. It removes the named objects in one transaction and responds with the list of the
// objects that existed.
func (s *Service) Remove(w http.ResponseWriter, r *http.Request) error {
	var req removeRequest
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return err
	}
	bucketID := r.PathValue("bucket")
	if _, err := s.writableBucket(r.Context(), identity.Of(r.Context()), bucketID); err != nil {
		return err
	}
	switch n := len(req.Prefixes); {
	case n == 0:
		return errBadBody.Becausef("no prefixes")
	case n > maxNames:
		return files.ErrInvalidParameter("prefixes may have " + strconv.Itoa(maxNames) + " entries")
	}
	names := make([]string, 0, len(req.Prefixes))
	for _, e := range req.Prefixes {
		if e.isJSONObject {
			return files.ErrNotSupported("versionId")
		}
		if files.ValidName(e.name) { // no object can have an invalid name
			names = append(names, e.name)
		}
	}
	slices.Sort(names) // all removals lock rows in the same order, so that two of them cannot deadlock
	removed, err := s.removeAll(r.Context(), bucketID, slices.Compact(names))
	if err != nil {
		return err
	}
	items := make([]removedItem, 0, len(removed))
	for _, o := range removed {
		items = append(items, removedItem{o.Name, o.Bucket, o.OwnerID, o.ID, isoTime(o.UpdatedAt), isoTime(o.CreatedAt), isoTime(o.CreatedAt), metadataOf(&o)})
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// RemoveOne handles DELETE /storage/v1/object/{bucket}/{path...}. A missing object is an error.
func (s *Service) RemoveOne(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if _, err := s.writableBucket(r.Context(), identity.Of(r.Context()), bucketID); err != nil {
		return err
	}
	if !files.ValidName(name) {
		return files.ErrInvalidKey(name)
	}
	removed, err := s.removeAll(r.Context(), bucketID, []string{name})
	if err != nil {
		return err
	}
	if len(removed) == 0 {
		return files.ErrNoObject
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"message": "Successfully deleted"})
}

// removeAll removes objects in one transaction and returns them. It skips names that no object has.
func (s *Service) removeAll(ctx context.Context, bucketID string, names []string) (removed []files.Object, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		removed = nil
		for _, name := range names {
			o, err := s.removeObject(ctx, tx, bucketID, name)
			if errors.Is(err, db.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			removed = append(removed, o)
		}
		return nil
	})
	return removed, err
}

// removeObject removes an object (discardObject) or, if a row or a revision refers to it, keeps it in keptBucket (kept.go). The error is
// db.ErrNoRows if there is no such object.
func (s *Service) removeObject(ctx context.Context, tx *db.Tx, bucketID, name string) (files.Object, error) {
	locked, err := lockObject(ctx, tx, bucketID, name)
	if err != nil {
		return files.Object{}, err
	}
	referenced, err := s.isReferenced(ctx, tx, locked)
	if err != nil {
		return locked, err
	}
	if referenced {
		return locked, s.moveToKept(ctx, tx, locked)
	}
	return locked, s.discardObject(ctx, tx, locked)
}

// discardObject removes a locked object's row and what media derived from it. Its blob is removed after the commit.
func (s *Service) discardObject(ctx context.Context, tx *db.Tx, locked files.Object) error {
	if err := s.media.Discard(ctx, tx, locked.ID); err != nil {
		return err
	}
	if err := deleteObject(ctx, tx, locked.ID); err != nil {
		return err
	}
	return s.blobs.Discard(ctx, tx, locked.BlobID)
}
