package storage

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries with which the command "atelie copy" lists and counts the stored files of a site. These are the objects
// (files with a bucket and a name), their originals (uploads with metadata that the object does not have) and their renditions (resized
// pictures). A blob is the bytes of a stored file. files.StoredFiles is the SQL of a subquery that lists the stored files. Its column etag
// has the file's SHA-256.

// listStored returns a page of at most limit stored files, ordered by blob id. The page begins after afterID; "" is the beginning.
func listStored(ctx context.Context, q db.Querier, afterID string, limit int) ([]storedFile, error) {
	return db.Collect(ctx, q, func(row db.Row) (f storedFile, err error) {
		err = row.Scan(&f.BlobID, &f.Object, &f.SHA256, &f.Size)
		return f, err
	}, "select id, name, etag, size from "+files.StoredFiles+" where id > $1 order by id limit $2", cmp.Or(afterID, uuid.Nil.String()), limit) // uuid.Nil is less than every id
}

// CountStored returns the number of stored files and their total size in bytes. It counts the files with a blob id up to upTo, or all files
// if upTo is "". A copy goes by blob id. If it continues after an interruption, upTo is the last id that it has copied.
func CountStored(ctx context.Context, q db.Querier, upTo string) (count, bytes int64, err error) {
	err = q.QueryRow(ctx, "select count(*), cast(coalesce(sum(size), 0) as bigint) from "+files.StoredFiles+" where id <= $1", cmp.Or(upTo, uuid.Max.String())).
		Scan(&count, &bytes)
	return count, bytes, err
}

// IsStored reports whether the row of a file refers to a blob.
func IsStored(ctx context.Context, q db.Querier, blobID string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from "+files.StoredFiles+" where id = $1)", blobID)
}
