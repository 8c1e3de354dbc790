package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/storagetest"
)

// counts returns the hits and misses of the cache of small blobs, and those of the row cache.
func (s *site) counts() (got [4]int64) {
	got[0], got[1] = s.BlobCacheLookups().Counts()
	got[2], got[3] = s.RowLookups().Counts()
	return got
}

// Proves F-download-memory.
//
// TestSmallPublicFileIsServedFromMemory checks that a cached file needs no query and no open file, and that a file that was replaced, moved or
// removed leaves the cache immediately.
func TestSmallPublicFileIsServedFromMemory(t *testing.T) {
	small, other := storagetest.JPEG(60, 40), storagetest.JPEG(40, 60)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.jpg", small)
		const fileURL = "/object/public/product-images/a.jpg"
		if got := s.PublicFile("product-images/a.jpg"); got != string(small) {
			t.Fatalf("%d bytes", len(got))
		}
		before := s.counts()
		for _, name := range s.Files() {
			if err := os.Rename(filepath.Join(s.Root, name), filepath.Join(s.Root, name)+".away"); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.PublicFile("product-images/a.jpg"); got != string(small) {
			t.Errorf("%d bytes", len(got))
		}
		if rec := s.Call("nobody", "GET", fileURL+"?download=x.jpg", nil, "Range", "bytes=2-5"); rec.Code != 206 || rec.Body.String() != string(small[2:6]) || !strings.Contains(rec.Header().Get("Content-Disposition"), "x.jpg") {
			t.Errorf("a range to save: %d %v", rec.Code, rec.Header())
		}
		if rec := s.Call("nobody", "HEAD", fileURL, nil); rec.Code != 200 || rec.Body.Len() > 0 || rec.Header().Get("Content-Length") != fmt.Sprint(len(small)) {
			t.Errorf("HEAD: %d %v", rec.Code, rec.Header())
		}
		if got := s.counts(); got != [4]int64{before[0] + 3, before[1], before[2] + 3, before[3]} {
			t.Errorf("hits and misses of bytes and rows: %v, then %v", before, got)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", fileURL+"?versionId=1", nil), "400", "FeatureNotEnabled")
		storagetest.Refused(t, s.Call("nobody", "GET", fileURL+"?original", nil), "403", "Unauthorized")
		s.UploadFile("product-images/x/a.jpg", small)
		s.PublicFile("product-images/x/a.jpg")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images%2Fx/a.jpg", nil), "404", "Bucket not found")

		s.UploadFile("product-images/a.jpg", other, "x-upsert", "true")
		if got := s.PublicFile("product-images/a.jpg"); got != string(other) {
			t.Errorf("after it was replaced: %d bytes", len(got))
		}
		if rec := s.Change("admin", "move", `{"bucketId":"product-images","sourceKey":"a.jpg","destinationKey":"b.jpg"}`); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", fileURL, nil), "404", "not_found")
		if got := s.PublicFile("product-images/b.jpg"); got != string(other) {
			t.Errorf("after it was moved: %d bytes", len(got))
		}
		if rec := s.Call("admin", "DELETE", "/object/product-images/b.jpg", nil); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/b.jpg", nil), "404", "not_found")
	})
}

// Proves F-download-memory.
func TestFilesOfPrivateBucketsAreNotCached(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if rec := s.Call("service", "POST", "/bucket", strings.NewReader(`{"id":"vault","name":"vault"}`)); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		if rec := s.Call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(storagetest.JPEG(4, 4))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		signed := s.SignedURL("service", "vault/a.jpg", `{"expiresIn":60}`)
		for range 2 {
			for _, c := range []struct{ who, at string }{{"service", "/object/authenticated/vault/a.jpg"}, {"nobody", signed}} {
				if rec := s.Call(c.who, "GET", c.at, nil); rec.Code != 200 {
					t.Errorf("%s: %d", c.at, rec.Code)
				}
			}
			storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/vault/a.jpg", nil), "404", "Bucket not found")
			storagetest.Refused(t, s.Call("anon", "GET", "/object/authenticated/vault/a.jpg", nil), "404", "not_found")
		}
		if got := s.counts(); got[0]+got[1]+got[2] != 0 {
			t.Errorf("hits and misses of bytes and rows: %v", got)
		}
	})
}

// TestLargestSmallFileIsCached requests the largest file that the cache accepts, and one that is a byte larger, twice each.
func TestLargestSmallFileIsCached(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		largest := int(s.blobs.cache.maxSmall)
		for size, hits := range map[int]int64{largest: 1, largest + 1: 0} {
			name := fmt.Sprintf("product-images/%d.mp4", size)
			film := storagetest.NoisyFilm(size, 1)
			s.UploadFile(name, film)
			before := s.counts()
			for range 2 {
				if got := s.PublicFile(name); got != string(film) {
					t.Errorf("%d bytes of %d", len(got), size)
				}
			}
			if got := s.counts(); got[0] != before[0]+hits {
				t.Errorf("%d bytes: %d hits, want %d", size, got[0]-before[0], hits)
			}
		}
	})
}

// Proves F-download-memory.
//
// TestBlobCacheIsBounded requests more small files than fit. A file that is not small is never cached.
func TestBlobCacheIsBounded(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	const size = maxSmallOnDisk
	count := blobCacheBytes/size + 8
	name := func(i int) string { return fmt.Sprintf("product-images/%d.mp4", i) }
	for i := range count {
		s.UploadFile(name(i), storagetest.NoisyFilm(size, byte(i)))
		s.PublicFile(name(i))
	}
	before := s.counts()
	s.PublicFile(name(count - 1))
	s.PublicFile(name(0))
	if got := s.counts(); got[0] != before[0]+1 || got[1] != before[1]+1 {
		t.Errorf("hits and misses: %v, then %v", before[:2], got[:2])
	}
	whole := 0
	for i := range count {
		if _, ok := s.blobs.cache.entries.Get(versionless, s.Object("product-images", fmt.Sprintf("%d.mp4", i)).BlobID); ok {
			whole++
		}
	}
	if most := blobCacheBytes / size; whole == 0 || whole > most {
		t.Errorf("%d files of %d bytes are in %d bytes of memory", whole, size, blobCacheBytes)
	}
	s.UploadFile("product-images/large.mp4", storagetest.NoisyFilm(size+1, 0))
	before = s.counts()
	for range 2 {
		s.PublicFile("product-images/large.mp4")
	}
	if got := s.counts(); got[0] != before[0] || got[1] != before[1] || got[2] != before[2]+1 {
		t.Errorf("of a large file: %v, then %v", before, got)
	}
}

// Proves F-download-memory.
//
// TestOtherNodesNoticeReplacedAndHiddenFilesWithinASecond uses two nodes with one database and one store.
func TestOtherNodesNoticeReplacedAndHiddenFilesWithinASecond(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			address := dbtest.URL(t, dialect)
			node := func(shared *storagetest.Site) *site {
				d, err := db.Open(t.Context(), address, db.NoHooks)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = d.Close() })
				if shared == nil {
					return newSite(t, d)
				}
				return (&site{Site: storagetest.NewWithStore(t, d, shared.Blobs)}).wire()
			}
			ours := node(nil)
			others := node(ours.Site)
			if rec := ours.Call("service", "POST", "/bucket", strings.NewReader(`{"id":"open","name":"open","public":true}`)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			upload := func(content []byte) {
				t.Helper()
				if rec := ours.Call("service", "POST", "/object/open/a.jpg", bytes.NewReader(content), "x-upsert", "true"); rec.Code != 200 {
					t.Fatal(rec.Body)
				}
			}
			old, replaced := storagetest.JPEG(60, 40), storagetest.JPEG(40, 60)
			shown := func() string {
				rec := others.Call("nobody", "GET", "/object/public/open/a.jpg", nil)
				return fmt.Sprint(rec.Code, rec.Body.String())
			}
			upload(old)
			for _, change := range []struct {
				what string
				do   func()
				want string
			}{
				{"replaced", func() { upload(replaced) }, fmt.Sprint(200, string(replaced))},
				{"hidden", func() {
					if rec := ours.Call("service", "PUT", "/bucket/open", strings.NewReader(`{"public":false}`)); rec.Code != 200 {
						t.Fatal(rec.Body)
					}
				}, "400"},
				{"shown", func() {
					if rec := ours.Call("service", "PUT", "/bucket/open", strings.NewReader(`{"public":true}`)); rec.Code != 200 {
						t.Fatal(rec.Body)
					}
				}, fmt.Sprint(200, string(replaced))},
				{"removed", func() {
					if rec := ours.Call("service", "DELETE", "/object/open/a.jpg", nil); rec.Code != 200 {
						t.Fatal(rec.Body)
					}
				}, "400"},
			} {
				before := shown()
				if again := shown(); again != before {
					t.Errorf("%d bytes, then %d", len(before), len(again))
				}
				change.do()
				for changed := time.Now(); ; {
					requested := time.Since(changed) // not the response, which a busy machine may delay
					if strings.HasPrefix(shown(), change.want) {
						break
					}
					if requested > time.Second {
						t.Fatalf("%s: not seen after a second", change.what)
					}
				}
			}
			if hits, _ := others.RowLookups().Counts(); hits == 0 {
				t.Error("nothing came from the row cache")
			}
		})
	}
}

// Proves F-download-memory.
//
// TestLoadingAMissingFileReturnsTheStoresError also checks that nothing is cached.
func TestLoadingAMissingFileReturnsTheStoresError(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	for range 2 {
		if body, err := s.blobs.OpenPublic(t.Context(), files.Blob{ID: "11111111-1111-4111-8111-111111111111", Size: 5}); err == nil || body.Bytes != nil {
			t.Errorf("%v, %v", body, err)
		}
	}
}

// brokenStore is a store whose connection breaks in the middle of each blob.
type brokenStore struct{ blob.Store }

func (brokenStore) Open(context.Context, string) (io.ReadSeekCloser, error) {
	return struct {
		io.Reader
		io.Seeker
		io.Closer
	}{io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)), nil, io.NopCloser(nil)}, nil
}

func TestBlobOfABrokenConnectionIsNotCached(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.blobs.store = brokenStore{s.blobs.store}
	for range 2 {
		if body, err := s.blobs.OpenPublic(t.Context(), files.Blob{ID: "11111111-1111-4111-8111-111111111111", Size: 5}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q, %v", body.Bytes, err)
		}
	}
}
