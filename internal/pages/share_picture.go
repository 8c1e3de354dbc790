package pages

import (
	"cmp"
	"context"
	"slices"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file chooses the share picture of a page: the picture that other sites and messengers show in a link preview.

// The size in pixels of all share pictures except the site's icon.
const (
	shareWidth  = 1200
	shareHeight = 630
)

// iconSide is the width and height in pixels of the site's icon, the share picture of a page that has no other.
const iconSide = 512

// sharePicture is the share picture of a page.
type sharePicture struct {
	path          string // path on this server
	width, height int    // pixels
	alt           string // alternative text; may be ""
}

// pictureSource is something whose files can give the share picture: a work, a cover (a picture or video at the top of the home page), a
// series or the portrait.
type pictureSource struct {
	fileURLs []string                // the first file that has a share picture is used
	alt      func(url string) string // returns the alternative text of a file
}

// chooseSharePicture returns the share picture of a page. For the page of a work w, it is a picture of the work. If w is nil, it is the first
// existing picture from these sources:
//   - the series e, unless it is nil
//   - on a page of the gallery, its first works
//   - the covers
//   - the portrait
//
// If there is no such picture, it is the site's icon.
func (s *Service) chooseSharePicture(ctx context.Context, v view, site settings.Site, w *work, e *series) (sharePicture, error) {
	l := v.lang()
	var sources []pictureSource
	if w != nil {
		sources = append(sources, w.pictureSource(l))
	} else {
		if e != nil {
			sources = append(sources, pictureSource{[]string{e.ImageURL}, func(string) string { return e.name(l) }})
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
			for _, listed := range first {
				sources = append(sources, listed.pictureSource(l))
			}
		}
		covers, err := s.readCoverSources(ctx, site, l)
		if err != nil {
			return sharePicture{}, err
		}
		sources = append(sources, covers...)
		alt := joinFilled(", ", oneLine(site.Text(l, func(t settings.Texts) string { return t.PortraitAlt })), oneLine(site.Name))
		sources = append(sources, pictureSource{[]string{site.Portrait}, func(string) string { return alt }})
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
			return sharePicture{pictures[c.fileURLs[i]].Share, shareWidth, shareHeight, c.alt(c.fileURLs[i])}, nil
		}
	}
	return sharePicture{"/icon-512.png", iconSide, iconSide, oneLine(site.Name)}, nil
}

func (w *work) pictureSource(l i18n.Language) pictureSource {
	return pictureSource{w.fileURLs(), func(url string) string { return w.alt(l, url) }}
}

func (s *Service) readCoverSources(ctx context.Context, site settings.Site, l i18n.Language) ([]pictureSource, error) {
	covers, err := readRows[struct {
		Title    string `json:"title"`
		TitlePT  string `json:"title_pt"`
		AltEN    string `json:"alt_en"`
		AltPT    string `json:"alt_pt"`
		ImageURL string `json:"image_url"`
		Still    string `json:"video_thumbnail_url"`
	}](ctx, s.cfg.Content, "cover_images", "select=title,title_pt,alt_en,alt_pt,image_url,video_thumbnail_url&is_active=eq.true&order=display_order.asc&limit=5")
	var out []pictureSource
	for _, c := range covers {
		alt := cmp.Or(oneLine(inLanguage(l, c.AltEN, c.AltPT)), joinFilled(", ", oneLine(inLanguage(l, c.Title, c.TitlePT)), oneLine(site.Name)))
		out = append(out, pictureSource{[]string{c.ImageURL, c.Still}, func(string) string { return alt }})
	}
	return out, err
}
