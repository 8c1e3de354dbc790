package app

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

var pageWorks = regexp.MustCompile(`"title":"(Work [A-D])"`)

// Proves P-types-order.
//
// The pages' data, the structured data and the queries of the site's scripts have the owner's order, on the real tables.
func TestPagesFollowTheOwnersOrder(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			withoutRendering(t, a)
			var rows []map[string]any
			for i, name := range []string{"A", "B", "C", "D"} {
				rows = append(rows, map[string]any{"id": workID(i), "title": "Work " + name, "artwork_type": "oil", "is_featured": true, "created_at": time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)})
			}
			if err := a.Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "products", rows); err != nil {
				t.Fatal(err)
			}
			if rec := sendRequest(a, "POST", "/rest/v1/rpc/move_work", `{"ids":["`+workID(0)+`"],"place":"after","target":"`+workID(3)+`"}`); rec.Code != http.StatusUnauthorized {
				t.Fatalf("an anonymous caller moved a work: %d", rec.Code)
			}
			if _, err := a.DB.Exec(t.Context(), "update products set position = case title when 'Work A' then 'b' when 'Work B' then 'a' when 'Work C' then 'd' else 'c' end"); err != nil {
				t.Fatal(err)
			}
			// works returns the letters of the works in a page, in the order of the page.
			works := func(target string) string {
				t.Helper()
				var found strings.Builder
				for _, m := range pageWorks.FindAllStringSubmatch(sendRequest(a, "GET", target, "").Body.String(), -1) {
					found.WriteString(strings.TrimPrefix(m[1], "Work "))
				}
				return found.String()
			}
			oil := []string{"oil"}
			for _, c := range []struct {
				gallery           settings.Gallery
				inGallery, onHome string
			}{
				{settings.Gallery{Types: oil}, "DCBA", "DCBA"},
				{settings.Gallery{Types: oil, Order: settings.OrderManual}, "BADC", "BADC"},
				{settings.Gallery{Types: oil, Order: settings.OrderManual, StripOrder: settings.OrderNewest}, "BADC", "DCBA"},
				{settings.Gallery{Types: oil, StripOrder: settings.OrderManual}, "DCBA", "BADC"},
				{settings.Gallery{Order: settings.OrderManual}, "", "BADC"}, // the gallery does not show oil; the strip shows every type
			} {
				if err := settingstest.SaveSite(t.Context(), a.DB, settings.Site{Name: "Alvor", Gallery: c.gallery}, time.Now()); err != nil {
					t.Fatal(err)
				}
				if got := works("/gallery/oil"); got != c.inGallery {
					t.Errorf("%+v: the gallery lists %q, want %q", c.gallery, got, c.inGallery)
				}
				if got := works("/"); got != c.onHome {
					t.Errorf("%+v: home lists %q, want %q", c.gallery, got, c.onHome)
				}
			}
		})
	}
}
