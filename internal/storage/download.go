package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Public handles GET and HEAD /storage/v1/object/public/{bucket}/{path...}, which needs no token.
func (s *Service) Public(w http.ResponseWriter, r *http.Request) error {
	fresh := func(remember func(files.Object)) error {
		// As on Supabase, the response for a private bucket is the same as for one that does not exist.
		return s.serve(w, r, func(b bucket) bool { return b.Public }, files.ErrNoBucket, remember)
	}
	stale := func(o files.Object) error { // during an outage of the database, with the remembered object
		if r.URL.Query().Has("original") || r.URL.Query().Has("versionId") {
			return db.ErrOutage
		}
		f, err := s.blobs.Open(r.Context(), o.BlobID)
		if err != nil {
			return err
		}
		send(w, r, o, f)
		return f.Close()
	}
	return s.rows.Serve(w, r, r.URL.Path, fresh, stale)
}

// Download handles GET and HEAD of the URLs of objects that need a token. The caller must be allowed to read the bucket.
func (s *Service) Download(w http.ResponseWriter, r *http.Request) error {
	caller := identity.Of(r.Context())
	return s.serve(w, r, func(b bucket) bool { return policy.Object(caller, b.ID, policy.FileRead) }, files.ErrNoObject, func(files.Object) {})
}

// serve responds with the object that a request names. visible reports whether the request may read a bucket; notVisible is the
// error if it may not. If anyone can get the same bytes at the public URL, serve passes the object to remember.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, visible func(bucket) bool, notVisible error, remember func(files.Object)) error {
	b, name, err := s.target(r, visible, notVisible)
	if err != nil {
		return err
	}
	canWrite := policy.Object(identity.Of(r.Context()), b.ID, policy.FileWrite)
	wantsOriginal := r.URL.Query().Has("original") // the file as it was uploaded
	find := findObject
	if wantsOriginal {
		if !canWrite {
			return errOriginalForbidden
		}
		find = findOriginal
	}
	o, f, err := s.open(r.Context(), find, b.ID, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // f was only read
	kind := files.TypeOf(o.MimeType)
	hidden := kind != nil && kind.Hidden // a picture whose metadata cannot be removed
	if hidden && files.SiteBucket(b.ID) && !canWrite {
		return errHidden
	}
	if b.Public && !wantsOriginal && !hidden {
		remember(o)
	}
	send(w, r, o, f)
	return nil
}

// target returns the bucket and the name of the object that a request reads. visible and notVisible are as for serve.
func (s *Service) target(r *http.Request, visible func(bucket) bool, notVisible error) (b bucket, name string, err error) {
	if b, err = s.bucket(r.Context(), r.PathValue("bucket")); err != nil {
		return b, "", err
	}
	name = r.PathValue("path")
	switch {
	case !visible(b):
		return b, "", notVisible
	case r.URL.Query().Has("versionId"):
		return b, "", files.ErrNotOffered("versionId")
	case !files.ValidName(name):
		return b, "", files.ErrInvalidKey(name)
	}
	return b, name, nil
}

// send responds with the bytes of f and the headers of o. net/http takes care of ranges and conditional requests.
func send(w http.ResponseWriter, r *http.Request, o files.Object, f io.ReadSeeker) {
	h, query := w.Header(), r.URL.Query()
	files.SetHeaders(h, o.MimeType, o.CacheControl, o.ETag)
	switch {
	case files.TypeOf(o.MimeType) == nil: // a type that uploads do not accept: it must not be shown in a browser
		h.Set("Content-Type", "application/octet-stream")
		files.SetAttachment(h, path.Base(o.Name))
	case query.Has("download"):
		files.SetAttachment(h, query.Get("download"))
	}
	response := newStream(w, nil)
	defer response.clearDeadlines()
	http.ServeContent(response, files.SingleRange(r), "", o.UpdatedAt, f)
}

// finder reads an object's row.
type finder func(ctx context.Context, q db.Querier, bucketID, name string) (files.Object, error)

// open reads an object's row and opens its file. If the object is replaced in between, its file may be removed; open then reads
// the row again, which names the new file.
func (s *Service) open(ctx context.Context, find finder, bucketID, name string) (o files.Object, f io.ReadSeekCloser, err error) {
	for range 5 {
		o, err = find(ctx, s.db, bucketID, name)
		if err != nil {
			return o, nil, noRowsAs(err, files.ErrNoObject)
		}
		f, err = s.blobs.Open(ctx, o.BlobID)
		if !errors.Is(err, fs.ErrNotExist) {
			return o, f, err
		}
	}
	return o, nil, files.ErrNoObject.Because(err)
}
