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

	"atelie/internal/i18n"
)

// work is a work that the artist shows: a row of the table products.
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
	UpdatedAt    time.Time `json:"updated_at"` // zero if unknown

	inGallery bool // the gallery has a page for the work's type; set by Service.works
}

// selectWork is the beginning of every query that reads works: it selects the columns of work.
const selectWork = "select=id,title,description,artwork_type,image_url,image_gallery,video_gallery,dimensions,medium,creation_date,tags,seo_meta_title,seo_meta_desc,created_at,updated_at&"

// Content contains the functions that read the site's content with an anonymous visitor's rights.
type Content struct {
	// Rows returns the rows of GET /rest/v1/{table}?{query}, each as a JSON text. Count returns their number.
	Rows  func(ctx context.Context, table, query string) ([]string, error)
	Count func(ctx context.Context, table, query string) (int64, error)
	// Pictures returns, by URL, the pictures at public URLs of files. Unknown URLs are left out.
	Pictures func(ctx context.Context, urls []string) (map[string]Picture, error)
}

// Picture contains the URLs of two renditions of an uploaded picture, which search engines, feed readers and link previews
// request. The URLs are paths on this server and contain the version of the picture.
type Picture struct {
	Share         string // the share picture: the whole picture on a background, 1200 × 630 pixels, JPEG, under 300 kB
	Large         string // a rendition at most 1600 pixels wide
	Width, Height int    // size of Large in pixels
}

// The gallery's paths are galleryPath followed by a type of works, or by allTypes. The manifest lists the pages.
const (
	galleryPath = "/gallery/"
	allTypes    = "all"
)

// works reads works. query contains the conditions and the order, as in the query string of /rest/v1/products.
func (s *Service) works(ctx context.Context, query string) ([]work, error) {
	found, err := readRows[work](ctx, s.cfg.Content, "products", selectWork+query)
	for i := range found {
		found[i].inGallery = s.manifest.page(galleryPath+found[i].Type) != nil
	}
	return found, err
}

// allInGallery is the condition of all works that the gallery shows.
func (s *Service) allInGallery() string { return s.manifest.page(galleryPath + allTypes).Works }

func readRows[T any](ctx context.Context, c Content, table, query string) ([]T, error) {
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

// workAt returns the work that a URL names: on home one of the featured works, in the gallery one of that page; nil when
// there is none.
func (s *Service) workAt(ctx context.Context, v view) (*work, error) {
	if v.art == "" {
		return nil, nil
	}
	return s.workWith(ctx, s.manifest.page(v.path).Works, v.art)
}

func (s *Service) workWith(ctx context.Context, filter, id string) (*work, error) {
	found, err := s.works(ctx, filter+"&id=eq."+id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// locate looks for the work that a URL names. If it is not there, redirect is the URL that has it, or the view becomes
// that of a missing work. For cached pages the work was looked for when they were made.
func (s *Service) locate(ctx context.Context, v view) (_ view, redirect string, err error) {
	if v.art == "" {
		return v, "", nil
	}
	version, err := s.cache.version.Current(ctx)
	if err != nil {
		return v, "", err
	}
	if _, ok := s.cache.pages.Get(version, s.keyOf(v)); ok {
		return v, "", nil
	}
	here, err := s.workAt(ctx, v)
	if err != nil || here != nil {
		return v, "", err
	}
	if filter, gallery := galleryFilter(v.path); !gallery {
		return v, localized(galleryPath+allTypes+"?art="+v.art, v.lang()), nil
	} else if filter != allTypes {
		listed, err := s.workWith(ctx, s.allInGallery(), v.art)
		if err != nil {
			return v, "", err
		}
		if listed != nil {
			return v, localized(listed.path(), v.lang()), nil
		}
	}
	deleted, err := s.wasDeleted(ctx, v.art)
	if err != nil {
		return v, "", err
	}
	if deleted {
		return v.withoutWork(http.StatusGone), "", nil
	}
	return v.withoutWork(http.StatusNotFound), "", nil
}

// pictures returns the pictures of files, by their URLs.
func (s *Service) pictures(ctx context.Context, urls []string) (map[string]Picture, error) {
	if len(urls) == 0 {
		return nil, nil
	}
	return s.cfg.Content.Pictures(ctx, urls)
}

// picturesOf returns the pictures of all files of works, and of further files.
func (s *Service) picturesOf(ctx context.Context, works []work, further ...string) (map[string]Picture, error) {
	for i := range works {
		further = append(further, works[i].files()...)
	}
	return s.pictures(ctx, further)
}

// files lists the URLs of a work's pictures and films in the order of its dialog, each once.
func (w *work) files() (out []string) {
	for _, a := range slices.Concat([]string{w.ImageURL}, w.ImageGallery, w.VideoGallery) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// path is the canonical URL of a work. Types that the gallery does not show are on the home page.
func (w *work) path() string {
	if !w.inGallery {
		return "/?art=" + w.ID
	}
	return galleryPath + w.Type + "?art=" + w.ID
}

// name is the title, which is not translated, or a placeholder.
func (w *work) name(l i18n.Language) string { return cmp.Or(line(w.Title), l.Text("gallery.untitled")) }

// heading is the title of the work's page, without the site's name.
func (w *work) heading(l i18n.Language) string { return cmp.Or(line(w.SEOTitle), w.name(l)) }

// kind is the name of the type; "" for types that the gallery does not show.
func (w *work) kind(l i18n.Language) string {
	if w.inGallery {
		return l.Text("type." + w.Type)
	}
	return ""
}

// alt describes the work's picture: its title and its medium.
func (w *work) alt(l i18n.Language) string {
	return joinFilled(", ", w.name(l), cmp.Or(line(w.Medium), w.kind(l)))
}

// summary is the work's description: the owner's text, else its facts.
func (w *work) summary(l i18n.Language) string {
	if text := firstShort(w.SEODesc, w.Description); text != "" {
		return text
	}
	medium := line(w.Medium)
	if strings.EqualFold(medium, w.kind(l)) {
		medium = ""
	}
	return shorten(joinFilled(" · ", w.name(l), w.kind(l), medium, line(w.Dimensions)), descriptionLength)
}

// changed is when the work was last written.
func (w *work) changed() time.Time {
	if w.UpdatedAt.IsZero() {
		return w.CreatedAt
	}
	return w.UpdatedAt
}

func joinFilled(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), between)
}
