package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes commission_reviews, the reviews that clients write about finished commissions. It inserts approved ones into
// reviews, the table of the reviews that visitors see.

// The states of a client's review: values of the commission_reviews.state column. A message without a row has stateNotAsked.
const (
	stateNotAsked  = ""
	stateAsked     = "asked"     // the client can write the review
	stateWaiting   = "waiting"   // the client has written it, and it waits for the owner's approval
	stateApproved  = "approved"  // the owner has published it: its texts are now in a row of reviews
	stateDeclined  = "declined"  // the owner does not publish it
	stateWithdrawn = "withdrawn" // the owner has taken the request back
)

// reviewText is what a client writes in a review. Place may be "".
type reviewText struct {
	Name, Place, Text string
}

// commissionReview is a row of commission_reviews. Name, Place and Text are "" while there is no review by the client. They are also ""
// after the approval, because the row of reviews has them then.
type commissionReview struct {
	reviewText

	MessageID string
	State     string // one of the state constants
	AskedAt   time.Time
	// ReplyID is the id of the reply that says in the conversation that the client has written the review. The picture of the review
	// belongs to this reply. ReplyID is nil before the first review. Only the client's next review changes it.
	ReplyID   *string
	WrittenAt *time.Time
	DecidedAt *time.Time
	ReviewID  *string // id of the row of reviews; nil before the approval
}

// readReview returns the review of a message. If no review was requested, the state is stateNotAsked.
func readReview(ctx context.Context, q db.Querier, messageID string) (commissionReview, error) {
	r := commissionReview{MessageID: messageID}
	err := q.QueryRow(ctx, `select state, asked_at, reply_id, coalesce(client_name, ''), coalesce(location, ''), coalesce(message, ''), written_at, decided_at, review_id
		from commission_reviews where message_id = $1`, messageID).
		Scan(&r.State, &r.AskedAt, &r.ReplyID, &r.Name, &r.Place, &r.Text, &r.WrittenAt, &r.DecidedAt, &r.ReviewID)
	return r, db.NoRowsAs(err, nil)
}

// saveReview stores a review and records it for live changes.
func (s *Service) saveReview(ctx context.Context, tx *db.Tx, r commissionReview, inserted bool) error {
	err := db.Exec(ctx, tx, `insert into commission_reviews (message_id, state, asked_at, reply_id, client_name, location, message, written_at, decided_at, review_id)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		on conflict (message_id) do update set state = excluded.state, asked_at = excluded.asked_at, reply_id = excluded.reply_id, client_name = excluded.client_name,
			location = excluded.location, message = excluded.message, written_at = excluded.written_at, decided_at = excluded.decided_at, review_id = excluded.review_id`,
		r.MessageID, r.State, r.AskedAt, r.ReplyID, nullIfEmpty(r.Name), nullIfEmpty(r.Place), nullIfEmpty(r.Text), r.WrittenAt, r.DecidedAt, r.ReviewID)
	if err != nil {
		return err
	}
	return s.cfg.RecordCommission(ctx, tx, "commission_reviews", r.MessageID, inserted)
}

// readRequests returns how many times a review was requested in a conversation, and when the last time was. last is nil if it was never
// requested.
func readRequests(ctx context.Context, q db.Querier, messageID string) (n int, last *time.Time, err error) {
	times, err := db.Collect(ctx, q, db.ScanOne[time.Time], "select created_at from contact_replies where message_id = $1 and kind = $2 order by created_at desc", messageID, kindReviewRequest)
	if len(times) > 0 {
		last = &times[0]
	}
	return len(times), last, err
}

// insertPublicReview inserts a row into reviews, as the last one in their order. The row is marked as written by a client
// (from_commission). imageURL is "" if the review has no picture.
func insertPublicReview(ctx context.Context, tx *db.Tx, id string, t reviewText, imageURL string, active bool, at time.Time) error {
	return db.Exec(ctx, tx, `insert into reviews (id, client_name, location, message, image_url, is_active, display_order, created_at, updated_at, from_commission)
		values ($1, $2, $3, $4, $5, $6, (select coalesce(max(display_order), 0) + 1 from reviews), $7, $7, $8)`,
		id, t.Name, nullIfEmpty(t.Place), t.Text, nullIfEmpty(imageURL), active, at, true)
}

func deletePictures(ctx context.Context, tx *db.Tx, replyID string) error {
	return db.Exec(ctx, tx, "delete from contact_pictures where reply_id = $1", replyID)
}

// movePictures moves the pictures of the reply from to the reply to. Only one of the two may have pictures.
func movePictures(ctx context.Context, tx *db.Tx, from, to string) error {
	return db.Exec(ctx, tx, "update contact_pictures set reply_id = $2 where reply_id = $1", from, to)
}

// exportedReview is the review of a message in an export. Its picture is in the export of the reply.
type exportedReview struct {
	State     string     `json:"state"`
	AskedAt   time.Time  `json:"asked_at"`
	Name      string     `json:"name,omitempty"`
	Place     string     `json:"place,omitempty"`
	Text      string     `json:"text,omitempty"`
	WrittenAt *time.Time `json:"written_at,omitempty"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	ReviewID  *string    `json:"review_id,omitempty"`
}

// addReviews adds the reviews of the messages ids to an export.
func addReviews(ctx context.Context, q db.Querier, ids []string, at map[string]*exportedMessage) error {
	list, args := db.AppendList(nil, ids)
	_, err := db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var id string
		var r exportedReview
		err = row.Scan(&id, &r.State, &r.AskedAt, &r.Name, &r.Place, &r.Text, &r.WrittenAt, &r.DecidedAt, &r.ReviewID)
		r.AskedAt, r.WrittenAt, r.DecidedAt = r.AskedAt.UTC(), inUTC(r.WrittenAt), inUTC(r.DecidedAt)
		if m := at[id]; m != nil {
			m.Review = &r
		}
		return none, err
	}, `select message_id, state, asked_at, coalesce(client_name, ''), coalesce(location, ''), coalesce(message, ''), written_at, decided_at, review_id
		from commission_reviews where message_id in (`+list+")", args...)
	return err
}
