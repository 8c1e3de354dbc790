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
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// makeBucket makes a bucket. settings are further members of the request's JSON.
func (s *site) makeBucket(id, settings string) {
	s.T.Helper()
	storagetest.WantJSON(s.T, s.Call("service", "POST", "/bucket", strings.NewReader(`{"id":"`+id+`","name":"`+id+`"`+settings+`}`)), map[string]string{"name": id})
}

// Proves F-bucket-name, F-bucket-size, F-bucket-types, F-bucket-update, F-bucket-type.
func TestCreateAndUpdateBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		// shown returns the JSON of a bucket.
		bucketJSON := func(id string, public bool, limit any, types []string, updated string) map[string]any {
			return map[string]any{"id": id, "name": id, "owner": "", "public": public, "type": "STANDARD", "file_size_limit": limit, "allowed_mime_types": types,
				"created_at": "2026-03-12T10:00:00.000Z", "updated_at": updated}
		}
		const createdAt, updatedAt = "2026-03-12T10:00:00.000Z", "2026-03-12T11:00:00.000Z"
		s.makeBucket("plain", "")
		storagetest.WantJSON(t, s.Call("service", "GET", "/bucket/plain", nil), bucketJSON("plain", false, nil, nil, createdAt))
		s.makeBucket("full", `,"public":true,"file_size_limit":"20KB","allowed_mime_types":["image/*"," VIDEO/MP4 "],"type":"STANDARD","versioning_status":"disabled"`)
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket/full", nil), bucketJSON("full", true, 20000, []string{"image/*", "video/mp4"}, createdAt))
		storagetest.WantJSON(t, s.Call("service", "POST", "/bucket", strings.NewReader(`{"name":"named only"}`)), map[string]string{"name": "named only"})

		s.Clock = s.Clock.Add(time.Hour)
		storagetest.WantJSON(t, s.Call("service", "PUT", "/bucket/full", strings.NewReader(`{"id":"full","name":"full","public":false,"file_size_limit":1000}`)), map[string]string{"message": "Successfully updated"})
		storagetest.WantJSON(t, s.Call("service", "GET", "/bucket/full", nil), bucketJSON("full", false, 1000, []string{"image/*", "video/mp4"}, updatedAt))
		storagetest.WantJSON(t, s.Call("service", "PUT", "/bucket/full", strings.NewReader(`{"file_size_limit":null,"allowed_mime_types":null}`)), map[string]string{"message": "Successfully updated"})
		storagetest.WantJSON(t, s.Call("service", "GET", "/bucket/full", nil), bucketJSON("full", false, nil, nil, updatedAt))

		for body, want := range map[string][2]string{
			`{"name":"plain"}`: {"409", "Duplicate"}, `{"id":"other","name":"plain"}`: {"409", "Duplicate"}, `{"name":"product-images"}`: {"409", "Duplicate"},
			`{}`: {"400", "InvalidBucketName"}, `{"name":"a/b"}`: {"400", "InvalidBucketName"}, `{"name":".."}`: {"400", "InvalidBucketName"}, `{"name":"sign"}`: {"400", "InvalidBucketName"},
			`{"name":" a"}`: {"400", "InvalidBucketName"}, `{"name":"é"}`: {"400", "InvalidBucketName"}, `{"name":"a\u0000"}`: {"400", "InvalidBucketName"}, `{"name":"a?b"}`: {"400", "InvalidBucketName"},
			`{"name":"` + strings.Repeat("a", 101) + `"}`: {"400", "InvalidBucketName"}, `{"name":"new","id":"in fo/"}`: {"400", "InvalidBucketName"},
			`{"name":"new","file_size_limit":"big"}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":-1}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":1.5}`: {"400", "InvalidParameter"},
			`{"name":"new","file_size_limit":[]}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":"999999999999GB"}`: {"400", "InvalidParameter"},
			`{"name":"new","file_size_limit":"9GB"}`: {"413", "Payload too large"}, `{"name":"new","allowed_mime_types":["html"]}`: {"415", "invalid_mime_type"},
			`{"name":"new","type":"ANALYTICS"}`: {"400", "FeatureNotEnabled"}, `{"name":"new","versioning_status":"enabled"}`: {"400", "FeatureNotEnabled"}, `{`: {"400", "InvalidRequest"}, `{"public":"yes"}`: {"400", "InvalidRequest"},
		} {
			storagetest.Refused(t, s.Call("service", "POST", "/bucket", strings.NewReader(body)), want[0], want[1])
		}
		for _, c := range [][3]string{{"PUT", "/bucket/none", `{"public":true}`}, {"DELETE", "/bucket/none", ""}, {"POST", "/bucket/none/empty", ""}, {"PUT", "/bucket/%00", "{}"}, {"DELETE", "/bucket/%ff", ""}} {
			storagetest.Refused(t, s.Call("service", c[0], c[1], strings.NewReader(c[2])), "404", "Bucket not found")
		}
		if n := s.Count("storage_buckets"); n != 7 {
			t.Errorf("%d buckets", n)
		}
	})
}

// Proves F-bucket-create.
func TestOnlyTheServiceKeyManagesBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("extra", "")
		calls := [][3]string{
			{"POST", "/bucket", `{"name":"mine"}`}, {"POST", "/bucket", `{"name":"extra"}`}, {"PUT", "/bucket/extra", `{"public":true}`}, {"PUT", "/bucket/none", `{}`},
			{"POST", "/bucket/extra/empty", `{}`}, {"DELETE", "/bucket/extra", `{}`}, {"DELETE", "/bucket/none", `{}`},
		}
		for _, c := range calls {
			for _, who := range []string{"anon", "user", "admin"} {
				storagetest.Refused(t, s.Call(who, c[0], c[1], strings.NewReader(c[2])), "403", "Unauthorized")
			}
			for _, who := range []string{"nobody", "forged", "expired"} {
				storagetest.Refused(t, s.Call(who, c[0], c[1], strings.NewReader(c[2])), "401", "Unauthorized")
			}
		}
		if s.Count("storage_buckets") != 5 {
			t.Error("somebody changed the buckets")
		}
	})
}

// Proves F-bucket-types, F-bucket-fixed.
func TestSiteBucketsCannotBeDeletedOrMadePrivate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
		e := storagetest.Refused(t, s.Call("service", "DELETE", "/bucket/product-images", nil), "403", "Unauthorized")
		if !strings.Contains(e.Message, "belongs to the site") {
			t.Error(e.Message)
		}
		storagetest.Refused(t, s.Call("service", "PUT", "/bucket/product-images", strings.NewReader(`{"public":false}`)), "403", "Unauthorized")
		// Their limits can be changed, and the changes survive a restart.
		storagetest.WantJSON(t, s.Call("service", "PUT", "/bucket/review-images", strings.NewReader(`{"public":true,"file_size_limit":900,"allowed_mime_types":["image/png"]}`)), map[string]string{"message": "Successfully updated"})
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/review-images/a.png", strings.NewReader(string(storagetest.PNG(500, 500)))), "413", "Payload too large")
		storagetest.Refused(t, s.Call("admin", "POST", "/object/review-images/a.gif", strings.NewReader(string(storagetest.GIF(1, 1)))), "415", "invalid_mime_type")
		storagetest.WantJSON(t, s.Call("service", "POST", "/bucket/product-images/empty", strings.NewReader("{}")), map[string]string{"message": "Successfully emptied"})
		s.Holds(0)
	})
}

// Proves F-bucket-empty, F-bucket-delete.
func TestEmptyAndDeleteBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("extra", "")
		s.UploadFile("product-images/keep.png", storagetest.PNG(3, 3))
		for i := range 7 {
			rec := s.Call("service", "POST", fmt.Sprintf("/object/extra/a/%d.png", i), strings.NewReader(string(storagetest.PNG(3, 3))))
			if rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		e := storagetest.Refused(t, s.Call("service", "DELETE", "/bucket/extra", nil), "409", "InvalidRequest")
		if e.Code != "BucketNotEmpty" {
			t.Error(e)
		}
		storagetest.WantJSON(t, s.Call("service", "POST", "/bucket/extra/empty", nil), map[string]string{"message": "Successfully emptied"})
		s.Holds(1)
		storagetest.WantJSON(t, s.Call("service", "POST", "/bucket/extra/empty", nil), map[string]string{"message": "Successfully emptied"})
		storagetest.WantJSON(t, s.Call("service", "DELETE", "/bucket/extra", nil), map[string]string{"message": "Successfully deleted"})
		storagetest.Refused(t, s.Call("service", "GET", "/bucket/extra", nil), "404", "Bucket not found")
		storagetest.Refused(t, s.Call("service", "DELETE", "/bucket/extra", nil), "404", "Bucket not found")
	})
}

// Proves F-bucket-delete.
//
// TestBucketDeletedDuringUploads checks that either the object and its bucket exist afterwards, or neither.
func TestBucketDeletedDuringUploads(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 15 {
			s.makeBucket("short", "")
			var (
				wg       sync.WaitGroup
				up, gone *httptest.ResponseRecorder
			)
			wg.Go(func() {
				up = s.Call("service", "POST", "/object/short/a.png", strings.NewReader(string(storagetest.PNG(3, 3))))
			})
			wg.Go(func() { gone = s.Call("service", "DELETE", "/bucket/short", nil) })
			wg.Wait()
			var e storagetest.WireError
			if err := json.Unmarshal(up.Body.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			switch {
			case up.Code == 200 && gone.Code == 400: // the upload came first
				s.Holds(1)
				s.Call("service", "POST", "/bucket/short/empty", nil)
				s.Call("service", "DELETE", "/bucket/short", nil)
			case up.Code == 400 && e.Code == "NoSuchBucket" && gone.Code == 200:
				s.Holds(0)
			default:
				t.Fatalf("round %d: upload %d %s, delete %d %s", i, up.Code, up.Body, gone.Code, gone.Body)
			}
		}
		s.Holds(0)
	})
}

// Proves F-change-orphans.
func TestUnreferencedFilesOfOtherBucketsAreKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("archive", "")
		if rec := s.Call("service", "POST", "/object/archive/a.png", strings.NewReader(string(storagetest.PNG(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
		s.Clock = s.Clock.Add(unreferencedAge + time.Second)
		removed, err := s.RemoveUnreferenced(t.Context(), referenced())
		if err != nil || removed != 1 {
			t.Errorf("%d, %v", removed, err)
		}
		s.Object("archive", "a.png")
	})
}

// Proves F-bucket-name.
func FuzzBucketRequests(f *testing.F) {
	for _, body := range []string{`{"name":"a","file_size_limit":"20MB"}`, `{"file_size_limit":1e3}`, `{"allowed_mime_types":["image/*"]}`, `{"file_size_limit":"1.5 gb","public":null}`, `{"file_size_limit":"0"}`} {
		f.Add(body, "a bucket")
	}
	f.Add(`{}`, "..")
	f.Fuzz(func(t *testing.T, body, name string) {
		if isValidBucketName(name) && (!files.Storable(name) || strings.ContainsAny(name, "/\\?#%") || name == ".." || len(name) > 100) {
			t.Errorf("bucket %q accepted", name)
		}
		var req bucketRequest
		if json.Unmarshal([]byte(body), &req) != nil {
			return
		}
		var b bucket
		if err := req.apply(&b, maxUpload); err != nil {
			if !files.IsRefusal(err) {
				t.Errorf("%s: %v", body, err)
			}
			return
		}
		if b.FileSizeLimit != nil && (*b.FileSizeLimit < 1 || *b.FileSizeLimit > maxUpload) {
			t.Errorf("%s gives %d bytes", body, *b.FileSizeLimit)
		}
		for _, m := range b.AllowedMimeTypes {
			if !files.Storable(m) {
				t.Errorf("%s gives %q", body, m)
			}
		}
	})
}
