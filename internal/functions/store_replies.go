package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes contact_replies, the texts that visitors and owners have written in the conversations about messages.

// Values of the contact_replies.author column.
const (
	authorVisitor = "visitor"
	authorOwner   = "owner"
)

// Values of the contact_replies.delivery column: the state of the mail with an owner's reply.
const (
	deliveryNone   = "none" // the reply is not mailed
	deliveryQueued = "queued"
	deliverySent   = "sent"
	deliveryFailed = "failed" // the mail could not be sent, and no other attempt follows
)

// Values of the contact_replies.kind column.
const (
	kindReply    = "reply"    // an ordinary reply
	kindProgress = "progress" // an owner's note on the progress of a commission
	kindOffer    = "offer"    // the text of an offer
	kindAnswer   = "answer"   // a visitor's answer to an offer

	kindReviewRequest = "review_request" // an owner's request for a review
	kindReview        = "review"         // a visitor's reply that says that the visitor has written a review
)

// reply is a text in the conversation about a message: a row of contact_replies.
type reply struct {
	ID, MessageID string
	Author        string // authorVisitor or authorOwner
	Kind          string // one of the kind constants
	Text          string
	CreatedAt     time.Time
	Delivery      string           // one of the delivery constants
	DeliveryAt    *time.Time       // when Delivery changed; nil for never
	Pictures      []picture        // filled in by addPictures
	NewPictures   []unsavedPicture // of a reply that is not stored yet
}

const replyColumns = "id, message_id, author, kind, text, created_at, delivery, delivery_at"

func scanReply(row db.Row) (r reply, err error) {
	err = row.Scan(&r.ID, &r.MessageID, &r.Author, &r.Kind, &r.Text, &r.CreatedAt, &r.Delivery, &r.DeliveryAt)
	return r, err
}

// lockMessage locks a message in the inbox, so that nobody can delete it until the transaction ends. An update that changes no value takes
// the lock, because SQLite has no "select for update". The error is errNoInboxMessage if there is no such message.
func lockMessage(ctx context.Context, tx *db.Tx, id string) error {
	found, err := db.Changed(ctx, tx, "update contact_submissions set name = name where id = $1", id)
	if err == nil && !found {
		err = errNoInboxMessage
	}
	return err
}

// insertReply stores a reply. inserted is false if there is one with this id already.
func insertReply(ctx context.Context, tx *db.Tx, r reply) (inserted bool, err error) {
	return db.Changed(ctx, tx, `insert into contact_replies (id, message_id, author, kind, text, created_at, delivery, delivery_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
		on conflict (id) do nothing`, r.ID, r.MessageID, r.Author, r.Kind, r.Text, r.CreatedAt, r.Delivery, r.DeliveryAt)
}

func setStatus(ctx context.Context, q db.Querier, messageID, status string) error {
	return db.Exec(ctx, q, "update contact_submissions set status = $2 where id = $1", messageID, status)
}

// changeDoneMark handles the actions done and reopen of the contact-reply function. It marks the conversation about a message as done, or
// removes the mark, and records the change for live changes. The mark also changes the status new to read, because triggers remove the mark
// of messages with the status new, for example when the visitor has written again.
func (s *Service) changeDoneMark(ctx context.Context, tx *db.Tx, req replyRequest) error {
	var at any // nil removes the mark
	if req.Action == "done" {
		at = s.now()
	}
	if err := db.Exec(ctx, tx, `update contact_submissions set done_at = $2,
		status = case when status = 'new' and $3 then 'read' else status end where id = $1`, req.MessageID, at, at != nil); err != nil {
		return err
	}
	return s.cfg.RecordUpdated(ctx, tx, req.MessageID)
}

// listReplies returns the replies about messages, the oldest first.
func listReplies(ctx context.Context, q db.Querier, messageIDs ...string) ([]reply, error) {
	list, args := db.AppendList(nil, messageIDs)
	return db.Collect(ctx, q, scanReply, "select "+replyColumns+" from contact_replies where message_id in ("+list+") order by created_at, id", args...)
}

func countReplies(ctx context.Context, q db.Querier, messageID string) (int, error) {
	return db.One[int](ctx, q, "select count(*) from contact_replies where message_id = $1", messageID)
}

// readReply returns a reply, or db.ErrNoRows.
func readReply(ctx context.Context, q db.Querier, id string) (reply, error) {
	return scanReply(q.QueryRow(ctx, "select "+replyColumns+" from contact_replies where id = $1", id))
}

// readRecipient returns the visitor who sent a message in the inbox, or db.ErrNoRows.
func readRecipient(ctx context.Context, q db.Querier, messageID string) (r Recipient, err error) {
	var language *string
	err = q.QueryRow(ctx, "select email, language from contact_submissions where id = $1", messageID).Scan(&r.Email, &language)
	r.Language = storedLanguage(language)
	return r, err
}

// setDelivery changes the state of the mail with a reply. cause is why the mail failed, or "". found is false if the reply was deleted.
func setDelivery(ctx context.Context, q db.Querier, id, delivery, cause string, now time.Time) (found bool, err error) {
	return db.Changed(ctx, q, "update contact_replies set delivery = $2, delivery_error = nullif($3, ''), delivery_at = $4 where id = $1", id, delivery, cause, now)
}
