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

func (s *site) makeBucket(id, settings string) {
	s.t.Helper()
	same(s.t, s.call("service", "POST", "/bucket", strings.NewReader(`{"id":"`+id+`","name":"`+id+`"`+settings+`}`)), map[string]string{"name": id})
}

func TestMakingAndChangingBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		shown := func(id string, public bool, limit any, types []string, updated string) map[string]any {
			return map[string]any{"id": id, "name": id, "owner": "", "public": public, "type": "STANDARD", "file_size_limit": limit, "allowed_mime_types": types,
				"created_at": "2026-03-12T10:00:00.000Z", "updated_at": updated}
		}
		const first, later = "2026-03-12T10:00:00.000Z", "2026-03-12T11:00:00.000Z"
		s.makeBucket("plain", "")
		same(t, s.call("anon", "GET", "/bucket/plain", nil), shown("plain", false, nil, nil, first))
		s.makeBucket("full", `,"public":true,"file_size_limit":"20KB","allowed_mime_types":["image/*"," VIDEO/MP4 "],"type":"STANDARD","versioning_status":"disabled"`)
		same(t, s.call("anon", "GET", "/bucket/full", nil), shown("full", true, 20000, []string{"image/*", "video/mp4"}, first))
		same(t, s.call("service", "POST", "/bucket", strings.NewReader(`{"name":"named only"}`)), map[string]string{"name": "named only"})

		s.clock = s.clock.Add(time.Hour)
		same(t, s.call("service", "PUT", "/bucket/full", strings.NewReader(`{"id":"full","name":"full","public":false,"file_size_limit":1000}`)), map[string]string{"message": "Successfully updated"})
		same(t, s.call("anon", "GET", "/bucket/full", nil), shown("full", false, 1000, []string{"image/*", "video/mp4"}, later))
		same(t, s.call("service", "PUT", "/bucket/full", strings.NewReader(`{"file_size_limit":null,"allowed_mime_types":null}`)), map[string]string{"message": "Successfully updated"})
		same(t, s.call("anon", "GET", "/bucket/full", nil), shown("full", false, nil, nil, later))

		for body, want := range map[string][2]string{
			`{"name":"plain"}`: {"409", "Duplicate"}, `{"id":"other","name":"plain"}`: {"409", "Duplicate"}, `{"name":"product-images"}`: {"409", "Duplicate"},
			`{}`: {"400", "InvalidBucketName"}, `{"name":"a/b"}`: {"400", "InvalidBucketName"}, `{"name":".."}`: {"400", "InvalidBucketName"}, `{"name":"sign"}`: {"400", "InvalidBucketName"},
			`{"name":" a"}`: {"400", "InvalidBucketName"}, `{"name":"é"}`: {"400", "InvalidBucketName"}, `{"name":"a\u0000"}`: {"400", "InvalidBucketName"}, `{"name":"a?b"}`: {"400", "InvalidBucketName"},
			`{"name":"` + strings.Repeat("a", 101) + `"}`: {"400", "InvalidBucketName"}, `{"name":"new","id":"in fo/"}`: {"400", "InvalidBucketName"},
			`{"name":"new","file_size_limit":"big"}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":-1}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":1.5}`: {"400", "InvalidParameter"},
			`{"name":"new","file_size_limit":[]}`: {"400", "InvalidParameter"}, `{"name":"new","file_size_limit":"999999999999GB"}`: {"400", "InvalidParameter"},
			`{"name":"new","file_size_limit":"9GB"}`: {"413", "Payload too large"}, `{"name":"new","allowed_mime_types":["html"]}`: {"415", "invalid_mime_type"}, `{"name":"new","allowed_mime_types":"image/png"}`: {"400", "InvalidParameter"},
			`{"name":"new","type":"ANALYTICS"}`: {"400", "FeatureNotEnabled"}, `{"name":"new","versioning_status":"enabled"}`: {"400", "FeatureNotEnabled"}, `{`: {"400", "InvalidRequest"}, `{"public":"yes"}`: {"400", "InvalidRequest"},
		} {
			refused(t, s.call("service", "POST", "/bucket", strings.NewReader(body)), want[0], want[1])
		}
		for _, c := range [][3]string{{"PUT", "/bucket/none", `{"public":true}`}, {"DELETE", "/bucket/none", ""}, {"POST", "/bucket/none/empty", ""}, {"PUT", "/bucket/%00", "{}"}, {"DELETE", "/bucket/%ff", ""}} {
			refused(t, s.call("service", c[0], c[1], strings.NewReader(c[2])), "404", "Bucket not found")
		}
		if n := s.count("storage_buckets"); n != 6 {
			t.Errorf("%d buckets", n)
		}
	})
}

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
				refused(t, s.call(who, c[0], c[1], strings.NewReader(c[2])), "403", "Unauthorized")
			}
			for _, who := range []string{"nobody", "forged", "expired"} {
				refused(t, s.call(who, c[0], c[1], strings.NewReader(c[2])), "401", "Unauthorized")
			}
		}
		if s.count("storage_buckets") != 4 {
			t.Error("somebody changed the buckets")
		}
	})
}

func TestTheSitesBucketsStay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.upload("product-images/a.png", pngFile(3, 3))
		e := refused(t, s.call("service", "DELETE", "/bucket/product-images", nil), "403", "Unauthorized")
		if !strings.Contains(e.Message, "belongs to the site") {
			t.Error(e.Message)
		}
		refused(t, s.call("service", "PUT", "/bucket/product-images", strings.NewReader(`{"public":false}`)), "403", "Unauthorized")
		// Their limits may be changed, and then stand over a restart.
		same(t, s.call("service", "PUT", "/bucket/review-images", strings.NewReader(`{"public":true,"file_size_limit":900,"allowed_mime_types":["image/png"]}`)), map[string]string{"message": "Successfully updated"})
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused(t, s.call("admin", "POST", "/object/review-images/a.png", strings.NewReader(string(pngFile(500, 500)))), "413", "Payload too large")
		refused(t, s.call("admin", "POST", "/object/review-images/a.gif", strings.NewReader(string(gifFile(1, 1)))), "415", "invalid_mime_type")
		same(t, s.call("service", "POST", "/bucket/product-images/empty", strings.NewReader("{}")), map[string]string{"message": "Successfully emptied"})
		s.holds(0)
	})
}

func TestEmptyingAndDeletingBuckets(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("extra", "")
		s.upload("product-images/keep.png", pngFile(3, 3))
		for i := range 7 {
			rec := s.call("service", "POST", fmt.Sprintf("/object/extra/a/%d.png", i), strings.NewReader(string(pngFile(3, 3))))
			if rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		e := refused(t, s.call("service", "DELETE", "/bucket/extra", nil), "409", "InvalidRequest")
		if e.Code != "BucketNotEmpty" {
			t.Error(e)
		}
		same(t, s.call("service", "POST", "/bucket/extra/empty", nil), map[string]string{"message": "Successfully emptied"})
		s.holds(1)
		same(t, s.call("service", "POST", "/bucket/extra/empty", nil), map[string]string{"message": "Successfully emptied"})
		same(t, s.call("service", "DELETE", "/bucket/extra", nil), map[string]string{"message": "Successfully deleted"})
		refused(t, s.call("service", "GET", "/bucket/extra", nil), "404", "Bucket not found")
		refused(t, s.call("service", "DELETE", "/bucket/extra", nil), "404", "Bucket not found")
	})
}

// TestABucketThatGoesDuringUploads leaves either the object and its bucket or neither.
func TestABucketThatGoesDuringUploads(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 15 {
			s.makeBucket("short", "")
			var (
				wg       sync.WaitGroup
				up, gone *httptest.ResponseRecorder
			)
			wg.Go(func() {
				up = s.call("service", "POST", "/object/short/a.png", strings.NewReader(string(pngFile(3, 3))))
			})
			wg.Go(func() { gone = s.call("service", "DELETE", "/bucket/short", nil) })
			wg.Wait()
			var e wireError
			if err := json.Unmarshal(up.Body.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			switch {
			case up.Code == 200 && gone.Code == 400: // the upload was first
				s.holds(1)
				s.call("service", "POST", "/bucket/short/empty", nil)
				s.call("service", "DELETE", "/bucket/short", nil)
			case up.Code == 400 && e.Code == "NoSuchBucket" && gone.Code == 200:
				s.holds(0)
			default:
				t.Fatalf("round %d: upload %d %s, delete %d %s", i, up.Code, up.Body, gone.Code, gone.Body)
			}
		}
		s.holds(0)
	})
}

func TestOtherBucketsAreNotCollected(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("archive", "")
		if rec := s.call("service", "POST", "/object/archive/a.png", strings.NewReader(string(pngFile(3, 3)))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		s.upload("product-images/a.png", pngFile(3, 3))
		s.clock = s.clock.Add(unreferencedAge + time.Second)
		removed, err := s.CollectUnreferenced(t.Context(), these())
		if err != nil || removed != 1 {
			t.Errorf("%d, %v", removed, err)
		}
		s.object("archive", "a.png")
	})
}

func FuzzBucketRequests(f *testing.F) {
	for _, body := range []string{`{"name":"a","file_size_limit":"20MB"}`, `{"file_size_limit":1e3}`, `{"allowed_mime_types":["image/*"]}`, `{"file_size_limit":"1.5 gb","public":null}`, `{"file_size_limit":"0"}`} {
		f.Add(body, "a bucket")
	}
	f.Add(`{}`, "..")
	f.Fuzz(func(t *testing.T, body, name string) {
		if validBucketName(name) && (!storable(name) || strings.ContainsAny(name, "/\\?#%") || name == ".." || len(name) > 100) {
			t.Errorf("bucket %q accepted", name)
		}
		var req bucketRequest
		if json.Unmarshal([]byte(body), &req) != nil {
			return
		}
		var b bucket
		if err := req.apply(&b, maxUpload); err != nil {
			if !refusal(err) {
				t.Errorf("%s: %v", body, err)
			}
			return
		}
		if b.FileSizeLimit != nil && (*b.FileSizeLimit < 1 || *b.FileSizeLimit > maxUpload) {
			t.Errorf("%s gives %d bytes", body, *b.FileSizeLimit)
		}
		for _, m := range b.AllowedMimeTypes {
			if !storable(m) {
				t.Errorf("%s gives %q", body, m)
			}
		}
	})
}
