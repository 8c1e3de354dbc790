package storage

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
)

// This file handles uploads of a whole file in one request. The body is the file, or a form that contains the file. Package resumable
// handles uploads in several requests.

// maxFormOverhead is how many bytes a form may have in addition to its file.
const maxFormOverhead = 4 << 20

// uploadResult is the body of the response to an upload, as Supabase Storage sends it.
type uploadResult struct {
	ID  string `json:"Id"`
	Key string `json:"Key"` // bucket/name
}

// Upload handles POST /storage/v1/object/{bucket}/{path...}. It creates an object. With the x-upsert: true header, it may replace an object.
func (s *Service) Upload(w http.ResponseWriter, r *http.Request) error {
	return s.upload(w, r, wantsUpsert(r))
}

// Replace handles PUT /storage/v1/object/{bucket}/{path...}. It replaces the object, or creates it if there is none.
func (s *Service) Replace(w http.ResponseWriter, r *http.Request) error {
	return s.upload(w, r, true /* upsert */)
}

// upload handles the requests of Upload and Replace.
func (s *Service) upload(w http.ResponseWriter, r *http.Request, upsert bool) error {
	caller, name := identity.Of(r.Context()), r.PathValue("path")
	b, err := s.checkUpload(r.Context(), caller, r.PathValue("bucket"), name, upsert)
	if err != nil {
		return err
	}
	o, err := s.receive(w, r, caller, b, name, upsert, nil /* inTx */)
	return respond(w, uploadResult{o.ID, o.Bucket + "/" + o.Name}, err)
}

// receive stores the file of a request and returns its object. The body is the file itself, or a multipart form that contains the file,
// as browsers send it. inTx, if not nil, runs in the transaction that saves the object.
func (s *Service) receive(w http.ResponseWriter, r *http.Request, caller identity.Caller, b bucket, name string, upsert bool, inTx func(context.Context, *db.Tx) error) (files.Object, error) {
	ctx := r.Context()
	received := newStream(w, r.Body)
	defer received.clearDeadlines()
	body := http.MaxBytesReader(w, received, s.cfg.MaxUpload+maxFormOverhead)
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	// Even if the Content-Type is missing or invalid, the body is the file. The type of the file is detected from its bytes.
	if mediaType != "multipart/form-data" {
		opts, err := rawOptions(r.Header)
		if err != nil {
			return files.Object{}, err
		}
		opts.Upsert, opts.inTx = upsert, inTx
		return s.put(ctx, caller, b, name, body, r.ContentLength, func() (PutOptions, error) { return opts, nil })
	}
	if err != nil || params["boundary"] == "" {
		return files.Object{}, errBadForm.Because(errors.Join(errors.New("no boundary"), err))
	}
	f := &form{parts: multipart.NewReader(body, params["boundary"])}
	if err := f.findFile(); err != nil {
		return files.Object{}, err
	}
	return s.put(ctx, caller, b, name, f, -1, func() (PutOptions, error) {
		opts, err := f.options()
		opts.Upsert, opts.inTx = upsert, inTx
		return opts, err
	})
}

// rawOptions reads the options of an upload whose body is the file itself from its headers.
func rawOptions(h http.Header) (opts PutOptions, err error) {
	if err := checkEncoding(h.Get("Content-Encoding")); err != nil {
		return opts, err
	}
	opts.CacheControl = h.Get("Cache-Control")
	if _, err := parseCacheControl(opts.CacheControl); err != nil {
		return opts, err
	}
	if encoded := h.Get("X-Metadata"); encoded != "" {
		text, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return opts, errBadMetadata.Because(err)
		}
		opts.Metadata, err = decodeMetadata(text)
		return opts, err
	}
	return opts, nil
}

// checkEncoding rejects a Content-Encoding: the type of a compressed file could not be detected.
func checkEncoding(encoding string) error {
	if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return errCompressed.Becausef("%q", encoding)
	}
	return nil
}

// form reads a file out of a multipart body. Its Read returns io.EOF at the end of the file, but only after it has read the
// rest of the form: fields may follow the file, and a form that ends early must be rejected.
type form struct {
	parts        *multipart.Reader
	file         io.Reader
	cacheControl string
	metadata     []byte
	fields       int
	end          error // the error or io.EOF that all further calls of Read return; nil while the file is read

	contentEncoding string
}

const maxFields = 10

// findFile reads the fields before the file. It fails if the form has no file.
func (f *form) findFile() error {
	file, err := f.next()
	if errors.Is(err, io.EOF) {
		return errNoContent.Becausef("a form without a file")
	}
	f.file = file
	return err
}

// next reads fields up to the next file and returns that file, or io.EOF at the end of the form.
func (f *form) next() (io.Reader, error) {
	for {
		part, err := f.parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, formError(err)
		}
		if part.FileName() != "" || part.FormName() == "" { // the client sends the file under an empty name
			return part, nil
		}
		if f.fields++; f.fields > maxFields {
			return nil, errBadForm.Becausef("more than %d fields", maxFields)
		}
		value, err := io.ReadAll(io.LimitReader(part, maxMetadataBytes+1))
		if err != nil {
			return nil, formError(err)
		}
		if len(value) > maxMetadataBytes {
			return nil, errTooLarge.Becausef("field %q", part.FormName())
		}
		switch part.FormName() {
		case "cacheControl":
			f.cacheControl = string(value)
		case "contentEncoding":
			f.contentEncoding = string(value)
		case "metadata":
			f.metadata = value
		}
	}
}

func (f *form) Read(p []byte) (int, error) {
	if f.end != nil {
		return 0, f.end
	}
	n, err := f.file.Read(p)
	if errors.Is(err, io.EOF) {
		if _, err = f.next(); err == nil {
			err = errSeveralFiles
		}
	} else if err != nil {
		err = formError(err)
	}
	f.end = err
	return n, err
}

// options returns the options in the form's fields. The field cacheControl is a number of seconds.
func (f *form) options() (opts PutOptions, err error) {
	if err := checkEncoding(f.contentEncoding); err != nil {
		return opts, err
	}
	if f.cacheControl != "" {
		opts.CacheControl = "max-age=" + f.cacheControl
	}
	if len(f.metadata) > 0 {
		opts.Metadata, err = decodeMetadata(f.metadata)
	}
	return opts, err
}

// formError returns the error for the response if reading a form has failed: the body is too large, ended early, or is no valid
// form.
func formError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge.Because(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCutShort.Because(err)
	}
	return errBadForm.Because(err)
}
