package supabase

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// This file splits the SQL text of a database dump into tokens. Dump (dump.go) reads rows from the tokens.

// maxValueBytes is the maximum size of a value, and of a line of COPY data (the lines with rows that follow a COPY statement).
const maxValueBytes = 8 << 20

// tokenKind is the kind of a token of SQL.
type tokenKind int

const (
	tokenEnd    tokenKind = iota // the end of the file
	tokenWord                    // a keyword, a number or a name without quotes, in lower case
	tokenName                    // a quoted identifier: "…"
	tokenText                    // a string literal: '…'
	tokenSymbol                  // any other single character
	// tokenOther is a literal or identifier that never occurs in the rows of a dump: $tag$…$tag$, E'…' with backslashes, U&'…' or U&"…".
	tokenOther
)

// token is one token of SQL. text is "" for a tokenOther. While the lexer skips, text is also "" for literals and quoted identifiers.
type token struct {
	kind tokenKind
	text string
}

func (t token) isWord(word string) bool { return t.kind == tokenWord && t.text == word }
func (t token) isSymbol(c string) bool  { return t.kind == tokenSymbol && t.text == c }

// lexer splits the text of a dump into tokens. It parses quotes and comments, so that a value of a row is never taken for a statement.
// After its first error it behaves as at the end of the file.
type lexer struct {
	r        *bufio.Reader
	line     int64 // number of the current line, from 1
	skip     bool  // discard the content of literals, quoted identifiers and lines of COPY data
	complete bool  // the dump is complete: the last line that pg_dump or the Supabase CLI writes was read
	err      error // the first error
}

func newLexer(r io.Reader) *lexer { return &lexer{r: bufio.NewReaderSize(r, 256<<10), line: 1} }

// fail records an error, unless there is one already.
func (l *lexer) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// failf records an error that names the current line.
func (l *lexer) failf(format string, args ...any) {
	l.fail(fmt.Errorf("line %d of the dump: %s", l.line, fmt.Sprintf(format, args...)))
}

// read returns the next byte. ok is false at the end of the file.
func (l *lexer) read() (c byte, ok bool) {
	c, err := l.r.ReadByte()
	if c == '\n' && err == nil {
		l.line++
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.fail(err)
	}
	return c, err == nil
}

// hasNext reports whether the next bytes are s.
func (l *lexer) hasNext(s string) bool {
	next, err := l.r.Peek(len(s))
	return err == nil && string(next) == s
}

// readLine returns the next line without its end. ok is false at the end of the file. While the lexer skips texts, it returns "" in
// place of a line of more than four bytes; the line \. with which COPY ends is shorter.
func (l *lexer) readLine() (line string, ok bool) {
	var long []byte
	size := 0
	for l.err == nil {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			if !l.skip {
				if size > maxValueBytes {
					l.failf("a line has more than %d MB", maxValueBytes>>20)
				}
				long = append(long, part...)
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.fail(err)
		}
		if err != nil && size == 0 {
			break
		}
		l.line++
		if long != nil {
			part = append(long, part...)
		}
		if l.skip && size > 4 {
			return "", l.err == nil
		}
		return string(bytes.TrimRight(part, "\r\n")), l.err == nil
	}
	return "", false
}

// skipSpace skips blanks and comments. If statement is true, a statement begins, and it also skips commands of psql such as \connect.
func (l *lexer) skipSpace(statement bool) {
	for l.err == nil {
		next, err := l.r.Peek(2)
		if len(next) == 0 {
			if !errors.Is(err, io.EOF) {
				l.fail(err)
			}
			return
		}
		switch {
		case next[0] == ' ' || next[0] == '\t' || next[0] == '\r' || next[0] == '\n' || next[0] == '\f':
			l.read()
		case string(next) == "--":
			l.skipComment()
		case statement && next[0] == '\\':
			l.skipLine()
		case string(next) == "/*":
			l.skipBlockComment()
		default:
			return
		}
	}
}

// skipComment skips a comment of one line. It recognizes the one with which pg_dump ends.
func (l *lexer) skipComment() {
	if l.hasNext("-- PostgreSQL database") {
		line, _ := l.readLine()
		l.complete = l.complete || strings.HasSuffix(line, "dump complete")
		return
	}
	l.skipLine()
}

// skipLine skips the rest of the line, and reports whether there was one.
func (l *lexer) skipLine() (ok bool) {
	defer l.skipping()()
	_, ok = l.readLine()
	return ok
}

// skipping makes the lexer skip texts until the function end is called.
func (l *lexer) skipping() (end func()) {
	before := l.skip
	l.skip = true
	return func() { l.skip = before }
}

// skipBlockComment skips a comment between /* and */, which can contain others.
func (l *lexer) skipBlockComment() {
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
			if _, ok := l.read(); !ok {
				l.failf("a comment does not end")
				return
			}
		}
		if depth == 0 {
			return
		}
	}
}

// next returns the next token. statement is true where a statement can begin.
func (l *lexer) next(statement bool) token {
	l.skipSpace(statement)
	if l.err != nil {
		return token{}
	}
	c, ok := l.read()
	switch {
	case !ok:
		return token{}
	case c == '\'':
		return token{tokenText, l.readQuoted('\'', false)}
	case c == '"':
		return token{tokenName, l.readQuoted('"', false)}
	case (c == 'e' || c == 'E') && l.hasNext("'"):
		_, _ = l.r.Discard(1)
		l.readQuoted('\'', true)
		return token{kind: tokenOther}
	case (c == 'u' || c == 'U') && (l.hasNext("&'") || l.hasNext(`&"`)):
		quote, _ := l.r.Peek(2)
		end := quote[1]
		_, _ = l.r.Discard(2)
		l.readQuoted(end, false)
		return token{kind: tokenOther}
	case c == '$':
		return l.readDollar()
	case isWordByte(c) || (c == '-' || c == '.') && l.peekDigit():
		return l.readWord(c)
	}
	return token{tokenSymbol, string(c)}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (l *lexer) peekDigit() bool {
	c := l.peekByte()
	return c >= '0' && c <= '9'
}

// readWord reads a name, a keyword or a number. A dot belongs to it only in a number.
func (l *lexer) readWord(first byte) token {
	const longest = 1000
	number := first == '-' || first == '.' || first >= '0' && first <= '9'
	text := []byte{first}
	belongs := func(c byte) bool {
		return isWordByte(c) || c == '$' || number && (c == '.' || (c == '-' || c == '+') && text[len(text)-1] == 'e')
	}
	for c := l.peekByte(); belongs(c); c = l.peekByte() {
		if len(text) == longest {
			l.failf("a name has more than %d bytes", longest)
			return token{}
		}
		text = append(text, c)
		_, _ = l.r.Discard(1)
	}
	return token{tokenWord, strings.ToLower(string(text))}
}

// peekByte returns the next byte, or 0 at the end of the file.
func (l *lexer) peekByte() byte {
	next, _ := l.r.Peek(1) // at the end it has no byte
	if len(next) == 0 {
		return 0
	}
	return next[0]
}

// readQuoted reads up to the closing quote; within the text a quote is doubled. With escapes, a backslash escapes the next byte.
func (l *lexer) readQuoted(quote byte, escapes bool) string {
	var text []byte
	for {
		c, ok := l.read()
		if ok && c == '\\' && escapes {
			c, ok = l.read()
		} else if ok && c == quote {
			if l.peekByte() != quote {
				return string(text)
			}
			_, _ = l.r.Discard(1)
		}
		if !ok {
			l.failf("a text in quotes does not end")
			return ""
		}
		if l.skip {
			continue
		}
		if text = append(text, c); len(text) > maxValueBytes {
			l.failf("a value has more than %d MB", maxValueBytes>>20)
			return ""
		}
	}
}

// readDollar reads what begins with a dollar sign: a text such as $tag$…$tag$, or a parameter.
func (l *lexer) readDollar() token {
	const longest = 64
	next, _ := l.r.Peek(longest)
	end := bytes.IndexByte(next, '$')
	if end < 0 || bytes.ContainsFunc(next[:end], func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) }) || end > 0 && next[0] >= '0' && next[0] <= '9' {
		return token{tokenSymbol, "$"}
	}
	tag := "$" + string(next[:end+1])
	_, _ = l.r.Discard(end + 1)
	for {
		if l.peekByte() == '$' && l.hasNext(tag) {
			_, _ = l.r.Discard(len(tag))
			return token{kind: tokenOther}
		}
		if _, ok := l.read(); !ok {
			l.failf("a text between %s does not end", printable(tag))
			return token{}
		}
	}
}

// skipStatement skips the rest of a statement. A function of SQL may have statements between BEGIN ATOMIC and END.
func (l *lexer) skipStatement() {
	defer l.skipping()()
	parens, blocks := 0, 0
	var last token
	for {
		t := l.next(false)
		switch {
		case t.kind == tokenEnd:
			l.failf("a statement does not end")
			return
		case t.isWord("atomic") && last.isWord("begin"), blocks > 0 && t.isWord("case"):
			blocks++
		case blocks > 0 && t.isWord("end"):
			blocks--
		case t.isSymbol("("):
			parens++
		case t.isSymbol(")"):
			parens--
		case t.isSymbol(";") && parens <= 0 && blocks == 0:
			return
		}
		last = t
	}
}
