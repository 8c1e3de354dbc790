package storage

import (
	"bytes"
	"encoding/json"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles requests to copy an object.

// requestedMetadata is the metadata that a request to Copy gives the copy. It is used only if the request has copyMetadata: false. In other
// requests the copy gets its source's metadata. MimeType must be empty or the source's type, because a file's type follows from its bytes.
type requestedMetadata struct {
	CacheControl    string `json:"cacheControl"`
	ContentEncoding string `json:"contentEncoding"` // must be identity or ""
	MimeType        string `json:"mimetype"`
}

// Copy handles POST /storage/v1/object/copy. It stores the source's bytes as a new upload, with all checks of an upload. With the
// x-upsert: true header, the copy may replace an object.
func (s *Service) Copy(w http.ResponseWriter, r *http.Request) error {
	req, destination, err := s.readAndAuthorizeMove(w, r, policy.FileRead)
	if err != nil {
		return err
	}
	ctx, caller, upsert := r.Context(), identity.Of(r.Context()), wantsUpsert(r)
	if _, err := s.checkUpload(ctx, caller, destination.ID, req.DestinationKey, upsert); err != nil {
		return err
	}
	// findMetadata and open both read the source's row. If the row changes in between, both are called again.
	for range maxAttempts {
		o, userMetadata, err := findMetadata(ctx, s.db, req.BucketID, req.SourceKey)
		if err != nil {
			return db.NoRowsAs(err, files.ErrNoObject)
		}
		opts, err := req.options(o, userMetadata)
		if err != nil {
			return err
		}
		opts.Upsert = upsert
		find := findObject
		if files.SiteOrConversationBucket(destination.ID) { // put strips the private metadata, so it needs the original
			find = findOriginal
		}
		source, stored, err := s.open(ctx, find, o.Bucket, o.Name, neverPublic) // neverPublic: do not cache the bytes
		if err != nil {
			return err
		}
		if !source.UpdatedAt.Equal(o.UpdatedAt) {
			if err := stored.Close(); err != nil {
				return err
			}
			continue
		}
		body := newStream(w, stored.File)
		defer body.clearDeadlines()
		defer func() { _ = body.Close() }() // the file was only read
		copied, err := s.put(ctx, caller, destination, req.DestinationKey, body, source.Size, func() (PutOptions, error) { return opts, nil })
		return respond(w, uploadResult{copied.ID, copied.Bucket + "/" + copied.Name}, err)
	}
	return files.ErrNoObject
}

// options returns the metadata of the copy. If the request has copyMetadata: false, the copy gets the request's metadata. Otherwise, it gets
// the source's metadata. userMetadata is the source's user metadata, as JSON text or nil.
func (req *moveRequest) options(o files.Object, userMetadata *string) (opts PutOptions, err error) {
	opts.CacheControl = o.CacheControl
	if req.CopyMetadata == nil || *req.CopyMetadata {
		if userMetadata != nil {
			opts.Metadata, err = decodeMetadata([]byte(*userMetadata))
		}
		return opts, err
	}
	var m requestedMetadata
	if len(bytes.TrimSpace(req.Metadata)) > 0 {
		if err := json.Unmarshal(req.Metadata, &m); err != nil {
			return opts, errBadMetadata.Because(err)
		}
	}
	if err := checkEncoding(m.ContentEncoding); err != nil {
		return opts, err
	}
	if m.MimeType != "" && m.MimeType != o.MimeType {
		return opts, errTypeRefused(m.MimeType)
	}
	opts.CacheControl = m.CacheControl
	if isSeconds(m.CacheControl) {
		opts.CacheControl = "max-age=" + m.CacheControl
	}
	return opts, nil
}
