package media

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelie/internal/db"
	"atelie/internal/media/rendition"
)

// This file contains the queries on media_renditions, the table of renditions that exist.

// renditionRow is a row of media_renditions. It describes one rendition (a copy of a picture in another size, shape or format).
type renditionRow struct {
	Name          string // made from size, shape and format; unique for a picture
	BlobID, ETag  string // BlobID is the id of the stored bytes; ETag is their SHA-256 in hexadecimal digits
	Format        rendition.Format
	Width, Height int       // pixels
	Size          int64     // bytes
	P3            bool      // the colours are in Display P3, not sRGB
	Eager         bool      // true: made in advance, and never deleted for space; false: made on request
	Revision      int       // value of the constant revision when it was made; 0 if it must be made again
	UsedAt        time.Time // when it was last used; updated at most once per useInterval (an hour)
}

// renditionColumns are the columns of media_renditions, in the order in which scanRendition reads them.
const renditionColumns = "name, blob_id, format, width, height, size, etag, p3, revision, eager, used_at"

func scanRendition(row db.Row) (r renditionRow, err error) {
	err = row.Scan(&r.Name, &r.BlobID, &r.Format, &r.Width, &r.Height, &r.Size, &r.ETag, &r.P3, &r.Revision, &r.Eager, &r.UsedAt)
	return r, err
}

// listRenditions returns a picture's renditions, sorted by name. objectID is the id of the picture's row in storage_objects.
func listRenditions(ctx context.Context, q db.Querier, objectID string) ([]renditionRow, error) {
	return db.Collect(ctx, q, scanRendition, "select "+renditionColumns+" from media_renditions where object_id = $1 order by name", objectID)
}

// findRenditions returns the renditions of a picture that have one of the names, in no particular order.
func findRenditions(ctx context.Context, d *db.DB, objectID string, names []string) ([]renditionRow, error) {
	namesJSON, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	selectNames := "(select value from json_each($2))"
	if d.Dialect == db.Postgres {
		selectNames = "(select jsonb_array_elements_text($2::text::jsonb))" // with ::text, the driver sends the parameter as it is
	}
	return db.Collect(ctx, d, scanRendition, "select "+renditionColumns+" from media_renditions where object_id = $1 and name in "+selectNames, objectID, string(namesJSON))
}

// insertRendition inserts a rendition. It first deletes an existing rendition of the same name. replacedBlobID is the blob id of the deleted
// rendition, or "" if there was none.
func insertRendition(ctx context.Context, tx *db.Tx, objectID string, r renditionRow) (replacedBlobID string, err error) {
	err = tx.QueryRow(ctx, "delete from media_renditions where object_id = $1 and name = $2 returning blob_id", objectID, r.Name).Scan(&replacedBlobID)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return "", err
	}
	_, err = tx.Exec(ctx, `insert into media_renditions (object_id, name, blob_id, format, width, height, size, etag, p3, revision, eager, used_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		objectID, r.Name, r.BlobID, string(r.Format), r.Width, r.Height, r.Size, r.ETag, r.P3, r.Revision, r.Eager, r.UsedAt)
	return replacedBlobID, err
}

// touchRendition saves the time of use of a rendition.
func touchRendition(ctx context.Context, q db.Querier, blobID string, now time.Time) error {
	return db.Exec(ctx, q, "update media_renditions set used_at = $2 where blob_id = $1", blobID, now)
}

// lazyBytes returns the size in bytes of all renditions that were made on request.
func lazyBytes(ctx context.Context, q db.Querier) (int64, error) {
	return db.One[int64](ctx, q, "select cast(coalesce(sum(size), 0) as bigint) from media_renditions where not eager")
}

// deleteOldestLazy deletes the least recently used rendition that was made on request, and returns its blob id and size. The error
// is db.ErrNoRows if there is no such rendition.
func deleteOldestLazy(ctx context.Context, tx *db.Tx) (blobID string, size int64, err error) {
	err = tx.QueryRow(ctx, `delete from media_renditions where blob_id = (select blob_id from media_renditions where not eager order by used_at, blob_id limit 1)
		returning blob_id, size`).Scan(&blobID, &size)
	return blobID, size, err
}

// listLadders returns the sizes in bytes of pictures' WebP renditions that were made in advance, by object and width.
func listLadders(ctx context.Context, d *db.DB, objectIDs []string) (map[string]map[int]int64, error) {
	idsJSON, err := json.Marshal(objectIDs)
	if err != nil {
		return nil, err
	}
	wanted := "(select value from json_each($1))"
	if d.Dialect == db.Postgres {
		wanted = "(select jsonb_array_elements_text($1::text::jsonb)::uuid)"
	}
	out := map[string]map[int]int64{}
	_, err = db.Collect(ctx, d, func(row db.Row) (none struct{}, err error) {
		var (
			id    string
			width int
			size  int64
		)
		if err := row.Scan(&id, &width, &size); err != nil {
			return none, err
		}
		if out[id] == nil {
			out[id] = map[int]int64{}
		}
		out[id][width] = size
		return none, nil
	}, "select object_id, width, size from media_renditions where eager and name like 'contain-%.webp' and object_id in "+wanted, string(idsJSON))
	return out, err
}

// outdateRendition marks a rendition to be made again (listMissing). It is shown until it is replaced.
func outdateRendition(ctx context.Context, q db.Querier, blobID string) error {
	return db.Exec(ctx, q, "update media_renditions set revision = 0 where blob_id = $1", blobID)
}

func deleteRendition(ctx context.Context, tx *db.Tx, blobID string) error {
	return db.Exec(ctx, tx, "delete from media_renditions where blob_id = $1", blobID)
}
