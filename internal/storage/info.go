package storage

import (
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// objectInfo describes an object as the client's type FileObjectV2 does; Metadata is what its uploader noted. Version
// changes with the content.
type objectInfo struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	BucketID     string          `json:"bucket_id"`
	Size         int64           `json:"size"`
	ContentType  string          `json:"content_type"`
	CacheControl string          `json:"cache_control"`
	ETag         string          `json:"etag"`
	Metadata     json.RawMessage `json:"metadata"`
	LastModified string          `json:"last_modified"`
	CreatedAt    string          `json:"created_at"`
}

// Info answers GET and HEAD /storage/v1/object/info/{bucket}/{path...}, also under info/authenticated.
func (s *Service) Info(w http.ResponseWriter, r *http.Request) error {
	return s.info(w, r, func(b bucket) error {
		if !policy.Object(identity.Of(r.Context()), b.ID, policy.FileRead) {
			return errNoObject
		}
		return nil
	})
}

// PublicInfo answers the same for public buckets under info/public, which needs no token.
func (s *Service) PublicInfo(w http.ResponseWriter, r *http.Request) error {
	return s.info(w, r, func(b bucket) error {
		if !b.Public {
			return errNoBucket
		}
		return nil
	})
}

func (s *Service) info(w http.ResponseWriter, r *http.Request, visible func(bucket) error) error {
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if err := visible(b); err != nil {
		return err
	}
	name := r.PathValue("path")
	switch {
	case r.URL.Query().Has("versionId"):
		return errNotOffered("versionId")
	case !validName(name):
		return errInvalidKey(name)
	}
	o, noted, err := findMetadata(r.Context(), s.db, b.ID, name)
	if errors.Is(err, db.ErrNoRows) {
		return errNoObject
	}
	if err != nil {
		return err
	}
	metadata := json.RawMessage("null")
	if noted != nil {
		metadata = json.RawMessage(*noted)
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, objectInfo{o.ID, o.Name, o.BlobID, o.Bucket, o.Size, o.MimeType, o.CacheControl, quoted(o.ETag), metadata, isoTime(o.UpdatedAt), isoTime(o.CreatedAt)})
}
