package storagetest

import (
	"context"

	"atelie/internal/files"
)

// This file contains the queries by which tests check the database of a Site.

// Count counts the rows of a table.
func (s *Site) Count(table string) int {
	s.T.Helper()
	var n int
	if err := s.DB.QueryRow(context.Background(), "select count(*) from "+table).Scan(&n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

// Object returns an object from the database.
func (s *Site) Object(bucket, name string) (o files.Object) {
	s.T.Helper()
	err := s.DB.QueryRow(context.Background(), `select id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, coalesce(cast(owner_id as text), ''), created_at, updated_at
		from storage_objects where bucket_id = $1 and name = $2`, bucket, name).
		Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &o.OwnerID, &o.CreatedAt, &o.UpdatedAt)
	if err != nil {
		s.T.Fatal(err)
	}
	return o
}
