package functions

import (
	"context"

	"atelie/internal/db"
)

// This file reads the commissions (works that visitors order) for the board (commission_board.go), an admin page with a card for each
// commission. Each commission belongs to the message that asks for it.

// undecided is an SQL condition on a message m: it asks for a commission, has no row in commissions, and is not marked as done.
const undecided = "m.reason = 'commission' and m.done_at is null and not exists (select 1 from commissions d where d.message_id = m.id)"

// countStages returns the number of commissions of each stage on the board.
func countStages(ctx context.Context, q db.Querier) (map[string]int, error) {
	totals := map[string]int{}
	_, err := db.Collect(ctx, q, func(row db.Row) (none struct{}, err error) { // none: the rows are only added to totals
		var stage string
		var n int
		err = row.Scan(&stage, &n)
		totals[stage] += n
		return none, err
	}, `select stage, count(*) from commissions group by stage union all select 'enquiry', count(*) from contact_submissions m where `+undecided)
	return totals, err
}

// Parts of queries that select the values of a card, from a message m and its commission c.
const (
	cardColumns = "select m.id as id, m.name as name, m.artwork_id as artwork_id, coalesce(cast(c.promised_on as text), '') as promised_on, m.status = 'new' as unread, m.created_at as created_at"
	cardPrice   = `coalesce((select o.price_text from commission_offers o where o.message_id = m.id
		order by case when o.answer = 'accepted' then 0 else 1 end, o.created_at desc, o.id limit 1), '') as price`
)

// listCards returns the first cards of a stage, at most limit. In the stages accepted and in_progress they are sorted by the promised
// date, and cards without a date come last. In all other stages the newest card comes first.
func listCards(ctx context.Context, q db.Querier, stage string, limit int) ([]boardCard, error) {
	order := "c.stage_at desc, m.id" // stage_at: when the commission got this stage
	if stage == stageAccepted || stage == stageInProgress {
		order = "case when c.promised_on is null then 1 else 0 end, c.promised_on, c.stage_at desc, m.id"
	}
	query := cardColumns + ", " + cardPrice + " from commissions c join contact_submissions m on m.id = c.message_id where c.stage = $1 order by " + order + " limit $2"
	if stage == stageEnquiry {
		// The enquiry column has two kinds of cards: commissions in this stage, and undecided messages. Each half of the union has the
		// limit too, so that it reads no more than limit rows of its index.
		query = "select id, name, artwork_id, promised_on, unread, created_at, price from (select * from (" + cardColumns + `, '' as price, c.stage_at as since from commissions c
			join contact_submissions m on m.id = c.message_id where c.stage = $1 order by c.stage_at desc, m.id limit $2) decided
			union all select * from (` + cardColumns + ", '' as price, m.created_at as since from contact_submissions m left join commissions c on c.message_id = m.id where " + undecided + `
			order by m.created_at desc, m.id limit $2) undecided) cards order by since desc, id limit $2`
	}
	return db.Collect(ctx, q, func(row db.Row) (c boardCard, err error) {
		err = row.Scan(&c.MessageID, &c.Name, &c.ArtworkID, &c.PromisedOn, &c.Unread, &c.CreatedAt, &c.Price)
		c.CreatedAt = c.CreatedAt.UTC()
		return c, err
	}, query, stage, limit)
}
