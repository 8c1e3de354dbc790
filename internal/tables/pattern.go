package tables

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file allows only those regular expressions that mean the same in PostgreSQL and in Go: with texts, "." (line ends too),
// ^ and $ (ends of the whole text), sets with ranges, \d \w \s and \D \W \S (ASCII), groups, | and the quantifiers * + ? {n}
// {n,} {n,m}. An expression that PostgreSQL rejects too gives error 2201B. Syntax that only PostgreSQL accepts (back
// references, lookaround, lazy quantifiers, named sets, word borders) gives error 0A000.
const (
	maxPattern      = 200  // code points
	maxPatternDepth = 10   // levels of nested groups
	maxRepeat       = 100  // largest number in {n,m}
	maxPatternSize  = 1000 // number of single characters after all repeats are written out
)

// classes maps the letters of \d, \s and \w to the characters that they match, as they are written between brackets.
var classes = map[rune]string{'d': "0-9", 's': " \t\n\v\f\r", 'w': "0-9A-Za-z_"}

// patternParser parses one regular expression.
type patternParser struct {
	text []rune
	pos  int
	fold bool
}

// pattern returns a regular expression in a form that PostgreSQL and Go interpret in the same way. If fold is true, the
// result matches texts that db.Fold has converted to lower case.
func pattern(text string, fold bool) (string, error) {
	p := &patternParser{text: []rune(text), fold: fold}
	if len(p.text) > maxPattern {
		return "", errQuery("a regular expression may have at most " + strconv.Itoa(maxPattern) + " characters")
	}
	if len(p.text) == 0 {
		return "", nil
	}
	out, size, err := p.alternatives(0)
	switch {
	case err != nil:
		return "", err
	case p.pos < len(p.text):
		return "", errPattern("parentheses () not balanced")
	case size > maxPatternSize:
		return "", errPattern("regular expression is too complex")
	}
	return out, nil
}

func (p *patternParser) peek() rune {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return utf8.RuneError
}

func (p *patternParser) end() bool { return p.pos == len(p.text) }

func (p *patternParser) skip(r rune) bool {
	if p.end() || p.text[p.pos] != r {
		return false
	}
	p.pos++
	return true
}

func (p *patternParser) alternatives(depth int) (out string, size int, err error) {
	if depth > maxPatternDepth {
		return "", 0, errPattern("regular expression is too complex")
	}
	var b strings.Builder
	for {
		branch, n, err := p.branch(depth)
		if err != nil {
			return "", 0, err
		}
		b.WriteString(branch)
		size += n
		if !p.skip('|') {
			return b.String(), size, nil
		}
		b.WriteByte('|')
	}
}

func (p *patternParser) branch(depth int) (out string, size int, err error) {
	var b strings.Builder
	for !p.end() && p.peek() != '|' && p.peek() != ')' {
		atom, n, anchor, err := p.atom(depth)
		if err != nil {
			return "", 0, err
		}
		quantifier, times, err := p.quantifier()
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
	case depth > 0 && p.end():
		return "", 0, errPattern("parentheses () not balanced")
	default:
		return "", 0, errUnsupported("an empty branch in a regular expression")
	}
	return b.String(), size, nil
}

func (p *patternParser) atom(depth int) (out string, size int, anchor bool, err error) {
	r := p.peek()
	p.pos++
	switch r {
	case '(':
		if p.skip('?') && !p.skip(':') {
			return "", 0, false, errUnsupported("(? in a regular expression")
		}
		inner, n, err := p.alternatives(depth + 1)
		if err == nil && !p.skip(')') {
			err = errPattern("parentheses () not balanced")
		}
		return "(?:" + inner + ")", n, false, err
	case '[':
		out, err = p.set()
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
		return p.escaped()
	}
	return p.letter(r), 1, false, nil
}

// letter writes one character that stands for itself, and escapes it if needed.
func (p *patternParser) letter(r rune) string {
	s := string(r)
	if p.fold {
		s = db.Fold(s)
	}
	if strings.ContainsAny(s, `\.+*?()|[]{}^$-`) {
		return `\` + s
	}
	return s
}

// class returns the set for which the letter r after a backslash stands; an upper-case letter negates it. With fold the set
// has no upper-case letters, because a folded text has none.
func (p *patternParser) class(r rune) (set string, negated, found bool) {
	set, found = classes[unicode.ToLower(r)]
	if p.fold {
		set = strings.Replace(set, "A-Z", "", 1)
	}
	return set, unicode.IsUpper(r), found
}

// single reads the character after a backslash and returns the character for which both stand.
func (p *patternParser) single() (rune, error) {
	if p.end() {
		return 0, errPattern(`invalid escape \ sequence`)
	}
	r := p.peek()
	p.pos++
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

func (p *patternParser) escaped() (out string, size int, anchor bool, err error) {
	if set, negated, found := p.class(p.peek()); found {
		p.pos++
		if negated {
			set = "^" + set
		}
		return "[" + set + "]", 1, false, nil
	}
	r, err := p.single()
	if err != nil {
		return "", 0, false, err
	}
	return p.letter(r), 1, false, nil
}

// set reads a set after its "[".
func (p *patternParser) set() (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	if p.skip('^') {
		b.WriteByte('^')
	}
	for n := 0; ; n++ {
		if p.end() {
			return "", errPattern("brackets [] not balanced")
		}
		if n > 0 && p.skip(']') {
			b.WriteByte(']')
			return b.String(), nil
		}
		if err := p.member(&b); err != nil {
			return "", err
		}
	}
}

// member reads one character, range or class of a set.
func (p *patternParser) member(b *strings.Builder) error {
	if p.peek() == '\\' && p.pos+1 < len(p.text) {
		if set, negated, found := p.class(p.text[p.pos+1]); found {
			if negated {
				return errUnsupported(`\` + string(p.text[p.pos+1]) + " in a set of a regular expression")
			}
			p.pos += 2
			b.WriteString(set)
			return nil
		}
	}
	from, err := p.memberRune()
	if err != nil {
		return err
	}
	if p.peek() != '-' || p.pos+1 >= len(p.text) || p.text[p.pos+1] == ']' {
		b.WriteString(p.letter(from))
		return nil
	}
	p.pos++
	to, err := p.memberRune()
	switch {
	case err != nil:
		return err
	case from > to:
		return errPattern("invalid character range")
	case p.fold && !sameASCIIRange(from, to):
		return errUnsupported("a range that is neither digits nor letters of ASCII, without regard to case,")
	}
	b.WriteString(p.letter(from) + "-" + p.letter(to))
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

func (p *patternParser) memberRune() (rune, error) {
	if p.end() {
		return 0, errPattern("brackets [] not balanced")
	}
	r := p.peek()
	p.pos++
	switch r {
	case '\\':
		return p.single()
	case '[', ']':
		return 0, errUnsupported(string(r) + " without a backslash in a set of a regular expression")
	}
	return r, nil
}

// quantifier reads the quantifier after an atom, if there is one. times is how often the atom occurs when the repeat is
// written out, at least 1.
func (p *patternParser) quantifier() (out string, times int, err error) {
	times = 1
	switch r := p.peek(); r {
	case '*', '+', '?':
		p.pos++
		out = string(r)
	case '{':
		if out, times, err = p.bound(); err != nil {
			return "", 0, err
		}
	default:
		return "", 1, nil
	}
	switch p.peek() {
	case '?':
		return "", 0, errUnsupported("a lazy quantifier in a regular expression")
	case '*', '+', '{':
		return "", 0, errPattern("quantifier operand invalid")
	}
	return out, times, nil
}

func (p *patternParser) bound() (out string, times int, err error) {
	p.pos++
	from, ok := p.number()
	to, open := from, false
	if ok && p.skip(',') {
		if open = p.peek() == '}'; !open {
			to, ok = p.number()
		}
	}
	if !ok || !p.skip('}') || from > to || to > maxRepeat {
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

func (p *patternParser) number() (n int, ok bool) {
	for p.peek() >= '0' && p.peek() <= '9' {
		ok = true
		n = min(n*10+int(p.peek()-'0'), maxRepeat+1)
		p.pos++
	}
	return n, ok
}
