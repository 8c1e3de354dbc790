package tables

import (
	"time"

	"github.com/google/uuid"
)

// Kind is the type of a column or value. Its text is PostgreSQL's name of the type, which error texts and casts in SQL use.
type Kind string

// The kinds of columns. A List is a list of texts.
const (
	UUID      Kind = "uuid"
	Text      Kind = "text"
	Bool      Kind = "boolean"
	Int       Kind = "integer"
	Timestamp Kind = "timestamp with time zone"
	Date      Kind = "date"
	List      Kind = "text[]"
)

// The kinds that no column has. They result from casts and JSON paths in select.
const (
	BigInt         Kind = "bigint"
	Numeric        Kind = "numeric"
	Double         Kind = "double precision"
	PlainTimestamp Kind = "timestamp without time zone"
	Time           Kind = "time without time zone"
	JSON           Kind = "jsonb"
)

// Column is one field of a table and the rules for its values.
type Column struct {
	Name     string
	Kind     Kind
	NotNull  bool
	Default  func(now time.Time) any // returns the default value; a nil function means null
	Forced   any                     // the value that is always stored, whatever the caller sends; nil for none
	Stamp    bool                    // always stores the time of the write, whatever the caller sends; not part of select=*
	OneOf    []string                // the allowed texts; nil allows any
	MinLen   int                     // least length of a text in code points
	MaxLen   int                     // largest length of a text, or of each entry of a list, in code points
	MaxItems int                     // largest number of entries of a list
	AtLeast  *int64                  // smallest allowed number; nil for no limit

	path  *pathTarget // set for the result of a JSON path, which is not a column of the table
	files []*Column   // for the computed column media: the columns whose files it describes; else nil
}

// Table is one table of /rest/v1. Columns that are not listed in it do not exist for callers.
type Table struct {
	Name     string
	Columns  []*Column // in the order of select=*
	Key      *Column   // the primary key, the only unique one
	Ties     []Term    // the order among rows that are equal in the caller's order
	Counter  *Column   // gets its largest value + 1 in a new row without a value; nil for none
	Position *Column   // the column that reorder numbers from 1; nil if the owner cannot order the rows
	Public   bool      // anonymous callers may read it

	byName map[string]*Column
	media  *Column // the computed column, not part of select=*; nil if the table refers to no files
}

// Limits of values (docs/product.md, rule 42).
const (
	// Code points of a text, or of one entry of a list.
	maxTitle   = 300
	maxLine    = 200
	maxAddress = 2048
	maxTag     = 100
	maxMessage = 5000
	maxProse   = 20000
	// Entries of a list.
	maxTags    = 100
	maxGallery = 200
)

func newID(time.Time) any     { return uuid.NewString() }
func clock(now time.Time) any { return now.UTC().Truncate(time.Microsecond) }
func value(v any) func(time.Time) any {
	return func(time.Time) any { return v }
}

func key() *Column { return &Column{Name: "id", Kind: UUID, NotNull: true, Default: newID} }
func created() *Column {
	return &Column{Name: "created_at", Kind: Timestamp, NotNull: true, Default: clock}
}

// updated is the time of the last change. An editor compares it before saving, to notice changes by others; a change of the
// order alone does not set it.
func updated() *Column {
	return &Column{Name: "updated_at", Kind: Timestamp, Default: clock, Stamp: true}
}
func text(name string, n int) *Column { return &Column{Name: name, Kind: Text, MaxLen: n} }

func required(name string, n int) *Column {
	return &Column{Name: name, Kind: Text, NotNull: true, MinLen: 1, MaxLen: n}
}

func boolean(name string, preset bool) *Column {
	return &Column{Name: name, Kind: Bool, NotNull: true, Default: value(preset)}
}

func list(name string, items, n int) *Column {
	return &Column{Name: name, Kind: List, NotNull: true, Default: value([]string{}), MaxItems: items, MaxLen: n}
}

func oneOf(name string, values ...string) *Column {
	return &Column{Name: name, Kind: Text, OneOf: values}
}

var one = int64(1)

// schema holds the five tables by name. Their columns are in the order of select=*.
var schema = index(
	&Table{Name: "products", Public: true, Columns: []*Column{
		key(),
		required("title", maxTitle),
		text("description", maxProse),
		oneOf("artwork_type", "digital", "watercolour", "mural", "oil", "acrylic"),
		text("image_url", maxAddress),
		list("image_gallery", maxGallery, maxAddress),
		list("video_gallery", maxGallery, maxAddress),
		boolean("is_featured", false),
		boolean("in_stock", true),
		text("dimensions", maxLine),
		text("medium", maxLine),
		{Name: "creation_date", Kind: Date},
		list("tags", maxTags, maxTag),
		boolean("is_customizable", false),
		text("seo_meta_title", maxTitle),
		text("seo_meta_desc", maxMessage),
		{Name: "price", Kind: Int, NotNull: true, Default: value(int64(0)), Forced: int64(0)}, // works have no prices
		created(),
		updated(),
	}},
	&Table{Name: "reviews", Public: true, Columns: []*Column{
		key(),
		required("client_name", maxLine),
		text("location", maxLine),
		required("message", maxMessage),
		text("image_url", maxAddress),
		boolean("is_active", true),
		{Name: "display_order", Kind: Int},
		created(),
		updated(),
	}},
	&Table{Name: "cover_images", Public: true, Columns: []*Column{
		key(),
		required("image_url", maxAddress),
		text("title", maxTitle),
		text("description", maxMessage),
		text("media_type", maxLine), // any value but video means image, so all are stored
		text("video_thumbnail_url", maxAddress),
		boolean("is_active", true),
		{Name: "display_order", Kind: Int, AtLeast: &one},
		created(),
		updated(),
	}},
	&Table{Name: "contact_submissions", Columns: []*Column{
		key(),
		required("name", 100), // the limits of the contact form
		required("email", 254),
		required("message", maxMessage),
		{Name: "reason", Kind: Text, NotNull: true, Default: value("general"), OneOf: []string{"general", "commission", "purchase", "collaboration"}},
		{Name: "status", Kind: Text, NotNull: true, Default: value("new"), OneOf: []string{"new", "read", "replied"}},
		created(),
	}},
	&Table{Name: "user_roles", Columns: []*Column{
		{Name: "user_id", Kind: UUID, NotNull: true},
		required("role", maxTag),
	}},
)

// index sets the fields of the tables that follow from their columns, such as Key and Ties, and returns the tables by name.
func index(tables ...*Table) map[string]*Table {
	byName := make(map[string]*Table, len(tables))
	for _, t := range tables {
		t.Key = t.Columns[0]
		t.byName = make(map[string]*Column, len(t.Columns))
		for _, c := range t.Columns {
			t.byName[c.Name] = c
		}
		if c := t.byName["created_at"]; c != nil {
			t.Ties = append(t.Ties, Term{Column: c, Desc: true})
		}
		t.Ties = append(t.Ties, Term{Column: t.Key})
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
	return byName
}
