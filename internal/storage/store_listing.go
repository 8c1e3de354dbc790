package storage

import (
	"context"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries of both listings of objects (list.go and listv2.go).

// entry is one result of a listing: an object, or a folder if Object is nil.
type entry struct {
	Name   string
	Object *files.Object
}

// listing selects entries directly in a folder, for the older of the two listings.
type listing struct {
	Bucket        string
	Folder        string // empty, or ends in a slash
	Search        string // the beginning of the entries' names; the case of ASCII letters is ignored
	Column        string // the column of the order: one of listSorts
	Descending    bool
	Limit, Offset int64
}

// listSorts are the values of listing.Column.
var listSorts = []string{"name", "updated_at", "created_at", "last_accessed_at"}

// positionFunction maps each engine to its SQL function that returns the position of one string in another. Positions begin with 1. The
// result 0 means that the string is not there.
var positionFunction = map[db.Dialect]string{db.SQLite: "instr", db.Postgres: "strpos"}

// listEntries returns the selected entries of a folder. If the order is by name, folders are sorted among the objects. If the order is by a
// time, all folders come before all objects.
//
// In the query, tail is the part of an object's name after the folder, and entry is the first segment of tail. If a slash follows that
// segment, the entry is a folder. For the object "a/b/c.jpg" in the folder "a/", tail is "b/c.jpg" and the entry is the folder "b".
func listEntries(ctx context.Context, d *db.DB, l listing) ([]entry, error) {
	positionOf := positionFunction[d.Dialect]
	dir := direction(l.Descending)
	order := "lower(e.entry)" + dir + ", e.entry" + dir
	if l.Column != "name" {
		column := l.Column
		if column == "last_accessed_at" { // the database does not record this time, so that reading a file writes nothing
			column = "created_at"
		}
		order = "e.folder desc, o." + column + dir + ", " + order
	}
	folderEnd := ""
	if l.Folder != "" {
		folderEnd = strings.TrimSuffix(l.Folder, "/") + "0" // follows all names in the folder: '0' is the byte after '/'
	}
	return db.Collect(ctx, d, scanEntry, `with tail as (
			select substr(name, length($2) + 1) as tail from storage_objects where bucket_id = $1 and name >= $2 and (name < $3 or $3 = '')
		), entries as (
			select distinct case when `+positionOf+`(tail, '/') = 0 then tail else substr(tail, 1, `+positionOf+`(tail, '/') - 1) end as entry, `+positionOf+`(tail, '/') > 0 as folder
			from tail where lower(tail) like $4 escape '\'
		)
		select e.entry, `+pageColumns+`
		from entries e left join storage_objects o on o.bucket_id = $1 and o.name = $2 || e.entry and not e.folder
		order by `+order+` limit $5 offset $6`,
		l.Bucket, l.Folder, folderEnd, likeText(l.Search)+"%", l.Limit, l.Offset)
}

// scanEntry scans a row of a name and pageColumns. For a folder, pageColumns are null.
func scanEntry(row db.Row) (entry, error) {
	var (
		e                     entry
		id, mime, etag, cache *string
		size                  *int64
		created, updated      *time.Time
	)
	err := row.Scan(&e.Name, &id, &size, &mime, &etag, &cache, &created, &updated)
	if err == nil && id != nil {
		e.Object = &files.Object{ID: *id, Name: e.Name, Size: *size, MimeType: *mime, ETag: *etag, CacheControl: *cache, CreatedAt: *created, UpdatedAt: *updated}
	}
	return e, err
}

func direction(descending bool) string {
	if descending {
		return " desc"
	}
	return " asc"
}

// likeText returns a pattern for LIKE that matches s itself, in lower case. Only ASCII letters are lowered, as by lower() of
// both databases.
func likeText(s string) string {
	lower := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(lower)
}

// listNames returns at most limit names of a bucket's objects in order: the names that follow the name after, or the first names
// if after is "".
func listNames(ctx context.Context, q db.Querier, bucketID, after string, limit int) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select name from storage_objects where bucket_id = $1 and name > $2 order by name limit $3", bucketID, after, limit)
}

// listFolder returns the names of the objects in a folder and its folders. folder has no slash at its end.
func listFolder(ctx context.Context, q db.Querier, bucketID, folder string) ([]string, error) {
	// '0' follows '/' in byte order
	return db.Collect(ctx, q, db.ScanOne[string], "select name from storage_objects where bucket_id = $1 and name >= $2 and name < $3 order by name", bucketID, folder+"/", folder+"0")
}

// page selects the entries of one page, for ListV2.
type page struct {
	Bucket     string
	Prefix     string // the beginning of the full names
	Delimiter  bool   // objects with a slash after the prefix are one entry for each folder
	Column     string // one of pageSorts; in an order by time, folders precede objects
	Descending bool
	Limit      int64
	After      *pageEnd // the end of the page before; nil for the first page
}

// pageEnd is where a page ended: the full name of its last entry and, for an object sorted by a time, that time.
type pageEnd struct {
	Name   string     `json:"n"`
	Folder bool       `json:"f,omitempty"`
	Time   *time.Time `json:"t,omitempty"`
}

var pageSorts = []string{"name", "created_at", "updated_at"}

// listPage returns the entries of a page with their full names. The name of a folder ends in a slash.
func listPage(ctx context.Context, d *db.DB, p page) ([]entry, error) {
	query, args := pageQuery(d.Dialect, p)
	return db.Collect(ctx, d, scanEntry, query, args...)
}

func pageQuery(dialect db.Dialect, p page) (string, []any) {
	switch {
	case p.Column != "name" && p.Delimiter:
		return pageOfFolderByTime(dialect, p)
	case p.Column != "name":
		return pageByTime(dialect, p)
	case p.Delimiter:
		return pageOfFolder(dialect, p)
	}
	return pageOfNames(p)
}

const pageColumns = "o.id, o.size, o.mime_type, o.etag, o.cache_control, o.created_at, o.updated_at"

// prefixCondition returns a condition for the names in bucket $1 that begin with prefix $2, as a range of names. from and to, if
// not empty, replace the lower and the upper end of the range. They must not be added as second conditions: SQLite uses one
// condition for each end of a range in an index, and may choose the one that excludes less.
func prefixCondition(p page, from, to string) (where string, args []any) {
	args = []any{p.Bucket, p.Prefix}
	if from == "" {
		from = " and name >= $2"
	}
	if end := prefixEnd(p.Prefix); to == "" && end != "" {
		args = append(args, end)
		to = " and name < $3"
	}
	return "bucket_id = $1" + from + to, args
}

func mark(args []any) string { return "$" + strconv.Itoa(len(args)) }

// begin returns the name after which a page begins. It returns false for the first page, and for a name that precedes all
// names with the prefix in the order of the page. Only a forged cursor has such a name; its page begins like the first one.
func (p page) begin() (string, bool) {
	if p.After == nil {
		return "", false
	}
	name, end := p.After.Name, prefixEnd(p.Prefix)
	return name, p.Descending && (end == "" || name < end) || !p.Descending && name >= p.Prefix
}

// pageOfNames returns the query of a page without Delimiter in the order of names. It reads as many names from the index as
// the page has entries.
func pageOfNames(p page) (string, []any) {
	where, args := prefixCondition(p, "", "")
	last, ok := p.begin()
	switch {
	case ok && p.Descending:
		where, args = prefixCondition(p, "", " and name < $3")
		args = append(args, last)
	case ok:
		where, args = prefixCondition(p, " and name > $2", "")
		args[1] = last
	}
	args = append(args, p.Limit)
	return "select name, " + pageColumns + " from storage_objects o where " + where + " order by name" + direction(p.Descending) + " limit " + mark(args), args
}

// entryOf returns two SQL expressions: the entry below the prefix $2 to which a name belongs (the name itself, or its folder
// with a slash), and whether that is a folder (1 or 0).
func entryOf(dialect db.Dialect) (expression, isFolder string) {
	position := positionFunction[dialect]
	tail := "substr(name, length($2) + 1)"
	at := position + "(" + tail + ", '/')"
	return "case when " + at + " = 0 then name else $2 || substr(" + tail + ", 1, " + at + ") end", "case when " + at + " = 0 then 0 else 1 end"
}

// pageOfFolder returns the query of a page with Delimiter in the order of names. It steps through the index from entry to entry
// and skips the content of folders, so that a page reads as many names as it has entries. The next name follows an entry with
// a space or, after a folder, a 0 in place of the slash: no name ends in a slash or has a character below the space.
func pageOfFolder(dialect db.Dialect, p page) (string, []any) {
	entry, _ := entryOf(dialect)
	next := func(last string) string {
		from, to := "", ""
		switch {
		case last != "" && p.Descending:
			to = " and name < " + last
		case last != "":
			from = " and name >= case when substr(" + last + ", length(" + last + ")) = '/' then substr(" + last + ", 1, length(" + last + ") - 1) || '0' else " + last + " || ' ' end"
		}
		where, _ := prefixCondition(p, from, to)
		return "select " + entry + " as entry from storage_objects where " + where + " order by name" + direction(p.Descending) + " limit 1"
	}
	_, args := prefixCondition(p, "", "")
	first := ""
	if last, ok := p.begin(); ok {
		if p.Descending {
			args = args[:2] // the end of the prefix's range is not needed
		}
		args = append(args, last)
		first = "cast(" + mark(args) + " as text)"
	}
	args = append(args, p.Limit)
	collate := map[db.Dialect]string{db.SQLite: "", db.Postgres: ` collate "C"`}[dialect]
	return `with recursive steps(entry, n) as (
			select (` + next(first) + `)` + collate + `, 1
			union all
			select (` + next("steps.entry") + `)` + collate + `, steps.n + 1 from steps where steps.entry is not null and steps.n < ` + mark(args) + `
		)
		select e.entry, ` + pageColumns + ` from steps e left join storage_objects o on o.bucket_id = $1 and o.name = e.entry where e.entry is not null order by e.n`, args
}

// pageByTime returns the query of a page in the order of a time. Without a prefix it reads the index of that time. The names
// with a prefix may be few of the bucket's, so they are read by the index of names and sorted: the + before the column keeps
// SQLite from using the index of the time.
func pageByTime(dialect db.Dialect, p page) (string, []any) {
	where, args := "bucket_id = $1", []any{p.Bucket}
	column := p.Column
	if p.Prefix != "" {
		where, args = prefixCondition(p, "", "")
		if dialect == db.SQLite {
			column = "+" + column
		}
	}
	dir, past := direction(p.Descending), map[bool]string{false: ">", true: "<"}[p.Descending]
	if p.After != nil && !p.After.Folder { // a folder from a forged cursor is ordered before all objects
		args = append(args, *p.After.Time, p.After.Name)
		where += " and (" + column + ", name) " + past + " ($" + strconv.Itoa(len(args)-1) + ", " + mark(args) + ")"
	}
	args = append(args, p.Limit)
	return "select name, " + pageColumns + " from storage_objects o where " + where + " order by " + column + dir + ", name" + dir + " limit " + mark(args), args
}

// pageOfFolderByTime returns the query of a page with Delimiter in the order of a time. It sorts all entries below the prefix,
// because no index has this order with folders first.
func pageOfFolderByTime(dialect db.Dialect, p page) (string, []any) {
	where, args := prefixCondition(p, "", "")
	full, folder := entryOf(dialect)
	dir, past := direction(p.Descending), map[bool]string{false: ">", true: "<"}[p.Descending]
	after := ""
	if p.After != nil {
		args = append(args, p.After.Name)
		name := mark(args)
		if p.After.Folder {
			after = "where e.folder = 0 or e.entry " + past + " " + name
		} else {
			args = append(args, *p.After.Time)
			after = "where e.folder = 0 and (o." + p.Column + " " + past + " " + mark(args) + " or (o." + p.Column + " = " + mark(args) + " and e.entry " + past + " " + name + "))"
		}
	}
	args = append(args, p.Limit)
	return `with entries as (select distinct ` + full + ` as entry, ` + folder + ` as folder from storage_objects where ` + where + `)
		select e.entry, ` + pageColumns + `
		from entries e left join storage_objects o on o.bucket_id = $1 and o.name = e.entry and e.folder = 0 ` + after + `
		order by e.folder desc, o.` + p.Column + dir + `, e.entry` + dir + ` limit ` + mark(args), args
}

// prefixEnd returns the least text, in byte order, that follows all texts with the prefix; "" if there is none.
func prefixEnd(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		if next := runes[i] + 1; next <= 0x10ffff {
			if next >= 0xd800 && next <= 0xdfff { // surrogates are not valid in UTF-8
				next = 0xe000
			}
			return string(append(runes[:i:i], next))
		}
	}
	return ""
}
