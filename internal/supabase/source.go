// Package supabase imports a Supabase project: its accounts, its files, and the rows of five tables (import.go). The source is the running
// project (Project), or a dump of its database (Dump) and a folder with its files (Folder). Sources are untrusted. Therefore everything from
// a source is limited in size and number, and checked by the same code as requests.
package supabase

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode"

	"atelie/internal/imported"
)

// Data is a source of accounts and rows: Project or Dump.
type Data interface {
	// Accounts calls yield for each account and ends at its first error.
	Accounts(ctx context.Context, yield func(imported.Account) error) error
	// Rows calls yield for each row of a table in the schema public, and ends at its first error. In the rows of a Project, values are
	// decoded JSON, with numbers as json.Number. In the rows of a Dump, they are nil or strings as PostgreSQL writes them. The error is
	// ErrNoTable if there is no such table.
	Rows(ctx context.Context, table string, yield func(map[string]any) error) error
	// Others calls yield for each part of the source that cannot be imported, such as a table that the site does not have. It passes a text
	// that describes the part.
	Others(ctx context.Context, yield func(string) error) error
}

// Files is a source of files: Project or Folder.
type Files interface {
	// List calls yield for each file of a bucket and ends at its first error.
	List(ctx context.Context, bucket string, yield func(File) error) error
	// Open opens a file and returns its size, or -1 if the size is unknown. head is true if the caller reads only the first bytes. The
	// error is ErrNoFile if the file is missing.
	Open(ctx context.Context, bucket string, f File, head bool) (io.ReadCloser, int64, error)
}

// Errors of the sources.
var (
	ErrNoTable = errors.New("the source has no such table")
	ErrNoFile  = errors.New("the source lists the file, but does not have it")
)

// Limits of a source, because a hostile source could send rows without end. An import ends with an error if the source exceeds a limit.
const (
	maxAccounts = 100_000
	maxRows     = 1_000_000 // rows of one table
	maxFiles    = 200_000   // files of one bucket, folders included
	maxDepth    = 32        // levels of nested folders
)

// File is a file of the source. Name is its path within the bucket.
type File struct {
	Name         string
	CacheControl string // "" if unknown
}

// printable returns a text of the source for a line of output. It truncates the text to 200 characters and replaces control characters,
// because a control character could change what a terminal shows.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}
