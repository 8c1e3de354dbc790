package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelie/internal/db"
)

// bucket is a row of storage_buckets. AllowedMimeTypes nil means every type that is known; FileSizeLimit is in bytes.
type bucket struct {
	ID               string
	Name             string
	Public           bool
	FileSizeLimit    *int64
	AllowedMimeTypes []string
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

const bucketColumns = "id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at"

func scanBucket(row db.Row) (bucket, error) {
	var (
		b       bucket
		allowed *string
	)
	if err := row.Scan(&b.ID, &b.Name, &b.Public, &b.FileSizeLimit, &allowed, &b.CreatedAt, &b.UpdatedAt); err != nil {
		return bucket{}, err
	}
	if allowed != nil {
		if err := json.Unmarshal([]byte(*allowed), &b.AllowedMimeTypes); err != nil {
			return bucket{}, fmt.Errorf("allowed_mime_types of %s: %w", b.ID, err)
		}
	}
	return b, nil
}

func findBucket(ctx context.Context, q db.Querier, id string) (bucket, error) {
	if !storable(id) {
		return bucket{}, db.ErrNoRows
	}
	return scanBucket(q.QueryRow(ctx, "select "+bucketColumns+" from storage_buckets where id = $1", id))
}

// bucketPage is what listBuckets sorts by and shows. Column is one of bucketSorts.
type bucketPage struct {
	Column        string
	Descending    bool
	Search        string
	Limit, Offset int64
}

var bucketSorts = []string{"id", "name", "created_at", "updated_at"}

func listBuckets(ctx context.Context, q db.Querier, p bucketPage) ([]bucket, error) {
	rows, err := q.Query(ctx, "select "+bucketColumns+" from storage_buckets where lower(name) like $1 escape '\\' order by "+p.Column+direction(p.Descending)+", id limit $2 offset $3",
		"%"+likeText(p.Search)+"%", p.Limit, p.Offset)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (bucket, error) { return scanBucket(rows) })
}

// saveBucket makes a bucket or gives an existing one these limits, unless the owner has set its own.
func saveBucket(ctx context.Context, q db.Querier, b bucket) error {
	allowed, err := json.Marshal(b.AllowedMimeTypes)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into storage_buckets (id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (id) do update set public = excluded.public, file_size_limit = excluded.file_size_limit, allowed_mime_types = excluded.allowed_mime_types, updated_at = excluded.updated_at
		where not storage_buckets.own_limits and (storage_buckets.public <> excluded.public or coalesce(storage_buckets.file_size_limit, -1) <> excluded.file_size_limit
			or storage_buckets.allowed_mime_types is null or storage_buckets.allowed_mime_types <> excluded.allowed_mime_types)`,
		b.ID, b.Name, b.Public, *b.FileSizeLimit, string(allowed), b.CreatedAt, b.UpdatedAt)
	return err
}

const objectColumns = "id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, owner_id, created_at, updated_at"

func scanObject(row db.Row) (Object, error) {
	var (
		o     Object
		owner *string
	)
	if err := row.Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &owner, &o.CreatedAt, &o.UpdatedAt); err != nil {
		return Object{}, err
	}
	if owner != nil {
		o.OwnerID = *owner
	}
	return o, nil
}

func findObject(ctx context.Context, q db.Querier, bucketID, name string) (Object, error) {
	return scanObject(q.QueryRow(ctx, "select "+objectColumns+" from storage_objects where bucket_id = $1 and name = $2", bucketID, name))
}

// saveObject inserts the row, or, with upsert, puts o in the place of an object of that name: o then gets its id and
// its time of creation, and replaced is the blob that it had.
func saveObject(ctx context.Context, tx *db.Tx, o *Object, metadata any, upsert bool) (replaced string, err error) {
	var owner any
	if o.OwnerID != "" {
		owner = o.OwnerID
	}
	for range 5 { // another upload or removal of the same name may come between two statements
		inserted, err := tx.Exec(ctx, `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, owner_id, user_metadata, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (bucket_id, name) do nothing`,
			o.ID, o.Bucket, o.Name, o.BlobID, o.Size, o.MimeType, o.ETag, o.CacheControl, owner, metadata, o.CreatedAt, o.UpdatedAt)
		if err != nil {
			return "", err
		}
		if inserted == 1 {
			return "", nil
		}
		if !upsert {
			return "", errDuplicate
		}
		// An update that changes nothing locks the row on both engines and tells what it holds now.
		err = tx.QueryRow(ctx, "update storage_objects set name = name where bucket_id = $1 and name = $2 returning id, blob_id, created_at", o.Bucket, o.Name).
			Scan(&o.ID, &replaced, &o.CreatedAt)
		if errors.Is(err, db.ErrNoRows) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = tx.Exec(ctx, `update storage_objects set blob_id = $2, size = $3, mime_type = $4, etag = $5, cache_control = $6, owner_id = $7, user_metadata = $8, updated_at = $9 where id = $1`,
			o.ID, o.BlobID, o.Size, o.MimeType, o.ETag, o.CacheControl, owner, metadata, o.UpdatedAt)
		return replaced, err
	}
	return "", fmt.Errorf("%s/%s keeps changing", o.Bucket, o.Name)
}

// deleteObject removes a row and returns what it held, or ErrNoRows.
func deleteObject(ctx context.Context, tx *db.Tx, bucketID, name string) (Object, error) {
	return scanObject(tx.QueryRow(ctx, "delete from storage_objects where bucket_id = $1 and name = $2 returning "+objectColumns, bucketID, name))
}

// entry is a line of a listing: an object, or a folder when Object is nil.
type entry struct {
	Name   string
	Object *Object
}

// listing asks for the entries directly in a folder. Folder is empty or ends in a slash; Search is how the entries'
// names begin, in any case. Column is one of listSorts.
type listing struct {
	Bucket, Folder, Search string
	Column                 string
	Descending             bool
	Limit, Offset          int64
}

var listSorts = []string{"name", "updated_at", "created_at", "last_accessed_at"}

// listEntries gives a page of a folder. By name, folders stand among the files; by a time, before them.
func listEntries(ctx context.Context, d *db.DB, l listing) ([]entry, error) {
	position := map[db.Dialect]string{db.SQLite: "instr", db.Postgres: "strpos"}[d.Dialect]
	dir := direction(l.Descending)
	order := "lower(e.entry)" + dir + ", e.entry" + dir
	if l.Column != "name" {
		column := l.Column
		if column == "last_accessed_at" { // not kept: reading a file writes nothing
			column = "created_at"
		}
		order = "e.folder desc, o." + column + dir + ", " + order
	}
	folderEnd := ""
	if l.Folder != "" {
		folderEnd = strings.TrimSuffix(l.Folder, "/") + "0" // '0' follows '/' in byte order
	}
	rows, err := d.Query(ctx, `with tail as (
			select substr(name, length($2) + 1) as tail from storage_objects where bucket_id = $1 and name >= $2 and (name < $3 or $3 = '')
		), entries as (
			select distinct case when `+position+`(tail, '/') = 0 then tail else substr(tail, 1, `+position+`(tail, '/') - 1) end as entry, `+position+`(tail, '/') > 0 as folder
			from tail where lower(tail) like $4 escape '\'
		)
		select e.entry, e.folder, o.id, o.size, o.mime_type, o.etag, o.cache_control, o.created_at, o.updated_at
		from entries e left join storage_objects o on o.bucket_id = $1 and o.name = $2 || e.entry and not e.folder
		order by `+order+` limit $5 offset $6`,
		l.Bucket, l.Folder, folderEnd, likeText(l.Search)+"%", l.Limit, l.Offset)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (entry, error) {
		var (
			e                     entry
			folder                bool
			id, mime, etag, cache *string
			size                  *int64
			created, updated      *time.Time
		)
		if err := rows.Scan(&e.Name, &folder, &id, &size, &mime, &etag, &cache, &created, &updated); err != nil {
			return entry{}, err
		}
		if !folder {
			e.Object = &Object{ID: *id, Size: *size, MimeType: *mime, ETag: *etag, CacheControl: *cache, CreatedAt: *created, UpdatedAt: *updated}
		}
		return e, nil
	})
}

// listOlderThan gives the objects that were last written before a moment.
func listOlderThan(ctx context.Context, q db.Querier, before time.Time) ([]Object, error) {
	rows, err := q.Query(ctx, "select "+objectColumns+" from storage_objects where updated_at < $1 order by bucket_id, name", before)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (Object, error) { return scanObject(rows) })
}

func insertTrash(ctx context.Context, q db.Querier, blobID string, since time.Time) error {
	_, err := q.Exec(ctx, "insert into storage_trash (blob_id, since) values ($1, $2) on conflict (blob_id) do nothing", blobID, since)
	return err
}

func renewTrash(ctx context.Context, q db.Querier, blobID string, since time.Time) error {
	_, err := q.Exec(ctx, "update storage_trash set since = $2 where blob_id = $1", blobID, since)
	return err
}

func deleteTrash(ctx context.Context, q db.Querier, blobID string) error {
	_, err := q.Exec(ctx, "delete from storage_trash where blob_id = $1", blobID)
	return err
}

func listTrash(ctx context.Context, q db.Querier, before time.Time) ([]string, error) {
	rows, err := q.Query(ctx, "select blob_id from storage_trash where since < $1", before)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (id string, err error) { return id, rows.Scan(&id) })
}

func blobIsUsed(ctx context.Context, q db.Querier, blobID string) (bool, error) {
	var one int
	err := q.QueryRow(ctx, `select 1 from storage_objects where blob_id = $1 union all select 1 from media where original_id = $1
		union all select 1 from media_renditions where blob_id = $1 limit 1`, blobID).Scan(&one)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// collect reads all rows and closes the cursor.
func collect[T any](rows db.Rows, scan func() (T, error)) (out []T, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func direction(descending bool) string {
	if descending {
		return " desc"
	}
	return " asc"
}

// likeText makes a text match itself in LIKE, in lower case: both engines lower ASCII letters alone.
func likeText(s string) string {
	lower := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(lower)
}
