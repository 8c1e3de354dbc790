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
	return lengths, json.Unmarshal(phoneLengths, &lengths)
})

// phoneNumber matches a number with a country code, in any usual way of writing it.
var phoneNumber = regexp.MustCompile(`^\+[\d ().-]+$`)

// toE164 converts a phone number to E.164, such as +351912345678. ok is false if the number has no country code, or has too few or too many
// digits for that country, because a number with a wrong digit can belong to somebody else. The number ranges of the country are checked by
// the form, but not here.
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
	for code := 1; code <= min(3, len(digits)); code++ {
		if national := len(digits) - code; slices.Contains(lengths[digits[:code]], national) {
			return "+" + digits, true
		}
	}
	return "", false
}

// isInvalidWaMe reports whether u is a URL of wa.me with an invalid number (https://wa.me/<number>). Other URLs of
// WhatsApp have no fixed place for a number and are not checked.
func isInvalidWaMe(u *url.URL) bool {
	digits := strings.Trim(u.Path, "/")
	if u.Hostname() != "wa.me" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	_, ok := toE164("+" + digits)
	return !ok
}
