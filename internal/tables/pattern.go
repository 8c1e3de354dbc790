package tables

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file checks the regular expressions of match and imatch. It allows only syntax that means the same in PostgreSQL and in
// Go, which runs them for SQLite: plain characters, "." (which matches line ends too), ^ and $ (ends of the whole text), sets with
// ranges, \d \w \s and \D \W \S (ASCII), groups, | and the quantifiers * + ? {n} {n,} {n,m}. Syntax that PostgreSQL rejects too
// gives error 2201B. Syntax that only PostgreSQL accepts (back references, lookaround, lazy quantifiers, named sets, word borders)
// gives error 0A000.

// Limits of a regular expression.
const (
	maxPattern      = 200  // length in code points
	maxPatternDepth = 10   // levels of nested groups
	maxRepeat       = 100  // largest number in {n,m}
	maxPatternSize  = 1000 // number of single characters after all repeats are written out
)

// classes maps the letters of \d, \s and \w to the characters that they match, in the form of a set without its brackets.
var classes = map[rune]string{'d': "0-9", 's': " \t\n\v\f\r", 'w': "0-9A-Za-z_"}

// patternParser parses one regular expression. Its read methods return the converted part as out. size is the number of single
// characters in that part after all repeats are written out.
type patternParser struct {
	text []rune
	pos  int  // index in text of the next character
	fold bool // the expression is for texts that db.Fold has converted
}

// convertPattern converts a regular expression to a form that PostgreSQL and Go interpret in the same way. If fold is true, the
// result is for texts that db.Fold has converted to lower case.
func convertPattern(text string, fold bool) (string, error) {
	p := &patternParser{text: []rune(text), fold: fold}
	if len(p.text) > maxPattern {
		return "", errQuery("a regular expression may have at most " + strconv.Itoa(maxPattern) + " characters")
	}
	if len(p.text) == 0 {
		return "", nil
	}
	out, size, err := p.readAlternatives(0)
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

func (p *patternParser) readAlternatives(depth int) (out string, size int, err error) {
	if depth > maxPatternDepth {
		return "", 0, errPattern("regular expression is too complex")
	}
	var b strings.Builder
	for {
		branch, n, err := p.readBranch(depth)
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

func (p *patternParser) readBranch(depth int) (out string, size int, err error) {
	var b strings.Builder
	for !p.atEnd() && p.peek() != '|' && p.peek() != ')' {
		atom, n, anchor, err := p.readAtom(depth)
		if err != nil {
			return "", 0, err
		}
		quantifier, times, err := p.readQuantifier()
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
	case depth > 0 && p.atEnd():
		return "", 0, errPattern("parentheses () not balanced")
	default:
		return "", 0, errUnsupported("an empty branch in a regular expression")
	}
	return b.String(), size, nil
}

func (p *patternParser) readAtom(depth int) (out string, size int, anchor bool, err error) {
	r := p.peek()
	p.pos++
	switch r {
	case '(':
		if p.skip('?') && !p.skip(':') {
			return "", 0, false, errUnsupported("(? in a regular expression")
		}
		inner, n, err := p.readAlternatives(depth + 1)
		if err == nil && !p.skip(')') {
			err = errPattern("parentheses () not balanced")
		}
		return "(?:" + inner + ")", n, false, err
	case '[':
		out, err = p.readSet()
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
		return p.readEscape()
	}
	return p.writeLetter(r), 1, false, nil
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
func (p *patternParser) readEscapedRune() (rune, error) {
	if p.atEnd() {
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

func (p *patternParser) readEscape() (out string, size int, anchor bool, err error) {
	if set, negated, found := p.findClass(p.peek()); found {
		p.pos++
		if negated {
			set = "^" + set
		}
		return "[" + set + "]", 1, false, nil
	}
	r, err := p.readEscapedRune()
	if err != nil {
		return "", 0, false, err
	}
	return p.writeLetter(r), 1, false, nil
}

// readSet reads a set after its "[".
func (p *patternParser) readSet() (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	if p.skip('^') {
		b.WriteByte('^')
	}
	for n := 0; ; n++ {
		if p.atEnd() {
			return "", errPattern("brackets [] not balanced")
		}
		if n > 0 && p.skip(']') {
			b.WriteByte(']')
			return b.String(), nil
		}
		if err := p.readMember(&b); err != nil {
			return "", err
		}
	}
}

// readMember reads one character, range or class of a set.
func (p *patternParser) readMember(b *strings.Builder) error {
	if p.peek() == '\\' && p.pos+1 < len(p.text) {
		if set, negated, found := p.findClass(p.text[p.pos+1]); found {
			if negated {
				return errUnsupported(`\` + string(p.text[p.pos+1]) + " in a set of a regular expression")
			}
			p.pos += 2
			b.WriteString(set)
			return nil
		}
	}
	from, err := p.readMemberRune()
	if err != nil {
		return err
	}
	if p.peek() != '-' || p.pos+1 >= len(p.text) || p.text[p.pos+1] == ']' {
		b.WriteString(p.writeLetter(from))
		return nil
	}
	p.pos++
	to, err := p.readMemberRune()
	switch {
	case err != nil:
		return err
	case from > to:
		return errPattern("invalid character range")
	case p.fold && !sameASCIIRange(from, to):
		return errUnsupported("a range that is neither digits nor letters of ASCII, without regard to case,")
	}
	b.WriteString(p.writeLetter(from) + "-" + p.writeLetter(to))
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

func (p *patternParser) readMemberRune() (rune, error) {
	if p.atEnd() {
		return 0, errPattern("brackets [] not balanced")
	}
	r := p.peek()
	p.pos++
	switch r {
	case '\\':
		return p.readEscapedRune()
	case '[', ']':
		return 0, errUnsupported(string(r) + " without a backslash in a set of a regular expression")
	}
	return r, nil
}

// readQuantifier reads the quantifier after an atom, if there is one. times is how often the atom occurs when the repeat is
// written out, at least 1.
func (p *patternParser) readQuantifier() (out string, times int, err error) {
	times = 1
	switch r := p.peek(); r {
	case '*', '+', '?':
		p.pos++
		out = string(r)
	case '{':
		if out, times, err = p.readBound(); err != nil {
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

func (p *patternParser) readBound() (out string, times int, err error) {
	p.pos++
	from, ok := p.readNumber()
	to, open := from, false
	if ok && p.skip(',') {
		if open = p.peek() == '}'; !open {
			to, ok = p.readNumber()
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

func (p *patternParser) readNumber() (n int, ok bool) {
	for p.peek() >= '0' && p.peek() <= '9' {
		ok = true
		n = min(n*10+int(p.peek()-'0'), maxRepeat+1)
		p.pos++
	}
	return n, ok
}
