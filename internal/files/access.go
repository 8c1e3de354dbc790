package files

import (
	"context"
	"net/http"
)

// This file defines the kinds of access to a file. internal/app/file_access.go decides which kind of access a request has.

// Access is what the sender of a request may do with a file.
type Access int

// The kinds of access. A file is hidden from visitors if nothing that they can see uses it: only unpublished works, or covers (pictures at
// the top of the home page) that are not shown now. An owner is anyone who may write to the file's bucket.
const (
	AccessAll   Access = iota // anyone may read the file
	AccessOwner               // the file is hidden from visitors, and the sender is an owner or has a URL that an owner signed
	AccessNone                // the file is hidden from the sender, so the response says that there is no such file
)

// AccessFunc returns the sender's access to an object. A nil AccessFunc gives AccessAll.
type AccessFunc func(r *http.Request, bucket, name string) (Access, error)

// Check returns the sender's access to an object, or ErrNoObject for AccessNone.
func (f AccessFunc) Check(r *http.Request, bucket, name string) (Access, error) {
	if f == nil {
		return AccessAll, nil
	}
	access, err := f(r, bucket, name)
	if err == nil && access == AccessNone {
		err = ErrNoObject
	}
	return access, err
}

// OwnerCacheControl is the Cache-Control of a file that only owners may read (AccessOwner).
const OwnerCacheControl = "private, max-age=300"

// signedByOwner is the context key of the mark that WithSignedByOwner sets.
type signedByOwner struct{}

// WithSignedByOwner returns a copy of r with the mark that an owner signed its URL.
func WithSignedByOwner(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), signedByOwner{}, true))
}

// IsSignedByOwner reports whether r has the mark of WithSignedByOwner.
func IsSignedByOwner(r *http.Request) bool {
	signed, _ := r.Context().Value(signedByOwner{}).(bool)
	return signed
}
