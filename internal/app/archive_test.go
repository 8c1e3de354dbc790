package app

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"atelie/internal/archive"
	"atelie/internal/archive/archivetest"
	"atelie/internal/db"
	"atelie/internal/settings"
	"atelie/internal/storage"
)

func noReport(string, int, int) {}

// smallArchive writes an archive with two pictures and the given rows by table, and opens it.
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
	for table, rows := range tables {
		files["tables/"+table+".json"] = rows
	}
	a, err := archive.Open(archivetest.Write(t, archive.Manifest{Format: archive.Format, Schema: 29, Entries: archivetest.Entries(files)}, files, nil))
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

func productsOf(t *testing.T, a *App) int64 {
	t.Helper()
	n, err := db.One[int64](t.Context(), a.DB, "select count(*) from products")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Proves H-archive-interrupted.
func TestAnInterruptedImportGoesOn(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			from := smallArchive(t, map[string]string{"site_settings": `[{"key":"guide","value":"done","updated_at":"2026-01-01T00:00:00+00:00"},
				{"key":"site","value":{"name":"Alvor","portrait":"https://old.example/storage/v1/object/public/product-images/one.png"},"updated_at":"2026-01-01T00:00:00+00:00"}]`})
			ctx, stop := context.WithCancel(t.Context())
			err := a.Import(ctx, from, func(_ string, done, _ int) {
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
			if err := a.Import(t.Context(), other, noReport); err == nil || !strings.Contains(err.Error(), "import of another archive was not finished") {
				t.Errorf("another archive: %v", err)
			}
			if err := a.Import(t.Context(), from, noReport); err != nil {
				t.Fatal(err)
			}
			if err := a.Import(t.Context(), from, noReport); err == nil || !strings.Contains(err.Error(), "the site is not empty") {
				t.Errorf("a second time: %v", err)
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
					if err := a.Import(t.Context(), smallArchive(t, map[string]string{table: text}), noReport); err == nil {
						t.Fatalf("%s %s is accepted", table, text)
					}
				}
			}
			if got, err := storage.Originals(t.Context(), a.DB); err != nil || len(got) != 0 || productsOf(t, a) != 0 {
				t.Errorf("stored: %v, %v", got, err)
			}
			if err := a.Import(t.Context(), smallArchive(t, nil), noReport); err != nil {
				t.Errorf("a good archive after that: %v", err)
			}
		})
	}
}
