package functions

import (
	"context"
	"math"
	"time"

	"atelie/internal/db"
)

// This file counts the messages of all visitors together. The messages of an hour beyond the limit are a flood and go into quarantine,
// like other messages that look like spam.

// Values of the column contact_quarantine.cause: why a message is in quarantine.
const (
	causeHiddenField = "field" // the hidden field (a honeypot, see reasons) was filled in
	causeFlood       = "flood" // more than MessagesPerHour messages arrived in an hour
)

// floodWindow is the time after which the count of messages from all visitors starts again at 0. The limit on this count stops spam that
// comes from so many IP addresses that each stays below the limit for one address.
const floodWindow = time.Hour

const floodLimit = "contact-messages" // name of the rate limit

// floodHits is an SQL expression: the number of messages in the hour that begins at $7. A statement with floodHits must pass the result
// hour of countAgainstFloodLimit as $7.
const floodHits = "coalesce((select hits from rate_limits where name = '" + floodLimit + "' and subject = '' and bucket_start = $7), 0)"

// countAgainstFloodLimit counts a message. It returns the limit of messages in an hour, and the beginning of the current hour,
// as in rate_limits.bucket_start. The caller puts messages beyond the limit into quarantine, so that no notices about them are sent.
func (s *Service) countAgainstFloodLimit(ctx context.Context, tx *db.Tx) (limit int, hour int64, err error) {
	if s.cfg.MessagesPerHour <= 0 {
		return math.MaxInt32, 0, nil // no limit
	}
	hour, err = tx.QueueHit(ctx, floodLimit, "", floodWindow, s.now())
	return s.cfg.MessagesPerHour, hour, err
}
