package storage

import (
	"net/http"
	"time"

	"atelie/internal/files"
)

// isoTime formats a time as the responses of this surface contain it: in UTC with milliseconds.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// fileMetadata describes an object's bytes in the form of the client's type FileMetadata.
type fileMetadata struct {
	ETag           string `json:"eTag"`
	Size           int64  `json:"size"`
	MimeType       string `json:"mimetype"`
	CacheControl   string `json:"cacheControl"`
	LastModified   string `json:"lastModified"`
	ContentLength  int64  `json:"contentLength"`
	HTTPStatusCode int    `json:"httpStatusCode"`
}

func metadataOf(o *files.Object) *fileMetadata {
	return &fileMetadata{files.Quote(o.ETag), o.Size, o.MimeType, o.CacheControl, isoTime(o.UpdatedAt), o.Size, http.StatusOK}
}
