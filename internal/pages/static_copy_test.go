package pages

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestAStaticCopyHasAllWorksOfAGallery has 97 murals. The gallery of the site shows 48 works at first and loads the others with scripts, but a
// static copy must have all of them, on three pages.
func TestAStaticCopyHasAllWorksOfAGallery(t *testing.T) {
	all := &fakeContent{}
	for i := range 100 {
		all.works = append(all.works, work{ID: workID(i), Title: "Work", Type: []string{"mural", "oil"}[i/97], CreatedAt: time.Unix(int64(i), 0)})
	}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), all)
	seen := map[string]int{}
	for part, want := range []int{48, 48, 1} {
		p, err := s.RenderStatic(t.Context(), StaticView{Path: "/gallery/mural", Language: "pt", Part: part})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(p.HTML), `id="boot">`)
		text, _, _ = strings.Cut(text, "</script>")
		var b struct {
			Language string
			Queries  [][]json.RawMessage
		}
		var shown struct {
			Rows  []struct{ ID string }
			Total int
		}
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Queries[0][1], &shown); err != nil {
			t.Fatal(err)
		}
		if p.Parts != 3 || len(shown.Rows) != want || shown.Total != want || b.Language != "pt" {
			t.Errorf("part %d: %d of %d works in %d parts, in %s", part, len(shown.Rows), shown.Total, p.Parts, b.Language)
		}
		for _, w := range shown.Rows {
			seen[w.ID]++
		}
	}
	if len(seen) != 97 {
		t.Errorf("the parts have %d different works, want 97", len(seen))
	}
	if p, err := s.RenderStatic(t.Context(), StaticView{Path: "/politica-privacidade", Language: "en"}); err != nil || p.Parts != 1 {
		t.Errorf("%d parts, %v", p.Parts, err)
	}
}

func TestPagesOfWorksAreFound(t *testing.T) {
	all := &fakeContent{works: []work{{ID: workID(1), Title: "In the gallery", Type: "mural"}, {ID: workID(2), Title: "Not in the gallery", Type: "oil"}}}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), all)
	located, ok, err := s.LocateStatic(t.Context(), StaticView{Path: "/gallery/all", Language: "pt", Work: workID(1)})
	if err != nil || !ok || located != (StaticView{Path: "/gallery/mural", Language: "pt", Work: workID(1)}) {
		t.Errorf("%+v, %v, %v", located, ok, err)
	}
	if _, ok, err := s.LocateStatic(t.Context(), StaticView{Path: "/", Language: "en", Work: workID(3)}); ok || err != nil {
		t.Errorf("a work that does not exist: %v, %v", ok, err)
	}
	if _, err := s.RenderedPaths(t.Context()); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("paths without a script for the server: %v", err)
	}
}
