package storage

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file creates the site's own buckets, and handles the requests that read buckets.

// maxConversationPicture is the maximum size in bytes of a picture in a conversation (a visitor's message and its replies).
const maxConversationPicture = 10 << 20

// EnsureBuckets creates the site's three public buckets and the private bucket of conversations, and sets their limits (docs/product.md,
// rule 42). review-images accepts only pictures. The other two public buckets also accept videos. EnsureBuckets keeps the limits that the
// owner (an account with the role admin) has changed.
func (s *Service) EnsureBuckets(ctx context.Context) error {
	imageTypes := mimeTypes(func(t *files.Type) bool { return t.Image })
	allTypes := mimeTypes(func(*files.Type) bool { return true })
	now := s.now()
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		for _, id := range append(slices.Clone(policy.Buckets), policy.ConversationBucket) {
			b := bucket{ID: id, Name: id, Public: true, FileSizeLimit: &s.cfg.MaxUpload, AllowedMimeTypes: allTypes, CreatedAt: now, UpdatedAt: now}
			switch id {
			case "review-images":
				b.FileSizeLimit, b.AllowedMimeTypes = new(min(s.cfg.MaxUpload, maxImageBytes)), imageTypes
			case policy.ConversationBucket:
				b.Public, b.FileSizeLimit = false, new(min(s.cfg.MaxUpload, maxConversationPicture))
				b.AllowedMimeTypes = []string{files.JPEG.MIME, files.PNG.MIME, files.WebP.MIME, files.HEIC.MIME}
			}
			if err := ensureBucket(ctx, tx, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// mimeTypes returns the MIME types of the accepted file types for which include returns true.
func mimeTypes(include func(*files.Type) bool) (names []string) {
	for _, t := range files.Types {
		if include(t) {
			names = append(names, t.MIME)
		}
	}
	return names
}

// allows reports whether files of a MIME type may be stored in the bucket. AllowedMimeTypes may have wildcards such as
// image/* and */*.
func (b bucket) allows(mime string) bool {
	if b.AllowedMimeTypes == nil {
		return true
	}
	mainType, _, _ := strings.Cut(mime, "/")
	return slices.ContainsFunc(b.AllowedMimeTypes, func(t string) bool { return t == mime || t == "*/*" || t == mainType+"/*" })
}

// isFixed reports whether the bucket can be neither deleted nor made public or private, because the site's pages or conversations show the
// files in it.
func (b bucket) isFixed() bool { return files.SiteOrConversationBucket(b.ID) }

// hasWrongAccess reports whether a bucket of the site or of conversations is public although it must be private, or the reverse.
func (b bucket) hasWrongAccess() bool { return b.isFixed() && b.Public != files.SiteBucket(b.ID) }

// bucketJSON is a bucket in the form of the type Bucket of the client (supabase-js). Owner is always empty, Type always STANDARD.
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

// Buckets responds to GET /storage/v1/bucket with the buckets that the caller may see.
func (s *Service) Buckets(w http.ResponseWriter, r *http.Request) error {
	p := bucketPage{Column: "id", Limit: math.MaxInt32, Private: policy.PrivateBuckets(identity.Of(r.Context()))}
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
			return files.ErrInvalidParameter(n.name + " must be a number from " + strconv.FormatInt(n.min, 10))
		}
		*n.dst = v
	}
	var err error
	if p.Descending, err = readSorting(q.Get("sortColumn"), q.Get("sortOrder"), bucketSorts, "sortColumn", "sortOrder", &p.Column); err != nil {
		return err
	}
	if p.Search = q.Get("search"); !files.Storable(p.Search) {
		return files.ErrInvalidParameter("search has characters that are not allowed")
	}
	if len(p.Search) > files.MaxName { // no name of a bucket is as long, and SQLite refuses long patterns
		return httpx.JSON(w, http.StatusOK, []bucketJSON{})
	}
	buckets, err := listBuckets(r.Context(), s.db, p)
	if err != nil {
		return err
	}
	items := make([]bucketJSON, 0, len(buckets))
	for _, b := range buckets {
		items = append(items, s.withDecodableTypes(b).json())
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// Bucket handles GET /storage/v1/bucket/{bucket}. The response is the same for a bucket that the caller may not see as for a
// missing one.
func (s *Service) Bucket(w http.ResponseWriter, r *http.Request) error {
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if !policy.Bucket(identity.Of(r.Context()), b.ID, b.Public) {
		return files.ErrNoBucket
	}
	return httpx.JSON(w, http.StatusOK, s.withDecodableTypes(b).json())
}

// withDecodableTypes returns a bucket of the site or of conversations without the types that this machine cannot decode (HEIC and AVIF
// without libvips), so that the admin page can reject such a file before it is sent. The row keeps all types, because libvips may be
// installed later. Other buckets are returned unchanged.
func (s *Service) withDecodableTypes(b bucket) bucket {
	if files.SiteOrConversationBucket(b.ID) {
		b.AllowedMimeTypes = slices.DeleteFunc(slices.Clone(b.AllowedMimeTypes), func(mime string) bool {
			kind := files.TypeOf(mime)
			return kind != nil && s.checkDecodable(kind) != nil
		})
	}
	return b
}

// readSorting checks the requested column and order of a listing. It puts the column into dst, which keeps its default if the
// request has no column. columnParameter and orderParameter name the parameters in errors.
func readSorting(column, order string, allowed []string, columnParameter, orderParameter string, dst *string) (descending bool, err error) {
	if column != "" {
		if !slices.Contains(allowed, column) {
			return false, files.ErrInvalidParameter(columnParameter + " must be one of " + strings.Join(allowed, ", "))
		}
		*dst = column
	}
	switch strings.ToLower(order) {
	case "", "asc":
		return false, nil
	case "desc":
		return true, nil
	}
	return false, files.ErrInvalidParameter(orderParameter + " must be asc or desc")
}
