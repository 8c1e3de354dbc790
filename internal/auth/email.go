package auth

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxEmailBytes = 254 // RFC 5321 §4.5.3.1.3, READING §3.28

// normalizeEmail trims and lower-cases an address, as it is stored and looked up; it returns errEmailInvalid for what
// is no plain address (no display name, comment or quoting).
func normalizeEmail(s string) (string, error) {
	s = strings.Map(lower, strings.TrimSpace(s))
	if len(s) > maxEmailBytes {
		return "", errEmailInvalid.Becausef("%d bytes", len(s))
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil {
		return "", errEmailInvalid.Becausef("no address") // the parser's error quotes what was typed, and the log keeps it
	}
	if parsed.Address != s {
		return "", errEmailInvalid.Becausef("more than an address")
	}
	return s, nil
}

// lower is unicode.ToLower without the letters that it turns into plain ones (the Kelvin sign, the dotted I): two
// mailboxes must not become one account.
func lower(r rune) rune {
	if small := unicode.ToLower(r); r < utf8.RuneSelf || small >= utf8.RuneSelf {
		return small
	}
	return r
}
