package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// The secret, the ids and the file of the site that releasedSite creates.
const (
	releasedSecret = "5ec7e75ec7e75ec7e75ec7e75ec7e75ec7e75ec7e75ec7e75ec7e75ec7e75ec7"
	releasedMarker = "6d61726b-6572-4d61-8272-6b65726d6172"
	releasedBlob   = "b10bb10b-b10b-4b10-8b10-b10bb10bb10b"
	releasedFile   = "the bytes of a file\x00\xff"
)

// releasedSite creates a data folder as a release left it, with an owner, works, a review, a cover, settings, a file, a message, the
// secret and the marker.
func releasedSite(t *testing.T, r dbtest.Release, dialect db.Dialect) (dir, address string) {
	t.Helper()
	dir = t.TempDir()
	address = r.CreateDatabase(t, dialect, dir)
	if dialect == db.Postgres {
		t.Setenv("ATELIE_DATABASE_URL", address)
	}
	for name, text := range map[string]string{"jwt-secret": releasedSecret + "\n", "files/.atelie": releasedMarker + "\n", "files/b1/0b/" + releasedBlob: releasedFile} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	at, owner := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), uuid.NewString()
	sum := sha256.Sum256([]byte(releasedFile))
	execute(t, address, "insert into auth_users (id, email, encrypted_password, email_confirmed_at, created_at, updated_at) values ($1, 'ana@example.com', 'x', $2, $2, $2)", owner, at)
	execute(t, address, "insert into user_roles (user_id, role) values ($1, 'admin')", owner)
	execute(t, address, "insert into storage_marker (id, marker, created_at) values (1, $1, $2)", releasedMarker, at)
	execute(t, address, "insert into storage_buckets (id, name, created_at, updated_at) values ('products', 'products', $1, $1) on conflict (id) do nothing", at)
	execute(t, address, `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at)
		values ($1, 'products', 'mural.bin', $2, $3, 'application/octet-stream', $4, 'no-cache', $5, $5)`, uuid.NewString(), releasedBlob, len(releasedFile), hex.EncodeToString(sum[:]), at)
	execute(t, address, "insert into products (id, title, artwork_type, is_featured, created_at) values ($1, 'Maré cheia', 'mural', $2, $3)", uuid.NewString(), true, at)
	execute(t, address, "insert into products (id, title, artwork_type, is_featured, created_at) values ($1, 'Onda', 'digital', $2, $3)", uuid.NewString(), false, at.Add(time.Hour))
	execute(t, address, "insert into reviews (id, client_name, message, is_active, display_order, created_at) values ($1, 'Rui', 'Gostei muito.', $2, 1, $3)", uuid.NewString(), true, at)
	execute(t, address, "insert into cover_images (id, image_url, title, is_active, display_order, created_at) values ($1, '/storage/v1/object/public/products/mural.bin', 'Costa', $2, 1, $3)", uuid.NewString(), true, at)
	execute(t, address, `insert into site_settings (key, value, updated_at) values ('site', '{"name":"Atelier da Ana"}', $1) on conflict (key) do update set value = excluded.value`, at)
	execute(t, address, "insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Inês', 'ines@example.com', 'Olá, ã', $2)", uuid.NewString(), at)
	return dir, address
}

// released runs fn for each release on each engine.
func released(t *testing.T, fn func(t *testing.T, r dbtest.Release, dialect db.Dialect)) {
	for _, r := range dbtest.Releases {
		for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
			t.Run(r.Version+"/"+string(dialect), func(t *testing.T) { fn(t, r, dialect) })
		}
	}
}

// Proves H-schema-older.
func TestDataFoldersOfReleasesStart(t *testing.T) {
	released(t, func(t *testing.T, r dbtest.Release, dialect db.Dialect) {
		dir, address := releasedSite(t, r, dialect)
		if out := must(t, dir, "owner", "list").out; !strings.Contains(out, "ana@example.com") {
			t.Errorf("the owner: %s", out)
		}
		must(t, dir, "keys")
		d, err := db.Open(t.Context(), address, db.NoHooks)
		if err != nil {
			t.Fatal(err)
		}
		var message string
		err = d.QueryRow(t.Context(), "select name || ': ' || message from contact_submissions").Scan(&message)
		if err := errors.Join(err, d.Close()); err != nil || message != "Inês: Olá, ã" {
			t.Errorf("the message: %q, %v", message, err)
		}
		if secret, err := os.ReadFile(filepath.Join(dir, "jwt-secret")); err != nil || strings.TrimSpace(string(secret)) != releasedSecret {
			t.Errorf("the secret: %q, %v", secret, err)
		}
		checkServed(t, dir)
		// A copy reads every row and compares each file with the SHA-256 in its row.
		to := filepath.Join(t.TempDir(), "copy")
		must(t, dir, "copy", "--from", address, "--from-files", filepath.Join(dir, "files"), "--to", to)
		if file, err := os.ReadFile(filepath.Join(to, "files/b1/0b", releasedBlob)); err != nil || !bytes.Equal(file, []byte(releasedFile)) {
			t.Errorf("the file: %q, %v", file, err)
		}
	})
}

// checkServed serves a data folder of releasedSite, and requests its pages, rows and file as visitors and as the owner.
func checkServed(t *testing.T, dir string) {
	t.Helper()
	url, stop := serverAt(t, dir)
	service := regexp.MustCompile(`eyJ[\w.-]+`).FindAllString(must(t, dir, "keys").out, -1)
	if len(service) < 2 {
		t.Fatal("no keys")
	}
	get := func(target string, headers ...string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %v: %.200s", target, response.Status, err, text)
		}
		return string(text)
	}
	for target, wants := range map[string][]string{
		"/":            {"<title>Atelier da Ana", "Maré cheia", "Gostei muito.", "products/mural.bin"},
		"/gallery":     {"Maré cheia", "Onda"},
		"/sitemap.xml": {"<urlset"},
		"/rest/v1/products?order=created_at&select=title,artwork_type,is_featured&apikey=" + service[0]: {`[{"title":"Maré cheia","artwork_type":"mural","is_featured":true}`, `{"title":"Onda","artwork_type":"digital","is_featured":false}]`},
		"/storage/v1/object/public/products/mural.bin":                                                  {releasedFile},
		"/health/ready": {},
	} {
		text := get(target)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %s: %.400s", target, want, text)
			}
		}
	}
	if text := get("/rest/v1/contact_submissions?select=name,message", "Authorization", "Bearer "+service[len(service)-1], "apikey", service[len(service)-1]); text != `[{"name":"Inês","message":"Olá, ã"}]` {
		t.Errorf("messages: %s", text)
	}
	if r := stop(); r.code != 0 {
		t.Errorf("%+v", r)
	}
}

// Proves H-schema-newer.
func TestDatabaseOfANewerProgramIsRefused(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		must(t, dir, "owner", "add", "ana@example.com")
		execute(t, address, "insert into goose_db_version (version_id, is_applied) values (9999, $1)", true)
		execute(t, address, "create table of_a_newer_program (id integer primary key)")
		before := rowsOf(t, address)
		for _, args := range [][]string{{"serve", "--listen=127.0.0.1:0"}, {"serve", "--new", "--listen=127.0.0.1:0"}, {"owner", "list"}, {"keys"}, {"migrate"}, {"demo"}} {
			refused(t, dir, "a newer program has updated the database (its schema is 9999, this program knows ", args...)
			refused(t, dir, "start that program again, or restore a backup from before the upgrade", args...)
		}
		if after := rowsOf(t, address); after != before {
			t.Errorf("before %s, after %s", before, after)
		}
	})
}

// rowsOf counts rows that a refused start could add.
func rowsOf(t *testing.T, address string) string {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	var users, versions, jobs, products int
	if err := d.QueryRow(t.Context(), "select (select count(*) from auth_users), (select count(*) from goose_db_version), (select count(*) from jobs), (select count(*) from products)").Scan(&users, &versions, &jobs, &products); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(users, versions, jobs, products)
}
