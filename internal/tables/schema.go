package tables

import (
	"time"

	"github.com/google/uuid"
)

// Kind is the type of a column, by PostgreSQL's name for it: error texts and casts use it as it is.
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

// The kinds that no column has, but a cast or a JSON path of select can give.
const (
	BigInt         Kind = "bigint"
	Numeric        Kind = "numeric"
	Double         Kind = "double precision"
	PlainTimestamp Kind = "timestamp without time zone"
	Time           Kind = "time without time zone"
	JSON           Kind = "jsonb"
)

// Column is one field of a table (spec §3) and the rules for what may be stored in it.
type Column struct {
	Name     string
	Kind     Kind
	NotNull  bool
	Default  func(now time.Time) any // what the server fills in; nil means null
	Forced   any                     // stored whatever is sent
	Stamp    bool                    // the time of the last write, whatever is sent; not one of select=* (spec §3 names those)
	OneOf    []string                // the only allowed texts
	MinLen   int                     // of a text, in code points
	MaxLen   int                     // of a text or of each entry of a list, in code points
	MaxItems int                     // entries of a list
	AtLeast  *int64                  // smallest allowed number

	part  *part     // set when this is what a JSON path finds in a column, and no column of the table
	files []*Column // set when this is computed: what is known of the files whose addresses these columns hold
}

// Table is one exposed table. What is not listed in it does not exist for callers.
type Table struct {
	Name    string
	Columns []*Column // in the order of select=*
	Key     *Column   // the primary key, the only unique one
	Ties    []Term    // order among rows that the caller's order leaves equal (READING §3.13)
	Counter *Column   // gets the largest value + 1 when a new row has none (READING §3.13)
	Public  bool      // visitors see its rows, so that changes are announced

	byName map[string]*Column
	media  *Column // the computed column of tables that show files; not one of select=*
}

// Limits of texts in code points; READING §3.27 asks for caps without naming them. A cap on a list holds per entry.
const (
	maxTitle   = 300
	maxLine    = 200
	maxAddress = 2048
	maxTag     = 100
	maxMessage = 5000
	maxProse   = 20000
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

// updated tells who saves whether the row is still the one they saw; a change of the order alone does not count.
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

// schema holds the five tables of spec §3 in the order of their columns.
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
		{Name: "price", Kind: Int, NotNull: true, Default: value(int64(0)), Forced: int64(0)}, // spec §9: always 0
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
		text("media_type", maxLine), // any value but video is treated as image (spec §3), so all are kept
		text("video_thumbnail_url", maxAddress),
		boolean("is_active", true),
		{Name: "display_order", Kind: Int, AtLeast: &one}, // spec §5
		created(),
		updated(),
	}},
	&Table{Name: "contact_submissions", Columns: []*Column{
		key(),
		required("name", 100), // the limits of the contact form (READING §3.28)
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

// index completes the tables: key, order of equal rows, counter, and the columns by name.
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
	reviews := byName["reviews"]
	reviews.Counter = reviews.byName["display_order"]
	return byName
}
