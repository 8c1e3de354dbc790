package db

import (
	sqldriver "database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file folds texts (converts them to lower case) for case-insensitive search, with the same result on both engines.

// lowerOf maps upper-case letters to lower-case ones. The list is fixed, because the engines have different rules: those of PostgreSQL
// depend on the server's locale, those of SQLite cover only ASCII. The letter İ is left out, because its lower-case form is the ASCII
// letter i, and FoldTranslation maps letters outside ASCII only to letters outside ASCII.
var lowerOf = func() map[rune]rune {
	table := make(map[rune]rune)
	// The ranges of code points: ASCII; Latin-1 and Latin Extended-A; Greek; Cyrillic.
	for _, block := range [][2]rune{{'A', 'Z'}, {0x00C0, 0x017F}, {0x0370, 0x03FF}, {0x0400, 0x045F}} {
		for r := block[0]; r <= block[1]; r++ {
			if l := unicode.ToLower(r); l != r && r != 'İ' {
				table[r] = l
			}
		}
	}
	return table
}()

// Fold converts s to lower case by lowerOf. Letters that lowerOf does not list stay as they are.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if l, ok := lowerOf[r]; ok {
			return l
		}
		return r
	}, s)
}

// FoldTranslation returns the last two arguments of the SQL expression translate(lower(column), upper, lower). The expression folds a
// column for a comparison with pattern. pattern must be folded already. SQL's lower() folds only ASCII, so translate() folds the rest:
// upper has the non-ASCII upper-case letters whose lower-case form occurs in pattern, and lower has these forms in the same order. For the
// pattern "ateliê", upper is "Ê" and lower is "ê".
func FoldTranslation(pattern string) (upper, lower string) {
	var uppers, lowers strings.Builder
	for _, u := range slices.Sorted(maps.Keys(lowerOf)) { // sorted, so that equal patterns give equal statements
		if l := lowerOf[u]; l >= utf8.RuneSelf && strings.ContainsRune(pattern, l) {
			uppers.WriteRune(u)
			lowers.WriteRune(l)
		}
	}
	return uppers.String(), lowers.String()
}

// init adds PostgreSQL's translate(text, from, to) to SQLite, for from and to of equal length.
func init() {
	registerFunction("translate", 3, func(args []string) (sqldriver.Value, error) {
		from, to := []rune(args[1]), []rune(args[2])
		if len(from) != len(to) {
			return nil, fmt.Errorf("translate takes lists of equal length, not %q and %q", args[1], args[2])
		}
		return strings.Map(func(r rune) rune {
			if i := slices.Index(from, r); i >= 0 {
				return to[i]
			}
			return r
		}, args[0]), nil
	})
}
