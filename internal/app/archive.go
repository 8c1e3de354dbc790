package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"atelie/internal/activity"
	"atelie/internal/apperr"
	"atelie/internal/archive"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/pages"
	"atelie/internal/storage"
)

// This file exports the site into an archive (a zip file) and imports an archive, for the commands "atelie export" and "atelie import".

// Export writes an archive of the site into out, and then adds an entry to the activity log (the log of who did what). If the entry cannot
// be added, Export returns an error although the archive is complete. The caller must then discard the archive, because each export must be
// recorded.
func (a *App) Export(ctx context.Context, out *os.File, progress archive.Progress) (archive.Manifest, error) {
	m, err := archive.Export(ctx, a.archiveConfig(), out, progress)
	if err != nil {
		return m, err
	}
	const title = "" // the entry of an export names no target
	return m, activity.RecordSite(ctx, a.DB, activity.SiteExport, title, a.now())
}

// Import imports a verified archive into the empty site, and then adds an entry to the activity log. If only adding the entry fails, Import
// returns an error although the import is complete.
//
// Import returns the files that the site refuses, for example because they are too large. If there are any, skipRefused decides: if true, the
// import succeeds without these files; if false, it fails with archive.ErrRefused.
func (a *App) Import(ctx context.Context, source *archive.Archive, skipRefused bool, progress archive.Progress) ([]archive.RefusedFile, error) {
	refused, err := source.Import(ctx, a.archiveConfig(), skipRefused, progress)
	if err != nil {
		return refused, err
	}
	title := source.Manifest.SiteURL // the entry of an import names the exported site
	return refused, activity.RecordSite(ctx, a.DB, activity.SiteImport, title, a.now())
}

// archiveConfig returns the functions by which exports and imports use the services of the program.
func (a *App) archiveConfig() archive.Config {
	return archive.Config{
		DB: a.DB, SiteURL: a.cfg.Server.SiteURL, APIURL: a.cfg.Server.APIURL, Program: a.cfg.Build, Now: a.now,
		Owners: func(ctx context.Context) ([]string, error) {
			owners, err := a.Auth.Owners(ctx)
			emails := make([]string, len(owners))
			for i, o := range owners {
				emails[i] = o.Email
			}
			return emails, err
		},
		Files:   listFiles,
		Buckets: listBuckets,
		Open:    a.blobs.Open,
		Paths:   a.pages.RenderedPaths,
		Render: func(ctx context.Context, v archive.View) ([]byte, int, error) {
			p, err := a.pages.RenderStatic(ctx, pages.StaticView(v))
			return p.HTML, p.Parts, err
		},
		Locate: func(ctx context.Context, linked archive.View) (archive.View, bool, error) {
			found, ok, err := a.pages.LocateStatic(ctx, pages.StaticView(linked))
			return archive.View(found), ok, err
		},
		Get: a.newPublicGet(),
		SaveBucket: func(ctx context.Context, text json.RawMessage) error {
			var b storage.BucketSettings
			if err := json.Unmarshal(text, &b); err != nil {
				return err
			}
			if err := a.Storage.SaveBucket(ctx, b); err != nil {
				return fmt.Errorf("bucket %q: %w", b.ID, err)
			}
			return nil
		},
		Put: func(ctx context.Context, f archive.File, body io.Reader) error {
			return a.Storage.PutOriginal(ctx, storage.Original{Bucket: f.Bucket, Name: f.Name, Size: f.Size, CacheControl: f.CacheControl, Metadata: f.Metadata}, body)
		},
		SetFocus: func(ctx context.Context, f archive.File) error {
			_, err := a.Media.SetFocus(ctx, (&url.URL{Path: files.PublicPath + f.Bucket + "/" + f.Name}).String(), f.Focus[0], f.Focus[1])
			return err
		},
	}
}

func listFiles(ctx context.Context, q db.Querier) ([]archive.File, error) {
	originals, err := storage.Originals(ctx, q)
	out := make([]archive.File, len(originals))
	for i, o := range originals {
		out[i] = archive.File{Bucket: o.Bucket, Name: o.Name, CacheControl: o.CacheControl, Metadata: o.Metadata, Focus: o.Focus,
			BlobID: o.BlobID, SHA256: o.SHA256, Size: o.Size, PublicIsStripped: o.PublicIsStripped}
	}
	return out, err
}

func listBuckets(ctx context.Context, q db.Querier) ([]json.RawMessage, error) {
	buckets, err := storage.OwnBuckets(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]json.RawMessage, len(buckets))
	for i, b := range buckets {
		if out[i], err = json.Marshal(b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newPublicGet returns a function that handles GET requests for the files that pages show, without a network connection and without log
// lines. If a handler returns an apperr.Error with a status below 500, the response has only that status.
func (a *App) newPublicGet() func(ctx context.Context, target string) (archive.Response, error) {
	mux := http.NewServeMux()
	for pattern, handler := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /storage/v1/object/public/{bucket}/{path...}":       a.Storage.Public,
		"GET /storage/v1/render/image/public/{bucket}/{path...}": a.Media.RenderPublic,
		"GET /": a.pages.Page,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handler(w, r); err != nil {
				w.(*memoryResponse).err = err
			}
		})
	}
	return func(ctx context.Context, target string) (archive.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
		if err != nil {
			return archive.Response{Status: http.StatusBadRequest}, nil //nolint:nilerr // a row can have any text as its URL: no file has this one
		}
		r.Header.Set("Accept", "image/webp,*/*") // smaller renditions, in a format that every browser shows from the disk
		w := &memoryResponse{header: http.Header{}}
		mux.ServeHTTP(w, r)
		if w.err != nil {
			if refusal, ok := errors.AsType[*apperr.Error](w.err); ok && refusal.Status < http.StatusInternalServerError {
				return archive.Response{Status: refusal.Status}, nil
			}
			return archive.Response{}, fmt.Errorf("%s: %w", target, w.err)
		}
		return archive.Response{Status: w.status, ContentType: w.header.Get("Content-Type"), Body: w.body.Bytes()}, nil
	}
}

// memoryResponse is an http.ResponseWriter that keeps the response in memory. err is the error that the handler has returned.
type memoryResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
	err    error
}

func (w *memoryResponse) Header() http.Header { return w.header }

func (w *memoryResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *memoryResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
