package functions

import (
	"context"

	"atelie/internal/db"
)

// eraseBatch is how many messages of an address are deleted by one statement.
const eraseBatch = 100

// EachMessageOf calls yield for each message in the inbox that names the address as its sender's.
func (s *Service) EachMessageOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	return eachMessageOf(ctx, q, false, address, yield)
}

// EachQuarantinedOf is EachMessageOf for the quarantine.
func (s *Service) EachQuarantinedOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	return eachMessageOf(ctx, q, true, address, yield)
}

func eachMessageOf(ctx context.Context, q db.Querier, quarantined bool, address string, yield func(any) error) error {
	var last exportedMessage
	for {
		page, err := exportAfter(ctx, q, quarantined, address, last, exportPage)
		if err != nil {
			return err
		}
		for _, last = range page {
			if err := yield(last); err != nil {
				return err
			}
		}
		if len(page) < exportPage {
			return nil
		}
	}
}

// EraseMessagesOf deletes the messages in the inbox that name the address, with everything about them.
func (s *Service) EraseMessagesOf(ctx context.Context, tx *db.Tx, address string) error {
	for {
		ids, err := messagesOf(ctx, tx, address, eraseBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := s.deleteMessages(ctx, tx, ids); err != nil {
			return err
		}
	}
}

// EraseQuarantinedOf deletes the messages in quarantine that name the address.
func (s *Service) EraseQuarantinedOf(ctx context.Context, tx *db.Tx, address string) error {
	ids, err := deleteQuarantinedOf(ctx, tx, address)
	if err != nil {
		return err
	}
	return s.ForgetMessages(ctx, tx, ids...)
}

// addressNotice is a notice in an export. The other recipients of notices are none of the address's business.
type addressNotice struct {
	MessageID string `json:"message_id"`
	Channel   string `json:"channel"`
	Recipient string `json:"recipient,omitempty"` // the address itself; "" for another recipient
	State     string `json:"state"`
	QueuedAt  string `json:"queued_at"`
}

// EachNoticeOf calls yield for each notice about a message of the address, and for each notice to the address.
func (s *Service) EachNoticeOf(ctx context.Context, q db.Querier, address string, yield func(any) error) error {
	found, err := noticesOfAddress(ctx, q, address)
	if err != nil {
		return err
	}
	for _, n := range found {
		if err := yield(n.exported(address, s.now())); err != nil {
			return err
		}
	}
	return nil
}

// EraseNoticesOf deletes the notices to the address. Those about its messages go with the messages.
func (s *Service) EraseNoticesOf(ctx context.Context, tx *db.Tx, address string) error {
	return deleteNoticesTo(ctx, tx, address, mailboxHash(address))
}
