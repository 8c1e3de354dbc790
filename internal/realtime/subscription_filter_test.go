package realtime

import (
	"encoding/json"
	"strings"
	"testing"

	"atelie/internal/db"
)

var filterColumns = []db.ColumnType{
	{Name: "id", Type: "uuid", Key: true}, {Name: "title", Type: "text"}, {Name: "location", Type: "text"}, {Name: "is_active", Type: "bool"},
	{Name: "display_order", Type: "int4"}, {Name: "created_at", Type: "timestamptz"}, {Name: "creation_date", Type: "date"}, {Name: "tags", Type: "_text"},
}

const filterRow = `{"id":"7d6a3a0e-0000-4000-8000-000000000001","title":"Telhados, manhã (azul)","location":null,"is_active":true,"display_order":12,
	"created_at":"2026-03-12T23:59:59.5+00:00","creation_date":"2024-03-12","tags":["a"]}`

// Proves RT-filter-1, RT-filter-5.
func TestFilters(t *testing.T) {
	var record map[string]json.RawMessage
	if err := json.Unmarshal([]byte(filterRow), &record); err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]bool{ // whether the filter matches filterRow
		`id=eq.7D6A3A0E-0000-4000-8000-000000000001`: true, `id=neq.7d6a3a0e-0000-4000-8000-000000000001`: false,
		`display_order=eq.12`: true, `display_order=gt.9`: true, `display_order=lt.9`: false, `display_order=gte.12`: true, `display_order=lte.11`: false, // as numbers, not as text
		`display_order=in.(1,12)`: true, `display_order=in.(1,2)`: false, `display_order=not.in.(1,2)`: true,
		`is_active=eq.true`: true, `is_active=eq.false`: false, `is_active=is.true`: true, `is_active=is.false`: false, `is_active=not.is.false`: true, `is_active=is.unknown`: false,
		`title=eq."Telhados, manhã (azul)"`: true, `title=like.Telhados%`: true, `title=like.telhados%`: false, `title=ilike.telhados%`: true, `title=not.like.T%`: false, `title=like.T_lhados%`: true, `title=like.T.lhados%`: false,
		`title=in.("Telhados, manhã (azul)",b)`: true,
		`title=match.^Tel`:                      true, `title=match.^tel`: false, `title=imatch.^TEL`: true, `title=match.lhados`: true, `title=match.lhados$`: false, `title=not.match.^X`: true, `title=not.imatch.^t`: false,
		`title=match."^Telhados, manh. \\(azul\\)$"`: true, `title=match."^\\w+, \\D+$"`: true, `title=imatch.MANHÃ`: true, `title=match.(?:x|azul)`: true, `title=match.[a-c]zul`: true, `location=match.P`: false, `location=not.match.P`: false,
		`location=eq.Porto`: false, `location=neq.Porto`: false, `location=not.eq.Porto`: false, `location=is.null`: true, `location=not.is.null`: false, `location=isdistinct.Porto`: true, `location=not.isdistinct.Porto`: false,
		`tags=is.null`: false, `tags=not.is.null`: true,
		`created_at=gte.2026-03-12T23:59:59+00:00`: true, `created_at=lt.2026-03-12`: false, `created_at=lt.2026-03-13T00:59:59.6+01:00`: true,
		`creation_date=eq.2024-03-12`: true, `creation_date=gt.2024-03-12`: false,
		`display_order=gt.9,is_active=eq.true`: true, `display_order=gt.9,is_active=eq.false`: false, `title=like."Telhados,%",display_order=in.(12,13)`: true,
		`title=like.%azul),is_active=eq.true`: true, `title=like.%azul),is_active=eq.false`: false, // a closing parenthesis without an opening one is text
	} {
		conditions, err := parseFilter(filterColumns, filter)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		got := true
		for _, c := range conditions {
			got = got && c.matches(record)
		}
		if got != want {
			t.Errorf("%s: %v", filter, got)
		}
	}
}

// Proves RT-filter-2, RT-filter-5.
func TestInvalidFilters(t *testing.T) {
	for _, filter := range []string{
		``, `id`, `id=eq`, `nope=eq.1`, `id=eq.7`, `display_order=eq.x`, `display_order=eq.`, `is_active=eq.maybe`, `created_at=gt.yesterday`, `creation_date=eq.2024-13-01`,
		`title=match.(`, `title=match.a**`, `title=match."\\ba"`, `title=match."(a)\\1"`, `title=match."(?=a)"`, `title=match."(?i)a"`, `title=match.[[:alpha:]]`, `title=match.***=a`, `title=match.a{999}{999}`,
		`title=match.` + strings.Repeat(".{99}", 40), `title=match.` + strings.Repeat("ã", maxPattern+1), `display_order=match.1`, `tags=imatch.a`, `title=fts.a`, `title=like."a`, `title=like.a\`, `display_order=like.1%`, `display_order=in.1`, `display_order=in.(1,x)`, `display_order=is.true`, `title=is.maybe`,
		`tags=eq.{a}`, `title=eq."a"b"`, `display_order=in.(` + strings.Repeat("1,", maxInValues) + `1)`, strings.Repeat("display_order=eq.1,", maxConditions) + "display_order=eq.1", "title=eq." + strings.Repeat("a", maxFilter),
	} {
		if c, err := parseFilter(filterColumns, filter); err == nil {
			t.Errorf("%.60s: %+v", filter, c)
		}
	}
}

// Proves RT-filter-2, RT-filter-5.
//
// FuzzFilter checks that no filter makes the parser panic, or the comparison with a row.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{`id=eq.1`, `title=in.("a,b",c)`, `title=not.like."%_\\%"`, `tags=is.null`, `display_order=gt.1,is_active=is.true`, `title=imatch."^[a-z]+(?:\\d|x){2,3}$"`} {
		f.Add(s)
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal([]byte(filterRow), &record); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		conditions, err := parseFilter(filterColumns, filter)
		if err != nil {
			return
		}
		if len(conditions) == 0 {
			t.Fatalf("%q filters nothing", filter)
		}
		for _, c := range conditions {
			if c.matches(record) && c.matches(nil) && c.operator != "is" {
				t.Fatalf("%q holds without a row", filter)
			}
		}
	})
}
