package functions

import (
	"context"
	"errors"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file finds and erases the data about an e-mail address in messages, in quarantined messages (likely spam) and in notices (mails and
// webhook calls about messages). Each of the three has a pair of methods, such as EachMessageOf and EraseMessagesOf. Package app makes an
// AddressPlace (address_data.go) from each pair. The parameter address of all methods is in lower case.

// eraseBatch is the maximum number of messages that one statement deletes.
const eraseBatch = 100

// EachMessageOf calls yield for each message in the inbox whose sender has the address.
func (s *Service) EachMessageOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	return eachMessage(ctx, q, false /* in the inbox */, address, func(m exportedMessage) error { return yield(m) })
}

// EachQuarantinedOf calls yield for each message in quarantine whose sender has the address.
func (s *Service) EachQuarantinedOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	return eachMessage(ctx, q, true /* in quarantine */, address, func(m exportedMessage) error { return yield(m) })
}

// EraseMessagesOf deletes the messages that EachMessageOf finds, with everything about them.
func (s *Service) EraseMessagesOf(ctx context.Context, tx *db.Tx, address string) error {
	for {
		ids, err := db.Collect(ctx, tx, db.ScanOne[string], "select id from contact_submissions where lower(email) = $1 order by id limit $2", address, eraseBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.deleteMessages(ctx, tx, ids); err != nil {
			return err
		}
	}
}

// EraseQuarantinedOf deletes the messages that EachQuarantinedOf finds, and queues the deletion of the mails about them.
func (s *Service) EraseQuarantinedOf(ctx context.Context, tx *db.Tx, address string) error {
	ids, err := db.Collect(ctx, tx, db.ScanOne[string], "delete from contact_quarantine where lower(email) = $1 returning id", address)
	if err != nil {
		return err
	}
	return s.CleanUpMessages(ctx, tx, ids...)
}

// exportedNotice is a notice in an export of an address.
type exportedNotice struct {
	MessageID string `json:"message_id"`
	Channel   string `json:"channel"` // one of the channel constants, such as channelMail
	// Recipient is the exported address. It is "" for any other recipient, because the export must not contain other people's addresses.
	Recipient string `json:"recipient,omitempty"`
	State     string `json:"state"` // waiting, retrying, sent or failed
	QueuedAt  string `json:"queued_at"`
}

// EachNoticeOf calls yield for each notice about a message of the address, and for each notice to the address, the oldest first.
func (s *Service) EachNoticeOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := db.Collect(ctx, q, scanNotice, selectNotices+`join contact_submissions m on m.id = n.message_id
		where lower(m.email) = $1 or lower(n.recipient) = $1 order by n.queued_at, n.id`, address)
	if err != nil {
		return err
	}
	for _, n := range found {
		exported := exportedNotice{MessageID: n.MessageID, Channel: n.Channel, State: n.state(s.now()), QueuedAt: n.QueuedAt.UTC().Format(time.RFC3339Nano)}
		if strings.EqualFold(n.Recipient, address) {
			exported.Recipient = n.Recipient
		}
		if err := yield(exported); err != nil {
			return err
		}
	}
	return nil
}

// EraseNoticesOf deletes the notices and digests (notices about many messages) to the address. It also deletes the time of the most recent
// thank-you mail to its mailbox, and the counter of copies to it. EraseMessagesOf deletes the notices about messages of the address.
func (s *Service) EraseNoticesOf(ctx context.Context, tx *db.Tx, address string) error {
	mailbox := hashMailbox(address)
	return errors.Join(
		db.Exec(ctx, tx, "delete from contact_notices where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_digests where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_thanked where subject = $1", mailbox),
		db.Exec(ctx, tx, "delete from rate_limits where name = $1 and subject = $2", copyLimitMailbox, mailbox),
	)
}
