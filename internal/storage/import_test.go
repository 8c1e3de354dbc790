package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestImportedFilesAreKnownByTheSumOfTheirSource(t *testing.T) {
	first, second := storagetest.WithComment(storagetest.JPEG(8, 8), "at home"), storagetest.JPEG(9, 9)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		const bucket, name = "cover-images", "folder/a b.jpg"
		sum := func() string {
			t.Helper()
			sum, err := s.ImportedSum(t.Context(), bucket, name)
			if err != nil {
				t.Fatal(err)
			}
			return sum
		}
		if got := sum(); got != "" {
			t.Errorf("without a file: %s", got)
		}
		if err := s.CheckImport(t.Context(), bucket, name, int64(len(first)), first[:min(len(first), files.SniffLength)]); err != nil {
			t.Error(err)
		}
		if err := s.ImportFile(t.Context(), bucket, name, bytes.NewReader(first), int64(len(first)), "no such directive"); err != nil {
			t.Fatal(err)
		}
		o := s.Object(bucket, name)
		if got := sum(); got != sumOf(first) || o.CacheControl == "no such directive" {
			t.Errorf("of an imported file: %s, %+v", got, o)
		}
		// A video gets another file when its index is moved to the beginning.
		if _, err := d.Exec(t.Context(), "update storage_objects set etag = $1 where name = $2", sumOf(second), name); err != nil {
			t.Fatal(err)
		}
		if got := sum(); got != sumOf(first) {
			t.Errorf("of a video whose index was moved: %s", got)
		}
		if _, err := d.Exec(t.Context(), "update storage_objects set etag = $1 where name = $2", o.ETag, name); err != nil {
			t.Fatal(err)
		}
		if err := s.ImportFile(t.Context(), bucket, name, bytes.NewReader(second), -1, ""); apperr.From(err).Code != "ResourceAlreadyExists" || s.Object(bucket, name) != o {
			t.Errorf("a taken name: %v", err)
		}
		if _, err := s.Put(t.Context(), owner, bucket, name, bytes.NewReader(second), -1, PutOptions{Upsert: true}); err != nil {
			t.Fatal(err)
		}
		if got := sum(); got != sumOf(second) {
			t.Errorf("of an upload: %s", got)
		}
		for want, c := range map[string]struct {
			bucket, name string
			size         int64
			head         []byte
		}{
			"NoSuchBucket":    {"nothing", "a.jpg", 1, first},
			"InvalidKey":      {bucket, "../a.jpg", 1, first},
			"InvalidRequest":  {bucket, "a.jpg", 0, nil},
			"InvalidMimeType": {bucket, "a.png", 1, first},
			"EntityTooLarge":  {bucket, "a.jpg", maxImageBytes + 1, first},
		} {
			if err := s.CheckImport(t.Context(), c.bucket, c.name, c.size, c.head); apperr.From(err).Code != want {
				t.Errorf("%s: %v", want, err)
			}
		}
	})
}
