package files

import (
	"strings"
	"testing"
)

// Proves F-upload-name.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"a", "a.jpg", "2026/praia/mar.webp", "Mural no Porto (2º esboço).jpg", "日本/絵.png", "a b+c&d=e@f,g;h:i'j!k$l*.jpg", "...", "a..b", "..a", "a.", ".hidden", "100%.jpg", "50%25.jpg",
		strings.Repeat("a", 1024), strings.Repeat("é", 512), "C:/x.jpg", "%41.jpg", "a?b#c.jpg",
	} {
		if !ValidName(name) {
			t.Errorf("%q was refused", name)
		}
	}
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "./a", "a/.", "a/./b", `a\b`, `..\a`, `\`, "a\x00.jpg", "a\nb", "a\r\nX: y", "a\x7f", "a\u0085b", "\xff\xfe", "a\xc3",
		strings.Repeat("a", 1025), strings.Repeat("é", 513),
		"%2e%2e/a", "a/%2e%2e/b", "%2E%2e%2Fetc%2fpasswd", "a%2f%2e%2e%2fb", "a%5cb", "a%00.jpg", "%2f", "a%2f", "%252e%252e/a", "a%252f..%252fb", "%25252e%25252e/x", "a%0ab",
	} {
		if ValidName(name) {
			t.Errorf("%q was accepted", name)
		}
	}
}
