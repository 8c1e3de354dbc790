package activity

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file has the queries on the activity table.

// storedEntry is an entry of the activity table. Entry.Title is the current title of the changed row. If a work was added to a series or
// removed from it, the changed row is the work, and Entry.Series has the current title of the series. If the row or the series no longer
// exists, the title that it had when the entry was recorded is used.
type storedEntry struct {
	Entry

	entryID             int64  // Entry.ID as a number
	recordedTitle       string // title of the changed row when the entry was recorded, even if the row still exists
	recordedSeriesTitle string // title of the series when the entry was recorded, even if the series still exists; "" for no series
}

// selectStoredEntry is the select list and the from clause of the queries whose rows scanStoredEntry reads. Its aliases are:
//
//	a  the entry, a row of the table activity
//	u  the account that acted
//	s  the account whose role was changed
//	p  the changed work, or the work that was added to a series or removed from it
//	r  the changed review
//	c  the changed cover
//	e  the changed series
//	n  the series to which the work p was added, or from which it was removed
const selectStoredEntry = `a.id, a.created_at, a.kind, a.action, a.actor, u.id,
	coalesce(u.email, u.phone, ''),
	coalesce(s.email, s.phone, ''),
	coalesce(a.table_name, ''),
	coalesce(p.id, r.id, c.id, e.id),
	coalesce(p.title, r.client_name, c.title, e.title, a.title, ''),
	coalesce(a.title, ''),
	coalesce(a.number, 0),
	n.id,
	coalesce(n.title, a.series_title),
	coalesce(a.series_title, '')
	from activity a
	left join auth_users u on u.id = a.actor
	left join auth_users s on a.table_name = 'user_roles' and s.id = a.row_id
	left join products p on a.table_name in ('products', 'series_works') and p.id = a.row_id
	left join reviews r on a.table_name = 'reviews' and r.id = a.row_id
	left join cover_images c on a.table_name = 'cover_images' and c.id = a.row_id
	left join series e on a.table_name = 'series' and e.id = a.row_id
	left join series n on n.id = a.series_id`

// scanStoredEntry reads a row of selectStoredEntry.
func scanStoredEntry(row db.Row) (e storedEntry, err error) {
	var (
		actorID         *string // id of the account that acted
		actorAccountID  *string // the same id; nil if that account no longer exists
		rowID, seriesID *string // nil if the row or the series no longer exists
		seriesTitle     *string // nil if the entry is not about a work in a series
	)
	err = row.Scan(&e.entryID, &e.At, &e.Kind, &e.Action, &actorID, &actorAccountID, &e.Account, &e.Subject, &e.Table,
		&rowID, &e.Title, &e.recordedTitle, &e.Number, &seriesID, &seriesTitle, &e.recordedSeriesTitle)
	e.ID, e.At = strconv.FormatInt(e.entryID, 10), e.At.UTC()
	switch {
	case actorID == nil && slices.Contains(commandActions, e.Action):
		e.By = ByCommand
	case actorID == nil:
		e.By = ByProgram
	case *actorID == VisitorActor:
		e.By = ByVisitor
	case actorAccountID == nil:
		e.By = ByDeleted
	default:
		e.By = ByAccount
	}
	if rowID != nil {
		e.RowID = *rowID
	}
	if seriesTitle != nil {
		e.Series = &Series{Title: *seriesTitle}
		if seriesID != nil {
			e.Series.ID = *seriesID
		}
	}
	return e, err
}

// listStoredEntries returns the entries of the kinds that follow a position, the newest first.
func listStoredEntries(ctx context.Context, q db.Querier, kinds []Kind, after Position, limit int) ([]storedEntry, error) {
	var wanted []string
	for _, k := range []Kind{KindChange, KindExport, KindSecurity} {
		if slices.Contains(kinds, k) {
			wanted = append(wanted, "'"+string(k)+"'")
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return db.Collect(ctx, q, scanStoredEntry, "select "+selectStoredEntry+" where a.kind in ("+strings.Join(wanted, ", ")+`)
		and (a.created_at < $1 or a.created_at = $1 and a.id < $2) order by a.created_at desc, a.id desc limit $3`, after.At, after.Change, limit)
}

// RecordExport adds an entry about an export or an erasure. If a transaction checks whether the export is allowed, q should be
// that transaction. action is the function's name, with the action of address-data after it. account is the id of the caller's account,
// or "" for a key. The exported or erased address is not recorded.
func RecordExport(ctx context.Context, q db.Querier, action, account string, now time.Time) error {
	return db.Exec(ctx, q, "insert into activity (created_at, kind, action, actor) values ($1, 'export', $2, $3)", now, action, actorOf(account))
}

// RecordCalendar adds an entry about the secret URL of an account's calendar. action is CalendarMade or CalendarRemoved.
func RecordCalendar(ctx context.Context, q db.Querier, action, account string, now time.Time) error {
	return db.Exec(ctx, q, "insert into activity (created_at, kind, action, actor) values ($1, 'key', $2, $3)", now, action, actorOf(account))
}

// actorOf returns the value of the actor column for the id of an account, null for a key.
func actorOf(account string) any {
	if id, err := uuid.Parse(account); err == nil {
		return id.String()
	}
	return nil
}

// RecordDeletion adds an entry about the deletion of a message in quarantine. Messages that an account deletes at once share one entry, as
// with the trigger of the inbox. The quarantine has no trigger, because a trigger could not tell the deletion by a person from the end of
// a message's time in quarantine or from its move to the inbox. account is the id of the caller's account, or "" for a key.
func RecordDeletion(ctx context.Context, q db.Querier, account string, now time.Time) error {
	return db.Exec(ctx, q, `insert into activity (created_at, kind, action, actor, table_name, number) values ($1, 'change', 'delete', $2, 'contact_submissions', 1)
		on conflict (created_at, (coalesce(cast(actor as text), ''))) where table_name = 'contact_submissions' do update set number = activity.number + 1`, now, actorOf(account))
}

// RecordSite adds an entry about the site as a whole: its content was copied elsewhere, or was replaced. The caller is a command or the
// program itself.
func RecordSite(ctx context.Context, q db.Querier, action, title string, now time.Time) error {
	kind := KindChange
	if action == SiteExport || action == SiteCopy || action == BackupDestination {
		kind = KindExport
	}
	return db.Exec(ctx, q, "insert into activity (created_at, kind, action, title) values ($1, $2, $3, nullif($4, ''))", now, kind, action, title)
}

// Purge deletes the entries of the activity table that are older than RetentionDays. Package auth purges the audit log.
func (s *Service) Purge(ctx context.Context) error {
	return db.Exec(ctx, s.db, "delete from activity where created_at < $1", s.now().AddDate(0, 0, -RetentionDays))
}

// listCandidatesFor returns the entries about the role of an account with an e-mail address, and the entries of which a recorded title (of
// the row or of the series) contains the address, also as a part of a longer address. address must be in lower case.
func listCandidatesFor(ctx context.Context, q db.Querier, address string) ([]storedEntry, error) {
	part := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(address) + "%"
	return db.Collect(ctx, q, scanStoredEntry, "select "+selectStoredEntry+` where lower(a.title) like $1 escape '\' or lower(a.series_title) like $1 escape '\' or a.table_name = 'user_roles' and (lower(s.email) = $2
		or exists (select 1 from auth_identities i where i.user_id = s.id and lower(i.identity_data ->> 'email') = $2)) order by a.id`, part, address)
}

func deleteEntry(ctx context.Context, q db.Querier, id int64) error {
	return db.Exec(ctx, q, "delete from activity where id = $1", id)
}
