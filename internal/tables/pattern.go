package tables

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file checks the patterns of match and imatch, two filter operators of PostgREST. The patterns are regular expressions. imatch ignores
// case. PostgreSQL matches them itself; on SQLite, Go does. So this file allows only syntax that means the same in PostgreSQL and in Go:
//   - plain characters, and "." (which matches line ends too)
//   - ^ and $ (beginning and end of the whole text)
//   - sets with ranges, such as [a-z]
//   - the classes \d \w \s and \D \W \S, for ASCII characters
//   - groups, | and the quantifiers * + ? {n} {n,} {n,m}
//
// Syntax that PostgreSQL rejects too gives error 2201B. Syntax that only PostgreSQL accepts (back references, lookaround, lazy
// quantifiers, POSIX character classes such as [:alpha:], word boundaries) gives error 0A000.

// Limits of a pattern.
const (
	maxPattern      = 200  // length in code points
	maxPatternDepth = 10   // levels of nested groups
	maxRepeat       = 100  // maximum number in {n,m}
	maxPatternSize  = 1000 // number of single characters after all repeats are written out
)

// classes maps the letters of \d, \s and \w to the characters that they match, in the form of a set without its brackets.
var classes = map[rune]string{'d': "0-9", 's': " \t\n\v\f\r", 'w': "0-9A-Za-z_"}

// patternParser parses one pattern. Its read methods return out, the converted part, and size, the number of single characters
// in that part after all repeats are written out.
type patternParser struct {
	text []rune
	pos  int   // index in text of the next character
	fold bool  // the pattern is for texts that db.Fold has converted to lower case
	err  error // the first error; after it the parser is at the end of text
}

// fail records an error, unless there is one already, and ends the parsing.
func (p *patternParser) fail(err error) {
	if p.err == nil {
		p.err, p.pos = err, len(p.text)
	}
}

// convertPattern converts a pattern to a form that PostgreSQL and Go interpret in the same way. If fold is true, the result is
// for texts that db.Fold has converted to lower case.
func convertPattern(text string, fold bool) (string, error) {
	p := &patternParser{text: []rune(text), fold: fold}
	if len(p.text) > maxPattern {
		return "", errQuery("a regular expression may have at most " + strconv.Itoa(maxPattern) + " characters")
	}
	if len(p.text) == 0 {
		return "", nil
	}
	out, size := p.readAlternatives(0)
	switch {
	case !p.atEnd():
		p.fail(errPattern("parentheses () not balanced"))
	case size > maxPatternSize:
		p.fail(errPattern("regular expression is too complex"))
	}
	return out, p.err
}

// peek returns the next character, or utf8.RuneError at the end.
func (p *patternParser) peek() rune {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return utf8.RuneError
}

func (p *patternParser) atEnd() bool { return p.pos == len(p.text) }

func (p *patternParser) skip(r rune) bool {
	if p.atEnd() || p.text[p.pos] != r {
		return false
	}
	p.pos++
	return true
}

// take returns the next character and advances past it.
func (p *patternParser) take() rune {
	r := p.peek()
	p.pos = min(p.pos+1, len(p.text))
	return r
}

func (p *patternParser) readAlternatives(depth int) (out string, size int) {
	if depth > maxPatternDepth {
		p.fail(errPattern("regular expression is too complex"))
	}
	for {
		branch, n := p.readBranch(depth)
		out += branch
		size += n
		if !p.skip('|') {
			return out, size
		}
		out += "|"
	}
}

func (p *patternParser) readBranch(depth int) (out string, size int) {
	for !p.atEnd() && p.peek() != '|' && p.peek() != ')' {
		atom, n, anchor := p.readAtom(depth)
		quantifier, times := p.readQuantifier()
		if anchor && quantifier != "" {
			p.fail(errPattern("quantifier operand invalid"))
		}
		out += atom + quantifier
		if size += n * times; size > maxPatternSize {
			p.fail(errPattern("regular expression is too complex"))
		}
	}
	switch {
	case out != "":
	case depth > 0 && p.atEnd():
		p.fail(errPattern("parentheses () not balanced"))
	default:
		p.fail(errUnsupported("an empty branch in a regular expression"))
	}
	return out, size
}

func (p *patternParser) readAtom(depth int) (out string, size int, anchor bool) {
	r := p.take()
	switch r {
	case '(':
		if p.skip('?') && !p.skip(':') {
			p.fail(errUnsupported("(? in a regular expression"))
		}
		inner, n := p.readAlternatives(depth + 1)
		if !p.skip(')') {
			p.fail(errPattern("parentheses () not balanced"))
		}
		return "(?:" + inner + ")", n, false
	case '[':
		return p.readSet(), 1, false
	case '.':
		return ".", 1, false
	case '^', '$':
		return string(r), 1, true
	case '*', '+', '?':
		p.fail(errPattern("quantifier operand invalid"))
	case '{', '}', ']':
		p.fail(errUnsupported(string(r) + " without a backslash in a regular expression"))
	case '\\':
		return p.readEscape(), 1, false
	}
	return p.writeLetter(r), 1, false
}

// writeLetter returns one character that stands for itself, and escapes it if needed.
func (p *patternParser) writeLetter(r rune) string {
	s := string(r)
	if p.fold {
		s = db.Fold(s)
	}
	if strings.ContainsAny(s, `\.+*?()|[]{}^$-`) {
		return `\` + s
	}
	return s
}

// findClass returns the set for which the letter r after a backslash stands; an upper-case letter negates it. With fold the set
// has no upper-case letters, because a folded text has none.
func (p *patternParser) findClass(r rune) (set string, negated, found bool) {
	set, found = classes[unicode.ToLower(r)]
	if p.fold {
		set = strings.Replace(set, "A-Z", "", 1)
	}
	return set, unicode.IsUpper(r), found
}

// readEscapedRune reads the character after a backslash and returns the character for which both stand.
func (p *patternParser) readEscapedRune() rune {
	if p.atEnd() {
		p.fail(errPattern(`invalid escape \ sequence`))
	}
	r := p.take()
	switch {
	case r == 'n':
		return '\n'
	case r == 't':
		return '\t'
	case r == 'r':
		return '\r'
	case r >= utf8.RuneSelf || r == '_' || (r >= '0' && r <= '9') || (r|0x20 >= 'a' && r|0x20 <= 'z'):
		p.fail(errUnsupported(`\` + string(r) + " in a regular expression"))
	}
	return r
}

func (p *patternParser) readEscape() string {
	if set, negated, found := p.findClass(p.peek()); found {
		p.pos++
		if negated {
			set = "^" + set
		}
		return "[" + set + "]"
	}
	return p.writeLetter(p.readEscapedRune())
}

// readSet reads a set after its "[".
func (p *patternParser) readSet() string {
	out := "["
	if p.skip('^') {
		out += "^"
	}
	for n := 0; n == 0 || !p.skip(']'); n++ {
		if p.atEnd() {
			p.fail(errPattern("brackets [] not balanced"))
			break
		}
		out += p.readMember()
	}
	return out + "]"
}

// readMember reads one character, range or class of a set.
func (p *patternParser) readMember() string {
	if p.peek() == '\\' && p.pos+1 < len(p.text) {
		if set, negated, found := p.findClass(p.text[p.pos+1]); found {
			p.pos += 2
			if negated {
				p.fail(errUnsupported(`\` + string(p.text[p.pos-1]) + " in a set of a regular expression"))
			}
			return set
		}
	}
	from := p.readMemberRune()
	if p.peek() != '-' || p.pos+1 >= len(p.text) || p.text[p.pos+1] == ']' {
		return p.writeLetter(from)
	}
	p.pos++
	to := p.readMemberRune()
	switch {
	case from > to:
		p.fail(errPattern("invalid character range"))
	case p.fold && !sameASCIIRange(from, to):
		p.fail(errUnsupported("a range that is neither digits nor letters of ASCII, without regard to case,"))
	}
	return p.writeLetter(from) + "-" + p.writeLetter(to)
}

func sameASCIIRange(from, to rune) bool {
	return '0' <= from && to <= '9' || 'a' <= from && to <= 'z' || 'A' <= from && to <= 'Z'
}

func (p *patternParser) readMemberRune() rune {
	if p.atEnd() {
		p.fail(errPattern("brackets [] not balanced"))
	}
	r := p.take()
	switch r {
	case '\\':
		return p.readEscapedRune()
	case '[', ']':
		p.fail(errUnsupported(string(r) + " without a backslash in a set of a regular expression"))
	}
	return r
}

// readQuantifier reads the quantifier after an atom, if there is one. times is how often the atom occurs when the repeat is
// written out, at least 1.
func (p *patternParser) readQuantifier() (out string, times int) {
	times = 1
	switch r := p.peek(); r {
	case '*', '+', '?':
		p.pos++
		out = string(r)
	case '{':
		out, times = p.readBound()
	default:
		return "", 1
	}
	switch p.peek() {
	case '?':
		p.fail(errUnsupported("a lazy quantifier in a regular expression"))
	case '*', '+', '{':
		p.fail(errPattern("quantifier operand invalid"))
	}
	return out, times
}

func (p *patternParser) readBound() (out string, times int) {
	p.pos++
	from, ok := p.readNumber()
	to, open := from, false
	if ok && p.skip(',') {
		if open = p.peek() == '}'; !open {
			to, ok = p.readNumber()
		}
	}
	if !ok || !p.skip('}') || from > to || to > maxRepeat {
		p.fail(errPattern("invalid repetition count(s)"))
	}
	out = "{" + strconv.Itoa(from)
	switch {
	case open:
		out += ","
	case to != from:
		out += "," + strconv.Itoa(to)
	}
	return out + "}", max(1, to)
}

func (p *patternParser) readNumber() (n int, ok bool) {
	for p.peek() >= '0' && p.peek() <= '9' {
		ok = true
		n = min(n*10+int(p.peek()-'0'), maxRepeat+1)
		p.pos++
	}
	return n, ok
}
