package storage

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-upload-quota.
func TestQuota(t *testing.T) {
	const size = 1000
	// file returns a file of size bytes, noise(size) one that is a little larger.
	file := func() []byte { return noise(size - len(storagetest.ISO("isom"))) }
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.cfg.Quota = 3 * size
		for _, bucket := range []string{"product-images", "cover-images"} {
			s.UploadFile(bucket+"/a.mp4", file())
		}
		// expectFull checks that a request is refused because of the quota.
		expectFull := func(who, method, address string, body []byte, headers ...string) {
			t.Helper()
			e := storagetest.Refused(t, s.Call(who, method, address, bytes.NewReader(body), headers...), "413", "Payload too large")
			if e.Code != "EntityTooLarge" || !strings.Contains(e.Message, "quota") {
				t.Errorf("got %+v", e)
			}
		}
		expectFull("admin", "POST", "/object/product-images/big.mp4", noise(size))
		contentType, form := storagetest.Form(t, storagetest.Field{Name: "", Value: string(noise(size))}) // without a known length
		expectFull("admin", "POST", "/object/product-images/big.mp4", form, "Content-Type", contentType)
		s.UploadFile("product-images/b.mp4", file()) // uses the quota to the last byte
		expectFull("service", "POST", "/object/product-images/c.mp4", file())
		expectFull("admin", "POST", "/object/copy", []byte(`{"bucketId":"product-images","sourceKey":"a.mp4","destinationKey":"d.mp4"}`))
		expectFull("nobody", "PUT", s.uploadURL("admin", "product-images/e.mp4"), file())
		if rec := s.Call("admin", "PUT", "/object/product-images/a.mp4", bytes.NewReader(file())); rec.Code != 200 { // a replacement does not add to the used bytes
			t.Error(rec.Body)
		}
		if rec := s.Change("admin", "move", `{"bucketId":"product-images","sourceKey":"a.mp4","destinationKey":"moved.mp4"}`); rec.Code != 200 {
			t.Error(rec.Body)
		}
		s.Holds(3)
		s.Call("admin", "DELETE", "/object/product-images/b.mp4", nil)

		// Of several concurrent uploads into the last free bytes, one succeeds.
		var wg sync.WaitGroup
		for i := range 6 {
			content := file()
			wg.Go(func() {
				if rec := s.Call("admin", "POST", fmt.Sprintf("/object/product-images/new%d.mp4", i), bytes.NewReader(content)); rec.Code != 200 {
					storagetest.Refused(t, rec, "413", "Payload too large")
				}
			})
		}
		wg.Wait()
		s.Holds(3)
	})
}
