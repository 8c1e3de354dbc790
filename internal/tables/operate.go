package tables

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelie/internal/db"
)

const anOperator = `"not" or operator (eq, gt, ...)`

// comparisons are the operators that compare with one value; quantify allows (any) and (all) behind them.
var comparisons = map[string]struct {
	op       Op
	quantify bool
}{
	"eq":         {Equal, true},
	"neq":        {NotEqual, false},
	"gt":         {Greater, true},
	"gte":        {GreaterOrEqual, true},
	"lt":         {Less, true},
	"lte":        {LessOrEqual, true},
	"isdistinct": {Distinct, false},
}

// otherOperators exist in the reference and are refused here by name: regular expressions differ between the engines,
// and no column holds ranges or search vectors.
var otherOperators = []string{"match", "imatch", "fts", "plfts", "phfts", "wfts", "sl", "sr", "nxl", "nxr", "adj"}

// operation reads "[not.]operator[(any|all)].value"; value gives the text of a value where it stands.
func (p *parser) operation(name string, value func() string) (Node, error) {
	start := p.pos
	not := p.skip("not.")
	operatorAt := p.pos
	n := 0
	for n < len(p.rest()) && p.rest()[n] >= 'a' && p.rest()[n] <= 'z' {
		n++
	}
	operator := p.rest()[:n]
	p.pos += n
	quantifier := ""
	for _, q := range []string{"any", "all"} {
		if p.skip("(" + q + ")") {
			quantifier = q
		}
	}
	compare, isComparison := comparisons[operator]
	known := isComparison || slices.Contains([]string{"like", "ilike", "in", "is", "cs", "cd", "ov"}, operator) || slices.Contains(otherOperators, operator)
	quantifiable := compare.quantify || operator == "like" || operator == "ilike"
	if !known || (quantifier != "" && !quantifiable) {
		if p.pos = operatorAt; !not {
			p.pos = start
		}
		return nil, p.fail(anOperator)
	}
	if slices.Contains(otherOperators, operator) {
		return nil, errUnsupported("the operator " + operator)
	}
	if !p.skip(".") {
		return nil, p.fail("delimiter (.)")
	}
	c, err := p.column(name)
	if err != nil {
		return nil, err
	}
	var node Node
	switch {
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
	if not {
		return Not{node}, nil
	}
	return node, nil
}

// tally counts conditions against the limit of the whole query.
func (p *parser) tally(n int) error {
	if *p.count += n; *p.count > maxConditions {
		return errQuery("a query may have at most " + strconv.Itoa(maxConditions) + " conditions; in ilike each letter beyond ASCII counts as one")
	}
	return nil
}

func (p *parser) in(c *Column) (Node, error) {
	if err := p.tally(1); err != nil {
		return nil, err
	}
	texts, err := p.listInParentheses()
	if err != nil {
		return nil, err
	}
	if c.Kind == List {
		return nil, errUnsupported("the operator in on a list")
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
	if err := p.tally(1); err != nil {
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

// quantified spreads "operator(any).{a,b}" into one condition per entry: both engines then do the same.
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
	if err := p.tally(1); err != nil {
		return nil, err
	}
	switch operator {
	case "like", "ilike":
		if capitals, _ := db.FoldLetters(db.Fold(text)); operator == "ilike" { // the engine looks for each of them
			if err := p.tally(utf8.RuneCountInString(capitals)); err != nil {
				return nil, err
			}
		}
		return like(c, operator == "ilike", text)
	case "cs", "cd", "ov":
		return lists(c, ListOp(operator), text)
	}
	compare := comparisons[operator]
	if c.Kind == List && compare.op != Equal && compare.op != NotEqual && compare.op != Distinct {
		return nil, errUnsupported("the operator " + operator + " on a list")
	}
	v, err := parseValue(c.Kind, text)
	if err != nil {
		return nil, err
	}
	return Compare{c, compare.op, v}, nil
}

// like takes * for %, as the reference does, because % must be escaped in an address.
func like(c *Column, fold bool, pattern string) (Node, error) {
	if c.Kind != Text {
		sign := "~~ unknown"
		if fold {
			sign = "~~* unknown"
		}
		return nil, errNoOperator(c.Kind, sign)
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
		return never, nil // no list holds a null
	}
	return Lists{c, op, items}, nil
}
