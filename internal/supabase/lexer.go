package supabase

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxValue is the largest size in bytes of one value, and of one line of COPY, in a dump.
const maxValue = 8 << 20

// tokenKind is the kind of a token of SQL.
type tokenKind int

const (
	tokenEnd    tokenKind = iota // the end of the file
	tokenWord                    // a keyword, a number or a name without quotes, in lower case
	tokenName                    // a name in quotes
	tokenText                    // a text in quotes
	tokenSymbol                  // one character
	tokenOther                   // a text in a form that rows of a dump do not have: dollar quotes, or escapes of backslashes
)

// token is one token of SQL. text is "" for a tokenOther, and for texts and names in quotes while the lexer skips them.
type token struct {
	kind tokenKind
	text string
}

func (t token) isWord(word string) bool { return t.kind == tokenWord && t.text == word }
func (t token) isSymbol(c string) bool  { return t.kind == tokenSymbol && t.text == c }

// lexer splits the text of a dump into tokens. It knows quotes and comments, so that no value of a row can pass for a statement.
type lexer struct {
	r        *bufio.Reader
	line     int64 // number of the current line, from 1
	skip     bool  // texts in quotes and lines are read, but not kept
	complete bool  // the dump has ended as pg_dump or the Supabase CLI ends one
}

func newLexer(r io.Reader) *lexer { return &lexer{r: bufio.NewReaderSize(r, 256<<10), line: 1} }

// errorf returns an error that names the current line.
func (l *lexer) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the dump: %s", l.line, fmt.Sprintf(format, args...))
}

// read returns the next byte; the error at the end of the file is io.EOF.
func (l *lexer) read() (byte, error) {
	c, err := l.r.ReadByte()
	if c == '\n' && err == nil {
		l.line++
	}
	return c, err
}

// hasNext reports whether the next bytes are s.
func (l *lexer) hasNext(s string) bool {
	next, err := l.r.Peek(len(s))
	return err == nil && string(next) == s
}

// readLine returns the next line without its end. While the lexer skips texts, it returns "" in place of a line of more than four
// bytes; the line \. with which COPY ends is shorter.
func (l *lexer) readLine() (string, error) {
	var long []byte
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			if !l.skip {
				if size > maxValue {
					return "", l.errorf("a line has more than %d MB", maxValue>>20)
				}
				long = append(long, part...)
			}
			continue
		}
		if err != nil && (size == 0 || !errors.Is(err, io.EOF)) {
			return "", err
		}
		l.line++
		if long != nil {
			part = append(long, part...)
		}
		if l.skip && size > 4 {
			return "", nil
		}
		return string(bytes.TrimRight(part, "\r\n")), nil
	}
}

// skipSpace skips blanks and comments. If statement is true, a statement begins, and it also skips commands of psql such as \connect.
func (l *lexer) skipSpace(statement bool) error {
	for {
		next, err := l.r.Peek(2)
		if len(next) == 0 {
			return err
		}
		switch {
		case next[0] == ' ' || next[0] == '\t' || next[0] == '\r' || next[0] == '\n' || next[0] == '\f':
			_, err = l.read()
		case string(next) == "--":
			err = l.skipComment()
		case statement && next[0] == '\\':
			_, err = l.skipping(l.readLine)
		case string(next) == "/*":
			err = l.skipBlockComment()
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// skipComment skips a comment of one line. It recognizes the one with which pg_dump ends.
func (l *lexer) skipComment() error {
	next, err := l.r.Peek(len("-- PostgreSQL database"))
	if err == nil && string(next) == "-- PostgreSQL database" {
		line, err := l.readLine()
		l.complete = l.complete || strings.HasSuffix(line, "dump complete")
		return err
	}
	_, err = l.skipping(l.readLine)
	return err
}

// skipping runs read while the lexer skips texts.
func (l *lexer) skipping(read func() (string, error)) (string, error) {
	before := l.skip
	l.skip = true
	defer func() { l.skip = before }()
	return read()
}

// skipBlockComment skips a comment between /* and */, which can contain others.
func (l *lexer) skipBlockComment() error {
	depth := 0
	for {
		switch {
		case l.hasNext("/*"):
			depth++
			_, _ = l.r.Discard(2) // cannot fail: hasNext has read them
		case l.hasNext("*/"):
			depth--
			_, _ = l.r.Discard(2)
		default:
			if _, err := l.read(); err != nil {
				return l.errorf("a comment does not end")
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// next returns the next token. statement is true where a statement can begin.
func (l *lexer) next(statement bool) (token, error) {
	if err := l.skipSpace(statement); err != nil {
		if errors.Is(err, io.EOF) {
			return token{}, nil
		}
		return token{}, err
	}
	c, err := l.read()
	if err != nil {
		return token{}, err
	}
	switch {
	case c == '\'':
		text, err := l.readQuoted('\'', false)
		return token{tokenText, text}, err
	case c == '"':
		text, err := l.readQuoted('"', false)
		return token{tokenName, text}, err
	case (c == 'e' || c == 'E') && l.hasNext("'"):
		_, _ = l.r.Discard(1)
		_, err := l.readQuoted('\'', true)
		return token{kind: tokenOther}, err
	case (c == 'u' || c == 'U') && (l.hasNext("&'") || l.hasNext(`&"`)):
		quote, _ := l.r.Peek(2)
		end := quote[1]
		_, _ = l.r.Discard(2)
		_, err := l.readQuoted(end, false)
		return token{kind: tokenOther}, err
	case c == '$':
		return l.readDollar()
	case isWordByte(c) || (c == '-' || c == '.') && l.peekDigit():
		return l.readWord(c)
	}
	return token{tokenSymbol, string(c)}, nil
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (l *lexer) peekDigit() bool {
	c := l.peekByte()
	return c >= '0' && c <= '9'
}

// readWord reads a name, a keyword or a number. A dot belongs to it only in a number.
func (l *lexer) readWord(first byte) (token, error) {
	const longest = 1000
	number := first == '-' || first == '.' || first >= '0' && first <= '9'
	text := []byte{first}
	belongs := func(c byte) bool {
		return isWordByte(c) || c == '$' || number && (c == '.' || (c == '-' || c == '+') && text[len(text)-1] == 'e')
	}
	for c := l.peekByte(); belongs(c); c = l.peekByte() {
		if len(text) == longest {
			return token{}, l.errorf("a name has more than %d bytes", longest)
		}
		text = append(text, c)
		_, _ = l.r.Discard(1)
	}
	return token{tokenWord, strings.ToLower(string(text))}, nil
}

// peekByte returns the next byte, or 0 at the end of the file.
func (l *lexer) peekByte() byte {
	next, _ := l.r.Peek(1) // at the end it has no byte
	if len(next) == 0 {
		return 0
	}
	return next[0]
}

// readQuoted reads up to the closing quote, which stands twice within the text. With escapes, a backslash escapes the next byte.
func (l *lexer) readQuoted(quote byte, escapes bool) (string, error) {
	var text []byte
	for {
		c, err := l.read()
		if err != nil {
			return "", l.errorf("a text in quotes does not end")
		}
		if c == '\\' && escapes {
			if c, err = l.read(); err != nil {
				return "", l.errorf("a text in quotes does not end")
			}
		} else if c == quote {
			if l.peekByte() != quote {
				return string(text), nil
			}
			_, _ = l.r.Discard(1)
		}
		if l.skip {
			continue
		}
		if text = append(text, c); len(text) > maxValue {
			return "", l.errorf("a value has more than %d MB", maxValue>>20)
		}
	}
}

// readDollar reads what begins with a dollar sign: a text such as $tag$…$tag$, or a parameter.
func (l *lexer) readDollar() (token, error) {
	const longest = 64
	next, _ := l.r.Peek(longest)
	end := bytes.IndexByte(next, '$')
	if end < 0 || bytes.ContainsFunc(next[:end], func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) }) || end > 0 && next[0] >= '0' && next[0] <= '9' {
		return token{tokenSymbol, "$"}, nil
	}
	tag := "$" + string(next[:end+1])
	_, _ = l.r.Discard(end + 1)
	for {
		if l.peekByte() == '$' && l.hasNext(tag) {
			_, _ = l.r.Discard(len(tag))
			return token{kind: tokenOther}, nil
		}
		if _, err := l.read(); err != nil {
			return token{}, l.errorf("a text between %s does not end", printable(tag))
		}
	}
}

// skipStatement skips the rest of a statement. A function of SQL may have statements between BEGIN ATOMIC and END.
func (l *lexer) skipStatement() error {
	before := l.skip
	l.skip = true
	defer func() { l.skip = before }()
	parens, blocks := 0, 0
	var last token
	for {
		t, err := l.next(false)
		if err != nil {
			return err
		}
		switch {
		case t.kind == tokenEnd:
			return l.errorf("a statement does not end")
		case t.isWord("atomic") && last.isWord("begin"), blocks > 0 && t.isWord("case"):
			blocks++
		case blocks > 0 && t.isWord("end"):
			blocks--
		case t.isSymbol("("):
			parens++
		case t.isSymbol(")"):
			parens--
		case t.isSymbol(";") && parens <= 0 && blocks == 0:
			return nil
		}
		last = t
	}
}
