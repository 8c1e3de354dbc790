package auth

import (
	"net/mail"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file validates and normalizes e-mail addresses and phone numbers.

// maxEmailBytes is the length of the longest accepted e-mail address (RFC 5321 §4.5.3.1.3).
const maxEmailBytes = 254

// normalizeEmail returns an e-mail address in the form in which accounts store it: trimmed and in lower case. It returns
// errEmailInvalid for text that is not a bare address, for example for an address with a display name, a comment or quotes.
func normalizeEmail(s string) (string, error) {
	s = strings.Map(lowerRune, strings.TrimSpace(s))
	if len(s) > maxEmailBytes {
		return "", errEmailInvalid.Becausef("%d bytes", len(s))
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil {
		return "", errEmailInvalid.Becausef("no address") // the parser's error quotes the address, which must not be logged
	}
	if parsed.Address != s {
		return "", errEmailInvalid.Becausef("more than an address")
	}
	return s, nil
}

// normalizeAddresses normalizes an e-mail address and a phone number in place. It ignores "".
func normalizeAddresses(email, phone *string) (err error) {
	if *email != "" {
		if *email, err = normalizeEmail(*email); err != nil {
			return err
		}
	}
	if *phone != "" {
		*phone, err = normalizePhone(*phone)
	}
	return err
}

// lowerRune returns r in lower case. A non-ASCII character whose lower case is an ASCII letter stays unchanged: the Kelvin sign
// (U+212A) and the dotted capital I (U+0130) would become k and i, and two different addresses would be equal.
func lowerRune(r rune) rune {
	if lower := unicode.ToLower(r); r < utf8.RuneSelf || lower >= utf8.RuneSelf {
		return lower
	}
	return r
}

// phonePattern matches a phone number as accounts store it, such as 351912345678: the international format (E.164) without the leading +.
var phonePattern = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// normalizePhone returns a phone number without a leading + and without spaces. It returns errPhoneInvalid when the result does
// not match phonePattern.
func normalizePhone(s string) (string, error) {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "+"), " ", "")
	if !phonePattern.MatchString(s) {
		return "", errPhoneInvalid.Becausef("%d characters", len(s))
	}
	return s, nil
}
