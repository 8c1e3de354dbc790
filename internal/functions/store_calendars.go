package functions

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes calendar_feeds (the calendars of accounts), and reads the promised dates of commissions that a calendar shows.

// calendarFeed is a row of calendar_feeds: the calendar of an account. The URL of the calendar contains a secret token. The row has only a
// hash of the token.
type calendarFeed struct {
	Hash      string // hash of the token (hashText)
	Nonce     string // random text from which the token is derived (deriveToken)
	Language  i18n.Language
	CreatedAt time.Time
}

// calendarLanguage returns the language of the calendar whose token has this hash. The error is db.ErrNoRows if there is no such calendar,
// or if the calendar's account is banned, deleted or no longer an administrator.
func calendarLanguage(ctx context.Context, q db.Querier, hash string, now time.Time) (i18n.Language, error) {
	return db.One[i18n.Language](ctx, q, `select f.language from calendar_feeds f join user_roles r on r.user_id = f.user_id join auth_users u on u.id = f.user_id
		where f.token_hash = $1 and r.role = 'admin' and u.deleted_at is null and (u.banned_until is null or u.banned_until <= $2)`, hash, now)
}

// readCalendarOf returns the calendar of an account, or db.ErrNoRows.
func readCalendarOf(ctx context.Context, q db.Querier, userID string) (f calendarFeed, err error) {
	err = q.QueryRow(ctx, "select token_hash, nonce, language, created_at from calendar_feeds where user_id = $1", userID).
		Scan(&f.Hash, &f.Nonce, &f.Language, &f.CreatedAt)
	return f, err
}

// hasRole reports whether an account has any role. An account without a role can have no calendar.
func hasRole(ctx context.Context, q db.Querier, userID string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from user_roles where user_id = $1)", userID)
}

// storeCalendar stores the calendar of an account, and returns whether it was stored. If the account already has a calendar, storeCalendar
// replaces it if replace is true, and stores nothing if replace is false.
func storeCalendar(ctx context.Context, q db.Querier, userID string, f calendarFeed, replace bool) (bool, error) {
	return db.Changed(ctx, q, `insert into calendar_feeds (user_id, token_hash, nonce, language, created_at) values ($1, $2, $3, $4, $5)
		on conflict (user_id) do update set token_hash = excluded.token_hash, nonce = excluded.nonce, language = excluded.language, created_at = excluded.created_at where $6`,
		userID, f.Hash, f.Nonce, string(f.Language), f.CreatedAt, replace)
}

// deleteCalendarOf deletes the calendar of an account. It returns false if there is none.
func deleteCalendarOf(ctx context.Context, q db.Querier, userID string) (bool, error) {
	return db.Changed(ctx, q, "delete from calendar_feeds where user_id = $1", userID)
}

// promise is a promised date of a commission.
type promise struct {
	MessageID string
	Client    string
	Work      string // title of the work that the message asks about, in the calendar's language if it has one; "" for none
	Stage     string // stageAccepted, stageInProgress or stageFinished
	Day       time.Time
}

// maxPromises is the maximum number of promised dates in a calendar.
const maxPromises = 1000

// listPromises returns the promised dates of commissions that are accepted, in progress or finished. The latest day comes first. There are
// at most maxPromises.
func listPromises(ctx context.Context, q db.Querier, l i18n.Language) ([]promise, error) {
	title, otherTitle := "p.title", "p.title_pt" // columns; otherTitle is used if title is empty
	if l == i18n.PT {
		title, otherTitle = otherTitle, title
	}
	return db.Collect(ctx, q, func(row db.Row) (p promise, err error) {
		var day string
		if err = row.Scan(&p.MessageID, &p.Client, &p.Work, &p.Stage, &day); err == nil {
			p.Day, err = time.Parse(time.DateOnly, day)
		}
		return p, err
	}, `select m.id, m.name, coalesce(nullif(`+title+`, ''), `+otherTitle+`, ''), c.stage, cast(c.promised_on as text)
		from commissions c join contact_submissions m on m.id = c.message_id left join products p on p.id = m.artwork_id
		where c.promised_on is not null and c.stage in ('accepted', 'in_progress', 'finished') order by c.promised_on desc, m.id limit $1`, maxPromises)
}
