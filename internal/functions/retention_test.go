package functions

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
)

// Proves AM-retention-1.
func TestMessagesAreDeletedAfterTheSetNumberOfMonths(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		keep := func(months int) {
			t.Helper()
			if err := db.Exec(t.Context(), d, "delete from site_settings"); err != nil {
				t.Fatal(err)
			}
			if err := settings.Insert(t.Context(), d, settings.SiteKey, map[string]any{"name": "Alvor", "messageMonths": months}, s.clock); err != nil {
				t.Fatal(err)
			}
		}
		left := func() int {
			t.Helper()
			if err := s.PurgeMessages(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(s.stored("contact_submissions"))
		}
		// More messages than one transaction deletes, and a message for each second around the limit.
		begun := s.clock
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			for i := range purgeBatch + 20 {
				m := contactMessage{
					ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), Name: fmt.Sprintf("Ana %d", i), Email: "ana@exemplo.pt",
					Message: "Gosto muito do mural.", Reason: "general", CreatedAt: begun.Add(time.Duration(i) * time.Second),
				}
				if err := insertInboxMessage(t.Context(), tx, m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.clock = begun.AddDate(30, 0, 0)
		if n := left(); n != purgeBatch+20 {
			t.Errorf("without a setting %d messages are left", n)
		}
		keep(0)
		if n := left(); n != purgeBatch+20 {
			t.Errorf("with the retention 0 (for ever) %d are left", n)
		}
		for _, months := range []int{24, 12, 6} {
			keep(months)
			s.clock = begun.AddDate(0, months, 0).Add(-time.Second)
			if n := left(); n != purgeBatch+20 {
				t.Errorf("a second before %d months %d are left", months, n)
			}
		}
		s.clock = begun.AddDate(0, 6, 0).Add((purgeBatch + 4) * time.Second)
		if n := left(); n != 15 {
			t.Errorf("%d are left", n)
		}
		jobs, err := db.One[int](t.Context(), d, "select count(*) from jobs where kind = '"+JobCleanUp+"'")
		if err != nil || jobs != 2 {
			t.Errorf("%d jobs remove what remains, %v", jobs, err)
		}
	})
}

// Proves AM-retention-1, AM-reply-3.
//
// The purge has listed the message and waits for its lock when the visitor's text or the accepted commission is committed.
func TestAMessageThatChangesDuringThePurgeIsKept(t *testing.T) {
	for name, change := range map[string]func(s *site, tx *db.Tx, id string) error{
		"a reply": func(s *site, tx *db.Tx, id string) error {
			_, err := insertReply(s.t.Context(), tx, reply{ID: adminID, MessageID: id, Author: authorVisitor, Kind: kindReply, Text: "Ainda tem o mural?", CreatedAt: s.clock, Delivery: deliveryNone})
			return err
		},
		"a commission": func(s *site, tx *db.Tx, id string) error {
			return storeCommission(s.t.Context(), tx, id, commission{Stage: stageAccepted, StageAt: s.clock})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t, db.Postgres)
			s := newSite(t, d)
			if err := settings.Insert(t.Context(), d, settings.SiteKey, map[string]any{"name": "Alvor", "messageMonths": 6}, s.clock); err != nil {
				t.Fatal(err)
			}
			answered(t, s.call("anon", "submit-contact", good), 200, success)
			id := s.messageID()
			s.clock = s.clock.AddDate(0, 7, 0)
			purged := make(chan error, 1)
			err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				if err := errors.Join(lockMessage(t.Context(), tx, id), change(s, tx, id)); err != nil {
					return err
				}
				go func() { purged <- s.PurgeMessages(t.Context()) }()
				return dbtest.WaitForLock(t.Context(), d)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-purged; err != nil {
				t.Fatal(err)
			}
			if n := len(s.stored("contact_submissions")); n != 1 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}

func TestMonthsBefore(t *testing.T) {
	for given, want := range map[string]string{
		"2026-11-22T10:30:00Z": "2026-05-22T10:30:00Z", "2026-08-31T23:59:59Z": "2026-02-28T23:59:59Z", "2024-08-30T00:00:00Z": "2024-02-29T00:00:00Z",
		"2026-03-15T00:00:00Z": "2025-09-15T00:00:00Z", "2026-06-30T00:30:00+01:00": "2025-12-29T23:30:00Z",
	} {
		at, err := time.Parse(time.RFC3339, given)
		if err != nil {
			t.Fatal(err)
		}
		if got := monthsBefore(at, 6).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, not %s", given, got, want)
		}
	}
}
