package functions

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file validates the fields of the contact form, by the same rules as the site's script (web/src/features/contact/schema.ts).

// Limits of the lengths of fields. They are in code points unless the comment says bytes. White space at both ends does not count.
const (
	minName        = 2
	maxName        = 100
	maxEmail       = 254 // bytes
	minMessage     = 10
	maxMessage     = 5000
	maxHiddenField = 1000 // of the hidden field (see reasons in submit_contact.go); the rest of a longer text is not stored
)

// emailPattern matches a valid e-mail address of a visitor. It is the pattern of zod, the library with which the site's script
// checks the form. It matches fewer addresses than RFC 5321 allows.
var emailPattern = regexp.MustCompile(`^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`)

// problem is a mistake in a field of the form.
type problem struct {
	field string // name of the field
	key   string // key of the text about the mistake in package i18n
}

// normalizeAndValidate trims the fields. In the message it changes line ends to \n and tabs to spaces, because pasted text contains them.
// Then it returns the problems of the fields in the order of the form, at most one for each field. Other control characters are a problem.
func (req *contactRequest) normalizeAndValidate() (problems []problem) {
	req.Name, req.Email, req.Reason = trimSpace(req.Name), trimSpace(req.Email), trimSpace(req.Reason)
	req.Message = normalizeText(req.Message)
	add := func(field, key string) { problems = append(problems, problem{field, key}) }
	switch length := utf8.RuneCountInString(req.Name); {
	case strings.ContainsFunc(req.Name, unicode.IsControl):
		add("name", "contact.error.nameSigns")
	case length < minName:
		add("name", "contact.error.name")
	case length > maxName:
		add("name", "contact.error.nameLong")
	}
	if len(req.Email) > maxEmail || !emailPattern.MatchString(req.Email) { // the pattern allows only ASCII
		add("email", "contact.error.email")
	}
	switch length := utf8.RuneCountInString(req.Message); {
	case hasControl(req.Message):
		add("message", "contact.error.messageSigns")
	case length < minMessage:
		add("message", "contact.error.message")
	case length > maxMessage:
		add("message", "contact.error.messageLong")
	}
	return problems
}

// trimSpace trims white space and the byte order mark, as JavaScript's trim does in the site's form.
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// isLine reports whether a text is one line of at most limit characters.
func isLine(text string, limit int) bool {
	return utf8.RuneCountInString(text) <= limit && !strings.ContainsFunc(text, unicode.IsControl)
}

// sanitize truncates a text to maxHiddenField characters, and removes its control characters.
func sanitize(s string) string {
	length := 0
	return strings.Map(func(r rune) rune {
		if length++; length > maxHiddenField || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
