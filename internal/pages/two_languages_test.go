package pages

import (
	"encoding/json"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// Proves P-found-texts.
//
// Head, structured data, feed and sitemap have the texts in the language of the page, or in the other language where they are missing.
func TestTextsOfWorksAreInTheLanguageOfThePage(t *testing.T) {
	// The English texts, such as "Winter sun", are those of newFakeContent. Pictures below /known/ have renditions.
	content := newFakeContent()
	both, english := &content.works[0], &content.works[1]
	both.TitlePT, both.DescriptionPT, both.MediumPT, both.DimensionsPT = "Sol", "Uma rua.\nA norte.", "Acrílico", "grande"
	both.AltTexts = map[string]map[i18n.Language]string{"/known/sol.jpg": {i18n.EN: "A low sun", i18n.PT: "Um sol baixo"}, "/known/near.jpg": {i18n.PT: "De perto"}}
	english.Description, english.ImageURL = "Hills.", "/known/serra.jpg"
	content.covers = []string{`{"title":"A cover","title_pt":"Uma capa","alt_en":null,"alt_pt":"Um mar","image_url":"/known/cover.jpg","video_thumbnail_url":null}`}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), content)
	if err := settingstest.SaveSite(t.Context(), s.db, settings.Site{Name: "Alvor"}, day); err != nil {
		t.Fatal(err)
	}
	workURL := "/gallery/mural?art=" + workID(1)
	for _, c := range []struct{ target, title, description, alt string }{
		{workURL, "Winter sun · Alvor", "The owner's own words.", "A low sun"},
		{workURL + "&lang=pt", "Sol · Alvor", "Uma rua. A norte.", "Um sol baixo"}, // the Portuguese title and text, rather than the English texts for search engines
		{"/gallery/watercolour?art=" + workID(2) + "&lang=pt", "Serra · Alvor", "Hills.", "Serra, watercolour"},
		{"/", "Alvor", "Digital", "Um mar"},
		{"/?lang=pt", "Alvor", "Pinturas", "Um mar"},
	} {
		h := headOf(t, fetch(t, s.Page, c.target))
		if h["title"] != c.title || !strings.HasPrefix(h["description"], c.description) || h["og:image:alt"] != c.alt || h["twitter:image:alt"] != c.alt {
			t.Errorf("%s: %q %q %q", c.target, h["title"], h["description"], h["og:image:alt"])
		}
	}

	page := fetch(t, s.Page, workURL+"&lang=pt")
	_, data, _ := strings.Cut(page, `<script type="application/ld+json">`)
	data, _, _ = strings.Cut(data, "</script>")
	var graph struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal([]byte(data), &graph); err != nil {
		t.Fatal(err)
	}
	artwork := graph.Graph[len(graph.Graph)-1]
	for name, want := range map[string]any{"name": "Sol", "description": "Uma rua. A norte.", "artMedium": "Acrílico", "size": "grande"} {
		if artwork[name] != want {
			t.Errorf("structured data: %s is %v, want %v", name, artwork[name], want)
		}
	}
	first, _ := artwork["image"].([]any)[0].(map[string]any)
	if first["@type"] != "ImageObject" || first["caption"] != "Um sol baixo" || first["url"] == "" {
		t.Errorf("structured data: the first picture is %v", artwork["image"])
	}

	feed := readFeed(t, s, "/feed.xml?lang=pt")
	if got := feed.Entries[2]; got.Title != "Sol" || !strings.Contains(got.Content.HTML, `alt="Um sol baixo"`) || !strings.Contains(got.Content.HTML, "<p>Uma rua.</p><p>A norte.</p><p>Mural · Acrílico · grande</p>") {
		t.Errorf("feed: %+v", got)
	}
	if got := feed.Entries[1]; !strings.Contains(got.Content.HTML, `<p>Hills.</p>`) {
		t.Errorf("feed, a work without any text in Portuguese: %+v", got)
	}
	english.MediumPT = "Aguarela"
	if got := readFeed(t, newServiceWith(t, s.db, content), "/feed.xml?lang=pt").Entries[1]; !strings.Contains(got.Content.HTML, `<p lang="en">Hills.</p>`) {
		t.Errorf("feed, a description in English alone: %+v", got)
	}

	sitemap := fetch(t, s.Sitemap, "/sitemap.xml")
	for text, n := range map[string]int{"<image:caption>A low sun</image:caption>": 1, "<image:caption>Um sol baixo</image:caption>": 1, "<image:caption>De perto</image:caption>": 2} {
		if strings.Count(sitemap, text) != n {
			t.Errorf("sitemap: %s %d times, want %d", text, strings.Count(sitemap, text), n)
		}
	}
}

func TestTextsInALanguage(t *testing.T) {
	for _, c := range []struct {
		language i18n.Language
		texts    []string
		text     string
		of       i18n.Language
	}{
		{i18n.EN, []string{"Sea", "Mar"}, "Sea", i18n.EN},
		{i18n.PT, []string{"Sea", "Mar"}, "Mar", i18n.PT},
		{i18n.PT, []string{"Sea", " "}, "Sea", i18n.EN},
		{i18n.EN, []string{"", "Mar"}, "Mar", i18n.PT},
		{i18n.PT, []string{"SEO", "", "Sea", "Mar"}, "Mar", i18n.PT},
		{i18n.PT, []string{"SEO", "", "Sea", ""}, "SEO", i18n.EN},
		{i18n.PT, []string{"", ""}, "", i18n.PT},
	} {
		if text, of := findText(c.language, c.texts...); text != c.text || of != c.of {
			t.Errorf("%s of %q: %q in %s", c.language, c.texts, text, of)
		}
	}
}
