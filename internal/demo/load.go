package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file uploads the files of the demo content and inserts its rows, once per site.

// loadedKey is the key of a row of site_settings that marks the demo content as loaded.
const loadedKey = "demo_loaded"

// Upload stores a file of size bytes as the storage service does, and replaces an existing file of that name.
type Upload func(ctx context.Context, bucket, name string, body io.Reader, size int64) error

// Insert writes a row as the tables service does.
type Insert func(ctx context.Context, table string, row map[string]any) error

// Load uploads the files of the demo content and inserts its rows. The commands "atelie demo" and "atelie serve --demo" call it. After an
// interrupted call, the next call uploads all files again and inserts the missing rows. After Load has succeeded once, later calls do
// nothing, so that they do not restore what the owner has deleted.
func Load(ctx context.Context, d *db.DB, upload Upload, insert Insert, now func() time.Time) error {
	loaded, err := settings.Exists(ctx, d, loadedKey)
	if err != nil || loaded {
		return err
	}
	content, err := Read()
	if err != nil {
		return err
	}
	l := loader{db: d, upload: upload, insert: insert}
	err = errors.Join(
		l.loadRows(ctx, "products", productBucket, content.Products),
		l.loadRows(ctx, "reviews", "review-images", content.Reviews),
		l.loadRows(ctx, "cover_images", "cover-images", content.Covers),
	)
	if err != nil {
		return err
	}
	portrait, err := l.uploadFile(ctx, productBucket, content.Site.Portrait)
	if err != nil {
		return err
	}
	site := content.Site
	site.Portrait = portrait
	return d.WithTx(ctx, func(tx *db.Tx) error { // Insert keeps settings that exist already
		return errors.Join(settings.Insert(ctx, tx, settings.SiteKey, site, now()), settings.Insert(ctx, tx, loadedKey, true, now()))
	})
}

// LoadedContent returns the site settings in JSON as Load saved them, and the ids of the works that Load inserted. Both are nil if
// Load has not succeeded yet.
func LoadedContent(ctx context.Context, q db.Querier) (siteJSON []byte, workIDs []string, err error) {
	if loaded, err := settings.Exists(ctx, q, loadedKey); err != nil || !loaded {
		return nil, nil, err
	}
	content, err := Read()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range content.Products {
		workIDs = append(workIDs, p["id"].(string))
	}
	site := content.Site
	site.Portrait = publicURL(productBucket, site.Portrait)
	siteJSON, err = json.Marshal(site)
	return siteJSON, workIDs, err
}

// Names in the URLs of the demo files.
const (
	folder        = "demo"           // the folder in each bucket
	productBucket = "product-images" // files of works, and the artist's portrait
)

type loader struct {
	db     *db.DB
	upload Upload
	insert Insert
}

// uploadFile stores a file and returns its URL. The URL has no host, so that the site can move to another one.
func (l *loader) uploadFile(ctx context.Context, bucket, name string) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	stat, err := f.Stat()
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := errors.Join(l.upload(ctx, bucket, folder+"/"+name, f, stat.Size()), f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return publicURL(bucket, name), nil
}

func publicURL(bucket, name string) string {
	return path.Join("/storage/v1/object/public", bucket, folder, name)
}

// fileColumns are the columns that have file names in the content, and URLs in the tables.
var fileColumns = []string{"image_url", "image_gallery", "video_gallery"}

// loadRows uploads the files of rows and inserts the rows, except those that an interrupted load has already inserted.
func (l *loader) loadRows(ctx context.Context, table, bucket string, rows []map[string]any) (err error) {
	for _, row := range rows {
		for _, column := range fileColumns {
			switch file := row[column].(type) {
			case string:
				if row[column], err = l.uploadFile(ctx, bucket, file); err != nil {
					return err
				}
			case []any:
				for i, name := range file {
					if file[i], err = l.uploadFile(ctx, bucket, name.(string)); err != nil {
						return err
					}
				}
			}
		}
		if row["media_type"] == "video" {
			row["video_thumbnail_url"] = row["image_url"] // a video is its own thumbnail
		}
		found, err := rowExists(ctx, l.db, table, row["id"])
		if err == nil && !found {
			err = l.insert(ctx, table, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
