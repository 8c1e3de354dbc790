package backup

import (
	"context"

	"atelie/internal/db"
)

// storedFile is a file as its row describes it. Name names it in texts; SHA256 is in hexadecimal digits, Size in bytes.
type storedFile struct {
	BlobID, Name, SHA256 string
	Size                 int64
}

// storedFiles is the SQL of a subquery that lists all files to which rows refer.
const storedFiles = `(select blob_id as id, bucket_id || '/' || name as name, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', as it came', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`

// listFiles lists the files to which rows refer, in the order of their blob ids.
func listFiles(ctx context.Context, q db.Querier) ([]storedFile, error) {
	return db.Collect(ctx, q, func(row db.Row) (storedFile, error) {
		var f storedFile
		err := row.Scan(&f.BlobID, &f.Name, &f.SHA256, &f.Size)
		return f, err
	}, "select id, name, etag, size from "+storedFiles+" order by id")
}
