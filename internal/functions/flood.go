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

// floodWindow is the time in which MessagesPerHour messages are accepted from all visitors together. This limit also stops spam
// from many IP addresses; the limit on calls (function.perMinute) is for each address.
const floodWindow = time.Hour

// exceedsFloodLimit counts a message and reports whether it exceeds MessagesPerHour. Such a message goes into quarantine: it is
// not lost, but no notice is sent.
func (s *Service) exceedsFloodLimit(ctx context.Context, tx *db.Tx) (bool, error) {
	if s.cfg.MessagesPerHour <= 0 {
		return false, nil
	}
	hits, err := tx.Hit(ctx, "contact-messages", "", floodWindow, s.now())
	return hits > s.cfg.MessagesPerHour, err
}
