package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// databases runs fn with a new data folder for each database engine, and with the address of the database.
func databases(t *testing.T, fn func(t *testing.T, dir, address string)) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			dir := t.TempDir()
			address := "sqlite:" + filepath.Join(dir, "atelie.db")
			if dialect == db.Postgres {
				address = dbtest.URL(t, dialect)
				t.Setenv("ATELIE_DATABASE_URL", address)
			}
			fn(t, dir, address)
		})
	}
}

// must runs a command that must succeed.
func must(t *testing.T, dir string, args ...string) result {
	t.Helper()
	r := atelie(t, dir, "", args...)
	if r.code != 0 {
		t.Fatalf("%v: %+v", args, r)
	}
	return r
}

// refused checks that the command has failed with a single line that contains the text.
func refused(t *testing.T, dir, want string, args ...string) {
	t.Helper()
	r := atelie(t, dir, "", args...)
	if r.code != 1 || !strings.Contains(r.err, want) || strings.Count(r.err, "atelie: ") != 1 || r.out != "" {
		t.Errorf("%v: want one line with %q, got %+v", args, want, r)
	}
}

func TestMissingOrDifferentSecretIsRefused(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		keys := must(t, dir, "keys").out // a first start creates all parts of the site
		file := filepath.Join(dir, "jwt-secret")
		secret, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands := [][]string{{"serve", "--listen=127.0.0.1:0"}, {"keys"}, {"keys", "rotate"}, {"owner", "add", "ana@example.com"}, {"demo"}, {"mail", "test", "ana@example.com"}, {"serve", "--new", "--listen=127.0.0.1:0"}}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for _, args := range commands {
			refused(t, dir, "the secret of this site is missing", args...)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("a new secret was made beside the database: %v", err)
		}
		if err := os.WriteFile(file, []byte(strings.Repeat("x", 64)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range commands {
			refused(t, dir, "this is not the secret of this database", args...)
		}
		t.Setenv("ATELIE_JWT_SECRET", strings.TrimSpace(string(secret)))
		if got := must(t, dir, "keys").out; got != keys {
			t.Errorf("with the right secret in the environment: %s", got)
		}
		t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("y", 64))
		refused(t, dir, "this is not the secret", "owner", "list")
	})
}

func TestSecretIsCheckedAgainstSealedValuesOfAnEarlierVersion(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		t.Setenv("ATELIE_JWT_ALGORITHM", "ES256")
		must(t, dir, "owner", "add", "ana@example.com") // with a signing key, which is sealed
		execute(t, address, "delete from secret_fingerprints")
		t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("x", 64))
		refused(t, dir, "this is not the secret", "owner", "list")
		t.Setenv("ATELIE_JWT_SECRET", "")
		must(t, dir, "owner", "list")
		execute(t, address, "delete from auth_signing_keys")
		t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("x", 64))
		refused(t, dir, "this is not the secret", "owner", "list") // the fingerprint is stored now
	})
}

// Proves A-activity-accounts.
func TestSecretReset(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		t.Setenv("ATELIE_JWT_ALGORITHM", "ES256")
		must(t, dir, "owner", "add", "ana@example.com")
		refused(t, dir, "nothing is to be done", "secret", "reset")
		execute(t, address, `insert into auth_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
			select $1, id, 'phone', 'totp', 'verified', 'sealed with the lost one', created_at, created_at from auth_users`, uuid.NewString())
		execute(t, address, "insert into jobs (id, kind, payload, run_at, created_at) values ($1, 'mail', $2, $3, $3)", uuid.NewString(), []byte("sealed"), time.Now())
		if err := os.Remove(filepath.Join(dir, "jwt-secret")); err != nil {
			t.Fatal(err)
		}
		r := must(t, dir, "secret", "reset")
		if !strings.Contains(r.out, "removed: 1\n") || !strings.Contains(r.out, "ana@example.com has lost the second factor") {
			t.Errorf("%+v", r)
		}
		must(t, dir, "owner", "list")
		must(t, dir, "keys")
		d, err := db.Open(t.Context(), address, db.NoHooks)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		var factors, jobs, fingerprints, signing int
		err = d.QueryRow(t.Context(), "select (select count(*) from auth_factors), (select count(*) from jobs), (select count(*) from secret_fingerprints), (select count(*) from auth_signing_keys)").Scan(&factors, &jobs, &fingerprints, &signing)
		if err != nil || factors != 0 || jobs != 0 || fingerprints != 1 || signing != 1 {
			t.Errorf("%d factors, %d jobs, %d fingerprints, %d signing keys, %v", factors, jobs, fingerprints, signing, err)
		}
		listed, err := db.One[int](t.Context(), d, "select count(*) from auth_audit_log l join auth_users u on u.id = l.user_id where l.action = 'factor_deleted' and cast(l.detail as text) like '%command%'")
		if err != nil || listed != 1 {
			t.Errorf("%d entries about the lost factor, %v", listed, err)
		}
	})
}

func TestNodesThatStartTogetherAgreeOnOneSecret(t *testing.T) {
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			t.Setenv("ATELIE_DATABASE_URL", dbtest.URL(t, db.Postgres))
			if shared {
				t.Setenv("ATELIE_JWT_SECRET", strings.Repeat("s", 40))
			}
			var started int
			dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
			results := make([]result, len(dirs))
			var all sync.WaitGroup
			for i, dir := range dirs {
				all.Go(func() {
					var out, errOut bytes.Buffer
					code := Run(t.Context(), []string{"owner", "list", "--data-dir", dir}, strings.NewReader(""), &out, &errOut, "test")
					results[i] = result{code, out.String(), errOut.String()}
				})
			}
			all.Wait()
			for i, r := range results {
				_, err := os.Stat(filepath.Join(dirs[i], "jwt-secret"))
				switch {
				case r.code == 0:
					started++
				case !strings.Contains(r.err, "all nodes need the same") || err == nil:
					t.Errorf("%+v, a secret was left: %v", r, err == nil)
				}
			}
			if shared && started != 3 || !shared && started != 1 {
				t.Errorf("%d of 3 started: %+v", started, results)
			}
		})
	}
}

func TestMissingDatabaseBesideASecretIsRefused(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "owner", "add", "ana@example.com")
	file := filepath.Join(dir, "atelie.db")
	lose := map[string]func() error{
		"missing": func() error { return os.Remove(file) },
		"empty":   func() error { return os.WriteFile(file, nil, 0o600) },
	}
	for name, fn := range lose {
		if err := fn(); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"serve", "--listen=127.0.0.1:0"}, {"owner", "list"}, {"keys"}, {"migrate"}, {"demo"}} {
			refused(t, dir, "is missing or empty, but the data folder has a secret", args...)
		}
		if info, err := os.Stat(file); err == nil && info.Size() > 0 || name == "missing" && err == nil {
			t.Errorf("%s: a database was made", name)
		}
	}
	must(t, dir, "demo", "--new")
	must(t, dir, "owner", "list")
	// An empty PostgreSQL database with the data folder of an SQLite site.
	t.Setenv("ATELIE_DATABASE_URL", dbtest.URL(t, db.Postgres))
	refused(t, dir, "is missing or empty, but the file store is not empty", "owner", "list")
}

func TestInterruptedFirstStartIsResumed(t *testing.T) {
	for name, args := range map[string][]string{"schema alone": {"migrate"}, "all but the marker": {"keys"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, dir, args...)
			if err := os.RemoveAll(filepath.Join(dir, "files")); err != nil {
				t.Fatal(err)
			}
			must(t, dir, "owner", "list")
		})
	}
	t.Run("no fingerprint yet", func(t *testing.T) {
		dir := t.TempDir()
		must(t, dir, "keys")
		execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "delete from secret_fingerprints")
		if err := os.RemoveAll(filepath.Join(dir, "files")); err != nil {
			t.Fatal(err)
		}
		must(t, dir, "owner", "list")
	})
}

func TestMissingAndForeignFilesAreRefused(t *testing.T) {
	for _, place := range []string{"disk", "s3"} {
		t.Run(place, func(t *testing.T) {
			if place == "s3" {
				t.Setenv("ATELIE_STORAGE_URL", bucketAddress(t))
			}
			dir := demoSite(t)
			files, away := filepath.Join(dir, "files"), filepath.Join(dir, "away")
			lose := func() {
				if place == "s3" {
					t.Setenv("ATELIE_STORAGE_URL", bucketAddress(t))
				} else if err := os.Rename(files, away); err != nil {
					t.Fatal(err)
				}
			}
			lose()
			if place == "disk" {
				refused(t, dir, "files is missing: mount or restore", "owner", "list")
				if err := os.Mkdir(files, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			refused(t, dir, "the file store has no marker", "serve", "--listen=127.0.0.1:0")
			// An earlier version has stored no marker, so the files themselves are checked.
			execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "delete from storage_marker")
			refused(t, dir, "none of the files that were checked exists", "owner", "list")
			must(t, dir, "demo", "--new")
			must(t, dir, "owner", "list")
			if place == "s3" {
				return
			}
			// The previous files again: their marker differs from the one that was created meanwhile.
			if err := errors.Join(os.RemoveAll(files), os.Rename(away, files)); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, "belongs to another site", "owner", "list")
			refused(t, dir, "belongs to another site", "demo", "--new")
			execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "delete from storage_marker")
			if err := os.Remove(filepath.Join(files, ".atelie")); err != nil {
				t.Fatal(err)
			}
			must(t, dir, "owner", "list") // as after an earlier version
			if marker, err := os.ReadFile(filepath.Join(files, ".atelie")); err != nil || uuid.Validate(strings.TrimSpace(string(marker))) != nil {
				t.Errorf("marker %q, %v", marker, err)
			}
		})
	}
}

func TestMissingTableIsRefused(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		must(t, dir, "owner", "list")
		execute(t, address, "drop table contact_notices")
		refused(t, dir, "the database lacks contact_notices: restore it from a backup", "owner", "list")
	})
}

// server runs serve until the test ends, and waits until it has printed its URL.
func server(t *testing.T, dir string, args ...string) (stop func() result) {
	t.Helper()
	_, stop = serverAt(t, dir, args...)
	return stop
}

// serverAt is server. It also returns the URL of the site.
func serverAt(t *testing.T, dir string, args ...string) (url string, stop func() result) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	printed := make(chan string, 1)
	out := &stopAtURL{}
	out.stop = sync.OnceFunc(func() { printed <- out.text.String() })
	var errOut bytes.Buffer
	done := make(chan result, 1)
	go func() {
		code := Run(ctx, append([]string{"serve", "--listen=127.0.0.1:0", "--data-dir", dir}, args...), strings.NewReader(""), out, &errOut, "test")
		done <- result{code, "", errOut.String()}
	}()
	select {
	case text := <-printed:
		url = siteURL.FindString(text)
	case r := <-done:
		t.Fatalf("%+v", r)
	}
	stop = sync.OnceValue(func() result { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	return url, stop
}

var siteURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func TestDatabaseThatIsNotUsedIsReported(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "keys") // creates a database in the folder
	used := server(t, dir)
	if r := used(); strings.Contains(r.err, "is not used") {
		t.Errorf("%+v", r)
	}
	t.Setenv("ATELIE_DATABASE_URL", dbtest.URL(t, db.Postgres))
	unused := server(t, dir, "--new")
	if r := unused(); !strings.Contains(r.err, "the database in the data folder is not used") || !strings.Contains(r.err, filepath.Join(dir, "atelie.db")) {
		t.Errorf("%+v", r)
	}
}

func TestDataFolderHasOneServerAtATime(t *testing.T) {
	dir := t.TempDir()
	stop := server(t, dir)
	refused(t, dir, fmt.Sprintf("the data folder %s is in use: the process %d", dir, os.Getpid()), "serve", "--listen=127.0.0.1:0")
	refused(t, dir, fmt.Sprintf("the process %d", os.Getpid()), "secret", "reset")
	other := demoSite(t)
	if err := os.Remove(filepath.Join(other, "jwt-secret")); err != nil { // otherwise another secret would be refused first
		t.Fatal(err)
	}
	if r := atelie(t, t.TempDir(), "", "copy", "--from", other, "--to", dir); r.code != 1 || !strings.Contains(r.err, "target: the data folder") {
		t.Errorf("%+v", r)
	}
	must(t, dir, "owner", "add", "ana@example.com") // works while a server runs
	must(t, dir, "keys")
	must(t, dir, "mail", "test", "ana@example.com")
	if r := stop(); r.code != 0 {
		t.Errorf("%+v", r)
	}
	server(t, dir)
}

func TestLeasesOfAKilledServerEndAtTheNextStart(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		must(t, dir, "keys")
		until := time.Now().Add(10 * time.Minute) // no lease expires before the server has started
		execute(t, address, `insert into storage_uploads (id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored, created_at, expires_at, lock_token, locked_until)
			values ($1, $1, 'user', 'product-images', 'film.mp4', $2, 10, '', '', '', 5, '{}', $3, $3, $1, $3)`, uuid.NewString(), false, until)
		execute(t, address, "insert into jobs (id, kind, payload, run_at, created_at, claim, leased_until) values ($1, 'unknown', $2, $3, $3, $1, $3)", uuid.NewString(), []byte("sealed"), until)
		execute(t, address, "insert into certificate_locks (name, token, locked_until) values ('a', $1, $2)", uuid.NewString(), until)
		must(t, dir, "owner", "list") // a command does not end a server's leases
		count := func() (held int) {
			d, err := db.Open(t.Context(), address, db.NoHooks)
			if err == nil {
				err = d.QueryRow(t.Context(), "select (select count(lock_token) from storage_uploads) + (select count(claim) from jobs) + (select count(*) from certificate_locks)").Scan(&held)
			}
			if err := errors.Join(err, d.Close()); err != nil {
				t.Fatal(err)
			}
			return held
		}
		if held := count(); held != 3 {
			t.Fatalf("%d leases", held)
		}
		server(t, dir)
		want := 0
		if strings.HasPrefix(address, "postgres") { // another node may be running
			want = 3
		}
		if held := count(); held != want {
			t.Errorf("%d leases, want %d", held, want)
		}
	})
}

// unlessGone ignores the error for a file that was removed meanwhile: a server that makes pictures creates and removes files.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func TestDataFolderIsReadableOnlyByItsUser(t *testing.T) {
	if testing.Short() {
		t.Skip("makes the pictures of the demo content")
	}
	old := syscall.Umask(0) // permissions must not depend on the umask
	defer syscall.Umask(old)
	modes := func(dir string) map[string]fs.FileMode {
		found := map[string]fs.FileMode{}
		if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return unlessGone(err)
			}
			info, err := e.Info()
			if err == nil && e.Type()&fs.ModeSymlink == 0 { // a symbolic link has no permissions of its own
				found[strings.TrimPrefix(path, dir)] = info.Mode().Perm()
			}
			return unlessGone(err)
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	private := func(what string, found map[string]fs.FileMode, want ...string) {
		t.Helper()
		for _, name := range want {
			if _, ok := found[name]; !ok {
				t.Errorf("%s: %s is missing in %v", what, name, found)
			}
		}
		for name, mode := range found {
			if mode&0o077 != 0 {
				t.Errorf("%s: %s has %o", what, name, mode)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "new")
	server(t, dir, "--demo")
	must(t, dir, "mail", "test", "ana@example.com")
	private("new", modes(dir), "", "/atelie.db", "/atelie.db-wal", "/atelie.db-shm", "/jwt-secret", "/mail", "/scratch", "/files", "/files/staged", "/files/tmp", "/demo-owner-password")

	wide := filepath.Join(t.TempDir(), "wide")
	must(t, wide, "mail", "test", "ana@example.com")
	if err := filepath.WalkDir(wide, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o755))
	}); err != nil {
		t.Fatal(err)
	}
	if r := must(t, wide, "owner", "list"); strings.Count(r.err, "these are removed") != 1 || strings.Count(r.err, "\n") != 1 {
		t.Errorf("want one line: %s", r.err)
	}
	private("an existing folder", modes(wide), "/atelie.db", "/jwt-secret", "/mail")
	if r := must(t, wide, "owner", "list"); r.err != "" {
		t.Errorf("the second time: %s", r.err)
	}

	shared := filepath.Join(t.TempDir(), "shared") // a folder that is also used for other files
	if err := errors.Join(os.Mkdir(shared, 0o755), os.WriteFile(filepath.Join(shared, "theirs"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if r := must(t, shared, "owner", "list"); !strings.Contains(r.err, "other things lie in it too") {
		t.Errorf("%+v", r)
	}
	found := modes(shared)
	if found[""] != 0o755 || found["/theirs"] != 0o644 || found["/atelie.db"] != 0o600 || found["/files"] != 0o700 {
		t.Errorf("got %v", found)
	}
}
