package db

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// This file converts the values of a copy between SQLite and PostgreSQL. A new kind of column needs an entry in kinds.

// kind is a column's type: the name of its placeholder in the migrations, such as uuid for {{.uuid}}.
type kind string

// conversion contains the SQL and the functions by which a copy converts values of one kind between the engines.
type conversion struct {
	// SQL expressions for PostgreSQL: postgresRead selects a column, postgresWrite converts a parameter before it is stored. %s stands for
	// the name of the column, %d for the number of the parameter.
	postgresRead, postgresWrite string
	// read returns dest, a destination for Scan, and a function that is called after Scan and returns the scanned value.
	read func() (dest any, value func() any)
	// canonical returns the bytes of a value for the checksum of its table (TableChecksum). Equal values give equal bytes on both engines.
	canonical func(v any) ([]byte, error)
}

// kinds maps each kind to its conversion, with the fields postgresRead, postgresWrite, read and canonical in this order. The cast ::text in
// postgresWrite makes PostgreSQL accept a string as the parameter. A list is copied as the text of a JSON array, which PostgreSQL converts
// to an array with the elements in the same order.
var kinds = map[kind]conversion{
	"uuid":      {"%s::text", "$%d::text::uuid", readOf[string], plainText},
	"text":      {"%s", "$%d::text", readOf[string], plainText},
	"date":      {"%s::text", "$%d::text::date", readOf[string], plainText},
	"timestamp": {"%s", "$%d::timestamptz", readOf[time.Time], canonicalTime},
	"bool":      {"%s", "$%d::boolean", readOf[bool], canonicalBool},
	"int":       {"%s", "$%d::integer", readOf[int64], canonicalInt},
	"bigint":    {"%s", "$%d::bigint", readOf[int64], canonicalInt},
	"serial":    {"%s", "$%d::bigint", readOf[int64], canonicalInt},
	"real":      {"%s", "$%d::double precision", readOf[float64], canonicalReal},
	"json":      {"%s::text", "$%d::text::jsonb", readOf[string], canonicalJSON},
	"list": {
		"to_json(%s)::text",
		"case when $%[1]d::text is null then null else array(select value from json_array_elements_text($%[1]d::text::json)" +
			" with ordinality as given(value, position) order by position) end",
		readOf[string], canonicalJSON,
	},
	"bytes": {"%s", "$%d::bytea", readOf[[]byte], func(v any) ([]byte, error) { return v.([]byte), nil }},
}

// readOf is the read function of a conversion for values of the Go type T.
func readOf[T any]() (any, func() any) {
	p := new(*T) // Scan leaves *p nil for null
	return p, func() any {
		if *p == nil {
			return nil
		}
		return **p
	}
}

func canonicalUUID(s string) (string, error) {
	u, err := uuid.Parse(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a UUID", s)
	}
	return u.String(), nil
}

func plainText(v any) ([]byte, error) { return []byte(v.(string)), nil }

func canonicalTime(v any) ([]byte, error) { return []byte(FormatTime(v.(time.Time))), nil }

func canonicalBool(v any) ([]byte, error) { return strconv.AppendBool(nil, v.(bool)), nil }

func canonicalInt(v any) ([]byte, error) { return strconv.AppendInt(nil, v.(int64), 10), nil }

// canonicalReal writes the shortest decimal that reads as the same 64-bit number: both engines store all 64 bits.
func canonicalReal(v any) ([]byte, error) {
	return strconv.AppendFloat(nil, v.(float64), 'g', -1, 64), nil
}

// canonicalJSON writes JSON in a form that depends only on what PostgreSQL's jsonb keeps of a text: keys sorted and
// without duplicates, no white space, numbers by their value.
func canonicalJSON(v any) ([]byte, error) {
	d := json.NewDecoder(strings.NewReader(v.(string)))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return json.Marshal(plainNumbers(tree))
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(plainNumber(string(v)))
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

// plainNumber writes a decimal as digits and a power of ten, so that 1, 1.0 and 10e-1 give the same text.
func plainNumber(s string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	power := new(big.Int)
	if exponent != "" {
		power.SetString(strings.TrimPrefix(exponent, "+"), 10)
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	digits = strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if kept == "" {
		return "0"
	}
	power.Add(power, big.NewInt(int64(len(digits)-len(kept))))
	if negative {
		kept = "-" + kept
	}
	if power.Sign() == 0 {
		return kept
	}
	return kept + "e" + power.String()
}

// compactJSON removes the white space that jsonb prints, so that SQLite stores the same text as the program itself writes.
func compactJSON(s string) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, []byte(s))
	return b.String(), err
}

// writeCanonical writes a row in the form that is hashed: for each column the byte 0 for null, or the byte 1 followed by the
// length and the bytes of the value.
func (t *table) writeCanonical(w io.Writer, values []any) error {
	var out []byte
	for i, v := range values {
		if v == nil {
			out = append(out, 0)
			continue
		}
		b, err := kinds[t.columns[i].kind].canonical(v)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.name, t.columns[i].name, err)
		}
		out = binary.AppendUvarint(append(out, 1), uint64(len(b)))
		out = append(out, b...)
	}
	_, err := w.Write(out)
	return err
}
