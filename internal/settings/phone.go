package settings

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file checks phone numbers, and converts them to E.164 (+, the country code and the number, without spaces).

// phoneLengths is a JSON object that maps each country code, such as 351, to the numbers of digits that may follow it. The data is that of
// libphonenumber. A test in web/src/features/admin-settings compares it with the library that the form uses.
//
//go:embed phone_lengths.json
var phoneLengths []byte

// lengthsByCode parses phoneLengths.
var lengthsByCode = sync.OnceValues(func() (lengths map[string][]int, err error) {
	err = json.Unmarshal(phoneLengths, &lengths)
	return lengths, err
})

// phoneNumber matches a number with a country code, in any usual way of writing it.
var phoneNumber = regexp.MustCompile(`^\+[\d ().-]+$`)

// toE164 converts a phone number to E.164: "+351 912 345 678" becomes "+351912345678". ok is false if the number has no country code, or
// has too few or too many digits for that country, because a mistyped number can belong to somebody else. Only the form also checks the
// number ranges of the country.
func toE164(phone string) (number string, ok bool) {
	if !phoneNumber.MatchString(phone) {
		return "", false
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
	lengths, err := lengthsByCode()
	if err != nil {
		return "", false
	}
	// A country code has one to three digits. No code is the beginning of another one.
	for codeLength := 1; codeLength <= min(3, len(digits)); codeLength++ {
		country, nationalLength := digits[:codeLength], len(digits)-codeLength
		if slices.Contains(lengths[country], nationalLength) {
			return "+" + digits, true
		}
	}
	return "", false
}

// isInvalidWaMe reports whether u is a URL of WhatsApp in the form https://wa.me/<number> whose number is invalid. Other URLs of WhatsApp
// have no fixed place for a number and are not checked.
func isInvalidWaMe(u *url.URL) bool {
	digits := strings.Trim(u.Path, "/")
	if u.Hostname() != "wa.me" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	_, ok := toE164("+" + digits)
	return !ok
}
