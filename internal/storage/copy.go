package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// copyMetadata is what a copy may get in place of its source's. The type always shows in the bytes.
type copyMetadata struct {
	CacheControl    string `json:"cacheControl"`
	ContentEncoding string `json:"contentEncoding"`
	MimeType        string `json:"mimetype"`
}

// Copy answers POST /storage/v1/object/copy. The bytes take the way of an upload, with all its checks; x-upsert: true
// lets the copy replace an object.
func (s *Service) Copy(w http.ResponseWriter, r *http.Request) error {
	req, to, err := s.accept(w, r, policy.FileRead)
	if err != nil {
		return err
	}
	ctx, caller, upsert := r.Context(), identity.Of(r.Context()), wantsUpsert(r)
	if _, err := s.mayPut(ctx, caller, to.ID, req.DestinationKey, upsert); err != nil {
		return err
	}
	for range 5 { // the source may be replaced between its rows
		o, noted, err := findMetadata(ctx, s.db, req.BucketID, req.SourceKey)
		if errors.Is(err, db.ErrNoRows) {
			return errNoObject
		}
		if err != nil {
			return err
		}
		opts, err := req.options(o, noted)
		if err != nil {
			return err
		}
		open := s.open
		if ofTheSite(to.ID) { // what comes into the site is cleaned anew, and the file as it was uploaded comes along
			open = s.original
		}
		source, f, err := open(ctx, o.Bucket, o.Name)
		if err != nil {
			return err
		}
		if !source.UpdatedAt.Equal(o.UpdatedAt) {
			if err := f.Close(); err != nil {
				return err
			}
			continue
		}
		paced := pace(w)
		defer paced.end()
		body := paced.reader(f)
		defer func() { _ = body.Close() }() // only read from
		copied, err := s.put(ctx, caller, to, req.DestinationKey, body, source.Size, upsert, func() (PutOptions, error) { return opts, nil })
		if err != nil {
			return err
		}
		return httpx.JSON(w, http.StatusOK, uploaded{copied.ID, copied.Bucket + "/" + copied.Name})
	}
	return errNoObject
}

// options gives what goes with the copy: its source's, unless copyMetadata is false.
func (req *moveRequest) options(o Object, noted *string) (PutOptions, error) {
	opts := PutOptions{CacheControl: o.CacheControl}
	if req.CopyMetadata == nil || *req.CopyMetadata {
		if noted != nil {
			var err error
			if opts.Metadata, err = decodeMetadata([]byte(*noted)); err != nil {
				return opts, err
			}
		}
		return opts, nil
	}
	var m copyMetadata
	if len(bytes.TrimSpace(req.Metadata)) > 0 {
		if err := json.Unmarshal(req.Metadata, &m); err != nil {
			return opts, errBadMetadata.Because(err)
		}
	}
	if err := plainEncoding(m.ContentEncoding); err != nil {
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
