package functions

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes contact_submissions (the inbox), and reads the messages of an export.

// contactMessage is a message that a visitor sent: a row of contact_submissions (the inbox) or of contact_quarantine.
type contactMessage struct {
	ID, Name, Email, Message string
	Reason                   string  // one of reasons (submit_contact.go); if Cause is causeHiddenField, what a spam program entered instead
	ArtworkID                *string // the work that the message asks about; nil for none
	Language                 i18n.Language
	Cause                    string // why the message is in quarantine: causeHiddenField or causeFlood; "" for a message in the inbox
	CreatedAt                time.Time
	Pictures                 int // number of pictures, if Message is the text of a reply; otherwise 0
}

// insertInboxMessage stores a message in the inbox, with the status "new".
func insertInboxMessage(ctx context.Context, q *db.Tx, m contactMessage) error {
	return db.Queue(ctx, q, "insert into contact_submissions (id, name, email, message, reason, status, created_at, artwork_id, language) values ($1, $2, $3, $4, $5, 'new', $6, $7, $8)",
		m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt, m.ArtworkID, nullIfEmpty(string(m.Language)))
}

// insertUnlessFlood stores a message in the inbox, with the status "new". If more than limit messages were counted in the hour, it stores
// the message in quarantine instead. limit and hour are the results of countAgainstFloodLimit. The id of the work (a row of products) is
// stored only if the work is published.
func insertUnlessFlood(ctx context.Context, tx *db.Tx, m contactMessage, limit int, hour int64) error {
	return errors.Join(
		db.Queue(ctx, tx, `insert into contact_submissions (id, name, email, message, reason, status, created_at, artwork_id, language)
			select $1, $2, $3, $4, $5, 'new', $6, (select id from products where id = $9 and is_published), $10
			where `+floodHits+` <= $8`, m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt, hour, limit, m.ArtworkID, nullIfEmpty(string(m.Language))),
		db.Queue(ctx, tx, `insert into contact_quarantine (id, name, email, message, reason, cause, created_at, artwork_id, language)
			select $1, $2, $3, $4, $5, $9, $6, (select id from products where id = $10 and is_published), $11
			where `+floodHits+` > $8`, m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt, hour, limit, causeFlood, m.ArtworkID, nullIfEmpty(string(m.Language))),
	)
}

// listMessageIDsBefore returns the ids of at most limit messages in the inbox that are older than a time, the oldest first. It leaves out
// messages with a reply after that time, and those with a commission that is accepted or in progress.
func listMessageIDsBefore(ctx context.Context, q db.Querier, at time.Time, limit int) (ids []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], `select id from contact_submissions m where created_at <= $1
		and not exists (select 1 from contact_replies r where r.message_id = m.id and r.created_at > $1)
		and not exists (select 1 from commissions c where c.message_id = m.id and c.stage in ('accepted', 'in_progress')) order by created_at, id limit $2`, at, limit)
}

// deleteLocked deletes messages in the inbox with their notices and jobs, and records the deletions for live changes. The function
// RecordDeleted of the configuration also calls CleanUpMessages, which queues the deletion of the mails about them. The database deletes the
// notices by a foreign key. The caller has locked the messages: so no reply can be added, and no data of a reply is left behind.
func (s *Service) deleteLocked(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := s.cfg.RecordDeleted(ctx, tx, ids); err != nil {
		return err
	}
	list, args := db.AppendList(nil, ids)
	return db.Exec(ctx, tx, "delete from contact_submissions where id in ("+list+")", args...)
}

// exportedMessage is a message in an export.
type exportedMessage struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Reason    string    `json:"reason"`
	Status    string    `json:"status"` // new, read, replied or quarantine
	Message   string    `json:"message"`
	// DoneAt is when an owner marked the conversation as done. It is missing in JSON if the conversation is not done.
	DoneAt *time.Time `json:"done_at,omitempty"`
	// Replies are in the order in which they were written. Replies and Link are missing in JSON if the message has none.
	Replies []exportedReply `json:"replies,omitempty"`
	Link    *exportedLink   `json:"link,omitempty"`
	// Commission is missing in JSON if nothing was decided and nothing offered.
	Commission *exportedCommission `json:"commission,omitempty"`
	// Review is missing in JSON if none was requested.
	Review *exportedReview `json:"review,omitempty"`
}

// exportedReply is a reply to a message in an export.
type exportedReply struct {
	CreatedAt time.Time `json:"created_at"`
	Author    string    `json:"author"`         // authorVisitor or authorOwner
	Kind      string    `json:"kind,omitempty"` // one of the kind constants; "" for kindReply
	Text      string    `json:"text"`
	Pictures  []picture `json:"pictures,omitempty"` // the files are in the archive of the site
}

// exportedLink is the private link to a message in an export, without its token.
type exportedLink struct {
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// addConversations adds the replies and links of messages to a page of an export.
func addConversations(ctx context.Context, q db.Querier, page []exportedMessage) error {
	if len(page) == 0 {
		return nil
	}
	ids, at := make([]string, len(page)), make(map[string]*exportedMessage, len(page))
	for i := range page {
		ids[i], at[page[i].ID] = page[i].ID, &page[i]
	}
	replies, err := listReplies(ctx, q, ids...)
	if err != nil {
		return err
	}
	pictures, err := listPictures(ctx, q, ids...)
	if err != nil {
		return err
	}
	ofReply := map[string][]picture{}
	for _, p := range pictures {
		ofReply[p.ReplyID] = append(ofReply[p.ReplyID], p)
	}
	for _, r := range replies {
		m := at[r.MessageID]
		m.Replies = append(m.Replies, exportedReply{r.CreatedAt.UTC(), r.Author, strings.TrimPrefix(r.Kind, kindReply), r.Text, ofReply[r.ID]})
	}
	if err := errors.Join(addCommissions(ctx, q, ids, at), addReviews(ctx, q, ids, at)); err != nil {
		return err
	}
	list, args := db.AppendList(nil, ids)
	_, err = db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var id string
		var l exportedLink
		err = row.Scan(&id, &l.CreatedAt, &l.ExpiresAt)
		if m := at[id]; m != nil {
			m.Link = &exportedLink{l.CreatedAt.UTC(), l.ExpiresAt.UTC()}
		}
		return none, err
	}, "select coalesce(message_id, quarantine_id), created_at, expires_at from contact_links where message_id in ("+list+") or quarantine_id in ("+list+")", args...)
	return err
}

// listExportedAfter returns at most exportPageSize messages that follow the message last in the order of an export, the oldest
// first. If last is zero, they begin with the first message. quarantined selects the quarantine instead of the inbox. address
// selects the messages of a sender by the address in lower case; "" selects all.
func listExportedAfter(ctx context.Context, q db.Querier, quarantined bool, address string, last exportedMessage) ([]exportedMessage, error) {
	from := "reason, status, message, done_at from contact_submissions"
	if quarantined { // otherwise reason holds the content of the hidden field
		from = "case when cause = 'flood' then reason else '' end, 'quarantine', message, (select done_at from contact_submissions where false) from contact_quarantine"
	}
	id := last.ID
	if id == "" {
		id = uuid.Nil.String()
	}
	return db.Collect(ctx, q, func(row db.Row) (m exportedMessage, err error) {
		err = row.Scan(&m.ID, &m.CreatedAt, &m.Name, &m.Email, &m.Reason, &m.Status, &m.Message, &m.DoneAt)
		m.CreatedAt = m.CreatedAt.UTC()
		return m, err
	}, "select id, created_at, name, email, "+from+" where (created_at > $1 or (created_at = $1 and id > $2)) and ($3 = '' or lower(email) = $3) order by created_at, id limit $4",
		last.CreatedAt, id, address, exportPageSize)
}

// hasMessage reports whether the inbox has a message with this id.
func hasMessage(ctx context.Context, q db.Querier, id string) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from contact_submissions where id = $1)", id)
}
