package httpx

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// This file reads JSON bodies as leniently as Supabase Storage does, because clients rely on that.

// DecodeLenientJSON reads a JSON body as DecodeJSON does, but also accepts some values of another JSON type, such as a string where a
// number is expected (coerce lists them). For example, the Python client of Supabase sends "expiresIn":"60".
func DecodeLenientJSON(w http.ResponseWriter, r *http.Request, limit int64, dst any) error {
	var raw json.RawMessage
	if err := DecodeJSON(w, r, limit, &raw); err != nil {
		return err
	}
	if err := UnmarshalLenient(raw, dst); err != nil {
		return ErrBadJSON.Because(err)
	}
	return nil
}

// UnmarshalLenient is json.Unmarshal with the conversions of DecodeLenientJSON.
func UnmarshalLenient(raw json.RawMessage, dst any) error {
	return json.Unmarshal(coerce(raw, reflect.TypeOf(dst).Elem()), dst)
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

// coerce converts a JSON value to the type t if the conversion is unambiguous:
//
//	expected                      also accepted
//	number                        a string with a number
//	boolean                       a string with a boolean, 1 and 0
//	string                        a number, a boolean
//	number, boolean or string     an array whose only element is such a value
//	array                         a value that is not an array; it becomes the only element
//
// It also converts the fields of objects and the elements of arrays. null and all other values stay as they are.
func coerce(raw json.RawMessage, t reflect.Type) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if t.Kind() == reflect.Pointer {
		return coerce(raw, t.Elem())
	}
	convertsItself := reflect.PointerTo(t).Implements(unmarshalerType) // the type has its own method UnmarshalJSON
	if len(raw) == 0 || string(raw) == "null" || convertsItself {
		return raw
	}
	switch t.Kind() {
	case reflect.Struct:
		return coerceFields(raw, t)
	case reflect.Slice:
		return coerceList(raw, t.Elem())
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
		var list []json.RawMessage
		if raw[0] == '[' && json.Unmarshal(raw, &list) == nil && len(list) == 1 {
			raw = bytes.TrimSpace(list[0])
		}
		return coerceScalar(raw, t.Kind())
	}
	return raw
}

func coerceFields(raw json.RawMessage, t reflect.Type) json.RawMessage {
	var fields map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if value, ok := fields[name]; ok {
			fields[name] = coerce(value, t.Field(i).Type)
		}
	}
	return remarshal(raw, fields)
}

func coerceList(raw json.RawMessage, element reflect.Type) json.RawMessage {
	var list []json.RawMessage
	switch {
	case raw[0] == '{':
		return raw // Supabase makes a list only of a single value, not of an object
	case raw[0] != '[':
		list = []json.RawMessage{raw}
	case json.Unmarshal(raw, &list) != nil:
		return raw
	}
	for i, value := range list {
		list[i] = coerce(value, element)
	}
	return remarshal(raw, list)
}

// remarshal returns v as JSON, or raw if v cannot be encoded.
func remarshal(raw json.RawMessage, v any) json.RawMessage {
	if out, err := json.Marshal(v); err == nil {
		return out
	}
	return raw
}

func coerceScalar(raw json.RawMessage, kind reflect.Kind) json.RawMessage {
	text := string(raw)
	quoted := raw[0] == '"'
	if quoted && json.Unmarshal(raw, &text) != nil {
		return raw
	}
	switch kind {
	case reflect.String:
		if !quoted && raw[0] != '{' && raw[0] != '[' {
			return json.RawMessage(strconv.Quote(text)) // a number, true or false
		}
	case reflect.Bool:
		switch text {
		case "true", "1":
			return json.RawMessage("true")
		case "false", "0":
			return json.RawMessage("false")
		}
	default:
		switch text = strings.TrimSpace(text); {
		case text == "true" && !quoted:
			return json.RawMessage("1")
		case text == "false" && !quoted:
			return json.RawMessage("0")
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == math.Trunc(n) && math.Abs(n) <= 1<<53 && !strings.ContainsAny(text, "xX_pP") {
			return json.RawMessage(strconv.FormatInt(int64(n), 10))
		}
	}
	return raw
}
