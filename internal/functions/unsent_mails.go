package functions

import (
	"context"
	"time"
)

// failedLife is how long a failed mail is counted after its failure.
const failedLife = 30 * 24 * time.Hour

// UnsentMails contains the numbers of unsent mails: those about visitors' messages, and the thank-you mails. A digest is one mail.
type UnsentMails struct {
	Waiting int       // another attempt follows
	Retried int       // how many of Waiting have failed at least once
	Failed  int       // no attempt follows, because all have failed or noticeLife is over; only failures within failedLife
	Oldest  time.Time // when the oldest mail of Waiting was queued, thank-you mails left out; zero if there is none
}

// CountUnsentMails counts the mails of this package that are not sent.
func (s *Service) CountUnsentMails(ctx context.Context) (UnsentMails, error) {
	return countUnsentMails(ctx, s.db, s.now())
}
