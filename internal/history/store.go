package history

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
)

// maxListed is the largest number of revisions in an answer.
const maxListed = 200

// revision is a row of row_history. Actor is the email address of the account that made the change, or null: a key or a command
// made it, or the account is deleted.
type revision struct {
	ID        int64           `json:"id"`
	RowID     string          `json:"row_id"`
	Action    string          `json:"action"`
	Actor     *string         `json:"actor"`
	ChangedAt string          `json:"changed_at"`
	RowBefore json.RawMessage `json:"row_before"`
}

const revisionColumns = `h.id, h.row_id, h.action, u.email, h.changed_at, h.row_before from row_history h left join auth_users u on u.id = h.actor`

func scanRevision(row db.Row) (v revision, err error) {
	var (
		at     time.Time
		before string
	)
	err = row.Scan(&v.ID, &v.RowID, &v.Action, &v.Actor, &at, &before)
	v.ChangedAt, v.RowBefore = db.FormatTime(at), json.RawMessage(before)
	return v, err
}

// listHistory returns the revisions of a row, or of the whole table if id is "".
func listHistory(ctx context.Context, q db.Querier, table, id string) ([]revision, error) {
	return db.Collect(ctx, q, scanRevision, "select "+revisionColumns+" where h.table_name = $1 and ($2 = '' or h.row_id = $2) order by h.id desc limit "+strconv.Itoa(maxListed), table, id)
}

// listDeleted returns the newest deletion of each row of a table that is not there.
func listDeleted(ctx context.Context, q db.Querier, table string) ([]revision, error) {
	return db.Collect(ctx, q, scanRevision, "select "+revisionColumns+` where h.table_name = $1
		and h.id in (select max(id) from row_history where table_name = $1 and action = 'delete' group by row_id)
		and h.row_id not in (select cast(id as text) from `+table+") order by h.id desc limit "+strconv.Itoa(maxListed), table)
}

// listRowsBefore returns the rows of all revisions, as JSON, that contain a text; all of them for "".
func listRowsBefore(ctx context.Context, q db.Querier, part string) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select cast(row_before as text) from row_history where cast(row_before as text) like $1", "%"+part+"%")
}

// purgeRevisions deletes the revisions from before a time, and all but the newest maxRevisions of each row.
func purgeRevisions(ctx context.Context, q db.Querier, before time.Time) error {
	return db.Exec(ctx, q, `delete from row_history where changed_at < $1 or id in (
		select id from (select id, row_number() over (partition by table_name, row_id order by id desc) as place from row_history) as numbered where place > $2)`,
		before, maxRevisions)
}

// addressRevision is a revision that contains an e-mail address, as an export shows it.
type addressRevision struct {
	ID        int64           `json:"id"`
	Table     string          `json:"table"`
	RowID     string          `json:"row_id"`
	Action    string          `json:"action"`
	ChangedAt string          `json:"changed_at"`
	RowBefore json.RawMessage `json:"row_before"`
}

// listRevisionsWith returns the revisions whose row contains an e-mail address, which is in lower case, or a longer one with the
// same part. The settings are left out: their revisions hold the owner's own addresses.
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
