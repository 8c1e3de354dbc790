package tables

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"atelie/internal/db"
)

// This file splits rows, which the database returns as JSON objects, into their members, and writes them as JSON or CSV.

// member is one member of a JSON object. Two members of a row can have the same name.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a row's JSON object in their order.
func members(row string) ([]member, error) {
	d := json.NewDecoder(strings.NewReader(row))
	if _, err := d.Token(); err != nil { // {
		return nil, err
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		var ok bool
		if m.name, ok = name.(string); !ok {
			return nil, errors.New("a row is no JSON object")
		}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// withoutNulls removes the members whose value is null, as PostgreSQL's json_strip_nulls does.
func withoutNulls(rows []string) ([]string, error) {
	out := make([]string, len(rows))
	for i, row := range rows {
		all, err := members(row)
		if err != nil {
			return nil, err
		}
		out[i] = object(slices.DeleteFunc(all, func(m member) bool { return string(m.value) == "null" }))
	}
	return out, nil
}

// object writes members as a JSON object.
func object(all []member) string {
	parts := make([]string, len(all))
	for i, m := range all {
		parts[i] = jsonText(m.name) + ":" + string(m.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// csvText writes rows as CSV in PostgREST's form: a line with the names, unquoted, then each row as PostgreSQL prints a
// record, without the parentheses. Without rows the result is one empty line.
func csvText(rows []string, fields []Field) (string, error) {
	var header, body []string
	for i, row := range rows {
		all, err := members(row)
		if err != nil {
			return "", err
		}
		line := make([]string, len(all))
		for j, m := range all {
			if i == 0 {
				header = append(header, m.name)
			}
			if line[j], err = csvField(m.value, fields[j].kind()); err != nil {
				return "", err
			}
		}
		body = append(body, strings.Join(line, ","))
	}
	return strings.Join(header, ",") + "\n" + strings.Join(body, "\n"), nil
}

// csvField writes one value as PostgreSQL's record_out does. Null is written as nothing, an empty text as "".
func csvField(value json.RawMessage, kind Kind) (string, error) {
	text := string(value)
	switch {
	case text == "null":
		return "", nil
	case kind == Bool:
		return text[:1], nil
	case kind == List:
		var items []string
		if err := json.Unmarshal(value, &items); err != nil {
			return "", err
		}
		text = db.ListText(items)
	case kind != JSON && text[0] == '"':
		if err := json.Unmarshal(value, &text); err != nil {
			return "", err
		}
	}
	switch kind {
	case Timestamp:
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), ":00")
	case PlainTimestamp:
		text = strings.Replace(text, "T", " ", 1)
	}
	if text != "" && !strings.ContainsAny(text, "\"\\(), \t\n\v\f\r") {
		return text, nil
	}
	return `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(text) + `"`, nil
}
