package saml

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"atelie/internal/auth/saml/samltest"
)

func TestMetadataOfAProviderIsRead(t *testing.T) {
	p := samltest.New(t, "https://idp.example/metadata", false)
	good := p.Metadata()
	idp := parsed(t, p)
	if idp.EntityID != p.EntityID || idp.SSOURL != p.SSOURL || len(idp.Certificates) != 1 || !idp.Certificates[0].Equal(p.Certificate) {
		t.Errorf("got %+v", idp)
	}
	body := good[strings.Index(good, "<md:Entity"):]
	for name, text := range map[string]string{
		"in an EntitiesDescriptor": `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">` + body + `</md:EntitiesDescriptor>`,
		"key without a use":        strings.Replace(good, ` use="signing"`, "", 1),
		"on this machine":          strings.ReplaceAll(good, p.SSOURL, "http://127.0.0.1:9000/sso"),
	} {
		if _, err := ParseIdentityProvider([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "no XML": "hello", "HTML": "<html></html>",
		"service provider":       strings.ReplaceAll(good, "IDPSSODescriptor", "SPSSODescriptor"),
		"no entity id":           strings.Replace(good, p.EntityID, "", 1),
		"long entity id":         strings.Replace(good, p.EntityID, strings.Repeat("x", maxEntityID+1), 1),
		"no certificate":         strings.Replace(good, "ds:X509Certificate>", "ds:X509Other>", 2),
		"broken certificate":     strings.Replace(good, "MII", "AAA", 1),
		"encryption only":        strings.Replace(good, `use="signing"`, `use="encryption"`, 1),
		"no redirect binding":    strings.Replace(good, "HTTP-Redirect", "SOAP", 1),
		"plain http":             strings.ReplaceAll(good, p.SSOURL, "http://idp.example/sso"),
		"javascript":             strings.ReplaceAll(good, p.SSOURL, "javascript:alert(1)"),
		"user in the address":    strings.ReplaceAll(good, p.SSOURL, "https://a:b@idp.example/sso"),
		"two identity providers": `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">` + body + body + `</md:EntitiesDescriptor>`,
		"none of several":        `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"/>`,
		"DOCTYPE":                `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + body,
		"too large":              good + strings.Repeat(" ", MaxMetadata),
	} {
		if got, err := ParseIdentityProvider([]byte(text)); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

// Proves S7-sso-11.
func TestMetadataIsRefreshedAsItSays(t *testing.T) {
	for _, c := range []struct {
		validFor, cache, want time.Duration // validFor is the time until validUntil, cache the cacheDuration; 0 stands for none
	}{
		{0, 0, 24 * time.Hour}, {0, time.Hour, time.Hour}, {2 * time.Hour, 0, 2 * time.Hour}, {48 * time.Hour, 72 * time.Hour, 24 * time.Hour},
		{0, time.Second, minRefresh}, {-time.Hour, 0, minRefresh},
	} {
		idp := IdentityProvider{CacheDuration: c.cache}
		if c.validFor != 0 {
			idp.ValidUntil = testNow.Add(c.validFor)
		}
		if got := idp.RefreshAt(testNow).Sub(testNow); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestFetch(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := w.Write(make([]byte, 100<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<x/>")) })
	mux.HandleFunc("/gone", http.NotFound)
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxMetadata+1)) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://idp.example/x", http.StatusFound)
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-ended })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(ended)
	for _, path := range []string{"/ok", "/moved"} {
		if body, err := FetchMetadata(t.Context(), server.URL+path); err != nil || string(body) != "<x/>" {
			t.Errorf("%s: %q %v", path, body, err)
		}
	}
	for _, address := range []string{server.URL + "/gone", server.URL + "/large", server.URL + "/bomb", server.URL + "/loop", server.URL + "/plain",
		"http://idp.example/metadata", "file:///etc/passwd", "ftp://127.0.0.1/x", "", "https://", "http://127.0.0.1:1/"} {
		if body, err := FetchMetadata(t.Context(), address); err == nil {
			t.Errorf("%s: %d bytes", address, len(body))
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := FetchMetadata(short, server.URL+"/hang"); err == nil {
		t.Error("a provider that hangs was waited for")
	}
}

// Proves S7-sso-6.
func TestOurMetadata(t *testing.T) {
	sp := newSP(t)
	out, err := sp.MetadataXML(MetadataExpiry(testNow, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`entityID="https://site.example/auth/v1/sso/saml/metadata"`, `Location="https://site.example/auth/v1/sso/saml/acs"`, `validUntil="2026-11-23T10:00:00Z"`,
		`use="signing"`, `use="encryption"`, `WantAssertionsSigned="true"`, NameIDPersistent, base64.StdEncoding.EncodeToString(sp.Certificate.Raw),
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
	if got := MetadataExpiry(testNow, true); got != testNow.AddDate(5, 0, 0) {
		t.Error(got)
	}
	if _, _, err := ParseKeyPair([]byte("x"), []byte("y")); err == nil {
		t.Error("noise was taken for a key")
	}
	key, _, err := NewKeyPair("a", testNow)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ParseKeyPair(key, sp.Certificate.Raw); err == nil {
		t.Error("a key was accepted with the certificate of another one")
	}
}

func TestRequestKeepsTheProvidersQuery(t *testing.T) {
	sp := newSP(t)
	id, address, err := sp.AuthnRequest(&IdentityProvider{SSOURL: "https://idp.example/sso?tenant=1"}, "a b&c", NameIDEmail, testNow)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if !strings.HasPrefix(id, "id-") || q.Get("tenant") != "1" || q.Get("RelayState") != "a b&c" || q.Get("Signature") == "" || !strings.HasPrefix(u.RawQuery, "tenant=1&SAMLRequest=") {
		t.Errorf("%s %s", id, address)
	}
}

// Proves A-safe-19.
func FuzzMetadata(f *testing.F) {
	p := samltest.New(f, "https://idp.example/metadata", true)
	f.Add([]byte(p.Metadata()))
	f.Add([]byte(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" validUntil="2026-01-01T00:00:00Z" cacheDuration="PT1H"/>`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		idp, err := ParseIdentityProvider(raw)
		if err == nil && (idp.EntityID == "" || idp.SSOURL == "" || len(idp.Certificates) == 0 || checkURL(idp.SSOURL) != nil) {
			t.Fatalf("accepted: %+v", idp)
		}
		if err == nil && idp.RefreshAt(testNow).Before(testNow.Add(minRefresh)) {
			t.Fatalf("refreshed at %s", idp.RefreshAt(testNow))
		}
	})
}
