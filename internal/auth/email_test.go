package auth

import (
	"strings"
	"testing"

	"atelie/internal/apperr"
)

// Proves S5-rule-9.
func TestNormalizeEmail(t *testing.T) {
	longest := strings.Repeat("a", 64) + "@" + strings.Repeat("b.", 93) + "pt1"
	for in, want := range map[string]string{ // "" stands for an error
		"ines@example.pt": "ines@example.pt", "\t INES@Example.PT\n": "ines@example.pt", "a+b@localhost": "a+b@localhost",
		"josé@ateliê.pt": "josé@ateliê.pt", "JOSÉ@ateliê.pt": "josé@ateliê.pt", "mi\u212ae@example.pt": "mi\u212ae@example.pt", longest: longest,
		"": "", " ": "", "ines": "", "@example.pt": "", "ines@": "", "a b@example.pt": "", "Inês <ines@example.pt>": "", "<ines@example.pt>": "",
		"ines@example.pt, rui@example.pt": "", `"a b"@example.pt`: "", "ines@example.pt (home)": "", "nul\x00@example.pt": "", "ines@exa\nmple.pt": "",
		"a" + longest: "", "ines@@example.pt": "",
	} {
		got, err := normalizeEmail(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
		if err != nil && apperr.From(err).Code != "validation_failed" {
			t.Errorf("%q: %v", in, err)
		}
	}
	if len(longest) != 254 {
		t.Errorf("the longest address has %d bytes", len(longest))
	}
}
