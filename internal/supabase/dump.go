package supabase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/policy"
)

// Dump reads a dump of a Supabase project's database in the plain format of pg_dump: SQL text whose rows are in COPY or INSERT statements.
// It parses the statements and never runs them. It is a Data (a source of accounts and rows). Each method reads the whole file, because
// the tables of a dump can be in any order.
type Dump struct {
	path      string
	files     DumpFiles
	truncated bool // set by scan: the last line that pg_dump and the Supabase CLI write is missing, so the dump is incomplete
}

// DumpFiles says where the uploaded files of the project are. A dump has only their names, in the storage.objects table. If neither field is
// set, the files cannot be imported.
type DumpFiles struct {
	Folder  *Folder // the folder with the files; nil if there is none
	Project bool    // true if the files are downloaded from the running project
}

// NewDump checks the format of the file at path and returns the dump. For another format, the error says how to convert the dump.
func NewDump(path string, files DumpFiles) (_ *Dump, err error) {
	const advice = "convert it with pg_restore --file=dump.sql DUMP, or make the dump with pg_dump --format=plain --schema=public --schema=auth --schema=storage --file=dump.sql URL"
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("this is a dump in directory format: " + advice)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("the dump must be a file: it is read several times")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, 512) // enough to recognize the format
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch start := string(head[:n]); {
	case strings.HasPrefix(start, "PGDMP"):
		return nil, errors.New("this is a dump in PostgreSQL's custom format: " + advice)
	case strings.HasPrefix(start, "toc.dat\x00"):
		return nil, errors.New("this is a dump in tar format: " + advice)
	case strings.HasPrefix(start, "\x1f\x8b"):
		return nil, errors.New("this dump is compressed: unpack it first, with gunzip")
	case strings.HasPrefix(start, "\xff\xfe"), strings.HasPrefix(start, "\xfe\xff"):
		return nil, errors.New("this dump is in UTF-16, as PowerShell writes it: let pg_dump write it with --file=dump.sql")
	}
	return &Dump{path: path, files: files}, nil
}

// table is the name of a table with its schema.
type table struct{ schema, name string }

// scan reads the whole dump and calls row for each row of the tables for which wanted returns true. Values are texts or nil.
func (d *Dump) scan(ctx context.Context, wanted func(table) bool, row func(table, map[string]any) error) (err error) {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := &scanner{lexer: newLexer(f), ctx: ctx, wanted: wanted, row: row, columns: map[table][]string{}}
	for {
		t := s.next(true) // true: a statement can begin here
		switch {
		case t.kind == tokenEnd:
			d.truncated = !s.complete
			return s.err
		case t.isSymbol(";"):
		case t.isWord("copy"):
			s.copy()
		case t.isWord("insert"):
			s.insert()
		case t.isWord("create"):
			s.create()
		case t.isWord("set"):
			s.set()
		case t.isWord("reset"): // the CLI removes the comments and ends a dump so
			s.complete = true
			s.skipStatement()
		default:
			s.skipStatement()
		}
	}
}

// scanner reads the statements of a dump.
type scanner struct {
	*lexer
	ctx     context.Context
	wanted  func(table) bool
	row     func(table, map[string]any) error
	columns map[table][]string // columns of the wanted tables, in the order of CREATE TABLE
}

// take returns the next token within a statement.
func (s *scanner) take() token {
	t := s.next(false)
	if t.kind == tokenEnd {
		s.failf("a statement does not end")
	}
	return t
}

// expect takes tokens that must be the given words and symbols.
func (s *scanner) expect(words ...string) {
	for _, w := range words {
		if t := s.take(); !t.isWord(w) && !t.isSymbol(w) {
			s.failf("%q stands where %q was expected", printable(t.text), w)
		}
	}
}

// name takes a name.
func (s *scanner) name() string {
	t := s.take()
	if t.kind != tokenWord && t.kind != tokenName {
		s.failf("a name was expected")
	}
	return t.text
}

// table takes the name of a table. A name without a schema has the schema "".
func (s *scanner) table() (t table, after token) {
	t.name = s.name()
	if after = s.take(); !after.isSymbol(".") {
		return t, after
	}
	t.schema = t.name
	t.name = s.name()
	return t, s.take()
}

// names takes a list of names; its opening parenthesis was taken.
func (s *scanner) names() (names []string) {
	for s.err == nil {
		if names = append(names, s.name()); len(names) > 1600 { // PostgreSQL's limit
			s.failf("too many columns")
		}
		if t := s.take(); t.isSymbol(")") {
			break
		} else if !t.isSymbol(",") {
			s.failf("the list of columns cannot be read")
		}
	}
	return names
}

// set reads SET. A dump must be in UTF-8 and have standard_conforming_strings on.
func (s *scanner) set() {
	name := s.name()
	if name == "client_encoding" || name == "standard_conforming_strings" {
		s.take() // = or TO
		value := s.take()
		switch text := strings.ToLower(value.text); {
		case name == "client_encoding" && text != "utf8" && text != "utf-8":
			s.failf("the dump is in %s: make it with pg_dump --encoding=UTF8", printable(value.text))
		case name == "standard_conforming_strings" && text != "on":
			s.failf("standard_conforming_strings must be on")
		}
	}
	s.skipStatement()
}

// constraints are the words with which elements of CREATE TABLE begin that are no columns.
var constraints = []string{"constraint", "primary", "unique", "check", "foreign", "exclude", "like"}

// create reads the columns of CREATE TABLE, in the order in which INSERT without columns has their values.
func (s *scanner) create() {
	t := s.take()
	for t.isWord("unlogged") || t.isWord("foreign") || t.isWord("global") || t.isWord("local") || t.isWord("temporary") {
		t = s.take()
	}
	if !t.isWord("table") {
		s.skipAfter(t)
		return
	}
	name, after := s.table()
	for (after.isWord("not") || after.isWord("exists")) && name.name == "if" { // IF NOT EXISTS
		if after.isWord("exists") {
			name, after = s.table()
			break
		}
		after = s.take()
	}
	if !after.isSymbol("(") || !s.wanted(name) {
		s.skipAfter(after)
		return
	}
	var columns []string
	for end := false; !end; {
		t := s.take()
		if t.isSymbol(")") {
			break
		}
		if t.kind == tokenName || !slices.Contains(constraints, t.text) {
			columns = append(columns, t.text)
		}
		end = s.skipElement()
	}
	s.columns[name] = columns
	s.skipStatement()
}

// skipAfter skips the rest of a statement whose token t was taken.
func (s *scanner) skipAfter(t token) {
	if !t.isSymbol(";") {
		s.skipStatement()
	}
}

// skipElement skips the rest of an element of a list. end reports whether the list ends with it.
func (s *scanner) skipElement() (end bool) {
	for depth := 0; ; {
		t := s.take()
		switch {
		case t.kind == tokenEnd:
			return true
		case t.isSymbol("("):
			depth++
		case t.isSymbol(")") && depth == 0:
			return true
		case t.isSymbol(")"):
			depth--
		case t.isSymbol(",") && depth == 0:
			return false
		}
	}
}

// copy reads COPY table (columns) FROM stdin; and the rows that follow.
func (s *scanner) copy() {
	name, after := s.table()
	columns := s.columns[name]
	if after.isSymbol("(") {
		columns = s.names()
		after = s.take()
	}
	if !after.isWord("from") {
		s.failf("COPY to a file is in no dump")
	}
	s.expect("stdin", ";")
	if !s.skipLine() {
		s.failf("the rows of %s are missing", printable(name.name))
	}
	wanted := s.wanted(name)
	if wanted && columns == nil {
		s.failf("the columns of %s are not listed", printable(name.name))
	}
	s.skip = !wanted
	defer func() { s.skip = false }()
	for {
		line, ok := s.readLine()
		switch {
		case !ok:
			s.failf("the rows of %s do not end", printable(name.name))
			return
		case line == `\.`:
			s.fail(s.ctx.Err())
			return
		case !wanted:
			continue
		}
		row, err := copyRow(line, columns)
		if err != nil {
			s.failf("%v", err)
			return
		}
		s.fail(s.row(name, row))
	}
}

// copyRow reads one line of COPY (PostgreSQL's documentation of COPY, File Formats, Text Format).
func copyRow(line string, columns []string) (map[string]any, error) {
	fields := strings.Split(line, "\t")
	if len(columns) == 0 && line == "" {
		return map[string]any{}, nil
	}
	if len(fields) != len(columns) {
		return nil, fmt.Errorf("a row has %d values and the table %d columns", len(fields), len(columns))
	}
	row := make(map[string]any, len(columns))
	for i, field := range fields {
		if field == `\N` {
			row[columns[i]] = nil
			continue
		}
		text, err := unescape(field)
		if err != nil {
			return nil, err
		}
		row[columns[i]] = text
	}
	return row, nil
}

// unescape replaces the escapes of a value of COPY.
func unescape(field string) (string, error) {
	if !strings.Contains(field, `\`) {
		return field, nil
	}
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] != '\\' {
			b.WriteByte(field[i])
			continue
		}
		if i++; i == len(field) {
			return "", errors.New("a value ends within an escape")
		}
		switch c := field[i]; c {
		case 'b', 'f', 'n', 'r', 't', 'v':
			b.WriteByte("\b\f\n\r\t\v"[strings.IndexByte("bfnrtv", c)])
		case 'x', '0', '1', '2', '3', '4', '5', '6', '7':
			digits, base, begin, maxEnd := "01234567", 8, i, i+3
			if c == 'x' {
				digits, base, begin, maxEnd = "0123456789abcdefABCDEF", 16, i+1, i+3
			}
			end := begin
			for end < len(field) && end < maxEnd && strings.IndexByte(digits, field[end]) >= 0 {
				end++
			}
			if end == begin {
				b.WriteByte(c)
				continue
			}
			n, err := strconv.ParseUint(field[begin:end], base, 16)
			if err != nil {
				return "", err
			}
			b.WriteByte(byte(n))
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// insert reads INSERT INTO table (columns) VALUES (…), (…);
func (s *scanner) insert() {
	s.expect("into")
	name, after := s.table()
	if !s.wanted(name) {
		s.skipAfter(after)
		return
	}
	columns := s.columns[name]
	if after.isSymbol("(") {
		columns = s.names()
		after = s.take()
	}
	if after.isWord("overriding") {
		s.expect("system", "value")
		after = s.take()
	}
	if !after.isWord("values") {
		s.failf("only INSERT with VALUES is in a dump")
	}
	if columns == nil {
		s.failf("the columns of %s are not listed: make the dump with pg_dump --column-inserts, or with the schema", printable(name.name))
	}
	for s.err == nil {
		s.expect("(")
		row := s.values(columns)
		if s.err != nil {
			return
		}
		s.fail(s.row(name, row))
		t := s.take()
		switch {
		case t.isSymbol(";"):
			s.fail(s.ctx.Err())
			return
		case t.isWord("on"): // ON CONFLICT DO NOTHING
			s.skipStatement()
			return
		case !t.isSymbol(","):
			s.failf("the rows of %s cannot be read", printable(name.name))
		}
	}
}

// values takes one row of VALUES, whose opening parenthesis was taken. DEFAULT is no value, as it stands for generated columns.
func (s *scanner) values(columns []string) map[string]any {
	row := make(map[string]any, len(columns))
	size := 0
	for i := 0; s.err == nil; i++ {
		t := s.take()
		if i == len(columns) {
			s.failf("a row has more values than the table has columns")
			break
		}
		if size += len(t.text); size > maxValueBytes {
			s.failf("a row has more than %d MB", maxValueBytes>>20)
		}
		switch {
		case t.kind == tokenText:
			row[columns[i]] = t.text
		case t.isWord("null"):
			row[columns[i]] = nil
		case t.isWord("default"):
		case t.isWord("true"), t.isWord("false"), t.kind == tokenWord && strings.IndexByte("-.0123456789", t.text[0]) >= 0:
			row[columns[i]] = t.text
		default:
			s.failf("a value cannot be read: %s", printable(t.text))
		}
		switch t = s.take(); {
		case t.isSymbol(")") && i == len(columns)-1:
			return row
		case t.isSymbol(")"):
			s.failf("a row has %d values and the table %d columns", i+1, len(columns))
		case !t.isSymbol(","):
			s.failf("a value cannot be read")
		}
	}
	return nil
}

// Rows implements Data.
func (d *Dump) Rows(ctx context.Context, name string, yield func(map[string]any) error) error {
	found := false
	want := table{"public", name}
	err := d.scan(ctx, func(t table) bool {
		found = found || t == want
		return t == want
	}, func(_ table, row map[string]any) error { return yield(row) })
	if err == nil && !found {
		return ErrNoTable
	}
	return err
}

// maxRelations is the size in bytes up to which identities and second factors are held in memory, until their accounts come.
const maxRelations = 64 << 20

// Others names the tables of the schema public with rows that the site does not have, the buckets that it does not have, and the
// files that the folder lacks.
func (d *Dump) Others(ctx context.Context, yield func(string) error) error {
	unknown, buckets := map[string]int{}, map[string]int{}
	count := func(m map[string]int, name string) {
		if name = printable(name); m[name] > 0 || len(m) < 1000 {
			m[name]++
		}
	}
	known := map[string]bool{}
	for _, name := range tables {
		known[name] = true
	}
	for _, name := range policy.Buckets {
		known["bucket "+name] = true
	}
	objects := table{"storage", "objects"}
	noFolder := 0
	err := d.scan(ctx, func(t table) bool { return t == objects || t.schema == "public" && !known[t.name] }, func(t table, row map[string]any) error {
		if t != objects {
			count(unknown, t.name)
			return nil
		}
		bucket, name := text(row, "bucket_id"), text(row, "name")
		switch {
		case strings.HasSuffix("/"+name, "/"+placeholderFile):
		case !known["bucket "+bucket]:
			count(buckets, bucket)
		case d.files.Folder == nil && d.files.Project: // what is missing there is found when it is read
		case d.files.Folder == nil:
			noFolder++
		case !d.files.Folder.has(bucket, name):
			return yield("file " + printable(bucket+"/"+name) + ": the folder does not have it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if d.truncated {
		if err := yield("what may follow: the dump does not end as pg_dump ends one, so it may be cut"); err != nil {
			return err
		}
	}
	if noFolder > 0 {
		if err := yield(fmt.Sprintf("%d files: give their folder with --files, or the project with --project-url and its service key", noFolder)); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(unknown) {
		if err := yield(fmt.Sprintf("the table %s with %d rows, which this site does not have", name, unknown[name])); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(buckets) {
		if err := yield(fmt.Sprintf("the bucket %s with %d files, which this site does not have", name, buckets[name])); err != nil {
			return err
		}
	}
	return nil
}
