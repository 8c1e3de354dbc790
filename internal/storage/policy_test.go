package storage

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/storage/storagetest"
)

// Proves F-upload-who, F-download-token.
//
// TestObjectPolicy checks who may do what with objects (docs/product.md, Roles and keys), in every bucket and on both databases.
func TestObjectPolicy(t *testing.T) {
	content := storagetest.JPEG(3, 2)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		for _, bucket := range []string{"product-images", "review-images", "cover-images"} {
			t.Run(bucket, func(t *testing.T) {
				s := newSite(t, d)
				s.UploadFile(bucket+"/here.jpg", content)
				address := "/object/" + bucket + "/"
				for _, who := range []string{"anon", "user", "admin", "service"} {
					mayWrite := who == "admin" || who == "service"
					writes := map[string]func() (int, string){
						"upload": func() (int, string) {
							rec := s.Call(who, "POST", address+"new.jpg", bytes.NewReader(content))
							return rec.Code, rec.Body.String()
						},
						"upsert": func() (int, string) {
							rec := s.Call(who, "POST", address+"here.jpg", bytes.NewReader(content), "x-upsert", "true")
							return rec.Code, rec.Body.String()
						},
						"replace": func() (int, string) {
							rec := s.Call(who, "PUT", address+"here.jpg", bytes.NewReader(content))
							return rec.Code, rec.Body.String()
						},
						"form": func() (int, string) {
							contentType, body := storagetest.Form(t, storagetest.Field{Name: "cacheControl", Value: "60"}, storagetest.Field{Name: "", Value: string(content)})
							rec := s.Call(who, "POST", address+"form.jpg", bytes.NewReader(body), "Content-Type", contentType)
							return rec.Code, rec.Body.String()
						},
						"remove many": func() (int, string) {
							rec := s.Call(who, "DELETE", "/object/"+bucket, strings.NewReader(`{"prefixes":["new.jpg"]}`))
							return rec.Code, rec.Body.String()
						},
						"remove one": func() (int, string) {
							rec := s.Call(who, "DELETE", address+"form.jpg", nil)
							return rec.Code, rec.Body.String()
						},
					}
					for _, name := range []string{"upload", "upsert", "replace", "form", "remove many", "remove one"} {
						status, body := writes[name]()
						if mayWrite {
							if status != 200 {
								t.Errorf("%s %s: %d %s", who, name, status, body)
							}
							continue
						}
						var e storagetest.WireError
						if err := json.Unmarshal([]byte(body), &e); err != nil {
							t.Fatal(err)
						}
						if status != 400 || e != (storagetest.WireError{StatusCode: "403", Error: "Unauthorized", Message: "new row violates row-level security policy", Code: "AccessDenied"}) {
							t.Errorf("%s %s: %d %s", who, name, status, body)
						}
					}
					rec := s.Call(who, "POST", "/object/list/"+bucket, strings.NewReader(`{"prefix":""}`))
					var items []listItem
					storagetest.Decode(t, rec, &items)
					want := 0
					if mayWrite {
						want = 1
					}
					if rec.Code != 200 || len(items) != want || !strings.HasPrefix(rec.Body.String(), "[") {
						t.Errorf("%s list: %d %s", who, rec.Code, rec.Body)
					}
					for _, at := range []string{"/object/public/", "/object/authenticated/", "/object/"} {
						for _, method := range []string{"GET", "HEAD"} {
							if rec := s.Call(who, method, at+bucket+"/here.jpg", nil); rec.Code != 200 || (method == "GET") != bytes.Equal(rec.Body.Bytes(), content) {
								t.Errorf("%s %s %s: %d", who, method, at, rec.Code)
							}
						}
					}
					for _, at := range []string{"/bucket", "/bucket/" + bucket} {
						if rec := s.Call(who, "GET", at, nil); rec.Code != 200 || !strings.Contains(rec.Body.String(), bucket) {
							t.Errorf("%s %s: %d %s", who, at, rec.Code, rec.Body)
						}
					}
				}
				s.Holds(1)

				if rec := s.Call("nobody", "GET", "/object/public/"+bucket+"/here.jpg", nil); rec.Code != 200 {
					t.Errorf("public address without a key: %d %s", rec.Code, rec.Body)
				}
				for who, word := range map[string]string{"nobody": "Unauthorized", "forged": "Unauthorized", "expired": "Unauthorized"} {
					for _, c := range []struct{ method, address, body string }{
						{"POST", address + "x.jpg", string(content)}, {"PUT", address + "here.jpg", string(content)}, {"DELETE", address + "here.jpg", ""},
						{"DELETE", "/object/" + bucket, `{"prefixes":["here.jpg"]}`}, {"POST", "/object/list/" + bucket, `{}`},
						{"GET", address + "here.jpg", ""}, {"GET", "/object/authenticated/" + bucket + "/here.jpg", ""}, {"GET", "/bucket", ""},
					} {
						storagetest.Refused(t, s.Call(who, c.method, c.address, strings.NewReader(c.body)), "401", word)
					}
				}
				s.Holds(1)
				s.Call("admin", "DELETE", address+"here.jpg", nil)
			})
		}
	})
}

func TestAnotherBucketDoesNotExist(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, who := range []string{"anon", "user", "admin", "service"} {
			for _, c := range []struct{ method, address, body string }{
				{"POST", "/object/private/x.jpg", "x"}, {"PUT", "/object/private/x.jpg", "x"}, {"DELETE", "/object/private/x.jpg", ""},
				{"DELETE", "/object/private", `{"prefixes":["x"]}`}, {"GET", "/object/private/x.jpg", ""}, {"GET", "/object/public/private/x.jpg", ""},
				{"GET", "/object/authenticated/private/x.jpg", ""}, {"GET", "/bucket/private", ""}, {"GET", "/bucket/%00", ""}, {"GET", "/bucket/%ff", ""},
			} {
				e := storagetest.Refused(t, s.Call(who, c.method, c.address, strings.NewReader(c.body)), "404", "Bucket not found")
				if e.Message != "Bucket not found" || e.Code != "NoSuchBucket" {
					t.Errorf("%+v: %+v", c, e)
				}
			}
			for _, bucket := range []string{"private", "%00"} {
				if rec := s.Call(who, "POST", "/object/list/"+bucket, strings.NewReader(`{"prefix":""}`)); rec.Code != 200 || rec.Body.String() != "[]" {
					t.Errorf("%s list: %d %s", who, rec.Code, rec.Body)
				}
			}
		}
	})
}
