package realtime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file parses the filters with which clients subscribe to only some rows of a table, and decides which rows match them. An example of
// a filter with two conditions is "year=gte.2020,title=not.in.(A,B)".

// Limits of the filter of one subscription. A join with a filter that exceeds one of them is refused.
const (
	maxFilter     = 4000 // bytes
	maxConditions = 20
	maxInValues   = 100 // operands of the operator "in", as in Supabase
)

// condition is one condition of a subscription's filter. A row matches the filter if it satisfies all conditions.
type condition struct {
	column   db.ColumnType
	operator string         // eq, in, like and so on
	negated  bool           // the operator has the prefix "not."
	values   []any          // operands: strings, bools, int64s or time.Times, by the type of the column; nil for null
	pattern  *regexp.Regexp // the compiled operand of an operator in patternCompilers; nil for other operators
}

// comparisons has a function for each comparison operator, which reports its result. sign is negative if the column's value is less than
// the operand, 0 if the two are equal, and positive if the value is greater.
var comparisons = map[string]func(sign int) bool{
	"eq":  func(s int) bool { return s == 0 },
	"neq": func(s int) bool { return s != 0 },
	"lt":  func(s int) bool { return s < 0 },
	"lte": func(s int) bool { return s <= 0 },
	"gt":  func(s int) bool { return s > 0 },
	"gte": func(s int) bool { return s >= 0 },
}

// patternCompilers has a function for each operator whose operand is a pattern. The function compiles the operand: an SQL pattern for like,
// a regular expression for match. For ilike and imatch it is called with ignoreCase = true.
var patternCompilers = map[string]func(pattern string, ignoreCase bool) (*regexp.Regexp, error){
	"like": compileLike, "ilike": compileLike, "match": compileRegexp, "imatch": compileRegexp,
}

// parseFilter parses the filter of a subscription. A filter is a list of conditions, separated by commas, each of the form
// "column=[not.]operator.value". The texts of the errors are sent to the client.
func parseFilter(columns []db.ColumnType, text string) ([]condition, error) {
	if len(text) > maxFilter {
		return nil, fmt.Errorf("a filter may have at most %d bytes", maxFilter)
	}
	parts, err := splitQuoted(text)
	if err != nil {
		return nil, err
	}
	if len(parts) > maxConditions {
		return nil, fmt.Errorf("a filter may have at most %d conditions", maxConditions)
	}
	conditions := make([]condition, len(parts))
	for i, part := range parts {
		if conditions[i], err = parseCondition(columns, part); err != nil {
			return nil, err
		}
	}
	return conditions, nil
}

func parseCondition(columns []db.ColumnType, text string) (c condition, err error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok {
		return c, fmt.Errorf("the filter %q is not column=operator.value", text)
	}
	i := slices.IndexFunc(columns, func(column db.ColumnType) bool { return column.Name == name })
	if i < 0 {
		return c, fmt.Errorf("the filter names the column %q, which does not exist", name)
	}
	c.column = columns[i]
	columnType := c.column.Type
	rest, c.negated = strings.CutPrefix(rest, "not.")
	operator, value, ok := strings.Cut(rest, ".")
	if c.operator = operator; !ok {
		return c, fmt.Errorf("the filter %q is not column=operator.value", text)
	}
	if (columnType == "_text" || columnType == "json") && operator != "is" {
		return c, fmt.Errorf("filters on the column %q of type %s are not supported", name, columnType)
	}
	switch {
	case comparisons[operator] != nil, operator == "isdistinct":
		if value, err = unquote(value); err != nil {
			return c, err
		}
		c.values, err = readValues(columnType, []string{value})
	case operator == "in":
		c.values, err = parseIn(columnType, value)
	case operator == "is":
		c.values, err = parseIs(columnType, value)
	case patternCompilers[operator] != nil:
		if columnType != "text" {
			return c, fmt.Errorf("%s needs a text column, and %q is not one", operator, name)
		}
		if value, err = unquote(value); err == nil {
			c.pattern, err = patternCompilers[operator](value, strings.HasPrefix(operator, "i"))
		}
	default:
		return c, fmt.Errorf("the operator %q is not supported in filters", operator)
	}
	return c, err
}

func parseIn(columnType, text string) ([]any, error) {
	if !strings.HasPrefix(text, "(") || !strings.HasSuffix(text, ")") || len(text) < 2 {
		return nil, fmt.Errorf("in needs its values in parentheses, not %q", text)
	}
	items, err := splitQuoted(text[1 : len(text)-1])
	if err != nil {
		return nil, err
	}
	if len(items) > maxInValues {
		return nil, fmt.Errorf("in takes at most %d values", maxInValues)
	}
	for i := range items {
		if items[i], err = unquote(items[i]); err != nil {
			return nil, err
		}
	}
	return readValues(columnType, items)
}

func parseIs(columnType, text string) ([]any, error) {
	switch strings.ToLower(text) {
	case "null":
		return []any{nil}, nil
	case "unknown", "true", "false":
		if columnType != "bool" {
			return nil, fmt.Errorf("is.%s needs a boolean column", text)
		}
		if strings.EqualFold(text, "unknown") {
			return []any{nil}, nil
		}
		return []any{strings.EqualFold(text, "true")}, nil
	}
	return nil, fmt.Errorf("is takes null, true, false or unknown, not %q", text)
}

// compileLike translates an SQL pattern to RE2, which runs in linear time.
func compileLike(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	flags := "(?s)"
	if ignoreCase {
		flags = "(?si)"
	}
	var b strings.Builder
	b.WriteString(flags + "^")
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	if escaped {
		return nil, fmt.Errorf("the pattern %q ends in an escape", pattern)
	}
	b.WriteString("$")
	return regexp.Compile(b.String())
}

// splitQuoted splits at commas outside quotes and parentheses.
func splitQuoted(text string) ([]string, error) {
	var parts []string
	begin, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth > 0: // any other one belongs to a value
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed in %q", text)
	}
	return append(parts, text[begin:]), nil
}

// unquote removes the quotes around a value, if it has any, and its escapes.
func unquote(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '"' && i == len(text)-1:
			return b.String(), nil
		case c == '"':
			return "", fmt.Errorf("a quote is in the middle of %q", text)
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("a quote is not closed in %q", text)
}

func readValues(columnType string, texts []string) ([]any, error) {
	values := make([]any, len(texts))
	for i, text := range texts {
		v, err := readValue(columnType, text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a value of the type %s", text, columnType)
		}
		values[i] = v
	}
	return values, nil
}

// errValue is the error for a text that is no value of a column's type.
var errValue = errors.New("not a value of the column's type")

// readValue parses a value of a column's type. It returns a string, bool, int64 or time.Time.
func readValue(columnType, text string) (any, error) {
	switch columnType {
	case "uuid":
		id, err := uuid.Parse(text)
		return id.String(), err
	case "bool":
		switch strings.ToLower(text) {
		case "true", "t":
			return true, nil
		case "false", "f":
			return false, nil
		}
		return nil, errValue
	case "int4":
		return strconv.ParseInt(text, 10, 64)
	case "timestamptz":
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999", time.DateOnly} {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC(), nil
			}
		}
		return nil, errValue
	case "date":
		t, err := time.Parse(time.DateOnly, text)
		return t.Format(time.DateOnly), err
	default:
		return text, nil
	}
}

// valueOf decodes a column's value from its JSON; nil stands for null.
func valueOf(columnType string, raw json.RawMessage) (any, error) {
	if isNull(raw) {
		return nil, nil
	}
	if raw[0] != '"' {
		return readValue(columnType, string(raw))
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return readValue(columnType, text)
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// compare orders two values of one type; false is less than true.
func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case int64:
		return cmp.Compare(a, b.(int64))
	case time.Time:
		return a.Compare(b.(time.Time))
	case bool:
		if a == b.(bool) {
			return 0
		}
		if a {
			return 1
		}
	}
	return -1
}

// matches reports whether a record satisfies the condition. As in SQL, a comparison with null is not satisfied, nor is its
// negation.
func (c condition) matches(record map[string]json.RawMessage) bool {
	raw, ok := record[c.column.Name]
	if !ok {
		return false
	}
	if c.operator == "is" && c.values[0] == nil { // before valueOf, which cannot decode lists
		return isNull(raw) != c.negated
	}
	value, err := valueOf(c.column.Type, raw)
	if err != nil {
		return false
	}
	switch {
	case c.operator == "is":
		return (value == c.values[0]) != c.negated
	case c.operator == "isdistinct":
		return (value == nil || compare(value, c.values[0]) != 0) != c.negated
	case value == nil:
		return false
	case c.pattern != nil:
		text, isText := value.(string)
		return isText && c.pattern.MatchString(text) != c.negated
	case c.operator == "in":
		return slices.ContainsFunc(c.values, func(v any) bool { return compare(value, v) == 0 }) != c.negated
	default:
		return comparisons[c.operator](compare(value, c.values[0])) != c.negated
	}
}
