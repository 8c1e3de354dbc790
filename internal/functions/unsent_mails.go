package functions

import (
	"context"
	"time"
)

// unsentLife is for how long a mail that was given up counts as failed. Its notice stays for as long as the message.
const unsentLife = 30 * 24 * time.Hour

// UnsentMails counts the mails about visitors' messages that are not sent. A digest is one mail.
type UnsentMails struct {
	Waiting int       // without those that were given up
	Retried int       // how many of Waiting have failed at least once
	Failed  int       // given up within unsentLife
	Oldest  time.Time // when the oldest of Waiting was queued, without thank-you mails; zero: none
}

// UnsentMails counts the mails about visitors' messages, and the thank-you mails to them, that are not sent.
func (s *Service) UnsentMails(ctx context.Context) (UnsentMails, error) {
	return countUnsentMails(ctx, s.db, s.now())
}
