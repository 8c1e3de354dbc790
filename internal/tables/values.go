package tables

import (
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

// A stored value is, by kind: UUID string (lower case), Text string, Bool bool, Int int64 (32 bits), Timestamp time.Time
// (UTC, microseconds), Date string (YYYY-MM-DD), List []string. Both engines get the same value.

// parseValue reads a value of a kind from its text, as PostgreSQL would.
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
	default:
		return s, nil
	}
}

// parseUUID takes the forms that people write: with and without hyphens, upper case, braces.
func parseUUID(s string) (any, error) {
	bare := strings.TrimSpace(s)
	if strings.HasPrefix(bare, "{") && strings.HasSuffix(bare, "}") {
		bare = bare[1 : len(bare)-1]
	}
	if len(bare) != 36 && len(bare) != 32 {
		return nil, errBadValue(UUID, s)
	}
	id, err := uuid.Parse(bare)
	if err != nil {
		return nil, errBadValue(UUID, s).Because(err)
	}
	return id.String(), nil
}

// parseBool takes what PostgreSQL takes: the words and their unambiguous beginnings, in any case.
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

var integer = regexp.MustCompile(`^[+-]?[0-9]+$`)

func parseInt(s string) (any, error) {
	digits := strings.TrimSpace(s)
	if !integer.MatchString(digits) {
		return nil, errBadValue(Int, s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return nil, errNumberRange(s).Because(err)
	}
	return n, nil
}

var timestamp = regexp.MustCompile(`(?i)^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,9})?)?\s*(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$`)

// parseTimestamp reads ISO 8601; without a zone it is UTC, as the sessions are. Parts of a microsecond are rounded.
func parseTimestamp(kind Kind, s string) (any, error) {
	part := timestamp.FindStringSubmatch(strings.TrimSpace(s))
	if part == nil {
		return nil, errBadTime(kind, s)
	}
	clock, seconds, zone := part[2], part[3], strings.ToUpper(part[4])
	if clock == "" {
		clock = "00:00"
	}
	if seconds == "" {
		seconds = ":00"
	}
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

// parseDate reads a plain date. A time behind it is dropped and never shifts it (READING §3.31).
func parseDate(s string) (any, error) {
	trimmed := strings.TrimSpace(s)
	if !timestamp.MatchString(trimmed) {
		return nil, errBadTime(Date, s)
	}
	t, err := time.Parse(time.DateOnly, trimmed[:len(time.DateOnly)])
	if err != nil || t.Year() < 1 {
		return nil, errTimeRange(s).Because(err)
	}
	return t.Format(time.DateOnly), nil
}

// parseList reads PostgreSQL's array literal: {a,"b, c"}. Nulls and lists in lists are refused: no column holds them.
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

// parseArray is parseList with nulls left out and counted.
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
		if rest = strings.TrimSpace(after[1:]); rest == "" { // behind the comma something must come
			return nil, 0, errBadList(s)
		}
	}
	return items, nulls, nil
}

// arrayItem reads one entry; after is empty or begins with the comma.
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

// fromJSON reads a value of a kind from a decoded body (numbers as json.Number); null is for the caller. A scalar counts
// by its text, as in PostgreSQL's json_to_recordset; objects fit nowhere.
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

// checkText refuses what PostgreSQL cannot store in a text.
func checkText(where, s string) error {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return errBadUTF8(where)
	}
	return nil
}

// checkValue holds a value against the rules of its column.
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
	}
	return nil
}

// canonicalList writes a list as JSON, the way PostgreSQL prints one: the text that SQLite stores, compares and prints.
func canonicalList(items []string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = jsonText(item)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// jsonText escapes what PostgreSQL and SQLite escape, and nothing else; encoding/json would escape more.
func jsonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if c < 0x20 {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
