// Package dbtest gives a test a fresh, migrated database on each engine: SQLite in a temporary folder, and a real
// PostgreSQL server that is started once per test program.
package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/db"
)

// Main runs a package's tests and stops the PostgreSQL server afterwards. Packages that use Each call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if err := Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Each runs fn once per engine, as a subtest named after it, on a database of its own.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) { fn(t, Open(t, dialect)) })
	}
}

// Open gives a fresh, migrated database of the engine; it is closed when the test ends.
func Open(t testing.TB, dialect db.Dialect) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), URL(t, dialect))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// URL gives the address of a fresh database: a copy of a migrated template, which is many times quicker than migrating
// again, above all under the race detector.
func URL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	if dialect == db.SQLite {
		template, err := migratedFile()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "atelie.db")
		if err := os.WriteFile(file, template, 0o600); err != nil {
			t.Fatal(err)
		}
		return "sqlite:" + file
	}
	address, err := FreshPostgres(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// migratedFile is a migrated SQLite database, made once per test program.
var migratedFile = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "atelie-sqlite")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "template.db")
	d, err := db.Open(context.Background(), "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	// The last connection's end moves the log into the file.
	if err := errors.Join(d.Migrate(context.Background()), d.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// FreshPostgres is URL for programs that are no Go tests; they call Stop at their end.
func FreshPostgres(ctx context.Context) (string, error) {
	address, err := server.fresh(ctx)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL for tests: %w (make deps-test installs it)", err)
	}
	return address, nil
}

// Stop ends the PostgreSQL server and removes its files.
func Stop() error { return server.stop() }

// cluster is a throw-away PostgreSQL server on a Unix socket.
type cluster struct {
	mu      sync.Mutex
	dir     string
	process *exec.Cmd
	admin   *db.DB // makes the databases
	err     error
	count   int
}

var server cluster

func (c *cluster) fresh(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil && c.err == nil {
		c.err = c.start(ctx)
	}
	if c.err != nil {
		return "", c.err
	}
	c.count++
	name := "t" + strconv.Itoa(c.count)
	if _, err := c.admin.Exec(ctx, "create database "+name+" template template_atelie"); err != nil {
		return "", err
	}
	return c.url(name), nil
}

func (c *cluster) url(database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {c.dir}, "user": {"postgres"}, "pool_max_conns": {"8"}}.Encode()
}

func (c *cluster) start(ctx context.Context) error {
	bin, err := binDir()
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "atelie-pg"); err != nil {
		return err
	}
	// PostgreSQL refuses to run as root: then its processes take the postgres user's id, and the folder is given to it.
	attr, err := credentials(c.dir)
	if err != nil {
		return err
	}
	data := filepath.Join(c.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--no-sync", "--auth=trust", "--username=postgres", "--locale=C.UTF-8", "--encoding=UTF8", "--pgdata="+data)
	initdb.SysProcAttr, initdb.Dir = attr, c.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	c.process = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), "-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "log_min_messages=fatal",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0") // a database is copied from the template without being logged
	c.process.SysProcAttr, c.process.Dir = attr, c.dir
	if err := c.process.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	if err := c.waitReady(ctx); err != nil {
		return err
	}
	if c.admin, err = db.Open(ctx, c.url("postgres")); err != nil {
		return err
	}
	if _, err := c.admin.Exec(ctx, "create database template_atelie"); err != nil {
		return err
	}
	template, err := db.Open(ctx, c.url("template_atelie"))
	if err != nil {
		return err
	}
	defer func() { _ = template.Close() }()
	return template.Migrate(ctx)
}

func (c *cluster) waitReady(ctx context.Context) error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		d, err := db.Open(ctx, c.url("postgres"))
		if err == nil {
			return d.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("postgres did not get ready: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *cluster) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil
	}
	var err error
	if c.admin != nil {
		err = c.admin.Close()
	}
	err = errors.Join(err, c.process.Process.Signal(syscall.SIGINT)) // fast shutdown
	if err == nil {
		err = c.process.Wait()
	}
	c.process, c.admin = nil, nil // the next caller gets another server
	return errors.Join(err, os.RemoveAll(c.dir))
}

func binDir() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps it
	if err != nil || len(found) == 0 {
		return "", errors.New("initdb not found")
	}
	sort.Strings(found)
	return filepath.Dir(found[len(found)-1]), nil
}

func credentials(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	endWithParent(attr)
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}
