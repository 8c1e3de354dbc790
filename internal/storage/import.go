package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
)

// This file stores files that package supabase imports from another site.

// importedSumKey is a key in an object's metadata. Its value is the SHA-256 of the imported file, by which a later import recognizes the
// file. The SHA-256 of the stored file can be another one, because metadata is removed from pictures, and the index of a video (where its
// frames are) is moved to the beginning of the file.
const importedSumKey = "imported_sha256"

// ImportFile stores a file of another site, as an upload with the service key (the API key with full rights) does. It returns an error if
// an object of that name exists. size is the body's length in bytes, or -1 if it is unknown. If cacheControl is invalid, the file gets the
// default. If the file is refused, the error is the same *apperr.Error as for an upload over HTTP.
func (s *Service) ImportFile(ctx context.Context, bucketID, name string, body io.Reader, size int64, cacheControl string) error {
	caller := identity.Caller{Role: identity.Service}
	b, err := s.checkUpload(ctx, caller, bucketID, name, false /* upsert */)
	if err != nil {
		return err
	}
	if _, err := parseCacheControl(cacheControl); err != nil {
		cacheControl = ""
	}
	sum := sha256.New()
	readOptions := func() (PutOptions, error) { // put calls readOptions after it has read the body, so sum is complete
		metadata := map[string]any{importedSumKey: hex.EncodeToString(sum.Sum(nil))}
		return PutOptions{CacheControl: cacheControl, Metadata: metadata}, nil
	}
	_, err = s.put(ctx, caller, b, name, io.TeeReader(body, sum), size, readOptions)
	return err
}

// ImportedSum returns the SHA-256, in hexadecimal digits, of the file from which an object was made. That is the imported file, or the
// uploaded file if the object was not imported. The result is "" if there is no such object.
func (s *Service) ImportedSum(ctx context.Context, bucketID, name string) (string, error) {
	o, metadataText, err := findMetadata(ctx, s.db, bucketID, name)
	if err != nil {
		return "", db.NoRowsAs(err, nil)
	}
	if metadataText != nil {
		var metadata map[string]any
		if err := json.Unmarshal([]byte(*metadataText), &metadata); err != nil {
			return "", err
		}
		if sum, ok := metadata[importedSumKey].(string); ok {
			return sum, nil
		}
	}
	original, err := findOriginal(ctx, s.db, bucketID, name)
	if errors.Is(err, db.ErrNoRows) { // the object was removed meanwhile
		return o.ETag, nil // ETag has the file's SHA-256
	}
	return original.ETag, err
}

// CheckImport returns the error that ImportFile would return for a file that begins with head. It does not inspect the picture or video, so
// ImportFile can still return an error. head has the file's first files.SniffLength bytes, or the whole file if it is shorter.
func (s *Service) CheckImport(ctx context.Context, bucketID, name string, size int64, head []byte) error {
	b, err := s.bucket(ctx, bucketID)
	if err != nil {
		return err
	}
	if !files.ValidName(name) {
		return files.ErrInvalidKey(name)
	}
	if len(head) == 0 {
		return errNoContent
	}
	if _, err := s.acceptSized(b, name, head, size); err != nil {
		return err
	}
	if size > s.sizeLimit(b) {
		return errTooLarge
	}
	return nil
}
