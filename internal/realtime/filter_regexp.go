package realtime

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// This file compiles the operands of match and imatch, the filter operators whose operand is a regular expression (subscription_filter.go).
// In Supabase, PostgreSQL runs these expressions. Here Go does.

// Limits of the expressions. They are low because each change of the table is matched once for each subscriber.
const (
	maxPattern = 200  // characters
	maxProgram = 1000 // instructions of the compiled expression; each repetition counts
)

// matchPattern compiles a regular expression for match and imatch. It accepts only syntax that means the same in PostgreSQL and in
// RE2 (the syntax of Go's package regexp). If fold is true, the compiled expression ignores case.
func matchPattern(text string, fold bool) (*regexp.Regexp, error) {
	if n := utf8.RuneCountInString(text); n > maxPattern {
		return nil, fmt.Errorf("a pattern may have at most %d characters", maxPattern)
	}
	if err := checkPattern(text); err != nil {
		return nil, err
	}
	flags := syntax.Perl | syntax.DotNL // as in PostgreSQL: . matches any character, ^ and $ only the ends of the text
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be read", text)
	}
	program, err := syntax.Compile(tree.Simplify()) // compiled only to count its instructions
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be read", text)
	}
	if len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("the pattern %q is too costly", text)
	}
	prefix := "(?s)"
	if fold {
		prefix = "(?si)"
	}
	return regexp.Compile(prefix + "(?:" + text + ")")
}

// checkPattern returns an error for syntax that PostgreSQL and RE2 read differently, or that RE2 does not have:
//   - a backslash before a letter or digit other than d, w, s, D, W and S. For example, \b is a backspace in PostgreSQL and a word boundary
//     in RE2, and \1 is a back reference.
//   - "(?" other than "(?:", which begins options and lookaround
//   - named sets such as [:alpha:]
func checkPattern(text string) error {
	for i := 0; i < len(text); i++ {
		switch rest := text[i+1:]; text[i] {
		case '\\':
			if rest != "" && isWord(rest[0]) && !strings.ContainsRune("dwsDWS", rune(rest[0])) {
				return fmt.Errorf("the pattern %q has \\%c, which is not supported", text, rest[0])
			}
			i++
		case '(':
			if strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:") {
				return fmt.Errorf("the pattern %q has (? without a colon after it, which is not supported", text)
			}
		case '[':
			if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "=") {
				return fmt.Errorf("the pattern %q has a named set, which is not supported", text)
			}
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
