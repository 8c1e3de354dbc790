package auth

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// This file recognizes passwords that are easy to guess. A new password of this kind is refused.

// commonPasswords is a list of passwords known from breaches: one per line, in lower case, sorted by bytes. It contains
// Openwall's list of common passwords (public domain) and passwords of later breaches, also Portuguese ones.
//
//go:embed common_passwords.txt
var commonPasswords string

// commonPasswordList returns the lines of commonPasswords.
var commonPasswordList = sync.OnceValue(func() []string { return strings.Fields(commonPasswords) })

// isCommon reports whether commonPasswords contains a password. The password must be in lower case.
func isCommon(password string) bool {
	_, found := slices.BinarySearch(commonPasswordList(), password)
	return found
}

// symbolsToLetters replaces digits and symbols with the letters that they often stand for: p@ssw0rd becomes password.
var symbolsToLetters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// maxIgnoredTail is how many digits and symbols isGuessable ignores at the end of a password such as Password2026!
const maxIgnoredTail = 5

// isGuessable reports whether a password is easy to guess. It ignores upper and lower case. These passwords are easy to guess:
//   - a common password, or a run of keys, letters or digits (isKeyboardRun) such as qwerty
//   - one of these two written twice, such as qwertyqwerty, or with digits and symbols at the end, such as qwerty2026!
//   - a common password with symbols in place of letters, such as p@ssw0rd
//   - one to four characters that are repeated, such as abcabcabc
func isGuessable(password string) bool {
	p := strings.ToLower(strings.TrimSpace(password))
	if p == "" {
		return false
	}
	if isCommon(p) || isKeyboardRun(p) {
		return true
	}
	for length := 1; length <= 4; length++ {
		if repeats(p, length) {
			return true
		}
	}
	half := p[:len(p)/2]
	isWrittenTwice := p == half+half
	if isWrittenTwice && (isCommon(half) || isKeyboardRun(half)) {
		return true
	}
	// The tail (the text after the last letter) is ignored if it has at most maxIgnoredTail characters or is a run such as 1234567, and if
	// at least four bytes are left.
	withoutTail := strings.TrimRightFunc(p, func(r rune) bool { return !unicode.IsLetter(r) })
	tail := p[len(withoutTail):]
	ignoresTail := utf8.RuneCountInString(tail) <= maxIgnoredTail || isKeyboardRun(strings.TrimRight(tail, "!.?*#"))
	core := p
	if len(withoutTail) >= 4 && ignoresTail {
		core = withoutTail
	}
	return isCommon(core) || isCommon(symbolsToLetters.Replace(core)) || isCommon(symbolsToLetters.Replace(p)) || isKeyboardRun(core)
}

// keySequences are the sequences that isKeyboardRun looks for: digits, the alphabet, and rows and columns of keyboards.
var keySequences = []string{
	"01234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
	"1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "qazwsxedcrfvtgbyhnujmik",
}

// isKeyboardRun reports whether p has six bytes or more and is a part of one of keySequences, forwards or backwards. After its end
// a sequence continues with its beginning: once, or for digits without end.
func isKeyboardRun(p string) bool {
	if len(p) < 6 {
		return false
	}
	b := []byte(p)
	slices.Reverse(b)
	for _, sequence := range keySequences {
		extended := sequence + sequence
		if sequence[0] == '0' {
			extended = strings.Repeat("0123456789", 1+len(p)/10+1)
		}
		if strings.Contains(extended, p) || strings.Contains(extended, string(b)) {
			return true
		}
	}
	return false
}

// repeats reports whether p consists of its first length bytes, three times or more. The final repetition may be incomplete.
func repeats(p string, length int) bool {
	if len(p) < 3*length {
		return false
	}
	for i := length; i < len(p); i++ {
		if p[i] != p[i-length] {
			return false
		}
	}
	return true
}
