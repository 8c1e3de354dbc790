package db_test

import (
	"errors"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestAllWhoServeADatabaseClaimTheSame(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		claim := func(common int32) func() {
			t.Helper()
			release, err := d.Claim(t.Context(), common, untold(t))
			if err != nil {
				t.Fatalf("%d: %v", common, err)
			}
			return release
		}
		for _, common := range []int32{7, -7} {
			first, second := claim(common), claim(common)
			_, err := d.Claim(t.Context(), common+1, untold(t))
			if want := d.Dialect == db.Postgres; errors.Is(err, db.ErrClaimed) != want {
				t.Errorf("another claim beside %d: %v", common, err)
			}
			first()
			if _, err := d.Claim(t.Context(), common+1, untold(t)); d.Dialect == db.Postgres && !errors.Is(err, db.ErrClaimed) {
				t.Errorf("another claim while one program is left: %v", err)
			}
			second()
			claim(common)()
		}
	})
}

func untold(t *testing.T) func(error) {
	return func(err error) { t.Errorf("told %v", err) }
}

func TestAClaimOutlivesItsConnection(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	told := make(chan error, 3)
	release, err := d.Claim(t.Context(), 7, func(err error) { told <- err })
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		t.Helper()
		if _, err := d.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = 7"); err != nil {
			t.Fatal(err)
		}
		if err := <-told; err == nil {
			t.Error("the loss was not told")
		}
	}
	end()
	if err := <-told; err != nil {
		t.Errorf("made anew: %v", err)
	}
	if _, err := d.Claim(t.Context(), 8, untold(t)); !errors.Is(err, db.ErrClaimed) {
		t.Errorf("another claim after the connection was lost: %v", err)
	}
	release()
	other, err := d.Claim(t.Context(), 8, untold(t))
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	other()
	// Who has come in between is told of; the claim is held beside theirs.
	if release, err = d.Claim(t.Context(), 7, func(err error) { told <- err }); err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), "select pg_advisory_xact_lock_shared($1, 8)", 0x61746c); err != nil {
			return err
		}
		end()
		if err := <-told; !errors.Is(err, db.ErrClaimed) {
			t.Errorf("beside another claim: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Claim(t.Context(), 8, untold(t)); !errors.Is(err, db.ErrClaimed) {
		t.Errorf("the claim was not held beside the other: %v", err)
	}
}
