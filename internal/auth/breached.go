package auth

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// commonPasswords are passwords known from breaches, lower-case and sorted by bytes, one a line: Openwall's list of
// common passwords (public domain), and what breaches since have added, Portuguese ones among them.
//
//go:embed common_passwords.txt
var commonPasswords string

var commonList = sync.OnceValue(func() []string { return strings.Fields(commonPasswords) })

func isCommon(password string) bool {
	_, found := slices.BinarySearch(commonList(), password)
	return found
}

// plainLetters undoes the signs that people write for letters.
var plainLetters = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// longestTail is how many digits and signs at the end of a common password make no other password of it, in
// characters: Password2026!.
const longestTail = 5

// isBreached tells whether a password is a common one, perhaps in other case, with signs for letters, with a short
// tail, or twice; or one that a program tries first: a single character, a row of the keyboard, a run, a few
// characters over and over.
func isBreached(password string) bool {
	p := strings.ToLower(strings.TrimSpace(password))
	if p == "" {
		return false
	}
	if isCommon(p) || isRun(p) {
		return true
	}
	for length := 1; length <= 4; length++ {
		if repeats(p, length) {
			return true
		}
	}
	if half := p[:len(p)/2]; len(p)%2 == 0 && p == half+half && (isCommon(half) || isRun(half)) {
		return true
	}
	head := strings.TrimRightFunc(p, func(r rune) bool { return !unicode.IsLetter(r) })
	tail := p[len(head):]
	if len(head) < 4 || utf8.RuneCountInString(tail) > longestTail && !isRun(strings.TrimRight(tail, "!.?*#")) {
		head = p
	}
	return isCommon(head) || isCommon(plainLetters.Replace(head)) || isCommon(plainLetters.Replace(p)) || isRun(head)
}

// rows are what fingers walk along.
var rows = []string{
	"01234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
	"1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "qazwsxedcrfvtgbyhnujmik",
}

// isRun is true for six characters or more of a row, forwards or backwards; digits may go round.
func isRun(p string) bool {
	if len(p) < 6 {
		return false
	}
	b := []byte(p)
	slices.Reverse(b)
	for _, row := range rows {
		long := row + row
		if row[0] == '0' {
			long = strings.Repeat("0123456789", 1+len(p)/10+1)
		}
		if strings.Contains(long, p) || strings.Contains(long, string(b)) {
			return true
		}
	}
	return false
}

// repeats is true for the same length bytes three times or more, the last of them perhaps cut short.
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
