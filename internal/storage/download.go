package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"unicode"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Public answers GET and HEAD /storage/v1/object/public/{bucket}/{path...}, which needs no token.
func (s *Service) Public(w http.ResponseWriter, r *http.Request) error {
	// Here a private bucket looks like none, as on the reference.
	return s.serve(w, r, func(b bucket) bool { return b.Public }, errNoBucket)
}

// Download answers GET and HEAD of the same objects on the addresses that ask for a token.
func (s *Service) Download(w http.ResponseWriter, r *http.Request) error {
	caller := identity.Of(r.Context())
	return s.serve(w, r, func(b bucket) bool { return policy.Object(caller, b.ID, policy.FileRead) }, errNoObject)
}

// original opens the byte-exact upload of an object, which is the object's own file where nothing was cleaned away.
func (s *Service) original(ctx context.Context, bucketID, name string) (o Object, f io.ReadSeekCloser, err error) {
	for range 5 {
		var m *media
		o, m, err = findShown(ctx, s.db, bucketID, name)
		if errors.Is(err, db.ErrNoRows) {
			return o, nil, errNoObject
		}
		if err != nil {
			return o, nil, err
		}
		if m != nil && m.Original != nil {
			o.BlobID, o.Size, o.ETag = m.Original.BlobID, m.Original.Size, m.Original.ETag
		}
		o.CacheControl = "private, no-cache"
		f, err = s.blobs.Open(ctx, o.BlobID)
		if !errors.Is(err, fs.ErrNotExist) {
			return o, f, err
		}
	}
	return o, nil, errNoObject.Because(err)
}

// serve sends an object with the headers that keep it from ever acting as a page of this origin (READING §3.26), and
// leaves ranges and conditions to net/http (RFC 9110 §13, §14). hidden is the answer for a bucket that is not visible.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, visible func(bucket) bool, hidden error) error {
	b, err := s.bucket(r.Context(), r.PathValue("bucket"))
	if err != nil {
		return err
	}
	if !visible(b) {
		return hidden
	}
	if r.URL.Query().Has("versionId") {
		return errNotOffered("versionId")
	}
	name := r.PathValue("path")
	if !validName(name) {
		return errInvalidKey(name)
	}
	mine := policy.Object(identity.Of(r.Context()), b.ID, policy.FileWrite)
	open := s.open
	if r.URL.Query().Has("original") {
		if !mine {
			return errNotOriginal
		}
		open = s.original
	}
	o, f, err := open(r.Context(), b.ID, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	if kind := typeOf(o.MimeType); kind != nil && kind.hidden && ofTheSite(b.ID) && !mine {
		return errHidden
	}

	h := w.Header()
	h.Set("Content-Type", o.MimeType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", o.CacheControl)
	h.Set("ETag", quoted(o.ETag))
	download := r.URL.Query()
	switch {
	case !servable(o.MimeType): // cannot have come in by an upload
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", attachment(path.Base(name)))
	case download.Has("download"):
		h.Set("Content-Disposition", attachment(download.Get("download")))
	}
	if strings.Contains(r.Header.Get("Range"), ",") { // several ranges may be ignored, and no player asks for them
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	paced := pace(w)
	defer paced.end()
	http.ServeContent(paced.writer(), r, "", o.UpdatedAt, f)
	return nil
}

// open finds the object and its file. Between the two it may have been replaced and its file removed: then the row
// tells a new one.
func (s *Service) open(ctx context.Context, bucketID, name string) (o Object, f io.ReadSeekCloser, err error) {
	for range 5 {
		o, err = findObject(ctx, s.db, bucketID, name)
		if errors.Is(err, db.ErrNoRows) {
			return o, nil, errNoObject
		}
		if err != nil {
			return o, nil, err
		}
		f, err = s.blobs.Open(ctx, o.BlobID)
		if !errors.Is(err, fs.ErrNotExist) {
			return o, f, err
		}
	}
	return o, nil, errNoObject.Because(err)
}

// maxDownloadName is how many characters of a wished file name are used.
const maxDownloadName = 200

// attachment makes a Content-Disposition that saves the file, under the name when there is one: once in ASCII for old
// programs (RFC 6266), once in full (RFC 8187). Nothing in a name can end the header or lead into a folder.
func attachment(name string) string {
	runes := 0
	name = strings.Map(func(r rune) rune {
		switch runes++; {
		case runes > maxDownloadName, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case r == '/', r == '\\':
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if name = strings.Trim(name, " ."); name == "" {
		return "attachment"
	}
	ascii := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || r == '"' || r == '%' {
			return '_'
		}
		return r
	}, name)
	var full strings.Builder
	for i := range len(name) {
		if c := name[i]; isAttrChar(c) {
			full.WriteByte(c)
		} else {
			fmt.Fprintf(&full, "%%%02X", c)
		}
	}
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, ascii, full.String())
}

// isAttrChar names the bytes that RFC 8187 leaves as they are.
func isAttrChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0
}
