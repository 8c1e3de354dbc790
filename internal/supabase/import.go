package supabase

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/imported"
	"atelie/internal/policy"
)

// This file imports the accounts, rows and files of a Supabase project into a site, for the command atelie import supabase. A source provides
// them: the running project or a dump (Data), and the running project or a folder (Files).

// Site is the destination of an import: functions that check and store accounts, rows and files. An *apperr.Error with a status below 500
// means that this one account, row or file cannot be imported; any other error ends the import. If write is false, the functions check
// but do not store.
type Site struct {
	// AddAccount adds an account that the site does not have. leftOut describes the parts of the account that cannot be imported.
	AddAccount func(ctx context.Context, a imported.Account, write bool) (added bool, leftOut []string, err error)
	// AddRows adds the rows that the site does not have. rewrite returns the URL on the site for a URL of the source. The results are in
	// the order of rows.
	AddRows func(ctx context.Context, table string, rows []map[string]any, rewrite func(string) string, write bool) ([]imported.RowResult, error)
	// FileChecksum returns the SHA-256, in hexadecimal digits, of an object's file as it was imported, or "" if there is no object.
	FileChecksum func(ctx context.Context, bucket, name string) (string, error)
	// CheckFile returns the error that AddFile would return because of the file's size (-1: unknown) or its first bytes, head.
	CheckFile func(ctx context.Context, bucket, name string, size int64, head []byte) error
	// AddFile stores a file. The bucket must have no file with this name.
	AddFile func(ctx context.Context, bucket, name string, body io.Reader, size int64, cacheControl string) error
	// MaxFileBytes is the size in bytes of the largest file that AddFile stores.
	MaxFileBytes int64
	// FilesURL is the prefix of the public URLs of files; "" makes them relative.
	FilesURL string
}

// Import imports the data and files of a Supabase project into a site. Use a new Import for each Run, because Run adds to the counts.
type Import struct {
	Data    Data
	Files   Files // nil: no files
	Site    Site
	Origins []string                // hosts of the source, whose URLs in rows are rewritten; empty: all projects on supabase.co
	Write   bool                    // false: a dry run
	Print   func(line string) error // prints a line for the operator

	// Run counts the accounts, rows and files.
	Added     int
	Unchanged int // accounts, rows and files that the site had before
	Problems  int // accounts, rows and files that could not be imported, or not completely

	accounts   map[string]bool // ids of the accounts that the site has after the import
	noPassword int             // number of accounts without a password in the source
	roles      map[string]bool // in a dry run: ids of the accounts that got a role so far, to detect a second role
	omitted    map[string]int  // by column: number of rows imported without its value
	files      map[string]bool // bucket/name of the files that the site has after the import
	printErr   error           // errors of Print while URLs in rows are rewritten; Run returns them, because the rewriting callback cannot
}

// tables are the tables that are imported. Roles come last, because they refer to accounts.
var tables = []string{"products", "reviews", "cover_images", "contact_submissions", "user_roles"}

// A transaction writes at most batch rows, and not much more than batchBytes bytes.
const (
	batch      = 100
	batchBytes = 8 << 20
)

// filesPerProgressLine is the number of files after which Run prints a line about the progress.
const filesPerProgressLine = 100

// Run imports everything and prints a line for each problem and for each part. An import can be repeated, because accounts, rows and files
// that the site already has stay as they are.
func (i *Import) Run(ctx context.Context) error {
	i.accounts, i.roles, i.omitted, i.files = map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]bool{}
	if err := i.importAccounts(ctx); err != nil {
		return fmt.Errorf("accounts: %w", err)
	}
	// Files come before the rows that show them, so that pages never refer to files that are missing.
	if i.Files != nil {
		for _, bucket := range policy.Buckets {
			if err := i.importFiles(ctx, bucket); err != nil {
				return fmt.Errorf("%s: %w", bucket, err)
			}
		}
	}
	for _, table := range tables {
		if err := i.importTable(ctx, table); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return i.Data.Others(ctx, i.problem)
}

// problem prints a line about something that is not imported, and counts it.
func (i *Import) problem(text string) error {
	i.Problems++
	return i.Print("Left out: " + text)
}

// tally counts the results of one part of the import.
type tally struct{ added, unchanged, refused int }

// count counts one result. It prints the error of an account, row or file that cannot be imported, and returns any other error.
func (t *tally) count(i *Import, name string, added bool, err error) error {
	refusal, isKnown := errors.AsType[*apperr.Error](err)
	switch {
	case isKnown && refusal.Status < http.StatusInternalServerError:
		t.refused++
		text := refusal.Message
		if refusal.Details != "" {
			text += " (" + refusal.Details + ")"
		}
		return i.problem(printable(name) + ": " + printable(text))
	case err != nil:
		return err
	case added:
		t.added++
		i.Added++
	default:
		t.unchanged++
		i.Unchanged++
	}
	return nil
}

// print prints the totals of one part.
func (t *tally) print(i *Import, part string) error {
	verb := "added"
	if !i.Write {
		verb = "to be added"
	}
	return i.Print(fmt.Sprintf("%s: %d %s, %d unchanged, %d left out", part, t.added, verb, t.unchanged, t.refused))
}

func (i *Import) importAccounts(ctx context.Context) error {
	var t tally
	found := 0
	err := i.Data.Accounts(ctx, func(a imported.Account) error {
		if found++; found > maxAccounts {
			return fmt.Errorf("the source has more than %d accounts", maxAccounts)
		}
		name := "account " + a.ID
		if a.Email != "" {
			name += " (" + a.Email + ")"
		}
		if a.RefusalReason != "" {
			t.refused++
			return i.problem(printable(name) + ": " + printable(a.RefusalReason))
		}
		added, leftOut, err := i.Site.AddAccount(ctx, a, i.Write)
		refusal, isKnown := errors.AsType[*apperr.Error](err)
		if err == nil || isKnown && refusal.Code == "conflict" { // an account with this id is there
			i.accounts[a.ID] = true
		}
		if added && a.HashUnknown {
			i.noPassword++
		}
		for _, part := range leftOut {
			if err := i.problem(printable(name) + ": " + printable(part)); err != nil {
				return err
			}
		}
		return t.count(i, name, added, err)
	})
	if err != nil {
		return err
	}
	if i.noPassword > 0 {
		if err := i.Print(fmt.Sprintf("Note: %d accounts come without a password, which the project does not tell: each needs a recovery mail (Forgot password), or import from a dump instead", i.noPassword)); err != nil {
			return err
		}
	}
	return t.print(i, "accounts")
}

func (i *Import) importTable(ctx context.Context, table string) error {
	var (
		t    tally
		rows []map[string]any
		size int // bytes of rows
	)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		results, err := i.Site.AddRows(ctx, table, rows, i.rewriter(table), i.Write)
		if err != nil {
			return err
		}
		if i.printErr != nil {
			return i.printErr
		}
		rows, size = nil, 0
		for _, r := range results {
			for _, column := range r.LeftOut {
				if column = printable(table + "." + column); len(i.omitted) < 1000 || i.omitted[column] > 0 {
					i.omitted[column]++
				}
			}
			var err error
			if r.Err != nil {
				err = r.Err
			} else if table == "user_roles" && !i.Write {
				err = i.checkRole(r)
			}
			if err := t.count(i, table+" "+r.Key, r.Added, err); err != nil {
				return err
			}
		}
		return nil
	}
	read := func(only func(map[string]any) bool) error {
		found := 0
		err := i.Data.Rows(ctx, table, func(row map[string]any) error {
			if found++; found > maxRows {
				return fmt.Errorf("the source has more than %d rows", maxRows)
			}
			if only(row) {
				rows = append(rows, row)
				size += sizeOf(row)
			}
			if len(rows) < batch && size < batchBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
		return flush()
	}
	var err error
	if table == "user_roles" { // an account has one role here: that of an administrator comes first
		err = read(isAdmin)
	}
	if err == nil {
		err = read(func(row map[string]any) bool { return table != "user_roles" || !isAdmin(row) })
	}
	if errors.Is(err, ErrNoTable) {
		return i.problem(table + ": " + err.Error())
	}
	if err != nil {
		return err
	}
	for _, column := range sortedKeys(i.omitted) {
		if err := i.problem(fmt.Sprintf("%s: a column that this site does not have, in %d rows", column, i.omitted[column])); err != nil {
			return err
		}
	}
	clear(i.omitted)
	return t.print(i, table)
}

// Errors of roles in a dry run, which cannot ask the database.
var (
	errNoAccount  = apperr.New(http.StatusConflict, db.ForeignKeyViolation, "The account of this role is not imported")
	errSecondRole = apperr.New(http.StatusConflict, db.UniqueViolation, "The account already has another role, and can have only one")
)

// checkRole returns the error that the database would return for a role.
func (i *Import) checkRole(r imported.RowResult) error {
	switch {
	case !i.accounts[r.Key]:
		return errNoAccount
	case r.Added && i.roles[r.Key]:
		return errSecondRole
	}
	i.roles[r.Key] = true
	return nil
}

// sizeOf returns about how many bytes a value has.
func sizeOf(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	case map[string]any:
		for name, item := range v {
			n += len(name) + sizeOf(item)
		}
	}
	return n
}

func isAdmin(row map[string]any) bool { return row["role"] == "admin" }

// maxReads is how often a file or a response that ends early is read.
const maxReads = 3

func (i *Import) importFiles(ctx context.Context, bucket string) error {
	var t tally
	found := 0
	err := i.Files.List(ctx, bucket, func(f File) error {
		if found++; found > maxFiles {
			return fmt.Errorf("the source has more than %d files", maxFiles)
		}
		if found%filesPerProgressLine == 0 {
			if err := i.Print(fmt.Sprintf("files of %s: %d so far", bucket, found)); err != nil {
				return err
			}
		}
		var (
			added bool
			err   error
		)
		for attempt := 1; ; attempt++ {
			var broken error
			if added, broken, err = i.importFile(ctx, bucket, f); broken == nil {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if attempt == maxReads {
				err = apperr.New(http.StatusBadRequest, "InvalidRequest", "The file ends early at the source").Because(broken)
				break
			}
		}
		if errors.Is(err, ErrNoFile) {
			err = apperr.New(http.StatusNotFound, "NoSuchKey", ErrNoFile.Error())
		}
		if err == nil || errors.Is(err, errFileDiffers) {
			i.files[bucket+"/"+f.Name] = true
		}
		return t.count(i, "file "+bucket+"/"+f.Name, added, err)
	})
	if err != nil {
		return err
	}
	return t.print(i, "files of "+bucket)
}

var errFileDiffers = apperr.New(http.StatusConflict, "ResourceAlreadyExists", "The site already has another file with this name: it stays unchanged")

// importFile imports a file, or compares it with the one that is here. broken is not nil if the source ended early within the file.
func (i *Import) importFile(ctx context.Context, bucket string, f File) (added bool, broken, err error) {
	var known string
	if files.Storable(f.Name) { // else the check below refuses the name
		if known, err = i.Site.FileChecksum(ctx, bucket, f.Name); err != nil {
			return false, nil, err
		}
	}
	head := known == "" && !i.Write
	body, size, err := i.Files.Open(ctx, bucket, f, head)
	if err != nil {
		return false, nil, err
	}
	defer func() { _ = body.Close() }() // only read from
	source := &sourceReader{body: body}
	switch {
	case known != "":
		sum := sha256.New()
		n, err := io.Copy(sum, io.LimitReader(source, i.Site.MaxFileBytes+1))
		if err != nil {
			return false, err, nil
		}
		if n > i.Site.MaxFileBytes || hex.EncodeToString(sum.Sum(nil)) != known {
			return false, nil, errFileDiffers
		}
		return false, nil, nil
	case head:
		var first bytes.Buffer
		if _, err := io.Copy(&first, io.LimitReader(source, files.SniffLength)); err != nil {
			return false, err, nil
		}
		err = i.Site.CheckFile(ctx, bucket, f.Name, size, first.Bytes())
		return err == nil, nil, err
	}
	err = i.Site.AddFile(ctx, bucket, f.Name, source, size, f.CacheControl)
	if err != nil && source.err != nil {
		return false, source.err, nil
	}
	return err == nil, nil, err
}

// sourceReader records the error with which a file of the source ends early. The error of storing the file does not tell whether the source
// or the site has failed.
type sourceReader struct {
	body io.Reader
	err  error
}

func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
