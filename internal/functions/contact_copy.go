package functions

import (
	"context"
	"time"

	"atelie/internal/httpx"
	"atelie/internal/jobs"
	"atelie/internal/settings"
)

// This file queues and sends copies: mails to visitors with the text of their own message.

// JobCopy is the kind of the job that mails a copy.
const JobCopy = "contact.copy"

// copyWorkers is the number of workers in the pool of JobCopy. Copies have a pool of their own, so that no other mail waits for them.
const copyWorkers = 1

// Limits of copies in copyWindow. A copy sends a text that a visitor wrote to an address that the visitor entered. Without limits, anybody
// could use the form to send texts to other people.
const (
	copyWindow         = 24 * time.Hour
	copiesPerMailbox   = 3   // to one mailbox, which is stored as a hash
	copiesPerRequester = 10  // from one IP address
	copiesPerDay       = 200 // of all visitors together
)

// Names of the limits in the rate_limits table.
const (
	copyLimitMailbox = "contact-copy-to"
	copyLimitAll     = "contact-copy"
)

// countCopy counts a copy to an e-mail address against the limits, one after the other, and reports whether the copy is within all of them.
// It stops at the first limit that is exceeded: the copy counts against this limit and the earlier ones, but not against the later ones.
func (s *Service) countCopy(ctx context.Context, email string) (allowed bool, err error) {
	for _, l := range []struct {
		name, subject string
		limit         int
	}{
		{"contact-copy-from", httpx.LimitSubject(ctx), copiesPerRequester},
		{copyLimitMailbox, hashMailbox(email), copiesPerMailbox},
		{copyLimitAll, "", copiesPerDay},
	} {
		hits, err := s.db.Hit(ctx, l.name, l.subject, copyWindow, s.now())
		if err != nil || hits > l.limit {
			return false, err
		}
	}
	return true, nil
}

// sendCopy sends a notice whose channel is channelCopy. If visitors get thank-you mails, the copy also thanks for the message. countThanks
// prevents a separate thank-you mail.
func (s *Service) sendCopy(ctx context.Context, n notice, m contactMessage) error {
	copied := ReplyMail{ID: jobs.InfoOf(ctx).ID, To: Recipient{n.Recipient, n.Language}, MessageID: m.ID, Text: m.Message, At: m.CreatedAt}
	noticeSettings, err := settings.LoadNotices(ctx, s.db)
	if err != nil {
		return err
	}
	copied.Thanks = noticeSettings.Thanks
	if copied.Link, err = s.linkURL(ctx, s.db, m.ID); err != nil {
		return err
	}
	return s.cfg.SendCopy(ctx, copied)
}
