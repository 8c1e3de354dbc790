package tables

import "cmp"

// This file defines Query, the parsed form of a request's query string. parse.go makes a Query, and sql.go makes SQL from it.

// Query is the parsed query string of a request on one table. Names are resolved to columns, and values have the type of their column.
type Query struct {
	Table      *Table
	Select     []Field   // the selected columns: the keys of each JSON object in the response
	Where      Node      // the condition of the rows; nil means all rows
	Order      []Term    // the order of the rows, the most important term first
	Limit      *int64    // nil for none
	Offset     int64     // never negative
	Columns    []*Column // the columns that a write takes from the body (columns=); nil means all that the body has
	OnConflict []*Column // the columns by which an upsert finds existing rows; nil means the primary key
}

// Field is one key of the JSON objects in the response.
type Field struct {
	Name   string  // the key: the alias, or else the name of the column or of the last key of its JSON path
	Column *Column // for a JSON path, a Column that stands for the selected value
	Cast   Kind    // "" for no cast
}

// kind returns the type of the field's value.
func (f Field) kind() Kind { return cmp.Or(f.Cast, f.Column.Kind) }

// Term is one column of the order in which rows are returned. If the request does not say where nulls are, the parser sets NullsFirst as
// PostgREST does: nulls are last in ascending order and first in descending order.
type Term struct {
	Column     *Column
	Desc       bool
	NullsFirst bool
}

// Node is a condition on a row, with SQL's three-valued logic (true, false, null). A nil Node always holds.
type Node interface{ node() }

// The conditions.
type (
	// All holds when each of its parts holds. Without parts it always holds.
	All []Node
	// Any holds when one of its parts holds. Without parts it never holds.
	Any []Node
	// Not negates a condition.
	Not struct{ Node Node }
	// Compare compares a column with a value of its kind.
	Compare struct {
		Column *Column
		Op     Op
		Value  any
	}
	// In holds when the column has one of the values. The values are of the column's kind.
	In struct {
		Column *Column
		Values []any
	}
	// Is tests for null, true, false or unknown.
	Is struct {
		Column *Column
		Truth  Truth
	}
	// Like matches an SQL pattern with % and _. A backslash escapes them. If Fold is true, upper and lower case are equal (see db.Fold).
	Like struct {
		Column  *Column
		Pattern string
		Fold    bool
	}
	// Match searches for a regular expression, in the form that the function convertPattern returns. Fold is as in Like.
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

// The list comparisons, by their names in the URL.
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
