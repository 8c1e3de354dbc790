package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/auth/saml/samltest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// The URL of the endpoints that manage the identity providers of single sign-on (SAML).
const providersPath = "/auth/v1/admin/sso/providers"

// Proves S6-key-1.
func TestSSOProvidersNeedTheServiceKey(t *testing.T) {
	h := newSSOFixture(t, dbtest.Open(t, db.SQLite))
	h.owner()
	owner := h.mustSignIn().text("access_token")
	for _, c := range []struct{ method, path string }{
		{"GET", providersPath}, {"POST", providersPath}, {"GET", providersPath + "/" + h.provider}, {"PUT", providersPath + "/" + h.provider}, {"DELETE", providersPath + "/" + h.provider},
	} {
		h.expect("public key: "+c.method, h.call(c.method, c.path, "", "{}"), 403, "not_admin")
		h.expect("owner: "+c.method, h.call(c.method, c.path, owner, "{}"), 403, "not_admin")
	}
	if n := h.count("auth_sso_providers"); n != 1 {
		t.Errorf("%d providers", n)
	}
}

// Proves S7-sso-7.
func TestManageSSOProviders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		stored := h.call("GET", providersPath+"/"+h.provider, h.service, "")
		if stored.status != 200 || keysOf(stored.body) != "created_at disabled domains id resource_id saml updated_at" {
			t.Fatalf("status %d: %s", stored.status, stored.raw)
		}
		saml, _ := stored.body["saml"].(map[string]any)
		if keysOf(saml) != "attribute_mapping entity_id metadata_xml" || saml["entity_id"] != h.idp.EntityID || saml["metadata_xml"] != h.idp.Metadata() {
			t.Errorf("got %v", saml)
		}
		domains, _ := stored.body["domains"].([]any)
		if first, _ := domains[0].(map[string]any); len(domains) != 1 || first["domain"] != "corp.example" || first["id"] == "" {
			t.Errorf("got %v", domains)
		}
		if r := h.call("GET", providersPath+"/resource_corp", h.service, ""); r.text("id") != h.provider {
			t.Errorf("by resource id: %d %s", r.status, r.raw)
		}

		second := samltest.New(t, "https://second.example/metadata", true)
		r := h.call("POST", providersPath, h.service, object(map[string]any{"type": "saml", "metadata_xml": second.Metadata(), "resource_id": "c_rp2"}))
		if r.status != 201 {
			t.Fatalf("status %d: %s", r.status, r.raw)
		}
		id2 := r.text("id")
		list := func(query string) []any {
			r := h.call("GET", providersPath+query, h.service, "")
			items, ok := r.body["items"].([]any)
			if r.status != 200 || !ok || strings.Contains(r.raw, "metadata_xml") {
				t.Errorf("list%s: %d %s", query, r.status, r.raw)
			}
			return items
		}
		for query, n := range map[string]int{"": 2, "?resource_id=corp": 1, "?resource_id=nobody": 0, "?resource_id_prefix=c": 2, "?resource_id_prefix=c_": 1} {
			if got := list(query); len(got) != n {
				t.Errorf("list%s: %d items", query, len(got))
			}
		}

		h.expect("the same provider again", h.call("POST", providersPath, h.service, object(map[string]any{"type": "saml", "metadata_xml": second.Metadata()})), 422, "saml_idp_already_exists")
		third := samltest.New(t, "https://third.example/metadata", true)
		h.expect("a domain that is taken", h.call("POST", providersPath, h.service, object(map[string]any{"type": "saml", "metadata_xml": third.Metadata(), "domains": []string{"new.example", "CORP.example"}})), 400, "sso_domain_already_exists")
		h.expect("a name that is taken", h.call("POST", providersPath, h.service, object(map[string]any{"type": "saml", "metadata_xml": third.Metadata(), "resource_id": "corp"})), 422, "conflict")
		if n := len(list("")); n != 2 {
			t.Errorf("%d providers after refusals", n)
		}

		put := func(body string) reply { return h.call("PUT", providersPath+"/"+h.provider, h.service, body) }
		r = put(`{"domains":["b.example","corp.example","a.example"],"name_id_format":"urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress","resource_id":""}`)
		if r.status != 200 || strings.Count(r.raw, `"domain"`) != 3 || r.body["resource_id"] != nil || !strings.Contains(r.raw, `"name_id_format":"urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"`) {
			t.Errorf("%d %s", r.status, r.raw)
		}
		if again := put(`{}`); again.status != 200 || strings.Count(again.raw, `"domain"`) != 3 || !strings.Contains(again.raw, "emailAddress") || !strings.Contains(again.raw, `"groups"`) {
			t.Errorf("an empty change changed something: %s", again.raw)
		}
		if r := put(`{"domains":[],"name_id_format":"","attribute_mapping":{"keys":{"a":{"names":["x","y"]}}}}`); strings.Contains(r.raw, "corp.example\"") || strings.Contains(r.raw, "name_id_format") || !strings.Contains(r.raw, `"attribute_mapping":{"keys":{"a":{"names":["x","y"]}}}`) {
			t.Errorf("%d %s", r.status, r.raw)
		}
		h.expect("somebody else's metadata", put(object(map[string]any{"metadata_xml": second.Metadata()})), 400, "saml_entity_id_mismatch")
		renewed := samltest.New(t, h.idp.EntityID, true)
		if r := put(object(map[string]any{"metadata_xml": renewed.Metadata(), "domains": []string{"corp.example"}})); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		s := h.start(nil)
		h.refused("the old key", h.post(s.relay, h.idp.Draft(h.target(s.id)).Encode(t)), "validation_failed")
		s = h.start(nil)
		l := h.mustLand(h.post(s.relay, renewed.Draft(h.target(s.id)).Encode(t)))

		if r := h.call("DELETE", providersPath+"/"+h.provider, h.service, ""); r.status != 200 || r.text("id") != h.provider {
			t.Errorf("%d %s", r.status, r.raw)
		}
		h.expect("a session of a removed provider", h.user(l.fragment.Get("access_token")), 403, "session_not_found")
		h.refused("unsolicited, of a removed provider", h.post("", renewed.Draft(h.target("")).Encode(t)), "saml_idp_not_found")
		for _, id := range []string{h.provider, "resource_nobody", "resource_%00", "resource_%ff", "x", "6a2f41a3-c54c-4b8e-9d0f-0a4f0f3f4c11"} {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				h.expect(method+" "+id, h.call(method, providersPath+"/"+id, h.service, "{}"), 404, "sso_provider_not_found")
			}
		}
		if r := h.call("DELETE", providersPath+"/"+id2, h.service, ""); r.status != 200 || h.count("auth_sso_domains") != 0 {
			t.Errorf("%d %s", r.status, r.raw)
		}
		if n := h.count("auth_audit_log where action = 'sso_provider_changed'"); n < 7 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// Proves S7-sso-7.
func TestSSOProviderRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		metadata := samltest.New(t, "https://x.example", true).Metadata()
		for name, change := range map[string]map[string]any{
			"another type":         {"type": "oidc"},
			"no metadata":          {"metadata_xml": ""},
			"both":                 {"metadata_url": "https://idp.example/metadata"},
			"no URL":               {"metadata_xml": "", "metadata_url": "x"},
			"http":                 {"metadata_xml": "", "metadata_url": "http://idp.example/metadata"},
			"file":                 {"metadata_xml": "", "metadata_url": "file:///etc/passwd"},
			"no XML":               {"metadata_xml": "hello"},
			"another metadata":     {"metadata_xml": strings.ReplaceAll(metadata, "IDPSSODescriptor", "SPSSODescriptor")},
			"DOCTYPE":              {"metadata_xml": "<!DOCTYPE a>" + metadata},
			"name id format":       {"name_id_format": "email"},
			"long resource id":     {"resource_id": strings.Repeat("x", 256)},
			"resource id, U+0000":  {"resource_id": "a\x00"},
			"no domain":            {"domains": []string{"a b"}},
			"an empty domain":      {"domains": []string{""}},
			"many domains":         {"domains": make([]string, 201)},
			"mapping, U+0000":      {"attribute_mapping": map[string]any{"keys": map[string]any{"a": map[string]any{"default": "\x00"}}}},
			"mapping, too large":   {"attribute_mapping": map[string]any{"keys": map[string]any{"a": map[string]any{"name": strings.Repeat("x", maxMapping)}}}},
			"metadata with U+0000": {"metadata_xml": metadata + "\x00"},
		} {
			body := map[string]any{"type": "saml", "metadata_xml": metadata}
			for k, v := range change {
				body[k] = v
			}
			h.expect(name, h.call("POST", providersPath, h.service, object(body)), 400, "validation_failed")
		}
		h.expect("wrong kinds", h.call("POST", providersPath, h.service, `{"type":"saml","domains":"x"}`), 400, "bad_json")
		h.expect("a list with U+0000", h.call("GET", providersPath+"?resource_id=%00", h.service, ""), 400, "validation_failed")
		h.expect("nobody answers", h.call("POST", providersPath, h.service, `{"type":"saml","metadata_url":"http://127.0.0.1:1/metadata"}`), 400, "saml_metadata_fetch_failed")
		h.expect("too large", h.call("POST", providersPath, h.service, object(map[string]any{"metadata_xml": strings.Repeat("x", maxProviderBody)})), 413, "request_entity_too_large")
	})
}

// Proves S7-sso-11.
func TestSSOMetadataIsRefreshed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		young := samltest.New(t, "https://moving.example/metadata", true)
		var (
			served   atomic.Value
			requests atomic.Int32
		)
		served.Store(young.Metadata())
		idp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			text, _ := served.Load().(string)
			if text == "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte(text))
		}))
		defer idp.Close()
		r := h.call("POST", providersPath, h.service, object(map[string]any{"type": "saml", "metadata_url": idp.URL, "domains": []string{"moving.example"}}))
		if saml, _ := r.body["saml"].(map[string]any); r.status != 201 || saml["metadata_url"] != idp.URL || saml["metadata_xml"] != young.Metadata() {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		signIn := func(p *samltest.IdP) landing {
			s := h.start(map[string]any{"domain": "moving.example"})
			return h.post(s.relay, p.Draft(h.target(s.id)).Encode(t))
		}
		h.mustLand(signIn(young))
		if n := requests.Load(); n != 1 {
			t.Errorf("%d requests", n)
		}
		// The provider changes its key. After a day only the new key is accepted.
		next := samltest.New(t, young.EntityID, true)
		served.Store(next.Metadata())
		h.refused("the new key, too early", signIn(next), "validation_failed")
		h.clock.advance(25 * time.Hour)
		h.mustLand(signIn(next))
		h.refused("the old key", signIn(young), "validation_failed")
		if n := requests.Load(); n != 2 {
			t.Errorf("%d requests", n)
		}
		// A metadata URL that fails, or has the metadata of another provider, changes nothing, and is not read again for some time.
		for _, bad := range []string{"", "<x/>", samltest.New(t, "https://else.example", true).Metadata()} {
			served.Store(bad)
			before := requests.Load()
			h.clock.advance(25 * time.Hour)
			h.mustLand(signIn(next))
			h.mustLand(signIn(next))
			if n := requests.Load() - before; n != 1 {
				t.Errorf("%d requests", n)
			}
		}
	})
}
