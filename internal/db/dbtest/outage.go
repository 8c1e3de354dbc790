package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"atelie/internal/db"
)

// This file simulates faults of a database for tests: an outage, a server that does not respond, and a lock of another program.

// Outage returns the URL of a fresh database, and two functions that begin and end an outage while the database is open.
// For PostgreSQL they stop and start a server that only this test uses; for SQLite they make the file unreadable and restore it.
func Outage(t *testing.T, dialect db.Dialect) (url string, begin, end func()) {
	t.Helper()
	if dialect == db.SQLite {
		return sqliteOutage(t)
	}
	server := &postgresServer{}
	t.Cleanup(func() {
		if err := server.stop(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	})
	url, err := server.createDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin = func() {
		t.Helper()
		// On SIGINT a PostgreSQL server ends without waiting until its clients disconnect.
		if err := errors.Join(server.process.Process.Signal(syscall.SIGINT), server.process.Wait()); err != nil {
			t.Fatal(err)
		}
	}
	end = func() {
		t.Helper()
		bin, err := binDir()
		if err != nil {
			t.Fatal(err)
		}
		attr, err := processAttributes(server.dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.launch(t.Context(), bin, attr); err != nil {
			t.Fatal(err)
		}
	}
	return url, begin, end
}

// walIndexHeader is the length in bytes of the header of FILE-shm, SQLite's shared index of the write-ahead log. If the header is filled
// with zeros, open connections read the database file again.
const walIndexHeader = 96

// sqliteOutage is Outage for SQLite. begin moves the write-ahead log into the database file and overwrites the file's first
// bytes with zeros; end restores them.
func sqliteOutage(t *testing.T) (address string, begin, end func()) {
	t.Helper()
	address = URL(t, db.SQLite)
	file := strings.TrimPrefix(address, "sqlite:")
	var head [4096]byte // the first bytes of the file while the outage lasts
	overwrite := func(name string, bytes []byte) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(bytes, 0)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	begin = func() {
		t.Helper()
		d, err := db.Open(t.Context(), address, db.NoHooks)
		if err == nil {
			var busy, frames, moved int
			err = errors.Join(d.QueryRow(t.Context(), "pragma wal_checkpoint(truncate)").Scan(&busy, &frames, &moved), d.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err == nil {
			_, err = f.ReadAt(head[:], 0)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		overwrite(file, make([]byte, len(head)))
		overwrite(file+"-shm", make([]byte, walIndexHeader))
	}
	end = func() {
		t.Helper()
		overwrite(file, head[:])
		overwrite(file+"-shm", make([]byte, walIndexHeader))
		d, err := db.Open(t.Context(), address, db.NoHooks)
		if err == nil { // after a commit the open connections no longer use the pages that they have cached
			_, err = d.Exec(t.Context(), "pragma user_version = 1")
			err = errors.Join(err, d.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return address, begin, end
}

// Hang returns the URL of a fresh PostgreSQL database behind a proxy, and two functions that stop and resume its
// forwarding. A stopped proxy behaves like a server whose disk or network hangs: it accepts connections and keeps them open,
// but answers nothing.
func Hang(t *testing.T) (address string, begin, end func()) {
	t.Helper()
	var (
		gate sync.RWMutex // held for writing while nothing is forwarded
		held bool
	)
	address = proxyURL(t, func(client, server net.Conn) {
		var both sync.WaitGroup
		for _, direction := range [][2]net.Conn{{client, server}, {server, client}} {
			both.Go(func() {
				_, _ = io.Copy(gatedWriter{direction[1], &gate}, direction[0])
				_ = errors.Join(client.Close(), server.Close())
			})
		}
		both.Wait()
	})
	begin = func() { gate.Lock(); held = true }
	end = func() { held = false; gate.Unlock() }
	t.Cleanup(func() {
		if held { // the test failed before it called end
			end()
		}
	})
	return address, begin, end
}

// gatedWriter is a writer that waits while the gate is locked for writing.
type gatedWriter struct {
	io.Writer
	gate *sync.RWMutex
}

func (g gatedWriter) Write(p []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Writer.Write(p)
}

// Lock returns the URL of a fresh SQLite database, and two functions that begin and end an exclusive transaction on
// another connection. The transaction locks the database.
func Lock(t *testing.T) (address string, begin, end func()) {
	t.Helper()
	address = URL(t, db.SQLite)
	other, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(address, "sqlite:")+"?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	var tx *sql.Tx
	begin = func() {
		t.Helper()
		if tx, err = other.BeginTx(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	end = func() {
		t.Helper()
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	return address, begin, end
}
