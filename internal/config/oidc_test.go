package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Proves S7-oauth-6, A-set-11.
func TestProvidersAreFoundByTheirVariables(t *testing.T) {
	var file any
	if err := json.Unmarshal([]byte(`{"google":{"client-id":"from-file","client-secret":"file-secret"},"house":{"scopes":"groups"}}`), &file); err != nil {
		t.Fatal(err)
	}
	cfg := valid()
	err := cfg.LoadOIDC([]string{
		"PATH=/bin", "ATELIE_SITE_URL=https://a.example", "ATELIE_OIDC_GOOGLE_CLIENT_ID=web.apps, ios.apps", "ATELIE_OIDC_MY_CLIENT_ID_HOUSE_ISSUER=https://id.example/a=b",
		"ATELIE_OIDC_HOUSE_CLIENT_ID=atelie", "ATELIE_OIDC_HOUSE_ISSUER= https://id.house.example ", "ATELIE_OIDC_EMPTY_ISSUER=",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, o := range cfg.OIDC {
		names = append(names, o.Name)
	}
	if strings.Join(names, " ") != "google house my_client_id_house" {
		t.Fatalf("got %v", names)
	}
	google, house := cfg.OIDC[0], cfg.OIDC[1]
	if !slices.Equal(google.ClientIDs, []string{"web.apps", "ios.apps"}) || google.ClientSecret != "file-secret" || google.Issuer != "" {
		t.Errorf("google: %+v", google)
	}
	if house.Issuer != "https://id.house.example" || !slices.Equal(house.Scopes, []string{"groups"}) || cfg.OIDC[2].Issuer != "https://id.example/a=b" {
		t.Errorf("house: %+v", house)
	}
	want := []Setting{
		{"oidc-google-client-id", "web.apps, ios.apps", "environment ATELIE_OIDC_GOOGLE_CLIENT_ID", false},
		{"oidc-google-client-secret", "file-secret", "file", true},
	}
	if !slices.Equal(google.Shown, want) {
		t.Errorf("shown: %+v", google.Shown)
	}
}

// Proves A-set-11.
func TestMisspeltProviderSettingsStopTheStart(t *testing.T) {
	for _, c := range []struct {
		environ []string
		file    string
		want    string
	}{
		{[]string{"ATELIE_OIDC_GOOGLE_CLIENTID=x"}, "", "oidc: ATELIE_OIDC_GOOGLE_CLIENTID is not a setting"},
		{[]string{"ATELIE_OIDC_=x"}, "", "oidc: ATELIE_OIDC_ is not a setting"},
		{nil, `"google"`, `config: "oidc" must be an object`},
		{nil, `{"google":"x"}`, `config: oidc "google" must be an object`},
		{nil, `{"google":{"client_id":"x"}}`, `config: oidc "google": "client_id" is not a setting`},
		{nil, `{"google":{"client-id":7}}`, `config: oidc "google": "client-id" is not a setting with a text`},
	} {
		var file any
		if c.file != "" {
			if err := json.Unmarshal([]byte(c.file), &file); err != nil {
				t.Fatal(err)
			}
		}
		cfg := valid()
		if err := cfg.LoadOIDC(c.environ, file); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v %s: %v", c.environ, c.file, err)
		}
	}
}

// Proves A-set-11.
func TestInvalidProviders(t *testing.T) {
	for _, c := range []struct {
		set  OIDC
		want string
	}{
		{OIDC{Name: "google", ClientIDs: []string{"x"}}, ""},
		{OIDC{Name: "apple", ClientIDs: []string{"x"}, TeamID: "T", KeyID: "K", ClientSecret: "pem"}, ""},
		{OIDC{Name: "house", ClientIDs: []string{"x"}, Issuer: "http://127.0.0.1:3000"}, ""},
		{OIDC{Name: "google"}, "oidc-google: the client id is missing"},
		{OIDC{Name: "house", ClientIDs: []string{"x"}}, "oidc-house: the issuer is missing"},
		{OIDC{Name: "house", ClientIDs: []string{"x"}, Issuer: "http://id.example"}, "oidc-house: the issuer"},
		{OIDC{Name: "house", ClientIDs: []string{"x"}, Issuer: "https://me:me@id.example"}, "oidc-house: the issuer"},
		{OIDC{Name: "github", ClientIDs: []string{"x"}}, "oidc-github: the client secret is missing"},
		{OIDC{Name: "apple", ClientIDs: []string{"x"}, TeamID: "T"}, "oidc-apple: the team id"},
		{OIDC{Name: "google", ClientIDs: []string{"x"}, KeyID: "K"}, "oidc-google: only apple"},
		{OIDC{Name: "email", ClientIDs: []string{"x"}, Issuer: "https://id.example"}, "oidc-email: this name"},
		{OIDC{Name: "_", ClientIDs: []string{"x"}, Issuer: "https://id.example"}, "oidc-_: the name"},
	} {
		cfg := valid()
		cfg.OIDC = []OIDC{c.set}
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.set, err)
		}
	}
}
