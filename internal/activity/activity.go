// Package activity reads the log of who did what, and when: sign-ins and refused ones, changes of content, exports, and changes
// of keys, roles and accounts. Database triggers write the changes (migration 31), and the package functions writes the exports.
// The events of accounts stay in their audit log, which the package auth reads.
package activity

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/device"
)

// RetentionDays is for how many days entries are kept, those of the audit log too.
const RetentionDays = 400

// pageSize is the number of entries in an answer.
const pageSize = 50

// Kind is a group of entries, by which an answer can be limited.
type Kind string

// The kinds of entries.
const (
	SignIn  Kind = "sign_in"
	Refused Kind = "refused"
	Change  Kind = "change"
	Export  Kind = "export"
	Key     Kind = "key" // keys, secrets, roles, and what changes how an account signs in
)

// Kinds are all kinds.
var Kinds = []Kind{SignIn, Refused, Change, Export, Key}

// By says who caused an entry.
type By string

// Who can cause an entry.
const (
	ByAccount By = "account" // the account in Entry.Account
	ByDeleted By = "deleted" // an account that no longer exists
	ByKey     By = "key"     // the service key, in an entry of the audit log
	ByCommand By = "command" // a command (atelie owner, atelie keys …), in an entry of the audit log
	ByProgram By = "program" // no account; a change does not record whether it was a key, a command or the program
	ByNobody  By = "nobody"  // a sign-in attempt with an email address or phone number that no account has
)

// Entry is one entry. ID is unique among all entries. Action is a name of the audit log for SignIn, Refused and Key; insert, update
// or delete for Change; the name of a function for Export.
type Entry struct {
	ID      string         `json:"id"`
	At      time.Time      `json:"at"`
	Kind    Kind           `json:"kind"`
	Action  string         `json:"action"`
	By      By             `json:"by"`
	Account string         `json:"account,omitempty"` // email address or phone number of the account that acted
	Subject string         `json:"subject,omitempty"` // the same of the account that was changed, if it is another one
	Table   string         `json:"table,omitempty"`   // of a Change
	RowID   string         `json:"row_id,omitempty"`  // of a row that still exists
	Title   string         `json:"title,omitempty"`   // the row's name, now or before it was deleted; or a setting's key, a role, or the part of an account that was changed
	Number  int            `json:"number,omitempty"`  // how many messages, or the generation of a key
	Method  string         `json:"method,omitempty"`  // how somebody signed in
	IP      string         `json:"ip,omitempty"`
	Device  *device.Device `json:"device,omitempty"`
}

// Position is a place in the order of the entries: newest first, of the same time changes before events of accounts. An answer
// begins after it.
type Position struct {
	At     time.Time
	Change int64  // changes of this time with a smaller id follow
	Event  string // events of this time with a larger id, a UUID, follow
}

// Config holds the functions of other packages that the service calls. All of them are required.
type Config struct {
	// Events returns the events of accounts of the kinds that follow a position, at most limit.
	Events func(ctx context.Context, kinds []Kind, after Position, limit int) ([]Entry, error)
}

// Service answers rpc/get_activity.
type Service struct {
	db  *db.DB
	cfg Config
	now func() time.Time
}

// New returns a service that reads the entries in d.
func New(d *db.DB, cfg Config, now func() time.Time) *Service { return &Service{d, cfg, now} }

// Purge deletes the entries that are older than RetentionDays. Those of the audit log are deleted by its own package.
func (s *Service) Purge(ctx context.Context) error {
	return purge(ctx, s.db, s.now().AddDate(0, 0, -RetentionDays))
}

// RecordExport adds an entry about an export or an erasure. q should be the transaction that allows it. action is the function's
// name and what it did; account is the id of the caller's account, "" for a key. The address in question is not recorded.
func RecordExport(ctx context.Context, q db.Querier, action, account string, now time.Time) error {
	return insertExport(ctx, q, action, account, now)
}
