package backup

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries of the backup on tables of other packages: the stored files and the activity log.

// storedFile is a stored file, as its row describes it. Name is used only in messages. SHA256 (the column etag) is in hexadecimal digits,
// Size in bytes.
type storedFile struct {
	BlobID, Name, SHA256 string
	Size                 int64
}

// listFiles lists all stored files, in the order of their blob ids.
func listFiles(ctx context.Context, q db.Querier) ([]storedFile, error) {
	return db.Collect(ctx, q, func(row db.Row) (f storedFile, err error) {
		err = row.Scan(&f.BlobID, &f.Name, &f.SHA256, &f.Size)
		return f, err
	}, "select id, name, etag, size from "+files.StoredFiles+" order by id")
}

// listDeletions reads from the table activity (the log of who did what) which data about people was deleted after a time. The database of
// an earlier version may not have that table. Then there are no deletions.
func listDeletions(ctx context.Context, d *db.DB, after time.Time) (found Deletions, err error) {
	if exists, err := d.HasTable(ctx, "activity"); err != nil || !exists {
		return found, err
	}
	found.Erasures, err = db.Collect(ctx, d, db.ScanOne[time.Time], "select created_at from activity where kind = 'export' and action = 'address-data erase' and created_at > $1 order by created_at", after)
	if err != nil {
		return found, err
	}
	found.Messages, err = db.One[int64](ctx, d, "select coalesce(sum(number), 0) from activity where kind = 'change' and action = 'delete' and table_name = 'contact_submissions' and created_at > $1", after)
	return found, err
}
