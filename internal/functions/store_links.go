package functions

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes contact_links, the private links at which visitors follow their messages. A message is a row of one of two
// tables: contact_submissions (the inbox) or contact_quarantine (messages that look like spam).

// enquiry is a message and its status, as the page of the private link shows them.
type enquiry struct {
	Message     contactMessage
	Quarantined bool       // whether the message is in quarantine; the page must not reveal this
	Status      string     // new, read or replied
	ReadAt      *time.Time // when the status stopped being new
	AnsweredAt  *time.Time // when the status became replied; in a conversation with replies, for the first time
}

// findEnquiry returns the enquiry of the private link whose token has this hash, or db.ErrNoRows if there is no such link. The database
// does the same work for an unknown and an expired token, so the response time does not distinguish them.
func findEnquiry(ctx context.Context, q db.Querier, hash string, now time.Time) (e enquiry, err error) {
	var language *string
	err = q.QueryRow(ctx, `select m.id is null, coalesce(m.id, c.id), coalesce(m.name, c.name), coalesce(m.email, c.email), coalesce(m.message, c.message),
			coalesce(m.reason, 'general'), coalesce(m.artwork_id, c.artwork_id), coalesce(m.created_at, c.created_at), coalesce(m.language, c.language),
			coalesce(m.status, 'new'), m.read_at, m.answered_at
		from contact_links l left join contact_submissions m on m.id = l.message_id left join contact_quarantine c on c.id = l.quarantine_id
		where l.token_hash = $1 and l.expires_at > $2`, hash, now).
		Scan(&e.Quarantined, &e.Message.ID, &e.Message.Name, &e.Message.Email, &e.Message.Message,
			&e.Message.Reason, &e.Message.ArtworkID, &e.Message.CreatedAt, &language, &e.Status, &e.ReadAt, &e.AnsweredAt)
	if err == nil {
		e.Message.Language = storedLanguage(language)
	}
	return e, err
}

// storedLanguage returns the language of a message from its column. The column is null for messages that an earlier version of the program
// has stored. Their language is English.
func storedLanguage(language *string) i18n.Language {
	if language == nil {
		return i18n.EN
	}
	return i18n.Choose(*language)
}

// insertLink stores the link to a message. It looks for the message in the inbox and in quarantine, because the message can be in either.
// The sub-select of the other table gives null. Nonce is the random text from which the link's token is derived.
func insertLink(ctx context.Context, tx *db.Tx, l contactLink, messageID string) error {
	return db.Queue(ctx, tx, `insert into contact_links (token_hash, nonce, message_id, quarantine_id, created_at, expires_at)
		select $1, $2, (select id from contact_submissions where id = $3), (select id from contact_quarantine where id = $3), $4, $5`,
		l.Hash, l.Nonce, messageID, l.CreatedAt, l.ExpiresAt)
}

// readLinkOf returns the link to a message in the inbox, or db.ErrNoRows.
func readLinkOf(ctx context.Context, q db.Querier, messageID string) (l contactLink, err error) {
	err = q.QueryRow(ctx, "select token_hash, nonce, created_at, expires_at from contact_links where message_id = $1", messageID).
		Scan(&l.Hash, &l.Nonce, &l.CreatedAt, &l.ExpiresAt)
	return l, err
}

// replaceLink makes a new link to a message in the inbox. The previous link is deleted.
func (s *Service) replaceLink(ctx context.Context, tx *db.Tx, messageID string) error {
	return errors.Join(db.Exec(ctx, tx, "delete from contact_links where message_id = $1", messageID), insertLink(ctx, tx, s.newLink(s.now()), messageID))
}

func extendLinkOf(ctx context.Context, q db.Querier, messageID string, expiresAt time.Time) error {
	return db.Exec(ctx, q, "update contact_links set expires_at = $2 where message_id = $1", messageID, expiresAt)
}

// detachLink detaches the link from a message in quarantine. After that, the deletion of the message does not delete the link. It returns
// the hash of the link for attachLink, or "" if there is no link.
func detachLink(ctx context.Context, tx *db.Tx, quarantinedID string) (hash string, err error) {
	hash, err = db.One[string](ctx, tx, "update contact_links set quarantine_id = null where quarantine_id = $1 returning token_hash", quarantinedID)
	return hash, db.NoRowsAs(err, nil)
}

// attachLink attaches a link from detachLink to a message in the inbox. It does nothing if hash is "".
func attachLink(ctx context.Context, tx *db.Tx, hash, messageID string) error {
	if hash == "" {
		return nil
	}
	return db.Exec(ctx, tx, "update contact_links set message_id = $2 where token_hash = $1", hash, messageID)
}

// PurgeLinks deletes the links that have expired.
func (s *Service) PurgeLinks(ctx context.Context) error {
	return db.Exec(ctx, s.db, "delete from contact_links where expires_at <= $1", s.now())
}
