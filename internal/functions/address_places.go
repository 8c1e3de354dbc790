package functions

import (
	"context"

	"atelie/internal/db"
)

// This file finds and erases the data about an e-mail address in messages, in quarantined messages (likely spam) and in notices (mails and
// webhook calls about messages). Each of the three has a pair of methods, such as EachMessageOf and EraseMessagesOf. Package app makes an
// AddressPlace (address_data.go) from each pair.

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
		ids, err := listMessageIDsOf(ctx, tx, address, eraseBatch)
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
	ids, err := deleteQuarantinedOf(ctx, tx, address)
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

// EachNoticeOf calls yield for each notice about a message of the address, and for each notice to the address.
func (s *Service) EachNoticeOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := listNoticesOfAddress(ctx, q, address)
	if err != nil {
		return err
	}
	for _, n := range found {
		if err := yield(n.exportFor(address, s.now())); err != nil {
			return err
		}
	}
	return nil
}

// EraseNoticesOf deletes the notices to the address. EraseMessagesOf deletes the notices about messages of the address.
func (s *Service) EraseNoticesOf(ctx context.Context, tx *db.Tx, address string) error {
	return deleteNoticesTo(ctx, tx, address, hashMailbox(address))
}
