package app

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestReadyNamesTheMissingPart(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := configuration(t)
			cfg.Database.URL = dbtest.URL(t, dialect)
			a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}()
			expectReady := func(when string, status int, want string) {
				t.Helper()
				rec := sendRequest(a, "GET", "/health/ready", "")
				if rec.Code != status || !strings.Contains(rec.Body.String(), want) || strings.Contains(rec.Body.String(), cfg.Server.DataDir) {
					t.Errorf("%s: %d %s", when, rec.Code, rec.Body)
				}
				if live := sendRequest(a, "GET", "/health/live", ""); live.Code != http.StatusOK {
					t.Errorf("%s: live %d", when, live.Code)
				}
			}
			move := func(from, to string) {
				t.Helper()
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			expectReady("at first", 200, `{"status":"ok"}`)

			files := cfg.FilesDir()
			move(files, files+"-away")
			expectReady("without the folder", 503, "the folder for files is missing")
			if err := os.MkdirAll(filepath.Join(files, "tmp"), 0o700); err != nil {
				t.Fatal(err)
			}
			expectReady("with another folder", 503, "the file store is not the one")
			if err := os.RemoveAll(files); err != nil {
				t.Fatal(err)
			}
			move(files+"-away", files)
			expectReady("with the folder again", 200, "ok")

			if _, err := a.DB.Exec(t.Context(), "alter table reviews rename to away"); err != nil {
				t.Fatal(err)
			}
			expectReady("without a table", 503, "the database lacks reviews")
			if _, err := a.DB.Exec(t.Context(), "alter table away rename to reviews"); err != nil {
				t.Fatal(err)
			}
			expectReady("with the table again", 200, "ok")

			if file, ok := strings.CutPrefix(cfg.Database.URL, "sqlite:"); ok {
				move(file, file+"-away")
				expectReady("without the file of the database", 503, "the database file was removed or replaced")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				expectReady("with an empty file", 503, "the database file was removed or replaced")
				move(file+"-away", file)
				expectReady("with the file again", 200, "ok")
			}
		})
	}
}
