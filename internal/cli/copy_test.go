package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"atelie/internal/app"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/s3client"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

// bucketAddress returns the URL of a new bucket in the form of the setting storage-url.
func bucketAddress(t *testing.T) string {
	t.Helper()
	cfg := blobtest.Bucket(t)
	u := url.URL{Scheme: "s3", User: url.UserPassword(cfg.KeyID, cfg.Secret), Host: strings.TrimPrefix(cfg.Endpoint, "http://"), Path: "/" + cfg.Bucket, RawQuery: "tls=off&create=on"}
	return u.String()
}

// demoTemplate is a data folder with the demo content and an owner. Making it takes seconds, so demoSite copies it; removeDemoTemplate
// removes it after the tests.
var demoTemplate struct {
	sync.Mutex
	dir string // "" before the first use
}

func removeDemoTemplate() error { return os.RemoveAll(demoTemplate.dir) }

func makeDemo(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"demo"}, {"owner", "add", "ana@example.com", "--password-stdin"}} {
		if r := atelie(t, dir, "a wall of whitewash\n", args...); r.code != 0 {
			t.Fatalf("got %+v", r)
		}
	}
}

// copyDemo copies the template into dir, and makes it before if there is none. The settings of the test, such as the destination of
// its backups, are not used for the template.
func copyDemo(t *testing.T, dir string) {
	t.Helper()
	demoTemplate.Lock()
	defer demoTemplate.Unlock()
	if demoTemplate.dir == "" {
		template, err := os.MkdirTemp("", "atelie-demo")
		if err != nil {
			t.Fatal(err)
		}
		t.Run("template", func(t *testing.T) {
			for _, setting := range os.Environ() {
				if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "ATELIE_") {
					t.Setenv(name, "") // restores the setting at the end
					if err := os.Unsetenv(name); err != nil {
						t.Fatal(err)
					}
				}
			}
			makeDemo(t, template)
		})
		if t.Failed() {
			t.FailNow()
		}
		demoTemplate.dir = template
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", demoTemplate.dir+"/.", dir).CombinedOutput(); err != nil { // with the modes of the files
		t.Fatalf("%v: %s", err, out)
	}
}

// demoSite creates a data folder with content, files, an owner and an unfinished upload.
func demoSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getenv("ATELIE_STORAGE_URL") == "" {
		copyDemo(t, dir)
	} else { // its files are not in the data folder
		makeDemo(t, dir)
	}
	execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), `insert into storage_uploads (id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored, created_at, expires_at)
		values ($1, $1, 'user', 'product-images', 'film.mp4', $2, 10, '', '', '', 5, '{}', $3, $3)`, uuid.NewString(), false, time.Now())
	return dir
}

// execute runs a statement in the database at an address.
func execute(t *testing.T, address, statement string, args ...any) {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Exec(t.Context(), statement, args...)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the files in a folder, except the marker of a file store.
func filesOf(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == ".atelie" {
			return err
		}
		content, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root)] = string(content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// report returns the lines about tables and the last sum from the output of a copy.
func report(out string) string {
	return strings.Join(regexp.MustCompile(`(?m)^(\w+ +\d+ rows +SHA-256 .*|Copied and the same: .*)$`).FindAllString(out, -1), "\n")
}

// siteActivity returns the entries of a database's activity about the whole site, as "action title".
func siteActivity(t *testing.T, address string) []string {
	t.Helper()
	return queryTexts(t, address, "select action || ' ' || coalesce(title, '-') from activity where action like '%-%' order by id")
}

// queryTexts returns the only column of a query in the database at an address.
func queryTexts(t *testing.T, address, query string) []string {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], query)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}

// Proves A-activity-site.
func TestCopyThereAndBack(t *testing.T) {
	dir := demoSite(t)
	files := filesOf(t, filepath.Join(dir, "files"))
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	database, bucket, back := dbtest.URL(t, db.Postgres), bucketAddress(t), t.TempDir()
	there := atelie(t, t.TempDir(), "", "copy", "--from", dir, "--to", database, "--to-files", bucket)
	if there.code != 0 {
		t.Fatalf("%+v", there)
	}
	for _, want := range []string{"Left out of storage_uploads: 1 rows", "ATELIE_JWT_SECRET to the content of " + filepath.Join(dir, "jwt-secret")} {
		if !strings.Contains(there.out, want) {
			t.Errorf("%q is not in\n%s", want, there.out)
		}
	}
	secret, err := os.ReadFile(filepath.Join(dir, "jwt-secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{blobtest.Secret, strings.TrimSpace(string(secret))} {
		if strings.Contains(there.out+there.err, hidden) {
			t.Errorf("the output contains a secret:\n%s", there.out)
		}
	}
	again := atelie(t, t.TempDir(), "", "copy", "--from", database, "--from-files", bucket, "--to", "sqlite://"+filepath.Join(back, "new", "atelie.db"))
	if again.code != 0 {
		t.Fatalf("%+v", again)
	}
	if report(there.out) != report(again.out) || strings.Count(report(there.out), "\n") < 25 {
		t.Errorf("there:\n%s\nand back:\n%s", there.out, again.out)
	}
	label, err := db.Label(database)
	if err != nil {
		t.Fatal(err)
	}
	returned := "sqlite:" + filepath.Join(back, "new", "atelie.db")
	for address, want := range map[string][]string{"sqlite:" + filepath.Join(dir, "atelie.db"): {"site-copy " + label}, database: {"site-copy " + returned}, returned: nil} {
		if got := siteActivity(t, address); !slices.Equal(got, want) {
			t.Errorf("the activity lists %q, want %q", got, want)
		}
	}
	got := filesOf(t, filepath.Join(back, "new", "files"))
	if len(got) != len(files) {
		t.Errorf("%d files of %d", len(got), len(files))
	}
	for name, content := range files {
		if got[name] != content {
			t.Errorf("%s differs", name)
		}
	}
	if r := atelie(t, filepath.Join(back, "new"), "", "owner", "list"); r.code != 1 || !strings.Contains(r.err, "the secret of this site is missing") {
		t.Errorf("without the secret: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(back, "new", "jwt-secret"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := atelie(t, filepath.Join(back, "new"), "", "owner", "list"); r.code != 0 || !strings.Contains(r.out, "ana@example.com") {
		t.Errorf("%+v", r)
	}
	// A copy between data folders includes the secret.
	folder := filepath.Join(t.TempDir(), "copy")
	if r := atelie(t, t.TempDir(), "", "copy", "--from", dir, "--to", folder); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	kept, err := os.ReadFile(filepath.Join(folder, "jwt-secret"))
	if err != nil || !bytes.Equal(kept, secret) {
		t.Errorf("the secret: %v", err)
	}
	execute(t, "sqlite:"+filepath.Join(dir, "atelie.db"), "create trigger refuse before insert on activity begin select raise(abort, 'refused'); end") // as on a read-only source
	if r := atelie(t, t.TempDir(), "", "copy", "--from", dir, "--to", filepath.Join(t.TempDir(), "copy")); r.code != 0 || !strings.Contains(r.out, "The activity log of the source does not list this copy: ") || !strings.Contains(r.out, "The secret is copied too") {
		t.Errorf("%+v", r)
	}
	marker, err := os.ReadFile(filepath.Join(dir, "files", ".atelie"))
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{folder, filepath.Join(back, "new")} { // the marker that the database expects
		if got, err := os.ReadFile(filepath.Join(place, "files", ".atelie")); err != nil || !bytes.Equal(got, marker) {
			t.Errorf("%s has the marker %q, the source %q: %v", place, got, marker, err)
		}
	}
	if r := atelie(t, folder, "", "keys"); r.code != 0 || r.out != atelie(t, dir, "", "keys").out {
		t.Errorf("%+v", r)
	}
	for _, to := range [][]string{{"--to", folder}, {"--to", filepath.Join(t.TempDir(), "x"), "--to-files", filepath.Join(folder, "files")}, {"--to", dir}, {"--to", database, "--to-files", t.TempDir()}} {
		if r := atelie(t, t.TempDir(), "", append([]string{"copy", "--from", dir}, to...)...); r.code != 1 || !strings.Contains(r.err, "empty") && !strings.Contains(r.err, "are the same") {
			t.Errorf("%v: %+v", to, r)
		}
	}
}

func TestDamagedFilesAreFound(t *testing.T) {
	for _, kind := range []string{"disk", "s3"} {
		t.Run(kind, func(t *testing.T) {
			dir, target := demoSite(t), t.TempDir()
			args := []string{"copy", "--from", dir, "--to", target}
			copied := filepath.Join(target, "files")
			if kind == "s3" {
				bucket := bucketAddress(t)
				u, err := url.Parse(bucket)
				if err != nil {
					t.Fatal(err)
				}
				args, copied = append(args, "--to-files", bucket), blobtest.Folder(strings.Trim(u.Path, "/"))
			}
			var last string
			for name := range filesOf(t, filepath.Join(dir, "files")) {
				last = max(last, name)
			}
			source := filepath.Join(dir, "files", last)
			whole, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			put := func(file string, content []byte) {
				t.Helper()
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			refused := func(want string) {
				t.Helper()
				if r := atelie(t, t.TempDir(), "", args...); r.code != 1 || !strings.Contains(r.err, want) {
					t.Errorf("want %q: %+v", want, r)
				}
			}
			if err := os.Remove(source); err != nil {
				t.Fatal(err)
			}
			refused("the source has no file for ")
			put(source, whole[:len(whole)-1])
			refused("is damaged")
			if _, err := os.Lstat(filepath.Join(copied, last)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the damaged file stayed: %v", err)
			}
			put(source, whole)
			var first string
			for name := range filesOf(t, copied) {
				if first == "" || name < first {
					first = name
				}
			}
			good, err := os.ReadFile(filepath.Join(copied, first))
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(good)
			bad[len(bad)/2] ^= 1
			put(filepath.Join(copied, first), bad)
			refused("differs from the source's")
			put(filepath.Join(copied, first), good)
			if r := atelie(t, t.TempDir(), "", args...); r.code != 0 || !strings.Contains(r.out, "Resuming the copy") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestCopyErrorsDoNotRepeatAddresses(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"--from: is neither":        {"--from", "mysql://ana:hunter2@x/y", "--to", dir},
		"--to: is neither":          {"--from", dir, "--to", "sqlite:"},
		"--to: the PostgreSQL":      {"--from", dir, "--to", "postgres://ana:hunter2@h:x/%zz"},
		"--to-files: must be":       {"--from", dir, "--to", "postgres://ana:hunter2@h/x"},
		"--to-files: is neither":    {"--from", dir, "--to", "x", "--to-files", "ftp://ana:hunter2@h/x"},
		"--from-files: names no":    {"--from", dir, "--from-files", "s3://ana:hunter2@h/", "--to", "x"},
		"are the same":              {"--from", dir, "--to", "sqlite://" + filepath.Join(dir, ".", "atelie.db"), "--to-files", "x"},
		"source: stat":              {"--from", dir, "--to", filepath.Join(dir, "x")},
		"source: PostgreSQL cannot": {"--from", "postgres://ana:hunter2@127.0.0.1:1/x", "--from-files", dir, "--to", filepath.Join(dir, "x")},
	} {
		r := atelie(t, t.TempDir(), "", append([]string{"copy"}, args...)...)
		if r.code != 1 || !strings.Contains(r.err, want) || strings.Contains(r.out+r.err, "hunter2") {
			t.Errorf("want %q: %+v", want, r)
		}
	}
	if r := atelie(t, t.TempDir(), "", "copy", "--from", dir); r.code != 2 {
		t.Errorf("%+v", r)
	}
	if left := filesOf(t, dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	other := demoSite(t)
	if err := os.WriteFile(filepath.Join(dir, "jwt-secret"), []byte(strings.Repeat("x", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := atelie(t, t.TempDir(), "", "copy", "--from", other, "--to", dir); r.code != 1 || !strings.Contains(r.err, "contains another secret") {
		t.Errorf("%+v", r)
	}
}

// photoWithPlace is a JPEG of 800×500 points with a comment that no visitor shall see.
func photoWithPlace(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 800, 500))
	for i := range img.Pix {
		img.Pix[i] = byte(i / 3200)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	const place = "at home, 38.7 N 9.1 W"
	return slices.Concat(b.Bytes()[:2], []byte{0xff, 0xfe, 0, byte(len(place) + 2)}, []byte(place), b.Bytes()[2:])
}

// upload stores a file with the service key, and replaces a file of that name.
func upload(t *testing.T, dir, name string, file []byte) {
	t.Helper()
	t.Setenv("ATELIE_DATA_DIR", dir)
	var c commands
	parser, err := kong.New(&c, kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"keys"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	env := &environment{ctx: t.Context(), cfg: &c.Config, log: slog.New(slog.DiscardHandler), now: time.Now}
	if err := env.with(func(a *app.App) error {
		_, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(file), int64(len(file)), storage.PutOptions{Upsert: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestCopyIncludesOriginalsAndRenditions(t *testing.T) {
	dir, photo := t.TempDir(), photoWithPlace(t)
	t.Setenv("ATELIE_VIPS", "off")
	upload(t, dir, "a.jpg", photo)
	if r := atelie(t, dir, "", "media", "rebuild"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	files := filesOf(t, filepath.Join(dir, "files"))
	if len(files) < 5 { // the public file, the original, renditions
		t.Fatalf("only %d files", len(files))
	}
	database, bucket, back := dbtest.URL(t, db.Postgres), bucketAddress(t), filepath.Join(t.TempDir(), "back")
	there := atelie(t, t.TempDir(), "", "copy", "--from", dir, "--to", database, "--to-files", bucket)
	if there.code != 0 || !strings.Contains(there.out, fmt.Sprintf("rows, %d files with", len(files))) {
		t.Fatalf("%d files: %+v", len(files), there)
	}
	if r := atelie(t, t.TempDir(), "", "copy", "--from", database, "--from-files", bucket, "--to", back); r.code != 0 || report(r.out) != report(there.out) {
		t.Fatalf("%+v", r)
	}
	if got := filesOf(t, filepath.Join(back, "files")); !maps.Equal(got, files) || !slices.Contains(slices.Collect(maps.Values(got)), string(photo)) {
		t.Errorf("%d files came back of %d", len(got), len(files))
	}
	secret, err := os.ReadFile(filepath.Join(dir, "jwt-secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ATELIE_DATABASE_URL", database)
	t.Setenv("ATELIE_STORAGE_URL", bucket)
	t.Setenv("ATELIE_JWT_SECRET", strings.TrimSpace(string(secret)))
	if r := atelie(t, t.TempDir(), "", "media", "verify"); r.code != 0 || !strings.Contains(r.out, "1/1 product-images/a.jpg: ok") {
		t.Errorf("%+v", r)
	}
	// Both commands report a missing rendition and a missing original.
	d, err := db.Open(t.Context(), database, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	var rendition, original string
	err = d.QueryRow(t.Context(), "select r.blob_id, m.original_id from media m join media_renditions r on r.object_id = m.object_id limit 1").Scan(&rendition, &original)
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	cfg, err := (&config.Storage{URL: bucket}).Bucket()
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.NewS3(t.Context(), s3client.Config(*cfg))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{rendition, original} {
		if err := blobs.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if r := atelie(t, t.TempDir(), "", "copy", "--from", database, "--from-files", bucket, "--to", filepath.Join(t.TempDir(), "x")); r.code != 1 || !strings.Contains(r.err, "the source has no file for product-images/a.jpg, ") {
			t.Errorf("%+v", r)
		}
		if r := atelie(t, t.TempDir(), "", "media", "verify"); r.code != 1 || strings.Contains(r.out, "a.jpg: ok") {
			t.Errorf("%+v", r)
		}
		if id == rendition { // only the original is missing in the next check
			if r := atelie(t, t.TempDir(), "", "media", "rebuild"); r.code != 0 {
				t.Errorf("%+v", r)
			}
		}
	}
}

// at is an output that calls functions, each once, when lines with certain texts are printed.
type at struct {
	bytes.Buffer
	calls map[string]func()
}

func (a *at) Write(p []byte) (int, error) {
	for text, call := range a.calls {
		if bytes.Contains(p, []byte(text)) {
			delete(a.calls, text)
			call()
		}
	}
	return a.Buffer.Write(p)
}

// Proves H-copy-running.
func TestCopyFromARunningSite(t *testing.T) {
	databases(t, func(t *testing.T, dir, address string) {
		t.Setenv("ATELIE_VIPS", "off")
		first, second := photoWithPlace(t), append(photoWithPlace(t), "another"...)
		upload(t, dir, "a.jpg", first)
		server(t, dir)
		from := []string{"copy", "--from", dir}
		if address != "sqlite:"+filepath.Join(dir, "atelie.db") {
			from = []string{"copy", "--from", address, "--from-files", filepath.Join(dir, "files")}
		}
		add := func(message string) {
			execute(t, address, "insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Ana', 'a@b.pt', $2, $3)", uuid.NewString(), message, time.Now())
		}
		messages := func(address string) (texts []string) {
			d, err := db.Open(t.Context(), address, db.NoHooks)
			if err != nil {
				t.Fatal(err)
			}
			texts, err = db.Collect(t.Context(), d, db.ScanOne[string], "select message from contact_submissions order by message")
			if err := errors.Join(err, d.Close()); err != nil {
				t.Fatal(err)
			}
			return texts
		}
		add("before")
		to := filepath.Join(t.TempDir(), "copy")
		out := &at{calls: map[string]func(){
			"Rows: ":                  func() { upload(t, dir, "a.jpg", second); add("meanwhile") }, // removes its first file
			"continuing with its cur": func() {},
			"Everything is copied":    func() { add("after") },
		}}
		var errOut bytes.Buffer
		if code := Run(t.Context(), append(from, "--to", to), strings.NewReader(""), out, &errOut, "test"); code != 0 || len(out.calls) > 0 {
			t.Fatalf("%d, not reached %v: %s%s", code, slices.Collect(maps.Keys(out.calls)), out.String(), errOut.String())
		}
		if got := messages("sqlite:" + filepath.Join(to, "atelie.db")); !slices.Equal(got, []string{"before", "meanwhile"}) {
			t.Errorf("messages %q", got)
		}
		if got := messages(address); len(got) != 3 {
			t.Errorf("the source has %q", got)
		}
		stored := slices.Collect(maps.Values(filesOf(t, filepath.Join(to, "files"))))
		if slices.Contains(stored, string(first)) || !slices.Contains(stored, string(second)) {
			t.Errorf("%d files: the removed one or the new one is wrong", len(stored))
		}
		t.Setenv("ATELIE_DATABASE_URL", "")
		must(t, to, "media", "rebuild") // the server may not have made all of them before the copy
		if r := atelie(t, to, "", "media", "verify"); r.code != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// TestInterruptedCopyOfAChangedSource interrupts a copy when everything is written. The source changes before the second run.
func TestInterruptedCopyOfAChangedSource(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Setenv("ATELIE_VIPS", "off")
			dir, files := t.TempDir(), t.TempDir()
			upload(t, dir, "a.jpg", photoWithPlace(t))
			to := "sqlite:" + filepath.Join(t.TempDir(), "atelie.db")
			if dialect == db.Postgres {
				to = dbtest.URL(t, dialect)
			}
			args := []string{"copy", "--from", dir, "--to", to, "--to-files", files}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var errOut bytes.Buffer
			if code := Run(ctx, args, strings.NewReader(""), &at{calls: map[string]func(){"Everything is copied": cancel}}, &errOut, "test"); code != 1 || !strings.Contains(errOut.String(), "same command again to resume") {
				t.Fatalf("%d %s", code, errOut.String())
			}
			if len(filesOf(t, files)) == 0 {
				t.Fatal("nothing was copied")
			}
			source := "sqlite:" + filepath.Join(dir, "atelie.db")
			upload(t, dir, "a.jpg", append(photoWithPlace(t), "another"...))
			execute(t, source, "delete from site_settings")
			execute(t, source, "insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Ana', 'a@b.pt', 'new', $2)", uuid.NewString(), time.Now())
			r := atelie(t, t.TempDir(), "", args...)
			if r.code != 0 || !strings.Contains(r.out, "its rows are copied again") {
				t.Fatalf("%+v", r)
			}
			if got, want := filesOf(t, files), filesOf(t, filepath.Join(dir, "files")); !maps.Equal(got, want) {
				t.Errorf("%d files, the source has %d", len(got), len(want))
			}
			back := filepath.Join(t.TempDir(), "back")
			again := atelie(t, t.TempDir(), "", "copy", "--from", to, "--from-files", files, "--to", back)
			if again.code != 0 || report(again.out) != report(r.out) {
				t.Errorf("%+v", again)
			}
		})
	}
}
