package functions

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzMessage checks that an accepted message can be stored, mailed and shown, and that normalizing it twice changes nothing.
func FuzzMessage(f *testing.F) {
	f.Add("Inês", "ines@exemplo.example", "A message that is long enough", "general")
	f.Add("a\x00b", "a@b", "\r\n\t\xff", "\xff")
	f.Add("İı", "ines@exemplo.example\r\nBcc: x@y.example", strings.Repeat("é", maxMessage+1), strings.Repeat("a", maxHiddenField+1))
	f.Fuzz(func(t *testing.T, name, address, message, reason string) {
		if !utf8.ValidString(name + address + message + reason) {
			return // JSON and forms are converted to valid UTF-8 before
		}
		req := contactRequest{Name: name, Email: address, Message: message, Reason: reason}
		if kept := sanitize(reason); utf8.RuneCountInString(kept) > maxHiddenField || strings.ContainsFunc(kept, unicode.IsControl) {
			t.Errorf("%q is kept as %q", reason, kept)
		}
		if len(req.normalizeAndValidate()) > 0 {
			return
		}
		once := req
		if problems := req.normalizeAndValidate(); len(problems) > 0 || req != once {
			t.Errorf("%+v becomes %+v: %v", once, req, problems)
		}
		if strings.ContainsFunc(req.Name+req.Email, unicode.IsControl) || strings.ContainsAny(req.Message, "\r\t\x00") || utf8.RuneCountInString(req.Message) > maxMessage {
			t.Errorf("got %+v", req)
		}
	})
}
