package storage

import (
	"bytes"
	"context"
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
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// bucketRequest is the body of create and update. What is missing in an update stays; null takes a limit away.
type bucketRequest struct {
	ID               string          `json:"id"`
	Name             string          `json:"name"`
	Public           *bool           `json:"public"`
	Type             *string         `json:"type"`
	FileSizeLimit    json.RawMessage `json:"file_size_limit"`
	AllowedMimeTypes json.RawMessage `json:"allowed_mime_types"`
	VersioningStatus *string         `json:"versioning_status"`
}

var (
	// bucketName is the reference's rule without the signs that end a path.
	bucketName = regexp.MustCompile(`^[\w!\-.*'() &$@=;:+,]{1,100}$`)
	mimeName   = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+\-]{0,126}/(\*|[a-z0-9][a-z0-9!#$&^_.+\-]{0,126})$`)
	sizeText   = regexp.MustCompile(`^(?i)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(b|kb|mb|gb)?$`)
)

// reservedBuckets are words that stand where a bucket's name stands in an address.
var reservedBuckets = []string{"public", "authenticated", "sign", "upload", "info", "list", "list-v2", "move", "copy", ".", ".."}

func validBucketName(name string) bool {
	return bucketName.MatchString(name) && strings.TrimSpace(name) == name && !slices.Contains(reservedBuckets, strings.ToLower(name))
}

// maxMimeTypes is how many types one bucket may name.
const maxMimeTypes = 100

// apply puts the request's settings into b.
func (req *bucketRequest) apply(b *bucket, maxUpload int64) error {
	switch {
	case req.Type != nil && *req.Type != "STANDARD":
		return errNotOffered("type " + strconv.Quote(*req.Type))
	case req.VersioningStatus != nil && !strings.EqualFold(*req.VersioningStatus, "disabled"):
		return errNotOffered("versioning_status")
	}
	if req.Public != nil {
		b.Public = *req.Public
	}
	if len(req.FileSizeLimit) > 0 {
		limit, err := parseSize(req.FileSizeLimit)
		if err != nil {
			return errInvalidParameter(`file_size_limit must be a number of bytes, or text such as "20MB"`).Because(err)
		}
		if limit != nil && *limit > maxUpload {
			return errTooLarge.Becausef("file_size_limit %d of at most %d", *limit, maxUpload)
		}
		b.FileSizeLimit = limit
	}
	if len(req.AllowedMimeTypes) > 0 {
		var types []string
		if err := json.Unmarshal(req.AllowedMimeTypes, &types); err != nil {
			return errInvalidParameter("allowed_mime_types must be a list of texts").Because(err)
		}
		if len(types) > maxMimeTypes {
			return errInvalidParameter("allowed_mime_types may have " + strconv.Itoa(maxMimeTypes) + " entries")
		}
		for i, t := range types {
			if types[i] = strings.ToLower(strings.TrimSpace(t)); types[i] != "*/*" && !mimeName.MatchString(types[i]) {
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

// parseSize reads bytes as a number, or text with a decimal unit as the reference takes it; null and 0 mean no limit.
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
	parts := sizeText.FindStringSubmatch(strings.TrimSpace(text))
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
	size := int64(value)
	if size == 0 {
		return nil, nil
	}
	return &size, nil
}

// allows tells whether the bucket takes a type; its list may hold image/* and */*.
func (b bucket) allows(mime string) bool {
	if b.AllowedMimeTypes == nil {
		return true
	}
	kind, _, _ := strings.Cut(mime, "/")
	return slices.ContainsFunc(b.AllowedMimeTypes, func(t string) bool { return t == mime || t == "*/*" || t == kind+"/*" })
}

// fixed tells that a bucket belongs to the site (spec §3): pages show its public addresses.
func (b bucket) fixed() bool { return slices.Contains(policy.Buckets, b.ID) }

// CreateBucket answers POST /storage/v1/bucket.
func (s *Service) CreateBucket(w http.ResponseWriter, r *http.Request) error {
	var req bucketRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
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
	if !validBucketName(req.ID) || !validBucketName(req.Name) {
		return errBucketName
	}
	now := s.now().UTC().Truncate(time.Microsecond)
	b := bucket{ID: req.ID, Name: req.Name, CreatedAt: now, UpdatedAt: now}
	if err := req.apply(&b, s.cfg.MaxUpload); err != nil {
		return err
	}
	err := insertBucket(r.Context(), s.db, b)
	if db.IsConstraint(err, db.UniqueViolation) {
		return errBucketTaken.Because(err)
	}
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"name": b.Name})
}

// UpdateBucket answers PUT /storage/v1/bucket/{bucket}.
func (s *Service) UpdateBucket(w http.ResponseWriter, r *http.Request) error {
	var req bucketRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		b, err := lockBucket(r.Context(), tx, r.PathValue("bucket"))
		if errors.Is(err, db.ErrNoRows) {
			return errNoBucket
		}
		if err != nil {
			return err
		}
		if err := req.apply(&b, s.cfg.MaxUpload); err != nil {
			return err
		}
		if b.fixed() && !b.Public {
			return errBucketFixed
		}
		b.UpdatedAt = s.now().UTC().Truncate(time.Microsecond)
		return updateBucket(r.Context(), tx, b)
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"message": "Successfully updated"})
}

// emptyBatch is how many objects one transaction of EmptyBucket removes.
const emptyBatch = 500

// EmptyBucket answers POST /storage/v1/bucket/{bucket}/empty: all objects that are there when it comes to them go, in
// several transactions. One that is interrupted can be called again.
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
		if err := s.removeAll(r.Context(), b.ID, names); err != nil {
			return err
		}
		after = names[len(names)-1]
	}
}

// removeAll removes objects in one transaction; who is gone already is passed over.
func (s *Service) removeAll(ctx context.Context, bucketID string, names []string) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		for _, name := range names {
			if _, err := s.removeObject(ctx, tx, bucketID, name); err != nil && !errors.Is(err, db.ErrNoRows) {
				return err
			}
		}
		return nil
	})
}

// DeleteBucket answers DELETE /storage/v1/bucket/{bucket}. A bucket must be empty first, and the site's own stay.
func (s *Service) DeleteBucket(w http.ResponseWriter, r *http.Request) error {
	if !policy.ManageBuckets(identity.Of(r.Context())) {
		return errForbidden
	}
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if b.fixed() {
		return errBucketFixed
	}
	err = deleteBucket(r.Context(), s.db, b.ID)
	if db.IsConstraint(err, db.ForeignKeyViolation) {
		return errNotEmpty.Because(err)
	}
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"message": "Successfully deleted"})
}
