package tables

import (
	"reflect"
	"testing"
	"time"

	"atelie/internal/apperr"
)

func TestParseValue(t *testing.T) {
	noon := time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind Kind
		text string
		want any // a value, or the code of an error
	}{
		{UUID, id(1), id(1)},
		{UUID, " 00000000-0000-4000-8000-0000000000AB ", "00000000-0000-4000-8000-0000000000ab"},
		{UUID, "{00000000-0000-4000-8000-000000000001}", id(1)},
		{UUID, "00000000000040008000000000000001", id(1)},
		{UUID, "00000000-0000-4000-8000-00000000000", "22P02"},
		{UUID, "00000000-0000-4000-8000-00000000000g", "22P02"},
		{UUID, "0000000000004000800000000000000g", "22P02"},
		{Bool, "true", true}, {Bool, " YES ", true}, {Bool, "t", true}, {Bool, "on", true}, {Bool, "1", true},
		{Bool, "false", false}, {Bool, "F", false}, {Bool, "n", false}, {Bool, "of", false}, {Bool, "0", false},
		{Bool, "o", "22P02"}, {Bool, "", "22P02"}, {Bool, "truee", "22P02"}, {Bool, "2", "22P02"},
		{Int, "0", int64(0)}, {Int, " -12 ", int64(-12)}, {Int, "+7", int64(7)}, {Int, "2147483647", int64(2147483647)}, {Int, "-2147483648", int64(-2147483648)},
		{Int, "2147483648", "22003"}, {Int, "99999999999999999999", "22003"}, {Int, "1.0", "22P02"}, {Int, "0x1", "22P02"}, {Int, "1 2", "22P02"}, {Int, "--1", "22P02"}, {Int, "", "22P02"},
		{Timestamp, "2026-03-12T12:00:00Z", noon}, {Timestamp, "2026-03-12T12:00:00+00:00", noon}, {Timestamp, "2026-03-12 09:00-03", noon}, {Timestamp, "2026-03-12t14:30:00.000+0230", noon},
		{Timestamp, "2026-03-12 12:00:00 Z", noon}, {Timestamp, "2026-03-12", noon.Add(-12 * time.Hour)}, {Timestamp, "2026-03-12T12:00", noon},
		{Timestamp, "2026-03-12T12:00:00.0000004Z", noon}, {Timestamp, "2026-03-12T11:59:59.9999996Z", noon}, {Timestamp, "2026-03-12T12:00:00.123456Z", noon.Add(123456 * time.Microsecond)},
		{Timestamp, "2026-03-12T12", "22007"}, {Timestamp, "12:00", "22007"}, {Timestamp, "", "22007"}, {Timestamp, "2026-03-12T12:00:00.0000000001Z", "22007"}, {Timestamp, "02026-03-12", "22007"},
		{Timestamp, "2026-03-12T25:00:00Z", "22008"}, {Timestamp, "2026-02-29T00:00:00Z", "22008"}, {Timestamp, "0001-01-01T00:00:00+01:00", "22008"}, {Timestamp, "2026-03-12T12:00:00+25:00", "22008"},
		{Date, "2026-03-12", "2026-03-12"}, {Date, " 2024-02-29 ", "2024-02-29"}, {Date, "2026-03-12T23:59:59-03:00", "2026-03-12"},
		{Date, "2026-02-29", "22008"}, {Date, "0000-01-01", "22008"}, {Date, "12/03/2026", "22007"}, {Date, "", "22007"}, {Date, "2026-03-12 soon", "22007"},
		{List, "{}", []string{}}, {List, " { } ", []string{}}, {List, "{a, b ,c}", []string{"a", "b", "c"}}, {List, `{"a,b","c\"d","\\","é"}`, []string{"a,b", `c"d`, `\`, "é"}},
		{List, `{"",x}`, []string{"", "x"}}, {List, `{"null"}`, []string{"null"}}, {List, `{a\,b}`, []string{"a,b"}}, {List, `{ "a" , b }`, []string{"a", "b"}},
		{List, "{", "22P02"}, {List, "}", "22P02"}, {List, "", "22P02"}, {List, "{a", "22P02"}, {List, "{NULL}", "22P02"}, {List, "{a,,b}", "22P02"}, {List, `{a"b}`, "22P02"}, {List, `{"a`, "22P02"}, {List, "{{a}}", "22P02"}, {List, "{a}b", "22P02"}, {List, `{"\`, "22P02"},
		{Text, " as it is ", " as it is "},
	} {
		got, err := parseValue(c.kind, c.text)
		if err != nil {
			if e := apperr.From(err); e.Code != c.want || e.Status != 400 {
				t.Errorf("%s %q: %v, want %v", c.kind, c.text, err, c.want)
			}
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %q: got %v, want %v", c.kind, c.text, got, c.want)
		}
	}
}

func TestShortCutsBetweenCharacters(t *testing.T) {
	long := ""
	for range 201 {
		long += "é"
	}
	if got := truncate(long); got != long[:400]+"…" || truncate("é") != "é" {
		t.Errorf("got %q", got)
	}
}
