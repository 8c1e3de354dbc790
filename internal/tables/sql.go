package tables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file makes SQL from a parsed query (see tree.go), for SQLite and PostgreSQL. No other file of the package makes SQL from what a
// caller sends. To prevent SQL injection, the names in the SQL come from schema.go, and a caller's values are passed as arguments. The SQL
// itself contains only two things that a caller sends: the aliases of select, which the function quote escapes, and the indices of JSON
// paths, which are numbers.

// statement is SQL with its arguments, for db.Querier.
type statement struct {
	sql  string
	args []any
}

// builder makes the parts of a statement on one table and collects their arguments.
type builder struct {
	dialect db.Dialect
	table   *Table
	args    []any
}

// newStatement returns a statement of these parts, with the arguments so far.
func (b *builder) newStatement(parts ...string) statement {
	return statement{strings.Join(parts, ""), b.args}
}

// addArg adds an argument and returns its placeholder. Lists are passed as JSON text to both engines.
func (b *builder) addArg(v any) string {
	switch known := v.(type) {
	case []string:
		v = canonicalList(known)
	case altTexts:
		v = known.encode()
	}
	b.args = append(b.args, v)
	return "$" + strconv.Itoa(len(b.args))
}

// addValue adds an argument that is stored in a column or compared with a column. It returns an SQL expression of the column's type.
func (b *builder) addValue(v any) string {
	p := b.addArg(v)
	if _, isList := v.([]string); isList && b.dialect == db.Postgres {
		return "array(select jsonb_array_elements_text(" + p + "::text::jsonb))"
	}
	return p
}

// columnSQL returns the SQL of a column: table.column, because json_each in the same query has columns too. For a computed column and
// for a JSON path it returns the expression that computes the value.
func (b *builder) columnSQL(c *Column) string {
	if c.path != nil {
		return b.jsonPathSQL(c)
	}
	if c.files != nil {
		return b.filesSQL(c)
	}
	return b.table.Name + "." + c.Name
}

// filesSQL returns the SQL of the computed column media as the database returns it: a JSON array of the columns that contain URLs
// of files. Service.describe then replaces the array by descriptions of the files.
func (b *builder) filesSQL(c *Column) string {
	values := make([]string, len(c.files))
	for i, source := range c.files {
		if values[i] = b.columnSQL(source); b.dialect == db.SQLite && source.Kind == List {
			values[i] = "json(" + values[i] + ")"
		}
	}
	return b.dialect.Choose("json_array(", "jsonb_build_array(") + strings.Join(values, ", ") + ")"
}

// selectFiles selects, as JSON texts, the columns with URLs of files of the rows that meet a condition.
func (b *builder) selectFiles(where Node) statement {
	return b.newStatement("select cast(", b.filesSQL(b.table.media), " as text) from ", b.table.Name, b.whereSQL(where))
}

// selectFilesLike is selectFiles for the rows in which these columns contain namePart.
func (b *builder) selectFilesLike(namePart string) statement {
	values := "cast(" + b.filesSQL(b.table.media) + " as text)"
	return b.newStatement("select ", values, " from ", b.table.Name, " where ", values, " like ", b.addArg("%"+namePart+"%"))
}

// jsonPathSQL returns the SQL of the value that a JSON path selects: a text for ->>, JSON for ->. On SQLite the SQL for -> gives a
// plain value, which json_object converts to JSON later.
func (b *builder) jsonPathSQL(c *Column) string {
	of := b.columnSQL(c.path.column)
	if b.dialect == db.SQLite {
		switch {
		case c.path.kind == selectsNothing:
			return "null"
		case c.path.kind == selectsElement && c.path.index < 0:
			return fmt.Sprintf("json_extract(%s, '$[#%d]')", of, c.path.index)
		case c.path.kind == selectsElement:
			return fmt.Sprintf("json_extract(%s, '$[%d]')", of, c.path.index)
		case c.Kind == Text && (c.path.column.Kind == Bool || c.path.column.Kind == Int):
			return castOnSQLite(of, c.path.column.Kind, Text)
		}
		return of // dates and times have the same text in JSON as in the table
	}
	switch {
	case c.path.kind == selectsNothing && c.Kind == JSON:
		return "null::jsonb"
	case c.path.kind == selectsNothing:
		return "null::text"
	case c.path.kind == selectsElement && c.path.index < 0:
		of = fmt.Sprintf("%s[cardinality(%s) + 1 - %d]", of, of, -c.path.index)
	case c.path.kind == selectsElement:
		of = fmt.Sprintf("%s[%d]", of, c.path.index+1)
	}
	switch {
	case c.Kind == JSON:
		return "to_jsonb(" + of + ")"
	case c.path.kind == selectsWhole:
		of = "(to_jsonb(" + of + ")->>0)"
	}
	return "(" + of + ` collate "C")`
}

// sortableSQL returns the SQL of a column in a form that both engines sort and compare in the same way: lists entry by entry,
// and the entries by their bytes.
func (b *builder) sortableSQL(c *Column) string {
	switch {
	case c.Kind != List:
		return b.columnSQL(c)
	case b.dialect == db.SQLite:
		return "list_key(" + b.columnSQL(c) + ")"
	}
	return "(" + b.columnSQL(c) + ` collate "C")`
}

// compareSQL returns the SQL of a comparison. For less and greater, lists are compared in their sortable forms.
func (b *builder) compareSQL(n Compare) string {
	op := " " + string(n.Op) + " "
	if n.Column.Kind != List || n.Op == Equal || n.Op == NotEqual || n.Op == Distinct {
		return b.columnSQL(n.Column) + op + b.addValue(n.Value)
	}
	value := b.addValue(n.Value)
	if b.dialect == db.SQLite {
		value = "list_key(" + value + ")"
	}
	return b.sortableSQL(n.Column) + op + value
}

// inValuesSQL returns the right side of "column in values". All values are in one JSON argument, so that the statement's text
// does not depend on their number and can be prepared once.
func (b *builder) inValuesSQL(kind Kind, values []any) string {
	p := b.addArg(jsonValues(values))
	return b.dialect.Choose("in (select value from json_each("+p+"))", "= any(array(select jsonb_array_elements_text("+p+"::text::jsonb))::"+string(kind)+"[])")
}

// jsonValues writes values so that both engines read them as the column's kind.
func jsonValues(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case bool:
			texts[i] = map[bool]string{false: "0", true: "1"}[v]
		case int64:
			texts[i] = strconv.FormatInt(v, 10)
		case time.Time:
			texts[i] = jsonText(db.FormatTime(v))
		case string:
			texts[i] = jsonText(v)
		default:
			panic(fmt.Sprintf("tables: a list of %T", v)) // the parser makes no other types
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// whereSQL returns the where clause of a condition, or "" if the condition always holds.
func (b *builder) whereSQL(n Node) string {
	if sql := b.conditionSQL(n); sql != "true" {
		return " where " + sql
	}
	return ""
}

func (b *builder) conditionSQL(n Node) string {
	switch n := n.(type) {
	case nil:
		return "true"
	case All:
		return b.joinSQL(n, " and ", "true", "false")
	case Any:
		return b.joinSQL(n, " or ", "false", "true")
	case Not:
		return "not (" + b.conditionSQL(n.Node) + ")"
	case Compare:
		return b.compareSQL(n)
	case In:
		return b.columnSQL(n.Column) + " " + b.inValuesSQL(n.Column.Kind, n.Values)
	case Is:
		if n.Truth == IsUnknown {
			return b.columnSQL(n.Column) + " is null"
		}
		return b.columnSQL(n.Column) + " is " + string(n.Truth)
	case Like:
		column, pattern := b.foldSQL(n.Column, n.Pattern, n.Fold)
		return column + " like " + b.addArg(pattern) + ` escape '\'`
	case Match:
		column, pattern := b.foldSQL(n.Column, n.Pattern, n.Fold)
		if b.dialect == db.SQLite {
			return "matches(" + column + ", " + b.addArg(pattern) + ")"
		}
		return column + " ~ " + b.addArg(pattern)
	case Lists:
		return b.listsSQL(n)
	default:
		panic(fmt.Sprintf("tables: no SQL for %T", n))
	}
}

// foldSQL returns the SQL of a column and a pattern to match it with. With fold both are in lower case: the database converts
// the column, and folded converts the pattern.
func (b *builder) foldSQL(c *Column, pattern string, fold bool) (column, folded string) {
	column = b.columnSQL(c)
	if !fold {
		return column, pattern
	}
	column, pattern = "lower("+column+")", db.Fold(pattern)
	if upper, lower := db.FoldTranslation(pattern); upper != "" {
		column = "translate(" + column + ", " + b.addArg(upper) + ", " + b.addArg(lower) + ")"
	}
	return column, pattern
}

// joinSQL connects conditions by word. It leaves out parts that are neutral ("true" for and), and returns deciding alone if one
// part is deciding ("false" for and).
func (b *builder) joinSQL(parts []Node, word, neutral, deciding string) string {
	var out []string
	before := len(b.args)
	for _, part := range parts {
		switch sql := b.conditionSQL(part); sql {
		case neutral:
		case deciding:
			b.args = b.args[:before]
			return deciding
		default:
			out = append(out, sql)
		}
	}
	switch len(out) {
	case 0:
		return neutral
	case 1:
		return out[0]
	}
	return "(" + strings.Join(out, word) + ")"
}

func (b *builder) listsSQL(n Lists) string {
	column := b.columnSQL(n.Column)
	if b.dialect == db.Postgres {
		sign := map[ListOp]string{Contains: " @> ", ContainedBy: " <@ ", Overlaps: " && "}[n.Op]
		return column + sign + b.addValue(n.Items)
	}
	given, stored := "json_each("+b.addArg(n.Items)+")", "json_each("+column+")"
	switch n.Op {
	case Contains:
		return "not exists (select 1 from " + given + " where value not in (select value from " + stored + "))"
	case ContainedBy:
		return "not exists (select 1 from " + stored + " where value not in (select value from " + given + "))"
	default:
		return "exists (select 1 from " + given + " where value in (select value from " + stored + "))"
	}
}

// orderSQL returns the SQL of the terms of an order. For columns with nulls the SQL contains the position of the nulls, because
// the engines have different defaults.
func (b *builder) orderSQL(terms []Term) []string {
	steps := make([]string, len(terms))
	for i, t := range terms {
		steps[i] = b.sortableSQL(t.Column)
		if t.Desc {
			steps[i] += " desc"
		}
		switch {
		case t.Column.NotNull:
		case t.NullsFirst:
			steps[i] += " nulls first"
		default:
			steps[i] += " nulls last"
		}
	}
	return steps
}

// withTieBreakers appends the table's own order, which decides between rows that terms leave equal. Without it the engines could
// list such rows in different orders.
func withTieBreakers(t *Table, terms []Term) []Term {
	complete := slices.Clone(terms)
	for _, tie := range t.TieBreakers {
		if !slices.ContainsFunc(complete, func(term Term) bool { return term.Column == tie.Column }) {
			complete = append(complete, tie)
		}
	}
	return complete
}

func (b *builder) orderBySQL(terms []Term) string {
	return " order by " + strings.Join(b.orderSQL(withTieBreakers(b.table, terms)), ", ")
}

// limitOffsetSQL returns the clauses limit and offset. SQLite accepts no offset without a limit, so it gets "limit -1".
func (b *builder) limitOffsetSQL(limit *int64, offset int64) string {
	sql := ""
	switch {
	case limit != nil:
		sql = " limit " + b.addArg(*limit)
	case offset > 0 && b.dialect == db.SQLite:
		sql = " limit -1"
	}
	if offset > 0 {
		sql += " offset " + b.addArg(offset)
	}
	return sql
}

// rowsSQL returns a select of one JSON text per row, with the further columns extra. from is the rest of the statement after the
// word from. PostgreSQL makes the text with row_to_json around an inner select.
func (b *builder) rowsSQL(fields []Field, extra, from string) string {
	out := make([]string, len(fields))
	if b.dialect == db.SQLite {
		for i, f := range fields {
			out[i] = quote("'", f.Name) + ", " + memberOnSQLite(b.columnSQL(f.Column), f)
		}
		return "select json_object(" + strings.Join(out, ", ") + ")" + extra + " from " + from
	}
	// The inner select must have a name that no field has: row_to_json would take a field of that name instead.
	row := "row!"
	for slices.ContainsFunc(fields, func(f Field) bool { return f.Name == row }) {
		row += "!"
	}
	row = quote(`"`, row)
	for i, f := range fields {
		out[i] = b.columnSQL(f.Column)
		if f.Column.Kind == AltTexts {
			out[i] += "::json"
		}
		if f.Cast != "" {
			out[i] = "cast(" + out[i] + " as " + string(f.Cast) + ")"
		}
		if f.Name != f.Column.Name || f.Column.path != nil || f.Column.files != nil || f.Column.Kind == AltTexts {
			out[i] += " as " + quote(`"`, f.Name)
		}
	}
	return "select row_to_json(" + row + ")::text" + extra + " from (select " + strings.Join(out, ", ") + " from " + from + ") as " + row
}

// memberOnSQLite returns the SQL of a field's value for json_object. It relies on the columns of lists and booleans being not
// null.
func memberOnSQLite(column string, f Field) string {
	kind := f.Column.Kind
	if f.Column.path != nil && kind == JSON { // it prints as the value from which it was taken
		kind = Text
		if f.Column.path.kind == selectsWhole {
			kind = f.Column.path.column.Kind
		}
		switch {
		case f.Cast == Text && (kind == Bool || kind == Int):
			return castOnSQLite(column, kind, Text)
		case f.Cast == Text: // || '' makes a text of the JSON that json_quote returns
			return "iif(" + column + " is null, null, json_quote(" + column + ") || '')"
		}
	} else if f.Cast != "" {
		column, kind = castOnSQLite(column, kind, f.Cast), f.Cast
	}
	switch {
	case kind == List || kind == AltTexts:
		return "json(" + column + ")"
	case kind == Bool && f.Cast != "" && f.Column.Kind == Int: // may be null
		return "json(case when " + column + " is null then null when " + column + " then 'true' else 'false' end)"
	case kind == Bool:
		return "json(iif(" + column + ", 'true', 'false'))"
	}
	return column
}

// castsOnSQLite has SQL expressions for those casts (cast.go) that change the value which SQLite stores; ? is the value.
// SQLite stores dates and times as texts.
var castsOnSQLite = map[[2]Kind]string{
	{Bool, Text}:                "iif(?, 'true', 'false')",
	{Int, Text}:                 "cast(? as text)",
	{List, Text}:                "list_text(?)",
	{Timestamp, Text}:           "replace(substr(?, 1, length(?) - 3), 'T', ' ')", // 2026-03-12 09:30:00.25+00
	{Timestamp, PlainTimestamp}: "substr(?, 1, length(?) - 6)",
	{Timestamp, Date}:           "substr(?, 1, 10)",
	{Timestamp, Time}:           "substr(?, 12, length(?) - 17)",
	{Date, PlainTimestamp}:      "? || 'T00:00:00'",
	{Date, Timestamp}:           "? || 'T00:00:00+00:00'",
}

// castOnSQLite returns the SQL of a cast that cast.go allows.
func castOnSQLite(column string, from, to Kind) string {
	if cast, changes := castsOnSQLite[[2]Kind{from, to}]; changes {
		return strings.ReplaceAll(cast, "?", column)
	}
	return column
}

func quote(mark, name string) string { return mark + strings.ReplaceAll(name, mark, mark+mark) + mark }

// renderRead selects the rows of a query as JSON texts. With withTotal, each row also has the number of all rows that meet the
// condition. The number is read in the same statement, so that both are of the same moment.
func renderRead(d db.Dialect, q *Query, limit, offset int64, withTotal bool) statement {
	b := &builder{dialect: d, table: q.Table}
	extra := ""
	if withTotal {
		extra = ", (select count(*) from " + q.Table.Name + b.whereSQL(q.Where) + ")"
	}
	return b.newStatement(b.rowsSQL(q.Select, extra, q.Table.Name+b.whereSQL(q.Where)+b.orderBySQL(q.Order)+b.limitOffsetSQL(&limit, offset)))
}

// renderValue selects one column of the rows that meet a condition.
func renderValue(d db.Dialect, t *Table, c *Column, where Node) statement {
	b := &builder{dialect: d, table: t}
	return b.newStatement("select ", b.columnSQL(c), " from ", t.Name, b.whereSQL(where))
}

// renderCount counts the rows that meet a condition.
func renderCount(d db.Dialect, t *Table, where Node) statement {
	b := &builder{dialect: d, table: t}
	return b.newStatement("select count(*) from ", t.Name, b.whereSQL(where))
}

// renderKeys selects the keys of a query's rows in its order. On PostgreSQL it locks the rows until the transaction ends;
// SQLite has only one writer at a time.
func renderKeys(d db.Dialect, q *Query) statement {
	st := renderColumn(d, q, q.Table.Key)
	st.sql += d.Choose("", " for update")
	return st
}

// renderKeyed selects the visible rows with the given keys as JSON texts, sorted by order and then by their position in keys.
func renderKeyed(d db.Dialect, t *Table, fields []Field, keys []string, order []Term, visible Node) statement {
	b := &builder{dialect: d, table: t}
	given, value, position := b.keySourceSQL(keys)
	and := ""
	if sql := b.conditionSQL(visible); sql != "true" {
		and = " and " + sql
	}
	return b.newStatement(b.rowsSQL(fields, "", t.Name+", "+given+" where "+b.columnSQL(t.Key)+" = "+value+and+
		" order by "+strings.Join(append(b.orderSQL(order), position), ", ")))
}

// keySourceSQL returns the SQL of a row source with the keys and their positions from 1, and the expressions for both. One key is not
// passed as a list: PostgreSQL expects a hundred keys of any list, and would read the whole table for each new row.
func (b *builder) keySourceSQL(keys []string) (source, value, position string) {
	if len(keys) == 1 {
		p := b.addArg(keys[0])
		source = b.dialect.Choose("(select "+p+" as value, 1 as position) as given", "(values ("+p+"::text::uuid, 1)) as given(value, position)")
		return source, "given.value", "given.position"
	}
	p := b.addArg(keys)
	if b.dialect == db.Postgres {
		return "jsonb_array_elements_text(" + p + "::text::jsonb) with ordinality as given(value, position)", "given.value::uuid", "given.position"
	}
	return "json_each(" + p + ") as given", "given.value", "given.key + 1"
}

// upsert defines what an insert does with a row whose key exists already.
type upsert struct {
	merge []*Column // columns to overwrite; if empty, the existing row does not change
	where Node      // condition of the existing rows that may be overwritten
}

// renderInsert inserts complete rows, which encodeRows has encoded, and returns the keys of the rows that were written. A nil
// u means that an existing key is an error.
func renderInsert(d db.Dialect, t *Table, rows string, u *upsert) statement {
	b := &builder{dialect: d, table: t}
	names, values := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i], values[i] = c.Name, b.fromRowSQL(c)
	}
	p := b.addArg(rows)
	from := d.Choose("json_each("+p+") where true", // without a where, "on conflict" would read as a join
		"jsonb_array_elements("+p+"::text::jsonb) with ordinality as given(value, position) order by position")
	conflict := ""
	switch {
	case u == nil:
	case len(u.merge) == 0:
		conflict = " on conflict (" + t.Key.Name + ") do nothing"
	default:
		set := make([]string, len(u.merge))
		for i, c := range u.merge {
			set[i] = c.Name + " = excluded." + c.Name
		}
		conflict = " on conflict (" + t.Key.Name + ") do update set " + strings.Join(set, ", ") + b.whereSQL(u.where)
	}
	return b.newStatement("insert into ", t.Name, " (", strings.Join(names, ", "), ") select ", strings.Join(values, ", "),
		" from ", from, conflict, " returning ", t.Key.Name)
}

// renderInsertRow inserts one complete row. A row whose key exists already is an error.
func renderInsertRow(d db.Dialect, t *Table, r row) statement {
	b := &builder{dialect: d, table: t}
	names, values := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i], values[i] = c.Name, b.addValue(r[c])
	}
	return b.newStatement("insert into ", t.Name, " (", strings.Join(names, ", "), ") values (", strings.Join(values, ", "), ")")
}

// fromRowSQL returns the SQL that reads a column from a row in the JSON of encodeRows, in which a list is a JSON text.
func (b *builder) fromRowSQL(c *Column) string {
	if b.dialect == db.SQLite {
		return "json_extract(value, '$." + c.Name + "')"
	}
	text := "value ->> '" + c.Name + "'"
	switch c.Kind {
	case Text, AltTexts:
		return text
	case List:
		return "array(select jsonb_array_elements_text((" + text + ")::jsonb))"
	}
	return "(" + text + ")::" + string(c.Kind)
}

// encodeRows writes complete rows as the JSON array that renderInsert takes.
func encodeRows(t *Table, rows []row) (string, error) {
	out := make([]map[string]any, len(rows))
	for i, r := range rows {
		out[i] = make(map[string]any, len(t.Columns))
		for _, c := range t.Columns {
			switch v := r[c].(type) {
			case time.Time:
				out[i][c.Name] = db.FormatTime(v)
			case []string:
				out[i][c.Name] = canonicalList(v)
			case altTexts:
				out[i][c.Name] = v.encode()
			default:
				out[i][c.Name] = v
			}
		}
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// renderUpdate sets the columns of r in all rows of a query and returns the keys of these rows.
func renderUpdate(d db.Dialect, q *Query, r row) statement {
	t := q.Table
	b := &builder{dialect: d, table: t}
	var set []string
	for _, c := range t.Columns {
		if v, ok := r[c]; ok {
			set = append(set, c.Name+" = "+b.addValue(v))
		}
	}
	where := b.whereSQL(q.Where)
	if q.Limit != nil || q.Offset > 0 {
		where = " where " + b.columnSQL(t.Key) + " in (select " + b.columnSQL(t.Key) + " from " + t.Name + where + b.orderBySQL(q.Order) + b.limitOffsetSQL(q.Limit, q.Offset) + ")"
	}
	return b.newStatement("update ", t.Name, " set ", strings.Join(set, ", "), where, " returning ", t.Key.Name)
}

// renderDelete deletes the rows with the given keys.
func renderDelete(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	return b.newStatement("delete from ", t.Name, b.whereSQL(hasKey(t, keys)))
}

// hasKey returns the condition that a row has one of the keys.
func hasKey(t *Table, keys []string) Node {
	return In{t.Key, asValues(keys)}
}

func asValues(keys []string) []any {
	values := make([]any, len(keys))
	for i, k := range keys {
		values[i] = k
	}
	return values
}

// renderLast reads the largest value of a table's counter, or 0 if there is none.
func renderLast(t *Table) statement {
	return statement{sql: "select coalesce(max(" + t.Counter.Name + "), 0) from " + t.Name}
}

// renderRenumber numbers the rows with the given keys from 1, in the order of keys, and returns the keys of the rows whose
// number has changed.
func renderRenumber(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	given, value, position := b.keySourceSQL(keys)
	return b.newStatement("update ", t.Name, " set ", t.Position.Name, " = ", position, " from ", given,
		" where ", b.columnSQL(t.Key), " = ", value, " and ", b.columnSQL(t.Position), " is distinct from ", position, " returning ", t.Key.Name)
}

// renderColumn reads one column of the rows of a query, in its order.
func renderColumn(d db.Dialect, q *Query, c *Column) statement {
	b := &builder{dialect: d, table: q.Table}
	return b.newStatement("select ", b.columnSQL(c), " from ", q.Table.Name, b.whereSQL(q.Where), b.orderBySQL(q.Order), b.limitOffsetSQL(q.Limit, q.Offset))
}

// renderOrderKeys gives the rows with the given keys order keys that come after all keys of new rows, in the order of keys.
func renderOrderKeys(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	given, value, position := b.keySourceSQL(keys)
	number := d.Choose("printf('%08d', "+position+")", "lpad(("+position+")::text, 8, '0')")
	return b.newStatement("update ", t.Name, " set ", t.OrderKey.Name, " = 'r' || ", number, " || 'i' from ", given, " where ", b.columnSQL(t.Key), " = ", value)
}
