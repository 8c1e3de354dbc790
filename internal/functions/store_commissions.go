package functions

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes three tables:
//   - commissions has the stage of each commission (a work that a visitor orders).
//   - commission_offers has the owners' offers and the visitors' answers.
//   - commission_terms has the artist's terms as they were when an offer was made.

// commission is a row of commissions: the stage of the commission that a message asks for, and the promised day.
type commission struct {
	Stage      string    // one of the stage constants
	StageAt    time.Time // when the stage was set
	PromisedOn string    // YYYY-MM-DD; "" for none
	Stored     bool      // whether there is a row; there is none before an owner has decided something
}

// readCommission returns the commission of a message. If there is no row, the stage is stageEnquiry.
func readCommission(ctx context.Context, q db.Querier, messageID string) (commission, error) {
	c := commission{Stored: true}
	err := q.QueryRow(ctx, "select stage, stage_at, coalesce(cast(promised_on as text), '') from commissions where message_id = $1", messageID).Scan(&c.Stage, &c.StageAt, &c.PromisedOn)
	if errors.Is(err, db.ErrNoRows) {
		return commission{Stage: stageEnquiry}, nil
	}
	return c, err
}

func storeCommission(ctx context.Context, q db.Querier, messageID string, c commission) error {
	return db.Exec(ctx, q, `insert into commissions (message_id, stage, stage_at, promised_on) values ($1, $2, $3, $4)
		on conflict (message_id) do update set stage = excluded.stage, stage_at = excluded.stage_at, promised_on = excluded.promised_on`,
		messageID, c.Stage, c.StageAt, nullIfEmpty(c.PromisedOn))
}

// offer is an offer to a visitor: a row of commission_offers. Its text is that of the reply with the same id. Its terms are from
// commission_terms. A day is YYYY-MM-DD, or "" for none.
type offer struct {
	ID, MessageID         string
	Text, Price, Deposit  string
	PromisedOn, ExpiresOn string
	Terms                 string        // as they were when the offer was made; "" for none
	TermsLanguage         i18n.Language // "" for none
	CreatedAt             time.Time
	WithdrawnAt           *time.Time
	Answer                string // offerAccepted, offerDeclined, or "" for none yet
	AnsweredAt            *time.Time
	AnsweredName          string
}

const selectOffers = `select o.id, o.message_id, r.text, o.price_text, coalesce(o.deposit_text, ''), coalesce(cast(o.promised_on as text), ''), coalesce(cast(o.expires_on as text), ''),
	coalesce(t.text, ''), coalesce(t.language, ''), o.created_at, o.withdrawn_at, coalesce(o.answer, ''), o.answered_at, coalesce(o.answered_name, '')
	from commission_offers o join contact_replies r on r.id = o.id left join commission_terms t on t.hash = o.terms_hash `

func scanOffer(row db.Row) (o offer, err error) {
	err = row.Scan(&o.ID, &o.MessageID, &o.Text, &o.Price, &o.Deposit, &o.PromisedOn, &o.ExpiresOn,
		&o.Terms, &o.TermsLanguage, &o.CreatedAt, &o.WithdrawnAt, &o.Answer, &o.AnsweredAt, &o.AnsweredName)
	return o, err
}

// listOffers returns the offers in the conversations about messages, the oldest first.
func listOffers(ctx context.Context, q db.Querier, messageIDs ...string) ([]offer, error) {
	list, args := db.AppendList(nil, messageIDs)
	return db.Collect(ctx, q, scanOffer, selectOffers+"where o.message_id in ("+list+") order by o.created_at, o.id", args...)
}

// readOffer returns an offer, or db.ErrNoRows.
func readOffer(ctx context.Context, q db.Querier, id string) (offer, error) {
	return scanOffer(q.QueryRow(ctx, selectOffers+"where o.id = $1", id))
}

// insertOffer stores an offer and its terms. The offer's text must be stored before, as a reply with the same id.
func insertOffer(ctx context.Context, tx *db.Tx, o offer) error {
	hash := "" // of the terms
	if o.Terms != "" {
		hash = hashText(o.Terms)
		if err := db.Exec(ctx, tx, "insert into commission_terms (hash, text, language) values ($1, $2, $3) on conflict (hash) do nothing", hash, o.Terms, string(o.TermsLanguage)); err != nil {
			return err
		}
	}
	return db.Exec(ctx, tx, `insert into commission_offers (id, message_id, price_text, deposit_text, promised_on, expires_on, terms_hash, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		o.ID, o.MessageID, o.Price, nullIfEmpty(o.Deposit), nullIfEmpty(o.PromisedOn), nullIfEmpty(o.ExpiresOn), nullIfEmpty(hash), o.CreatedAt)
}

// withdrawOffers withdraws the offers to a message that have no answer, and records them for live changes.
func (s *Service) withdrawOffers(ctx context.Context, tx *db.Tx, messageID string) error {
	ids, err := db.Collect(ctx, tx, db.ScanOne[string],
		"update commission_offers set withdrawn_at = $2 where message_id = $1 and answer is null and withdrawn_at is null returning id", messageID, s.now())
	for _, id := range ids {
		err = errors.Join(err, s.cfg.RecordCommission(ctx, tx, "commission_offers", id, false))
	}
	return err
}

func storeAnswer(ctx context.Context, tx *db.Tx, o offer) error {
	return db.Exec(ctx, tx, "update commission_offers set answer = $2, answered_at = $3, answered_name = $4 where id = $1", o.ID, o.Answer, o.AnsweredAt, nullIfEmpty(o.AnsweredName))
}

// waiting is the SQL condition that a message m with the commission c is on the waiting list: m asks for a commission, and either the stage
// of c is enquiry, or c does not exist and m was neither answered nor marked as done.
const waiting = "m.reason = 'commission' and (c.stage = 'enquiry' or (c.stage is null and m.status <> 'replied' and m.done_at is null))"

// placeOnWaitlist returns the place of a message on the waiting list, on which the oldest message is first; 0 if the message is not on it.
func placeOnWaitlist(ctx context.Context, q db.Querier, messageID string) (int, error) {
	place, err := db.One[int](ctx, q, `select (select count(*) from contact_submissions m left join commissions c on c.message_id = m.id
			where `+waiting+` and (m.created_at < own.created_at or (m.created_at = own.created_at and m.id <= own.id)))
		from (select m.id, m.created_at from contact_submissions m left join commissions c on c.message_id = m.id where m.id = $1 and `+waiting+`) own`, messageID)
	return place, db.NoRowsAs(err, nil)
}

// exportedCommission is the commission of a message in an export.
type exportedCommission struct {
	Stage      string          `json:"stage"`
	StageAt    *time.Time      `json:"stage_at,omitempty"`
	PromisedOn string          `json:"promised_on,omitempty"`
	Offers     []exportedOffer `json:"offers,omitempty"` // the oldest first
}

// exportedOffer is an offer in an export. Its text is a reply of kindOffer.
type exportedOffer struct {
	CreatedAt    time.Time  `json:"created_at"`
	Price        string     `json:"price"`
	Deposit      string     `json:"deposit,omitempty"`
	PromisedOn   string     `json:"promised_on,omitempty"`
	ExpiresOn    string     `json:"expires_on,omitempty"`
	Terms        string     `json:"terms,omitempty"`
	WithdrawnAt  *time.Time `json:"withdrawn_at,omitempty"`
	Answer       string     `json:"answer,omitempty"`
	AnsweredAt   *time.Time `json:"answered_at,omitempty"`
	AnsweredName string     `json:"answered_name,omitempty"`
}

// addCommissions adds the commissions of the messages ids to an export.
func addCommissions(ctx context.Context, q db.Querier, ids []string, at map[string]*exportedMessage) error {
	list, args := db.AppendList(nil, ids)
	_, err := db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) {
		var id string
		c := exportedCommission{StageAt: new(time.Time)}
		err = row.Scan(&id, &c.Stage, c.StageAt, &c.PromisedOn)
		c.StageAt = inUTC(c.StageAt)
		if m := at[id]; m != nil {
			m.Commission = &c
		}
		return none, err
	}, "select message_id, stage, stage_at, coalesce(cast(promised_on as text), '') from commissions where message_id in ("+list+")", args...)
	if err != nil {
		return err
	}
	offers, err := listOffers(ctx, q, ids...)
	if err != nil {
		return err
	}
	for _, o := range offers {
		m := at[o.MessageID]
		if m.Commission == nil {
			m.Commission = &exportedCommission{Stage: stageEnquiry}
		}
		m.Commission.Offers = append(m.Commission.Offers, exportedOffer{
			o.CreatedAt.UTC(), o.Price, o.Deposit, o.PromisedOn, o.ExpiresOn, o.Terms, inUTC(o.WithdrawnAt), o.Answer, inUTC(o.AnsweredAt), o.AnsweredName,
		})
	}
	return nil
}

// inUTC returns a time in UTC, for JSON; nil for nil.
func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}
