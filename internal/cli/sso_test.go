package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/auth/saml/samltest"
)

// Proves S7-sso-7.
func TestIdentityProvidersAreManaged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ATELIE_SITE_URL", "https://ines.example")
	info := atelie(t, dir, "", "sso", "info")
	for _, want := range []string{"https://ines.example/auth/v1/sso/saml/metadata", "https://ines.example/auth/v1/sso/saml/acs", "ATELIE_SAML=on"} {
		if info.code != 0 || !strings.Contains(info.out, want) {
			t.Errorf("%s is missing: %+v", want, info)
		}
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	metadata := file("idp.xml", samltest.New(t, "https://idp.example/metadata", true).Metadata())
	mapping := file("mapping.json", `{"keys":{"name":{"name":"cn"}}}`)
	added := atelie(t, dir, "", "sso", "add", "--metadata-file", metadata, "--domain", "corp.example", "--domain", "corp.test", "--attribute-mapping", mapping,
		"--name-id-format", "email", "--resource-id", "corp")
	id, entity, ok := strings.Cut(strings.TrimSpace(added.out), "\t")
	if added.code != 0 || !ok || entity != "https://idp.example/metadata" || !strings.Contains(added.err, "ATELIE_SIGNUP=open") || !strings.Contains(added.err, "ATELIE_SAML=on") {
		t.Fatalf("got %+v", added)
	}
	if list := atelie(t, dir, "", "sso", "list"); list.out != id+"\tenabled\thttps://idp.example/metadata\tcorp.example,corp.test\n" {
		t.Errorf("got %+v", list)
	}
	for _, name := range []string{id, "resource_corp"} {
		if stored := atelie(t, dir, "", "sso", "info", name); stored.code != 0 || !strings.Contains(stored.out, `"name": "cn"`) || !strings.Contains(stored.out, "nameid-format:emailAddress") {
			t.Errorf("got %+v", stored)
		}
	}
	empty, noise := file("empty", ""), file("noise", "hello")
	for _, c := range []struct {
		code int // exit code
		args []string
	}{
		{2, []string{"add"}}, {2, []string{"add", "--metadata-file", metadata, "--metadata-url", "https://idp.example"}}, {2, []string{"add", "--metadata-file", "nowhere"}},
		{2, []string{"add", "--metadata-file", metadata, "--name-id-format", "x"}}, {2, []string{"remove"}},
		{1, []string{"add", "--metadata-file", metadata}}, {1, []string{"add", "--metadata-file", empty}}, {1, []string{"add", "--metadata-file", noise}},
		{1, []string{"add", "--metadata-file", metadata, "--attribute-mapping", noise}}, {1, []string{"add", "--metadata-url", "http://idp.example"}},
		{1, []string{"remove", "x"}}, {1, []string{"info", "x"}},
	} {
		if r := atelie(t, dir, "", append([]string{"sso"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, "atelie:") {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
	if r := atelie(t, dir, "", "sso", "remove", "resource_corp"); r.code != 0 || !strings.Contains(r.out, "https://idp.example/metadata") {
		t.Errorf("got %+v", r)
	}
	if list := atelie(t, dir, "", "sso", "list"); list.code != 0 || list.out != "" {
		t.Errorf("got %+v", list)
	}
}

func TestSSOKeyIsRenewed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ATELIE_SITE_URL", "https://ines.example")
	t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("a", 40))
	if r := atelie(t, dir, "", "sso", "info"); r.code != 0 {
		t.Fatalf("got %+v", r)
	}
	execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "update auth_sso_keys set sealed_key = 'damaged'") // it cannot be decrypted any more
	if r := atelie(t, dir, "", "sso", "info"); r.code != 1 || !strings.Contains(r.err, "secret") {
		t.Errorf("%+v", r)
	}
	if r := atelie(t, dir, "", "sso", "renew-key"); r.code != 0 || !strings.Contains(r.out, "https://ines.example/auth/v1/sso/saml/metadata") {
		t.Errorf("%+v", r)
	}
	if r := atelie(t, dir, "", "sso", "info"); r.code != 0 {
		t.Errorf("%+v", r)
	}
}
