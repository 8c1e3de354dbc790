package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// This file parses and checks values of columns. Each kind of column has one Go type for its values, on SQLite and on PostgreSQL:
//   - UUID (lower case), Text and Date (YYYY-MM-DD): string
//   - Bool: bool
//   - Int: int64, within 32 bits
//   - Timestamp: time.Time in UTC, with microseconds
//   - List: []string
//   - AltTexts: altTexts

// parseValue converts a string to a value of a kind, by PostgreSQL's rules.
func parseValue(kind Kind, s string) (any, error) {
	switch kind {
	case UUID:
		return parseUUID(s)
	case Bool:
		return parseBool(s)
	case Int:
		return parseInt(s)
	case Timestamp:
		return parseTimestamp(kind, s)
	case Date:
		return parseDate(s)
	case List:
		return parseList(s)
	case AltTexts:
		return altTextsFromJSON(s)
	default:
		return s, nil
	}
}

// parseUUID accepts a UUID with or without hyphens, with or without braces, in upper or lower case.
func parseUUID(s string) (any, error) {
	bare := strings.TrimSpace(s)
	if strings.HasPrefix(bare, "{") && strings.HasSuffix(bare, "}") {
		bare = bare[1 : len(bare)-1]
	}
	if len(bare) != 36 && len(bare) != 32 { // with and without hyphens
		return nil, errBadValue(UUID, s)
	}
	id, err := uuid.Parse(bare)
	if err != nil {
		return nil, errBadValue(UUID, s).Because(err)
	}
	return id.String(), nil
}

// parseBool accepts what PostgreSQL accepts: true, yes, on, 1, false, no, off, 0 and their unambiguous prefixes, in upper or lower case.
func parseBool(s string) (any, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if word == "" || word == "o" {
		return nil, errBadValue(Bool, s)
	}
	for _, w := range []struct {
		word  string
		value bool
	}{{"true", true}, {"yes", true}, {"on", true}, {"1", true}, {"false", false}, {"no", false}, {"off", false}, {"0", false}} {
		if strings.HasPrefix(w.word, word) {
			return w.value, nil
		}
	}
	return nil, errBadValue(Bool, s)
}

var integerPattern = regexp.MustCompile(`^[+-]?[0-9]+$`)

func parseInt(s string) (any, error) {
	digits := strings.TrimSpace(s)
	if !integerPattern.MatchString(digits) {
		return nil, errBadValue(Int, s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return nil, errNumberRange(s).Because(err)
	}
	return n, nil
}

var timestampPattern = regexp.MustCompile(`(?i)^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,9})?)?\s*(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$`)

// parseTimestamp reads a time in ISO 8601. Without a zone it is UTC, like the database sessions. It is rounded to
// microseconds.
func parseTimestamp(kind Kind, s string) (any, error) {
	part := timestampPattern.FindStringSubmatch(strings.TrimSpace(s))
	if part == nil {
		return nil, errBadTime(kind, s)
	}
	clock, seconds, zone := cmp.Or(part[2], "00:00"), cmp.Or(part[3], ":00"), strings.ToUpper(part[4])
	switch {
	case zone == "":
		zone = "Z"
	case len(zone) == 3: // +01
		zone += ":00"
	case len(zone) == 5: // +0100
		zone = zone[:3] + ":" + zone[3:]
	}
	t, err := time.Parse(time.RFC3339Nano, part[1]+"T"+clock+seconds+zone)
	if err != nil {
		return nil, errTimeRange(s).Because(err)
	}
	t = t.UTC().Round(time.Microsecond)
	if y := t.Year(); y < 1 || y > 9999 {
		return nil, errTimeRange(s)
	}
	return t, nil
}

// parseDate reads a date. A time of day after it is ignored, and its time zone does not change the date.
func parseDate(s string) (any, error) {
	trimmed := strings.TrimSpace(s)
	if !timestampPattern.MatchString(trimmed) {
		return nil, errBadTime(Date, s)
	}
	t, err := time.Parse(time.DateOnly, trimmed[:len(time.DateOnly)])
	if err != nil || t.Year() < 1 {
		return nil, errTimeRange(s).Because(err)
	}
	return t.Format(time.DateOnly), nil
}

// parseList reads PostgreSQL's array literal, such as {a,"b, c"}. It rejects nulls and nested lists, which no column can
// store.
func parseList(s string) ([]string, error) {
	items, nulls, err := parseArray(s)
	if err != nil {
		return nil, err
	}
	if nulls > 0 {
		return nil, errBadList(s).Becausef("null entry")
	}
	return items, nil
}

// parseArray is parseList, except that it leaves out nulls and returns their number.
func parseArray(s string) (items []string, nulls int, err error) {
	body := strings.TrimSpace(s)
	if !strings.HasPrefix(body, "{") || !strings.HasSuffix(body, "}") || len(body) < 2 {
		return nil, 0, errBadList(s)
	}
	items = []string{}
	rest := strings.TrimSpace(body[1 : len(body)-1])
	for rest != "" {
		item, quoted, after, ok := arrayItem(rest)
		switch {
		case !ok:
			return nil, 0, errBadList(s)
		case !quoted && strings.EqualFold(item, "null"):
			nulls++
		default:
			items = append(items, item)
		}
		if after == "" {
			return items, nulls, nil
		}
		if rest = strings.TrimSpace(after[1:]); rest == "" { // an entry must follow the comma
			return nil, 0, errBadList(s)
		}
	}
	return items, nulls, nil
}

// arrayItem reads the first entry of an array. after is the rest of s, which is empty or begins with the comma.
func arrayItem(s string) (item string, quoted bool, after string, ok bool) {
	var b strings.Builder
	if quoted = strings.HasPrefix(s, `"`); quoted {
		s = s[1:]
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				return "", false, "", false
			}
			b.WriteByte(s[i])
		case c == '"' && quoted:
			after = strings.TrimSpace(s[i+1:])
			return b.String(), true, after, after == "" || after[0] == ','
		case c == '"' || (!quoted && (c == '{' || c == '}')):
			return "", false, "", false
		case c == ',' && !quoted:
			item = strings.TrimSpace(b.String())
			return item, false, s[i:], item != ""
		default:
			b.WriteByte(c)
		}
	}
	item = strings.TrimSpace(b.String())
	return item, false, "", !quoted && item != ""
}

// fromJSON converts a decoded JSON value (with numbers as json.Number) to a value of a kind. A scalar is read from its text,
// as PostgreSQL's json_to_recordset does; objects are rejected. The caller handles null.
func fromJSON(kind Kind, v any) (any, error) {
	switch v := v.(type) {
	case string:
		if err := checkText("A text", v); err != nil {
			return nil, err
		}
		return parseValue(kind, v)
	case bool:
		return parseValue(kind, strconv.FormatBool(v))
	case json.Number:
		return parseValue(kind, v.String())
	case []any:
		if kind == List {
			return listFromJSON(v)
		}
	case map[string]any:
		if kind == AltTexts {
			return altTextsFromJSON(v)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, errBadValue(kind, "").Because(err)
	}
	return nil, errBadValue(kind, string(text))
}

func listFromJSON(values []any) (any, error) {
	items := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			return nil, errBadValue(List, "null").Becausef("null entry")
		}
		item, err := fromJSON(Text, v)
		if err != nil {
			return nil, err
		}
		items[i] = item.(string)
	}
	return items, nil
}

// checkText rejects texts that the engines cannot store: invalid UTF-8 and texts with a NUL.
func checkText(where, s string) error {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return withDetails(errBadUTF8, "%s must be UTF-8 without NUL", where)
	}
	return nil
}

// checkValue checks a value against the rules of its column.
func checkValue(t *Table, c *Column, v any) error {
	switch v := v.(type) {
	case nil:
		if c.NotNull {
			return errNull(t, c)
		}
	case string:
		if c.Kind == Text {
			return checkTextRules(t, c, v)
		}
	case int64:
		if c.AtLeast != nil && v < *c.AtLeast {
			return errCheck(t, c, fmt.Sprintf("%s must be at least %d", c.Name, *c.AtLeast))
		}
	case altTexts:
		return v.check(c)
	case []string:
		if len(v) > c.MaxItems {
			return errTooLong(c, fmt.Sprintf("%s may have at most %d entries", c.Name, c.MaxItems))
		}
		for _, item := range v {
			if utf8.RuneCountInString(item) > c.MaxLen {
				return errTooLong(c, fmt.Sprintf("an entry of %s may have at most %d characters", c.Name, c.MaxLen))
			}
		}
	}
	return nil
}

func checkTextRules(t *Table, c *Column, s string) error {
	if c.OneOf != nil {
		if !slices.Contains(c.OneOf, s) {
			return errCheck(t, c, fmt.Sprintf("%s must be one of %s", c.Name, strings.Join(c.OneOf, ", ")))
		}
		return nil
	}
	switch n := utf8.RuneCountInString(s); {
	case n < c.MinLen:
		return errCheck(t, c, c.Name+" must not be empty")
	case n > c.MaxLen:
		return errTooLong(c, fmt.Sprintf("%s may have at most %d characters", c.Name, c.MaxLen))
	case c.Valid != nil && !c.Valid(s):
		return errCheck(t, c, c.Name+" has a character that it must not have")
	}
	return nil
}

// canonicalList writes a list as JSON exactly as PostgreSQL prints it. SQLite stores, compares and prints this text.
func canonicalList(items []string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = jsonText(item)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// jsonEscapes escapes the characters that PostgreSQL and SQLite escape in a JSON text. encoding/json would escape more.
var jsonEscapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`}
	for c := range rune(0x20) {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c)) // a Replacer uses the first pair for a character, so those above win
	}
	return strings.NewReplacer(pairs...)
}()

func jsonText(s string) string { return `"` + jsonEscapes.Replace(s) + `"` }
