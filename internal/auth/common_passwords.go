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

// isCommonPassword reports whether commonPasswords contains a password. The password must be in lower case.
func isCommonPassword(password string) bool {
	_, found := slices.BinarySearch(commonPasswordList(), password)
	return found
}

// symbolsToLetters replaces digits and symbols with the letters that they often stand for: p@ssw0rd becomes password.
var symbolsToLetters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// maxIgnoredTail is how many digits and symbols isGuessable ignores at the end of a password such as Password2026!
const maxIgnoredTail = 5

// isGuessable reports whether a password is easy to guess. It ignores upper and lower case. These passwords are easy to guess:
//   - a common password, or a run of keys, letters or digits (isKeyboardRun) such as qwerty
//   - a common password or a run that is written twice, such as qwertyqwerty, or has digits and symbols at the end, such as qwerty2026!
//   - a common password with symbols in place of letters, such as p@ssw0rd
//   - one to four characters that are repeated, such as abcabcabc
func isGuessable(password string) bool {
	lower := strings.ToLower(strings.TrimSpace(password))
	if lower == "" {
		return false
	}
	if isCommonPassword(lower) || isKeyboardRun(lower) {
		return true
	}
	for length := 1; length <= 4; length++ {
		if isRepetition(lower, length) {
			return true
		}
	}
	half := lower[:len(lower)/2]
	isWrittenTwice := lower == half+half
	if isWrittenTwice && (isCommonPassword(half) || isKeyboardRun(half)) {
		return true
	}
	// The tail (the text after the last letter) is ignored if at least four bytes precede it. It must also have at most maxIgnoredTail
	// characters, or be a run such as 1234567.
	withoutTail := strings.TrimRightFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	tail := lower[len(withoutTail):]
	canIgnoreTail := utf8.RuneCountInString(tail) <= maxIgnoredTail || isKeyboardRun(strings.TrimRight(tail, "!.?*#"))
	core := lower
	if len(withoutTail) >= 4 && canIgnoreTail {
		core = withoutTail
	}
	return isCommonPassword(core) || isCommonPassword(symbolsToLetters.Replace(core)) || isCommonPassword(symbolsToLetters.Replace(lower)) || isKeyboardRun(core)
}

// keySequences are the sequences that isKeyboardRun looks for: digits, the alphabet, and rows and columns of keyboards.
var keySequences = []string{
	"01234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "qazwsxedcrfvtgbyhnujmik",
}

// isKeyboardRun reports whether text has six bytes or more and is a part of one of keySequences, forwards or backwards. A sequence may
// start again after its end: the digits any number of times, the others once.
func isKeyboardRun(text string) bool {
	if len(text) < 6 {
		return false
	}
	reversed := []byte(text)
	slices.Reverse(reversed)
	for _, sequence := range keySequences {
		extended := sequence + sequence
		if sequence[0] == '0' {
			extended = strings.Repeat("0123456789", 1+len(text)/10+1)
		}
		if strings.Contains(extended, text) || strings.Contains(extended, string(reversed)) {
			return true
		}
	}
	return false
}

// isRepetition reports whether text consists of its first length bytes, three times or more. The final repetition may be incomplete.
func isRepetition(text string, length int) bool {
	return len(text) >= 3*length && text[length:] == text[:len(text)-length]
}
