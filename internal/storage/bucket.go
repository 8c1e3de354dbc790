package storage

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/policy"
)

// EnsureBuckets makes the three public buckets (spec §3) and gives them their limits (READING §3.27): pictures of
// reviewers in one, pictures and films in the others.
func (s *Service) EnsureBuckets(ctx context.Context) error {
	images := mimeTypes((*fileType).isImage)
	all := mimeTypes(func(*fileType) bool { return true })
	now := s.now()
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		for _, id := range policy.Buckets {
			b := bucket{ID: id, Name: id, Public: true, FileSizeLimit: &s.cfg.MaxUpload, AllowedMimeTypes: all, CreatedAt: now, UpdatedAt: now}
			if id == "review-images" {
				limit := min(s.cfg.MaxUpload, maxImageBytes)
				b.FileSizeLimit, b.AllowedMimeTypes = &limit, images
			}
			if err := saveBucket(ctx, tx, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// bucketJSON is a bucket as the client's type Bucket reads it.
type bucketJSON struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Owner            string   `json:"owner"`
	Public           bool     `json:"public"`
	Type             string   `json:"type"`
	FileSizeLimit    *int64   `json:"file_size_limit"`
	AllowedMimeTypes []string `json:"allowed_mime_types"`
	CreatedAt        string   `json:"created_at"`
	UpdatedAt        string   `json:"updated_at"`
}

func (b bucket) json() bucketJSON {
	return bucketJSON{b.ID, b.Name, "", b.Public, "STANDARD", b.FileSizeLimit, b.AllowedMimeTypes, isoTime(b.CreatedAt), isoTime(b.UpdatedAt)}
}

// Buckets answers GET /storage/v1/bucket: every caller may read the list.
func (s *Service) Buckets(w http.ResponseWriter, r *http.Request) error {
	p := bucketPage{Column: "id", Limit: math.MaxInt32}
	q := r.URL.Query()
	for _, n := range []struct {
		name string
		dst  *int64
		min  int64
	}{{"limit", &p.Limit, 1}, {"offset", &p.Offset, 0}} {
		if !q.Has(n.name) {
			continue
		}
		v, err := strconv.ParseInt(q.Get(n.name), 10, 64)
		if err != nil || v < n.min {
			return errInvalidParameter(n.name + " must be a number from " + strconv.FormatInt(n.min, 10))
		}
		*n.dst = v
	}
	if column := q.Get("sortColumn"); column != "" {
		if !slices.Contains(bucketSorts, column) {
			return errInvalidParameter("sortColumn must be one of " + strings.Join(bucketSorts, ", "))
		}
		p.Column = column
	}
	var err error
	if p.Descending, err = isDescending(q.Get("sortOrder"), "sortOrder"); err != nil {
		return err
	}
	if p.Search = q.Get("search"); !storable(p.Search) {
		return errInvalidParameter("search has characters that are not allowed")
	}
	buckets, err := listBuckets(r.Context(), s.db, p)
	if err != nil {
		return err
	}
	out := make([]bucketJSON, 0, len(buckets))
	for _, b := range buckets {
		out = append(out, s.offered(b).json())
	}
	return httpx.JSON(w, http.StatusOK, out)
}

// Bucket answers GET /storage/v1/bucket/{bucket}.
func (s *Service) Bucket(w http.ResponseWriter, r *http.Request) error {
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, s.offered(b).json())
}

// offered leaves out of a site's bucket the types that nothing here reads, so that its page can say so before it sends
// them (HEIC and AVIF without libvips). What is stored stays: another libvips may come.
func (s *Service) offered(b bucket) bucket {
	if ofTheSite(b.ID) {
		b.AllowedMimeTypes = slices.DeleteFunc(slices.Clone(b.AllowedMimeTypes), func(mime string) bool {
			kind := typeOf(mime)
			return kind != nil && s.decodable(kind) != nil
		})
	}
	return b
}

// isDescending reads a direction; empty means ascending.
func isDescending(order, parameter string) (bool, error) {
	switch strings.ToLower(order) {
	case "", "asc":
		return false, nil
	case "desc":
		return true, nil
	}
	return false, errInvalidParameter(parameter + " must be asc or desc")
}
