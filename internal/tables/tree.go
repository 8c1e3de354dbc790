package tables

// Query is what a request asks of one table: the tree between the text of the address and SQL. Columns are resolved
// and values have the type of their column.
type Query struct {
	Table      *Table
	Select     []Field
	Where      Node
	Order      []Term
	Limit      *int64
	Offset     int64     // never negative
	Columns    []*Column // columns of a body that count; nil means all that are sent
	OnConflict []*Column // nil means the primary key
}

// Field is one member of the objects that are answered.
type Field struct {
	Name   string
	Column *Column
	Cast   Kind // "" leaves the column's own
}

// kind is the type of what is answered.
func (f Field) kind() Kind {
	if f.Cast != "" {
		return f.Cast
	}
	return f.Column.Kind
}

// Term is one step of an order. NullsFirst is already decided: PostgREST's default is last when ascending, first when
// descending.
type Term struct {
	Column     *Column
	Desc       bool
	NullsFirst bool
}

// Node is a condition on a row, with SQL's three-valued logic on both engines; nil always holds.
type Node interface{ node() }

// The conditions.
type (
	// All holds when each part does; none means always.
	All []Node
	// Any holds when one part does; none means never.
	Any []Node
	// Not turns a condition around.
	Not struct{ Node Node }
	// Compare compares a column with a value of its kind.
	Compare struct {
		Column *Column
		Op     Op
		Value  any
	}
	// In holds when the column has one of the values, which are of its kind.
	In struct {
		Column *Column
		Values []any
	}
	// Is tests for null, true, false or unknown.
	Is struct {
		Column *Column
		Truth  Truth
	}
	// Like matches a pattern with % and _ (backslash escapes); Fold ignores case as db.Fold does.
	Like struct {
		Column  *Column
		Pattern string
		Fold    bool
	}
	// Match finds a regular expression, in the form that pattern gives; Fold as in Like.
	Match struct {
		Column  *Column
		Pattern string
		Fold    bool
	}
	// Lists compares a list column with a list, as sets.
	Lists struct {
		Column *Column
		Op     ListOp
		Items  []string
	}
)

func (All) node()     {}
func (Any) node()     {}
func (Not) node()     {}
func (Compare) node() {}
func (In) node()      {}
func (Is) node()      {}
func (Like) node()    {}
func (Match) node()   {}
func (Lists) node()   {}

// Op compares two values.
type Op string

// The comparisons, written as in SQL.
const (
	Equal          Op = "="
	NotEqual       Op = "<>"
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Distinct       Op = "is distinct from"
)

// ListOp compares two lists.
type ListOp string

// The list comparisons, by their names in the address.
const (
	Contains    ListOp = "cs"
	ContainedBy ListOp = "cd"
	Overlaps    ListOp = "ov"
)

// Truth is the operand of Is.
type Truth string

// The four operands of Is.
const (
	IsNull    Truth = "null"
	IsTrue    Truth = "true"
	IsFalse   Truth = "false"
	IsUnknown Truth = "unknown"
)

// always and never are the two constant conditions.
var (
	always = All{}
	never  = Any{}
)
