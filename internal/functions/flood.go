package functions

import (
	"context"
	"math"
	"time"

	"atelie/internal/db"
)

// This file counts the messages of all visitors together. If an hour has more messages than the limit, the rest is a flood, and goes into
// quarantine like other messages that look like spam.

// Values of the contact_quarantine.cause column: why a message is in quarantine.
const (
	causeHiddenField = "field" // the hidden field of the form, a honeypot, was filled in (see reasons in submit_contact.go)
	causeFlood       = "flood" // more than MessagesPerHour messages arrived in an hour
)

// floodWindow is the time after which the count starts again at 0. The limit of this count stops spam that comes from many IP addresses,
// each of which sends less than the limit for one address.
const floodWindow = time.Hour

const floodLimit = "contact-messages" // name of the rate limit

// floodHits is an SQL expression for the number of messages in the hour that begins at $7. A statement that contains floodHits must pass
// the hour that countAgainstFloodLimit returns as $7.
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
