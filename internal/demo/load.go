package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// File is the content of an upload.
type File struct {
	Reader io.Reader
	Size   int64
}

// Uploader stores a file as the storage service does; a file that is there already is replaced.
type Uploader interface {
	Upload(ctx context.Context, bucket, name string, body File) error
}

// Inserter writes rows as the tables service does.
type Inserter interface {
	InsertRows(ctx context.Context, caller identity.Caller, table string, rows []map[string]any) error
}

// Load uploads the files and inserts the rows, then remembers that it did: what the owner removes afterwards stays
// removed. A load that was interrupted goes on where it stopped at the next call.
func Load(ctx context.Context, d *db.DB, files Uploader, tables Inserter, now func() time.Time) error {
	done, err := isLoaded(ctx, d)
	if err != nil || done {
		return err
	}
	content, err := Read()
	if err != nil {
		return err
	}
	l := loader{db: d, files: files, tables: tables}
	if err := errors.Join(l.products(ctx, content.Products), l.reviews(ctx, content.Reviews), l.covers(ctx, content.Covers)); err != nil {
		return err
	}
	portrait, err := l.upload(ctx, "product-images", content.Site.Portrait)
	if err != nil {
		return err
	}
	site := content.Site
	site.Portrait = portrait
	return d.WithTx(ctx, func(tx *db.Tx) error { return markLoaded(ctx, tx, site, now()) })
}

type loader struct {
	db     *db.DB
	files  Uploader
	tables Inserter
}

var service = identity.Caller{Role: identity.Service}

// upload stores a file under its own name and gives its address, without a host: the site can move.
func (l *loader) upload(ctx context.Context, bucket, name string) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	stat, err := f.Stat()
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := errors.Join(l.files.Upload(ctx, bucket, "demo/"+name, File{Reader: f, Size: stat.Size()}), f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return path.Join("/storage/v1/object/public", bucket, "demo", name), nil
}

func (l *loader) uploadAll(ctx context.Context, bucket string, names []string) ([]string, error) {
	urls := make([]string, 0, len(names))
	for _, name := range names {
		u, err := l.upload(ctx, bucket, name)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// insert leaves a row alone that an interrupted load has written already.
func (l *loader) insert(ctx context.Context, table string, row map[string]any) error {
	there, err := exists(ctx, l.db, table, row["id"])
	if err != nil || there {
		return err
	}
	return l.tables.InsertRows(ctx, service, table, []map[string]any{row})
}

func (l *loader) products(ctx context.Context, products []Product) error {
	for _, p := range products {
		image, err := l.upload(ctx, "product-images", p.Image)
		if err != nil {
			return err
		}
		gallery, err := l.uploadAll(ctx, "product-images", p.ImageGallery)
		if err != nil {
			return err
		}
		videos, err := l.uploadAll(ctx, "product-images", p.VideoGallery)
		if err != nil {
			return err
		}
		if err := l.insert(ctx, "products", map[string]any{
			"id": p.ID, "title": p.Title, "description": p.Description, "artwork_type": p.ArtworkType,
			"image_url": image, "image_gallery": gallery, "video_gallery": videos,
			"is_featured": p.IsFeatured, "in_stock": p.InStock, "dimensions": p.Dimensions, "medium": p.Medium,
			"creation_date": p.CreationDate, "tags": p.Tags, "is_customizable": p.IsCustomizable,
			"seo_meta_title": p.SEOMetaTitle, "seo_meta_desc": p.SEOMetaDesc, "created_at": p.CreatedAt,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) reviews(ctx context.Context, reviews []Review) error {
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

func (l *loader) covers(ctx context.Context, covers []Cover) error {
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
			row["video_thumbnail_url"] = media // spec §3: the same address as the media
		}
		if err := l.insert(ctx, "cover_images", row); err != nil {
			return err
		}
	}
	return nil
}
