package history

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file has the queries on row_history.

// maxListed is the maximum number of revisions in a response. A request for the next revisions names the last id of the response.
const maxListed = 200

// revision is a row of row_history: a row as it was before a change or a deletion.
type revision struct {
	ID     int64  `json:"id"`
	RowID  string `json:"row_id"` // primary key of the changed row
	Action string `json:"action"` // update or delete
	// Actor is the email address of the account that made the change. It is null for an API key, a command, the program itself, or a
	// deleted account.
	Actor     *string         `json:"actor"`
	ChangedAt string          `json:"changed_at"`
	RowBefore json.RawMessage `json:"row_before"` // the whole row as a JSON object
	// ReplacedFiles are the URLs in RowBefore whose files (or stills, if they are videos) have been replaced since.
	ReplacedFiles []string `json:"replaced_files"`

	changedAt time.Time // the value of ChangedAt
}

// selectRevisions is the beginning of the queries whose rows scanRevision reads.
const selectRevisions = `select h.id, h.row_id, h.action, u.email, h.changed_at, h.row_before
	from row_history h left join auth_users u on u.id = h.actor`

func scanRevision(row db.Row) (v revision, err error) {
	var rowBefore string
	err = row.Scan(&v.ID, &v.RowID, &v.Action, &v.Actor, &v.changedAt, &rowBefore)
	v.ChangedAt, v.RowBefore = db.FormatTime(v.changedAt), json.RawMessage(rowBefore)
	v.ReplacedFiles = []string{} // [] in JSON; nil would be null
	return v, err
}

// listHistory returns the revisions of a row, or of the whole table if id is "". The newest revision is first. A page has at most maxListed
// revisions, all with an id less than beforeID: the last id of the previous page, or math.MaxInt64 for the first page.
func listHistory(ctx context.Context, q db.Querier, table, id string, beforeID int64) ([]revision, error) {
	secondTable := table // no second table
	if table == "series" {
		secondTable = seriesWorksTable // a revision of a series's works has the id of the series as row_id
	}
	return db.Collect(ctx, q, scanRevision, selectRevisions+`
		where h.table_name in ($1, $2) and ($3 = '' or h.row_id = $3) and h.id < $4
		order by h.id desc limit `+strconv.Itoa(maxListed), table, secondTable, id, beforeID)
}

// listDeleted returns, for each deleted row that was not restored, the revision of its newest deletion. The order, the limit and beforeID
// are as in listHistory.
func listDeleted(ctx context.Context, q db.Querier, table string, beforeID int64) ([]revision, error) {
	return db.Collect(ctx, q, scanRevision, selectRevisions+` where h.table_name = $1 and h.id < $2
		and h.id in (select max(id) from row_history where table_name = $1 and action = 'delete' group by row_id)
		and h.row_id not in (select cast(id as text) from `+table+") order by h.id desc limit "+strconv.Itoa(maxListed), table, beforeID)
}

// FileURLsLike is FileURLs for the revisions that contain namePart, a part of a file's name; "" selects all revisions. Call it in the
// transaction that removes the file, to find out whether a revision still needs the file. namePart must consist of ASCII letters, digits and
// hyphens. These characters are never escaped in a URL or in JSON, so the search finds namePart in both.
func FileURLsLike(ctx context.Context, q db.Querier, namePart string) ([]string, error) {
	rows, err := db.Collect(ctx, q, db.ScanOne[string],
		"select cast(row_before as text) from row_history where cast(row_before as text) like $1", "%"+namePart+"%")
	if err != nil {
		return nil, err
	}
	return urlTexts(rows)
}

// Purge deletes the revisions that are older than Retention, and all but the newest maxRevisions of each row.
func (s *Service) Purge(ctx context.Context) error {
	return db.Exec(ctx, s.db, `delete from row_history where changed_at < $1 or id in (
		select id from (select id, row_number() over (partition by table_name, row_id order by id desc) as place from row_history) as numbered where place > $2)`,
		s.now().Add(-Retention), maxRevisions)
}

// addressRevision is a revision that contains an email address, in the form in which the export of an address shows it.
type addressRevision struct {
	ID        int64           `json:"id"`
	Table     string          `json:"table"`
	RowID     string          `json:"row_id"`
	Action    string          `json:"action"`
	ChangedAt string          `json:"changed_at"`
	RowBefore json.RawMessage `json:"row_before"`
}

// listRevisionsWith returns the revisions that contain an email address, which must be in lower case, or a longer address that
// contains it. Revisions of the settings are left out, because their addresses are the owner's own.
func listRevisionsWith(ctx context.Context, q db.Querier, address string) ([]addressRevision, error) {
	part := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(address) + "%"
	return db.Collect(ctx, q, func(row db.Row) (v addressRevision, err error) {
		var (
			at     time.Time
			before string
		)
		err = row.Scan(&v.ID, &v.Table, &v.RowID, &v.Action, &at, &before)
		v.ChangedAt, v.RowBefore = db.FormatTime(at), json.RawMessage(before)
		return v, err
	}, `select id, table_name, row_id, action, changed_at, row_before from row_history
		where table_name <> $1 and lower(cast(row_before as text)) like $2 escape '\' order by id`, settingsTable, part)
}

func deleteRevision(ctx context.Context, q db.Querier, id int64) error {
	return db.Exec(ctx, q, "delete from row_history where id = $1", id)
}
