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

// This file alone makes SQL of the tree, for both engines. Names in a statement come from schema.go; every value of a
// caller is an argument. The exceptions are names of select, which quote encloses, and the numbers of JSON paths.

// statement is SQL with its arguments, for db.Querier.
type statement struct {
	sql  string
	args []any
}

// builder gives pieces of a statement on one table and collects their arguments.
type builder struct {
	dialect db.Dialect
	table   *Table
	args    []any
}

func (b *builder) statement(parts ...string) statement {
	return statement{strings.Join(parts, ""), b.args}
}

// arg adds a value and gives its placeholder. Lists travel as JSON text to both engines.
func (b *builder) arg(v any) string {
	if items, ok := v.([]string); ok {
		v = canonicalList(items)
	}
	b.args = append(b.args, v)
	return "$" + strconv.Itoa(len(b.args))
}

// value is arg for a value that is stored in or compared with a column.
func (b *builder) value(v any) string {
	p := b.arg(v)
	if _, isList := v.([]string); isList && b.dialect == db.Postgres {
		return "array(select jsonb_array_elements_text(" + p + "::text::jsonb))"
	}
	return p
}

// column names a column with its table, because json_each has columns of its own; or it writes what a JSON path finds.
func (b *builder) column(c *Column) string {
	if c.part != nil {
		return b.found(c)
	}
	if c.files != nil {
		return b.files(c)
	}
	return b.table.Name + "." + c.Name
}

// files writes the addresses that a computed column tells of: a JSON array of the columns' values.
func (b *builder) files(c *Column) string {
	values := make([]string, len(c.files))
	for i, of := range c.files {
		if values[i] = b.column(of); b.dialect == db.SQLite && of.Kind == List {
			values[i] = "json(" + values[i] + ")"
		}
	}
	array := "json_array("
	if b.dialect == db.Postgres {
		array = "jsonb_build_array("
	}
	return array + strings.Join(values, ", ") + ")"
}

// found writes what a JSON path finds: a text for ->>, JSON for -> (on SQLite the value that JSON is made of).
func (b *builder) found(c *Column) string {
	of := b.column(c.part.of)
	if b.dialect == db.SQLite {
		switch {
		case c.part.place == nowhere:
			return "null"
		case c.part.place == entry && c.part.index < 0:
			return fmt.Sprintf("json_extract(%s, '$[#%d]')", of, c.part.index)
		case c.part.place == entry:
			return fmt.Sprintf("json_extract(%s, '$[%d]')", of, c.part.index)
		case c.Kind == Text && (c.part.of.Kind == Bool || c.part.of.Kind == Int):
			return castOnSQLite(of, c.part.of.Kind, Text)
		}
		return of // JSON writes dates and times as they are stored
	}
	switch {
	case c.part.place == nowhere && c.Kind == JSON:
		return "null::jsonb"
	case c.part.place == nowhere:
		return "null::text"
	case c.part.place == entry && c.part.index < 0:
		of = fmt.Sprintf("%s[cardinality(%s) + 1 - %d]", of, of, -c.part.index)
	case c.part.place == entry:
		of = fmt.Sprintf("%s[%d]", of, c.part.index+1)
	}
	switch {
	case c.Kind == JSON:
		return "to_jsonb(" + of + ")"
	case c.part.place == whole:
		of = "(to_jsonb(" + of + ")->>0)"
	}
	return "(" + of + ` collate "C")`
}

// sortable is column in a form that orders and compares alike on both engines: lists by their entries, byte by byte.
func (b *builder) sortable(c *Column) string {
	switch {
	case c.Kind != List:
		return b.column(c)
	case b.dialect == db.SQLite:
		return "list_key(" + b.column(c) + ")"
	}
	return "(" + b.column(c) + ` collate "C")`
}

// compare writes a comparison; which of two lists comes first is asked of their sortable forms.
func (b *builder) compare(n Compare) string {
	op := " " + string(n.Op) + " "
	if n.Column.Kind != List || n.Op == Equal || n.Op == NotEqual || n.Op == Distinct {
		return b.column(n.Column) + op + b.value(n.Value)
	}
	value := b.value(n.Value)
	if b.dialect == db.SQLite {
		value = "list_key(" + value + ")"
	}
	return b.sortable(n.Column) + op + value
}

// among gives the right side of "column in values" with the values in one JSON argument, so that the statement's text
// does not depend on their number.
func (b *builder) among(kind Kind, values []any) string {
	p := b.arg(jsonValues(values))
	if b.dialect == db.Postgres {
		return "= any(array(select jsonb_array_elements_text(" + p + "::text::jsonb))::" + string(kind) + "[])"
	}
	return "in (select value from json_each(" + p + "))"
}

// jsonValues writes values so that both engines read them as the column's kind.
func jsonValues(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case bool:
			texts[i] = "0"
			if v {
				texts[i] = "1"
			}
		case int64:
			texts[i] = strconv.FormatInt(v, 10)
		case time.Time:
			texts[i] = jsonText(db.FormatTime(v))
		case string:
			texts[i] = jsonText(v)
		default:
			panic(fmt.Sprintf("tables: a list of %T", v)) // the parser makes no other
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// where gives the clause for a condition; one that always holds needs none.
func (b *builder) where(n Node) string {
	if sql := b.condition(n); sql != "true" {
		return " where " + sql
	}
	return ""
}

func (b *builder) condition(n Node) string {
	switch n := n.(type) {
	case nil:
		return "true"
	case All:
		return b.join(n, " and ", "true", "false")
	case Any:
		return b.join(n, " or ", "false", "true")
	case Not:
		return "not (" + b.condition(n.Node) + ")"
	case Compare:
		return b.compare(n)
	case In:
		return b.column(n.Column) + " " + b.among(n.Column.Kind, n.Values)
	case Is:
		if n.Truth == IsUnknown {
			return b.column(n.Column) + " is null"
		}
		return b.column(n.Column) + " is " + string(n.Truth)
	case Like:
		column, pattern := b.folded(n.Column, n.Pattern, n.Fold)
		return column + " like " + b.arg(pattern) + ` escape '\'`
	case Match:
		column, pattern := b.folded(n.Column, n.Pattern, n.Fold)
		if b.dialect == db.SQLite {
			return "matches(" + column + ", " + b.arg(pattern) + ")"
		}
		return column + " ~ " + b.arg(pattern)
	case Lists:
		return b.lists(n)
	default:
		panic(fmt.Sprintf("tables: no SQL for %T", n))
	}
}

// folded gives a column and a pattern for it; without regard to case both are folded, the pattern here and the column
// there.
func (b *builder) folded(c *Column, pattern string, fold bool) (column, folded string) {
	column = b.column(c)
	if !fold {
		return column, pattern
	}
	column, pattern = "lower("+column+")", db.Fold(pattern)
	if capitals, small := db.FoldLetters(pattern); capitals != "" {
		column = "translate(" + column + ", " + b.arg(capitals) + ", " + b.arg(small) + ")"
	}
	return column, pattern
}

// join connects the parts that matter: neutral ones are left out, and one that decides stands alone.
func (b *builder) join(parts []Node, word, neutral, deciding string) string {
	var out []string
	before := len(b.args)
	for _, part := range parts {
		switch sql := b.condition(part); sql {
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

func (b *builder) lists(n Lists) string {
	column := b.column(n.Column)
	if b.dialect == db.Postgres {
		sign := map[ListOp]string{Contains: " @> ", ContainedBy: " <@ ", Overlaps: " && "}[n.Op]
		return column + sign + b.value(n.Items)
	}
	given, stored := "json_each("+b.arg(n.Items)+")", "json_each("+column+")"
	switch n.Op {
	case Contains:
		return "not exists (select 1 from " + given + " where value not in (select value from " + stored + "))"
	case ContainedBy:
		return "not exists (select 1 from " + stored + " where value not in (select value from " + given + "))"
	default:
		return "exists (select 1 from " + given + " where value in (select value from " + stored + "))"
	}
}

// order gives the steps of an order. Where nulls can occur their place is written out: the engines' defaults differ.
func (b *builder) order(terms []Term) []string {
	steps := make([]string, len(terms))
	for i, t := range terms {
		steps[i] = b.sortable(t.Column)
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

// unambiguous completes an order with the table's own, so that both engines list rows alike.
func unambiguous(t *Table, terms []Term) []Term {
	complete := slices.Clone(terms)
	for _, tie := range t.Ties {
		if !slices.ContainsFunc(complete, func(term Term) bool { return term.Column == tie.Column }) {
			complete = append(complete, tie)
		}
	}
	return complete
}

func (b *builder) orderBy(terms []Term) string {
	return " order by " + strings.Join(b.order(unambiguous(b.table, terms)), ", ")
}

// part gives limit and offset; SQLite knows no offset without a limit.
func (b *builder) part(limit *int64, offset int64) string {
	sql := ""
	switch {
	case limit != nil:
		sql = " limit " + b.arg(*limit)
	case offset > 0 && b.dialect == db.SQLite:
		sql = " limit -1"
	}
	if offset > 0 {
		sql += " offset " + b.arg(offset)
	}
	return sql
}

// rows selects one JSON text per row, and what extra adds to it. PostgreSQL makes the text around the rows of an inner
// select; from and what follows it are the same for both.
func (b *builder) rows(fields []Field, extra, from string) string {
	out := make([]string, len(fields))
	if b.dialect == db.SQLite {
		for i, f := range fields {
			out[i] = quote("'", f.Name) + ", " + memberOnSQLite(b.column(f.Column), f)
		}
		return "select json_object(" + strings.Join(out, ", ") + ")" + extra + " from " + from
	}
	// The inner select has a name that no field has: a column called like it would take its place.
	row := "row!"
	for slices.ContainsFunc(fields, func(f Field) bool { return f.Name == row }) {
		row += "!"
	}
	row = quote(`"`, row)
	for i, f := range fields {
		out[i] = b.column(f.Column)
		if f.Cast != "" {
			out[i] = "cast(" + out[i] + " as " + string(f.Cast) + ")"
		}
		if f.Name != f.Column.Name || f.Column.part != nil || f.Column.files != nil {
			out[i] += " as " + quote(`"`, f.Name)
		}
	}
	return "select row_to_json(" + row + ")::text" + extra + " from (select " + strings.Join(out, ", ") + " from " + from + ") as " + row
}

// memberOnSQLite writes a field's value for json_object. Lists and booleans of a table are never null.
func memberOnSQLite(column string, f Field) string {
	kind := f.Column.Kind
	if f.Column.part != nil && kind == JSON { // prints as what it was taken from
		kind = Text
		if f.Column.part.place == whole {
			kind = f.Column.part.of.Kind
		}
		switch {
		case f.Cast == Text && (kind == Bool || kind == Int):
			return castOnSQLite(column, kind, Text)
		case f.Cast == Text: // what is added makes a text of the JSON
			return "iif(" + column + " is null, null, json_quote(" + column + ") || '')"
		}
	} else if f.Cast != "" {
		column, kind = castOnSQLite(column, kind, f.Cast), f.Cast
	}
	switch {
	case kind == List:
		return "json(" + column + ")"
	case kind == Bool && f.Cast != "" && f.Column.Kind == Int: // may be null
		return "json(case when " + column + " is null then null when " + column + " then 'true' else 'false' end)"
	case kind == Bool:
		return "json(iif(" + column + ", 'true', 'false'))"
	}
	return column
}

// castOnSQLite writes a cast of the table casts. SQLite has no types for dates and times: they are texts.
func castOnSQLite(column string, from, to Kind) string {
	switch {
	case from == Bool && to == Text:
		return "iif(" + column + ", 'true', 'false')"
	case from == Int && to == Text:
		return "cast(" + column + " as text)"
	case from == List && to == Text:
		return "list_text(" + column + ")"
	case from == Timestamp && to == Text: // 2026-03-12 09:30:00.25+00
		return "replace(substr(" + column + ", 1, length(" + column + ") - 3), 'T', ' ')"
	case from == Timestamp && to == PlainTimestamp:
		return "substr(" + column + ", 1, length(" + column + ") - 6)"
	case from == Timestamp && to == Date:
		return "substr(" + column + ", 1, 10)"
	case from == Timestamp && to == Time:
		return "substr(" + column + ", 12, length(" + column + ") - 17)"
	case from == Date && to == PlainTimestamp:
		return column + " || 'T00:00:00'"
	case from == Date && to == Timestamp:
		return column + " || 'T00:00:00+00:00'"
	}
	return column
}

func quote(mark, name string) string { return mark + strings.ReplaceAll(name, mark, mark+mark) + mark }

// renderRead selects the rows of a query as JSON texts. counted adds the number of all rows that meet the condition in
// the same statement, so that both belong to one moment.
func renderRead(d db.Dialect, q *Query, limit, offset int64, counted bool) statement {
	b := &builder{dialect: d, table: q.Table}
	extra := ""
	if counted {
		extra = ", (select count(*) from " + q.Table.Name + b.where(q.Where) + ")"
	}
	return b.statement(b.rows(q.Select, extra, q.Table.Name+b.where(q.Where)+b.orderBy(q.Order)+b.part(&limit, offset)))
}

// renderValue selects one column of the rows that meet a condition.
func renderValue(d db.Dialect, t *Table, c *Column, where Node) statement {
	b := &builder{dialect: d, table: t}
	return b.statement("select ", b.column(c), " from ", t.Name, b.where(where))
}

// renderCount counts the rows that meet a condition.
func renderCount(d db.Dialect, t *Table, where Node) statement {
	b := &builder{dialect: d, table: t}
	return b.statement("select count(*) from ", t.Name, b.where(where))
}

// renderKeys selects the keys of a query's rows in its order. On PostgreSQL the rows stay locked until the transaction
// ends; on SQLite a writer is alone.
func renderKeys(d db.Dialect, q *Query) statement {
	b := &builder{dialect: d, table: q.Table}
	lock := ""
	if d == db.Postgres {
		lock = " for update"
	}
	return b.statement("select ", b.column(q.Table.Key), " from ", q.Table.Name, b.where(q.Where), b.orderBy(q.Order), b.part(q.Limit, q.Offset), lock)
}

// renderKeyed selects the visible rows with the given keys as JSON texts, by order and then as the keys stand.
func renderKeyed(d db.Dialect, t *Table, fields []Field, keys []string, order []Term, visible Node) statement {
	b := &builder{dialect: d, table: t}
	given, value, position := b.numbered(keys)
	and := ""
	if sql := b.condition(visible); sql != "true" {
		and = " and " + sql
	}
	return b.statement(b.rows(fields, "", t.Name+", "+given+" where "+b.column(t.Key)+" = "+value+and+
		" order by "+strings.Join(append(b.order(order), position), ", ")))
}

// numbered gives a source of keys with their position, and the names of both.
func (b *builder) numbered(keys []string) (source, value, position string) {
	p := b.arg(keys)
	if b.dialect == db.Postgres {
		return "jsonb_array_elements_text(" + p + "::text::jsonb) with ordinality as given(value, position)", "given.value::uuid", "given.position"
	}
	return "json_each(" + p + ") as given", "given.value", "given.key + 1"
}

// upsert says what an insert does with a row whose key exists already.
type upsert struct {
	merge []*Column // columns to overwrite; none leaves the old row as it is
	where Node      // old rows that may be overwritten
}

// renderInsert inserts complete rows (see encodeRows) and returns the keys of those that were written.
func renderInsert(d db.Dialect, t *Table, rows string, u *upsert) statement {
	b := &builder{dialect: d, table: t}
	names, values := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i], values[i] = c.Name, b.fromRow(c)
	}
	from := "json_each(" + b.arg(rows) + ") where true" // without a where, "on conflict" would read as a join
	if d == db.Postgres {
		from = "jsonb_array_elements($1::text::jsonb) with ordinality as given(value, position) order by position"
	}
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
		conflict = " on conflict (" + t.Key.Name + ") do update set " + strings.Join(set, ", ") + b.where(u.where)
	}
	return b.statement("insert into ", t.Name, " (", strings.Join(names, ", "), ") select ", strings.Join(values, ", "),
		" from ", from, conflict, " returning ", t.Key.Name)
}

// fromRow takes a column out of a row that travels as JSON; a list is a JSON text inside it.
func (b *builder) fromRow(c *Column) string {
	if b.dialect == db.SQLite {
		return "json_extract(value, '$." + c.Name + "')"
	}
	text := "value ->> '" + c.Name + "'"
	switch c.Kind {
	case Text:
		return text
	case List:
		return "array(select jsonb_array_elements_text((" + text + ")::jsonb))"
	}
	return "(" + text + ")::" + string(c.Kind)
}

// encodeRows writes complete rows for renderInsert.
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
			default:
				out[i][c.Name] = v
			}
		}
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// renderUpdate sets the columns that r has in the rows of a query and returns their keys.
func renderUpdate(d db.Dialect, q *Query, r row) statement {
	t := q.Table
	b := &builder{dialect: d, table: t}
	var set []string
	for _, c := range t.Columns {
		if v, ok := r[c]; ok {
			set = append(set, c.Name+" = "+b.value(v))
		}
	}
	where := b.where(q.Where)
	if q.Limit != nil || q.Offset > 0 {
		where = " where " + b.column(t.Key) + " in (select " + b.column(t.Key) + " from " + t.Name + where + b.orderBy(q.Order) + b.part(q.Limit, q.Offset) + ")"
	}
	return b.statement("update ", t.Name, " set ", strings.Join(set, ", "), where, " returning ", t.Key.Name)
}

// renderDelete deletes the rows with the given keys.
func renderDelete(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	return b.statement("delete from ", t.Name, " where ", b.column(t.Key), " ", b.amongKeys(keys))
}

// renderExisting selects which of the given keys are in the table.
func renderExisting(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	return b.statement("select ", b.column(t.Key), " from ", t.Name, " where ", b.column(t.Key), " ", b.amongKeys(keys))
}

func (b *builder) amongKeys(keys []string) string {
	values := make([]any, len(keys))
	for i, k := range keys {
		values[i] = k
	}
	return b.among(b.table.Key.Kind, values)
}

// renderLock keeps other writers out of a table until the transaction ends. SQLite has one writer anyway.
func renderLock(d db.Dialect, t *Table) (s statement, needed bool) {
	return statement{sql: "lock table " + t.Name + " in share row exclusive mode"}, d == db.Postgres
}

// renderLast reads the largest value of a table's counter, 0 when there is none.
func renderLast(t *Table) statement {
	return statement{sql: "select coalesce(max(" + t.Counter.Name + "), 0) from " + t.Name}
}

// renderRenumber counts the rows with the given keys from 1, as the keys stand, and returns the keys of those whose number
// has changed.
func renderRenumber(d db.Dialect, t *Table, keys []string) statement {
	b := &builder{dialect: d, table: t}
	given, value, position := b.numbered(keys)
	return b.statement("update ", t.Name, " set ", t.Counter.Name, " = ", position, " from ", given,
		" where ", b.column(t.Key), " = ", value, " and ", b.column(t.Counter), " is distinct from ", position, " returning ", t.Key.Name)
}
