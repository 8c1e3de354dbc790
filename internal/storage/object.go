package storage

import (
	"net/http"
	"time"

	"atelie/internal/files"
)

// This file defines the parts of JSON responses that several handlers of /storage/v1 use.

// isoTime formats a time as the responses of /storage/v1 contain it: in UTC with milliseconds.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// fileMetadata describes an object's file in the form of the type FileMetadata of the client (supabase-js). Size and ContentLength are both
// the size in bytes. HTTPStatusCode is always 200; it exists only because the client's type contains it.
type fileMetadata struct {
	ETag           string `json:"eTag"`
	Size           int64  `json:"size"`
	MimeType       string `json:"mimetype"`
	CacheControl   string `json:"cacheControl"`
	LastModified   string `json:"lastModified"`
	ContentLength  int64  `json:"contentLength"`
	HTTPStatusCode int    `json:"httpStatusCode"`
}

// metadataOf returns the fileMetadata of an object.
func metadataOf(o *files.Object) *fileMetadata {
	return &fileMetadata{files.Quote(o.ETag), o.Size, o.MimeType, o.CacheControl, isoTime(o.UpdatedAt), o.Size, http.StatusOK}
}
