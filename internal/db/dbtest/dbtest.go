// Package dbtest gives a test a fresh, migrated database on each engine: SQLite in a temporary folder, and a real
// PostgreSQL server that is started once per test program. With -short the tests run only on SQLite.
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
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/proctest"
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

// Each runs fn once per engine, as a subtest with the engine's name and with a fresh database.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	dialects := []db.Dialect{db.SQLite, db.Postgres}
	if testing.Short() {
		dialects = dialects[:1]
	}
	for _, dialect := range dialects {
		t.Run(string(dialect), func(t *testing.T) { fn(t, Open(t, dialect)) })
	}
}

// Open returns a fresh, migrated database of the engine. It is closed when the test ends.
func Open(t testing.TB, dialect db.Dialect) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), URL(t, dialect), db.NoHooks)
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

// WaitForLock waits until a transaction on a PostgreSQL database waits for a lock.
func WaitForLock(ctx context.Context, d *db.DB) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		waits, err := db.One[bool](ctx, d, "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')")
		if err != nil || waits {
			return err
		}
	}
	return errors.New("no transaction waits for a lock")
}

// URL returns the URL of a fresh database. The database is a copy of a migrated template, because copying is many times faster than
// migrating. With -short, URL skips a test that asks for PostgreSQL.
func URL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	if dialect == db.SQLite {
		file := filepath.Join(t.TempDir(), "atelie.db")
		WriteSQLite(t, file)
		return "sqlite:" + file
	}
	if testing.Short() {
		t.Skip("PostgreSQL takes part without -short")
	}
	databaseURL, err := FreshPostgres(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return databaseURL
}

// WriteSQLite writes a fresh, migrated SQLite database to a file.
func WriteSQLite(t testing.TB, file string) {
	t.Helper()
	template, err := migratedFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, template, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The names in the folder of WriteTemplates: a migrated SQLite database, and the data folder of a PostgreSQL server that has the
// database template_atelie.
const sqliteTemplate, postgresTemplate = "atelie.db", "postgres"

// templates returns the folder in which WriteTemplates has written for all test programs of a run, or "".
func templates() string { return os.Getenv("TEST_TEMPLATES") }

// WriteTemplates writes migrated databases into a folder. Test programs that have its path in TEST_TEMPLATES copy them, instead of
// running initdb and all migrations themselves.
func WriteTemplates(ctx context.Context, folder string) error {
	file, err := migratedFile()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, sqliteTemplate), file, 0o600); err != nil {
		return err
	}
	made := postgresServer{}
	err = made.start(ctx)
	if err == nil {
		err = made.end()
	}
	if err == nil {
		err = copyFolder(ctx, filepath.Join(made.dir, "data"), filepath.Join(folder, postgresTemplate))
	}
	return errors.Join(err, made.stop())
}

// copyFolder copies a folder with the owners and the modes of its files.
func copyFolder(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}

// migratedFile returns the bytes of a migrated SQLite database, which is made once per test program, or read from the templates.
var migratedFile = sync.OnceValues(func() (_ []byte, err error) {
	if folder := templates(); folder != "" {
		return os.ReadFile(filepath.Join(folder, sqliteTemplate))
	}
	dir, err := os.MkdirTemp("", "atelie-sqlite")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "template.db")
	d, err := db.Open(context.Background(), "sqlite:"+file, db.NoHooks)
	if err != nil {
		return nil, err
	}
	// When the last connection closes, SQLite moves the write-ahead log into the file.
	if err := errors.Join(d.Migrate(context.Background()), d.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// FreshPostgres returns the URL of a fresh PostgreSQL database for programs that are not Go tests. They must call Stop
// before they end.
func FreshPostgres(ctx context.Context) (string, error) {
	databaseURL, err := server.createDatabase(ctx)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL for tests: %w (make deps-test installs it)", err)
	}
	return databaseURL, nil
}

// Stop ends the PostgreSQL server and removes its files.
func Stop() error { return server.stop() }

// postgresServer is a temporary PostgreSQL server on a Unix socket. It starts when the first database is needed.
type postgresServer struct {
	mu      sync.Mutex
	dir     string
	process *exec.Cmd
	admin   *db.DB // creates the databases
	err     error  // why the server did not start
	count   int    // databases created, which numbers their names

	strategy string // the strategy clause of "create database", or ""
}

var server postgresServer

func (c *postgresServer) createDatabase(ctx context.Context) (string, error) {
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
	if _, err := c.admin.Exec(ctx, "create database "+name+" template template_atelie"+c.strategy); err != nil {
		return "", err
	}
	return c.url(name), nil
}

func (c *postgresServer) url(database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {c.dir}, "user": {"postgres"}, "pool_max_conns": {"8"}}.Encode()
}

func (c *postgresServer) start(ctx context.Context) error {
	bin, err := binDir()
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "atelie-pg"); err != nil {
		return err
	}
	// PostgreSQL refuses to run as root. If the test runs as root, the server runs as the user postgres, who gets the folder.
	attr, err := processAttributes(c.dir)
	if err != nil {
		return err
	}
	data, folder := filepath.Join(c.dir, "data"), templates()
	if folder != "" {
		if err := copyFolder(ctx, filepath.Join(folder, postgresTemplate), data); err != nil {
			return err
		}
	} else if err := initialise(ctx, bin, data, attr); err != nil {
		return err
	}
	if err := c.launch(ctx, bin, attr); err != nil {
		return err
	}
	if c.admin, err = db.Open(ctx, c.url("postgres"), db.NoHooks); err != nil {
		return err
	}
	// file_copy takes half the time of the default, which copies through the log. Before version 15 there is no such clause.
	if err := c.admin.QueryRow(ctx, "select case when current_setting('server_version_num')::int >= 150000 then ' strategy file_copy' else '' end").Scan(&c.strategy); err != nil {
		return err
	}
	if folder != "" {
		return nil
	}
	if _, err := c.admin.Exec(ctx, "create database template_atelie"); err != nil {
		return err
	}
	template, err := db.Open(ctx, c.url("template_atelie"), db.NoHooks)
	if err != nil {
		return err
	}
	defer func() { _ = template.Close() }()
	return template.Migrate(ctx)
}

// initialise makes the data folder of a server.
func initialise(ctx context.Context, bin, data string, attr *syscall.SysProcAttr) error {
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--no-sync", "--auth=trust", "--username=postgres", "--locale=C.UTF-8", "--encoding=UTF8", "--pgdata="+data)
	initdb.SysProcAttr, initdb.Dir = attr, filepath.Dir(data)
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// launch starts the server on the existing data folder and waits until it responds.
func (c *postgresServer) launch(ctx context.Context, bin string, attr *syscall.SysProcAttr) error {
	c.process = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "log_min_messages=fatal",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0", // copies of the template are not logged
		"-c", "autovacuum=off") // with hundreds of databases it would run all the time, and change statistics during a test
	c.process.SysProcAttr, c.process.Dir = attr, c.dir
	if err := c.process.Start(); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		d, err := db.Open(ctx, c.url("postgres"), db.NoHooks)
		if err == nil {
			return d.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("postgres did not get ready: %w", err)
		}
	}
}

// stop ends the server, if it runs, and removes its files.
func (c *postgresServer) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	return errors.Join(c.end(), os.RemoveAll(c.dir))
}

// end ends the server, if it runs. The next caller of createDatabase gets another one.
func (c *postgresServer) end() error {
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
	c.process, c.admin = nil, nil
	return err
}

func binDir() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps it
	if err != nil || len(found) == 0 {
		return "", errors.New("initdb not found")
	}
	return filepath.Dir(slices.Max(found)), nil
}

func processAttributes(dir string) (*syscall.SysProcAttr, error) {
	attr := proctest.EndWithParent(syscall.SIGQUIT)
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}
