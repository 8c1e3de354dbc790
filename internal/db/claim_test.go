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
			release, err := d.Claim(t.Context(), common)
			if err != nil {
				t.Fatalf("%d: %v", common, err)
			}
			return release
		}
		for _, common := range []int32{7, -7} {
			first, second := claim(common), claim(common)
			_, err := d.Claim(t.Context(), common+1)
			if want := d.Dialect == db.Postgres; errors.Is(err, db.ErrClaimed) != want {
				t.Errorf("another claim beside %d: %v", common, err)
			}
			first()
			if _, err := d.Claim(t.Context(), common+1); d.Dialect == db.Postgres && !errors.Is(err, db.ErrClaimed) {
				t.Errorf("another claim while one program is left: %v", err)
			}
			second()
			claim(common)()
		}
	})
}
