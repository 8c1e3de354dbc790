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

// Object is a stored file, a row of storage_objects.
type Object struct {
	ID           string
	Bucket       string
	Name         string
	BlobID       string // id of the file's bytes in the file store
	Size         int64  // bytes
	MimeType     string
	ETag         string // SHA-256 of the bytes in hexadecimal digits, without quotes
	CacheControl string // value of the Cache-Control header
	OwnerID      string // id of the account that uploaded the file, or ""
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Blob describes the stored bytes of a file.
type Blob struct {
	ID   string // id of the bytes in the file store
	Size int64  // bytes
	ETag string // SHA-256 of the bytes in hexadecimal digits
}

// Inspection is the result of reading a complete upload (a picture or a video) in the media service. The caller must call Close.
type Inspection struct {
	Width, Height int      // pixels as shown, after the EXIF rotation; 0 for a video that cannot be read
	Thumbhash     []byte   // placeholder, made from the preview (a small picture inside the file); nil if the file has no preview
	Color         string   // dominant colour of the preview, #rrggbb; "" if the file has no preview
	Video         *Video   // nil for pictures
	Stripped      *os.File // copy without metadata, to be published in place of the upload; nil if the upload is published
}

// Close closes the copy in Stripped. The copy has no file name, so this also frees its space on the disk. i may be nil.
func (i *Inspection) Close() {
	if i != nil && i.Stripped != nil {
		_ = i.Stripped.Close()
	}
}

// Video describes a video according to its header and index.
type Video struct {
	Codec      string        // for example avc1 or VP9
	Duration   time.Duration // 0 if it is unknown
	IndexFirst bool          // browsers can play the video before they have received all of it
	Failure    string        // code of the reason why the video cannot be shown, or ""; if Failure is set, all other fields are zero
}

// SiteBucket reports whether a bucket is one of the site's own. Pictures in these buckets are published without private metadata and get
// renditions. Files in other buckets are served byte for byte.
func SiteBucket(id string) bool { return slices.Contains(policy.Buckets, id) }

// SiteOrConversationBucket reports whether a bucket is one of the site's own or the bucket with the pictures of conversations. Pictures in
// these buckets are stored without private metadata. If metadata cannot be removed from a picture, visitors get only renditions of it.
func SiteOrConversationBucket(id string) bool {
	return SiteBucket(id) || id == policy.ConversationBucket
}

// PublicPath is the prefix of the path in each object's public URL.
const PublicPath = "/storage/v1/object/public/"

// ParsePublicURL returns the bucket and the name in a public URL, with or without a host. ok is false for other URLs.
func ParsePublicURL(publicURL string) (bucket, name string, ok bool) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return "", "", false
	}
	bucketAndName, ok := strings.CutPrefix(u.Path, PublicPath)
	bucket, name, hasName := strings.Cut(bucketAndName, "/")
	return bucket, name, ok && hasName && Storable(bucketAndName)
}
