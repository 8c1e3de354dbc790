package storage

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// removeRequest names what is to go. The client says "prefixes", but they are whole names.
type removeRequest struct {
	Prefixes []removeEntry `json:"prefixes"`
}

// removeEntry is a name. The client can send {path, versionId} too, which needs versions.
type removeEntry struct {
	name      string
	versioned bool
}

// UnmarshalJSON reads either form.
func (e *removeEntry) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		e.versioned = true
		return nil
	}
	return json.Unmarshal(text, &e.name)
}

// removedItem is an object that is gone, as the client's type FileObject reads it.
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

// Remove answers DELETE /storage/v1/object/{bucket}: it removes the named objects in one transaction and answers those
// that existed.
func (s *Service) Remove(w http.ResponseWriter, r *http.Request) error {
	var req removeRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	bucketID := r.PathValue("bucket")
	if _, err := s.mayWrite(r.Context(), identity.Of(r.Context()), bucketID); err != nil {
		return err
	}
	switch n := len(req.Prefixes); {
	case n == 0:
		return errBadBody.Becausef("no prefixes")
	case n > maxRemoved:
		return errInvalidParameter("prefixes may have " + strconv.Itoa(maxRemoved) + " entries")
	}
	names := make([]string, 0, len(req.Prefixes))
	for _, e := range req.Prefixes {
		if e.versioned {
			return errNotOffered("versionId")
		}
		if validName(e.name) { // no object is called otherwise
			names = append(names, e.name)
		}
	}
	slices.Sort(names) // one order for all, or two removals wait for each other
	var removed []Object
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		removed = nil
		for _, name := range slices.Compact(names) {
			o, err := s.removeObject(r.Context(), tx, bucketID, name)
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
	if err != nil {
		return err
	}
	items := make([]removedItem, 0, len(removed))
	for _, o := range removed {
		items = append(items, removedItem{o.Name, o.Bucket, o.OwnerID, o.ID, isoTime(o.UpdatedAt), isoTime(o.CreatedAt), isoTime(o.CreatedAt), o.metadata()})
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// RemoveOne answers DELETE /storage/v1/object/{bucket}/{path...}.
func (s *Service) RemoveOne(w http.ResponseWriter, r *http.Request) error {
	bucketID, name := r.PathValue("bucket"), r.PathValue("path")
	if _, err := s.mayWrite(r.Context(), identity.Of(r.Context()), bucketID); err != nil {
		return err
	}
	if !validName(name) {
		return errInvalidKey(name)
	}
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		_, err := s.removeObject(r.Context(), tx, bucketID, name)
		return err
	})
	if errors.Is(err, db.ErrNoRows) {
		return errNoObject
	}
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"message": "Successfully deleted"})
}

// removeObject removes a row with all that is known of it; the files follow after the commit.
func (s *Service) removeObject(ctx context.Context, tx *db.Tx, bucketID, name string) (Object, error) {
	locked, err := lockObject(ctx, tx, bucketID, name)
	if err != nil {
		return Object{}, err
	}
	if err := s.discardMedia(ctx, tx, locked.ID); err != nil {
		return Object{}, err
	}
	o, err := deleteObject(ctx, tx, bucketID, name)
	if err != nil {
		return Object{}, err
	}
	return o, s.discard(ctx, tx, o.BlobID)
}
