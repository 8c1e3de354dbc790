package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// Values of the column contact_quarantine.cause: why a message is in quarantine.
const (
	causeField = "field" // the hidden field was filled in
	causeFlood = "flood" // more than MessagesPerHour messages arrived in an hour
)

// floodWindow is the length of the windows in which messages from all visitors are counted together. This stops spam from many
// IP addresses, which the limit for one address (function.perMinute) cannot stop.
const floodWindow = time.Hour

// exceedsFloodLimit counts a message and reports whether it exceeds Config.MessagesPerHour. The caller puts such a message into
// quarantine: it is stored, but no notice about it is sent.
func (s *Service) exceedsFloodLimit(ctx context.Context, tx *db.Tx) (bool, error) {
	if s.cfg.MessagesPerHour <= 0 {
		return false, nil
	}
	hits, err := tx.Hit(ctx, "contact-messages", "", floodWindow, s.now())
	return hits > s.cfg.MessagesPerHour, err
}
