package storage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// Proves F-list-v1.
func TestListing(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		start := s.Clock
		for i, name := range []string{"b.png", "Anna.png", "zebra.png", "praia/mar.png", "praia/2026/a.png", "Praia/x.png", "praia0.png", "100%25/a.png", "100x.png", "a_b.png", "axb.png", "%C3%A9.png"} {
			s.Clock = start.Add(time.Duration(i) * time.Minute)
			s.UploadFile("product-images/"+name, storagetest.PNG(i+1, 1))
		}
		s.UploadFile("cover-images/other.png", storagetest.PNG(1, 1))
		for _, c := range []struct {
			name, body, want string
		}{
			{"root by name", `{"prefix":""}`, "100%/ 100x.png a_b.png Anna.png axb.png b.png Praia/ praia/ praia0.png zebra.png é.png"},
			{"as supabase-js requests it", `{"limit":100,"offset":0,"sortBy":{"column":"name","order":"asc"},"prefix":""}`, "100%/ 100x.png a_b.png Anna.png axb.png b.png Praia/ praia/ praia0.png zebra.png é.png"},
			{"an empty body", ``, "100%/ 100x.png a_b.png Anna.png axb.png b.png Praia/ praia/ praia0.png zebra.png é.png"},
			{"descending", `{"prefix":"","sortBy":{"column":"name","order":"desc"},"limit":3}`, "é.png zebra.png praia0.png"},
			{"folder", `{"prefix":"praia"}`, "2026/ mar.png"},
			{"folder with slashes", `{"prefix":"/praia/"}`, "2026/ mar.png"},
			{"folder in folder", `{"prefix":"praia/2026"}`, "a.png"},
			{"folder with a wildcard of LIKE", `{"prefix":"100%"}`, "a.png"},
			{"no such folder", `{"prefix":"prai"}`, ""},
			{"a file is no folder", `{"prefix":"b.png"}`, ""},
			{"page", `{"prefix":"","limit":2,"offset":3}`, "Anna.png axb.png"},
			{"past the end", `{"prefix":"","offset":99}`, ""},
			{"large limit", `{"prefix":"","limit":99999,"offset":9}`, "zebra.png é.png"},
			{"search in any case", `{"prefix":"","search":"A"}`, "a_b.png Anna.png axb.png"},
			{"search finds folders", `{"prefix":"","search":"PRAIA"}`, "Praia/ praia/ praia0.png"},
			{"search with a wildcard of LIKE", `{"prefix":"","search":"a_"}`, "a_b.png"},
			{"search in a folder", `{"prefix":"praia","search":"m"}`, "mar.png"},
			{"search that leads into a folder", `{"prefix":"","search":"praia/M"}`, "praia/mar.png"},
			{"search for nothing", `{"prefix":"","search":"\\"}`, ""},
			{"search as long as a name", `{"search":"` + strings.Repeat("_", files.MaxName) + `"}`, ""},
			{"search longer than a name", `{"search":"` + strings.Repeat("_", files.MaxName+1) + `"}`, ""},
			{"search longer than SQLite's patterns", `{"search":"` + strings.Repeat("x", 50_001) + `"}`, ""},
			{"by time", `{"prefix":"","sortBy":{"column":"created_at"}}`, "100%/ Praia/ praia/ b.png Anna.png zebra.png praia0.png 100x.png a_b.png axb.png é.png"},
			{"by time, descending", `{"prefix":"","sortBy":{"column":"updated_at","order":"desc"},"limit":5}`, "praia/ Praia/ 100%/ é.png axb.png"},
			{"by last access", `{"prefix":"praia","sortBy":{"column":"last_accessed_at","order":"DESC"}}`, "2026/ mar.png"},
		} {
			rec := s.Call("admin", "POST", "/object/list/product-images", strings.NewReader(c.body))
			var items []listItem
			storagetest.Decode(t, rec, &items)
			var got []string
			for _, i := range items {
				if folder := i.ID == nil; folder {
					got = append(got, i.Name+"/")
				} else {
					got = append(got, i.Name)
				}
			}
			if rec.Code != 200 || !slices.Equal(got, strings.Fields(c.want)) || rec.Body.String() == "null" {
				t.Errorf("%s: %d\n got %v\nwant %v", c.name, rec.Code, got, strings.Fields(c.want))
			}
		}
		for body, word := range map[string]string{
			`{"limit":0}`: "InvalidParameter", `{"limit":-1}`: "InvalidParameter", `{"offset":-1}`: "InvalidParameter", `{"sortBy":{"column":"name; drop table storage_objects"}}`: "InvalidParameter",
			`{"sortBy":{"column":"name","order":"sideways"}}`: "InvalidParameter", `{"prefix":"a\u0000"}`: "InvalidParameter", `{"search":"\u0000"}`: "InvalidParameter",
			`{`: "InvalidRequest", `{"prefix":{}}`: "InvalidRequest", `{"limit":"ten"}`: "InvalidRequest", `[]`: "InvalidRequest",
		} {
			storagetest.Refused(t, s.Call("admin", "POST", "/object/list/product-images", strings.NewReader(body)), "400", word)
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/list/product-images", strings.NewReader(`{"prefix":"`+strings.Repeat("a", maxBodyBytes)+`"}`)), "413", "Payload too large")
	})
}

// Proves F-list-v1.
func TestListedObjectHasAllFields(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		id := s.UploadFile("product-images/a/b.png", storagetest.PNG(3, 3), "Cache-Control", "max-age=60").ID
		s.Clock = s.Clock.Add(1500 * time.Millisecond)
		s.UploadFile("product-images/a/b.png", storagetest.PNG(4, 4), "x-upsert", "true", "Cache-Control", "max-age=60")
		o := s.Object("product-images", "a/b.png")
		size := len(storagetest.PNG(4, 4))
		rec := s.Call("service", "POST", "/object/list/product-images", strings.NewReader(`{"prefix":"a"}`))
		want := []map[string]any{{"name": "b.png", "id": id, "created_at": "2026-03-12T10:00:00.000Z", "updated_at": "2026-03-12T10:00:01.500Z", "last_accessed_at": "2026-03-12T10:00:00.000Z",
			"metadata": map[string]any{"eTag": `"` + o.ETag + `"`, "size": float64(size), "mimetype": "image/png", "cacheControl": "max-age=60", "lastModified": "2026-03-12T10:00:01.500Z",
				"contentLength": float64(size), "httpStatusCode": 200.0}}}
		storagetest.WantJSON(t, rec, want)
		storagetest.WantJSON(t, s.Call("service", "POST", "/object/list/product-images", strings.NewReader(`{"prefix":""}`)),
			[]map[string]any{{"name": "a", "id": nil, "created_at": nil, "updated_at": nil, "last_accessed_at": nil, "metadata": nil}})
	})
}
