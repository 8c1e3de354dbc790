package pages

import (
	"context"
	"slices"

	"atelie/internal/settings"
)

// The size in pixels of a share picture, which link previews show.
const (
	shareWidth  = 1200
	shareHeight = 630
)

// iconSide is the width and height in pixels of the site's icon, the share picture of a page that has no other.
const iconSide = 512

// sharePicture is the picture that other sites and messengers show in a link preview of a page.
type sharePicture struct {
	path          string // path on this server
	width, height int    // pixels
	alt           string // alternative text; may be ""
}

// large reports whether previews may show the picture across their whole width.
func (p sharePicture) large() bool { return p.width == shareWidth }

// pictureSource is something whose picture can be the share picture of a page, such as a work or a cover.
type pictureSource struct {
	fileURLs []string // the first file that has a share picture is used
	alt      string   // alternative text
}

// chooseSharePicture returns the share picture of a page. For the page of a work w it is the work's picture. For another page it is
// the picture of its series, of the first works (only in the gallery), of the covers, or of the portrait, whichever exists first in this order.
// If the page has no such picture, it is the site's icon.
func (s *Service) chooseSharePicture(ctx context.Context, v view, site settings.Site, w *work, e *series) (sharePicture, error) {
	l := v.lang()
	var sources []pictureSource
	if w != nil {
		sources = append(sources, pictureSource{w.fileURLs(), w.alt(l)})
	} else {
		if e != nil {
			sources = append(sources, pictureSource{[]string{e.ImageURL}, e.name(l)})
		}
		if _, ok := galleryFilter(v.path); ok {
			pages, err := s.pagesOf(ctx)
			if err != nil {
				return sharePicture{}, err
			}
			first, err := s.readWorks(ctx, pages.worksOf(v.path)+"&"+pages.order+"&limit=5")
			if err != nil {
				return sharePicture{}, err
			}
			for _, shown := range first {
				sources = append(sources, pictureSource{shown.fileURLs(), shown.alt(l)})
			}
		}
		covers, err := s.readCoverSources(ctx, site)
		if err != nil {
			return sharePicture{}, err
		}
		sources = append(sources, covers...)
		alt := oneLine(site.Text(l, func(t settings.Texts) string { return t.PortraitAlt }))
		sources = append(sources, pictureSource{[]string{site.Portrait}, joinFilled(", ", alt, oneLine(site.Name))})
	}
	var files []string
	for _, c := range sources {
		files = append(files, c.fileURLs...)
	}
	pictures, err := s.readPictures(ctx, files)
	if err != nil {
		return sharePicture{}, err
	}
	for _, c := range sources {
		if i := slices.IndexFunc(c.fileURLs, func(f string) bool { return pictures[f].Share != "" }); i >= 0 {
			return sharePicture{pictures[c.fileURLs[i]].Share, shareWidth, shareHeight, c.alt}, nil
		}
	}
	return sharePicture{"/icon-512.png", iconSide, iconSide, oneLine(site.Name)}, nil
}

func (s *Service) readCoverSources(ctx context.Context, site settings.Site) ([]pictureSource, error) {
	covers, err := readRows[struct {
		Title    string `json:"title"`
		ImageURL string `json:"image_url"`
		Still    string `json:"video_thumbnail_url"`
	}](ctx, s.cfg.Content, "cover_images", "select=title,image_url,video_thumbnail_url&is_active=eq.true&order=display_order.asc&limit=5")
	var out []pictureSource
	for _, c := range covers {
		out = append(out, pictureSource{[]string{c.ImageURL, c.Still}, joinFilled(", ", oneLine(c.Title), oneLine(site.Name))})
	}
	return out, err
}
