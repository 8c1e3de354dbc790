package db

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deletedText is what a scrub has to remove.
const deletedText = "a text that was deleted"

// withDeletedText opens a database that has a copy of deletedText in the unused part of each page, as SQLite leaves it when rows move to other
// pages.
func withDeletedText(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "site.db"), NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := errors.Join(Exec(t.Context(), d, "create table texts (text text primary key, number integer)"),
		Exec(t.Context(), d, `insert into texts with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 600)
			select hex(randomblob(400)), 0 from numbers`)); err != nil {
		t.Fatal(err)
	}
	conn, err := sql.Open("sqlite", "file:"+d.File())
	if err != nil {
		t.Fatal(err)
	}
	var pages, changed int
	if err := conn.QueryRowContext(t.Context(), "pragma page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	for page := 1; page <= pages; page++ {
		var data []byte
		if err := conn.QueryRowContext(t.Context(), "select data from sqlite_dbpage where pgno = $1", page).Scan(&data); err != nil {
			t.Fatal(err)
		}
		if copy(pageGap(page, data), deletedText) < len(deletedText) {
			continue
		}
		if _, err := conn.ExecContext(t.Context(), "update sqlite_dbpage set data = $1 where pgno = $2", data, page); err != nil {
			t.Fatal(err)
		}
		changed++
	}
	if err := conn.Close(); err != nil || changed < 4*scrubWrites {
		t.Fatalf("%d pages have deleted text (%v)", changed, err)
	}
	return d
}

// TestAScrubWritesFewPagesInEachTransaction looks into the write-ahead log after a scrub: a write waits for one transaction at most.
func TestAScrubWritesFewPagesInEachTransaction(t *testing.T) {
	d := withDeletedText(t)
	if err := d.TruncateLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("the log stays")
	release, err := d.DelegateCheckpoints(t.Context(), func(context.Context) error { return stop })
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Scrub(t.Context()); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	log, err := os.ReadFile(d.File() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	transactions, pages, most := 0, 0, 0
	for at := 32; at+24 <= len(log); at += 24 + int(binary.BigEndian.Uint32(log[8:])) {
		pages++
		most = max(most, pages)
		if binary.BigEndian.Uint32(log[at+4:]) != 0 { // the last frame of a transaction
			transactions, pages = transactions+1, 0
		}
	}
	if transactions < 3 || most > scrubWrites {
		t.Errorf("%d transactions of up to %d pages, want several of up to %d", transactions, most, scrubWrites)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{d.File(), d.File() + "-wal"} {
		if content, err := os.ReadFile(file); err != nil || bytes.Contains(content, []byte(deletedText)) {
			t.Errorf("%s still has deleted text (%v)", file, err)
		}
	}
	if result, err := One[string](t.Context(), d, "select * from pragma_integrity_check()"); err != nil || result != "ok" {
		t.Errorf("the integrity check: %s, %v", result, err)
	}
}

// TestAScrubReportsADatabaseThatKeepsRemains scrubs a database with auto_vacuum twice. The report comes once, and the log is emptied each time.
func TestAScrubReportsADatabaseThatKeepsRemains(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.db")
	conn, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"pragma auto_vacuum = full", "create table texts (text text)"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	hooks, reports := NoHooks, 0
	hooks.KeepsRemains = func() { reports++ }
	d, err := Open(t.Context(), "sqlite:"+file, hooks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	for range 2 {
		if err := errors.Join(Exec(t.Context(), d, "insert into texts (text) values ('a')"), d.Scrub(t.Context())); err != nil {
			t.Fatal(err)
		}
		if log, err := os.Stat(file + "-wal"); err != nil || log.Size() != 0 {
			t.Errorf("the log is not empty (%v)", err)
		}
	}
	if reports != 1 {
		t.Errorf("%d reports, want 1", reports)
	}
}

// TestAScrubEndsItsWaitWithTheContext begins a scrub while another one runs.
func TestAScrubEndsItsWaitWithTheContext(t *testing.T) {
	d := withDeletedText(t)
	running, end := make(chan struct{}), make(chan struct{})
	release, err := d.DelegateCheckpoints(t.Context(), func(context.Context) error { close(running); <-end; return errors.New("ended") })
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() { first <- d.Scrub(t.Context()) }()
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Scrub(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the second scrub: %v", err)
	}
	close(end)
	if err := <-first; err == nil {
		t.Error("the first scrub met no error")
	}
	if err := release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAScrubKeepsWhatIsWrittenMeanwhile scrubs again and again while rows are written. If checkpoints are delegated, each scrub also
// cuts the log.
func TestAScrubKeepsWhatIsWrittenMeanwhile(t *testing.T) {
	t.Run("own checkpoints", func(t *testing.T) { scrubDuringWrites(t, withDeletedText(t)) })
	t.Run("delegated checkpoints", func(t *testing.T) {
		d := withDeletedText(t)
		other, err := sql.Open("sqlite", "file:"+d.File()+"?_pragma=wal_autocheckpoint(0)&_pragma=busy_timeout(50)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Close() })
		restarts := 0
		if _, err := d.DelegateCheckpoints(t.Context(), func(ctx context.Context) error {
			var busy, frames, moved int
			if err := other.QueryRowContext(ctx, "pragma wal_checkpoint(restart)").Scan(&busy, &frames, &moved); err != nil {
				return err
			}
			if busy != 0 {
				return ErrLogInUse
			}
			restarts++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		scrubDuringWrites(t, d)
		if restarts == 0 {
			t.Error("the log was never restarted")
		}
	})
}

func scrubDuringWrites(t *testing.T, d *DB) {
	t.Helper()
	const rows = 300
	written := make(chan error, 1)
	go func() {
		for n := range rows {
			name := fmt.Sprintf("%d %s", n, strings.Repeat("y", n))
			if err := Exec(context.WithoutCancel(t.Context()), d, "insert into texts (text, number) values ($1, $2)", name, n); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for done := false; !done; {
		if err := d.Scrub(t.Context()); err != nil && !errors.Is(err, ErrLogInUse) {
			t.Error(err)
		}
		select {
		case err := <-written:
			if done = true; err != nil {
				t.Error(err)
			}
		default:
		}
	}
	n, err := One[int](t.Context(), d, "select count(*) from texts where text = number || ' ' || replace(hex(zeroblob(number)), '00', 'y')")
	if err != nil || n != rows {
		t.Errorf("%d rows, %v, want %d", n, err, rows)
	}
	if result, err := One[string](t.Context(), d, "select * from pragma_integrity_check()"); err != nil || result != "ok" {
		t.Errorf("the integrity check: %s, %v", result, err)
	}
}
