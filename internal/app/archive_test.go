package app

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"atelie/internal/archive"
	"atelie/internal/archive/archivetest"
	"atelie/internal/db"
	"atelie/internal/settings"
	"atelie/internal/storage"
)

// noReport is an archive.Progress that ignores the progress.
func noReport(string, int, int) {}

// importAll imports an archive. It returns an error if any file of the archive is refused.
func importAll(ctx context.Context, a *App, from *archive.Archive, report archive.Progress) error {
	_, err := a.Import(ctx, from, false, report)
	return err
}

// exportSite exports the site of a program. It returns the name of the archive, and the content of each of its entries by name.
func exportSite(t *testing.T, a *App) (file string, entries map[string]string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "site.zip")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Export(t.Context(), out, noReport); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zipped.Close() }() // only read
	entries = map[string]string{}
	for _, entry := range zipped.File {
		opened, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		entries[entry.Name] = string(content)
	}
	return file, entries
}

// smallArchive writes an archive with two pictures and the given rows by table, or files by their paths, and opens it.
func smallArchive(t *testing.T, tables map[string]string) *archive.Archive {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"files/a/one.png": picture.String(), "files/a/two.png": picture.String(),
		"tables/files.json": `[{"path":"files/a/one.png","bucket":"product-images","name":"one.png","cache_control":"max-age=60","focus":[0.5,0.25]},
			{"path":"files/a/two.png","bucket":"own","name":"x/two.png","cache_control":"max-age=60","metadata":{"k":"v"}}]`,
		"tables/buckets.json":  `[{"id":"own","public":false,"file_size_limit":1000000,"allowed_mime_types":["image/png"]}]`,
		"tables/products.json": `[{"id":"` + workID(1) + `","title":"One","image_url":"https://old.example/storage/v1/object/public/product-images/one.png","created_at":"2026-01-02T03:04:05.678901+00:00"}]`,
	}
	for name, content := range tables {
		if !strings.HasPrefix(name, "files/") {
			name = "tables/" + name + ".json"
		}
		files[name] = content
	}
	a, err := archive.Open(archivetest.Write(t, archive.Manifest{Format: archive.Format, Schema: 29, SiteURL: "https://old.example", Entries: archivetest.Entries(files)}, files, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.Verify(t.Context(), noReport); err != nil {
		t.Fatal(err)
	}
	return a
}

// siteEntries returns the entries of the activity about the whole site, as "kind action title".
func siteEntries(t *testing.T, d *db.DB) []string {
	t.Helper()
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], "select kind || ' ' || action || ' ' || coalesce(title, '-') from activity where action like 'site-%' or action like 'supabase-%' order by id")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func productsOf(t *testing.T, a *App) int64 {
	t.Helper()
	n, err := db.One[int64](t.Context(), a.DB, "select count(*) from products")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Proves H-archive-interrupted, A-activity-site.
func TestInterruptedImportCanBeRepeated(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			from := smallArchive(t, map[string]string{"site_settings": `[{"key":"guide","value":"done","updated_at":"2026-01-01T00:00:00+00:00"},
				{"key":"site","value":{"name":"Alvor","portrait":"https://old.example/storage/v1/object/public/product-images/one.png"},"updated_at":"2026-01-01T00:00:00+00:00"}]`})
			ctx, stop := context.WithCancel(t.Context())
			err := importAll(ctx, a, from, func(_ string, done, _ int) {
				if done == 1 { // the first file is stored
					stop()
				}
			})
			if err == nil || productsOf(t, a) != 0 {
				t.Fatalf("stopped: %v, %d works", err, productsOf(t, a))
			}
			if got, err := storage.Originals(t.Context(), a.DB); err != nil || len(got) != 1 {
				t.Fatalf("stored before the stop: %v, %v", got, err)
			}
			other := smallArchive(t, map[string]string{"reviews": "[]"})
			if err := importAll(t.Context(), a, other, noReport); err == nil || !strings.Contains(err.Error(), "unfinished import of another archive") {
				t.Errorf("another archive: %v", err)
			}
			if err := importAll(t.Context(), a, from, noReport); err != nil {
				t.Fatal(err)
			}
			if err := importAll(t.Context(), a, from, noReport); err == nil || !strings.Contains(err.Error(), "the site is not empty") {
				t.Errorf("a second time: %v", err)
			}
			if got := siteEntries(t, a.DB); !slices.Equal(got, []string{"change site-import https://old.example"}) {
				t.Errorf("the activity of one import: %q", got)
			}
			got, err := storage.Originals(t.Context(), a.DB)
			if err != nil || len(got) != 2 || got[0].Bucket != "own" || string(got[0].Metadata) != `{"k":"v"}` && string(got[0].Metadata) != `{"k": "v"}` || got[1].Focus == nil || *got[1].Focus != [2]float64{0.5, 0.25} {
				t.Errorf("files: %+v, %v", got, err)
			}
			rows := ""
			if err := db.ReadJSON(t.Context(), a.DB, a.DB.Dialect, "products", func(row json.RawMessage) error {
				rows += string(row)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"created_at":"2026-01-02T03:04:05.678901+00:00"`, `"image_url":"` + a.cfg.Server.APIURL + `/storage/v1/object/public/product-images/one.png"`, `"tags":[]`, `"is_featured":false`} {
				if !strings.Contains(rows, want) {
					t.Errorf("%s is not in %s", want, rows)
				}
			}
			site, err := settings.LoadSite(t.Context(), a.DB)
			if err != nil || site.Name != "Alvor" || !strings.HasPrefix(site.Portrait, a.cfg.Server.APIURL+"/") {
				t.Errorf("%+v, %v", site, err)
			}
			if left, err := settings.Exists(t.Context(), a.DB, "import"); err != nil || left {
				t.Errorf("the marker is still there: %v, %v", left, err)
			}
		})
	}
}

// Proves H-archive-rows.
func TestRowsThatCannotBeImportedStoreNothing(t *testing.T) {
	setting := func(key, value string) string {
		return `[{"key":"` + key + `","value":` + value + `,"updated_at":"2026-01-01T00:00:00+00:00"}]`
	}
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			for table, rows := range map[string][]string{
				"products": {`[{"id":"` + workID(1) + `","title":"x"}]`, `[{"id":"no uuid","title":"x","created_at":"2026-01-01T00:00:00Z"}]`, `{}`, `[1]`, `[`,
					`[{"id":"` + workID(1) + `","title":"a\u0000b","created_at":"2026-01-01T00:00:00Z"}]`, `[{"id":"` + workID(1) + `","title":"x","created_at":"2026-01-01T00:00:00Z","evil":1}]`,
					`[{"id":"` + workID(1) + `","title":"x","created_at":"2026-01-01T00:00:00Z","tags":[1]}]`, `[{"id":"` + workID(1) + `","title":"x","created_at":"2026-01-01T00:00:00Z","artwork_type":"etching"}]`},
				"gone_works": {`[{"id":"` + workID(1) + `"},{"id":"` + workID(1) + `"}]`},
				"site_settings": {setting("notice.webhook", `"https://evil.example"`), setting("import", `{}`), setting("site", `{"name":1}`), setting("site", `{"email":"no address"}`),
					setting("notice.email", `["x"]`), setting("notice.language", `"de"`), setting("thanks.enabled", `"yes"`), setting("guide", `"x"`), `[{"key":1}]`},
			} {
				for _, text := range rows {
					if err := importAll(t.Context(), a, smallArchive(t, map[string]string{table: text}), noReport); err == nil {
						t.Fatalf("%s %s is accepted", table, text)
					}
				}
			}
			if got, err := storage.Originals(t.Context(), a.DB); err != nil || len(got) != 0 || productsOf(t, a) != 0 {
				t.Errorf("stored: %v, %v", got, err)
			}
			if err := importAll(t.Context(), a, smallArchive(t, nil), noReport); err != nil {
				t.Errorf("a good archive after that: %v", err)
			}
		})
	}
}

// Proves H-archive-refused.
func TestImportContinuesAfterRefusedFiles(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			picture := func(name string) string { return "https://old.example/storage/v1/object/public/product-images/" + name }
			from := smallArchive(t, map[string]string{
				"files/a/notes.txt": "no picture", "files/b/large.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 11<<20), "files/b/unused.txt": "no picture either",
				"files": `[{"path":"files/a/notes.txt","bucket":"product-images","name":"notes.txt","cache_control":"max-age=60"},
					{"path":"files/b/large.png","bucket":"product-images","name":"large.png","cache_control":"max-age=60"},
					{"path":"files/b/unused.txt","bucket":"product-images","name":"unused.txt","cache_control":"max-age=60"},
					{"path":"files/a/one.png","bucket":"product-images","name":"one.png","cache_control":"max-age=60"},
					{"path":"files/a/two.png","bucket":"own","name":"x/two.png","cache_control":"max-age=60"}]`,
				"products": `[{"id":"` + workID(1) + `","title":"One","image_url":"` + picture("notes.txt") + `","image_gallery":["` + picture("one.png") + `","` + picture("large.png") + `"],"created_at":"2026-01-02T03:04:05Z"}]`,
				"reviews":  `[{"id":"` + workID(2) + `","client_name":"Ana","message":"x","image_url":"/storage/v1/object/public/product-images/notes.txt","created_at":"2026-01-02T03:04:05Z"}]`,
			})
			want := []archive.RefusedFile{
				{Path: "files/a/notes.txt", Object: "product-images/notes.txt", ShownBy: []string{"products " + workID(1) + " (image_url)", "reviews " + workID(2) + " (image_url)"}},
				{Path: "files/b/large.png", Object: "product-images/large.png", ShownBy: []string{"products " + workID(1) + " (image_gallery)"}},
				{Path: "files/b/unused.txt", Object: "product-images/unused.txt"},
			}
			for _, leaveOut := range []bool{false, false, true} {
				refused, err := a.Import(t.Context(), from, leaveOut, noReport)
				if leaveOut && err != nil || !leaveOut && !errors.Is(err, archive.ErrRefused) {
					t.Fatalf("leave out %t: %v", leaveOut, err)
				}
				for i := range refused {
					if refused[i].Reason == "" {
						t.Errorf("%s without a reason", refused[i].Path)
					}
					refused[i].Reason = ""
				}
				if !reflect.DeepEqual(refused, want) {
					t.Errorf("refused %+v", refused)
				}
				files, err := storage.Originals(t.Context(), a.DB)
				if err != nil || len(files) != 2 {
					t.Errorf("%d other files are stored, %v", len(files), err)
				}
				if n := productsOf(t, a); n == 1 != leaveOut {
					t.Errorf("leave out %t: %d works", leaveOut, n)
				}
			}
			if left, err := settings.Exists(t.Context(), a.DB, "import"); err != nil || left {
				t.Errorf("the marker is still there: %v, %v", left, err)
			}
		})
	}
}
