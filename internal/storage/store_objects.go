package storage

import (
	"context"
	"errors"
	"strconv"
	"time"

	"atelie/internal/db"
)

// lockObject reads an object and keeps it as it is until the transaction ends.
func lockObject(ctx context.Context, tx *db.Tx, bucketID, name string) (Object, error) {
	return scanObject(tx.QueryRow(ctx, "update storage_objects set name = name where bucket_id = $1 and name = $2 returning "+objectColumns, bucketID, name))
}

// renameObject fails with db.UniqueViolation when the new name is taken.
func renameObject(ctx context.Context, tx *db.Tx, id, bucketID, name string, at time.Time) error {
	_, err := tx.Exec(ctx, "update storage_objects set bucket_id = $2, name = $3, updated_at = $4 where id = $1", id, bucketID, name, at)
	return err
}

// findMetadata gives an object and what its uploader noted about it, JSON text or nil.
func findMetadata(ctx context.Context, q db.Querier, bucketID, name string) (o Object, metadata *string, err error) {
	var owner *string
	err = q.QueryRow(ctx, "select "+objectColumns+", user_metadata from storage_objects where bucket_id = $1 and name = $2", bucketID, name).
		Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &owner, &o.CreatedAt, &o.UpdatedAt, &metadata)
	if owner != nil {
		o.OwnerID = *owner
	}
	return o, metadata, err
}

// usedBytes sums all files as they were uploaded, but for the one named, which an upload may be about to replace.
func usedBytes(ctx context.Context, q db.Querier, exceptBucket, exceptName string) (int64, error) {
	var sum int64
	// The sum of bigint is numeric on PostgreSQL; both engines cast it back.
	err := q.QueryRow(ctx, `select cast(coalesce(sum(coalesce(m.original_size, o.size)), 0) as bigint)
		from storage_objects o left join media m on m.object_id = o.id where not (o.bucket_id = $1 and o.name = $2)`, exceptBucket, exceptName).Scan(&sum)
	return sum, err
}

// lockQuota lets one transaction at a time count.
func lockQuota(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, "update storage_quota_lock set id = id where id = 1")
	if err == nil && n != 1 {
		return errors.New("storage_quota_lock has lost its row")
	}
	return err
}

// useToken marks a signed upload address as used; false when it was used before.
func useToken(ctx context.Context, tx *db.Tx, id string, expires time.Time) (bool, error) {
	n, err := tx.Exec(ctx, "insert into storage_used_tokens (id, expires_at) values ($1, $2) on conflict (id) do nothing", id, expires)
	return n == 1, err
}

func tokenIsUsed(ctx context.Context, q db.Querier, id string) (bool, error) {
	var one int
	err := q.QueryRow(ctx, "select 1 from storage_used_tokens where id = $1", id).Scan(&one)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func forgetTokens(ctx context.Context, q db.Querier, before time.Time) error {
	_, err := q.Exec(ctx, "delete from storage_used_tokens where expires_at < $1", before)
	return err
}

// page asks for entries in order after a place. Prefix is how full names begin; with Delimiter, what lies deeper is
// one entry a folder. Column is one of pageSorts; folders come before objects when it is a time.
type page struct {
	Bucket, Prefix string
	Delimiter      bool
	Column         string
	Descending     bool
	Limit          int64
	After          *place
}

// place is where a page ended: the full name of its last entry, and the time that an object was sorted by.
type place struct {
	Name   string     `json:"n"`
	Folder bool       `json:"f,omitempty"`
	Time   *time.Time `json:"t,omitempty"`
}

var pageSorts = []string{"name", "created_at", "updated_at"}

// listPage gives entries with their full names; a folder's ends in a slash.
func listPage(ctx context.Context, d *db.DB, p page) ([]entry, error) {
	query, args := pageQuery(d.Dialect, p)
	rows, err := d.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (entry, error) {
		var (
			e                     entry
			id, mime, etag, cache *string
			size                  *int64
			created, updated      *time.Time
		)
		if err := rows.Scan(&e.Name, &id, &size, &mime, &etag, &cache, &created, &updated); err != nil {
			return entry{}, err
		}
		if id != nil {
			e.Object = &Object{ID: *id, Name: e.Name, Size: *size, MimeType: *mime, ETag: *etag, CacheControl: *cache, CreatedAt: *created, UpdatedAt: *updated}
		}
		return e, nil
	})
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

// below limits a query to the names of the bucket $1 that begin with the prefix $2, by its two ends. With from or to, that
// one end is another instead: an index is entered by one condition for each end, and SQLite may choose the wider one.
func below(p page, from, to string) (where string, args []any) {
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

// begin gives the name after which a page begins, if that lies below the prefix: a cursor may be made up.
func (p page) begin() (string, bool) {
	if p.After == nil {
		return "", false
	}
	name, end := p.After.Name, prefixEnd(p.Prefix)
	return name, p.Descending && (end == "" || name < end) || !p.Descending && name >= p.Prefix
}

// pageOfNames reads as many names from the index as the page has.
func pageOfNames(p page) (string, []any) {
	last, ok := p.begin()
	from, to := "", ""
	switch {
	case ok && p.Descending:
		to = " and name < $3"
	case ok:
		from = " and name > $2"
	}
	where, args := below(p, from, to)
	switch {
	case ok && p.Descending:
		args = append(args, last)
	case ok:
		args[1] = last
	}
	args = append(args, p.Limit)
	return "select name, " + pageColumns + " from storage_objects o where " + where + " order by name" + direction(p.Descending) + " limit " + mark(args), args
}

// entryOf gives the expression for the entry that a name is part of, below the prefix $2: the name, or its folder.
func entryOf(dialect db.Dialect) (expression, isFolder string) {
	position := map[db.Dialect]string{db.SQLite: "instr", db.Postgres: "strpos"}[dialect]
	tail := "substr(name, length($2) + 1)"
	at := position + "(" + tail + ", '/')"
	return "case when " + at + " = 0 then name else $2 || substr(" + tail + ", 1, " + at + ") end", "case when " + at + " = 0 then 0 else 1 end"
}

// pageOfFolder steps through the index from entry to entry, past all that lies in a folder: a page reads as many names as
// it has entries. No name ends in a slash or has a sign before the space, which bounds what comes after an entry.
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
		where, _ := below(p, from, to)
		return "select " + entry + " as entry from storage_objects where " + where + " order by name" + direction(p.Descending) + " limit 1"
	}
	_, args := below(p, "", "")
	first := ""
	if last, ok := p.begin(); ok {
		if p.Descending {
			args = args[:2] // the prefix's end is beyond
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

// pageByTime reads a bucket's page from the index of that time. Below a prefix all names are read and sorted: they may be
// few of many. SQLite would enter the other index there, which the sign keeps it from.
func pageByTime(dialect db.Dialect, p page) (string, []any) {
	where, args := "bucket_id = $1", []any{p.Bucket}
	column := p.Column
	if p.Prefix != "" {
		where, args = below(p, "", "")
		if dialect == db.SQLite {
			column = "+" + column
		}
	}
	dir, past := direction(p.Descending), map[bool]string{false: ">", true: "<"}[p.Descending]
	if p.After != nil && !p.After.Folder { // a made-up folder is before all objects
		args = append(args, *p.After.Time, p.After.Name)
		where += " and (" + column + ", name) " + past + " ($" + strconv.Itoa(len(args)-1) + ", " + mark(args) + ")"
	}
	args = append(args, p.Limit)
	return "select name, " + pageColumns + " from storage_objects o where " + where + " order by " + column + dir + ", name" + dir + " limit " + mark(args), args
}

// pageOfFolderByTime sorts the entries below the prefix, folders first: no index has their order.
func pageOfFolderByTime(dialect db.Dialect, p page) (string, []any) {
	where, args := below(p, "", "")
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

// prefixEnd is the least text above all that begin with the prefix, in byte order; "" when there is none.
func prefixEnd(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		if next := runes[i] + 1; next <= 0x10ffff {
			if next >= 0xd800 && next <= 0xdfff { // surrogates are no characters
				next = 0xe000
			}
			return string(append(runes[:i:i], next))
		}
	}
	return ""
}
