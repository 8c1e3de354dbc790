package tables

import (
	"encoding/json"
	"errors"
	"strings"

	"atelie/internal/db"
)

// member is one member of a row's JSON, in its order; names may repeat.
type member struct {
	name  string
	value json.RawMessage
}

// members takes a row that a database wrote apart.
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

// withoutNulls leaves out the members that are null, as json_strip_nulls does.
func withoutNulls(rows []string) ([]string, error) {
	out := make([]string, len(rows))
	for i, row := range rows {
		all, err := members(row)
		if err != nil {
			return nil, err
		}
		var kept []string
		for _, m := range all {
			if string(m.value) != "null" {
				kept = append(kept, jsonText(m.name)+":"+string(m.value))
			}
		}
		out[i] = "{" + strings.Join(kept, ",") + "}"
	}
	return out, nil
}

// csvText writes rows as the reference does: the names as they are, then each row as PostgreSQL writes a record without
// its parentheses. Without rows it is one empty line.
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

// csvField writes one value as record_out does. Null is nothing at all, an empty text is "".
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
