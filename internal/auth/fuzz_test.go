package auth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzAddressesOfPeople checks that normalizing an email address or a phone number a second time changes nothing. Otherwise a stored one
// might not be found again.
func FuzzAddressesOfPeople(f *testing.F) {
	for _, text := range []string{"Ines@Exemplo.example", " a@b.example ", `"a b"@c.example`, "A <a@b.example>", "a@b.example\r\nBcc: x@y.example", "K@k.example", "+351 912 345 678", "00351912345678", "1", "é@ü.example", "a@[127.0.0.1]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if email, err := normalizeEmail(text); err == nil {
			if again, err := normalizeEmail(email); err != nil || again != email {
				t.Errorf("%q becomes %q, and that %q (%v)", text, email, again, err)
			}
			if len(email) > maxEmailBytes || !utf8.ValidString(email) || strings.ContainsAny(email, "\r\n\x00") {
				t.Errorf("%q becomes %q", text, email)
			}
		}
		if phone, err := normalizePhone(text); err == nil {
			if again, err := normalizePhone("+" + phone); err != nil || again != phone || len(phone) > 15 {
				t.Errorf("%q becomes %q, and that %q (%v)", text, phone, again, err)
			}
		}
	})
}

// FuzzStoredHash checks that an imported hash cannot demand more memory or time than the limits, and that a parsed hash is written as it was
// read.
func FuzzStoredHash(f *testing.F) {
	for _, text := range []string{
		"$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$c29tZWtleXNvbWVrZXlzb21la2V5c29tZWtleXNvbWU", "$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$c29tZWtleXNvbWVrZXk",
		"$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$c29tZWtleXNvbWVrZXk", "$2a$10$x", "", "$$$$$", "$argon2id$v=19$m=8,t=1,p=0$c29tZXNhbHQ$c29tZWtleXNvbWVrZXk", "$argon2id$v=19$m=08,t=1,p=1$c29tZXNhbHQ$c29tZWtleXNvbWVrZXk",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseArgonHash(text)
		if err != nil {
			return
		}
		if a.memory > maxArgonMemory || a.time > maxArgonTime || a.threads < 1 || len(a.salt) < 8 || len(a.key) < 16 {
			t.Errorf("%q costs %s", text, a.costs())
		}
		if a.String() != text {
			t.Errorf("%q is written %q", text, a.String())
		}
	})
}

// FuzzAccountFields checks that metadata and bans are either rejected or can be stored.
func FuzzAccountFields(f *testing.F) {
	f.Add([]byte(`{"name":"Inês","a":[1,{"b":null}]}`), "1h")
	f.Add([]byte(`{"a":"\u0000"}`), "none")
	f.Add([]byte(strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200)), "-9223372036854775808ns")
	now := time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte, ban string) {
		var m map[string]any
		if json.Unmarshal(text, &m) == nil {
			if stored, err := encodeMetadata(m); err == nil && (!json.Valid([]byte(stored)) || !utf8.ValidString(stored) || containsNUL([]byte(stored))) {
				t.Errorf("%q is stored as %q", text, stored)
			}
		}
		until, given, err := parseBanDuration(ban, now)
		if err != nil && (until != nil || given) {
			t.Errorf("%q: %v, %v, %v", ban, until, given, err)
		}
		if until != nil && until.Year() < 0 {
			t.Errorf("%q ends in %v", ban, until)
		}
	})
}
