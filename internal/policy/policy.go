// Package policy says who may do what (READING §2): pure functions that every surface asks, without I/O.
// What is not listed is closed.
package policy

import "atelie/internal/identity"

// Action is what a caller wants to do with rows of a table.
type Action string

// The four actions on rows.
const (
	Select Action = "select"
	Insert Action = "insert"
	Update Action = "update"
	Delete Action = "delete"
)

// Rows limits which rows an allowed action reaches, as data: Column must equal Value. The zero value reaches all.
type Rows struct {
	Column string
	Value  any
}

// All tells that there is no limit.
func (r Rows) All() bool { return r.Column == "" }

// Grant is the answer. A read that is not allowed shows an empty list; a write is refused with code 42501.
type Grant struct {
	Allowed bool
	Rows    Rows
	Columns []string // columns that may be written; nil means all
}

var (
	no     = Grant{}
	all    = Grant{Allowed: true}
	active = Grant{Allowed: true, Rows: Rows{Column: "is_active", Value: true}}
)

// Table decides about rows of a table.
func Table(c identity.Caller, table string, action Action) Grant {
	if c.Role == identity.Service {
		return all
	}
	if !known(c) {
		return no
	}
	admin := c.Role == identity.Authenticated && c.Admin
	switch table {
	case "products":
		if action == Select || admin {
			return all
		}
	case "reviews", "cover_images":
		switch {
		case admin:
			return all
		case action == Select:
			return active
		}
	case "contact_submissions":
		if !admin {
			return no
		}
		switch action {
		case Select, Delete:
			return all
		case Update:
			return Grant{Allowed: true, Columns: []string{"status"}}
		}
	case "user_roles":
		if action == Select && c.Role == identity.Authenticated {
			return Grant{Allowed: true, Rows: Rows{Column: "user_id", Value: c.UserID}}
		}
	}
	return no
}

// UserRole decides about rpc/get_user_role for the given user id.
func UserRole(c identity.Caller, userID string) bool {
	switch c.Role {
	case identity.Service:
		return true
	case identity.Authenticated:
		return c.Admin || (c.UserID != "" && c.UserID == userID)
	}
	return false
}

// ReorderReviews decides about rpc/reorder_reviews.
func ReorderReviews(c identity.Caller) bool { return Table(c, "reviews", Update).Allowed }

// MediaFocus decides who may say which point of a picture must stay in sight.
func MediaFocus(c identity.Caller) bool { return Table(c, "products", Update).Allowed }

// MediaDetails decides who learns how a picture's renditions came about, and what its file weighed.
func MediaDetails(c identity.Caller) bool { return Table(c, "products", Update).Allowed }

// SiteSettings decides about rpc/get_site_settings and rpc/save_site_settings: what visitors may know of the settings comes
// with each page, the rest (where notices go) is the owner's alone.
func SiteSettings(c identity.Caller) bool {
	return c.Role == identity.Service || (c.Role == identity.Authenticated && c.Admin)
}

// FileAction is what a caller wants to do with the objects of a bucket.
type FileAction string

// The actions on objects. Reading by public URL needs no caller at all, as the buckets are public.
const (
	FileRead  FileAction = "read" // through an address that asks for a token
	FileList  FileAction = "list"
	FileWrite FileAction = "write" // upload, move, copy, remove
)

// Buckets are the three public buckets (spec §3).
var Buckets = []string{"product-images", "review-images", "cover-images"}

// Object decides about objects of a bucket.
func Object(c identity.Caller, bucket string, action FileAction) bool {
	if c.Role == identity.Service {
		return true
	}
	if !known(c) {
		return false
	}
	for _, b := range Buckets {
		if b == bucket {
			return action == FileRead || (c.Role == identity.Authenticated && c.Admin)
		}
	}
	return false
}

// ManageBuckets decides about making, changing and deleting buckets; reading their list is for every caller.
func ManageBuckets(c identity.Caller) bool { return c.Role == identity.Service }

// Channel decides who may send and hear messages and presence on live channels. Changes of rows are decided by Table.
func Channel(c identity.Caller) bool {
	return c.Role == identity.Service || (c.Role == identity.Authenticated && c.Admin)
}

// Function decides who may call a server function.
func Function(c identity.Caller, name string) bool {
	switch name {
	case "submit-contact":
		return known(c)
	case "contact-quarantine", "contact-notices": // what surrounds contact_submissions is for who reads those
		return c.Role == identity.Service || (c.Role == identity.Authenticated && c.Admin)
	}
	return false
}

// known tells callers with one of the three roles from all others, who get nothing.
func known(c identity.Caller) bool {
	return c.Role == identity.Anon || c.Role == identity.Authenticated || c.Role == identity.Service
}
