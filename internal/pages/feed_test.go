package pages

import (
	"encoding/xml"
	"html"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// readFeed returns the feed at a URL. It checks the language of the feed.
func readFeed(t *testing.T, s *Service, target string) (f atomFeed) {
	t.Helper()
	text := fetch(t, s.Feed, target)
	if err := xml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	if portuguese := strings.Contains(target, "pt"); portuguese != strings.Contains(text, ` xml:lang="pt"`) || portuguese == strings.Contains(text, ` xml:lang="en"`) {
		t.Error(text)
	}
	return f
}

// Proves P-found-feed.
//
// The feed and its entries have what RFC 4287 §4.1 requires, and the newest works come first.
func TestTheFeedOfNewWorks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServiceWith(t, d, newFakeContent())
		beforeSaving := readFeed(t, s, "/feed.xml")
		if beforeSaving.Updated != formatTime(day.AddDate(0, 0, 9)) {
			t.Errorf("updated %s", beforeSaving.Updated)
		}
		if err := settingstest.SaveSite(t.Context(), d, settings.Site{Name: "Alvor & filhos"}, day); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ target, title, languageParameter, untitled string }{{"/feed.xml", "New works · Alvor & filhos", "", "Untitled"}, {"/feed.xml?lang=pt", "Obras novas · Alvor & filhos", "&lang=pt", "Sem título"}} {
			f := readFeed(t, s, c.target)
			if f.ID != "https://a.example"+c.target || f.Title != c.title || f.Author.Name != "Alvor & filhos" || f.Links[0].Rel != "self" || f.Links[0].Href != f.ID || f.Links[1].Rel != "alternate" || len(f.Entries) != 3 {
				t.Fatalf("got %+v", f)
			}
			for i, id := range []string{workID(4), workID(2), workID(1)} { // the gallery does not show oil
				e := f.Entries[i]
				if e.ID != "urn:uuid:"+id || e.Title == "" || e.Summary == "" || e.Content.Type != "html" || !strings.HasSuffix(e.Link.Href, "?art="+id+c.languageParameter) || e.Link.Rel != "alternate" {
					t.Errorf("got %+v", e)
				}
				for _, at := range []string{f.Updated, e.Updated, e.Published} {
					if _, err := time.Parse(time.RFC3339, at); err != nil {
						t.Error(err)
					}
				}
			}
			if f.Entries[0].Title != c.untitled {
				t.Errorf("got %q", f.Entries[0].Title)
			}
			content := strings.ReplaceAll(f.Entries[2].Content.HTML, ` lang="en"`, "") // the works have no texts in Portuguese
			for _, part := range []string{`<a href="` + html.EscapeString(f.Entries[2].Link.Href) + `"><img src="https://a.example/large/known/sol.jpg" width="1600" height="800" alt="Sol de inverno, Acrylic on plaster">`, "<p>A street that</p><p>faces north.</p>", "14 × 7 m"} {
				if !strings.Contains(content, part) {
					t.Errorf("no %s in %s", part, content)
				}
			}
		}
	})
}

// Proves P-found-feed.
//
// A work that was created first and published last is the newest one for visitors. The feed has no room for all works.
func TestTheFeedBeginsWithTheLastPublishedWork(t *testing.T) {
	content := &fakeContent{}
	for n := range feedWorks + 1 {
		at := day.AddDate(0, 0, n)
		content.works = append(content.works, work{ID: workID(n), Title: "W", Type: "mural", CreatedAt: at, PublishedAt: at})
	}
	content.works[0].PublishedAt = day.AddDate(1, 0, 0)
	f := readFeed(t, newServiceWith(t, dbtest.Open(t, db.SQLite), content), "/feed.xml")
	if len(f.Entries) != feedWorks {
		t.Fatalf("%d entries", len(f.Entries))
	}
	for at, id := range map[int]string{0: workID(0), 1: workID(feedWorks), feedWorks - 1: workID(2)} {
		if got := f.Entries[at].ID; got != "urn:uuid:"+id {
			t.Errorf("entry %d: %s, want %s", at, got, id)
		}
	}
}

// Proves P-found-feed.
func TestAFeedWithoutWorks(t *testing.T) {
	f := readFeed(t, newServiceWith(t, dbtest.Open(t, db.SQLite), &fakeContent{}), "/feed.xml")
	if len(f.Entries) != 0 || f.Updated != "2026-11-21T00:00:00Z" {
		t.Errorf("got %+v", f)
	}
}
