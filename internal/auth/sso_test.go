package auth

import (
	"bytes"
	"compress/flate"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crewjam/saml/xmlenc"

	"atelie/internal/auth/saml/samltest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"POST /auth/v1/sso": s.SSO, "public GET /auth/v1/sso/saml/metadata": s.SAMLMetadata, "public POST /auth/v1/sso/saml/acs": s.SAMLACS,
		"GET /auth/v1/admin/sso/providers": s.AdminListSSOProviders, "POST /auth/v1/admin/sso/providers": s.AdminAddSSOProvider,
		"GET /auth/v1/admin/sso/providers/{id}": s.AdminGetSSOProvider, "PUT /auth/v1/admin/sso/providers/{id}": s.AdminUpdateSSOProvider,
		"DELETE /auth/v1/admin/sso/providers/{id}": s.AdminDeleteSSOProvider,
	}
})

// corporation returns the identity provider of the tests. It is created once, because creating its key is slow.
var corporation = sync.OnceValue(func() *samltest.IdP { return samltest.New(panicking{}, "https://idp.corp.example/metadata", false) })

// panicking is a testing.TB for use outside of a test: Fatal panics.
type panicking struct{ testing.TB }

func (panicking) Helper()        {}
func (panicking) Fatal(a ...any) { panic(a) }

// ssoFixture is a fixture with SAML switched on, to which the provider corporation was added.
type ssoFixture struct {
	*fixture
	idp      *samltest.IdP
	provider string // id of the provider in the database
}

func newSSOFixture(t *testing.T, d *db.DB, settings ...func(*Config)) *ssoFixture {
	t.Helper()
	all := append([]func(*Config){func(c *Config) {
		c.SAML, c.SignupOpen, c.RateLimited, c.RedirectURLs = true, true, false, []string{"https://app.example/**"}
	}}, settings...)
	h := &ssoFixture{fixture: newFixture(t, d, all...), idp: corporation()}
	r := h.call("POST", "/auth/v1/admin/sso/providers", h.service, object(map[string]any{
		"type": "saml", "metadata_xml": h.idp.Metadata(), "domains": []string{"Corp.Example"}, "resource_id": "corp",
		"attribute_mapping": map[string]any{"keys": map[string]any{
			"name": map[string]any{"name": "name", "default": "Somebody"}, "groups": map[string]any{"name": "groups", "array": true},
		}},
	}))
	if r.status != http.StatusCreated {
		t.Fatalf("add: %d %s", r.status, r.raw)
	}
	h.provider = r.text("id")
	return h
}

// started is a request that was sent to the identity provider.
type started struct{ relay, id string }

// start begins a sign-in and parses the request as the provider does.
func (h *ssoFixture) start(fields map[string]any) started {
	h.t.Helper()
	body := map[string]any{"domain": "corp.example", "skip_http_redirect": true}
	for k, v := range fields {
		body[k] = v
	}
	r := h.call("POST", "/auth/v1/sso", "", object(body))
	if r.status != http.StatusOK {
		h.t.Fatalf("start: %d %s", r.status, r.raw)
	}
	return h.request(r.text("url"))
}

func (h *ssoFixture) request(address string) started {
	h.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		h.t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(u.Query().Get("SAMLRequest"))
	if err != nil {
		h.t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		h.t.Fatal(err)
	}
	var request struct {
		ID          string `xml:",attr"`
		Destination string `xml:",attr"`
		ACS         string `xml:"AssertionConsumerServiceURL,attr"`
		Issuer      string
	}
	if err := xml.Unmarshal(plain, &request); err != nil {
		h.t.Fatal(err)
	}
	if request.ACS != "https://ines.example/auth/v1/sso/saml/acs" || request.Issuer != "https://ines.example/auth/v1/sso/saml/metadata" || request.Destination != h.idp.SSOURL {
		h.t.Errorf("%+v", request)
	}
	return started{u.Query().Get("RelayState"), request.ID}
}

func (h *ssoFixture) target(requestID string) samltest.Target {
	h.t.Helper()
	sp, err := h.serviceProvider(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return samltest.Target{ACS: sp.ACSURL, Audience: sp.MetadataURL, RequestID: requestID, Certificate: sp.Certificate, Now: h.now()}
}

// landing is the URL to which the browser is redirected after it has posted the response.
type landing struct {
	address         string
	query, fragment url.Values
}

func (l landing) session() bool {
	return l.fragment.Get("access_token") != "" || l.query.Get("code") != ""
}

// post sends the form of the identity provider's page. The request has no API key.
func (h *ssoFixture) post(relay, samlResponse string) landing {
	h.t.Helper()
	form := url.Values{"SAMLResponse": {samlResponse}}
	if relay != "" {
		form.Set("RelayState", relay)
	}
	return h.postForm(form.Encode())
}

func (h *ssoFixture) postForm(body string) landing {
	h.t.Helper()
	r := httptest.NewRequest("POST", "/auth/v1/sso/saml/acs", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	if w.Code != http.StatusSeeOther || w.Header().Get("Cache-Control") != "no-store" {
		h.t.Errorf("acs: %d %s", w.Code, w.Body)
	}
	u, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		h.t.Fatal(err)
	}
	fragment, err := url.ParseQuery(u.Fragment)
	if err != nil {
		h.t.Fatal(err)
	}
	l := landing{query: u.Query(), fragment: fragment}
	u.RawQuery, u.Fragment = "", ""
	l.address = u.String()
	return l
}

// signIn performs a whole sign-in. change may modify the response.
func (h *ssoFixture) signIn(change func(*samltest.Draft)) landing {
	h.t.Helper()
	s := h.start(nil)
	d := h.idp.Draft(h.target(s.id))
	if change != nil {
		change(d)
	}
	return h.post(s.relay, d.Encode(h.t))
}

func (h *ssoFixture) refused(what string, l landing, code string) {
	h.t.Helper()
	if l.session() || l.address != "https://ines.example" || l.query.Get("error_code") != code || l.query.Get("error") == "" || l.query.Get("error_description") == "" {
		h.t.Errorf("%s: %+v, want %s", what, l, code)
	}
}

func (h *ssoFixture) mustLand(l landing) landing {
	h.t.Helper()
	if l.fragment.Get("access_token") == "" {
		h.t.Fatalf("no session: %+v", l)
	}
	return l
}

// Proves S7-sso-1.
func TestSSOSignsIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		s := h.start(map[string]any{"redirect_to": "https://app.example/in"})
		samlResponse := h.idp.Draft(h.target(s.id))
		samlResponse.Attributes = append(samlResponse.Attributes, samltest.Attribute{Name: "name", Values: []string{"Ana"}})
		l := h.mustLand(h.post(s.relay, samlResponse.Encode(t)))
		if l.address != "https://app.example/in" {
			t.Errorf("landed at %s", l.address)
		}
		u := h.user(l.fragment.Get("access_token"))
		app, _ := u.body["app_metadata"].(map[string]any)
		own, _ := u.body["user_metadata"].(map[string]any)
		identities, _ := u.body["identities"].([]any)
		if u.status != 200 || u.text("email") != "ana@corp.example" || u.text("email_confirmed_at") == "" || app["provider"] != "sso:"+h.provider || len(identities) != 1 {
			t.Fatalf("%d %s", u.status, u.raw)
		}
		custom, _ := own["custom_claims"].(map[string]any)
		groups, _ := custom["groups"].([]any)
		if own["name"] != "Ana" || own["sub"] != "user-1" || own["iss"] != h.idp.EntityID || own["email_verified"] != true || len(groups) != 2 {
			t.Errorf("%v", own)
		}
		claims := h.claims(l.fragment.Get("access_token"))
		amr, _ := claims["amr"].([]any)
		if len(amr) != 1 {
			t.Fatalf("amr %v", claims["amr"])
		}
		if entry, _ := amr[0].(map[string]any); entry["method"] != "sso/saml" || entry["provider"] != h.provider {
			t.Errorf("amr %v", amr)
		}
		if r := h.refreshWith(l.fragment.Get("refresh_token")); r.status != 200 {
			t.Errorf("refresh: %d %s", r.status, r.raw)
		}

		h.mustLand(h.signIn(func(d *samltest.Draft) { d.Attributes[0].Values[0] = "ana.silva@corp.example" }))
		if n := h.count("auth_users"); n != 1 {
			t.Errorf("%d accounts after the second sign-in", n)
		}
		if email := h.value("select email from auth_users"); email != "ana.silva@corp.example" {
			t.Errorf("the provider's new address was not taken: %s", email)
		}
		if n := h.count("auth_sso_relay_states"); n != 0 {
			t.Errorf("%d requests are left", n)
		}
	})
}

// Proves S6-role-2, S7-sso-10.
func TestSSOAccountsAreSeparate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		h.owner()
		l := h.mustLand(h.signIn(func(d *samltest.Draft) { d.NameID, d.Attributes[0].Values[0] = "thief", email }))
		owner := h.mustSignIn()
		if sub := h.claims(l.fragment.Get("access_token"))["sub"]; sub == h.claims(owner.text("access_token"))["sub"] {
			t.Fatal("an identity provider's claim opened the owner's account")
		}
		if n := h.count("auth_users"); n != 2 {
			t.Errorf("%d accounts", n)
		}
		if admin, err := h.IsAdmin(t.Context(), h.claims(l.fragment.Get("access_token"))["sub"].(string), ""); admin || err != nil {
			t.Errorf("admin %t, %v", admin, err)
		}
		if r := h.signInAs(email, password); r.status != 200 {
			t.Errorf("the owner's password no longer works: %s", r.raw)
		}
		// The same name at two providers belongs to two people.
		other := samltest.New(t, "https://idp.other.example/metadata", true)
		if r := h.call("POST", "/auth/v1/admin/sso/providers", h.service, object(map[string]any{"type": "saml", "metadata_xml": other.Metadata(), "domains": []string{"other.example"}})); r.status != 201 {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		s := h.start(map[string]any{"domain": "other.example"})
		draft := other.Draft(h.target(s.id))
		draft.NameID = "thief"
		h.mustLand(h.post(s.relay, draft.Encode(t)))
		if n := h.count("auth_users"); n != 3 {
			t.Errorf("%d accounts", n)
		}
		// A provider cannot respond to a request that was sent to another one.
		s = h.start(nil)
		h.refused("the other provider's response", h.post(s.relay, other.Draft(h.target(s.id)).Encode(t)), "validation_failed")
	})
}

// Proves S7-sso-4, A-safe-18.
func TestSAMLResponsesWorkOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		s := h.start(nil)
		samlResponse := h.idp.Draft(h.target(s.id)).Encode(t)
		h.mustLand(h.post(s.relay, samlResponse))
		h.refused("the same again", h.post(s.relay, samlResponse), "saml_relay_state_not_found")
		h.refused("without its state", h.post("", samlResponse), "validation_failed")
		h.refused("with another request's state", h.post(h.start(nil).relay, samlResponse), "validation_failed")
		h.refused("with a state that never was", h.post("6a2f41a3-c54c-4b8e-9d0f-0a4f0f3f4c11", samlResponse), "saml_relay_state_not_found")

		unsolicited := func() string {
			d := h.idp.Draft(h.target(""))
			return d.Encode(t)
		}
		once := unsolicited()
		if l := h.mustLand(h.post("", once)); l.address != "https://ines.example" {
			t.Errorf("landed at %s", l.address)
		}
		h.refused("unsolicited, again", h.post("", once), "validation_failed")
		if l := h.mustLand(h.post("https://app.example/x", unsolicited())); l.address != "https://app.example/x" {
			t.Errorf("landed at %s", l.address)
		}
		if l := h.mustLand(h.post("https://evil.example/", unsolicited())); l.address != "https://ines.example" {
			t.Errorf("landed at %s", l.address)
		}
		// Eight browsers post the same response concurrently.
		again := unsolicited()
		var (
			wg     sync.WaitGroup
			mu     sync.Mutex
			landed int
		)
		for range 8 {
			wg.Go(func() {
				l := h.post("", again)
				mu.Lock()
				defer mu.Unlock()
				if l.session() {
					landed++
				}
			})
		}
		wg.Wait()
		if landed != 1 {
			t.Errorf("%d sessions from one assertion", landed)
		}
		// A used assertion is stored as long as it could be accepted, and then deleted.
		h.clock.advance(5 * time.Minute)
		if err := h.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.refused("used before, still in time", h.post("", again), "validation_failed")
		h.clock.advance(time.Hour)
		if err := h.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := h.count("auth_sso_used_assertions"); n != 0 {
			t.Errorf("%d assertions are still remembered", n)
		}
		if n := h.count("auth_sso_relay_states"); n != 0 {
			t.Errorf("%d requests are still remembered", n)
		}
		h.refused("long ago", h.post("", again), "validation_failed")
	})
}

func TestFirstSignInsAtOnceMakeOneAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		var wg sync.WaitGroup
		for range 6 {
			samlResponse := h.idp.Draft(h.target("")).Encode(t)
			wg.Go(func() {
				if l := h.post("", samlResponse); !l.session() {
					t.Errorf("%+v", l)
				}
			})
		}
		wg.Wait()
		if n := h.count("auth_users"); n != 1 {
			t.Errorf("%d accounts", n)
		}
	})
}

// Proves S7-sso-12.
func TestSAMLSessionsEndWhenTheProviderSays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		l := h.mustLand(h.signIn(func(d *samltest.Draft) { d.SessionEnd = d.Now.Add(30 * time.Minute) }))
		if got := l.fragment.Get("expires_in"); got != "1800" {
			t.Errorf("the token lives for %s s", got)
		}
		h.clock.advance(20 * time.Minute)
		r := h.refreshWith(l.fragment.Get("refresh_token"))
		if r.status != 200 || r.body["expires_in"] != float64(600) {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		h.clock.advance(11 * time.Minute)
		h.expect("after the end", h.refreshWith(r.text("refresh_token")), 400, "session_expired")
	})
}

// Proves S7-sso-3.
func TestSSOWithPKCE(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		verifier := strings.Repeat("v", 50)
		s := h.start(map[string]any{"redirect_to": "https://app.example/in?a=1", "code_challenge": verifier, "code_challenge_method": "plain"})
		draft := h.idp.Draft(h.target(s.id))
		draft.SessionEnd = h.now().Add(30 * time.Minute)
		l := h.post(s.relay, draft.Encode(t))
		if l.address != "https://app.example/in" || l.query.Get("a") != "1" || l.query.Get("code") == "" || len(l.fragment) != 0 {
			t.Fatalf("%+v", l)
		}
		if n := h.count("auth_sessions"); n != 0 {
			t.Errorf("%d sessions before the exchange", n)
		}
		r := h.call("POST", "/auth/v1/token?grant_type=pkce", "", object(map[string]any{"auth_code": l.query.Get("code"), "code_verifier": verifier}))
		if r.status != 200 || r.body["expires_in"] != float64(1800) {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		amr, _ := h.claims(r.text("access_token"))["amr"].([]any)
		if entry, _ := amr[0].(map[string]any); len(amr) != 1 || entry["method"] != "sso/saml" || entry["provider"] != h.provider {
			t.Errorf("amr %v", amr)
		}
		h.expect("the code again", h.call("POST", "/auth/v1/token?grant_type=pkce", "", object(map[string]any{"auth_code": l.query.Get("code"), "code_verifier": verifier})), 404, "flow_state_not_found")
		h.clock.advance(31 * time.Minute)
		h.expect("after the provider's end", h.refreshWith(r.text("refresh_token")), 400, "session_expired")
	})
}

// Proves S7-sso-1.
func TestSSORefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		start := func(fields map[string]any) reply { return h.call("POST", "/auth/v1/sso", "", object(fields)) }
		h.expect("nothing", start(nil), 400, "validation_failed")
		h.expect("both", start(map[string]any{"domain": "corp.example", "provider_id": h.provider}), 400, "validation_failed")
		h.expect("no UUID", start(map[string]any{"provider_id": "x"}), 400, "validation_failed")
		h.expect("unknown id", start(map[string]any{"provider_id": "6a2f41a3-c54c-4b8e-9d0f-0a4f0f3f4c11"}), 404, "sso_provider_not_found")
		h.expect("unknown domain", start(map[string]any{"domain": "nowhere.example"}), 404, "sso_provider_not_found")
		h.expect("a domain with U+0000", start(map[string]any{"domain": "a\x00b"}), 404, "sso_provider_not_found")
		h.expect("half a challenge", start(map[string]any{"domain": "corp.example", "code_challenge": "x"}), 400, "validation_failed")
		h.expect("no JSON", h.call("POST", "/auth/v1/sso", "", "{"), 400, "bad_json")
		if r := start(map[string]any{"provider_id": strings.ToUpper(h.provider)}); r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), h.idp.SSOURL+"?SAMLRequest=") {
			t.Errorf("%d %s", r.status, r.header.Get("Location"))
		}
		if s := h.start(map[string]any{"domain": "ana@CORP.example"}); s.relay == "" {
			t.Error("no relay state")
		}
		for _, evil := range []string{"https://evil.example/", "javascript:alert(1)", "//evil.example", "https://app.example.evil.example/", strings.Repeat("x", 5000), "https://app.example/\x00"} {
			s := h.start(map[string]any{"redirect_to": evil})
			if l := h.mustLand(h.post(s.relay, h.idp.Draft(h.target(s.id)).Encode(t))); l.address != "https://ines.example" {
				t.Errorf("%.40q leads to %s", evil, l.address)
			}
		}

		s := h.start(nil)
		late := h.target(s.id)
		h.clock.advance(samlRequestLife)
		late.Now = h.now()
		h.refused("too late", h.post(s.relay, h.idp.Draft(late).Encode(t)), "saml_relay_state_expired")

		h.refused("no lasting name", h.signIn(func(d *samltest.Draft) { d.NameIDFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" }), "saml_assertion_no_user_id")
		h.refused("no address", h.signIn(func(d *samltest.Draft) { d.Attributes = nil }), "saml_assertion_no_email")
		h.refused("an address that is none", h.signIn(func(d *samltest.Draft) { d.Attributes[0].Values[0] = "Ana <ana@corp.example>" }), "saml_assertion_no_email")
		stranger := samltest.New(t, "https://stranger.example", true)
		h.refused("an unknown provider", h.post("", stranger.Draft(h.target("")).Encode(t)), "saml_idp_not_found")

		l := h.mustLand(h.signIn(nil))
		h.exec("update auth_users set banned_until = $1 where is_sso_user", h.now().Add(time.Hour))
		h.refused("banned", h.signIn(nil), "user_banned")
		h.exec("update auth_users set banned_until = null")

		s = h.start(nil)
		if r := h.call("PUT", "/auth/v1/admin/sso/providers/"+h.provider, h.service, `{"disabled":true}`); r.status != 200 || r.body["disabled"] != true {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		h.expect("a session of a disabled provider", h.user(l.fragment.Get("access_token")), 403, "session_not_found")
		h.expect("disabled", start(map[string]any{"domain": "corp.example"}), 404, "sso_provider_disabled")
		h.refused("disabled in between", h.post(s.relay, h.idp.Draft(h.target(s.id)).Encode(t)), "sso_provider_disabled")
		h.refused("disabled, unsolicited", h.post("", h.idp.Draft(h.target("")).Encode(t)), "sso_provider_disabled")
	})
}

// Proves S7-sso-9, A-set-2.
func TestSAMLIsOffByDefaultAndHeedsClosedSignUp(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	h := newSSOFixture(t, d, func(c *Config) { c.SAML = false })
	h.expect("sso", h.call("POST", "/auth/v1/sso", "", `{"domain":"corp.example"}`), 404, "saml_provider_disabled")
	h.expect("metadata", h.call("GET", "/auth/v1/sso/saml/metadata", "", ""), 404, "saml_provider_disabled")
	h.refused("acs", h.post("", h.idp.Draft(h.target("")).Encode(t)), "saml_provider_disabled")
	if r := h.call("GET", "/auth/v1/settings", "", ""); r.body["saml_enabled"] != false {
		t.Error(r.raw)
	}

	closed := newSSOFixture(t, dbtest.Open(t, db.SQLite), func(c *Config) { c.SignupOpen = false })
	closed.refused("a new account", closed.signIn(nil), "signup_disabled")
	if n := closed.count("auth_users"); n != 0 {
		t.Errorf("%d accounts", n)
	}
	closed.cfg.SignupOpen = true
	closed.mustLand(closed.signIn(nil))
	closed.cfg.SignupOpen = false
	closed.mustLand(closed.signIn(nil)) // an existing account can still sign in
	if r := closed.call("GET", "/auth/v1/settings", "", ""); r.body["saml_enabled"] != true {
		t.Error(r.raw)
	}
}

func TestSSOIsLimitedPerAddress(t *testing.T) {
	h := newSSOFixture(t, dbtest.Open(t, db.SQLite), func(c *Config) { c.RateLimited = true })
	for range ssoStartsPerIP {
		h.start(nil)
	}
	h.expect("once more", h.call("POST", "/auth/v1/sso", "", `{"domain":"corp.example"}`), 429, "over_request_rate_limit")
	for range acsRequestsPerIP {
		h.post("", "x")
	}
	h.refused("once more", h.post("", "x"), "over_request_rate_limit")
}

// Proves S7-sso-6, A-safe-6.
func TestOurSAMLMetadata(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		sendRequest := func(handler http.Handler, target string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", target, nil)) // without a key
			return w
		}
		w := sendRequest(h.handler, "/auth/v1/sso/saml/metadata")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/xml" || !strings.Contains(w.Body.String(), `entityID="https://ines.example/auth/v1/sso/saml/metadata"`) || w.Header().Get("Content-Disposition") != "" {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		file := sendRequest(h.handler, "/auth/v1/sso/saml/metadata?download=true")
		if file.Header().Get("Content-Disposition") != `attachment; filename="metadata.xml"` || !strings.Contains(file.Body.String(), `validUntil="2031-`) {
			t.Errorf("%v %s", file.Header(), file.Body)
		}
		// Another node, and the same node after a restart, publish the same certificate. The stored key is encrypted.
		node := newFixture(t, d, func(c *Config) { c.SAML = true }).handler
		if other := sendRequest(node, "/auth/v1/sso/saml/metadata"); other.Body.String() != w.Body.String() {
			t.Error("two nodes differ")
		}
		raw, err := base64.RawStdEncoding.DecodeString(h.value("select sealed_key from auth_sso_keys"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x509.ParsePKCS8PrivateKey(raw); err == nil || len(raw) < 1000 {
			t.Errorf("the stored key is not encrypted, in %d bytes", len(raw))
		}
		old := h.target("").Certificate
		if err := h.RenewSSOKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h.target("").Certificate.Equal(old) || sendRequest(h.handler, "/auth/v1/sso/saml/metadata").Body.String() == w.Body.String() {
			t.Error("the key is the old one")
		}
		if sendRequest(node, "/auth/v1/sso/saml/metadata").Body.String() != sendRequest(h.handler, "/auth/v1/sso/saml/metadata").Body.String() {
			t.Error("another node still uses the old key")
		}
		s := h.start(nil)
		draft := h.idp.Draft(h.target(s.id))
		draft.Encrypt, draft.Target.Certificate = xmlenc.AES128CBC, old
		h.refused("encrypted for the old key", h.post(s.relay, draft.Encode(t)), "validation_failed")
	})
}

func TestEncryptedAssertionsSignIn(t *testing.T) {
	h := newSSOFixture(t, dbtest.Open(t, db.SQLite))
	h.mustLand(h.signIn(func(d *samltest.Draft) { d.Encrypt = xmlenc.AES256CBC }))
}
