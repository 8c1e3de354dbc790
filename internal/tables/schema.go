package tables

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// This file describes the tables of /rest/v1: their columns, and the rules for the values. A new column needs a migration (package db) and
// an entry in the variable schema.

// Kind is the type of a column or value, by PostgreSQL's name of the type. Casts and error messages use the name.
type Kind string

// The kinds of columns. List is an array of strings.
const (
	UUID      Kind = "uuid"
	Text      Kind = "text"
	Bool      Kind = "boolean"
	Int       Kind = "integer"
	Timestamp Kind = "timestamp with time zone"
	Date      Kind = "date"
	List      Kind = "text[]"
	AltTexts  Kind = "json" // alternative texts of pictures; see alt_texts.go
)

// These kinds are only for computed values: results of casts and JSON paths in select. The computed column media has the kind JSON.
const (
	BigInt         Kind = "bigint"
	Numeric        Kind = "numeric"
	Double         Kind = "double precision"
	PlainTimestamp Kind = "timestamp without time zone"
	Time           Kind = "time without time zone"
	JSON           Kind = "jsonb"
)

// Column is one column of a table and the rules for its values. Columns with Stamp, TrueFrom or OnlyByName are not in select=*: a response
// has such a column only if the request names it.
type Column struct {
	Name    string
	Kind    Kind
	NotNull bool
	Default func(now time.Time) any // returns the default value; if Default is nil, the default is null
	Forced  any                     // the value that is always stored, whatever the caller sends; nil if there is no such value
	Stamp   bool                    // set to the time of each write; what the caller sends is ignored
	// TrueFrom, if not nil, is a column with a time: for is_published it is published_at. The server makes this column true at that time,
	// and ignores what the caller sends.
	TrueFrom   *Column
	OrNull     bool                   // only with TrueFrom: this column is also true while the time in TrueFrom is null
	OnlyByName bool                   // in a response only if the request names it, and not in the row changes that live clients get
	Derived    bool                   // triggers of the database compute it from other rows; what the caller sends is ignored
	OneOf      []string               // the allowed strings; nil allows any
	MinLen     int                    // minimum length of a string in code points
	MaxLen     int                    // maximum length of a string, or of each element of a list, in code points
	Valid      func(text string) bool // reports whether a string is allowed; nil allows any
	MaxItems   int                    // maximum number of elements of a list
	AtLeast    *int64                 // minimum of a number; nil means no limit

	path  *pathTarget // set for the result of a JSON path, which is not a column of the table
	files []*Column   // the columns whose files the computed column media describes; nil in all other columns
}

// isWrittenByServer reports whether the server alone decides the value, and select=* leaves the column out.
func (c *Column) isWrittenByServer() bool { return c.Stamp || c.TrueFrom != nil }

// Table is one table of /rest/v1. Columns that are not listed in it do not exist for callers.
type Table struct {
	Name        string
	Columns     []*Column // all columns, in the order of select=*
	Key         *Column   // the primary key
	Unique      string    // name of what is unique besides Key, such as "slug", for an error text; "" for nothing
	TieBreakers []Term    // the order of rows that the caller's order leaves equal
	Counter     *Column   // the column that gets the table's largest value + 1 in a new row without a value; nil for none
	Position    *Column   // the column that the function reorder_… numbers from 1; nil for none
	OrderKey    *Column   // the text by whose bytes the rows are in the owner's order; nil for none
	NewLast     bool      // a new row is the last one by OrderKey; if false, the first one
	Public      bool      // anonymous callers may read the table

	Dependents []*Dependent // rows of other tables that the database deletes with a row

	byName map[string]*Column
	media  *Column // the computed column, not part of select=*; nil if the table refers to no files
}

// Dependent says which rows the database deletes with a row: those in Table whose Column has the key of the deleted row.
type Dependent struct {
	Table  *Table
	Column *Column
}

// isSlug reports whether a text is the slug of a series: words of lower-case letters and digits, with hyphens between them.
var isSlug = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString

// Limits of values (docs/product.md, rule 42).
const (
	// Code points of a text, or of one entry of a list.
	maxTitle   = 300
	maxLine    = 200
	maxAddress = 2048
	maxTag     = 100
	maxSlug    = 100
	maxMessage = 5000
	maxProse   = 20000
	maxAlt     = 500
	// Entries of a list.
	maxTags    = 100
	maxGallery = 200
)

func newID(time.Time) any          { return uuid.NewString() }
func storedTime(now time.Time) any { return now.UTC().Truncate(time.Microsecond) }
func fixedDefault(v any) func(time.Time) any {
	return func(time.Time) any { return v }
}

func keyColumn() *Column { return &Column{Name: "id", Kind: UUID, NotNull: true, Default: newID} }
func createdColumn() *Column {
	return &Column{Name: "created_at", Kind: Timestamp, NotNull: true, Default: storedTime}
}

// updatedColumn returns the column with the time of the last change. An editor compares the time before saving, to notice changes
// by others. A change of only the order of rows does not set it.
func updatedColumn() *Column {
	return &Column{Name: "updated_at", Kind: Timestamp, Default: storedTime, Stamp: true}
}
func textColumn(name string, n int) *Column { return &Column{Name: name, Kind: Text, MaxLen: n} }

func requiredText(name string, n int) *Column {
	return &Column{Name: name, Kind: Text, NotNull: true, MinLen: 1, MaxLen: n}
}

func boolColumn(name string, preset bool) *Column {
	return &Column{Name: name, Kind: Bool, NotNull: true, Default: fixedDefault(preset)}
}

func listColumn(name string, items, n int) *Column {
	return &Column{Name: name, Kind: List, NotNull: true, Default: fixedDefault([]string{}), MaxItems: items, MaxLen: n}
}

// Times that decide whether visitors see a row. store_scheduled.go stores that such a time has come.
var (
	publishedAt  = &Column{Name: "published_at", Kind: Timestamp, Default: storedTime} // null for a draft, in the future for a scheduled work
	visibleFrom  = &Column{Name: "visible_from", Kind: Timestamp}                      // null for a cover that visitors see from its creation on
	visibleUntil = &Column{Name: "visible_until", Kind: Timestamp}                     // null for a cover that visitors see without an end
)

// schema holds the tables by name. Their columns are in the order of select=*.
var schema = indexTables(
	&Table{Name: "products", Public: true, Columns: []*Column{
		keyColumn(),
		requiredText("title", maxTitle),
		textColumn("description", maxProse),
		{Name: "artwork_type", Kind: Text, OneOf: []string{"digital", "watercolour", "mural", "oil", "acrylic"}},
		textColumn("image_url", maxAddress),
		listColumn("image_gallery", maxGallery, maxAddress),
		listColumn("video_gallery", maxGallery, maxAddress),
		boolColumn("is_featured", false),
		boolColumn("in_stock", true),
		textColumn("dimensions", maxLine),
		textColumn("medium", maxLine),
		{Name: "creation_date", Kind: Date},
		listColumn("tags", maxTags, maxTag),
		boolColumn("is_customizable", false),
		textColumn("seo_meta_title", maxTitle),
		textColumn("seo_meta_desc", maxMessage),
		{Name: "price", Kind: Int, NotNull: true, Default: fixedDefault(int64(0)), Forced: int64(0)}, // works have no prices
		createdColumn(),
		updatedColumn(),
		publishedAt,
		{Name: "is_published", Kind: Bool, NotNull: true, TrueFrom: publishedAt},
		{Name: "position", Kind: Text, NotNull: true, Default: fixedDefault(""), OnlyByName: true, MaxLen: maxOrderKey, Valid: isOrderKeyOrEmpty},
		textColumn("title_pt", maxTitle), // the texts in Portuguese; the columns above have the English ones
		textColumn("description_pt", maxProse),
		textColumn("dimensions_pt", maxLine),
		textColumn("medium_pt", maxLine),
		textColumn("seo_meta_title_pt", maxTitle),
		textColumn("seo_meta_desc_pt", maxMessage),
		{Name: "alt_texts", Kind: AltTexts, MaxItems: 1 + maxGallery, MaxLen: maxAlt},
	}},
	&Table{Name: "reviews", Public: true, Columns: []*Column{
		keyColumn(),
		requiredText("client_name", maxLine),
		textColumn("location", maxLine),
		requiredText("message", maxMessage),
		textColumn("image_url", maxAddress),
		boolColumn("is_active", true),
		{Name: "display_order", Kind: Int},
		createdColumn(),
		updatedColumn(),
		textColumn("message_pt", maxMessage),
		boolColumn("from_commission", false), // a client wrote it about a finished commission
	}},
	&Table{Name: "cover_images", Public: true, Columns: []*Column{
		keyColumn(),
		requiredText("image_url", maxAddress),
		textColumn("title", maxTitle),
		textColumn("description", maxMessage),
		textColumn("media_type", maxLine), // any value but video means image, so all are stored
		textColumn("video_thumbnail_url", maxAddress),
		boolColumn("is_active", true),
		{Name: "display_order", Kind: Int, AtLeast: new(int64(1))},
		createdColumn(),
		updatedColumn(),
		visibleFrom,
		{Name: "has_begun", Kind: Bool, NotNull: true, TrueFrom: visibleFrom, OrNull: true},
		visibleUntil,
		{Name: "has_ended", Kind: Bool, NotNull: true, TrueFrom: visibleUntil},
		textColumn("title_pt", maxTitle),
		textColumn("description_pt", maxMessage),
		textColumn("alt_en", maxAlt),
		textColumn("alt_pt", maxAlt),
	}},
	&Table{Name: "series", Public: true, NewLast: true, Unique: "slug", Columns: []*Column{
		keyColumn(),
		{Name: "slug", Kind: Text, NotNull: true, MinLen: 1, MaxLen: maxSlug, Valid: isSlug},
		requiredText("title", maxTitle),
		textColumn("title_pt", maxTitle),
		textColumn("text", maxProse),
		textColumn("text_pt", maxProse),
		{Name: "cover_id", Kind: UUID},
		{Name: "position", Kind: Text, NotNull: true, Default: fixedDefault(""), MaxLen: maxOrderKey, Valid: isOrderKeyOrEmpty},
		boolColumn("is_published", true),
		createdColumn(),
		updatedColumn(),
		{Name: "types", Kind: List, NotNull: true, Default: fixedDefault([]string{}), MaxItems: maxTags, MaxLen: maxTag, Derived: true},
		{Name: "image_url", Kind: Text, MaxLen: maxAddress, Derived: true},
	}},
	&Table{Name: "series_works", Public: true, NewLast: true, Unique: "pair of series and work", Columns: []*Column{
		keyColumn(),
		{Name: "series_id", Kind: UUID, NotNull: true},
		{Name: "product_id", Kind: UUID, NotNull: true},
		{Name: "position", Kind: Text, NotNull: true, Default: fixedDefault(""), MaxLen: maxOrderKey, Valid: isOrderKeyOrEmpty},
		createdColumn(),
		{Name: "artwork_type", Kind: Text, MaxLen: maxTag, Derived: true},
		{Name: "is_published", Kind: Bool, NotNull: true, Default: fixedDefault(false), Derived: true},
		{Name: "is_visible", Kind: Bool, NotNull: true, Default: fixedDefault(false), Derived: true},
	}},
	&Table{Name: "contact_submissions", Columns: []*Column{
		keyColumn(),
		requiredText("name", 100), // the limits of the contact form
		requiredText("email", 254),
		requiredText("message", maxMessage),
		{Name: "reason", Kind: Text, NotNull: true, Default: fixedDefault("general"), OneOf: []string{"general", "commission", "purchase", "collaboration"}},
		{Name: "status", Kind: Text, NotNull: true, Default: fixedDefault("new"), OneOf: []string{"new", "read", "replied"}},
		createdColumn(),
		{Name: "answered_at", Kind: Timestamp, OnlyByName: true}, // a trigger sets it when the status changes
		{Name: "artwork_id", Kind: UUID, OnlyByName: true},       // the work that a visitor asked about
		{Name: "language", Kind: Text, OnlyByName: true, OneOf: []string{"en", "pt"}},
		{Name: "read_at", Kind: Timestamp, OnlyByName: true}, // a trigger sets it when the status changes
		{Name: "done_at", Kind: Timestamp, OnlyByName: true}, // when the owner marked the conversation as done
		// The last reply, null for none.
		{Name: "last_author", Kind: Text, MaxLen: maxTag, OnlyByName: true, Derived: true},
		{Name: "last_text", Kind: Text, MaxLen: maxLine, OnlyByName: true, Derived: true},
		{Name: "last_at", Kind: Timestamp, OnlyByName: true, Derived: true},
		{Name: "state", Kind: Text, NotNull: true, MaxLen: maxTag, Default: fixedDefault("unread"), OnlyByName: true, Derived: true},
	}},
	&Table{Name: "contact_replies", Columns: []*Column{
		keyColumn(),
		{Name: "message_id", Kind: UUID, NotNull: true},
		{Name: "author", Kind: Text, NotNull: true, OneOf: []string{"visitor", "owner"}},
		requiredText("text", maxMessage),
		createdColumn(),
		{Name: "delivery", Kind: Text, NotNull: true, Default: fixedDefault("none"), OneOf: []string{"none", "queued", "sent", "failed"}},
		{Name: "delivery_at", Kind: Timestamp},
		textColumn("delivery_error", maxTitle),
		{Name: "kind", Kind: Text, NotNull: true, Default: fixedDefault("reply"), OneOf: []string{"reply", "progress", "offer", "answer", "review_request", "review"}},
	}},
	&Table{Name: "commissions", Columns: []*Column{
		{Name: "message_id", Kind: UUID, NotNull: true},
		{Name: "stage", Kind: Text, NotNull: true, OneOf: []string{"enquiry", "offer", "accepted", "in_progress", "finished", "declined"}},
		{Name: "stage_at", Kind: Timestamp, NotNull: true, Default: storedTime},
		{Name: "promised_on", Kind: Date},
	}},
	&Table{Name: "commission_offers", Columns: []*Column{
		{Name: "id", Kind: UUID, NotNull: true}, // of the row of contact_replies that has the text
		{Name: "message_id", Kind: UUID, NotNull: true},
		requiredText("price_text", maxTitle),
		textColumn("deposit_text", maxTitle),
		{Name: "promised_on", Kind: Date},
		{Name: "expires_on", Kind: Date},
		textColumn("terms_hash", maxTag),
		createdColumn(),
		{Name: "withdrawn_at", Kind: Timestamp},
		{Name: "answer", Kind: Text, OneOf: []string{"accepted", "declined"}},
		{Name: "answered_at", Kind: Timestamp},
		textColumn("answered_name", 100), // the limit of the contact form
	}},
	&Table{Name: "commission_reviews", Columns: []*Column{
		{Name: "message_id", Kind: UUID, NotNull: true},
		{Name: "state", Kind: Text, NotNull: true, OneOf: []string{"asked", "waiting", "approved", "declined", "withdrawn"}},
		{Name: "asked_at", Kind: Timestamp, NotNull: true, Default: storedTime},
		{Name: "reply_id", Kind: UUID},
		textColumn("client_name", maxLine), // the limits of reviews
		textColumn("location", maxLine),
		textColumn("message", maxMessage),
		{Name: "written_at", Kind: Timestamp},
		{Name: "decided_at", Kind: Timestamp},
		{Name: "review_id", Kind: UUID}, // of the row of reviews that was made of it
	}},
	&Table{Name: "saved_replies", NewLast: true, Columns: []*Column{
		keyColumn(),
		requiredText("title", maxTitle),
		textColumn("text_en", maxMessage),
		textColumn("text_pt", maxMessage),
		{Name: "position", Kind: Text, NotNull: true, Default: fixedDefault(""), MaxLen: maxOrderKey, Valid: isOrderKeyOrEmpty},
		createdColumn(),
		updatedColumn(),
	}},
	&Table{Name: "user_roles", Columns: []*Column{
		{Name: "user_id", Kind: UUID, NotNull: true},
		requiredText("role", maxTag),
	}},
)

// without returns the table without the named columns, for callers for whom these do not exist.
func (t *Table) without(names []string) *Table {
	if len(names) == 0 {
		return t
	}
	rest := *t
	rest.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return slices.Contains(names, c.Name) })
	rest.byName = maps.Clone(t.byName)
	for _, name := range names {
		delete(rest.byName, name)
	}
	return &rest
}

// scheduledFlag returns the column that stores whether the time in c has come.
func (t *Table) scheduledFlag(c *Column) *Column {
	i := slices.IndexFunc(t.Columns, func(other *Column) bool { return other.TrueFrom == c })
	return t.Columns[i]
}

// indexTables sets the fields of the tables that follow from their columns, such as Key and TieBreakers, and returns the tables by name.
func indexTables(tables ...*Table) map[string]*Table {
	byName := make(map[string]*Table, len(tables))
	for _, t := range tables {
		t.Key = t.Columns[0]
		t.byName = make(map[string]*Column, len(t.Columns))
		for _, c := range t.Columns {
			t.byName[c.Name] = c
		}
		if c := t.byName["created_at"]; c != nil {
			t.TieBreakers = append(t.TieBreakers, Term{Column: c, Desc: true})
		}
		t.TieBreakers = append(t.TieBreakers, Term{Column: t.Key})
		for _, name := range mediaColumns[t.Name] {
			if t.media == nil {
				t.media = &Column{Name: "media", Kind: JSON}
			}
			t.media.files = append(t.media.files, t.byName[name])
		}
		byName[t.Name] = t
	}
	reviews, covers := byName["reviews"], byName["cover_images"]
	reviews.Position, covers.Position = reviews.byName["display_order"], covers.byName["display_order"]
	reviews.Counter = reviews.Position
	for _, name := range []string{"products", "series", "series_works", "saved_replies"} {
		byName[name].OrderKey = byName[name].byName["position"]
	}
	pairs := byName["series_works"]
	byName["products"].Dependents = []*Dependent{{pairs, pairs.byName["product_id"]}}
	byName["series"].Dependents = []*Dependent{{pairs, pairs.byName["series_id"]}}
	replies, commissions, offers := byName["contact_replies"], byName["commissions"], byName["commission_offers"]
	clientReviews := byName["commission_reviews"]
	byName["contact_submissions"].Dependents = []*Dependent{{replies, replies.byName["message_id"]}, {commissions, commissions.Key}, {clientReviews, clientReviews.Key}}
	replies.Dependents = []*Dependent{{offers, offers.Key}}
	return byName
}
