package tables

import (
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/identity"
)

// Proves P-found-hidden.
func TestRowsReturnsWhatTheEndpointReturns(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		anon := identity.Caller{Role: identity.Anon}
		rows, err := s.service.Rows(t.Context(), anon, "cover_images", "select=image_url&order=display_order.asc")
		if err != nil || strings.Join(rows, " ") != `{"image_url":"/2.jpg"} {"image_url":"/1.mp4"}` { // the third row is hidden
			t.Errorf("got %v, error %v", rows, err)
		}
		rows, err = s.service.Rows(t.Context(), anon, "products", "select=title,media&order=title.desc&limit=1&offset=1")
		if err != nil || len(rows) != 1 || !strings.Contains(rows[0], `"title":"mural do Porto"`) || !strings.Contains(rows[0], `"media":{}`) {
			t.Errorf("got %v, error %v", rows, err)
		}
		if rows, err := s.service.Rows(t.Context(), anon, "contact_submissions", ""); err != nil || len(rows) != 0 {
			t.Errorf("messages: %v %v", rows, err)
		}
		for query, want := range map[string]int64{"": 8, "artwork_type=not.in.(oil,acrylic)": 5, "limit=2": 8} {
			if n, err := s.service.Count(t.Context(), anon, "products", query); err != nil || n != want {
				t.Errorf("%q: %d %v", query, n, err)
			}
		}
		s.service.maxRows = 3
		if rows, err := s.service.Rows(t.Context(), anon, "products", "limit=5"); err != nil || len(rows) != 3 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		for _, c := range [][2]string{{"nothing", ""}, {"products", "order=nothing"}} {
			if _, err := s.service.Rows(t.Context(), anon, c[0], c[1]); err == nil || apperr.From(err).Status >= 500 {
				t.Errorf("rows of %v: %v", c, err)
			}
			if _, err := s.service.Count(t.Context(), anon, c[0], c[1]); err == nil || apperr.From(err).Status >= 500 {
				t.Errorf("count of %v: %v", c, err)
			}
		}
	})
}
