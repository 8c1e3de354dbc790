package tables

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelie/internal/db"
)

// This file reads the operators of filters, such as eq.5 or ilike.*blue*, into the conditions of tree.go.

// anOperator is the text by which an error names what the parser expected: an operator.
const anOperator = `"not" or operator (eq, gt, ...)`

// comparisons are the operators that compare a column with one value. quantifiable is true if (any) or (all) can follow the
// operator.
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

// The other operators with a value: likeOperators are for texts, listOperators for lists, searchOperators for text search.
// rangeOperators maps the operators for ranges to those of SQL. No column is a range, so the range operators always give
// PostgreSQL's error.
var (
	likeOperators   = []string{"like", "ilike", "match", "imatch"}
	listOperators   = []string{"cs", "cd", "ov"}
	searchOperators = []string{"fts", "plfts", "phfts", "wfts"}
	rangeOperators  = map[string]string{"sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-"}
)

// operation reads "[not.]operator[(any|all)].value" into a condition on the column name. steps is the JSON path after the
// name. value reads the text of the value; where the value ends depends on whether the condition is inside a group.
func (p *parser) operation(name string, steps []step, value func() string) (Node, error) {
	start := p.pos
	negated := p.skip("not.")
	operatorAt := p.pos
	length := 0
	for length < len(p.rest()) && p.rest()[length] >= 'a' && p.rest()[length] <= 'z' {
		length++
	}
	operator := p.rest()[:length]
	p.pos += length
	quantifier := ""
	for _, q := range []string{"any", "all"} {
		if p.skip("(" + q + ")") {
			quantifier = q
		}
	}
	comparison, isComparison := comparisons[operator]
	sqlOperator, isRange := rangeOperators[operator]
	likes, searches := slices.Contains(likeOperators, operator), slices.Contains(searchOperators, operator)
	known := isComparison || isRange || likes || searches || operator == "in" || operator == "is" || slices.Contains(listOperators, operator)
	quantifiable := comparison.quantifiable || likes
	if searches {
		p.language()
	}
	if !known || (quantifier != "" && !quantifiable) {
		if p.pos = operatorAt; !negated {
			p.pos = start
		}
		return nil, p.fail(anOperator)
	}
	if !p.skip(".") {
		return nil, p.fail("delimiter (.)")
	}
	c, err := p.column(name)
	if err != nil {
		return nil, err
	}
	if c, _, err = walk(c, steps); err != nil {
		return nil, err
	}
	if c.Kind == JSON {
		return nil, errUnsupported("a condition on JSON; ->> gives a text")
	}
	var node Node
	switch {
	case isRange:
		return nil, errNoRange(c.Kind, sqlOperator)
	case searches:
		return nil, errNoSearch(c.Kind, operator)
	case operator == "in":
		node, err = p.in(c)
	case operator == "is":
		node, err = p.is(c)
	case quantifier != "":
		node, err = p.quantified(c, operator, quantifier, value())
	default:
		node, err = p.single(c, operator, value())
	}
	if err != nil {
		return nil, err
	}
	if negated {
		return Not{node}, nil
	}
	return node, nil
}

// countConditions adds n conditions to those of the query and returns an error if there are more than maxConditions.
func (p *parser) countConditions(n int) error {
	if *p.count += n; *p.count > maxConditions {
		return errQuery("a query may have at most " + strconv.Itoa(maxConditions) + " conditions; in ilike and imatch each letter beyond ASCII counts as one")
	}
	return nil
}

func (p *parser) in(c *Column) (Node, error) {
	if err := p.countConditions(1); err != nil {
		return nil, err
	}
	texts, err := p.listInParentheses()
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

func (p *parser) is(c *Column) (Node, error) {
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

// quantified turns "operator(any).{a,b}" into one condition per entry, joined by Any or All. Both engines run that alike.
func (p *parser) quantified(c *Column, operator, quantifier, text string) (Node, error) {
	items, err := parseList(text)
	if err != nil {
		return nil, err
	}
	parts := make([]Node, len(items))
	for i, item := range items {
		if parts[i], err = p.single(c, operator, item); err != nil {
			return nil, err
		}
	}
	if quantifier == "any" {
		return Any(parts), nil
	}
	return All(parts), nil
}

func (p *parser) single(c *Column, operator, text string) (Node, error) {
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
		return like(c, operator == "ilike", text)
	case "match", "imatch":
		return p.match(c, operator == "imatch", text)
	case "cs", "cd", "ov":
		return lists(c, ListOp(operator), text)
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
	capitals, _ := db.FoldTranslation(pattern)
	return p.countConditions(utf8.RuneCountInString(capitals))
}

func (p *parser) match(c *Column, fold bool, text string) (Node, error) {
	if c.Kind != Text {
		return nil, errNoTextOperator(c.Kind, "~", fold)
	}
	expression, err := pattern(text, fold)
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

// language skips the language of a text search, such as "(english)".
func (p *parser) language() {
	if p.at("(") {
		if n := strings.IndexByte(p.rest(), ')'); n > 1 {
			p.pos += n + 1
		}
	}
}

// like accepts * for %, as PostgREST does, because % must be escaped in a URL.
func like(c *Column, fold bool, pattern string) (Node, error) {
	if c.Kind != Text {
		return nil, errNoTextOperator(c.Kind, "~~", fold)
	}
	pattern = strings.ReplaceAll(pattern, "*", "%")
	trailing := len(pattern) - len(strings.TrimRight(pattern, `\`))
	if trailing%2 == 1 {
		return nil, errPatternEnd
	}
	return Like{c, pattern, fold}, nil
}

func lists(c *Column, op ListOp, text string) (Node, error) {
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
