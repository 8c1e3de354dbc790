package tables

import (
	"encoding/json"
	"slices"
	"strings"

	"atelie/internal/db"
)

// This file splits rows into members and writes members as JSON or CSV. The database returns each row as a JSON object. A member is a key of
// that object with its value.

// member is one member of a row's JSON object. Two members of a row can have the same key, because select can name a column twice.
type member struct {
	key   string
	value json.RawMessage
}

// splitMembers returns the members of a row's JSON object in their order.
func splitMembers(row string) ([]member, error) {
	d := json.NewDecoder(strings.NewReader(row))
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, err
	}
	var members []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)} // every other token of an object is a key
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// removeNulls removes from each row the members whose value is null. Nulls within a member's value stay. In PostgREST, json_strip_nulls
// removes these too.
func removeNulls(rows []string) ([]string, error) {
	out := make([]string, len(rows))
	for i, row := range rows {
		members, err := splitMembers(row)
		if err != nil {
			return nil, err
		}
		out[i] = encodeObject(slices.DeleteFunc(members, func(m member) bool { return string(m.value) == "null" }))
	}
	return out, nil
}

// encodeObject writes members as a JSON object.
func encodeObject(members []member) string {
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = jsonText(m.key) + ":" + string(m.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// encodeCSV writes rows as CSV in PostgREST's form. The first line has the keys, unquoted. Then each row is written as PostgreSQL writes a
// record, but without the parentheses. fields are the members that each row has. Without rows the result is one empty line.
func encodeCSV(rows []string, fields []Field) (string, error) {
	var header, body []string
	for i, row := range rows {
		members, err := splitMembers(row)
		if err != nil {
			return "", err
		}
		line := make([]string, len(members))
		for j, m := range members {
			if i == 0 {
				header = append(header, m.key)
			}
			if line[j], err = encodeCSVValue(m.value, fields[j].kind()); err != nil {
				return "", err
			}
		}
		body = append(body, strings.Join(line, ","))
	}
	return strings.Join(header, ",") + "\n" + strings.Join(body, "\n"), nil
}

// encodeCSVValue writes one value as PostgreSQL's record_out does. Null is written as nothing, an empty text as "".
func encodeCSVValue(value json.RawMessage, kind Kind) (string, error) {
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
