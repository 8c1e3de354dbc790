package storage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// Proves F-change-many.
func TestRemoveMany(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, name := range []string{"a.png", "b/c.png", "keep.png"} {
			s.UploadFile("product-images/"+name, storagetest.PNG(3, 3))
		}
		s.UploadFile("review-images/a.png", storagetest.PNG(3, 3))
		o := s.Object("product-images", "a.png")
		other := s.Object("product-images", "b/c.png")
		item := func(o files.Object) map[string]any {
			return map[string]any{"name": o.Name, "bucket_id": "product-images", "owner": storagetest.AdminID, "id": o.ID, "created_at": "2026-03-12T10:00:00.000Z", "updated_at": "2026-03-12T10:00:00.000Z",
				"last_accessed_at": "2026-03-12T10:00:00.000Z", "metadata": map[string]any{"eTag": `"` + o.ETag + `"`, "size": o.Size, "mimetype": "image/png", "cacheControl": "max-age=3600",
					"lastModified": "2026-03-12T10:00:00.000Z", "contentLength": o.Size, "httpStatusCode": 200}}
		}
		body := `{"prefixes":["a.png","nothing.png","b/c.png","a.png","b","../x","\u0000","/a.png",""]}`
		storagetest.WantJSON(t, s.Call("admin", "DELETE", "/object/product-images", strings.NewReader(body)), []any{item(o), item(other)})
		s.Holds(2)
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.png", nil), "404", "not_found")
		storagetest.WantJSON(t, s.Call("admin", "DELETE", "/object/product-images", strings.NewReader(body)), []any{})
		s.UploadFile("product-images/a.png", storagetest.PNG(4, 4)) // the name is free again

		many, err := json.Marshal(map[string]any{"prefixes": make([]string, maxNames+1)})
		if err != nil {
			t.Fatal(err)
		}
		for body, word := range map[string]string{
			`{"prefixes":[]}`: "InvalidRequest", `{}`: "InvalidRequest", ``: "InvalidRequest", `{"prefixes":[`: "InvalidRequest",
			string(many): "InvalidParameter",
		} {
			storagetest.Refused(t, s.Call("admin", "DELETE", "/object/product-images", strings.NewReader(body)), "400", word)
		}
		s.Holds(3)
	})
}

// Proves F-change-one.
func TestRemoveOne(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a/b.png", storagetest.PNG(3, 3))
		storagetest.WantJSON(t, s.Call("service", "DELETE", "/object/product-images/a/b.png", nil), map[string]string{"message": "Successfully deleted"})
		storagetest.Refused(t, s.Call("service", "DELETE", "/object/product-images/a/b.png", nil), "404", "not_found")
		s.Holds(0)
	})
}

// Proves F-change-one.
func TestFileIsSweptIfItsRemovalFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/keep.png", storagetest.PNG(3, 3))
		s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
		o := s.Object("product-images", "a.png")
		stuck := filepath.Join(s.Root, o.BlobID[:2], o.BlobID[2:4], o.BlobID)
		if err := os.Remove(stuck); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(stuck, "x"), 0o700); err != nil { // a folder that is not empty cannot be removed like a file
			t.Fatal(err)
		}
		if rec := s.Call("admin", "DELETE", "/object/product-images/a.png", nil); rec.Code != 200 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if s.Count("storage_trash") != 1 {
			t.Fatal("the row of a file that could not be deleted is missing")
		}
		if err := os.RemoveAll(stuck); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stuck, []byte("bytes"), 0o600); err != nil {
			t.Fatal(err)
		}
		// Another blob is pending although an object uses it: its file must stay.
		if err := insertPending(t.Context(), d, s.Object("product-images", "keep.png").BlobID, s.Clock); err != nil {
			t.Fatal(err)
		}
		s.Clock = s.Clock.Add(sweepAge)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Count("storage_trash") != 2 {
			t.Error("files were swept that another process may be working on")
		}
		s.Clock = s.Clock.Add(time.Second)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Holds(1)
		s.PublicFile("product-images/keep.png")
	})
}

// Proves F-change-many.
func TestConcurrentRemovals(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		names := []string{"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"}
		for range 5 {
			for _, name := range names {
				s.UploadFile("product-images/"+name, storagetest.PNG(3, 3))
			}
			var (
				wg      sync.WaitGroup
				mu      sync.Mutex
				removed int
			)
			for i := range 4 {
				mine := append(append([]string{}, names[i:]...), names[:i]...)
				body, err := json.Marshal(map[string]any{"prefixes": mine})
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					rec := s.Call("admin", "DELETE", "/object/product-images", bytes.NewReader(body))
					var items []removedItem
					if err := json.Unmarshal(rec.Body.Bytes(), &items); err != nil || rec.Code != 200 {
						t.Errorf("%d %s", rec.Code, rec.Body)
					}
					mu.Lock()
					removed += len(items)
					mu.Unlock()
				})
			}
			wg.Wait()
			if removed != len(names) {
				t.Errorf("%d removed", removed)
			}
		}
		s.Holds(0)
	})
}
