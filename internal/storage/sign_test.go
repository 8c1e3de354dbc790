package storage

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
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
	"atelie/internal/identity"
)

// signedURL signs and encodes the address as the client does.
func (s *site) signedURL(who, bucketAndName, body string) string {
	s.t.Helper()
	rec := s.call(who, "POST", "/object/sign/"+bucketAndName, strings.NewReader(body))
	var answer struct {
		SignedURL string `json:"signedURL"`
	}
	decode(s.t, rec, &answer)
	path, query, ok := strings.Cut(answer.SignedURL, "?")
	if rec.Code != 200 || !ok {
		s.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return (&url.URL{Path: path}).EscapedPath() + "?" + query
}

func TestSignedDownloads(t *testing.T) {
	content := pngFile(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.makeBucket("vault", "")
		for _, name := range []string{"a%20%C3%A3.png", "b.png"} {
			if rec := s.call("service", "POST", "/object/vault/"+name, bytes.NewReader(content)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		s.upload("product-images/a.png", content)
		at := s.signedURL("service", "vault/a%20%C3%A3.png", `{"expiresIn":60}`)
		rec := s.call("nobody", "GET", at+"&download=quadro.png&cacheNonce=1", nil)
		if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), content) || rec.Header().Get("Content-Type") != "image/png" || !strings.Contains(rec.Header().Get("Content-Disposition"), "quadro.png") ||
			rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d %v", rec.Code, rec.Header())
		}
		if rec := s.call("nobody", "HEAD", at, nil); rec.Code != 200 {
			t.Errorf("HEAD %d", rec.Code)
		}
		if rec := s.call("nobody", "GET", at, nil, "Range", "bytes=0-3"); rec.Code != 206 {
			t.Errorf("range %d", rec.Code)
		}
		_, token, _ := strings.Cut(at, "token=")
		refused(t, s.call("nobody", "GET", "/object/sign/vault/b.png?token="+token, nil), "400", "InvalidSignature")
		refused(t, s.call("nobody", "GET", "/object/sign/product-images/a.png?token="+token, nil), "400", "InvalidSignature")
		refused(t, s.call("nobody", "GET", "/object/sign/vault/b.png", nil), "400", "InvalidRequest")
		for _, bad := range []string{"x", token + "A", s.keys["service"], s.keys["admin"], s.keys["expired"]} {
			refused(t, s.call("service", "GET", "/object/sign/vault/a%20%C3%A3.png?token="+bad, nil), "400", "InvalidJWT")
		}
		for _, who := range []string{"anon", "user", "admin"} {
			refused(t, s.call(who, "POST", "/object/sign/vault/b.png", strings.NewReader(`{"expiresIn":60}`)), "404", "not_found")
			if rec := s.call("nobody", "GET", s.signedURL(who, "product-images/a.png", `{"expiresIn":60}`), nil); rec.Code != 200 {
				t.Errorf("%s, public bucket: %d", who, rec.Code)
			}
		}
		for _, who := range []string{"nobody", "forged", "expired"} {
			for _, address := range []string{"/object/sign/product-images/a.png", "/object/sign/product-images", "/object/upload/sign/product-images/n.png"} {
				refused(t, s.call(who, "POST", address, strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`)), "401", "Unauthorized")
			}
		}
		for body, word := range map[string]string{
			`{}`: "InvalidParameter", `{"expiresIn":0}`: "InvalidParameter", `{"expiresIn":-1}`: "InvalidParameter", `{"expiresIn":99999999999}`: "InvalidParameter", `{"expiresIn":1.5}`: "InvalidRequest",
			`{"expiresIn":"60"}`: "InvalidRequest", `{"expiresIn":60,"transform":{"width":-1}}`: "InvalidParameter", `{"expiresIn":60,"versionId":"1"}`: "FeatureNotEnabled",
		} {
			refused(t, s.call("service", "POST", "/object/sign/vault/b.png", strings.NewReader(body)), "400", word)
		}
		refused(t, s.call("service", "POST", "/object/sign/vault/none.png", strings.NewReader(`{"expiresIn":60}`)), "404", "not_found")
		refused(t, s.call("service", "POST", "/object/sign/none/b.png", strings.NewReader(`{"expiresIn":60}`)), "404", "Bucket not found")
		refused(t, s.call("service", "POST", "/object/sign/vault/%2e%2e%2fb.png", strings.NewReader(`{"expiresIn":60}`)), "400", "InvalidKey")
		s.clock = s.clock.Add(time.Minute)
		e := refused(t, s.call("nobody", "GET", at, nil), "400", "InvalidJWT")
		if !strings.Contains(e.Message, "expired") {
			t.Error(e.Message)
		}
	})
}

func TestSigningMany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.upload("product-images/a.png", pngFile(3, 3))
		s.upload("product-images/c/d.png", pngFile(3, 3))
		rec := s.call("admin", "POST", "/object/sign/product-images", strings.NewReader(`{"expiresIn":60,"paths":["a.png","none.png","../x","c/d.png"]}`))
		var items []signedItem
		decode(t, rec, &items)
		if rec.Code != 200 || len(items) != 4 {
			t.Fatal(rec.Body)
		}
		for i, path := range []string{"a.png", "none.png", "../x", "c/d.png"} {
			good := i == 0 || i == 3
			if items[i].Path != path || (items[i].SignedURL != nil) != good || (items[i].Error == nil) != good {
				t.Errorf("%+v", items[i])
			}
			if good {
				if rec := s.call("nobody", "GET", *items[i].SignedURL, nil); rec.Code != 200 {
					t.Errorf("%s: %d", path, rec.Code)
				}
			}
		}
		refused(t, s.call("admin", "POST", "/object/sign/none", strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`)), "404", "Bucket not found")
		for _, body := range []string{`{"expiresIn":60}`, `{"expiresIn":60,"paths":[]}`, `{"paths":["a.png"]}`} {
			refused(t, s.call("admin", "POST", "/object/sign/product-images", strings.NewReader(body)), "400", "InvalidParameter")
		}
		s.makeBucket("vault", "")
		rec = s.call("admin", "POST", "/object/sign/vault", strings.NewReader(`{"expiresIn":60,"paths":["a.png"]}`))
		decode(t, rec, &items)
		if len(items) != 1 || items[0].SignedURL != nil {
			t.Error(rec.Body)
		}
	})
}

// uploadURL signs an upload.
func (s *site) uploadURL(who, bucketAndName string, headers ...string) string {
	s.t.Helper()
	rec := s.call(who, "POST", "/object/upload/sign/"+bucketAndName, strings.NewReader("{}"), headers...)
	var answer struct{ URL, Token string }
	decode(s.t, rec, &answer)
	if rec.Code != 200 || !strings.HasSuffix(answer.URL, "?token="+answer.Token) {
		s.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return answer.URL
}

func TestSignedUploads(t *testing.T) {
	content := pngFile(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		at := s.uploadURL("admin", "product-images/a%3Fb%20%C3%A3.png")
		refused(t, s.call("nobody", "PUT", at, strings.NewReader("<html>")), "415", "invalid_mime_type") // not used up by that
		rec := s.call("nobody", "PUT", at, bytes.NewReader(content), "Cache-Control", "max-age=9")
		o := s.object("product-images", "a?b ã.png")
		same(t, rec, map[string]string{"Id": o.ID, "Key": "product-images/a?b ã.png"})
		if o.OwnerID != adminID || o.CacheControl != "max-age=9" {
			t.Errorf("%+v", o)
		}
		refused(t, s.call("nobody", "PUT", at, bytes.NewReader(content), "x-upsert", "true"), "409", "Duplicate")
		s.call("admin", "DELETE", "/object/product-images/a%3Fb%20%C3%A3.png", nil)
		e := refused(t, s.call("nobody", "PUT", at, bytes.NewReader(content)), "409", "Duplicate")
		if !strings.Contains(e.Message, "used") {
			t.Error(e.Message)
		}
		s.holds(0)

		s.upload("product-images/old.png", content)
		refused(t, s.call("admin", "POST", "/object/upload/sign/product-images/old.png", nil), "409", "Duplicate")
		contentType, form := formBody(t, field{"cacheControl", "60"}, field{"", string(pngFile(9, 9))})
		if rec := s.call("nobody", "PUT", s.uploadURL("service", "product-images/old.png", "x-upsert", "true"), bytes.NewReader(form), "Content-Type", contentType); rec.Code != 200 || s.public("product-images/old.png") != string(pngFile(9, 9)) {
			t.Errorf("replace: %d %s", rec.Code, rec.Body)
		}
		late := s.uploadURL("admin", "product-images/late.png")
		_, token, _ := strings.Cut(late, "token=")
		refused(t, s.call("nobody", "PUT", "/object/upload/sign/product-images/other.png?token="+token, bytes.NewReader(content)), "400", "InvalidSignature")
		refused(t, s.call("nobody", "PUT", "/object/upload/sign/product-images/late.png", bytes.NewReader(content)), "400", "InvalidRequest")
		refused(t, s.call("nobody", "GET", "/object/sign/product-images/late.png?token="+token, nil), "400", "InvalidJWT")
		download := s.signedURL("admin", "product-images/old.png", `{"expiresIn":60}`)
		_, token, _ = strings.Cut(download, "token=")
		refused(t, s.call("nobody", "PUT", "/object/upload/sign/product-images/old.png?token="+token, bytes.NewReader(content)), "400", "InvalidJWT")
		for _, who := range []string{"anon", "user"} {
			refused(t, s.call(who, "POST", "/object/upload/sign/product-images/new.png", strings.NewReader("{}")), "403", "Unauthorized")
		}
		refused(t, s.call("admin", "POST", "/object/upload/sign/none/new.png", nil), "404", "Bucket not found")
		s.clock = s.clock.Add(uploadLife)
		refused(t, s.call("nobody", "PUT", late, bytes.NewReader(content)), "400", "InvalidJWT")
		s.holds(1)
		s.clock = s.clock.Add(time.Second)
		if err := s.Sweep(t.Context()); err != nil || s.count("storage_used_tokens") != 0 {
			t.Errorf("used tokens stay: %v", err)
		}
	})
}

// TestASignedUploadCountsOnce sends one address from several sides at a time.
func TestASignedUploadCountsOnce(t *testing.T) {
	content := pngFile(4, 4)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for range 5 {
			at := s.uploadURL("admin", "product-images/a.png", "x-upsert", "true")
			var (
				wg   sync.WaitGroup
				good atomic.Int32
			)
			for range 4 {
				wg.Go(func() {
					if rec := s.call("nobody", "PUT", at, bytes.NewReader(content)); rec.Code == 200 {
						good.Add(1)
					} else {
						refused(t, rec, "409", "Duplicate")
					}
				})
			}
			wg.Wait()
			if good.Load() != 1 {
				t.Errorf("%d uploads", good.Load())
			}
			s.holds(1)
		}
	})
}

// TestTokensAreNotMixed takes signed addresses for no session.
func TestTokensAreNotMixed(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s := newSite(t, d)
	s.upload("product-images/a.png", pngFile(3, 3))
	for _, at := range []string{s.signedURL("admin", "product-images/a.png", `{"expiresIn":60}`), s.uploadURL("service", "product-images/n.png")} {
		_, token, _ := strings.Cut(at, "token=")
		s.keys["signed"] = token
		refused(t, s.call("signed", "GET", "/bucket", nil), "401", "Unauthorized")
	}
	s.cfg.SignKey = nil
	if rec := s.call("admin", "POST", "/object/sign/product-images/a.png", strings.NewReader(`{"expiresIn":60}`)); rec.Code != 500 {
		t.Errorf("without a key: %d", rec.Code)
	}
}

// FuzzSignedTokens accepts nothing but what was signed for that purpose and object. Signature and purpose are checked
// here a second time, without the library.
func FuzzSignedTokens(f *testing.F) {
	now := time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := New(nil, nil, Config{SignKey: []byte("a key for addresses alone, in tests")}, clock)
	for _, purpose := range []string{forDownload, forUpload} {
		token, err := s.sign(purpose, signedClaims{URL: "b/a.png", Owner: uuid.NewString()}, time.Minute)
		if err != nil {
			f.Fatal(err)
		}
		parts := strings.Split(token, ".")
		f.Add(token, "a.png")
		f.Add(token, "b.png")
		f.Add(parts[0]+"."+parts[1]+".", "a.png")
		f.Add("eyJhbGciOiJub25lIn0."+parts[1]+".", "a.png")
	}
	session := identity.NewTokens([]byte("a secret for tests, long enough to sign"), clock)
	token, err := session.Sign(jwt.MapClaims{"role": "authenticated", "sub": adminID, "aud": forDownload, "url": "b/a.png", "exp": now.Add(time.Hour).Unix()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token, "a.png")
	f.Fuzz(func(t *testing.T, token, name string) {
		for _, purpose := range []string{forDownload, forUpload} {
			claims, err := s.signed(purpose, token, "b", name)
			if err != nil {
				if claims != nil || !refusal(err) {
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
			if err != nil || json.Unmarshal(text, &c) != nil || len(c.Aud) != 1 || c.Aud[0] != purpose || claims.URL != "b/"+name {
				t.Errorf("%q accepted for %s of %q", token, purpose, name)
			}
		}
	})
}

// FuzzListingOptions holds that what is accepted can be asked of both databases.
func FuzzListingOptions(f *testing.F) {
	for _, body := range []string{`{"prefix":"a/","limit":1,"sortBy":{"column":"created_at","order":"desc"}}`, `{"cursor":"eyJuIjoiYSJ9","with_delimiter":true}`, `{"search":"a/b%","offset":3}`,
		`{"cursor":"eyJuIjoiYSIsInQiOiIyMDI2LTAzLTEyVDEwOjAwOjAwWiJ9","sortBy":{"column":"updated_at"}}`, `{"prefix":"\u0000"}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var v1 listRequest
		if json.Unmarshal([]byte(body), &v1) == nil {
			if l, _, err := v1.listing("b"); err == nil && (!storable(l.Folder) || !storable(l.Search) || l.Limit < 1 || l.Limit > maxPage || l.Offset < 0) {
				t.Errorf("%s gives %+v", body, l)
			} else if err != nil && !refusal(err) {
				t.Error(err)
			}
		}
		var v2 listV2Request
		if json.Unmarshal([]byte(body), &v2) == nil {
			p, err := v2.page("b")
			if err != nil {
				if !refusal(err) {
					t.Error(err)
				}
				return
			}
			if !storable(p.Prefix) || p.Limit < 1 || p.Limit > maxPageV2 || (p.After != nil && (!storable(p.After.Name) || (p.Column != "name" && !p.After.Folder && p.After.Time == nil))) {
				t.Errorf("%s gives %+v", body, p)
			}
			if end := prefixEnd(p.Prefix); end != "" && (end <= p.Prefix || strings.HasPrefix(end, p.Prefix) || !storable(strings.ToValidUTF8(end, ""))) {
				t.Errorf("%q ends at %q", p.Prefix, end)
			}
		}
	})
}

// TestSignedNamesThatEndAPath: the client puts encodeURI around the address, which leaves ? and # alone; programs take it
// as it is.
func TestSignedNamesThatEndAPath(t *testing.T) {
	encodeURI := strings.NewReplacer("%", "%25", " ", "%20", "ã", "%C3%A3", "^", "%5E")
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i, name := range []string{"a?.png", "#b.png", "c%3F?d%#e.png", "c%3Fd%.png", "f/g?h/i j ã#.png", "a?token=x&b.png", "plain ^.png"} {
			content := pngFile(i+1, 7)
			if rec := s.call("service", "POST", "/object/product-images/"+url.PathEscape(name), bytes.NewReader(content)); rec.Code != 200 {
				t.Fatalf("%q: %s", name, rec.Body)
			}
			rec := s.call("service", "POST", "/object/sign/product-images", strings.NewReader(`{"expiresIn":60,"paths":[`+strconv.Quote(name)+`]}`))
			var many []signedItem
			decode(t, rec, &many)
			rec = s.call("service", "POST", "/object/sign/product-images/"+url.PathEscape(name), strings.NewReader(`{"expiresIn":60}`))
			var one struct{ SignedURL string }
			decode(t, rec, &one)
			if len(many) != 1 || many[0].SignedURL == nil || one.SignedURL == "" {
				t.Fatalf("%q: %s", name, rec.Body)
			}
			addresses := []string{encodeURI.Replace(one.SignedURL), encodeURI.Replace(*many[0].SignedURL)}
			if strings.ContainsAny(name, "?#") && !strings.ContainsAny(name, " ã") {
				addresses = append(addresses, one.SignedURL)
			}
			for _, at := range addresses {
				if got := s.call("nobody", "GET", at, nil); got.Code != 200 || !bytes.Equal(got.Body.Bytes(), content) {
					t.Errorf("%q at %s: %d", name, at, got.Code)
				}
			}
		}
		// Decoding once more opens nothing that was not signed.
		s.upload("product-images/x%253Fy.png", pngFile(9, 9))
		at := encodeURI.Replace(s.signedURL("service", "product-images/a%3F.png", `{"expiresIn":60}`))
		_, token, _ := strings.Cut(at, "token=")
		for _, other := range []string{"x%253Fy.png", "x%3Fy.png", "b.png", "a.png"} {
			refused(t, s.call("nobody", "GET", "/object/sign/product-images/"+other+"?token="+token, nil), "400", "InvalidSignature")
		}
	})
}
