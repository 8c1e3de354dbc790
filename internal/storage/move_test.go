package storage

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-change-move, F-download-version.
func TestMoving(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		content := storagetest.PNG(5, 4)
		id := s.UploadFile("product-images/a.png", content, "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7").ID
		s.UploadFile("product-images/taken.png", storagetest.PNG(2, 2))
		before := s.Object("product-images", "a.png")
		s.Clock = s.Clock.Add(time.Hour)
		storagetest.WantJSON(t, s.Change("admin", "move", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"novo/b ã.png"}`),
			map[string]string{"message": "Successfully moved", "Id": id, "Key": "product-images/novo/b ã.png"})
		after := s.Object("product-images", "novo/b ã.png")
		if after.BlobID != before.BlobID || after.ETag != before.ETag || after.CacheControl != "max-age=7" || !after.CreatedAt.Equal(before.CreatedAt) || !after.UpdatedAt.Equal(s.Clock) {
			t.Errorf("%+v\n%+v", before, after)
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/product-images/a.png", nil), "404", "not_found")
		if s.PublicFile("product-images/novo/b%20%C3%A3.png") != string(content) {
			t.Error("the moved file has other bytes")
		}
		storagetest.WantJSON(t, s.Change("service", "move", `{"bucketId":"product-images","sourceKey":"novo/b ã.png","destinationKey":"c.png","destinationBucket":"cover-images"}`),
			map[string]string{"message": "Successfully moved", "Id": id, "Key": "cover-images/c.png"})
		if _, metadata, err := findMetadata(t.Context(), d, "cover-images", "c.png"); err != nil || metadata == nil || !strings.Contains(*metadata, `"a"`) {
			t.Errorf("metadata %v, %v", metadata, err)
		}
		if rec := s.Change("admin", "move", `{"bucketId":"cover-images","sourceKey":"c.png","destinationKey":"c.png"}`); rec.Code != 200 {
			t.Errorf("to its own name: %s", rec.Body)
		}
		s.UploadFile("product-images/film.mp4", storagetest.ISO("isom"))
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
			`{}`: {"404", "Bucket not found"}, `[]`: {"400", "InvalidRequest"}, `{"sourceKey":7}`: {"404", "Bucket not found"}, `{"sourceKey":{}}`: {"400", "InvalidRequest"},
		} {
			for _, call := range []string{"move", "copy"} {
				storagetest.Refused(t, s.Change("admin", call, body), want[0], want[1])
			}
		}
		s.Holds(3)
	})
}

// Proves F-change-copy.
func TestCopying(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		content := storagetest.PNG(5, 4)
		s.UploadFile("product-images/a.png", content, "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7")
		source := s.Object("product-images", "a.png")
		s.Clock = s.Clock.Add(time.Hour)
		rec := s.Change("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b/c.png","destinationBucket":"cover-images"}`)
		copied := s.Object("cover-images", "b/c.png")
		storagetest.WantJSON(t, rec, map[string]string{"Id": copied.ID, "Key": "cover-images/b/c.png"})
		if copied.ID == source.ID || copied.BlobID == source.BlobID || copied.ETag != source.ETag || copied.CacheControl != "max-age=7" || copied.OwnerID != storagetest.AdminID || !copied.CreatedAt.Equal(s.Clock) {
			t.Errorf("%+v", copied)
		}
		if _, metadata, err := findMetadata(t.Context(), d, "cover-images", "b/c.png"); err != nil || metadata == nil || !strings.Contains(*metadata, `"a"`) {
			t.Errorf("metadata %v, %v", metadata, err)
		}
		const again = `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b/c.png","destinationBucket":"cover-images"`
		storagetest.Refused(t, s.Change("admin", "copy", again+"}"), "409", "Duplicate")
		if rec := s.Change("admin", "copy", again+`,"copyMetadata":false,"metadata":{"cacheControl":"60","mimetype":"image/png"}}`, "x-upsert", "true"); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		replaced := s.Object("cover-images", "b/c.png")
		_, metadata, err := findMetadata(t.Context(), d, "cover-images", "b/c.png")
		if err != nil || metadata != nil || replaced.CacheControl != "max-age=60" || replaced.ID != copied.ID || replaced.BlobID == copied.BlobID {
			t.Errorf("%+v, %v, %v", replaced, metadata, err)
		}
		for metadata, want := range map[string][2]string{
			`{"mimetype":"text/html"}`: {"415", "invalid_mime_type"}, `{"contentEncoding":"gzip"}`: {"415", "invalid_mime_type"}, `{"cacheControl":"x\r\ny"}`: {"400", "InvalidParameter"}, `[]`: {"400", "InvalidParameter"},
		} {
			storagetest.Refused(t, s.Change("admin", "copy", again+`,"copyMetadata":false,"metadata":`+metadata+`}`, "x-upsert", "true"), want[0], want[1])
		}
		// A copy onto itself only changes the metadata.
		if rec := s.Change("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"a.png","copyMetadata":false}`, "x-upsert", "true"); rec.Code != 200 || s.PublicFile("product-images/a.png") != string(content) {
			t.Errorf("to its own name: %s", rec.Body)
		}
		s.Call("admin", "DELETE", "/object/product-images/a.png", nil)
		if s.PublicFile("cover-images/b/c.png") != string(content) {
			t.Error("the copy went with its source")
		}
		s.Holds(1)
	})
}

// Proves F-change-who.
func TestMoveAndCopyPolicy(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		if rec := s.Call("service", "POST", "/object/vault/secret.png", strings.NewReader(string(storagetest.PNG(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
		for _, call := range []string{"move", "copy"} {
			for _, names := range []string{`"sourceKey":"a.png","destinationKey":"b.png"`, `"sourceKey":"none.png","destinationKey":"b.png"`, `"sourceKey":"..","destinationKey":""`} {
				body := `{"bucketId":"product-images",` + names + `}`
				for _, who := range []string{"anon", "user"} {
					storagetest.Refused(t, s.Change(who, call, body), "403", "Unauthorized")
				}
				for _, who := range []string{"nobody", "forged", "expired"} {
					storagetest.Refused(t, s.Change(who, call, body), "401", "Unauthorized")
				}
			}
			for _, who := range []string{"anon", "user", "admin"} { // neither from a private bucket nor into it
				storagetest.Refused(t, s.Change(who, call, `{"bucketId":"vault","sourceKey":"secret.png","destinationKey":"b.png","destinationBucket":"product-images"}`), "403", "Unauthorized")
				storagetest.Refused(t, s.Change(who, call, `{"bucketId":"product-images","sourceKey":"a.png","destinationKey":"b.png","destinationBucket":"vault"}`), "403", "Unauthorized")
			}
		}
		s.Holds(2)
		if rec := s.Change("service", "copy", `{"bucketId":"vault","sourceKey":"secret.png","destinationKey":"b.png","destinationBucket":"product-images"}`); rec.Code != 200 {
			t.Error(rec.Body)
		}
		s.Holds(3)
	})
}

// Proves F-change-move.
//
// TestTwoMovesToOneName checks that one of them succeeds and that the other object stays where it was.
func TestTwoMovesToOneName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 10 {
			s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
			s.UploadFile("cover-images/b.png", storagetest.PNG(4, 4))
			answers := make([]*httptest.ResponseRecorder, 2)
			var wg sync.WaitGroup
			for i, from := range []string{`"bucketId":"product-images","sourceKey":"a.png"`, `"bucketId":"cover-images","sourceKey":"b.png"`} {
				wg.Go(func() {
					answers[i] = s.Change("admin", "move", `{`+from+`,"destinationBucket":"product-images","destinationKey":"c.png"}`)
				})
			}
			wg.Wait()
			won := 0
			for _, a := range answers {
				if a.Code == 200 {
					won++
				} else {
					storagetest.Refused(t, a, "409", "Duplicate")
				}
			}
			if won != 1 {
				t.Fatalf("%d moves won", won)
			}
			s.Holds(2)
			s.PublicFile("product-images/c.png")
			for _, bucket := range []string{"product-images", "cover-images"} {
				s.Call("service", "POST", "/bucket/"+bucket+"/empty", nil)
			}
		}
	})
}

// Proves F-change-copy.
//
// TestCopyWhileTheSourceIsRemoved checks that there is a complete copy or none.
func TestCopyWhileTheSourceIsRemoved(t *testing.T) {
	content := noise(200_000)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 15 {
			s.UploadFile("product-images/a.mp4", content)
			var (
				wg     sync.WaitGroup
				copied *httptest.ResponseRecorder
			)
			wg.Go(func() {
				copied = s.Change("admin", "copy", `{"bucketId":"product-images","sourceKey":"a.mp4","destinationKey":"b.mp4"}`)
			})
			wg.Go(func() { s.Call("admin", "DELETE", "/object/product-images/a.mp4", nil) })
			wg.Wait()
			if copied.Code != 200 {
				storagetest.Refused(t, copied, "404", "not_found")
				s.Holds(0)
				continue
			}
			if s.PublicFile("product-images/b.mp4") != string(content) {
				t.Error("the copy is not whole")
			}
			s.Holds(1)
			s.Call("admin", "DELETE", "/object/product-images/b.mp4", nil)
		}
	})
}

// Proves F-download-public, F-download-version, F-download-info, F-download-exists, F-wire-info.
func TestInfo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		s.UploadFile("product-images/a/b.png", storagetest.PNG(3, 3), "x-metadata", "eyJhIjoxfQ==", "Cache-Control", "max-age=7")
		if rec := s.Call("service", "POST", "/object/vault/s.png", strings.NewReader(string(storagetest.PNG(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		o := s.Object("product-images", "a/b.png")
		want := map[string]any{"id": o.ID, "name": "a/b.png", "version": o.BlobID, "bucket_id": "product-images", "size": o.Size, "content_type": "image/png", "cache_control": "max-age=7",
			"etag": `"` + o.ETag + `"`, "metadata": map[string]int{"a": 1}, "last_modified": "2026-03-12T10:00:00.000Z", "created_at": "2026-03-12T10:00:00.000Z"}
		for _, who := range []string{"anon", "user", "admin", "service"} {
			storagetest.WantJSON(t, s.Call(who, "GET", "/object/info/product-images/a/b.png", nil), want)
			storagetest.Refused(t, s.Call(who, "GET", "/object/info/product-images/none.png", nil), "404", "not_found")
			storagetest.Refused(t, s.Call(who, "GET", "/object/info/none/a.png", nil), "404", "Bucket not found")
			if rec := s.Call(who, "HEAD", "/object/info/product-images/a/b.png", nil); rec.Code != 200 {
				t.Errorf("HEAD: %d", rec.Code)
			}
			if who != "service" {
				storagetest.Refused(t, s.Call(who, "GET", "/object/info/vault/s.png", nil), "404", "not_found")
				storagetest.Refused(t, s.Call(who, "GET", "/object/vault/s.png", nil), "404", "not_found")
			}
		}
		var vault map[string]any
		if err := json.Unmarshal(s.Call("service", "GET", "/object/info/vault/s.png", nil).Body.Bytes(), &vault); err != nil || len(vault["metadata"].(map[string]any)) != 0 || vault["name"] != "s.png" {
			t.Errorf("%v, %v", vault, err)
		}
		storagetest.WantJSON(t, s.Call("nobody", "GET", "/object/info/public/product-images/a/b.png", nil), want)
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/info/public/vault/s.png", nil), "404", "Bucket not found")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/public/vault/s.png", nil), "404", "Bucket not found")
		for _, who := range []string{"nobody", "forged", "expired"} {
			storagetest.Refused(t, s.Call(who, "GET", "/object/info/product-images/a/b.png", nil), "401", "Unauthorized")
		}
		storagetest.Refused(t, s.Call("anon", "GET", "/object/info/product-images/a/b.png?versionId=1", nil), "400", "FeatureNotEnabled")
		storagetest.Refused(t, s.Call("anon", "GET", "/object/info/product-images/%2e%2e%2fb.png", nil), "400", "InvalidKey")
	})
}
