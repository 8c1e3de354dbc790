package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelie/internal/i18n"
)

// Content reads what the site shows, as an anonymous visitor would: Rows and Count answer what GET /rest/v1/{table}?{query}
// answers, a JSON text a row. Pictures tells where other sites find pictures, by public addresses of files; what it does
// not know is left out. Without these functions the site has no content.
type Content struct {
	Rows     func(ctx context.Context, table, query string) ([]string, error)
	Count    func(ctx context.Context, table, query string) (int64, error)
	Pictures func(ctx context.Context, addresses []string) (map[string]Picture, error)
}

// Picture is where other sites find a picture of ours. The addresses are paths on this server that name the content.
type Picture struct {
	Share         string // whole, on a ground of its own colours: 1200 × 630 pixels, JPEG, under 300 kB
	Large         string // at most 1600 pixels wide
	Width, Height int    // of Large, in pixels
}

// The walls of the gallery. Oil and acrylic hang on none (spec §2).
const allWorks = "all"

var hungTypes = []string{"digital", "mural", "watercolour"}

// onWall is the filter of the gallery's own query (spec §7).
func onWall(wall string) string {
	if wall == allWorks {
		return "artwork_type=not.in.(oil,acrylic)"
	}
	return "artwork_type=eq." + wall
}

// work is what pages tell about a row of products.
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
	UpdatedAt    time.Time `json:"updated_at"` // zero when unknown
}

const workColumns = "select=id,title,description,artwork_type,image_url,image_gallery,video_gallery,dimensions,medium,creation_date,tags,seo_meta_title,seo_meta_desc,created_at,updated_at&"

// works reads works; query says which and in what order.
func (s *Service) works(ctx context.Context, query string) ([]work, error) {
	return readRows[work](ctx, s.cfg.Content, "products", workColumns+query)
}

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

// workAt finds the work that an address opens; nil when none with that id hangs on that wall.
func (s *Service) workAt(ctx context.Context, v view) (*work, error) {
	wall, ok := wallOf(v.path)
	if !ok || v.art == "" {
		return nil, nil
	}
	found, err := s.works(ctx, onWall(wall)+"&id=eq."+v.art)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// pictures tells where other sites find the pictures at the given addresses.
func (s *Service) pictures(ctx context.Context, addresses []string) (map[string]Picture, error) {
	if s.cfg.Content.Pictures == nil || len(addresses) == 0 {
		return nil, nil
	}
	return s.cfg.Content.Pictures(ctx, addresses)
}

// files lists a work's pictures and films in the order of its dialog, each once.
func (w *work) files() (out []string) {
	for _, a := range slices.Concat([]string{w.ImageURL}, w.ImageGallery, w.VideoGallery) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// path is the one address of a work (READING §3.22), whichever wall it was opened from.
func (w *work) path() string { return "/gallery/" + w.Type + "?art=" + w.ID }

// name is what the work is called; titles are not translated.
func (w *work) name(l i18n.Language) string {
	if title := line(w.Title); title != "" {
		return title
	}
	return l.Text("gallery.untitled")
}

// heading is the title of the work's page, without the site's name.
func (w *work) heading(l i18n.Language) string {
	if title := line(w.SEOTitle); title != "" {
		return title
	}
	return w.name(l)
}

// kind names the type of the work; "" for one that we have no word for.
func (w *work) kind(l i18n.Language) string {
	if slices.Contains(hungTypes, w.Type) {
		return l.Text("type." + w.Type)
	}
	return ""
}

// alt says what the work's picture shows: its title, and what it is made with.
func (w *work) alt(l i18n.Language) string {
	made := line(w.Medium)
	if made == "" {
		made = w.kind(l)
	}
	return joinFilled(", ", w.name(l), made)
}

// summary is what a result list says of the work: the owner's words, else its facts.
func (w *work) summary(l i18n.Language) string {
	for _, text := range []string{w.SEODesc, w.Description} {
		if text = shorten(text, descriptionLength); text != "" {
			return text
		}
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
