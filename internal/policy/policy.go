// Package policy decides what each caller may do (docs/product.md, Roles and keys). Its functions depend only on their arguments.
// Everything that they do not explicitly allow is forbidden.
package policy

import (
	"slices"

	"atelie/internal/identity"
)

// Action is what a caller wants to do with rows of a table.
type Action string

// The four actions on rows.
const (
	Select Action = "select"
	Insert Action = "insert"
	Update Action = "update"
	Delete Action = "delete"
)

// Condition is a condition on one column of a row: either the column must equal Value, or it contains a time that must meet When. A
// Condition is data and not a function, so that package tables can translate it to SQL.
type Condition struct {
	Column string
	Value  any  // nil if When is set
	When   When // "" if Value is set
}

// When is a condition on a time relative to now.
type When string

// The conditions on times.
const (
	Come       When = "come"         // the time is now or in the past
	ComeOrNull When = "come or null" // the time is now or in the past, or null (no beginning is set)
	NotCome    When = "not come"     // the time is in the future, or null (no end is set)
)

// Rows limits an allowed action to the rows that meet all conditions.
type Rows []Condition

// All reports whether the action is allowed on all rows.
func (r Rows) All() bool { return len(r) == 0 }

// Grant is the decision about an action on a table.
type Grant struct {
	Allowed bool     // if false, a read returns an empty list and a write fails with the code 42501 (insufficient privilege)
	Rows    Rows     // rows that the action may read or change
	Columns []string // columns that may be written; nil means all
	Hidden  []string // columns that do not exist for the caller; only in grants of Select
}

// Grants that Table returns. A pair is a row of series_works: one work in one series.
var (
	denied        = Grant{}
	allRows       = Grant{Allowed: true}
	activeRows    = Grant{Allowed: true, Rows: Rows{{Column: "is_active", Value: true}}}
	publishedRows = Grant{Allowed: true, Rows: Rows{{Column: "published_at", When: Come}}}
	// Covers are the pictures and videos at the top of the home page.
	shownCovers = Grant{Allowed: true, Rows: Rows{
		{Column: "is_active", Value: true}, {Column: "visible_from", When: ComeOrNull}, {Column: "visible_until", When: NotCome},
	}}
	// Visitors must not read cover_id, because the chosen cover of a series may be a work that is not published.
	openSeries   = Grant{Allowed: true, Rows: Rows{{Column: "is_published", Value: true}}, Hidden: []string{"cover_id"}}
	visiblePairs = Grant{Allowed: true, Rows: Rows{{Column: "is_visible", Value: true}}} // pairs whose work and series are both published
)

// visitorGrants are the grants of Select for callers who are not administrators, by table.
var visitorGrants = map[string]Grant{
	"products": publishedRows, "reviews": activeRows, "series": openSeries, "series_works": visiblePairs, "cover_images": shownCovers,
}

// Table decides what the caller may do with rows of a table. A new table needs a case here. Without a case, only the service key may use it.
func Table(c identity.Caller, table string, action Action) Grant {
	if c.Role == identity.Service {
		return allRows
	}
	if !hasKnownRole(c) {
		return denied
	}
	admin := isAdmin(c)
	switch table {
	case "products", "reviews", "series", "series_works", "cover_images", "saved_replies":
		switch {
		case admin:
			return allRows
		case action == Select:
			return visitorGrants[table]
		}
	case "contact_submissions":
		if !admin {
			return denied
		}
		switch action {
		case Select, Delete:
			return allRows
		case Update:
			return Grant{Allowed: true, Columns: []string{"status"}}
		}
	case "contact_replies", "commissions", "commission_offers", "commission_reviews": // written by functions alone, which also send them
		if admin && action == Select {
			return allRows
		}
	case "user_roles":
		if action == Select && c.Role == identity.Authenticated {
			return Grant{Allowed: true, Rows: Rows{{Column: "user_id", Value: c.UserID}}}
		}
	}
	return denied
}

// UserRole reports whether the caller may read the role of userID with rpc/get_user_role.
func UserRole(c identity.Caller, userID string) bool {
	switch c.Role {
	case identity.Service:
		return true
	case identity.Authenticated:
		return c.Admin || (c.UserID != "" && c.UserID == userID)
	}
	return false
}

// MediaFocus reports whether the caller may set the focus point of a picture.
func MediaFocus(c identity.Caller) bool { return Table(c, "products", Update).Allowed }

// MediaDetails reports whether the caller may read how a picture's renditions were made, and the size of its file.
func MediaDetails(c identity.Caller) bool { return Table(c, "products", Update).Allowed }

// SiteSettings reports whether the caller may use rpc/get_site_settings and rpc/save_site_settings. Visitors need neither:
// the public part of the settings comes with each page. The rest, such as the recipients of notices, is only for the owner.
func SiteSettings(c identity.Caller) bool {
	return c.Role == identity.Service || isAdmin(c)
}

// History reports whether the caller may read what rows and settings were before, and bring removed files back with
// rpc/restore_files. Revisions contain hidden rows and the private settings.
func History(c identity.Caller) bool { return SiteSettings(c) }

// Activity reports whether the caller may read the activity log with rpc/get_activity: who did what, and sign-ins with their IP addresses.
func Activity(c identity.Caller) bool { return SiteSettings(c) }

// SiteHealth reports whether the caller may read the state of the backups, the disk, the mails, the certificate and the version,
// which names places and causes of failures.
func SiteHealth(c identity.Caller) bool { return SiteSettings(c) }

// MissingTexts reports whether the caller may read how many rows lack a text in one language: hidden rows count too.
func MissingTexts(c identity.Caller) bool { return SiteSettings(c) }

// FileAction is what a caller wants to do with the objects of a bucket.
type FileAction string

// The actions on objects. Reading by public URL needs no caller at all, as the buckets are public.
const (
	FileRead  FileAction = "read" // through a URL that needs a token
	FileList  FileAction = "list"
	FileWrite FileAction = "write" // upload, move, copy, remove
	FileSign  FileAction = "sign"  // make a URL with which anyone can read
)

// Buckets are the three public buckets, with the site's pictures and videos.
var Buckets = []string{"product-images", "review-images", "cover-images"}

// ConversationBucket is the private bucket with the pictures of conversations. A visitor sees the pictures of a conversation at its private
// link. The program writes the pictures, as part of a reply.
const ConversationBucket = "conversation-pictures"

// Object reports whether the caller may do this with the objects of a bucket.
func Object(c identity.Caller, bucket string, action FileAction) bool {
	if c.Role == identity.Service {
		return true
	}
	if bucket == ConversationBucket {
		return isAdmin(c) && (action == FileRead || action == FileList)
	}
	return hasKnownRole(c) && slices.Contains(Buckets, bucket) && (action == FileRead || action == FileSign || isAdmin(c))
}

// Bucket reports whether the caller may see that a bucket exists: every caller for a public bucket, and otherwise the
// callers that may read its objects.
func Bucket(c identity.Caller, bucket string, public bool) bool {
	return public && hasKnownRole(c) || Object(c, bucket, FileRead)
}

// PrivateBuckets reports whether the caller may list all buckets, private ones included.
func PrivateBuckets(c identity.Caller) bool { return c.Role == identity.Service }

// ManageBuckets reports whether the caller may make, change and delete buckets.
func ManageBuckets(c identity.Caller) bool { return c.Role == identity.Service }

// Channel reports whether the caller may send and receive messages and presence on live channels. Table decides about
// row changes.
func Channel(c identity.Caller) bool {
	return c.Role == identity.Service || isAdmin(c)
}

// Function reports whether the caller may call a server function.
func Function(c identity.Caller, name string) bool {
	switch name {
	case "submit-contact":
		return hasKnownRole(c)
	case "contact-quarantine", "contact-notices", "contact-reply", "commission", "commission-review", "commission-board", "calendar-feed",
		"contact-export", "address-data", "mail-test": // allowed for the callers that may read contact_submissions
		return c.Role == identity.Service || isAdmin(c)
	}
	return false
}

// hasKnownRole reports whether the caller has one of the three roles. All other callers, such as the zero Caller, must not do anything.
func hasKnownRole(c identity.Caller) bool {
	return c.Role == identity.Anon || c.Role == identity.Authenticated || c.Role == identity.Service
}

func isAdmin(c identity.Caller) bool { return c.Role == identity.Authenticated && c.Admin }
