package auth

import (
	"crypto/rsa"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlidp"
	dsig "github.com/russellhaering/goxmldsig"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// persistentNameIDs makes samlidp send the same NameID at each sign-in of a user. By default it sends a new one.
type persistentNameIDs struct{ saml.SessionProvider }

func (p persistentNameIDs) GetSession(w http.ResponseWriter, r *http.Request, req *saml.IdpAuthnRequest) *saml.Session {
	session := p.SessionProvider.GetSession(w, r, req)
	if session != nil {
		session.NameIDFormat = string(saml.PersistentNameIDFormat)
	}
	return session
}

// Proves S7-sso-5.
//
// The test runs samlidp, the identity provider of the project crewjam/saml, over HTTP. It reads this service's metadata, shows a sign-in form
// and encrypts its assertions.
func TestSamlidpSignsIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		h.clock.at = time.Now() // the provider uses the real time
		key := corporation()
		private, ok := key.Key.(*rsa.PrivateKey)
		if !ok {
			t.Fatal("no RSA key")
		}
		var handler http.Handler
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
		defer server.Close()
		base, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		idp, err := samlidp.New(samlidp.Options{URL: *base, Key: private, Certificate: key.Certificate, Store: &samlidp.MemoryStore{}, Logger: log.New(io.Discard, "", 0)})
		if err != nil {
			t.Fatal(err)
		}
		idp.IDP.SignatureMethod = dsig.RSASHA256SignatureMethod // the default is SHA-1
		idp.IDP.SessionProvider = persistentNameIDs{idp}
		handler = idp

		metadata := httptest.NewRecorder()
		h.handler.ServeHTTP(metadata, httptest.NewRequest("GET", "/auth/v1/sso/saml/metadata", nil))
		put := func(path string, body io.Reader) {
			t.Helper()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+path, body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusNoContent {
				t.Fatalf("%s: %s %v", path, response.Status, err)
			}
		}
		put("/services/atelie", metadata.Body)
		put("/users/bea", strings.NewReader(object(map[string]any{"name": "bea", "password": "hunter2", "email": "bea@samlidp.example", "common_name": "Bea Reis"})))

		r := h.call("POST", providersPath, h.service, object(map[string]any{
			"type": "saml", "metadata_url": server.URL + "/metadata", "domains": []string{"samlidp.example"},
			"attribute_mapping": map[string]any{"keys": map[string]any{"name": map[string]any{"name": "cn"}}},
		}))
		if r.status != http.StatusCreated {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		sent := h.call("POST", "/auth/v1/sso", "", `{"domain":"samlidp.example","skip_http_redirect":true}`)
		form := browse(t, http.MethodGet, sent.text("url"), nil)
		form.Set("user", "bea")
		form.Set("password", "hunter2")
		response := browse(t, http.MethodPost, server.URL+"/sso", form)
		l := h.mustLand(h.post(response.Get("RelayState"), response.Get("SAMLResponse")))
		u := h.user(l.fragment.Get("access_token"))
		own, _ := u.body["user_metadata"].(map[string]any)
		if u.text("email") != "bea@samlidp.example" || own["name"] != "Bea Reis" {
			t.Errorf("%s", u.raw)
		}
		h.refused("the same again", h.post(response.Get("RelayState"), response.Get("SAMLResponse")), "saml_relay_state_not_found")
	})
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// browse requests a page and returns the hidden fields of its form.
func browse(t *testing.T, method, address string, form url.Values) url.Values {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	fields := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(string(page), -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	if len(fields) == 0 {
		t.Fatalf("no form at %s: %s %s", address, response.Status, page)
	}
	return fields
}
