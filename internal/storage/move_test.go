package storage

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// shift sends a move or a copy.
func (s *site) shift(who, call, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.call(who, "POST", "/object/"+call, strings.NewReader(body), headers...)
}

func TestMoving(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		content := pngFile(5, 4)
		id := s.upload("product-images/a.png", content, "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7").ID
		s.upload("product-images/taken.png", pngFile(2, 2))
		before := s.object("product-images", "a.png")
		s.clock = s.clock.Add(time.Hour)
		same(t, s.shift("admin", "move", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"novo/b ã.png"}`),
			map[string]string{"message": "Successfully moved", "Id": id, "Key": "product-images/novo/b ã.png"})
		after := s.object("product-images", "novo/b ã.png")
		if after.BlobID != before.BlobID || after.ETag != before.ETag || after.CacheControl != "max-age=7" || !after.CreatedAt.Equal(before.CreatedAt) || !after.UpdatedAt.Equal(s.clock) {
			t.Errorf("%+v\n%+v", before, after)
		}
		refused(t, s.call("nobody", "GET", "/object/public/product-images/a.png", nil), "404", "not_found")
		if s.public("product-images/novo/b%20%C3%A3.png") != string(content) {
			t.Error("other bytes")
		}
		same(t, s.shift("service", "move", `{"bucketId":"product-images","sourceKey":"novo/b ã.png","destinationKey":"c.png","destinationBucket":"cover-images"}`),
			map[string]string{"message": "Successfully moved", "Id": id, "Key": "cover-images/c.png"})
		if _, noted, err := findMetadata(t.Context(), d, "cover-images", "c.png"); err != nil || noted == nil || !strings.Contains(*noted, `"a"`) {
			t.Errorf("metadata %v, %v", noted, err)
		}
		if rec := s.shift("admin", "move", `{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"c.png"}`); rec.Code != 200 {
			t.Errorf("onto itself: %s", rec.Body)
		}
		s.upload("product-images/film.mp4", isoFile("isom"))
		for body, want := range map[string][2]string{
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"taken.png","destinationBucket":"product-images"}`: {"409", "Duplicate"},
			`{"bucketId":"cover-images","sourceKey":"none.png","destinationKey":"x.png"}`:                                       {"404", "not_found"},
			`{"bucketId":"none","sourceKey":"c.png","destinationKey":"x.png"}`:                                                  {"404", "Bucket not found"},
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"x.png","destinationBucket":"none"}`:               {"404", "Bucket not found"},
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"x.jpg"}`:                                          {"415", "invalid_mime_type"},
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"x.html"}`:                                         {"415", "invalid_mime_type"},
			`{"bucketId":"product-images","sourceKey":"film.mp4","destinationKey":"x.mp4","destinationBucket":"review-images"}`: {"415", "invalid_mime_type"},
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"../x.png"}`:                                       {"400", "InvalidKey"},
			`{"bucketId":"cover-images","sourceKey":"%2e%2e/c.png","destinationKey":"x.png"}`:                                   {"400", "InvalidKey"},
			`{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"x.png","sourceVersionId":"1"}`:                    {"400", "FeatureNotEnabled"},
			`{"bucketId":"\u0000","sourceKey":"c.png","destinationKey":"x.png"}`:                                                {"404", "Bucket not found"},
			`{"bucketId":"cover-images","sourceKey":"c.png"}`:                                                                   {"400", "InvalidKey"},
			`{}`: {"404", "Bucket not found"}, `[]`: {"400", "InvalidRequest"}, `{"sourceKey":7}`: {"400", "InvalidRequest"},
		} {
			for _, call := range []string{"move", "copy"} {
				refused(t, s.shift("admin", call, body), want[0], want[1])
			}
		}
		s.holds(3)
	})
}

func TestCopying(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		content := pngFile(5, 4)
		s.upload("product-images/a.png", content, "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7")
		source := s.object("product-images", "a.png")
		s.clock = s.clock.Add(time.Hour)
		rec := s.shift("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b/c.png","destinationBucket":"cover-images"}`)
		copied := s.object("cover-images", "b/c.png")
		same(t, rec, map[string]string{"Id": copied.ID, "Key": "cover-images/b/c.png"})
		if copied.ID == source.ID || copied.BlobID == source.BlobID || copied.ETag != source.ETag || copied.CacheControl != "max-age=7" || copied.OwnerID != adminID || !copied.CreatedAt.Equal(s.clock) {
			t.Errorf("%+v", copied)
		}
		if _, noted, err := findMetadata(t.Context(), d, "cover-images", "b/c.png"); err != nil || noted == nil || !strings.Contains(*noted, `"a"`) {
			t.Errorf("metadata %v, %v", noted, err)
		}
		const again = `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b/c.png","destinationBucket":"cover-images"`
		refused(t, s.shift("admin", "copy", again+"}"), "409", "Duplicate")
		if rec := s.shift("admin", "copy", again+`,"copyMetadata":false,"metadata":{"cacheControl":"60","mimetype":"image/png"}}`, "x-upsert", "true"); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		replaced := s.object("cover-images", "b/c.png")
		_, noted, err := findMetadata(t.Context(), d, "cover-images", "b/c.png")
		if err != nil || noted != nil || replaced.CacheControl != "max-age=60" || replaced.ID != copied.ID || replaced.BlobID == copied.BlobID {
			t.Errorf("%+v, %v, %v", replaced, noted, err)
		}
		for metadata, want := range map[string][2]string{
			`{"mimetype":"text/html"}`: {"415", "invalid_mime_type"}, `{"contentEncoding":"gzip"}`: {"415", "invalid_mime_type"}, `{"cacheControl":"x\r\ny"}`: {"400", "InvalidParameter"}, `[]`: {"400", "InvalidParameter"},
		} {
			refused(t, s.shift("admin", "copy", again+`,"copyMetadata":false,"metadata":`+metadata+`}`, "x-upsert", "true"), want[0], want[1])
		}
		// Onto itself, which only changes what goes with it.
		if rec := s.shift("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"a.png","copyMetadata":false}`, "x-upsert", "true"); rec.Code != 200 || s.public("product-images/a.png") != string(content) {
			t.Errorf("onto itself: %s", rec.Body)
		}
		s.call("admin", "DELETE", "/object/product-images/a.png", nil)
		if s.public("cover-images/b/c.png") != string(content) {
			t.Error("the copy went with its source")
		}
		s.holds(1)
	})
}

func TestWhoMayMoveAndCopy(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		if rec := s.call("service", "POST", "/object/vault/secret.png", strings.NewReader(string(pngFile(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		s.upload("product-images/a.png", pngFile(3, 3))
		for _, call := range []string{"move", "copy"} {
			for _, names := range []string{`"sourceKey":"a.png","destinationKey":"b.png"`, `"sourceKey":"none.png","destinationKey":"b.png"`, `"sourceKey":"..","destinationKey":""`} {
				body := `{"bucketId":"product-images",` + names + `}`
				for _, who := range []string{"anon", "user"} {
					refused(t, s.shift(who, call, body), "403", "Unauthorized")
				}
				for _, who := range []string{"nobody", "forged", "expired"} {
					refused(t, s.shift(who, call, body), "401", "Unauthorized")
				}
			}
			for _, who := range []string{"anon", "user", "admin"} { // neither out of a private bucket nor into it
				refused(t, s.shift(who, call, `{"bucketId":"vault","sourceKey":"secret.png","destinationKey":"b.png","destinationBucket":"product-images"}`), "403", "Unauthorized")
				refused(t, s.shift(who, call, `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b.png","destinationBucket":"vault"}`), "403", "Unauthorized")
			}
		}
		s.holds(2)
		if rec := s.shift("service", "copy", `{"bucketId":"vault","sourceKey":"secret.png","destinationKey":"b.png","destinationBucket":"product-images"}`); rec.Code != 200 {
			t.Error(rec.Body)
		}
		s.holds(3)
	})
}

// TestTwoMovesOntoOneName lets one of them win and leaves the other where it was.
func TestTwoMovesOntoOneName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 10 {
			s.upload("product-images/a.png", pngFile(3, 3))
			s.upload("cover-images/b.png", pngFile(4, 4))
			answers := make([]*httptest.ResponseRecorder, 2)
			var wg sync.WaitGroup
			for i, from := range []string{`"bucketId":"product-images","sourceKey":"a.png"`, `"bucketId":"cover-images","sourceKey":"b.png"`} {
				wg.Go(func() {
					answers[i] = s.shift("admin", "move", `{`+from+`,"destinationBucket":"product-images","destinationKey":"c.png"}`)
				})
			}
			wg.Wait()
			won := 0
			for _, a := range answers {
				if a.Code == 200 {
					won++
				} else {
					refused(t, a, "409", "Duplicate")
				}
			}
			if won != 1 {
				t.Fatalf("%d moves won", won)
			}
			s.holds(2)
			s.public("product-images/c.png")
			for _, bucket := range []string{"product-images", "cover-images"} {
				s.call("service", "POST", "/bucket/"+bucket+"/empty", nil)
			}
		}
	})
}

// TestCopyWhileTheSourceGoes makes a whole copy or none.
func TestCopyWhileTheSourceGoes(t *testing.T) {
	content := noise(200_000)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 15 {
			s.upload("product-images/a.mp4", content)
			var (
				wg     sync.WaitGroup
				copied *httptest.ResponseRecorder
			)
			wg.Go(func() {
				copied = s.shift("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.mp4","destinationKey":"b.mp4"}`)
			})
			wg.Go(func() { s.call("admin", "DELETE", "/object/product-images/a.mp4", nil) })
			wg.Wait()
			if copied.Code != 200 {
				refused(t, copied, "404", "not_found")
				s.holds(0)
				continue
			}
			if s.public("product-images/b.mp4") != string(content) {
				t.Error("the copy is not whole")
			}
			s.holds(1)
			s.call("admin", "DELETE", "/object/product-images/b.mp4", nil)
		}
	})
}

// TestReadersReadOnWhileAnObjectIsMoved moves an object to and fro; readers get all of it or are told that it is not there.
func TestReadersReadOnWhileAnObjectIsMoved(t *testing.T) {
	content := noise(300_000)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.upload("product-images/0.mp4", content)
		done := make(chan struct{})
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					rec := s.call("nobody", "GET", fmt.Sprintf("/object/public/product-images/%d.mp4", i%2), nil)
					if rec.Code == 200 && rec.Body.String() != string(content) || rec.Code != 200 && rec.Code != 400 {
						t.Errorf("%d, %d bytes", rec.Code, rec.Body.Len())
						return
					}
				}
			})
		}
		for i := range 40 {
			if rec := s.shift("admin", "move", fmt.Sprintf(`{"bucketId":"product-images","sourceKey":"%d.mp4","destinationKey":"%d.mp4"}`, i%2, 1-i%2)); rec.Code != 200 {
				t.Error(rec.Body)
			}
		}
		close(done)
		readers.Wait()
		s.holds(1)
	})
}

func TestInfo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		s.upload("product-images/a/b.png", pngFile(3, 3), "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7")
		if rec := s.call("service", "POST", "/object/vault/s.png", strings.NewReader(string(pngFile(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		o := s.object("product-images", "a/b.png")
		want := map[string]any{"id": o.ID, "name": "a/b.png", "version": o.BlobID, "bucket_id": "product-images", "size": o.Size, "content_type": "image/png", "cache_control": "max-age=7",
			"etag": `"` + o.ETag + `"`, "metadata": map[string]int{"a": 1}, "last_modified": "2026-03-12T10:00:00.000Z", "created_at": "2026-03-12T10:00:00.000Z"}
		for _, who := range []string{"anon", "user", "admin", "service"} {
			same(t, s.call(who, "GET", "/object/info/product-images/a/b.png", nil), want)
			refused(t, s.call(who, "GET", "/object/info/product-images/none.png", nil), "404", "not_found")
			refused(t, s.call(who, "GET", "/object/info/none/a.png", nil), "404", "Bucket not found")
			if rec := s.call(who, "HEAD", "/object/info/product-images/a/b.png", nil); rec.Code != 200 {
				t.Errorf("HEAD: %d", rec.Code)
			}
			if who != "service" {
				refused(t, s.call(who, "GET", "/object/info/vault/s.png", nil), "404", "not_found")
				refused(t, s.call(who, "GET", "/object/vault/s.png", nil), "404", "not_found")
			}
		}
		var vault map[string]any
		if err := json.Unmarshal(s.call("service", "GET", "/object/info/vault/s.png", nil).Body.Bytes(), &vault); err != nil || vault["metadata"] != nil || vault["name"] != "s.png" {
			t.Errorf("%v, %v", vault, err)
		}
		same(t, s.call("nobody", "GET", "/object/info/public/product-images/a/b.png", nil), want)
		refused(t, s.call("nobody", "GET", "/object/info/public/vault/s.png", nil), "404", "Bucket not found")
		refused(t, s.call("nobody", "GET", "/object/public/vault/s.png", nil), "404", "Bucket not found")
		for _, who := range []string{"nobody", "forged", "expired"} {
			refused(t, s.call(who, "GET", "/object/info/product-images/a/b.png", nil), "401", "Unauthorized")
		}
		refused(t, s.call("anon", "GET", "/object/info/product-images/a/b.png?versionId=1", nil), "400", "FeatureNotEnabled")
		refused(t, s.call("anon", "GET", "/object/info/product-images/%2e%2e%2fb.png", nil), "400", "InvalidKey")
	})
}
