package realtime

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// This file compiles the patterns of the filter operators match and imatch (subscription_filter.go). These patterns are regular expressions.
// In Supabase, PostgreSQL matches them. Here Go does.

// Limits of a pattern. They are low because each change of the table is matched once for each subscriber.
const (
	maxPattern = 200  // characters
	maxProgram = 1000 // instructions of the compiled pattern; a{100} has about 100 times those of a
)

// compileRegexp compiles a pattern for match, or for imatch if ignoreCase is true. It accepts only syntax that means the same in PostgreSQL
// and in RE2 (the syntax of Go's package regexp).
func compileRegexp(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	if n := utf8.RuneCountInString(pattern); n > maxPattern {
		return nil, fmt.Errorf("a pattern may have at most %d characters", maxPattern)
	}
	if err := checkRegexp(pattern); err != nil {
		return nil, err
	}
	flags := syntax.Perl | syntax.DotNL // as in PostgreSQL: . matches any character, ^ and $ only the ends of the string
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be read", pattern)
	}
	program, err := syntax.Compile(tree.Simplify()) // compiled only to count its instructions
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be read", pattern)
	}
	if len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("the pattern %q is too costly", pattern)
	}
	prefix := "(?s)" // the flags again, because regexp.Compile has no parameter for them
	if ignoreCase {
		prefix = "(?si)"
	}
	return regexp.Compile(prefix + "(?:" + pattern + ")")
}

// checkRegexp returns an error for syntax that PostgreSQL and RE2 read differently, or that RE2 does not have:
//   - a backslash before a letter, digit or underscore, except \d, \w, \s, \D, \W and \S. For example, \b is a backspace in PostgreSQL and a
//     word boundary in RE2, and \1 is a back reference.
//   - options and lookaround. They begin with "(?", so only "(?:" is allowed, which begins a group.
//   - POSIX character classes such as [:alpha:], collating elements such as [.a.] and equivalence classes such as [=a=]
func checkRegexp(pattern string) error {
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i+1:]; pattern[i] {
		case '\\':
			if rest != "" && isWord(rest[0]) && !strings.ContainsRune("dwsDWS", rune(rest[0])) {
				return fmt.Errorf("the pattern %q has \\%c, which is not supported", pattern, rest[0])
			}
			i++
		case '(':
			if strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:") {
				return fmt.Errorf("the pattern %q has (? without a colon after it, which is not supported", pattern)
			}
		case '[':
			if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "=") {
				return fmt.Errorf("the pattern %q has a named set, which is not supported", pattern)
			}
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
