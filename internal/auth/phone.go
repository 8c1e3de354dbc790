package auth

import (
	"regexp"
	"strings"
)

// A number in international form without the leading +, as the service keeps it (E.164).
var phonePattern = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// normalizePhone drops a leading + and blanks; errPhoneInvalid for what is no number then.
func normalizePhone(s string) (string, error) {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "+"), " ", "")
	if !phonePattern.MatchString(s) {
		return "", errPhoneInvalid.Becausef("%d characters", len(s))
	}
	return s, nil
}
