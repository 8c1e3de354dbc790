package saml

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// crewjam/saml requires a version of goxmldsig whose signatures can be bypassed (CVE-2026-33487). This module's go.mod
// requires a newer version. Only this test would fail if somebody removed that requirement.
func TestSignaturesAreCheckedByAFixedVersion(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-print").Output()
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\s*(?:require )?github\.com/russellhaering/goxmldsig (v\S+)$`).FindSubmatch(out)
	if direct == nil {
		t.Fatal("go.mod does not require goxmldsig directly")
	}
	used, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{with .Replace}}{{.}}{{end}}", "github.com/russellhaering/goxmldsig").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{string(direct[1]), strings.TrimSpace(string(used))} {
		if !regexp.MustCompile(`^v1\.([6-9]|[1-9]\d+)\.\d+$`).MatchString(version) {
			t.Errorf("goxmldsig %s: at least v1.6.0 is needed", version)
		}
	}
}
