package tables

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file parses the operators of filters with their values, such as eq.5 or ilike.*blue*, into the conditions of tree.go.

// expectedOperator is the text after "expecting" in the error for a filter whose operator is missing or unknown.
const expectedOperator = `"not" or operator (eq, gt, ...)`

// comparisons are the operators that compare a column with a single value. quantifiable is true if (any) or (all) can follow the
// operator, which then takes a list of values, as in eq(any).{1,2}.
var comparisons = map[string]struct {
	op           Op
	quantifiable bool
}{
	"eq":         {Equal, true},
	"neq":        {NotEqual, false},
	"gt":         {Greater, true},
	"gte":        {GreaterOrEqual, true},
	"lt":         {Less, true},
	"lte":        {LessOrEqual, true},
	"isdistinct": {Distinct, false},
}

// The operators besides the comparisons, "in" and "is".
var (
	// patternOperators match a string: like and ilike with a LIKE pattern, match and imatch with a regular expression. ilike and imatch
	// ignore case.
	patternOperators = []string{"like", "ilike", "match", "imatch"}
	// listOperators compare lists: contains (cs), is contained in (cd), overlaps (ov).
	listOperators = []string{"cs", "cd", "ov"}
	// searchOperators are for full-text search. It is not supported, so they always give errNoSearch.
	searchOperators = []string{"fts", "plfts", "phfts", "wfts"}
	// rangeOperators maps the operators for range columns to the operators of SQL. No table has a range column, so they always give
	// errNoRange, PostgreSQL's error for an operator that the column's type does not have. The error names the operator of SQL.
	rangeOperators = map[string]string{"sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-"}
)

// readOperation parses "[not.]operator[(any|all)].value" and returns a condition on the column with the given name. steps is the JSON path
// after the name (see path.go). readValue reads the value. Inside a group, such as or=(…), the value ends at a comma or parenthesis. If
// there is no group, it ends at the end of the input.
func (p *parser) readOperation(name string, steps []step, readValue func() string) (Node, error) {
	negated := p.skip("not.")
	operatorAt := p.pos
	operator := p.takeUntil(func(r rune) bool { return r < 'a' || r > 'z' })
	quantifier := ""
	for _, q := range []string{"any", "all"} {
		if quantifier == "" && p.skip("("+q+")") {
			quantifier = q
		}
	}
	comparison, isComparison := comparisons[operator]
	rangeSign, isRange := rangeOperators[operator]
	isPattern, isSearch := slices.Contains(patternOperators, operator), slices.Contains(searchOperators, operator)
	known := isComparison || isRange || isPattern || isSearch || operator == "in" || operator == "is" || slices.Contains(listOperators, operator)
	quantifiable := comparison.quantifiable || isPattern
	if n := strings.IndexByte(p.rest(), ')'); isSearch && p.at("(") && n > 1 { // the language of a text search, such as "(english)"
		p.pos += n + 1
	}
	if !known || (quantifier != "" && !quantifiable) {
		p.pos = operatorAt // the position that the error names
		return nil, p.fail(expectedOperator)
	}
	if !p.skip(".") {
		return nil, p.fail("delimiter (.)")
	}
	c, err := p.findColumn(name)
	if err != nil {
		return nil, err
	}
	if c, _, err = followSteps(c, steps); err != nil {
		return nil, err
	}
	switch {
	case c.Kind == JSON:
		return nil, errUnsupported("a condition on JSON; ->> gives a text")
	case c.Kind == AltTexts && operator != "is":
		return nil, errUnsupported("a condition on " + c.Name + " other than is.null")
	}
	var node Node
	switch {
	case isRange:
		return nil, errNoRange(c.Kind, rangeSign)
	case isSearch:
		return nil, errNoSearch(c.Kind, operator)
	case operator == "in":
		node, err = p.readIn(c)
	case operator == "is":
		node, err = p.readIs(c)
	case quantifier != "":
		node, err = p.newQuantified(c, operator, quantifier, readValue())
	default:
		node, err = p.newCondition(c, operator, readValue())
	}
	if negated {
		node = Not{node}
	}
	return node, err
}

// countConditions adds n conditions to those of the query and returns an error if there are more than maxConditions.
func (p *parser) countConditions(n int) error {
	if *p.count += n; *p.count > maxConditions {
		return errQuery("a query may have at most " + strconv.Itoa(maxConditions) + " conditions; in ilike and imatch each letter beyond ASCII counts as one")
	}
	return nil
}

func (p *parser) readIn(c *Column) (Node, error) {
	if err := p.countConditions(1); err != nil {
		return nil, err
	}
	texts, err := p.readList()
	if err != nil {
		return nil, err
	}
	if c.Kind == List {
		return nil, errNoArrayOfLists
	}
	values := make([]any, len(texts))
	for i, s := range texts {
		if values[i], err = parseValue(c.Kind, s); err != nil {
			return nil, err
		}
	}
	return In{c, values}, nil
}

func (p *parser) readIs(c *Column) (Node, error) {
	if err := p.countConditions(1); err != nil {
		return nil, err
	}
	for _, truth := range []Truth{IsNull, IsUnknown, IsTrue, IsFalse} {
		if n := len(truth); len(p.rest()) >= n && strings.EqualFold(p.rest()[:n], string(truth)) {
			p.pos += n
			if truth != IsNull && c.Kind != Bool {
				return nil, errNotBoolean(truth, c.Kind)
			}
			return Is{c, truth}, nil
		}
	}
	return nil, p.fail("null or trilean value (unknown, true, false)")
}

// newQuantified makes one condition for each entry of "operator(any).{a,b}", joined by Any or All. Both engines can run them.
func (p *parser) newQuantified(c *Column, operator, quantifier, text string) (Node, error) {
	items, err := parseList(text)
	if err != nil {
		return nil, err
	}
	parts := make([]Node, len(items))
	for i, item := range items {
		if parts[i], err = p.newCondition(c, operator, item); err != nil {
			return nil, err
		}
	}
	if quantifier == "any" {
		return Any(parts), nil
	}
	return All(parts), nil
}

// newCondition makes the condition of an operator with a single value, whose text is given.
func (p *parser) newCondition(c *Column, operator, text string) (Node, error) {
	if err := p.countConditions(1); err != nil {
		return nil, err
	}
	switch operator {
	case "like", "ilike":
		if operator == "ilike" {
			if err := p.countFoldedLetters(db.Fold(text)); err != nil {
				return nil, err
			}
		}
		return newLike(c, operator == "ilike", text)
	case "match", "imatch":
		return p.newMatch(c, operator == "imatch", text)
	case "cs", "cd", "ov":
		return newLists(c, ListOp(operator), text)
	}
	compare := comparisons[operator]
	v, err := parseValue(c.Kind, text)
	if err != nil {
		return nil, err
	}
	return Compare{c, compare.op, v}, nil
}

// countFoldedLetters counts each letter of a folded pattern that is not ASCII as a condition, because the engine looks for it
// in each row (db.FoldTranslation).
func (p *parser) countFoldedLetters(pattern string) error {
	upper, _ := db.FoldTranslation(pattern)
	return p.countConditions(utf8.RuneCountInString(upper))
}

func (p *parser) newMatch(c *Column, fold bool, text string) (Node, error) {
	if c.Kind != Text {
		return nil, errNoTextOperator(c.Kind, "~", fold)
	}
	expression, err := convertPattern(text, fold)
	if err != nil {
		return nil, err
	}
	if fold {
		if err := p.countFoldedLetters(expression); err != nil {
			return nil, err
		}
	}
	return Match{c, expression, fold}, nil
}

// newLike accepts * for %, as PostgREST does, because % must be escaped in a URL.
func newLike(c *Column, fold bool, pattern string) (Node, error) {
	if c.Kind != Text {
		return nil, errNoTextOperator(c.Kind, "~~", fold)
	}
	if len(pattern) > maxLike {
		return nil, errQuery("a pattern of like or ilike may have at most " + strconv.Itoa(maxLike) + " bytes")
	}
	pattern = strings.ReplaceAll(pattern, "*", "%")
	trailing := len(pattern) - len(strings.TrimRight(pattern, `\`))
	if trailing%2 == 1 {
		return nil, errPatternEnd
	}
	return Like{c, pattern, fold}, nil
}

func newLists(c *Column, op ListOp, text string) (Node, error) {
	if c.Kind != List {
		sign := map[ListOp]string{Contains: "@>", ContainedBy: "<@", Overlaps: "&&"}[op]
		return nil, errNoOperator(c.Kind, sign+" unknown")
	}
	items, nulls, err := parseArray(text)
	if err != nil {
		return nil, err
	}
	if op == Contains && nulls > 0 {
		return never, nil // no stored list contains a null
	}
	return Lists{c, op, items}, nil
}
