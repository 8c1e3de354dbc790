package storage

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage/storagetest"
)

// Proves F-sign-one.
func TestSignedDownloads(t *testing.T) {
	content := storagetest.PNG(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		for _, name := range []string{"a%20%C3%A3.png", "b.png"} {
			if rec := s.Call("service", "POST", "/object/vault/"+name, bytes.NewReader(content)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		s.UploadFile("product-images/a.png", content)
		signedURL := s.SignedURL("service", "vault/a%20%C3%A3.png", `{"expiresIn":60}`)
		rec := s.Call("nobody", "GET", signedURL+"&download=quadro.png&cacheNonce=1", nil)
		if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), content) || rec.Header().Get("Content-Type") != "image/png" || !strings.Contains(rec.Header().Get("Content-Disposition"), "quadro.png") ||
			rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("status %d, headers %v", rec.Code, rec.Header())
		}
		if rec := s.Call("nobody", "HEAD", signedURL, nil); rec.Code != 200 {
			t.Errorf("HEAD %d", rec.Code)
		}
		if rec := s.Call("nobody", "GET", signedURL, nil, "Range", "bytes=0-3"); rec.Code != 206 {
			t.Errorf("range %d", rec.Code)
		}
		_, token, _ := strings.Cut(signedURL, "token=")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/vault/b.png?token="+token, nil), "400", "InvalidSignature")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/product-images/a.png?token="+token, nil), "400", "InvalidSignature")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/vault/b.png", nil), "400", "InvalidRequest")
		for _, bad := range []string{"x", token + "A", s.Keys["service"], s.Keys["admin"], s.Keys["expired"]} {
			storagetest.Refused(t, s.Call("service", "GET", "/object/sign/vault/a%20%C3%A3.png?token="+bad, nil), "400", "InvalidJWT")
		}
		for _, who := range []string{"anon", "user", "admin"} {
			storagetest.Refused(t, s.Call(who, "POST", "/object/sign/vault/b.png", strings.NewReader(`{"expiresIn":60}`)), "404", "not_found")
			if rec := s.Call("nobody", "GET", s.SignedURL(who, "product-images/a.png", `{"expiresIn":60}`), nil); rec.Code != 200 {
				t.Errorf("%s, public bucket: %d", who, rec.Code)
			}
		}
		for _, who := range []string{"nobody", "forged", "expired"} {
			for _, address := range []string{"/object/sign/product-images/a.png", "/object/sign/product-images", "/object/upload/sign/product-images/n.png"} {
				storagetest.Refused(t, s.Call(who, "POST", address, strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`)), "401", "Unauthorized")
			}
		}
		for body, word := range map[string]string{
			`{}`: "InvalidParameter", `{"expiresIn":0}`: "InvalidParameter", `{"expiresIn":-1}`: "InvalidParameter", `{"expiresIn":99999999999}`: "InvalidParameter", `{"expiresIn":1.5}`: "InvalidRequest",
			`{"expiresIn":"soon"}`: "InvalidRequest", `{"expiresIn":60,"transform":{"width":-1}}`: "InvalidParameter", `{"expiresIn":60,"versionId":"1"}`: "FeatureNotEnabled",
		} {
			storagetest.Refused(t, s.Call("service", "POST", "/object/sign/vault/b.png", strings.NewReader(body)), "400", word)
		}
		storagetest.Refused(t, s.Call("service", "POST", "/object/sign/vault/none.png", strings.NewReader(`{"expiresIn":60}`)), "404", "not_found")
		storagetest.Refused(t, s.Call("service", "POST", "/object/sign/none/b.png", strings.NewReader(`{"expiresIn":60}`)), "404", "Bucket not found")
		storagetest.Refused(t, s.Call("service", "POST", "/object/sign/vault/%2e%2e%2fb.png", strings.NewReader(`{"expiresIn":60}`)), "400", "InvalidKey")
		s.Clock = s.Clock.Add(time.Minute)
		e := storagetest.Refused(t, s.Call("nobody", "GET", signedURL, nil), "400", "InvalidJWT")
		if !strings.Contains(e.Message, "expired") {
			t.Error(e.Message)
		}
	})
}

// Proves F-sign-many.
func TestSigningMany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
		s.UploadFile("product-images/c/d.png", storagetest.PNG(3, 3))
		rec := s.Call("admin", "POST", "/object/sign/product-images", strings.NewReader(`{"expiresIn":60,"paths":["a.png","none.png","../x","c/d.png"]}`))
		var items []signedItem
		storagetest.Decode(t, rec, &items)
		if rec.Code != 200 || len(items) != 4 {
			t.Fatal(rec.Body)
		}
		for i, path := range []string{"a.png", "none.png", "../x", "c/d.png"} {
			good := i == 0 || i == 3
			if items[i].Path != path || (items[i].SignedURL != nil) != good || (items[i].Error == nil) != good {
				t.Errorf("%+v", items[i])
			}
			if good {
				if rec := s.Call("nobody", "GET", *items[i].SignedURL, nil); rec.Code != 200 {
					t.Errorf("%s: %d", path, rec.Code)
				}
			}
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/sign/none", strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`)), "404", "Bucket not found")
		for _, body := range []string{`{"expiresIn":60}`, `{"expiresIn":60,"paths":[]}`, `{"paths":["a.png"]}`} {
			storagetest.Refused(t, s.Call("admin", "POST", "/object/sign/product-images", strings.NewReader(body)), "400", "InvalidParameter")
		}
		s.makeBucket("vault", "")
		rec = s.Call("admin", "POST", "/object/sign/vault", strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`))
		storagetest.Decode(t, rec, &items)
		if len(items) != 1 || items[0].SignedURL != nil {
			t.Error(rec.Body)
		}
	})
}

// uploadURL returns a signed URL for an upload.
func (s *site) uploadURL(who, bucketAndName string, headers ...string) string {
	s.T.Helper()
	rec := s.Call(who, "POST", "/object/upload/sign/"+bucketAndName, strings.NewReader("{}"), headers...)
	var response struct{ URL, Token string }
	storagetest.Decode(s.T, rec, &response)
	if rec.Code != 200 || !strings.HasSuffix(response.URL, "?token="+response.Token) {
		s.T.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return response.URL
}

// Proves F-sign-upload, F-sign-put.
func TestSignedUploads(t *testing.T) {
	content := storagetest.PNG(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		at := s.uploadURL("admin", "product-images/a%3Fb%20%C3%A3.png")
		storagetest.Refused(t, s.Call("nobody", "PUT", at, strings.NewReader("<html>")), "415", "invalid_mime_type") // a failed upload does not use the URL up
		rec := s.Call("nobody", "PUT", at, bytes.NewReader(content), "Cache-Control", "max-age=9")
		o := s.Object("product-images", "a?b ã.png")
		storagetest.WantJSON(t, rec, map[string]string{"Id": o.ID, "Key": "product-images/a?b ã.png"})
		if o.OwnerID != storagetest.AdminID || o.CacheControl != "max-age=9" {
			t.Errorf("%+v", o)
		}
		if e := storagetest.Refused(t, s.Call("nobody", "PUT", at, bytes.NewReader(content), "x-upsert", "true"), "409", "Duplicate"); e.Message != "The resource already exists" {
			t.Error(e.Message)
		}
		s.Call("admin", "DELETE", "/object/product-images/a%3Fb%20%C3%A3.png", nil)
		e := storagetest.Refused(t, s.Call("nobody", "PUT", at, bytes.NewReader(content)), "409", "Duplicate")
		if !strings.Contains(e.Message, "used") {
			t.Error(e.Message)
		}
		s.Holds(0)

		s.UploadFile("product-images/old.png", content)
		storagetest.Refused(t, s.Call("admin", "POST", "/object/upload/sign/product-images/old.png", nil), "409", "Duplicate")
		contentType, form := storagetest.Form(t, storagetest.Field{Name: "cacheControl", Value: "60"}, storagetest.Field{Name: "", Value: string(storagetest.PNG(9, 9))})
		again := s.uploadURL("service", "product-images/old.png", "x-upsert", "true")
		for range 2 { // can be used until it expires
			if rec := s.Call("nobody", "PUT", again, bytes.NewReader(form), "Content-Type", contentType); rec.Code != 200 || s.PublicFile("product-images/old.png") != string(storagetest.PNG(9, 9)) {
				t.Errorf("replace: %d %s", rec.Code, rec.Body)
			}
		}
		late := s.uploadURL("admin", "product-images/late.png")
		_, token, _ := strings.Cut(late, "token=")
		storagetest.Refused(t, s.Call("nobody", "PUT", "/object/upload/sign/product-images/other.png?token="+token, bytes.NewReader(content)), "400", "InvalidSignature")
		storagetest.Refused(t, s.Call("nobody", "PUT", "/object/upload/sign/product-images/late.png", bytes.NewReader(content)), "400", "InvalidRequest")
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/product-images/late.png?token="+token, nil), "400", "InvalidJWT")
		download := s.SignedURL("admin", "product-images/old.png", `{"expiresIn":60}`)
		_, token, _ = strings.Cut(download, "token=")
		storagetest.Refused(t, s.Call("nobody", "PUT", "/object/upload/sign/product-images/old.png?token="+token, bytes.NewReader(content)), "400", "InvalidJWT")
		for _, who := range []string{"anon", "user"} {
			storagetest.Refused(t, s.Call(who, "POST", "/object/upload/sign/product-images/new.png", strings.NewReader("{}")), "403", "Unauthorized")
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/upload/sign/none/new.png", nil), "404", "Bucket not found")
		s.Clock = s.Clock.Add(uploadLifetime)
		storagetest.Refused(t, s.Call("nobody", "PUT", late, bytes.NewReader(content)), "400", "InvalidJWT")
		storagetest.Refused(t, s.Call("nobody", "PUT", again, bytes.NewReader(form), "Content-Type", contentType), "400", "InvalidJWT")
		s.Holds(1)
		s.Clock = s.Clock.Add(time.Second)
		if err := s.Sweep(t.Context()); err != nil || s.Count("storage_used_tokens") != 0 {
			t.Errorf("expired records of used tokens were not deleted: %v", err)
		}
	})
}

// Proves F-sign-put.
//
// TestSignedUploadWorksOnce uses one signed URL from several clients at the same time.
func TestSignedUploadWorksOnce(t *testing.T) {
	content := storagetest.PNG(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 5 {
			at := s.uploadURL("admin", fmt.Sprintf("product-images/a%d.png", i))
			var (
				wg   sync.WaitGroup
				good atomic.Int32
			)
			for range 4 {
				wg.Go(func() {
					if rec := s.Call("nobody", "PUT", at, bytes.NewReader(content)); rec.Code == 200 {
						good.Add(1)
					} else {
						storagetest.Refused(t, rec, "409", "Duplicate")
					}
				})
			}
			wg.Wait()
			if good.Load() != 1 {
				t.Errorf("%d uploads", good.Load())
			}
			s.Holds(i + 1)
		}
	})
}

// Proves F-sign-key.
//
// TestTokensOfURLsOpenNoSession uses the tokens of signed URLs as keys. Without a key of their own, no URL is signed.
func TestTokensOfURLsOpenNoSession(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s := newSite(t, d)
	s.UploadFile("product-images/a.png", storagetest.PNG(3, 3))
	for _, at := range []string{s.SignedURL("admin", "product-images/a.png", `{"expiresIn":60}`), s.uploadURL("service", "product-images/n.png")} {
		_, token, _ := strings.Cut(at, "token=")
		s.Keys["signed"] = token
		storagetest.Refused(t, s.Call("signed", "GET", "/bucket", nil), "401", "Unauthorized")
	}
	s.cfg.SignKey = nil
	if rec := s.Call("admin", "POST", "/object/sign/product-images/a.png", strings.NewReader(`{"expiresIn":60}`)); rec.Code != 500 {
		t.Errorf("without a key: %d", rec.Code)
	}
}

// Proves F-sign-key.
//
// FuzzSignedTokens checks that only tokens that were signed for this purpose and object are accepted. The test verifies signature and purpose
// a second time, without the library.
func FuzzSignedTokens(f *testing.F) {
	now := time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := New(nil, nil, nil, Config{SignKey: []byte("a key for addresses alone, in tests")}, clock)
	for _, purpose := range []string{purposeDownload, purposeUpload} {
		token, err := s.signToken(purpose, signedClaims{Object: "b/a.png", Owner: uuid.NewString()}, time.Minute)
		if err != nil {
			f.Fatal(err)
		}
		parts := strings.Split(token, ".")
		f.Add(token, "a.png")
		f.Add(token, "b.png")
		f.Add(parts[0]+"."+parts[1]+".", "a.png")
		f.Add("eyJhbGciOiJub25lIn0."+parts[1]+".", "a.png")
	}
	session := identity.New(identity.Config{Secret: []byte("a secret for tests, long enough to sign")}, clock)
	token, err := session.Sign(jwt.MapClaims{"role": "authenticated", "sub": storagetest.AdminID, "aud": purposeDownload, "url": "b/a.png", "exp": now.Add(time.Hour).Unix()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token, "a.png")
	f.Fuzz(func(t *testing.T, token, name string) {
		for _, purpose := range []string{purposeDownload, purposeUpload} {
			claims, err := s.verifyToken(purpose, token)
			if err == nil {
				if err = checkSignedFor(claims.Object, "b", name); err != nil {
					claims = nil
				}
			}
			if err != nil {
				if claims != nil || !files.IsRefusal(err) {
					t.Errorf("%q: %v, %v", token, claims, err)
				}
				continue
			}
			parts := strings.Split(token, ".")
			mac := hmac.New(sha256.New, s.cfg.SignKey)
			mac.Write([]byte(parts[0] + "." + parts[1]))
			signature, err := base64.RawURLEncoding.DecodeString(parts[2])
			if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
				t.Errorf("%q accepted without our mark", token)
			}
			var c struct{ Aud []string }
			text, err := base64.RawURLEncoding.DecodeString(parts[1])
			if err != nil || json.Unmarshal(text, &c) != nil || len(c.Aud) != 1 || c.Aud[0] != purpose || claims.Object != "b/"+name {
				t.Errorf("%q accepted for %s of %q", token, purpose, name)
			}
		}
	})
}

// Proves F-list-v1, F-list-v2.
//
// FuzzListingOptions checks that both databases can run a query with any accepted options.
func FuzzListingOptions(f *testing.F) {
	for _, body := range []string{`{"prefix":"a/","limit":1,"sortBy":{"column":"created_at","order":"desc"}}`, `{"cursor":"eyJuIjoiYSJ9","with_delimiter":true}`, `{"search":"a/b%","offset":3}`,
		`{"cursor":"eyJuIjoiYSIsInQiOiIyMDI2LTAzLTEyVDEwOjAwOjAwWiJ9","sortBy":{"column":"updated_at"}}`, `{"prefix":"\u0000"}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var v1 listRequest
		if json.Unmarshal([]byte(body), &v1) == nil {
			if l, _, err := v1.toListing("b"); err == nil && (!files.Storable(l.Folder) || !files.Storable(l.Search) || l.Limit < 1 || l.Limit > maxPageSize || l.Offset < 0) {
				t.Errorf("%s gives %+v", body, l)
			} else if err != nil && !files.IsRefusal(err) {
				t.Error(err)
			}
		}
		var v2 listV2Request
		if json.Unmarshal([]byte(body), &v2) == nil {
			p, err := v2.toPage("b")
			if err != nil {
				if !files.IsRefusal(err) {
					t.Error(err)
				}
				return
			}
			if !files.Storable(p.Prefix) || p.Limit < 1 || p.Limit > maxPageSizeV2 || (p.After != nil && (!files.Storable(p.After.Name) || (p.Column != "name" && !p.After.Folder && p.After.Time == nil))) {
				t.Errorf("%s gives %+v", body, p)
			}
			if end := prefixEnd(p.Prefix); end != "" && (end <= p.Prefix || strings.HasPrefix(end, p.Prefix) || !files.Storable(strings.ToValidUTF8(end, ""))) {
				t.Errorf("%q ends at %q", p.Prefix, end)
			}
		}
	})
}

// Proves F-sign-names.
//
// TestSignedNamesWithQuestionMarkAndHash checks both ways to use the URL: the client applies encodeURI to it, which leaves ? and # unchanged;
// other programs use it as it is.
func TestSignedNamesWithQuestionMarkAndHash(t *testing.T) {
	encodeURI := strings.NewReplacer("%", "%25", " ", "%20", "ã", "%C3%A3", "^", "%5E")
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i, name := range []string{"a?.png", "#b.png", "c%3F?d%#e.png", "c%3Fd%.png", "f/g?h/i j ã#.png", "a?token=x&b.png", "plain ^.png"} {
			content := storagetest.PNG(i+1, 7)
			if rec := s.Call("service", "POST", "/object/product-images/"+url.PathEscape(name), bytes.NewReader(content)); rec.Code != 200 {
				t.Fatalf("%q: %s", name, rec.Body)
			}
			rec := s.Call("service", "POST", "/object/sign/product-images", strings.NewReader(`{"expiresIn":60,"paths":[`+strconv.Quote(name)+`]}`))
			var many []signedItem
			storagetest.Decode(t, rec, &many)
			rec = s.Call("service", "POST", "/object/sign/product-images/"+url.PathEscape(name), strings.NewReader(`{"expiresIn":60}`))
			var one struct{ SignedURL string }
			storagetest.Decode(t, rec, &one)
			if len(many) != 1 || many[0].SignedURL == nil || one.SignedURL == "" {
				t.Fatalf("%q: %s", name, rec.Body)
			}
			addresses := []string{encodeURI.Replace(one.SignedURL), encodeURI.Replace(*many[0].SignedURL)}
			if strings.ContainsAny(name, "?#") && !strings.ContainsAny(name, " ã") {
				addresses = append(addresses, one.SignedURL)
			}
			for _, at := range addresses {
				if got := s.Call("nobody", "GET", at, nil); got.Code != 200 || !bytes.Equal(got.Body.Bytes(), content) {
					t.Errorf("%q at %s: %d", name, at, got.Code)
				}
			}
		}
		// Decoding the name once more gives no access to other objects.
		s.UploadFile("product-images/x%253Fy.png", storagetest.PNG(9, 9))
		at := encodeURI.Replace(s.SignedURL("service", "product-images/a%3F.png", `{"expiresIn":60}`))
		_, token, _ := strings.Cut(at, "token=")
		for _, other := range []string{"x%253Fy.png", "x%3Fy.png", "b.png", "a.png"} {
			storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/product-images/"+other+"?token="+token, nil), "400", "InvalidSignature")
		}
	})
}
