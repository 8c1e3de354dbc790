package pages

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves P-found-robots.
func TestRobots(t *testing.T) {
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), newFakeContent())
	lines := strings.Split(fetch(t, s.Robots, "/robots.txt"), "\n")
	for _, want := range []string{"User-agent: *", "Disallow: /admin", "Disallow: /auth/", "Disallow: /functions/", "Disallow: /realtime/", "Sitemap: https://a.example/sitemap.xml"} {
		if !strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+want+"\n") {
			t.Errorf("no %q in %q", want, lines)
		}
	}
	for _, l := range lines { // pages, tables and pictures are not excluded
		if l == "Disallow: /" || strings.HasPrefix(l, "Disallow: /rest") || strings.HasPrefix(l, "Disallow: /storage") || strings.HasPrefix(l, "Disallow: /assets") {
			t.Errorf("got %q", l)
		}
	}
}
