package storage

import (
	"encoding/json"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file responds to requests for the properties of an object.

// objectInfo describes an object in the form of the type FileObjectV2 of the client (supabase-js). Version is the id of the object's blob
// (its bytes), so Version changes with the content. Metadata is the JSON object that was sent with the upload, or {}.
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

// Info handles GET and HEAD /storage/v1/object/info/{bucket}/{path...}, also under info/authenticated.
func (s *Service) Info(w http.ResponseWriter, r *http.Request) error {
	caller := identity.Of(r.Context())
	return s.serveInfo(w, r, func(b bucket) bool { return policy.Object(caller, b.ID, policy.FileRead) }, files.ErrNoObject)
}

// PublicInfo handles GET and HEAD /storage/v1/object/info/public/{bucket}/{path...} for public buckets. It needs no token.
func (s *Service) PublicInfo(w http.ResponseWriter, r *http.Request) error {
	return s.serveInfo(w, r, func(b bucket) bool { return b.Public }, files.ErrNoBucket)
}

// serveInfo responds with the objectInfo of the object that a request names. isVisible reports whether the request may read a bucket. If it
// may not, the error is errNotVisible.
func (s *Service) serveInfo(w http.ResponseWriter, r *http.Request, isVisible func(bucket) bool, errNotVisible error) error {
	b, name, err := s.target(r, isVisible, errNotVisible)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Access.Check(r, b.ID, name); err != nil { // the files of unpublished works are hidden from visitors
		return err
	}
	o, userMetadata, err := findMetadata(r.Context(), s.db, b.ID, name)
	if err != nil {
		return db.NoRowsAs(err, files.ErrNoObject)
	}
	metadata := json.RawMessage("{}")
	if userMetadata != nil {
		metadata = json.RawMessage(*userMetadata)
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, objectInfo{o.ID, o.Name, o.BlobID, o.Bucket, o.Size, o.MimeType, o.CacheControl, files.Quote(o.ETag), metadata, isoTime(o.UpdatedAt), isoTime(o.CreatedAt)})
}
