package pages

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelie/internal/i18n"
)

// fedWorks is how many works the feed holds, the newest first.
const fedWorks = 30

// The parts of an Atom feed (RFC 4287) that ours has.
type (
	atomFeed struct {
		XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Language string      `xml:"xml:lang,attr"`
		ID       string      `xml:"id"`
		Title    string      `xml:"title"`
		Subtitle string      `xml:"subtitle"`
		Updated  string      `xml:"updated"`
		Icon     string      `xml:"icon"`
		Author   atomAuthor  `xml:"author"`
		Links    []atomLink  `xml:"link"`
		Entries  []atomEntry `xml:"entry"`
	}
	atomAuthor struct {
		Name string `xml:"name"`
		URI  string `xml:"uri"`
	}
	atomLink struct {
		Rel      string `xml:"rel,attr"`
		Type     string `xml:"type,attr,omitempty"`
		Language string `xml:"hreflang,attr,omitempty"`
		Href     string `xml:"href,attr"`
	}
	atomEntry struct {
		ID        string   `xml:"id"`
		Title     string   `xml:"title"`
		Published string   `xml:"published"`
		Updated   string   `xml:"updated"`
		Link      atomLink `xml:"link"`
		Summary   string   `xml:"summary"`
		Content   atomHTML `xml:"content"`
	}
	atomHTML struct {
		Type string `xml:"type,attr"`
		HTML string `xml:",chardata"`
	}
)

// Feed answers /feed.xml, the newest works as an Atom feed (RFC 4287), in the language that the address asks for.
func (s *Service) Feed(w http.ResponseWriter, r *http.Request) error {
	l := i18n.Language(requestedLanguage(r.URL))
	return s.generated(w, r, "feed "+string(l), "application/atom+xml; charset=utf-8", func(ctx context.Context) ([]byte, error) { return s.feed(ctx, l) })
}

func (s *Service) feed(ctx context.Context, l i18n.Language) ([]byte, error) {
	site, err := LoadSite(ctx, s.db)
	if err != nil {
		return nil, err
	}
	newest, err := s.works(ctx, onWall(allWorks)+"&order=created_at.desc&limit="+strconv.Itoa(fedWorks))
	if err != nil {
		return nil, err
	}
	var pictures []string
	for _, w := range newest {
		pictures = append(pictures, w.files()...)
	}
	known, err := s.pictures(ctx, pictures)
	if err != nil {
		return nil, err
	}
	root := s.cfg.SiteURL
	at := root + inLanguage("/feed.xml", l)
	name := line(site.Name)
	updated, err := siteChanged(ctx, s.db)
	if err != nil {
		return nil, err
	}
	if updated.IsZero() { // a feed needs one, also of a site that nobody has touched
		if updated, err = time.Parse(time.DateOnly, site.PrivacySince); err != nil {
			return nil, fmt.Errorf("privacySince: %w", err)
		}
	}
	feed := atomFeed{
		Language: string(l), ID: at, Title: l.Text("feed.title", "site", name), Subtitle: shorten(l.Text("head.gallery.all", "site", name), descriptionLength),
		Icon: root + "/icon-192.png", Author: atomAuthor{name, root + "/"},
		Links: []atomLink{{"self", "application/atom+xml", string(l), at}, {"alternate", "text/html", string(l), root + inLanguage("/gallery/all", l)}},
	}
	for _, w := range newest {
		if w.changed().After(updated) {
			updated = w.changed()
		}
		page := root + inLanguage(w.path(), l)
		feed.Entries = append(feed.Entries, atomEntry{
			ID: "urn:uuid:" + w.ID, Title: w.name(l), Published: stamp(w.CreatedAt), Updated: stamp(w.changed()), Link: atomLink{"alternate", "text/html", string(l), page},
			Summary: w.summary(l), Content: atomHTML{"html", s.fedContent(&w, l, page, known)},
		})
	}
	feed.Updated = stamp(updated)
	return asXML(feed)
}

// fedContent shows a work as readers of feeds do: its first picture, its text, its facts.
func (s *Service) fedContent(w *work, l i18n.Language, page string, known map[string]Picture) string {
	var out strings.Builder
	for _, f := range w.files() {
		if p, ok := known[f]; ok {
			fmt.Fprintf(&out, `<p><a href="%s"><img src="%s" width="%d" height="%d" alt="%s"></a></p>`,
				html.EscapeString(page), html.EscapeString(s.cfg.SiteURL+p.Large), p.Width, p.Height, html.EscapeString(w.alt(l)))
			break
		}
	}
	facts := joinFilled(" · ", w.kind(l), line(w.Medium), line(w.Dimensions))
	for _, paragraph := range append(strings.Split(w.Description, "\n"), facts) {
		if text := line(paragraph); text != "" {
			fmt.Fprintf(&out, "<p>%s</p>", html.EscapeString(text))
		}
	}
	return out.String()
}

// stamp writes a moment as RFC 3339, which Atom and sitemaps take.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// asXML writes a document. What XML cannot hold becomes U+FFFD.
func asXML(v any) ([]byte, error) {
	out := bytes.NewBufferString(xml.Header)
	err := xml.NewEncoder(out).Encode(v)
	return out.Bytes(), err
}
