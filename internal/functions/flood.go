package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// Values of the column contact_quarantine.cause: why a message is in quarantine.
const (
	causeHiddenField = "field" // the hidden field was filled in
	causeFlood       = "flood" // more than MessagesPerHour messages arrived in an hour
)

// floodWindow is the time after which the count of messages from all visitors starts again at 0. This count stops spam from many
// IP addresses, which the limit for one IP address (function.perMinute) cannot stop.
const floodWindow = time.Hour

// countAgainstFloodLimit counts a message. exceeds reports whether more than Config.MessagesPerHour messages have arrived in this
// hour. The caller puts such a message into quarantine, so that no notice about it is sent.
func (s *Service) countAgainstFloodLimit(ctx context.Context, tx *db.Tx) (exceeds bool, err error) {
	if s.cfg.MessagesPerHour <= 0 {
		return false, nil
	}
	hits, err := tx.Hit(ctx, "contact-messages", "", floodWindow, s.now())
	return hits > s.cfg.MessagesPerHour, err
}
