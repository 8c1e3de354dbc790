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

// phoneLengths maps each calling code to the numbers of digits that may follow it. The data is libphonenumber's; a test in
// web/src/features/admin-settings compares it with the library that the form uses.
//
//go:embed phone_lengths.json
var phoneLengths []byte

// lengthsByCode parses phoneLengths.
var lengthsByCode = sync.OnceValues(func() (lengths map[string][]int, err error) {
	return lengths, json.Unmarshal(phoneLengths, &lengths)
})

var phoneNumber = regexp.MustCompile(`^\+[\d ().-]+$`)

// e164 returns a phone number in E.164, such as +351912345678. ok is false if there is no country code, or if numbers of the
// country cannot have this many digits, because a number with a missing or extra digit can belong to somebody else. e164 does
// not check the country's number ranges; only the form does.
func e164(phone string) (number string, ok bool) {
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

// invalidWaMe reports whether u is a URL of wa.me with an invalid number (https://wa.me/<number>). Other URLs of
// WhatsApp have no fixed place for a number and are not checked.
func invalidWaMe(u *url.URL) bool {
	digits := strings.Trim(u.Path, "/")
	if u.Hostname() != "wa.me" || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	_, ok := e164("+" + digits)
	return !ok
}
