// Package files contains the types and functions that storage and media share: stored objects, file types, names, public
// addresses, and the headers and errors of answers.
package files

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"atelie/internal/policy"
)

// Object is a row of storage_objects. BlobID names its bytes in the file store. ETag is the SHA-256 of these bytes in
// hexadecimal digits, without quotes; Size is in bytes; OwnerID is the account that uploaded the object, empty for none.
type Object struct {
	ID           string
	Bucket       string
	Name         string
	BlobID       string
	Size         int64
	MimeType     string
	ETag         string
	CacheControl string
	OwnerID      string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Blob describes the stored bytes of a file. ID names them in the file store; Size is in bytes; ETag is their SHA-256 in
// hexadecimal digits.
type Blob struct {
	ID   string
	Size int64
	ETag string
}

// Inspection is what the media service has read from a complete upload.
type Inspection struct {
	Width, Height int      // pixels as shown, after the EXIF rotation; 0 for a film that cannot be read
	Film          *Film    // nil for pictures
	Cleaned       *os.File // the copy to publish in place of the upload; nil if the upload itself is published
}

// Close closes the cleaned copy. That also frees its space, because the file has no name. i may be nil.
func (i *Inspection) Close() {
	if i != nil && i.Cleaned != nil {
		_ = i.Cleaned.Close()
	}
}

// Film is the information in a film's header and index.
type Film struct {
	Codec    string
	Duration time.Duration
	Indexed  bool   // the index is at the beginning of the file: browsers can play the film before they have received all of it
	Failure  string // code of the reason why the film cannot be shown, or ""; if it is set, the other fields are not
}

// SiteBucket reports whether a bucket is one of the site's own. Their pictures are cleaned and get renditions; other buckets
// return each file byte for byte.
func SiteBucket(id string) bool { return slices.Contains(policy.Buckets, id) }

// PublicPath is the beginning of the public addresses of objects.
const PublicPath = "/storage/v1/object/public/"

// ParseAddress returns the bucket and the name in a public address, with or without a host. ok is false for other addresses.
func ParseAddress(address string) (bucket, name string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", false
	}
	full, ok := strings.CutPrefix(u.Path, PublicPath)
	bucket, name, cut := strings.Cut(full, "/")
	return bucket, name, ok && cut && Storable(full)
}
