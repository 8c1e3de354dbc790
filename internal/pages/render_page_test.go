package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/pages/render/bytecode"
)

// rowsOf returns content whose tables have these rows. A query for one id finds a row with the id alone.
func rowsOf(rows map[string][]string) ContentReader {
	return ContentReader{
		Rows: func(_ context.Context, table, query string) ([]string, error) {
			if strings.Contains(query, "id=eq.") {
				return []string{`{"id":"alone"}`}, nil
			}
			return rows[table], nil
		},
		Count: func(_ context.Context, table, _ string) (int64, error) { return int64(len(rows[table])), nil },
	}
}

// withScript returns a built site with the given script for the server.
func withScript(t *testing.T, script string) fstest.MapFS {
	t.Helper()
	compiled, err := bytecode.Compile(script)
	if err != nil {
		t.Fatal(err)
	}
	dist := maps.Clone(built)
	dist[renderBytecode] = &fstest.MapFile{Data: compiled}
	return dist
}

// Proves P-drawn-pages, P-drawn-failure, P-drawn-addresses.
func TestPagesAreRendered(t *testing.T) {
	const script = `globalThis.render = (path, boot) => {
		if (path === "/politica-privacidade") throw new Error("a broken component");
		return { head: '<link rel="preload" as="image" href="/hero.jpg" fetchPriority="high"/>', body: "<p>" + path + " " + JSON.parse(boot).language + "</p>" };
	}`
	var log bytes.Buffer
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), withScript(t, script), Config{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Content: rowsOf(map[string][]string{"products": {`{"id":"1"}`}}),
	}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := httpx.Handle(WriteError, s.Page)

	for target, text := range map[string]string{
		"/": "/ en", "/?lang=pt": "/ pt", "/?utm=x&lang=de": "/ en", "/gallery": "/gallery/all en", "/gallery/": "/gallery/all en",
		"/gallery/mural?art=x": "/gallery/mural en", "/gallery/oil": "/gallery/all en", "/gallery/%3Cp%3E": "/gallery/all en",
		"/nowhere?lang=pt": "/404 pt", "/gallery/a/b": "/404 en", "/ADMIN": "/404 en",
	} {
		body := get(h, "GET", target).Body.String()
		head, rest, _ := strings.Cut(body, "</head>")
		if rest != `<body><div id="root"><p>`+text+`</p></div></body></html>` {
			t.Errorf("%s: %s", target, rest)
		}
		if !strings.Contains(head, `href="/hero.jpg" fetchPriority="high"/>`) ||
			strings.Contains(head, "modulepreload") || !strings.Contains(head, `src="/assets/start-9c.js" data-site="/assets/`+text[len(text)-2:]+"-") {
			t.Errorf("%s: the head is %s", target, head)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}

	for target, logged := range map[string]string{"/admin": "", "/admin/nope": "", "/politica-privacidade": "a broken component"} {
		log.Reset()
		if body := get(h, "GET", target).Body.String(); !strings.Contains(body, rootMark) || strings.Contains(body, "hero.jpg") || !strings.Contains(body, "modulepreload") {
			t.Errorf("%s: %s", target, body)
		}
		if lines := log.String(); !strings.Contains(lines, logged) || (lines == "") != (logged == "") {
			t.Errorf("%s: logged %q", target, lines)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Proves P-drawn-failure.
//
// If the site cannot be rendered at all, it is still served, with its data.
func TestBrowserRendersIfTheServerCannot(t *testing.T) {
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{Content: rowsOf(nil)}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if body := get(httpx.Handle(WriteError, s.Page), "GET", "/").Body.String(); !strings.Contains(body, rootMark) || !strings.Contains(body, `"queries":[[["cover_images","active"],[]],`) {
		t.Error(body)
	}
}

// Proves P-drawn-data.
func TestPagesContainTheirData(t *testing.T) {
	works := make([]string, 3)
	for i := range works {
		works[i] = `{"id":"` + strings.Repeat(string(rune('a'+i)), 8) + `-0000-4000-8000-000000000000"}`
	}
	content := rowsOf(map[string][]string{"products": works, "reviews": {`{"id":"r"}`}, "cover_images": {`{"id":"c","title":"</script>"}`}})
	d := dbtest.Open(t, db.SQLite)
	const here, gone = "aaaaaaaa-0000-4000-8000-000000000000", "dddddddd-0000-4000-8000-000000000000"
	list := "[" + strings.Join(works, ",") + "]"
	home := func(total int) string {
		return fmt.Sprintf(`[[["cover_images","active"],[{"id":"c","title":"\u003c/script\u003e"}]],[["products","featured",0],{"rows":%s,"total":%d}],[["reviews","active",0],{"rows":[{"id":"r"}],"total":%[2]d}]`, list, total)
	}
	for _, one := range []struct {
		path, art string
		total     int64
		want      string
	}{
		{"/", "", 3, home(3) + `]`},
		{"/", here, 90, home(90) + `]`},
		{"/", gone, 3, home(3) + `]`},
		{"/", gone, 90, home(90) + `,[["products","featured-work","` + gone + `"],{"id":"alone"}]]`},
		{"/gallery/all", here, 3, `[[["products","gallery","all",0],{"rows":` + list + `,"total":3}]]`},
		{"/gallery/mural", "", 90, `[[["products","gallery","mural",0],{"rows":` + list + `,"total":90}]]`},
		{"/gallery/mural", here, 90, `[[["products","gallery","mural",0],{"rows":` + list + `,"total":90}]]`},
		{"/gallery/mural", gone, 90, `[[["products","gallery","mural",0],{"rows":` + list + `,"total":90}],[["products","gallery-work","mural","` + gone + `"],{"id":"alone"}]]`},
		{"/gallery/all", gone, 3, `[[["products","gallery","all",0],{"rows":` + list + `,"total":3}]]`},
		{"/politica-privacidade", "", 3, `null`},
		{"/admin", "", 3, `null`},
	} {
		content.Count = func(context.Context, string, string) (int64, error) { return one.total, nil }
		s, err := newWithDefaults(d, built, Config{Content: content}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		known, err := s.readQueries(t.Context(), view{path: one.path, workID: one.art})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(known); err != nil || string(got) != one.want {
			t.Errorf("%s: %s, %v", one.path, got, err)
		}
	}
}

// Proves P-plain-reviews.
func TestPagesOfReviewsHaveTheFullText(t *testing.T) {
	long := `{"message":"` + strings.Repeat("x", 9000) + `"}`
	var requested []string
	content := ContentReader{
		Rows: func(_ context.Context, table, query string) ([]string, error) {
			if table != "reviews" {
				return nil, nil
			}
			requested = append(requested, query)
			return slices.Repeat([]string{long}, 12), nil
		},
		Count: func(context.Context, string, string) (int64, error) { return 30, nil },
	}
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{Content: content}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string][]int{
		"/": {3}, "/?reviews=1": {12}, "/?reviews=2": {3, 12}, "/?lang=pt&reviews=3": {3, 12},
		"/?reviews=4": {3}, "/?reviews=0": {3}, "/?reviews=02": {3}, "/?reviews=-1": {3}, "/?reviews=99999999999999999999": {3},
	} {
		requested = nil
		body := get(httpx.Handle(WriteError, s.Page), "GET", target).Body.String()
		_, rest, _ := strings.Cut(body, `id="boot">`)
		block, _, _ := strings.Cut(rest, "</script>")
		var boot struct {
			ReviewsPage int
			Queries     [][]json.RawMessage
		}
		if err := json.Unmarshal([]byte(block), &boot); err != nil {
			t.Fatalf("%s: %v in %s", target, err, body)
		}
		var got []int
		for n, q := range boot.Queries[2:] {
			var page struct{ Rows []json.RawMessage }
			if err := json.Unmarshal(q[1], &page); err != nil {
				t.Fatal(err)
			}
			got = append(got, len(page.Rows))
			if key := fmt.Sprintf(`["reviews","active",%d]`, max(0, boot.ReviewsPage-1)*n); string(q[0]) != key {
				t.Errorf("%s: the key %s instead of %s", target, q[0], key)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: pages of %v reviews", target, got)
		}
		if offset := fmt.Sprintf("&limit=12&offset=%d", (boot.ReviewsPage-1)*12); len(want) > 1 && !strings.HasSuffix(requested[len(requested)-1], offset) {
			t.Errorf("%s asks for %q", target, requested)
		}
	}
}

// Proves S2-nav-13.
func TestBootDataHasReviewsFlag(t *testing.T) {
	for rows, want := range map[string]string{"": `"hasReviews":false`, `{"id":"1"}`: `"hasReviews":true`} {
		content := map[string][]string{}
		if rows != "" {
			content["reviews"] = []string{rows}
		}
		s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{Content: rowsOf(content)}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if body := get(httpx.Handle(WriteError, s.Page), "GET", "/gallery/all").Body.String(); !strings.Contains(body, want) {
			t.Errorf("%q: no %s in %s", rows, want, body)
		}
	}
}

// Proves P-drawn-bounded.
func TestPageSizeIsLimitedForLongTexts(t *testing.T) {
	works := make([]string, 12)
	for i := range works {
		works[i] = fmt.Sprintf(`{"id":"%d","description":"%s"}`, i, strings.Repeat("x", 9000))
	}
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{Content: rowsOf(map[string][]string{"products": works, "reviews": {`{"id":"r"}`}})}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	known, err := s.readQueries(t.Context(), view{path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	var queries [][]json.RawMessage
	if err := json.Unmarshal(text, &queries); err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Rows  []struct{ ID string }
		Total int
	}
	if err := json.Unmarshal(queries[1][1], &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Rows) != 3 || shown.Rows[0].ID != "0" || shown.Total != 12 {
		t.Errorf("%d of %d works", len(shown.Rows), shown.Total)
	}
	if len(queries[1]) != 3 || string(queries[1][2]) != "true" {
		t.Error("the boot data does not say that works are left out")
	}
	if len(queries[2]) != 2 {
		t.Errorf("short reviews are left out: %s", queries[2])
	}
	for limit, want := range map[int]string{0: "[100]", 3: "[100]", 6: "[100,200]", 7: "[100,200]", 100: "[100,200,300]"} {
		var got queryResult
		complete, err := got.setRows([]string{"100", "200", "300"}, 3, limit)
		if err != nil || string(got.data) != `{"rows":`+want+`,"total":3}` || complete != (limit == 100) || got.truncated == complete {
			t.Errorf("limit %d: %s, complete %v, truncated %v, %v", limit, got.data, complete, got.truncated, err)
		}
	}
}
