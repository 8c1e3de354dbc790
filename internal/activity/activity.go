// Package activity gives owners (accounts with the role admin) the activity log, which says who did what, and when: sign-ins, changes of
// content, exports, and changes of keys, roles and accounts. The activity log merges two tables:
//   - The activity table. Database triggers (migration 31) and the Record functions of this package write it.
//   - The audit log, with the events of accounts. It belongs to package auth, which reads it for this package.
package activity

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/device"
)

// RetentionDays is the number of days for which the rows of the activity table and of the audit log are kept.
const RetentionDays = 400

// pageSize is the maximum number of entries in a response.
const pageSize = 50

// Kind is a group of entries of the log. A request can ask for the entries of one kind.
type Kind string

// The kinds of entries.
const (
	KindSignIn   Kind = "sign_in"
	KindRefused  Kind = "refused" // refused attempts, such as a sign-in with a wrong password
	KindChange   Kind = "change"
	KindExport   Kind = "export"
	KindSecurity Kind = "key" // changes of API keys, secrets and roles, and of how an account signs in
)

// Kinds lists all kinds.
var Kinds = []Kind{KindSignIn, KindRefused, KindChange, KindExport, KindSecurity}

// ActorKind says who or what took the action of an entry.
type ActorKind string

// The kinds of actors. The audit log distinguishes the program, commands and the service key (the API key with full rights). The table
// activity has one value for all three. An entry of that table gets ByCommand if only commands take its action, and otherwise ByProgram.
const (
	ByAccount ActorKind = "account" // the account in Entry.Account
	ByDeleted ActorKind = "deleted" // an account that no longer exists
	ByKey     ActorKind = "key"     // the service key
	ByCommand ActorKind = "command" // a command, such as atelie owner or atelie copy
	ByProgram ActorKind = "program" // the program; in the activity table it can also be the service key or a command
	ByNobody  ActorKind = "nobody"  // a sign-in attempt with an email address or phone number that no account has
	ByVisitor ActorKind = "visitor" // a visitor who erased a message at its private link
)

// VisitorActor is the id that stands for visitors in the actor column, because visitors have no account. No account has this id.
const VisitorActor = "00000000-0000-0000-0000-000000000000"

// Entry is one entry of the log.
type Entry struct {
	ID   string    `json:"id"` // unique among the entries of both tables
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// Action says what was done, by the kind of the entry:
	//
	//	KindChange    "insert", "update", "delete" or an action of RecordSite
	//	KindExport    the name of a function such as "contact-export", or an action of RecordSite
	//	other kinds   the name of an event
	Action  string         `json:"action"`
	By      ActorKind      `json:"by"`
	Account string         `json:"account,omitempty"` // email address or phone number of the account that acted
	Subject string         `json:"subject,omitempty"` // email address or phone number of the account that was changed, if it is not Account
	Table   string         `json:"table,omitempty"`   // the table of the changed row
	RowID   string         `json:"row_id,omitempty"`  // id of the changed row if it still exists
	Title   string         `json:"title,omitempty"`   // name of the changed row, setting, role or part of an account
	Series  *Series        `json:"series,omitempty"`  // set only if a work was added to a series or removed from it
	Number  int            `json:"number,omitempty"`  // number of changed messages, or generation of an API key
	Method  string         `json:"method,omitempty"`  // way of signing in, such as a password
	IP      string         `json:"ip,omitempty"`
	Device  *device.Device `json:"device,omitempty"`
}

// Series is the series to which a work was added, or from which it was removed. Entry.Title is then the title of the work.
type Series struct {
	ID    string `json:"id,omitempty"` // "" if the series no longer exists
	Title string `json:"title"`        // the current title; if the series no longer exists, its title when the entry was recorded
}

// Position is a place in the order of the entries, from which a response continues. The newest entry comes first. Of entries with
// the same time, those of the activity table come before the events of accounts.
type Position struct {
	At     time.Time
	Change int64  // of the entries of the activity table with the time At, those with a smaller id follow
	Event  string // of the events of accounts with the time At, those with a larger id (a UUID) follow
}

// Config holds the functions of other packages that the service calls. All of them are required.
type Config struct {
	// Events returns at most limit events of accounts that are of the given kinds and follow a position.
	Events func(ctx context.Context, kinds []Kind, after Position, limit int) ([]Entry, error)
}

// Service handles rpc/get_activity.
type Service struct {
	db  *db.DB
	cfg Config
	now func() time.Time
}

// New returns a service that reads the activity table of d.
func New(d *db.DB, cfg Config, now func() time.Time) *Service { return &Service{d, cfg, now} }

// Actions of RecordSite. The comments say what an entry means and what its title is.
const (
	SiteExport        = "site-export"     // an archive of the site was written; no title
	SiteCopy          = "site-copy"       // atelie copy has copied the site; the URL of the copy's database, without a password
	BackupDestination = "backup-place"    // the backup has a new destination; the title is its label
	SiteImport        = "site-import"     // an archive was imported; the URL of the archived site
	SupabaseImport    = "supabase-import" // a Supabase project was imported; no title
	SiteRestore       = "site-restore"    // the site was restored from its backup; the time of the restored state in RFC 3339
)

// Actions of RecordCalendar.
const (
	CalendarMade    = "calendar_made" // also in place of one before
	CalendarRemoved = "calendar_removed"
)

// commandActions are the actions of RecordSite that only commands do.
var commandActions = []string{SiteExport, SiteCopy, SiteImport, SupabaseImport, SiteRestore}
