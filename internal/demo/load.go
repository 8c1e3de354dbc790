package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/settings"
)

// This file uploads the files of the demo content and inserts its rows, once per site.

// loadedKey is the key of a row of site_settings that marks the demo content as loaded.
const loadedKey = "demo_loaded"

// File is the content of an upload; Size is in bytes.
type File struct {
	Reader io.Reader
	Size   int64
}

// Uploader stores a file as the storage service does, and replaces an existing file of that name.
type Uploader interface {
	Upload(ctx context.Context, bucket, name string, body File) error
}

// Inserter writes rows as the tables service does.
type Inserter interface {
	InsertRows(ctx context.Context, caller identity.Caller, table string, rows []map[string]any) error
}

// Load uploads the files of the demo content and inserts its rows. The commands "atelie demo" and "atelie serve --demo" call it. After an
// interrupted call, the next call uploads all files again and inserts the missing rows. After Load has succeeded once, later calls do
// nothing, so that they do not restore what the owner has deleted.
func Load(ctx context.Context, d *db.DB, files Uploader, tables Inserter, now func() time.Time) error {
	loaded, err := settings.Exists(ctx, d, loadedKey)
	if err != nil || loaded {
		return err
	}
	content, err := Read()
	if err != nil {
		return err
	}
	l := loader{db: d, files: files, tables: tables}
	err = errors.Join(
		l.loadProducts(ctx, content.Products),
		l.loadReviews(ctx, content.Reviews),
		l.loadCovers(ctx, content.Covers),
	)
	if err != nil {
		return err
	}
	portrait, err := l.upload(ctx, productBucket, content.Site.Portrait)
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
		workIDs = append(workIDs, p.ID)
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
	files  Uploader
	tables Inserter
}

// serviceCaller inserts the rows: a caller who may write to every table.
var serviceCaller = identity.Caller{Role: identity.Service}

// upload stores a file and returns its URL. The URL has no host, so that the site can move to another one.
func (l *loader) upload(ctx context.Context, bucket, name string) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	stat, err := f.Stat()
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := errors.Join(l.files.Upload(ctx, bucket, folder+"/"+name, File{Reader: f, Size: stat.Size()}), f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return publicURL(bucket, name), nil
}

func publicURL(bucket, name string) string {
	return path.Join("/storage/v1/object/public", bucket, folder, name)
}

// insert writes a row, unless an interrupted load has already written it.
func (l *loader) insert(ctx context.Context, table string, row map[string]any) error {
	found, err := rowExists(ctx, l.db, table, row["id"])
	if err != nil || found {
		return err
	}
	return l.tables.InsertRows(ctx, serviceCaller, table, []map[string]any{row})
}

func (l *loader) loadProducts(ctx context.Context, products []Product) error {
	for _, p := range products {
		var urls []string
		for _, name := range slices.Concat([]string{p.Image}, p.ImageGallery, p.VideoGallery) {
			u, err := l.upload(ctx, productBucket, name)
			if err != nil {
				return err
			}
			urls = append(urls, u)
		}
		image, galleries := urls[0], urls[1:]
		gallery, videos := galleries[:len(p.ImageGallery)], galleries[len(p.ImageGallery):]
		if err := l.insert(ctx, "products", map[string]any{
			"id": p.ID, "title": p.Title, "description": p.Description, "artwork_type": p.ArtworkType,
			"image_url": image, "image_gallery": gallery, "video_gallery": videos,
			"is_featured": p.IsFeatured, "in_stock": p.InStock, "dimensions": p.Dimensions, "medium": p.Medium,
			"creation_date": p.CreationDate, "tags": p.Tags, "is_customizable": p.IsCustomizable,
			"seo_meta_title": p.SEOMetaTitle, "seo_meta_desc": p.SEOMetaDesc, "created_at": p.CreatedAt, "published_at": p.CreatedAt,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) loadReviews(ctx context.Context, reviews []Review) error {
	for _, r := range reviews {
		row := map[string]any{
			"id": r.ID, "client_name": r.ClientName, "location": r.Location, "message": r.Message,
			"display_order": r.DisplayOrder, "is_active": true, "created_at": r.CreatedAt,
		}
		if r.Image != nil {
			avatar, err := l.upload(ctx, "review-images", *r.Image)
			if err != nil {
				return err
			}
			row["image_url"] = avatar
		}
		if err := l.insert(ctx, "reviews", row); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) loadCovers(ctx context.Context, covers []Cover) error {
	for _, c := range covers {
		media, err := l.upload(ctx, "cover-images", c.Media)
		if err != nil {
			return err
		}
		row := map[string]any{
			"id": c.ID, "image_url": media, "media_type": c.MediaType, "title": c.Title, "description": c.Description,
			"display_order": c.DisplayOrder, "is_active": true,
		}
		if c.MediaType == "video" {
			row["video_thumbnail_url"] = media // a video is its own thumbnail
		}
		if err := l.insert(ctx, "cover_images", row); err != nil {
			return err
		}
	}
	return nil
}
