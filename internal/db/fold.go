package db

import (
	sqldriver "database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"modernc.org/sqlite"
)

// folds maps the capitals that searching without regard to case treats as their small letters: ASCII, the accented
// Latin letters of Europe, Greek and Cyrillic. It is a fixed list because the engines' own rules depend on the server's
// locale; without İ, whose small letter would be ASCII.
var folds = func() map[rune]rune {
	table := make(map[rune]rune)
	for _, block := range [][2]rune{{'A', 'Z'}, {0x00C0, 0x017F}, {0x0370, 0x03FF}, {0x0400, 0x045F}} {
		for r := block[0]; r <= block[1]; r++ {
			if l := unicode.ToLower(r); l != r && r != 'İ' {
				table[r] = l
			}
		}
	}
	return table
}()

// Fold writes the capitals of s small.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if l, ok := folds[r]; ok {
			return l
		}
		return r
	}, s)
}

// FoldLetters gives the capitals, and their small letters one for one, that SQL must translate behind lower() in a text
// to match it with a folded pattern: those of the pattern's letters beyond ASCII, where lower() ends on both engines
// (PostgreSQL: collation "C"). All others can only meet a wildcard.
func FoldLetters(pattern string) (capitals, small string) {
	var from, to strings.Builder
	for _, capital := range slices.Sorted(maps.Keys(folds)) { // always in the same order, for equal statements
		if small := folds[capital]; small >= utf8.RuneSelf && strings.ContainsRune(pattern, small) {
			from.WriteRune(capital)
			to.WriteRune(small)
		}
	}
	return from.String(), to.String()
}

// init gives SQLite PostgreSQL's translate(text, from, to), for lists of equal length.
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("translate", 3, func(_ *sqlite.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		if args[0] == nil {
			return nil, nil
		}
		text, ok := args[0].(string)
		from, ok2 := args[1].(string)
		to, ok3 := args[2].(string)
		if !ok || !ok2 || !ok3 {
			return nil, fmt.Errorf("translate takes texts, not %T, %T, %T", args[0], args[1], args[2])
		}
		capitals, small := []rune(from), []rune(to)
		if len(capitals) != len(small) {
			return nil, fmt.Errorf("translate takes lists of equal length, not %q and %q", from, to)
		}
		pairs := make(map[rune]rune, len(small))
		for i, r := range capitals {
			pairs[r] = small[i]
		}
		return strings.Map(func(r rune) rune {
			if l, found := pairs[r]; found {
				return l
			}
			return r
		}, text), nil
	})
}
