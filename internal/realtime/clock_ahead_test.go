package realtime

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A time 26 hours in the future was stored by a node whose clock was wrong, and must be ignored. Five minutes are a difference between the
// clocks of two nodes that the program tolerates (db.LatestPlausible).
func TestPresencesOfANodeWithAFastClockExpire(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		for key, seen := range map[string]time.Time{"ghost": now.Add(26 * time.Hour), "living": now, "other node": now.Add(5 * time.Minute)} {
			p := presenceRow{ref: uuid.NewString(), key: key, topic: topic{"room", false}, meta: json.RawMessage(`{}`)}
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return insertPresence(t.Context(), tx, p, uuid.NewString(), seen) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			gone, err := deleteExpiredPresences(t.Context(), tx, now.Add(-presenceTTL), db.LatestPlausible(now, 0))
			if len(gone) != 1 || gone[0].key != "ghost" {
				t.Errorf("ended: %+v", gone)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}
