package durability

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
	"atelie/test/soak"
)

// The size of the copy: large enough that several kills interrupt it.
const (
	copiedRows  = 6000
	copiedFiles = 100
)

// TestKilledCopyIsResumed copies from SQLite and a folder to PostgreSQL and S3, and back. It kills the command again and again,
// later each time, until one run completes.
func TestKilledCopyIsResumed(t *testing.T) {
	soak.Only(t)
	binary := build(t)
	dir, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	contents := fillSite(t, binary, dir)
	database := dbtest.URL(t, db.Postgres)
	bucket := blobtest.Bucket(t)
	address := url.URL{Scheme: "s3", User: url.UserPassword(bucket.KeyID, bucket.Secret), Host: strings.TrimPrefix(bucket.Endpoint, "http://"), Path: "/" + bucket.Bucket, RawQuery: "tls=off&create=on"}

	copyThroughKills(t, binary, "--from", dir, "--to", database, "--to-files", address.String())
	s3, err := blob.NewS3(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	sameSite(t, database, s3, contents)

	copyThroughKills(t, binary, "--from", database, "--from-files", address.String(), "--to", back)
	disk, err := blob.OpenDisk(filepath.Join(back, "files"))
	if err != nil {
		t.Fatal(err)
	}
	sameSite(t, "sqlite:"+filepath.Join(back, "atelie.db"), disk, contents)
}

// copyThroughKills runs atelie copy, and kills it, until a run completes. Each kill comes later than the one before, so that every step
// is interrupted. The time counts from the command's first output, and again from the first rows that it copies, because what comes
// before, such as creating the tables, can take longer than the copy itself.
func copyThroughKills(t *testing.T, binary string, args ...string) {
	t.Helper()
	kills, resumed, compared := 0, 0, false
	beforeRows, afterRows := 5*time.Millisecond, 5*time.Millisecond
	for ; ; kills++ {
		c := exec.Command(binary, append([]string{"copy"}, args...)...)
		out := &killer{beforeRows: beforeRows, afterRows: afterRows, kill: func() { _ = c.Process.Kill() }}
		c.Stdout, c.Stderr = out, out
		err := c.Run()
		if out.copying {
			afterRows += 10 * time.Millisecond
		} else {
			beforeRows += 10 * time.Millisecond
		}
		printed := out.printed.String()
		if strings.Contains(printed, "Resuming the copy") {
			resumed++
		}
		// A copy that is killed after its last step is complete, and the next run refuses its target.
		if err == nil || compared && strings.Contains(printed, "the target is not empty") {
			break
		}
		compared = strings.Contains(printed, "Copied and the same")
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.Exited() {
			t.Fatalf("after %d kills: %v\n%s", kills, err, printed)
		}
	}
	if kills < 2 || resumed < 2 {
		t.Errorf("only %d kills and %d resumed runs: too few for the test to mean anything", kills, resumed)
	}
	t.Logf("%d kills, %d resumed runs", kills, resumed)
}

// killer collects the output of a copy, and kills it some time after its first lines, or after it has begun to copy rows.
type killer struct {
	printed               bytes.Buffer
	beforeRows, afterRows time.Duration
	kill                  func()
	timer                 *time.Timer // nil before the first lines
	copying               bool
}

func (k *killer) Write(p []byte) (int, error) {
	n, err := k.printed.Write(p)
	printed := k.printed.String()
	if k.timer == nil && strings.Contains(printed, "\nTo: ") {
		k.timer = time.AfterFunc(k.beforeRows+rand.N(k.beforeRows), k.kill)
	}
	if !k.copying && (strings.Contains(printed, "\nRows: ") || strings.Contains(printed, "\nResuming the copy")) {
		k.copying = true
		k.timer.Reset(k.afterRows + rand.N(k.afterRows))
	}
	return n, err
}

// fillSite creates a data folder with many rows and files, and returns the files' hashes by their ids.
func fillSite(t *testing.T, binary, dir string) map[string]string {
	t.Helper()
	if out, err := exec.Command(binary, "--data-dir", dir, "owner", "add", "ana@example.com").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := blob.OpenDisk(filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, "atelie.db"), db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	err = d.WithTx(t.Context(), func(tx *db.Tx) error {
		for i := range copiedRows {
			if _, err := tx.Exec(t.Context(), "insert into contact_submissions (id, name, email, message, created_at) values ($1, $2, 'a@b.pt', 'long enough', $3)", uuid.NewString(), fmt.Sprint(i), time.Now()); err != nil {
				return err
			}
		}
		for i := range copiedFiles {
			content := make([]byte, 100_000)
			if i == 0 {
				content = make([]byte, 3*blob.PieceSize+1)
			}
			if _, err := rand.NewChaCha8([32]byte{byte(i)}).Read(content); err != nil {
				return err
			}
			sum, id := sha256.Sum256(content), uuid.NewString()
			contents[id] = hex.EncodeToString(sum[:])
			if _, err := blob.Put(t.Context(), files, id, bytes.NewReader(content)); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at)
				values ($1, 'product-images', $2, $3, $4, 'image/png', $5, '', $6, $6)`, uuid.NewString(), fmt.Sprint(i), id, len(content), contents[id], time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	return contents
}

// sameSite checks rows and files without the copy command.
func sameSite(t *testing.T, address string, files blob.Store, contents map[string]string) {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.Migrate(t.Context()); err != nil { // refuses an unfinished copy
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		"select count(*) from contact_submissions":             copiedRows,
		"select count(distinct name) from contact_submissions": copiedRows,
		"select count(*) from storage_objects":                 copiedFiles,
		"select count(*) from auth_users":                      1,
		"select count(*) from storage_quota_lock":              1,
	} {
		var got int
		if err := d.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d of %d, %v", query, got, want, err)
		}
	}
	for id, want := range contents {
		f, err := files.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(hash.Sum(nil)); got != want {
			t.Errorf("file %s: %s", id, got)
		}
	}
}
