package backup

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/files"
)

// storedFile is a file as its row describes it. Name is for texts. SHA256 is in hexadecimal digits, Size in bytes.
type storedFile struct {
	BlobID, Name, SHA256 string
	Size                 int64
}

// listFiles lists the files to which rows refer, in the order of their blob ids.
func listFiles(ctx context.Context, q db.Querier) ([]storedFile, error) {
	return db.Collect(ctx, q, func(row db.Row) (storedFile, error) {
		var f storedFile
		err := row.Scan(&f.BlobID, &f.Name, &f.SHA256, &f.Size)
		return f, err
	}, "select id, name, etag, size from "+files.StoredFiles+" order by id")
}
