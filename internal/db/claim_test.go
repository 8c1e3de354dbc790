package db_test

import (
	"errors"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestClaimsOfOneDatabaseMustAgree(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		claim := func(key int32) func() {
			t.Helper()
			release, err := d.Claim(t.Context(), db.ClaimKeys{Current: key}, failOnChange(t))
			if err != nil {
				t.Fatalf("%d: %v", key, err)
			}
			return release
		}
		for _, key := range []int32{7, -7} {
			first, second := claim(key), claim(key)
			_, err := d.Claim(t.Context(), db.ClaimKeys{Current: key + 1}, failOnChange(t))
			if want := d.Dialect == db.Postgres; errors.Is(err, db.ErrClaimed) != want {
				t.Errorf("another claim beside %d: %v", key, err)
			}
			first()
			if _, err := d.Claim(t.Context(), db.ClaimKeys{Current: key + 1}, failOnChange(t)); d.Dialect == db.Postgres && !errors.Is(err, db.ErrClaimed) {
				t.Errorf("another claim while one program is left: %v", err)
			}
			second()
			claim(key)()
		}
	})
}

// failOnChange returns a function for Claim that fails the test when it is called.
func failOnChange(t *testing.T) func(error) {
	return func(err error) { t.Errorf("onChange got %v", err) }
}

func TestClaimIsRenewedAfterALostConnection(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	lost := make(chan error, 3)
	release, err := d.Claim(t.Context(), db.ClaimKeys{Current: 7}, func(err error) { lost <- err })
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		t.Helper()
		// With a timeout, pg_terminate_backend returns when the session has ended. Until then the session has its locks.
		if _, err := d.Exec(t.Context(), "select pg_terminate_backend(pid, 60000) from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = 7"); err != nil {
			t.Fatal(err)
		}
		if err := <-lost; err == nil {
			t.Error("the loss was not reported")
		}
	}
	end()
	if err := <-lost; err != nil {
		t.Errorf("the claim was not renewed: %v", err)
	}
	if _, err := d.Claim(t.Context(), db.ClaimKeys{Current: 8}, failOnChange(t)); !errors.Is(err, db.ErrClaimed) {
		t.Errorf("another claim after the connection was lost: %v", err)
	}
	release()
	other, err := d.Claim(t.Context(), db.ClaimKeys{Current: 8}, failOnChange(t))
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	other()
	// A node that has claimed the database meanwhile is reported, and both claims are held.
	if release, err = d.Claim(t.Context(), db.ClaimKeys{Current: 7}, func(err error) { lost <- err }); err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), "select pg_advisory_xact_lock_shared($1, 8)", 0x61746c); err != nil {
			return err
		}
		end()
		if err := <-lost; !errors.Is(err, db.ErrClaimed) {
			t.Errorf("beside another claim: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Claim(t.Context(), db.ClaimKeys{Current: 8}, failOnChange(t)); !errors.Is(err, db.ErrClaimed) {
		t.Errorf("the claim was not held beside the other: %v", err)
	}
}

// Proves A-keys-10.
//
// A secret is changed node by node: first all nodes accept the new one, then they change to it, then they drop the old one.
func TestClaimsAllowARollingChange(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	oldOnly, newOnly := db.ClaimKeys{Current: 1}, db.ClaimKeys{Current: 2}
	oldFirst, newFirst := db.ClaimKeys{Current: 1, Previous: 2, Pair: 12, HasPrevious: true}, db.ClaimKeys{Current: 2, Previous: 1, Pair: 12, HasPrevious: true}
	for _, c := range []struct {
		running, starting db.ClaimKeys
		allowed           bool
	}{
		{oldOnly, oldFirst, true}, {oldFirst, oldOnly, true}, {oldFirst, newFirst, true}, {newFirst, oldFirst, true},
		{newFirst, newOnly, true}, {newOnly, newFirst, true}, {oldFirst, oldFirst, true}, {newFirst, newFirst, true},
		{oldOnly, newFirst, false}, {newFirst, oldOnly, false}, {oldOnly, newOnly, false}, {newOnly, oldFirst, false}, {oldFirst, newOnly, false},
		{oldFirst, db.ClaimKeys{Current: 2, Previous: 3, Pair: 23, HasPrevious: true}, false},
	} {
		release, err := d.Claim(t.Context(), c.running, failOnChange(t))
		if err != nil {
			t.Fatal(err)
		}
		second, err := d.Claim(t.Context(), c.starting, failOnChange(t))
		if (err == nil) != c.allowed || (err != nil && !errors.Is(err, db.ErrClaimed)) {
			t.Errorf("%+v beside %+v: %v", c.starting, c.running, err)
		}
		if err == nil {
			second()
		}
		release()
	}
}

// Without the wait for the server's response, one claim in forty was still held.
func TestReleasedClaimBlocksNoOtherNode(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	for own := range int32(100) {
		release, err := d.Claim(t.Context(), db.ClaimKeys{Current: own}, failOnChange(t))
		if err != nil {
			t.Fatalf("after %d others: %v", own, err)
		}
		release()
	}
}
