package storage

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file responds to requests for the files of objects, at their public URLs and at the URLs that need a token.

// FromCache returns a handler for the requests at /storage/v1. The handler responds to a request at a public URL if the row of the file is in
// the row cache (rows of public files that were requested before). All other requests go to next, which must call Public for public URLs.
func (s *Service) FromCache(next http.Handler) http.Handler {
	return s.rows.FromCache(next, rowKey, s.sendPublic)
}

// rowKey returns the key in the row cache for a request at a public URL: the path. It returns false for requests that the cache cannot
// handle, such as those for the uploaded original.
func rowKey(r *http.Request) (string, bool) {
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	// The key is the escaped path, because a%2Fb and a/b are different: only a/b is a bucket and a name. a%2Fb is one segment.
	key := r.URL.EscapedPath()
	return key, isRead && strings.HasPrefix(key, files.PublicPath) && !wantsOtherBytes(r)
}

// wantsOtherBytes reports whether a request does not ask for the public file. The parameter original asks for the file as it was uploaded,
// and versionId for an older version, which is not supported.
func wantsOtherBytes(r *http.Request) bool {
	if r.URL.RawQuery == "" {
		return false
	}
	query := r.URL.Query()
	return query.Has("original") || query.Has("versionId")
}

// sendPublic responds with the public object that the row o describes.
func (s *Service) sendPublic(w http.ResponseWriter, r *http.Request, o files.Object) error {
	body, err := s.blobs.OpenPublic(r.Context(), blobOf(o))
	if err != nil {
		return err
	}
	send(w, r, o, body)
	_ = body.Close() // it was only read
	return nil
}

// blobOf returns the blob with an object's bytes.
func blobOf(o files.Object) files.Blob { return files.Blob{ID: o.BlobID, Size: o.Size, ETag: o.ETag} }

// Public handles GET and HEAD /storage/v1/object/public/{bucket}/{path...}. The request needs no token.
func (s *Service) Public(w http.ResponseWriter, r *http.Request) error {
	// serveFresh reads the row from the database and passes it to remember, which puts it into the row cache.
	serveFresh := func(remember func(files.Object)) error {
		// As on Supabase, the response for a private bucket is the same as for one that does not exist.
		return s.serve(w, r, func(b bucket) bool { return b.Public }, files.ErrNoBucket, remember)
	}
	serveStale := func(o files.Object) error { // o is from the row cache; called during an outage of the database
		if wantsOtherBytes(r) {
			return db.ErrOutage
		}
		return s.sendPublic(w, r, o)
	}
	return s.rows.Serve(w, r, r.URL.EscapedPath(), serveFresh, serveStale)
}

// Download handles GET and HEAD of the URLs of objects that need a token. The caller must be allowed to read the bucket.
func (s *Service) Download(w http.ResponseWriter, r *http.Request) error {
	caller := identity.Of(r.Context())
	return s.serve(w, r, func(b bucket) bool { return policy.Object(caller, b.ID, policy.FileRead) }, files.ErrNoObject, func(files.Object) { /* not for the row cache */ })
}

// serve responds with the object that a request names. isVisible reports whether the request may read a bucket. errNotVisible is the
// error if it may not. If anyone can get the same bytes at the public URL, serve passes the object to remember.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, isVisible func(bucket) bool, errNotVisible error, remember func(files.Object)) error {
	b, name, err := s.target(r, isVisible, errNotVisible)
	if err != nil {
		return err
	}
	access, err := s.cfg.Access.Check(r, b.ID, name)
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
	isPublic := func(o files.Object) bool {
		return b.Public && access == files.AccessAll && !wantsOriginal && !keepsMetadata(o)
	}
	o, body, err := s.open(r.Context(), find, b.ID, name, isPublic)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was only read
	if keepsMetadata(o) && files.SiteOrConversationBucket(b.ID) && !canWrite {
		return errOnlyRenditions
	}
	if isPublic(o) {
		remember(o)
	}
	if access == files.AccessOwner {
		o.CacheControl = files.OwnerCacheControl
	}
	send(w, r, o, body)
	return nil
}

// target returns the bucket and the name of the object that a request reads. isVisible and errNotVisible are as for serve.
func (s *Service) target(r *http.Request, isVisible func(bucket) bool, errNotVisible error) (b bucket, name string, err error) {
	if b, err = s.bucket(r.Context(), r.PathValue("bucket")); err != nil {
		return b, "", err
	}
	name = r.PathValue("path")
	switch {
	case !isVisible(b):
		return b, "", errNotVisible
	case r.URL.Query().Has("versionId"):
		return b, "", files.ErrNotSupported("versionId")
	case !files.ValidName(name):
		return b, "", files.ErrInvalidKey(name)
	}
	return b, name, nil
}

// keepsMetadata reports whether an object is a picture of a type from which metadata cannot be removed.
func keepsMetadata(o files.Object) bool {
	kind := files.TypeOf(o.MimeType)
	return kind != nil && kind.KeepsMetadata
}

// send responds with an object.
func send(w http.ResponseWriter, r *http.Request, o files.Object, body files.Body) {
	h := w.Header()
	files.SetHeaders(h, o.MimeType, o.CacheControl, o.ETag)
	switch {
	case files.TypeOf(o.MimeType) == nil: // a type that uploads do not accept: it must not be shown in a browser
		h.Set("Content-Type", "application/octet-stream")
		files.SetAttachment(h, path.Base(o.Name))
	case strings.Contains(r.URL.RawQuery, "download"):
		if query := r.URL.Query(); query.Has("download") {
			files.SetAttachment(h, query.Get("download"))
		}
	}
	if body.Bytes != nil && len(body.Bytes) <= maxSmallOnDisk { // few enough for the server's time limit of a request
		body.Write(w, r, o.UpdatedAt)
		return
	}
	response := newStream(w, nil)
	defer response.clearDeadlines()
	body.Write(response, r, o.UpdatedAt)
}

// finder reads an object's row.
type finder func(ctx context.Context, q db.Querier, bucketID, name string) (files.Object, error)

// neverPublic is the argument isPublic of open for a file that must not be cached.
func neverPublic(files.Object) bool { return false }

// open reads an object's row and opens its file. If the object is replaced in between, its file may be removed; open then reads
// the row again, which names the new file. The body of a small object for which isPublic returns true is kept in memory.
func (s *Service) open(ctx context.Context, find finder, bucketID, name string, isPublic func(files.Object) bool) (o files.Object, body files.Body, err error) {
	for range maxAttempts {
		o, err = find(ctx, s.db, bucketID, name)
		if err != nil {
			return o, body, db.NoRowsAs(err, files.ErrNoObject)
		}
		if isPublic(o) {
			body, err = s.blobs.OpenPublic(ctx, blobOf(o))
		} else {
			body.File, err = s.blobs.Open(ctx, o.BlobID)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return o, body, err
		}
	}
	return o, files.Body{}, files.ErrNoObject.Because(err)
}
