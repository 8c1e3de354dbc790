package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves P-outage-log.
func TestOutageIsReportedOnce(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			address, beginOutage, endOutage := dbtest.Outage(t, dialect)
			begun, ended := make(chan error, 10), make(chan int64, 10)
			hooks := db.NoHooks
			hooks.OutageBegan = func(cause error) { begun <- cause }
			hooks.OutageEnded = func(_ time.Duration, refused int64) { ended <- refused }
			d, err := db.Open(t.Context(), address, hooks)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			read := func() error {
				var n int
				return d.QueryRow(t.Context(), "select count(*) from content_version").Scan(&n)
			}
			if err := read(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				beginOutage()
				for range 20 {
					if err := read(); !errors.Is(err, db.ErrOutage) {
						t.Fatalf("read: %v", err)
					}
				}
				if _, err := d.Exec(t.Context(), "delete from products"); !errors.Is(err, db.ErrUnavailable) {
					t.Errorf("write: %v", err)
				}
				if err := d.WithTx(t.Context(), func(*db.Tx) error { return nil }); !errors.Is(err, db.ErrOutage) {
					t.Errorf("transaction: %v", err)
				}
				if err := d.AnonymousPool().QueryRow(t.Context(), "select 1").Scan(new(int)); !errors.Is(err, db.ErrOutage) {
					t.Errorf("anonymous pool: %v", err)
				}
				if err := d.Ping(t.Context()); !errors.Is(err, db.ErrOutage) || !d.InOutage() {
					t.Errorf("ping: %v", err)
				}
				if cause := <-begun; !errors.Is(cause, db.ErrUnavailable) {
					t.Errorf("cause: %v", cause)
				}
				endOutage()
				if refused := <-ended; refused < 20 {
					t.Errorf("%d statements were refused", refused)
				}
				if err := read(); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			}
			if len(begun)+len(ended) > 0 {
				t.Error("reported more than once")
			}
		})
	}
}

// Proves P-outage-log.
//
// TestOneLostConnectionIsNoOutage has an administrator end the session of one statement.
func TestOneLostConnectionIsNoOutage(t *testing.T) {
	hooks := db.NoHooks
	hooks.OutageBegan = func(cause error) { t.Errorf("an outage: %v", cause) }
	d, err := db.Open(t.Context(), dbtest.URL(t, db.Postgres), hooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	err = d.WithTx(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), "select pg_terminate_backend(pg_backend_pid())")
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) || errors.Is(err, db.ErrOutage) || d.InOutage() {
		t.Errorf("got %v", err)
	}
	if err := d.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Query(gone, "select 1"); errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a caller who has gone: %v", err)
	}
}

// Proves P-outage-log.
func TestFailuresDuringAnOutageOrOnAFullDiskAreNotLogged(t *testing.T) {
	var out bytes.Buffer
	full := true
	log := slog.New(db.FilterOutageLogs(slog.NewTextHandler(&out, nil), func() bool { return full })).With("part", "x").WithGroup("g")
	log.Error("dropped", "cause", errors.Join(errors.New("read"), db.ErrOutage).Error())
	log.Error("dropped", "cause", fmt.Errorf("claim: %w", apperr.NoSpace.Because(errors.New("disk I/O error"))).Error())
	log.Error("logged", "cause", db.ErrUnavailable.Error())
	log.Info("logged")
	full = false // a bucket may be full while the disk is not
	log.Error("logged", "cause", apperr.NoSpace.Because(errors.New("the bucket's quota")).Error())
	if got := out.String(); strings.Contains(got, "dropped") || strings.Count(got, "logged") != 3 {
		t.Error(got)
	}
}

// Proves T-limits-time.
//
// TestPostgreSQLLimitsTheAnonymousPool checks that its sessions end statements that take too long, and cannot write.
func TestPostgreSQLLimitsTheAnonymousPool(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	var limit, readOnly string
	if err := d.AnonymousPool().QueryRow(t.Context(), "select current_setting('statement_timeout'), current_setting('transaction_read_only')").Scan(&limit, &readOnly); err != nil {
		t.Fatal(err)
	}
	if limit != "2s" || readOnly != "on" {
		t.Errorf("statement_timeout %s, read only %s", limit, readOnly)
	}
	err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), "set local statement_timeout = 1"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "select pg_sleep(10)")
		return err
	})
	if !errors.Is(err, apperr.Timeout) {
		t.Errorf("a statement that took too long: %v", err)
	}
}
