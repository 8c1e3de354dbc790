package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file creates, changes, empties and deletes buckets.

// bucketRequest is the body of a request to CreateBucket or UpdateBucket. UpdateBucket changes only the settings in the body.
type bucketRequest struct {
	ID               string          `json:"id"`   // only for CreateBucket; "" means the same as Name
	Name             string          `json:"name"` // only for CreateBucket; "" means the same as ID
	Public           *bool           `json:"public"`
	Type             *string         `json:"type"`               // must be STANDARD or missing: there are no other types of buckets
	FileSizeLimit    json.RawMessage `json:"file_size_limit"`    // a number of bytes, or a string such as "20MB"; null or 0: no limit
	AllowedMimeTypes json.RawMessage `json:"allowed_mime_types"` // an array of MIME types; null or []: all types
	VersioningStatus *string         `json:"versioning_status"`  // must be disabled or missing: objects have no versions
}

var (
	// bucketNamePattern is Supabase's rule for names, but without the character "?", which would end the path of a URL.
	bucketNamePattern = regexp.MustCompile(`^[\w!\-.*'() &$@=;:+,]{1,100}$`)
	// mimePattern matches a MIME type in lower case, such as image/png or image/*. Each part has at most 127 characters (RFC 6838 §4.2).
	mimePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+\-]{0,126}/(\*|[a-z0-9][a-z0-9!#$&^_.+\-]{0,126})$`)
	// sizePattern matches a number with or without a unit, such as 1.5 or 20MB. parseSize uses it.
	sizePattern = regexp.MustCompile(`^(?i)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(b|kb|mb|gb)?$`)
)

// reservedBuckets are names that no bucket may have, in lower or upper case. In a URL such as /storage/v1/object/public/…, the first segment
// after object is the name of a bucket or one of these words. The names . and .. are reserved because clients remove such segments from
// URLs.
var reservedBuckets = []string{"public", "authenticated", "sign", "upload", "info", "list", "list-v2", "move", "copy", ".", ".."}

// isValidBucketName reports whether a bucket may have the name.
func isValidBucketName(name string) bool {
	return bucketNamePattern.MatchString(name) && strings.TrimSpace(name) == name && !slices.Contains(reservedBuckets, strings.ToLower(name))
}

// maxMimeTypes is the maximum number of types in a bucket's allowed_mime_types.
const maxMimeTypes = 100

// apply checks the request's settings and puts them into b. The file size limit must not exceed maxUploadBytes, the limit of the server.
func (req *bucketRequest) apply(b *bucket, maxUploadBytes int64) error {
	switch {
	case req.Type != nil && *req.Type != "STANDARD":
		return files.ErrNotSupported("type " + strconv.Quote(*req.Type))
	case req.VersioningStatus != nil && !strings.EqualFold(*req.VersioningStatus, "disabled"):
		return files.ErrNotSupported("versioning_status")
	}
	if req.Public != nil {
		b.Public = *req.Public
	}
	if len(req.FileSizeLimit) > 0 {
		limit, err := parseSize(req.FileSizeLimit)
		if err != nil {
			return files.ErrInvalidParameter(`file_size_limit must be a number of bytes, or text such as "20MB"`).Because(err)
		}
		if limit != nil && *limit > maxUploadBytes {
			return errTooLarge.Becausef("file_size_limit %d of at most %d", *limit, maxUploadBytes)
		}
		b.FileSizeLimit = limit
	}
	if len(req.AllowedMimeTypes) > 0 {
		var types []string
		if err := httpx.UnmarshalLenient(req.AllowedMimeTypes, &types); err != nil {
			return files.ErrInvalidParameter("allowed_mime_types must be a list of texts").Because(err)
		}
		if len(types) > maxMimeTypes {
			return files.ErrInvalidParameter("allowed_mime_types may have " + strconv.Itoa(maxMimeTypes) + " entries")
		}
		for i, t := range types {
			if types[i] = strings.ToLower(strings.TrimSpace(t)); types[i] != "*/*" && !mimePattern.MatchString(types[i]) {
				return errTypeRefused(strconv.Quote(t))
			}
		}
		if b.AllowedMimeTypes = types; len(types) == 0 {
			b.AllowedMimeTypes = nil
		}
	}
	return nil
}

var errBadSize = errors.New("not a size")

// parseSize reads a size: a JSON number of bytes, or text with a decimal unit such as "20MB", as Supabase accepts it. For null
// and 0 it returns nil, which means no limit.
func parseSize(raw json.RawMessage) (*int64, error) {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return nil, nil
	}
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
	} else if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return nil, err
	}
	parts := sizePattern.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, errBadSize
	}
	value, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return nil, err
	}
	value *= map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9}[strings.ToLower(parts[2])]
	if value > 1<<53 {
		return nil, fmt.Errorf("%s: %w", text, errBadSize)
	}
	if value < 1 {
		return nil, nil
	}
	return new(int64(value)), nil
}

// CreateBucket handles POST /storage/v1/bucket.
func (s *Service) CreateBucket(w http.ResponseWriter, r *http.Request) error {
	var req bucketRequest
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return err
	}
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	if req.ID == "" {
		req.ID = req.Name
	}
	if req.Name == "" {
		req.Name = req.ID
	}
	if !isValidBucketName(req.ID) || !isValidBucketName(req.Name) {
		return errBucketName
	}
	now := s.now().UTC().Truncate(time.Microsecond)
	b := bucket{ID: req.ID, Name: req.Name, CreatedAt: now, UpdatedAt: now}
	if err := req.apply(&b, s.cfg.MaxUpload); err != nil {
		return err
	}
	err := constraintAs(insertBucket(r.Context(), s.db, b), db.UniqueViolation, errBucketTaken)
	return respond(w, map[string]string{"name": b.Name}, err)
}

// UpdateBucket handles PUT /storage/v1/bucket/{bucket}.
func (s *Service) UpdateBucket(w http.ResponseWriter, r *http.Request) error {
	var req bucketRequest
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return err
	}
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		b, err := lockBucket(r.Context(), tx, r.PathValue("bucket"))
		if err != nil {
			return db.NoRowsAs(err, files.ErrNoBucket)
		}
		if err := req.apply(&b, s.cfg.MaxUpload); err != nil {
			return err
		}
		if b.hasWrongAccess() {
			return errBucketFixed
		}
		b.UpdatedAt = s.now().UTC().Truncate(time.Microsecond)
		return updateBucket(r.Context(), tx, b)
	})
	return respond(w, map[string]string{"message": "Successfully updated"}, err)
}

// emptyBatch is how many objects one transaction of EmptyBucket removes.
const emptyBatch = 500

// EmptyBucket handles POST /storage/v1/bucket/{bucket}/empty. It removes all objects, in name order and in several
// transactions; objects that are uploaded meanwhile may stay. After an interruption the client can send the request again.
func (s *Service) EmptyBucket(w http.ResponseWriter, r *http.Request) error {
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	for after := ""; ; {
		names, err := listNames(r.Context(), s.db, b.ID, after, emptyBatch)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return httpx.JSON(w, http.StatusOK, map[string]string{"message": "Successfully emptied"})
		}
		if _, err := s.removeAll(r.Context(), b.ID, names); err != nil {
			return err
		}
		after = names[len(names)-1]
	}
}

// DeleteBucket handles DELETE /storage/v1/bucket/{bucket}. It rejects buckets that are not empty and the site's own.
func (s *Service) DeleteBucket(w http.ResponseWriter, r *http.Request) error {
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if b.isFixed() {
		return errBucketFixed
	}
	err = constraintAs(deleteBucket(r.Context(), s.db, b.ID), db.ForeignKeyViolation, errNotEmpty)
	return respond(w, map[string]string{"message": "Successfully deleted"}, err)
}
