package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file makes the Atom feed (RFC 4287) of the newest works, from which feed readers learn of new works.

// feedWorks is the maximum number of works in the feed. They are sorted by the time at which they became visible, the newest first.
const feedWorks = 30

// The elements of the feed, as encoding/xml writes them.
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

// Feed handles /feed.xml, an Atom feed of the newest works, in the language that the URL selects.
func (s *Service) Feed(w http.ResponseWriter, r *http.Request) error {
	l := i18n.Language(requestedLanguage(r.URL))
	makeFeed := func(ctx context.Context) ([]byte, error) { return s.makeFeed(ctx, l) }
	return s.serveGenerated(w, r, "feed "+string(l), "application/atom+xml; charset=utf-8", makeFeed)
}

func (s *Service) makeFeed(ctx context.Context, l i18n.Language) ([]byte, error) {
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil {
		return nil, err
	}
	pages, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := s.readNewestWorks(ctx, pages.condition)
	if err != nil {
		return nil, err
	}
	pictures, err := s.readPicturesOf(ctx, newest)
	if err != nil {
		return nil, err
	}
	root := s.cfg.SiteURL
	at := root + localizePath("/feed.xml", l)
	name := oneLine(site.Name)
	updated, err := settings.SiteChanged(ctx, s.db)
	if err != nil {
		return nil, err
	}
	if updated.IsZero() { // Atom requires a time, also for a site that was never edited
		if updated, err = time.Parse(time.DateOnly, site.PrivacySince); err != nil {
			return nil, fmt.Errorf("privacySince: %w", err)
		}
	}
	feed := atomFeed{
		Language: string(l), ID: at, Title: l.Text("feed.title", "site", name), Subtitle: shorten(galleryDescription(l, site, allTypes), descriptionLength),
		Icon: root + "/icon-192.png", Author: atomAuthor{name, root + "/"},
		Links: []atomLink{{"self", "application/atom+xml", string(l), at}, {"alternate", "text/html", string(l), root + localizePath(galleryPath+allTypes, l)}},
	}
	for _, w := range newest {
		updated = latest(updated, w.changedAt())
		page := root + localizePath(w.path(), l)
		feed.Entries = append(feed.Entries, atomEntry{
			ID: "urn:uuid:" + w.ID, Title: w.name(l), Published: formatTime(w.publishedAt()), Updated: formatTime(w.changedAt()), Link: atomLink{"alternate", "text/html", string(l), page},
			Summary: w.summary(l), Content: atomHTML{"html", s.feedEntryHTML(&w, l, page, pictures)},
		})
	}
	feed.Updated = formatTime(updated)
	return encodeXML(feed)
}

// readNewestWorks returns the works of the feed among those that meet a condition. A work can be published long after it was created, so
// the newest works are among the last created and the last published ones.
func (s *Service) readNewestWorks(ctx context.Context, condition string) (newest []work, err error) {
	newest, err = s.readInOrders(ctx, condition, feedWorks, "created_at.desc", "published_at.desc")
	if err != nil {
		return nil, err
	}
	// Works that were imported together were published at the same time.
	slices.SortFunc(newest, func(a, b work) int {
		return cmp.Or(b.publishedAt().Compare(a.publishedAt()), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	newest = slices.CompactFunc(newest, func(a, b work) bool { return a.ID == b.ID })
	return newest[:min(feedWorks, len(newest))], nil
}

// feedEntryHTML returns the HTML of an entry: the first picture of the work that is in pictures, its text, and its facts.
func (s *Service) feedEntryHTML(w *work, l i18n.Language, page string, pictures map[string]Picture) string {
	var out strings.Builder
	for _, f := range w.fileURLs() {
		if p, ok := pictures[f]; ok {
			fmt.Fprintf(&out, `<p><a href="%s"><img src="%s" width="%d" height="%d" alt="%s"></a></p>`,
				html.EscapeString(page), html.EscapeString(s.cfg.SiteURL+p.Large), p.Width, p.Height, html.EscapeString(w.alt(l, f)))
			break
		}
	}
	description, language := findText(l, w.Description, w.DescriptionPT)
	marked := ""
	if language != l && w.hasPortuguese() {
		marked = fmt.Sprintf(` lang="%s"`, language)
	}
	for _, paragraph := range strings.Split(description, "\n") {
		if text := oneLine(paragraph); text != "" {
			fmt.Fprintf(&out, "<p%s>%s</p>", marked, html.EscapeString(text))
		}
	}
	if facts := joinFilled(" · ", w.kind(l), w.medium(l), w.dimensions(l)); facts != "" {
		fmt.Fprintf(&out, "<p>%s</p>", html.EscapeString(facts))
	}
	return out.String()
}

// formatTime returns a time in the format of RFC 3339, for Atom and sitemaps.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// encodeXML returns v as an XML document. Characters that XML does not allow become U+FFFD.
func encodeXML(v any) ([]byte, error) {
	out := bytes.NewBufferString(xml.Header)
	err := xml.NewEncoder(out).Encode(v)
	return out.Bytes(), err
}
