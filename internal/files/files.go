// Package files contains the types and functions that storage and media share: stored objects, file types, names, public URLs,
// and the headers and errors of responses.
package files

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"atelie/internal/policy"
)

// Object is a stored file, a row of storage_objects. BlobID is the id of its bytes in the file store. ETag is the SHA-256 of
// these bytes in hexadecimal digits, without quotes. Size is in bytes. OwnerID is the account that uploaded the file, or "".
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

// Blob describes the stored bytes of a file: ID identifies them in the file store, Size is in bytes, and ETag is their SHA-256
// in hexadecimal digits.
type Blob struct {
	ID   string
	Size int64
	ETag string
}

// Inspection is the result of reading a complete upload (a picture or a video) in the media service. The caller must call Close.
type Inspection struct {
	Width, Height int      // pixels as shown, after the EXIF rotation; 0 for a video that cannot be read
	Thumbhash     []byte   // a tiny placeholder picture, made from the preview picture inside the file; nil if the file has no preview
	Color         string   // the dominant colour of the preview picture, #rrggbb; "" if the file has no preview
	Video         *Video   // nil for pictures
	Stripped      *os.File // the upload without metadata, which is published instead; nil if the upload itself is published
}

// Close closes the copy in Stripped. The copy has no file name, so this also frees its space on the disk. i may be nil.
func (i *Inspection) Close() {
	if i != nil && i.Stripped != nil {
		_ = i.Stripped.Close()
	}
}

// Video describes a video according to its header and index.
type Video struct {
	Codec      string        // for example avc1 or VP9 (video.Info)
	Duration   time.Duration // 0 if it is unknown
	IndexFirst bool          // browsers can play the video before they have received all of it (video.Info)
	Failure    string        // code of the reason why the video cannot be shown, or ""; if it is set, all other fields are zero
}

// SiteBucket reports whether a bucket is one of the site's own. Pictures in these buckets are published without private metadata and get
// renditions. Files in other buckets are served byte for byte.
func SiteBucket(id string) bool { return slices.Contains(policy.Buckets, id) }

// CleanedBucket reports whether pictures are stored without private metadata in a bucket: those of the site and those of conversations.
// Visitors get pictures from which metadata cannot be removed only as renditions.
func CleanedBucket(id string) bool { return SiteBucket(id) || id == policy.ConversationBucket }

// PublicPath is the beginning of the path in each object's public URL.
const PublicPath = "/storage/v1/object/public/"

// ParsePublicURL returns the bucket and the name in a public URL, with or without a host. ok is false for other URLs.
func ParsePublicURL(publicURL string) (bucket, name string, ok bool) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return "", "", false
	}
	full, ok := strings.CutPrefix(u.Path, PublicPath)
	bucket, name, cut := strings.Cut(full, "/")
	return bucket, name, ok && cut && Storable(full)
}
