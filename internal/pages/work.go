package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelie/internal/content"
	"atelie/internal/i18n"
)

// This file reads works from the database, and makes the texts about a work in a language, such as its title and description.

// work is an artwork: a row of the table products. The admin area calls works products.
type work struct {
	ID           string    `json:"id"`
	Title        string    `json:"title"`
	Description  string    `json:"description"`
	Type         string    `json:"artwork_type"`
	ImageURL     string    `json:"image_url"`
	ImageGallery []string  `json:"image_gallery"`
	VideoGallery []string  `json:"video_gallery"`
	Dimensions   string    `json:"dimensions"`
	Medium       string    `json:"medium"`
	CreationDate string    `json:"creation_date"` // YYYY-MM-DD or ""
	Tags         []string  `json:"tags"`
	SEOTitle     string    `json:"seo_meta_title"`
	SEODesc      string    `json:"seo_meta_desc"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`   // zero if unknown
	PublishedAt  time.Time `json:"published_at"` // when the work became visible

	// The Portuguese texts. On a site with both languages, the texts above are in English.
	TitlePT       string `json:"title_pt"`
	DescriptionPT string `json:"description_pt"`
	DimensionsPT  string `json:"dimensions_pt"`
	MediumPT      string `json:"medium_pt"`
	SEOTitlePT    string `json:"seo_meta_title_pt"`
	SEODescPT     string `json:"seo_meta_desc_pt"`
	// AltTexts contains the owner's alternative texts of the pictures, by URL and then by language.
	AltTexts map[string]map[i18n.Language]string `json:"alt_texts"`

	typeHasGalleryPage bool // whether the gallery has a page for the work's type; set by readWorks
}

// selectWork is the beginning of the query strings that read rows into the type work. A new field of the type needs its column here.
const selectWork = "select=id,title,description,artwork_type,image_url,image_gallery,video_gallery,dimensions,medium,creation_date,tags,seo_meta_title,seo_meta_desc,created_at,updated_at,published_at," +
	"title_pt,description_pt,dimensions_pt,medium_pt,seo_meta_title_pt,seo_meta_desc_pt,alt_texts&"

// ContentReader contains the functions that read the site's content with an anonymous visitor's rights.
type ContentReader struct {
	// Rows returns the rows of GET /rest/v1/{table}?{query}, each in JSON. Count returns the number of these rows.
	Rows  func(ctx context.Context, table, query string) ([]string, error)
	Count func(ctx context.Context, table, query string) (int64, error)
	// Pictures returns the pictures with the given public URLs, by URL. It leaves out unknown URLs.
	Pictures func(ctx context.Context, urls []string) (map[string]Picture, error)
}

// Picture contains the URLs of three renditions (resized copies) of an uploaded picture, for search engines, feed readers, link previews and
// documents. The URLs are paths on this server and contain the version of the picture.
type Picture struct {
	Share         string // the share picture: the whole picture on a background, 1200 × 630 pixels, JPEG, under 300 kB
	Small         string // a rendition 128 pixels wide, or less
	Large         string // a rendition at most 1600 pixels wide
	Width, Height int    // size of Large in pixels
}

// The canonical paths of the gallery's pages are galleryPath followed by a type of works, or by allTypes.
const (
	galleryPath = "/gallery/"
	allTypes    = "all"
)

// readWorks returns the works that query selects, in the order of query: the conditions and the order as in the query string of
// /rest/v1/products.
func (s *Service) readWorks(ctx context.Context, query string) ([]work, error) {
	site, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := readRows[work](ctx, s.cfg.Content, "products", selectWork+query)
	for i := range found {
		found[i].typeHasGalleryPage = slices.Contains(site.gallery.Types, found[i].Type)
	}
	return found, err
}

func readRows[T any](ctx context.Context, c ContentReader, table, query string) ([]T, error) {
	if c.Rows == nil {
		return nil, nil
	}
	rows, err := c.Rows(ctx, table, query)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal([]byte(row), &out[i]); err != nil {
			return nil, fmt.Errorf("row of %s: %w", table, err)
		}
	}
	return out, nil
}

// readWorkOf returns the work that the URL of a view names, if the view's page lists the work: home lists the featured works, and a
// gallery page the works of its filter. Otherwise it returns nil.
func (s *Service) readWorkOf(ctx context.Context, v view) (*work, error) {
	if v.workID == "" {
		return nil, nil
	}
	site, err := s.pagesOf(ctx)
	if err != nil {
		return nil, err
	}
	return s.readWork(ctx, site.worksOf(v.path), v.workID)
}

func (s *Service) readWork(ctx context.Context, filter, id string) (*work, error) {
	found, err := s.readWorks(ctx, filter+"&id=eq."+id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// WorkLink is a link to the page of a work.
type WorkLink struct {
	Title   string
	URL     string // "" if no page shows the work
	Picture string // URL of a small rendition of its picture; "" for none
}

// LinkWork returns a link to a published work, or nil if there is none with this id.
func (s *Service) LinkWork(ctx context.Context, id string, l i18n.Language) (*WorkLink, error) {
	works, err := s.readWorks(ctx, "id=eq."+id)
	if err != nil || len(works) == 0 {
		return nil, err
	}
	pictures, err := s.readPictures(ctx, []string{works[0].ImageURL})
	if err != nil {
		return nil, err
	}
	link := &WorkLink{Title: works[0].name(l), Picture: pictures[works[0].ImageURL].Small}
	shown, err := s.isShown(ctx, works[0])
	if shown {
		link.URL = localizePath(works[0].path(), l)
	}
	return link, err
}

// isShown reports whether the page at the work's path shows the work. The home page shows only featured works.
func (s *Service) isShown(ctx context.Context, w work) (bool, error) {
	if w.typeHasGalleryPage {
		return true, nil
	}
	site, err := s.pagesOf(ctx)
	if err != nil {
		return false, err
	}
	featured, err := s.readWork(ctx, site.worksOf("/"), w.ID)
	return featured != nil, err
}

// locateWork looks for the work that the URL of a view names. If the view's page does not list it, redirect is the URL of a page
// that may, or the returned view is that of a missing work. A cached page needs no search: it was made after one. at is the
// content version of the request.
func (s *Service) locateWork(ctx context.Context, at content.Versions, v view) (_ view, redirect string, err error) {
	if v.workID == "" || s.isCached(at, v) {
		return v, "", nil
	}
	here, err := s.readWorkOf(ctx, v)
	if err != nil || here != nil {
		return v, "", err
	}
	if filter, gallery := galleryFilter(v.path); !gallery {
		return v, localizePath(galleryPath+allTypes+"?art="+v.workID, v.lang()), nil
	} else if filter != allTypes {
		site, err := s.pagesOf(ctx)
		if err != nil {
			return v, "", err
		}
		listed, err := s.readWork(ctx, site.condition, v.workID)
		if err != nil {
			return v, "", err
		}
		if listed != nil {
			return v, localizePath(listed.path(), v.lang()), nil
		}
	}
	status := http.StatusNotFound
	deleted, err := s.wasDeleted(ctx, v.workID)
	if deleted {
		status = http.StatusGone
	}
	return v.withWorkMissing(status), "", err
}

// readPictures returns the pictures with the given URLs, by URL.
func (s *Service) readPictures(ctx context.Context, urls []string) (map[string]Picture, error) {
	if len(urls) == 0 {
		return nil, nil
	}
	return s.cfg.Content.Pictures(ctx, urls)
}

// readPicturesOf returns the pictures of all files of works and of the further URLs, by URL.
func (s *Service) readPicturesOf(ctx context.Context, works []work, further ...string) (map[string]Picture, error) {
	for i := range works {
		further = append(further, works[i].fileURLs()...)
	}
	return s.readPictures(ctx, further)
}

// fileURLs lists the URLs of a work's pictures and videos in the order of its dialog, each once.
func (w *work) fileURLs() (out []string) {
	for _, a := range slices.Concat([]string{w.ImageURL}, w.ImageGallery, w.VideoGallery) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// path is the canonical URL of a work. The home page shows works of all types, but only featured ones. A work that is not featured, of a
// type that the gallery does not show, is on no page.
func (w *work) path() string {
	if !w.typeHasGalleryPage {
		return "/?art=" + w.ID
	}
	return galleryPath + w.Type + "?art=" + w.ID
}

// inLanguage returns the first text in a language, or else the first one in the other language. texts are in English and in Portuguese by
// turns. web/src/lib/local-text.ts has the same rule.
func inLanguage(l i18n.Language, texts ...string) string {
	text, _ := findText(l, texts...)
	return text
}

// findText returns the same as inLanguage, and the language of the text.
func findText(l i18n.Language, texts ...string) (text string, of i18n.Language) {
	for _, of := range []i18n.Language{l, l.Other()} {
		for i, text := range texts {
			if languageOf := i18n.Languages[i%2]; languageOf == of && strings.TrimSpace(text) != "" {
				return text, of
			}
		}
	}
	return "", l
}

// hasPortuguese reports whether the work has any text in Portuguese. The texts of other works may be in either language.
func (w *work) hasPortuguese() bool {
	return w.TitlePT+w.DescriptionPT+w.DimensionsPT+w.MediumPT+w.SEOTitlePT+w.SEODescPT != ""
}

// name is the title, or a placeholder.
func (w *work) name(l i18n.Language) string {
	return cmp.Or(oneLine(inLanguage(l, w.Title, w.TitlePT)), l.Text("gallery.untitled"))
}

// heading is the title of the work's page, without the site's name.
func (w *work) heading(l i18n.Language) string {
	return cmp.Or(oneLine(inLanguage(l, w.SEOTitle, w.SEOTitlePT, w.Title, w.TitlePT)), l.Text("gallery.untitled"))
}

// medium and dimensions are one line each.
func (w *work) medium(l i18n.Language) string { return oneLine(inLanguage(l, w.Medium, w.MediumPT)) }
func (w *work) dimensions(l i18n.Language) string {
	return oneLine(inLanguage(l, w.Dimensions, w.DimensionsPT))
}

// kind is the name of the type; "" for types that the gallery does not show.
func (w *work) kind(l i18n.Language) string {
	if w.typeHasGalleryPage {
		return l.Text("type." + w.Type)
	}
	return ""
}

// alt describes one of the work's pictures: the owner's text, else title and medium of the work.
func (w *work) alt(l i18n.Language, url string) string {
	return cmp.Or(w.ownAlt(l, url), joinFilled(", ", w.name(l), cmp.Or(w.medium(l), w.kind(l))))
}

// ownAlt is the owner's alternative text of a picture, or "".
func (w *work) ownAlt(l i18n.Language, url string) string {
	texts := w.AltTexts[url]
	return oneLine(inLanguage(l, texts[i18n.EN], texts[i18n.PT]))
}

// summary is the work's description: the owner's text, else its facts.
func (w *work) summary(l i18n.Language) string {
	if text := shorten(inLanguage(l, w.SEODesc, w.SEODescPT, w.Description, w.DescriptionPT), descriptionLength); text != "" {
		return text
	}
	medium := w.medium(l)
	if strings.EqualFold(medium, w.kind(l)) {
		medium = ""
	}
	return shorten(joinFilled(" · ", w.name(l), w.kind(l), medium, w.dimensions(l)), descriptionLength)
}

// publishedAt is since when visitors see the work.
func (w *work) publishedAt() time.Time { return latest(w.CreatedAt, w.PublishedAt) }

// changedAt is when the work was last written, or published if that was later.
func (w *work) changedAt() time.Time { return latest(w.publishedAt(), w.UpdatedAt) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func joinFilled(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), between)
}
