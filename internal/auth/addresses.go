package auth

import (
	"net/mail"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxEmailBytes = 254 // RFC 5321 §4.5.3.1.3

// normalizeEmail returns an address in the form in which accounts store it: trimmed and in lower case. It returns
// errEmailInvalid for anything but a plain address, for example with a display name, a comment or quotes.
func normalizeEmail(s string) (string, error) {
	s = strings.Map(lowerRune, strings.TrimSpace(s))
	if len(s) > maxEmailBytes {
		return "", errEmailInvalid.Becausef("%d bytes", len(s))
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil {
		return "", errEmailInvalid.Becausef("no address") // without the parser's error: it quotes the input, which would reach the log
	}
	if parsed.Address != s {
		return "", errEmailInvalid.Becausef("more than an address")
	}
	return s, nil
}

// lowerRune is unicode.ToLower, except that letters stay unchanged whose lower case is an ASCII letter (the Kelvin sign, the
// dotted I). Otherwise the addresses of two different mailboxes would become one account.
func lowerRune(r rune) rune {
	if small := unicode.ToLower(r); r < utf8.RuneSelf || small >= utf8.RuneSelf {
		return small
	}
	return r
}

// phonePattern matches a phone number as accounts store it: E.164 without the leading +.
var phonePattern = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// normalizePhone removes a leading + and spaces. It returns errPhoneInvalid when the rest is no phone number.
func normalizePhone(s string) (string, error) {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "+"), " ", "")
	if !phonePattern.MatchString(s) {
		return "", errPhoneInvalid.Becausef("%d characters", len(s))
	}
	return s, nil
}
