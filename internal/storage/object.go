package storage

import (
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/httpx"
)

// This file defines the parts of responses that several handlers of /storage/v1 use.

// respond responds with a body in JSON. If err is not nil, it returns err instead, so that a handler can end with "return respond(w, body,
// err)".
func respond(w http.ResponseWriter, body any, err error) error {
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, body)
}

// constraintAs returns other, with err as its cause, if err is the violation of a constraint (db.IsConstraint), and any other err unchanged.
func constraintAs(err error, code string, other *apperr.Error) error {
	if db.IsConstraint(err, code) {
		return other.Because(err)
	}
	return err
}

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
