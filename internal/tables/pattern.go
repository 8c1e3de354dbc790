package tables

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file accepts the part of regular expressions that means the same in PostgreSQL and in Go: texts, "." (line ends too),
// ^ and $ (ends of the whole text), sets with ranges, \d \w \s and \D \W \S (ASCII), groups, | and the quantifiers * + ? {n}
// {n,} {n,m}. An expression that PostgreSQL rejects too gives error 2201B. Syntax that only PostgreSQL accepts (back
// references, lookaround, lazy quantifiers, named sets, word borders) gives error 0A000.
const (
	maxPattern      = 200  // code points
	maxPatternDepth = 10   // levels of nested groups
	maxRepeat       = 100  // largest number in {n,m}
	maxPatternSize  = 1000 // single characters after all repeats are expanded
)

// classes maps the letter of \d, \s and \w to its set, written as the inside of a bracket expression.
var classes = map[rune]string{'d': "0-9", 's': " \t\n\v\f\r", 'w': "0-9A-Za-z_"}

// expression is the parser of one regular expression.
type expression struct {
	text []rune
	pos  int
	fold bool
}

// pattern returns a regular expression in a form that PostgreSQL and Go interpret in the same way. If fold is true, the
// result matches texts that db.Fold has converted to lower case.
func pattern(text string, fold bool) (string, error) {
	x := &expression{text: []rune(text), fold: fold}
	if len(x.text) > maxPattern {
		return "", errQuery("a regular expression may have at most " + strconv.Itoa(maxPattern) + " characters")
	}
	if len(x.text) == 0 {
		return "", nil
	}
	out, size, err := x.alternatives(0)
	switch {
	case err != nil:
		return "", err
	case x.pos < len(x.text):
		return "", errPattern("parentheses () not balanced")
	case size > maxPatternSize:
		return "", errPattern("regular expression is too complex")
	}
	return out, nil
}

func (x *expression) peek() rune {
	if x.pos < len(x.text) {
		return x.text[x.pos]
	}
	return utf8.RuneError
}

func (x *expression) end() bool { return x.pos == len(x.text) }

func (x *expression) skip(r rune) bool {
	if x.end() || x.text[x.pos] != r {
		return false
	}
	x.pos++
	return true
}

func (x *expression) alternatives(depth int) (out string, size int, err error) {
	if depth > maxPatternDepth {
		return "", 0, errPattern("regular expression is too complex")
	}
	var b strings.Builder
	for {
		branch, n, err := x.branch(depth)
		if err != nil {
			return "", 0, err
		}
		b.WriteString(branch)
		size += n
		if !x.skip('|') {
			return b.String(), size, nil
		}
		b.WriteByte('|')
	}
}

func (x *expression) branch(depth int) (out string, size int, err error) {
	var b strings.Builder
	for !x.end() && x.peek() != '|' && x.peek() != ')' {
		atom, n, anchor, err := x.atom(depth)
		if err != nil {
			return "", 0, err
		}
		quantifier, times, err := x.quantifier()
		if err != nil {
			return "", 0, err
		}
		if anchor && quantifier != "" {
			return "", 0, errPattern("quantifier operand invalid")
		}
		b.WriteString(atom + quantifier)
		if size += n * times; size > maxPatternSize {
			return "", 0, errPattern("regular expression is too complex")
		}
	}
	switch {
	case b.Len() > 0:
	case depth > 0 && x.end():
		return "", 0, errPattern("parentheses () not balanced")
	default:
		return "", 0, errUnsupported("an empty branch in a regular expression")
	}
	return b.String(), size, nil
}

func (x *expression) atom(depth int) (out string, size int, anchor bool, err error) {
	r := x.peek()
	x.pos++
	switch r {
	case '(':
		if x.skip('?') && !x.skip(':') {
			return "", 0, false, errUnsupported("(? in a regular expression")
		}
		inner, n, err := x.alternatives(depth + 1)
		if err == nil && !x.skip(')') {
			err = errPattern("parentheses () not balanced")
		}
		return "(?:" + inner + ")", n, false, err
	case '[':
		out, err = x.set()
		return out, 1, false, err
	case '.':
		return ".", 1, false, nil
	case '^', '$':
		return string(r), 1, true, nil
	case '*', '+', '?':
		return "", 0, false, errPattern("quantifier operand invalid")
	case '{', '}', ']':
		return "", 0, false, errUnsupported(string(r) + " without a backslash in a regular expression")
	case '\\':
		return x.escaped()
	}
	return x.letter(r), 1, false, nil
}

// letter writes one character that stands for itself, and escapes it if needed.
func (x *expression) letter(r rune) string {
	s := string(r)
	if x.fold {
		s = db.Fold(s)
	}
	if strings.ContainsAny(s, `\.+*?()|[]{}^$-`) {
		return `\` + s
	}
	return s
}

// class returns the set for which the letter r after a backslash stands; an upper-case letter negates it. With fold the set
// has no upper-case letters, because a folded text has none.
func (x *expression) class(r rune) (set string, negated, found bool) {
	set, found = classes[unicode.ToLower(r)]
	if x.fold {
		set = strings.Replace(set, "A-Z", "", 1)
	}
	return set, unicode.IsUpper(r), found
}

// single reads the character after a backslash and returns the character for which both stand.
func (x *expression) single() (rune, error) {
	if x.end() {
		return 0, errPattern(`invalid escape \ sequence`)
	}
	r := x.peek()
	x.pos++
	switch {
	case r == 'n':
		return '\n', nil
	case r == 't':
		return '\t', nil
	case r == 'r':
		return '\r', nil
	case r >= utf8.RuneSelf || r == '_' || (r >= '0' && r <= '9') || (r|0x20 >= 'a' && r|0x20 <= 'z'):
		return 0, errUnsupported(`\` + string(r) + " in a regular expression")
	}
	return r, nil
}

func (x *expression) escaped() (out string, size int, anchor bool, err error) {
	if set, negated, found := x.class(x.peek()); found {
		x.pos++
		if negated {
			set = "^" + set
		}
		return "[" + set + "]", 1, false, nil
	}
	r, err := x.single()
	if err != nil {
		return "", 0, false, err
	}
	return x.letter(r), 1, false, nil
}

// set reads a set after its "[".
func (x *expression) set() (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	if x.skip('^') {
		b.WriteByte('^')
	}
	for n := 0; ; n++ {
		if x.end() {
			return "", errPattern("brackets [] not balanced")
		}
		if n > 0 && x.skip(']') {
			b.WriteByte(']')
			return b.String(), nil
		}
		if err := x.member(&b); err != nil {
			return "", err
		}
	}
}

// member reads one character, range or class of a set.
func (x *expression) member(b *strings.Builder) error {
	if x.peek() == '\\' && x.pos+1 < len(x.text) {
		if set, negated, found := x.class(x.text[x.pos+1]); found {
			if negated {
				return errUnsupported(`\` + string(x.text[x.pos+1]) + " in a set of a regular expression")
			}
			x.pos += 2
			b.WriteString(set)
			return nil
		}
	}
	from, err := x.memberRune()
	if err != nil {
		return err
	}
	if x.peek() != '-' || x.pos+1 >= len(x.text) || x.text[x.pos+1] == ']' {
		b.WriteString(x.letter(from))
		return nil
	}
	x.pos++
	to, err := x.memberRune()
	switch {
	case err != nil:
		return err
	case from > to:
		return errPattern("invalid character range")
	case x.fold && !sameASCIIRange(from, to):
		return errUnsupported("a range that is neither digits nor letters of ASCII, without regard to case,")
	}
	b.WriteString(x.letter(from) + "-" + x.letter(to))
	return nil
}

func sameASCIIRange(from, to rune) bool {
	for _, block := range []string{"09", "az", "AZ"} {
		if from >= rune(block[0]) && to <= rune(block[1]) {
			return true
		}
	}
	return false
}

func (x *expression) memberRune() (rune, error) {
	if x.end() {
		return 0, errPattern("brackets [] not balanced")
	}
	r := x.peek()
	x.pos++
	switch r {
	case '\\':
		return x.single()
	case '[', ']':
		return 0, errUnsupported(string(r) + " without a backslash in a set of a regular expression")
	}
	return r, nil
}

// quantifier reads the quantifier after an atom, if there is one. times is how often the atom occurs when the repeat is
// written out, at least 1.
func (x *expression) quantifier() (out string, times int, err error) {
	times = 1
	switch r := x.peek(); r {
	case '*', '+', '?':
		x.pos++
		out = string(r)
	case '{':
		if out, times, err = x.bound(); err != nil {
			return "", 0, err
		}
	default:
		return "", 1, nil
	}
	switch x.peek() {
	case '?':
		return "", 0, errUnsupported("a lazy quantifier in a regular expression")
	case '*', '+', '{':
		return "", 0, errPattern("quantifier operand invalid")
	}
	return out, times, nil
}

func (x *expression) bound() (out string, times int, err error) {
	x.pos++
	from, ok := x.number()
	to, open := from, false
	if ok && x.skip(',') {
		if open = x.peek() == '}'; !open {
			to, ok = x.number()
		}
	}
	if !ok || !x.skip('}') || from > to || to > maxRepeat {
		return "", 0, errPattern("invalid repetition count(s)")
	}
	out = "{" + strconv.Itoa(from)
	switch {
	case open:
		out += ","
	case to != from:
		out += "," + strconv.Itoa(to)
	}
	return out + "}", max(1, to), nil
}

func (x *expression) number() (n int, ok bool) {
	for x.peek() >= '0' && x.peek() <= '9' {
		ok = true
		n = min(n*10+int(x.peek()-'0'), maxRepeat+1)
		x.pos++
	}
	return n, ok
}
