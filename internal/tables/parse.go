package tables

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/apperr"
)

// This file parses the query string of a request on a table into a Query (see tree.go). An example of a query string is
// select=id,title&artwork_type=eq.oil&order=title. operators.go parses operators such as eq, and path.go parses JSON paths.

// Limits of one query. A query that exceeds them is rejected with status 400. Usual requests are far below the limits, because supabase-js
// warns when a URL has more than 8,000 bytes.
const (
	maxQueryBytes = 64 << 10 // bytes of the query string
	maxConditions = 200      // filters, including those inside or=() and in lists of (any) and (all)
	maxDepth      = 10       // levels of nested or=() and and=()
	maxLike       = 50_000   // bytes of a pattern of like or ilike, the limit of SQLite
	maxInValues   = 1000     // values of one in.()
	maxFields     = 60       // fields of select, because SQLite's json_object takes 127 arguments, two for each field
	maxSameColumn = 5        // how often select may name the same whole column, because each time adds the column's value to every row
	maxTerms      = 20       // terms of order
	maxAliasBytes = 63       // bytes of an alias; a longer alias is not rejected, but truncated, as PostgreSQL does with names
)

// parseQuery parses the query string of a request on a table. The parameters are select, order, limit, offset, columns, on_conflict, "or"
// and "and". Any other parameter is a filter on the column of that name. A syntax error has the code PGRST100 and names the position. The
// errors about columns, operators and values are those of PostgreSQL or PostgREST (see errors.go).
func parseQuery(t *Table, raw string) (*Query, error) {
	params, err := parseQueryParams(raw)
	if err != nil {
		return nil, err
	}
	q := &Query{Table: t}
	conditions := All{}
	conditionCount := 0
	hasSelect := false
	for _, p := range params {
		var err error
		switch p.key {
		case "select":
			if !hasSelect { // only the first select has an effect
				hasSelect = true
				q.Select, err = parseSelect(t, p.value)
			}
		case "order":
			var terms []Term
			terms, err = parseOrder(t, p.value)
			q.Order = append(q.Order, terms...)
		case "limit":
			var n int64
			n, err = parseCount(p)
			if err == nil && n < 0 {
				err = errBadRange("Limit should be greater than or equal to zero.")
			}
			q.Limit = &n
		case "offset":
			var n int64
			n, err = parseCount(p)
			q.Offset = max(0, n) // a negative offset is ignored, as in PostgREST
		case "columns":
			q.Columns, err = parseColumns(t, "columns parameter", p.value, errUnknownField)
		case "on_conflict":
			q.OnConflict, err = parseColumns(t, "on_conflict parameter", p.value, errUnknownColumn)
		default:
			var node Node
			node, err = parseFilter(t, p, &conditionCount)
			conditions = append(conditions, node)
		}
		if err != nil {
			return nil, err
		}
	}
	if !hasSelect {
		q.Select = everyField(t)
	}
	if len(q.Order) > maxTerms {
		return nil, errQuery("an order may have at most " + strconv.Itoa(maxTerms) + " terms")
	}
	q.Where = conditions
	return q, nil
}

// queryParam is one parameter of a query string, unescaped.
type queryParam struct{ key, value string }

// parseQueryParams splits the query string into its parameters and keeps their order, which url.Values would lose.
func parseQueryParams(raw string) ([]queryParam, error) {
	if len(raw) > maxQueryBytes {
		return nil, errQuery("the query may have at most " + strconv.Itoa(maxQueryBytes) + " bytes")
	}
	var params []queryParam
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		p := queryParam{key, value}
		for _, text := range []*string{&p.key, &p.value} {
			var err error
			if *text, err = url.QueryUnescape(*text); err != nil {
				return nil, errQuery("a percent sign must begin an escape").Because(err)
			}
			if err := checkText("The query", *text); err != nil {
				return nil, err
			}
		}
		if p.key != "apikey" { // the API key, which was checked before
			params = append(params, p)
		}
	}
	return params, nil
}

func parseCount(p queryParam) (int64, error) {
	n, err := strconv.ParseInt(p.value, 10, 64)
	if err != nil {
		return 0, errSyntax(p.key, p.value, 0, "integer").Because(err)
	}
	return n, nil
}

func everyField(t *Table) []Field {
	return fieldsOf(slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return c.isWrittenByServer() || c.OnlyByName }))
}

// parser reads the text of one parameter from left to right.
type parser struct {
	table *Table
	what  string // what the text is, for errors
	text  string
	pos   int  // position in text, in bytes
	count *int // conditions of the whole query so far
}

func (p *parser) fail(expecting string) error { return errSyntax(p.what, p.text, p.pos, expecting) }
func (p *parser) rest() string                { return p.text[p.pos:] }
func (p *parser) atEnd() bool                 { return p.pos == len(p.text) }
func (p *parser) at(s string) bool            { return strings.HasPrefix(p.rest(), s) }

func (p *parser) skip(s string) bool {
	if !p.at(s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *parser) skipSpaces() {
	for p.skip(" ") || p.skip("\t") {
	}
}

// takeUntil reads the text up to the first character for which isEnd returns true.
func (p *parser) takeUntil(isEnd func(rune) bool) string {
	s := p.rest()
	if n := strings.IndexFunc(s, isEnd); n >= 0 {
		s = s[:n]
	}
	p.pos += len(s)
	return s
}

// skipToken skips s with the spaces around it.
func (p *parser) skipToken(s string) bool {
	p.skipSpaces()
	if !p.skip(s) {
		return false
	}
	p.skipSpaces()
	return true
}

// expectedName is the text after "expecting" in the error for a missing or invalid name.
const expectedName = "field name (* or [a..z0..9_$])"

// readName reads an identifier, plain or in quotes.
func (p *parser) readName() (string, error) {
	p.skipSpaces()
	if p.at(`"`) {
		start := p.pos
		if s, ok := p.readQuoted(); ok {
			return s, nil
		}
		p.pos = start
		return "", p.fail(expectedName)
	}
	start := p.pos
	for i, r := range p.rest() {
		dash := r == '-' && !strings.HasPrefix(p.text[start+i:], "->")
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != ' ' && r != '$' && !dash {
			break
		}
		p.pos = start + i + utf8.RuneLen(r)
	}
	s := strings.TrimSpace(p.text[start:p.pos])
	if s == "" {
		return "", p.fail(expectedName)
	}
	return s, nil
}

// readQuoted reads "…", in which a backslash makes the next character a plain one. If it returns false, pos is undefined.
func (p *parser) readQuoted() (string, bool) {
	if !p.skip(`"`) {
		return "", false
	}
	var b strings.Builder
	for !p.atEnd() {
		c := p.text[p.pos]
		p.pos++
		switch c {
		case '"':
			return b.String(), true
		case '\\':
			if p.atEnd() {
				return "", false
			}
			b.WriteByte(p.text[p.pos])
			p.pos++
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// findColumn returns the column with the given name.
func (p *parser) findColumn(name string) (*Column, error) {
	c := p.table.byName[name]
	if c == nil {
		return nil, errUnknownColumn(p.table, name)
	}
	return c, nil
}

// parseSelect reads "*", "column", "alias:column", "column::type" and "column->path", separated by commas.
func parseSelect(t *Table, text string) ([]Field, error) {
	p := &parser{table: t, what: "select parameter", text: text}
	fields, named := []Field{}, map[*Column]int{}
	if p.skipSpaces(); p.atEnd() {
		return fields, nil // rows become empty objects, as in PostgREST
	}
	for {
		more, err := p.readFields()
		if err != nil {
			return nil, err
		}
		if fields = append(fields, more...); len(fields) > maxFields {
			return nil, errQuery("a select may have at most " + strconv.Itoa(maxFields) + " fields")
		}
		for _, f := range more {
			if c := f.Column.wholeColumn(); c != nil && named[c] == maxSameColumn {
				return nil, errQuery("a select may name a column at most " + strconv.Itoa(maxSameColumn) + " times, and " + c.Name + " has more")
			} else if c != nil {
				named[c]++
			}
		}
		if p.atEnd() {
			return fields, nil
		}
		if !p.skipToken(",") {
			return nil, p.fail(`letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input`)
		}
	}
}

func (p *parser) readFields() ([]Field, error) {
	p.skipSpaces()
	if p.skip("...") {
		name, err := p.readName()
		if err != nil {
			return nil, err
		}
		return nil, errNoRelationship(p.table, name)
	}
	if p.skip("*") {
		p.skipSpaces()
		return everyField(p.table), nil
	}
	name, err := p.readName()
	if err != nil {
		return nil, err
	}
	alias, aliased := "", p.at(":") && !p.at("::")
	if aliased {
		p.pos++
		if alias = name; alias == "" {
			return nil, errEmptyAlias
		}
		if name, err = p.readName(); err != nil {
			return nil, err
		}
	}
	switch {
	case name == "count" && p.at("()"):
		return nil, errAggregate
	case p.at("("), p.at("!"):
		return nil, errNoRelationship(p.table, name)
	case p.at("."):
		if slices.ContainsFunc([]string{"sum", "avg", "count", "max", "min"}, func(f string) bool { return p.at("." + f + "()") }) {
			return nil, errAggregate
		}
	}
	if c := p.table.media; c != nil && name == c.Name && !p.at("->") && !p.at("::") {
		if !aliased {
			alias = c.Name
		}
		return []Field{{Name: cutAlias(alias), Column: c}}, nil
	}
	c, err := p.findColumn(name)
	if err != nil {
		return nil, err
	}
	field := Field{Name: c.Name, Column: c}
	if field.Column, field.Name, err = p.readPath(c); err != nil {
		return nil, err
	}
	if p.skip("::") {
		if field.Cast, err = p.readCast(field.Column.Kind); err != nil {
			return nil, err
		}
	}
	if aliased {
		field.Name = cutAlias(alias)
	}
	return []Field{field}, nil
}

// cutAlias shortens a name to maxAliasBytes as PostgreSQL does, without cutting a character in two.
func cutAlias(s string) string {
	if len(s) <= maxAliasBytes {
		return s
	}
	n := maxAliasBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// readCast reads the name of a type after "::". It returns error 42704 if there is no such type, and 42846 if values of the kind
// from cannot be cast to it.
func (p *parser) readCast(from Kind) (Kind, error) {
	word := p.takeUntil(func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_ $", r)
	})
	name := strings.ToLower(strings.Join(strings.Fields(word), " "))
	if name == "" {
		return "", p.fail("letter or digit")
	}
	to, known := kindsByName[name]
	switch {
	case !known:
		return "", errUnknownType(name)
	case !slices.Contains(allowedCasts[from], to):
		return "", errNoCast(from, to)
	}
	return to, nil
}

// parseOrder reads "column[.asc|.desc][.nullsfirst|.nullslast]", separated by commas.
func parseOrder(t *Table, text string) ([]Term, error) {
	p := &parser{table: t, what: "order", text: text}
	var terms []Term
	for {
		term, err := p.readTerm()
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
		if p.atEnd() {
			return terms, nil
		}
		if !p.skipToken(",") {
			return nil, p.fail(`delimiter (.), "," or end of input`)
		}
	}
}

func (p *parser) readTerm() (Term, error) {
	name, err := p.readName()
	if err != nil {
		return Term{}, err
	}
	if p.at("(") {
		return Term{}, errNotEmbedded(name)
	}
	c, err := p.findColumn(name)
	if err != nil {
		return Term{}, err
	}
	if c, _, err = p.readPath(c); err != nil {
		return Term{}, err
	}
	switch c.Kind {
	case JSON:
		return Term{}, errUnsupported("order by JSON; ->> gives a text")
	case AltTexts:
		return Term{}, errUnsupported("order by " + c.Name)
	}
	term := Term{Column: c}
	directed := p.skip(".asc")
	if !directed && p.skip(".desc") {
		directed, term.Desc = true, true
	}
	term.NullsFirst = term.Desc
	switch {
	case p.skip(".nullsfirst"):
		term.NullsFirst = true
	case p.skip(".nullslast"):
		term.NullsFirst = false
	case p.at(".") && directed:
		p.pos++
		return Term{}, p.fail(`"nullsfirst" or "nullslast"`)
	case p.at("."):
		p.pos++
		return Term{}, p.fail(`"asc", "desc", "nullsfirst" or "nullslast"`)
	}
	p.skipSpaces()
	return term, nil
}

// parseColumns reads column names separated by commas. Repeated names count once. unknown makes the error for a name that is
// not a column.
func parseColumns(t *Table, what, text string, unknown func(*Table, string) *apperr.Error) ([]*Column, error) {
	p := &parser{table: t, what: what, text: text}
	columns := []*Column{}
	for {
		name, err := p.readName()
		if err != nil {
			return nil, err
		}
		c := t.byName[name]
		if c == nil {
			return nil, unknown(t, name)
		}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if p.skipSpaces(); p.atEnd() {
			return columns, nil
		}
		if !p.skipToken(",") {
			return nil, p.fail(`letter, digit, "," or end of input`)
		}
	}
}

// parseFilter reads one condition: "column=operator.value", "or=(…)", "not.and=(…)".
func parseFilter(t *Table, pr queryParam, count *int) (Node, error) {
	switch pr.key {
	case "or", "and", "not.or", "not.and":
		p := &parser{table: t, what: "logic tree", text: pr.value, count: count}
		word, negated := strings.CutPrefix(pr.key, "not.")
		node, err := p.readGroup(word == "or", 1)
		if err == nil && !p.atEnd() {
			err = p.fail("end of input")
		}
		if negated {
			node = Not{node}
		}
		return node, err
	}
	k := &parser{table: t, what: "tree path", text: pr.key}
	name, err := k.readName()
	if err != nil {
		return nil, err
	}
	if k.at(".") {
		return nil, errNotEmbedded(name)
	}
	steps, err := k.readSteps()
	if err != nil {
		return nil, err
	}
	if k.skipSpaces(); !k.atEnd() {
		return nil, k.fail("delimiter (.) or end of input")
	}
	// readOperation reads the operator before it looks up the column, so that a parameter which is not a filter at all gets an
	// error about its syntax.
	p := &parser{table: t, what: "filter", text: pr.value, count: count}
	node, err := p.readOperation(name, steps, p.readRest)
	if err == nil && !p.atEnd() {
		err = p.fail("end of input")
	}
	return node, err
}

func (p *parser) readRest() string { return p.takeUntil(func(rune) bool { return false }) }

// readGroup reads "(condition, …)".
func (p *parser) readGroup(anyOf bool, depth int) (Node, error) {
	if depth > maxDepth {
		return nil, errQuery("conditions may stand at most " + strconv.Itoa(maxDepth) + " deep in each other")
	}
	if !p.skipToken("(") {
		return nil, p.fail(`"("`)
	}
	var parts []Node
	for {
		part, err := p.readCondition(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if p.skipToken(")") {
			break
		}
		if !p.skipToken(",") {
			return nil, p.fail(`"," or ")"`)
		}
	}
	if anyOf {
		return Any(parts), nil
	}
	return All(parts), nil
}

// readCondition reads "column.operator.value" or a group inside a group.
func (p *parser) readCondition(depth int) (Node, error) {
	p.skipSpaces()
	start := p.pos
	not := p.skip("not.")
	for _, word := range []string{"and", "or"} {
		here := p.pos
		if p.skip(word) && p.skipToken("(") {
			p.pos = here + len(word)
			node, err := p.readGroup(word == "or", depth+1)
			if err == nil && not {
				node = Not{node}
			}
			return node, err
		}
		p.pos = here
	}
	p.pos = start
	name, err := p.readName()
	if err != nil {
		return nil, p.fail(expectedName + ", negation operator (not) or logic operator (and, or)")
	}
	steps, err := p.readSteps()
	if err != nil {
		return nil, err
	}
	if !p.skip(".") {
		return nil, p.fail("delimiter (.)")
	}
	return p.readOperation(name, steps, p.readWordInGroup)
}

// readWordInGroup reads a value up to the next comma or closing parenthesis, unless it is quoted or an array.
func (p *parser) readWordInGroup() string {
	start := p.pos
	if s, ok := p.readQuoted(); ok && p.atValueEnd() {
		return s
	}
	p.pos = start
	if p.at("{") {
		if n := strings.IndexByte(p.rest(), '}'); n > 0 && !strings.Contains(p.text[start+1:start+n], "{") {
			p.pos += n + 1
			return p.text[start:p.pos]
		}
	}
	return p.readBare()
}

// atValueEnd reports whether a value ends at pos.
func (p *parser) atValueEnd() bool { return p.atEnd() || p.at(",") || p.at(")") }

func (p *parser) readBare() string {
	return p.takeUntil(func(r rune) bool { return r == ',' || r == ')' })
}

// readList reads "(a,"b,c",d)".
func (p *parser) readList() ([]string, error) {
	if !p.skipToken("(") {
		return nil, p.fail(`"("`)
	}
	var values []string
	for {
		start := p.pos
		s, ok := p.readQuoted()
		if !ok || !p.atValueEnd() {
			p.pos = start
			s = p.readBare()
		}
		if values = append(values, s); len(values) > maxInValues {
			return nil, errQuery("a list may have at most " + strconv.Itoa(maxInValues) + " values")
		}
		if p.skip(")") {
			p.skipSpaces()
			break
		}
		if !p.skip(",") {
			return nil, p.fail(`"," or ")"`)
		}
	}
	if len(values) == 1 && values[0] == "" {
		return nil, nil
	}
	return values, nil
}
