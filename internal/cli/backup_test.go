package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// tablesOf returns a checksum of the rows of each table. Nothing may write to the database meanwhile.
func tablesOf(t *testing.T, address string) []db.TableChecksum {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := db.Checksums(t.Context(), d, d.Dialect)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	return sums
}

// expectEqualSites fails the test unless two data folders with SQLite databases have the same rows, files and secret.
func expectEqualSites(t *testing.T, got, want string) {
	t.Helper()
	if a, b := tablesOf(t, "sqlite:"+filepath.Join(got, "atelie.db")), tablesOf(t, "sqlite:"+filepath.Join(want, "atelie.db")); !reflect.DeepEqual(a, b) {
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("table %+v, want %+v", a[i], b[i])
			}
		}
	}
	a, b := filesOf(t, filepath.Join(got, "files")), filesOf(t, filepath.Join(want, "files"))
	for _, id := range pendingBlobs(t, "sqlite:"+filepath.Join(want, "atelie.db")) {
		// The stop can interrupt a job between storing a file and committing its row. Such a file is not part of the site.
		maps.DeleteFunc(b, func(path, _ string) bool { return filepath.Base(path) == id })
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			t.Errorf("the file %s is missing", path)
		}
	}
	if !maps.Equal(a, b) || len(b) == 0 {
		t.Errorf("%d files, want %d", len(a), len(b))
	}
	secret, err := os.ReadFile(filepath.Join(got, "jwt-secret"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(want, "jwt-secret")); err != nil || !bytes.Equal(secret, b) {
		t.Errorf("another secret (%v)", err)
	}
}

// pendingBlobs returns the ids of the files to which no row refers yet, or no longer.
func pendingBlobs(t *testing.T, address string) []string {
	t.Helper()
	return queryTexts(t, address, "select blob_id from storage_trash")
}

// destinations runs fn with a folder and a bucket as the backup destination.
func destinations(t *testing.T, fn func(t *testing.T, destination string)) {
	for _, kind := range []string{"folder", "s3"} {
		t.Run(kind, func(t *testing.T) {
			destination := filepath.Join(t.TempDir(), "backup")
			if kind == "s3" {
				destination = bucketAddress(t)
			}
			t.Setenv("ATELIE_BACKUP_URL", destination)
			fn(t, destination)
		})
	}
}

// Proves H-restore, A-activity-site.
func TestRestoreRebuildsTheSite(t *testing.T) {
	destinations(t, func(t *testing.T, destination string) {
		t.Setenv("ATELIE_BACKUP_PASSPHRASE", "correct horse battery")
		dir := demoSite(t)
		execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "delete from storage_uploads")
		stop := server(t, dir)
		if r := must(t, dir, "backup", "now"); !strings.Contains(r.out, "up to date") {
			t.Errorf("%+v", r)
		}
		if r := stop(); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		to := filepath.Join(t.TempDir(), "new")
		r := must(t, to, "restore", "--from", destination)
		if !strings.Contains(r.out, "Restored: the site as it was at 20") || !strings.Contains(r.out, "Nothing is missing. Start it with atelie serve --data-dir="+to+"\n") || !strings.Contains(r.out, "Files: ") {
			t.Errorf("%s", r.out)
		}
		moment := regexp.MustCompile(`as it was at (\S+),`).FindStringSubmatch(r.out)
		restored := "sqlite:" + filepath.Join(to, "atelie.db")
		if got := siteActivity(t, restored); len(moment) == 0 || !slices.Contains(got, "site-restore "+moment[1]) {
			t.Errorf("the activity lists %q, but not the restore", got)
		}
		execute(t, restored, "delete from activity where action = 'site-restore'")
		expectEqualSites(t, to, dir)
		if r := must(t, to, "owner", "list"); !strings.Contains(r.out, "ana@example.com") {
			t.Errorf("%+v", r)
		}
		refused(t, to, "is not empty", "restore", "--from", destination)
		refusedRestore := func(want string, args ...string) {
			t.Helper()
			dir := filepath.Join(t.TempDir(), "x")
			refused(t, dir, want, append([]string{"restore", "--from"}, args...)...)
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a refused restore leaves a folder (%v)", err)
			}
		}
		refusedRestore("there is no backup in", t.TempDir())
		existing := t.TempDir()
		refused(t, existing, "there is no backup in", "restore", "--from", t.TempDir())
		if left, err := os.ReadDir(existing); err != nil || len(left) > 0 {
			t.Errorf("a refused restore leaves %v in a folder that was there (%v)", left, err)
		}
		refusedRestore("no state of the database at 2020-01-01", destination, "--at", "2020-01-01T00:00:00Z")
		refusedRestore("--at: is not a time", destination, "--at", "yesterday")
		t.Setenv("ATELIE_BACKUP_PASSPHRASE", "")
		refusedRestore("set ATELIE_BACKUP_PASSPHRASE", destination)
	})
}

// Proves H-restore-moment, H-restore-erased.
func TestRestoreOfAnEarlierRestorePoint(t *testing.T) {
	destinations(t, func(t *testing.T, destination string) {
		dir := t.TempDir()
		address := "sqlite:" + filepath.Join(dir, "atelie.db")
		server(t, dir)
		add := func(message string) {
			execute(t, address, "insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Ana', 'a@b.pt', $2, $3)", uuid.NewString(), message, time.Now())
		}
		var moments []time.Time
		for _, message := range []string{"one", "two", "three"} {
			add(message)
			must(t, dir, "backup", "now")
			moments = append(moments, time.Now())
		}
		for i, at := range moments {
			to := filepath.Join(t.TempDir(), "new")
			must(t, to, "restore", "--from", destination, "--at", at.UTC().Format(time.RFC3339Nano))
			var n int
			d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(to, "atelie.db"), db.NoHooks)
			if err != nil {
				t.Fatal(err)
			}
			err = d.QueryRow(t.Context(), "select count(*) from contact_submissions").Scan(&n)
			if err := errors.Join(err, d.Close()); err != nil || n != i+1 {
				t.Errorf("moment %d has %d messages (%v)", i, n, err)
			}
		}
		execute(t, address, "insert into activity (created_at, kind, action) values ($1, 'export', 'address-data erase')", time.Now())
		execute(t, address, "delete from contact_submissions where message <> 'three'")
		must(t, dir, "backup", "now")
		to := filepath.Join(t.TempDir(), "new")
		r := must(t, to, "restore", "--from", destination, "--at", moments[2].UTC().Format(time.RFC3339Nano))
		if !strings.Contains(r.out, "Deleted since then: 2 messages.") || strings.Count(r.out, "Erased since then: everything about an address, at "+time.Now().UTC().Format("2006-")) != 1 {
			t.Errorf("later deletions are not listed:\n%s", r.out)
		}
		if left, err := filepath.Glob(filepath.Join(to, "restoring*")); err != nil || len(left) > 0 {
			t.Errorf("%q is left (%v)", left, err)
		}
		if r := must(t, filepath.Join(t.TempDir(), "new"), "restore", "--from", destination); strings.Contains(r.out, "since then") {
			t.Errorf("the newest state has everything:\n%s", r.out)
		}
		if r := must(t, dir, "backup", "list"); !strings.Contains(r.out, time.Now().UTC().Format(time.DateOnly)) || !strings.Contains(r.out, " restore points") {
			t.Errorf("%+v", r)
		}
	})
}

// Proves H-restore-moment.
func TestRestoreSaysThatTheSecretWasChangedSince(t *testing.T) {
	destination := filepath.Join(t.TempDir(), "backup")
	t.Setenv("ATELIE_BACKUP_URL", destination)
	dir := t.TempDir()
	must(t, dir, "owner", "add", "ana@example.com")
	must(t, dir, "backup", "now")
	secret, err := os.ReadFile(filepath.Join(dir, "jwt-secret"))
	if err != nil {
		t.Fatal(err)
	}
	restore := []string{"restore", "--from", destination, "--at", time.Now().UTC().Format(time.RFC3339Nano)}
	must(t, dir, "secret", "rotate")
	must(t, dir, "backup", "now")
	if r := must(t, filepath.Join(t.TempDir(), "new"), restore...); !strings.Contains(r.out, "Nothing is missing.") {
		t.Errorf("the previous secret is that of the restored state: %+v", r)
	}
	must(t, dir, "secret", "forget")
	must(t, dir, "backup", "now")
	to := filepath.Join(t.TempDir(), "new")
	if r := atelie(t, to, "", restore...); r.code != 1 || !strings.Contains(r.out, "Missing: the secret of that time, which was changed since then: write it into the file jwt-secret.previous ") || strings.Contains(r.out, "Nothing is missing") {
		t.Errorf("%+v", r)
	}
	refused(t, to, "this is not the secret of this database", "owner", "list")
	if err := os.WriteFile(filepath.Join(to, "jwt-secret.previous"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := must(t, to, "owner", "list"); !strings.Contains(r.out, "ana@example.com") {
		t.Errorf("%+v", r)
	}
	must(t, to, "secret", "forget")
	must(t, to, "owner", "list")
}

// Proves H-proof.
func TestBackupIsProvenAndCopied(t *testing.T) {
	destinations(t, func(t *testing.T, _ string) {
		second := filepath.Join(t.TempDir(), "second")
		t.Setenv("ATELIE_BACKUP_COPY_URL", second)
		dir := demoSite(t)
		execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "delete from storage_uploads")
		for _, running := range []bool{false, true} { // without a server, the command itself keeps the backup
			stop := func() result { return result{} }
			if running {
				stop = server(t, dir)
			}
			if r := must(t, dir, "backup", "now"); !strings.Contains(r.out, "up to date") {
				t.Errorf("%+v", r)
			}
			if r := must(t, dir, "backup", "verify"); !strings.Contains(r.out, "Restore test: the state of 20") || !strings.Contains(r.out, "compared, 0 of them were damaged") {
				t.Errorf("%+v", r)
			}
			var s jsonStatus
			if err := json.Unmarshal([]byte(must(t, dir, "backup", "status", "--json").out), &s); err != nil || s.LastRestoreTest == nil || s.LastBackup == nil || s.RestoreTestError != "" || !running && s.WaitingFiles != 0 { // a running server still makes renditions
				t.Errorf("%+v, %v", s, err)
			}
			if r := stop(); r.code != 0 {
				t.Errorf("%+v", r)
			}
		}
		if got := strings.Join(siteActivity(t, "sqlite:"+filepath.Join(dir, "atelie.db")), "\n"); strings.Count(got, "backup-place "+second) != 1 {
			t.Errorf("the activity lists %q, want the secondary destination once", got)
		}
		to := filepath.Join(t.TempDir(), "new")
		if r := must(t, to, "restore", "--from", second); !strings.Contains(r.out, "Nothing is missing") {
			t.Errorf("%+v", r)
		}
		if r := must(t, to, "owner", "list"); !strings.Contains(r.out, "ana@example.com") {
			t.Errorf("%+v", r)
		}
	})
}

// flip changes one byte in the middle of a file. It replaces the file, because it can be a hard link to a file of the site.
func flip(t *testing.T, file string) (undo func()) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put := func(content []byte) {
		if err := errors.Join(os.Remove(file), os.WriteFile(file, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	put(damaged)
	return func() { put(whole) }
}

// allOf returns the files of a backup that match a pattern, at least one.
func allOf(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing is like %s (%v)", pattern, err)
	}
	return found
}

// oneOf returns the largest file of a backup that matches a pattern.
func oneOf(t *testing.T, pattern string) string {
	t.Helper()
	largest, size := "", int64(-1)
	for _, name := range allOf(t, pattern) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = name, info.Size()
		}
	}
	return largest
}

// Proves H-proof-damage.
func TestProofNamesDamagedObjects(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		destination := filepath.Join(t.TempDir(), "backup")
		t.Setenv("ATELIE_BACKUP_URL", destination)
		t.Setenv("ATELIE_BACKUP_PASSPHRASE", "correct horse battery")
		t.Setenv("ATELIE_VIPS", "off")
		upload(t, dir, "a.jpg", photoWithPlace(t))
		must(t, dir, "media", "rebuild")
		must(t, dir, "backup", "now")
		must(t, dir, "backup", "verify")
		// All parts, because a restore needs those of level 0 only until they are merged, which depends on the time.
		database := filepath.Join(destination, "database", "ltx", "*", "*.ltx")
		if strings.HasPrefix(address, "postgres") {
			database = filepath.Join(destination, "snapshots", "*.zst")
		}
		for n, damaged := range [][]string{
			allOf(t, database),
			{oneOf(t, filepath.Join(destination, "blobs", "*", "*", "*"))},
			{filepath.Join(destination, "secret.age")},
		} {
			var undo []func()
			for _, file := range damaged {
				undo = append(undo, flip(t, file))
			}
			r := atelie(t, dir, "", "backup", "verify")
			named := slices.ContainsFunc(damaged, func(file string) bool {
				return strings.Contains(r.err, strings.TrimPrefix(file, destination+"/"))
			})
			if r.code != 1 || !named || !strings.Contains(r.err, "is damaged") {
				t.Errorf("%s: %+v", damaged, r)
			}
			if r := atelie(t, dir, "", "backup", "status"); r.code != 1 || !strings.Contains(r.err, "is damaged") {
				t.Errorf("%s: %+v", damaged, r)
			}
			if n == 0 {
				if r := atelie(t, filepath.Join(t.TempDir(), "new"), "", "restore", "--from", destination); r.code != 1 || !strings.Contains(r.err, "is damaged: the state of 20") || !strings.Contains(r.err, "restore --at=TIME") {
					t.Errorf("%s: %+v", damaged, r)
				}
			}
			for _, restore := range undo {
				restore()
			}
		}
		must(t, dir, "backup", "verify")
		if err := os.Remove(oneOf(t, filepath.Join(destination, "blobs", "*", "*", "*"))); err != nil {
			t.Fatal(err)
		}
		if r := atelie(t, dir, "", "backup", "verify"); r.code != 1 || !strings.Contains(r.err, "is missing in the backup") {
			t.Errorf("%+v", r)
		}
		t.Setenv("ATELIE_DATABASE_URL", "")
		r := atelie(t, filepath.Join(t.TempDir(), "new"), "", "restore", "--from", destination)
		if r.code != 1 || strings.Count(r.out, "Missing: ") != 1 || !strings.Contains(r.out, "not in the backup") || !strings.Contains(r.err, "the backup lacks what is listed above as missing (1)") {
			t.Errorf("%+v", r)
		}
	})
}

// Proves H-proof-away.
func TestBackupVerifyDistinguishesAnUnreachableDestinationFromDamage(t *testing.T) {
	destination := filepath.Join(t.TempDir(), "backup")
	t.Setenv("ATELIE_BACKUP_URL", destination)
	dir := t.TempDir()
	server(t, dir)
	must(t, dir, "backup", "now")
	must(t, dir, "backup", "verify")
	if err := errors.Join(os.Rename(destination, destination+" away"), os.WriteFile(destination, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := atelie(t, dir, "", "backup", "verify"); r.code != 1 || !strings.Contains(r.err, "could not be done: the backup destination cannot be reached") {
		t.Errorf("%+v", r)
	}
	if r := atelie(t, dir, "", "backup", "status"); r.code != 1 || !strings.Contains(r.err, "(backup_place_unreachable, since 20") || strings.Contains(r.err, "damaged") || !strings.Contains(r.out, "was restored and compared") {
		t.Errorf("%+v", r)
	}
	var s jsonStatus
	if err := json.Unmarshal([]byte(must(t, dir, "backup", "status", "--json").out), &s); err != nil || s.RestoreTestError != "" || s.IncompleteCode != "backup_place_unreachable" || s.LastRestoreTest == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Proves H-restore-postgres.
func TestRestoreOfAPostgresBackupCanBeCopiedBack(t *testing.T) {
	destination, first := filepath.Join(t.TempDir(), "backup"), dbtest.URL(t, db.Postgres)
	t.Setenv("ATELIE_BACKUP_URL", destination)
	t.Setenv("ATELIE_DATABASE_URL", first)
	dir := t.TempDir()
	must(t, dir, "demo")
	must(t, dir, "owner", "add", "ana@example.com")
	must(t, dir, "backup", "now")
	between := time.Now()
	must(t, dir, "owner", "add", "rui@example.com")
	must(t, dir, "backup", "now")
	if r := must(t, dir, "backup", "list"); !strings.Contains(r.out, "2 restore points") {
		t.Errorf("%+v", r)
	}
	for owner, at := range map[string]string{"rui@example.com": "9999-01-01T00:00:00Z", "ana@example.com": between.UTC().Format(time.RFC3339Nano)} {
		to := filepath.Join(t.TempDir(), "new")
		t.Setenv("ATELIE_DATABASE_URL", first) // as on the machine of the site
		if r := must(t, to, "restore", "--from", destination, "--at", at); !strings.Contains(r.out, "atelie serve uses what database-url names.") {
			t.Errorf("%+v", r)
		}
		t.Setenv("ATELIE_DATABASE_URL", "")
		r := must(t, to, "owner", "list")
		if !strings.Contains(r.out, owner) || strings.Contains(r.out, "rui") != (owner == "rui@example.com") {
			t.Errorf("at %s: %+v", at, r)
		}
		second := dbtest.URL(t, db.Postgres)
		copied := t.TempDir()
		if r := must(t, t.TempDir(), "copy", "--from", to, "--to", second, "--to-files", filepath.Join(copied, "files")); !strings.Contains(r.out, "Copied and the same") ||
			!strings.Contains(r.out, "\nStart it with atelie serve --data-dir="+copied+", with ATELIE_DATABASE_URL as in --to\n") {
			t.Errorf("%+v", r)
		}
	}
}
