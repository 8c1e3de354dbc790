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

// iconSide is the width and height in pixels of the site's icon, which is used if a page has no other picture.
const iconSide = 512

// sharePicture is the picture that other sites show in a link preview of a page.
type sharePicture struct {
	path          string // path on this server
	width, height int    // pixels
	alt           string // alternative text; may be ""
}

// large reports whether previews may show the picture across their whole width.
func (p sharePicture) large() bool { return p.width == shareWidth }

// candidate is a possible source of a page's share picture, such as a work or a cover.
type candidate struct {
	files []string // URLs; the first that has a share picture is used
	alt   string
}

// sharePicture returns the share picture of a page. For the page of a work w it is the work's picture. For other pages it is
// the first that exists of: the newest works (only in the gallery), the covers, the portrait. If none exists, it is the
// site's icon.
func (s *Service) sharePicture(ctx context.Context, v view, site settings.Site, w *work) (sharePicture, error) {
	l := v.lang()
	var all []candidate
	if w != nil {
		all = append(all, candidate{w.files(), w.alt(l)})
	} else {
		if _, ok := galleryFilter(v.path); ok {
			newest, err := s.works(ctx, s.manifest.page(v.path).Works+"&order=created_at.desc&limit=5")
			if err != nil {
				return sharePicture{}, err
			}
			for _, one := range newest {
				all = append(all, candidate{one.files(), one.alt(l)})
			}
		}
		covers, err := s.coverCandidates(ctx, site)
		if err != nil {
			return sharePicture{}, err
		}
		all = append(all, covers...)
		alt := line(site.Text(l, func(t settings.Texts) string { return t.PortraitAlt }))
		all = append(all, candidate{[]string{site.Portrait}, joinFilled(", ", alt, line(site.Name))})
	}
	var files []string
	for _, c := range all {
		files = append(files, c.files...)
	}
	known, err := s.pictures(ctx, files)
	if err != nil {
		return sharePicture{}, err
	}
	for _, c := range all {
		if i := slices.IndexFunc(c.files, func(f string) bool { return known[f].Share != "" }); i >= 0 {
			return sharePicture{known[c.files[i]].Share, shareWidth, shareHeight, c.alt}, nil
		}
	}
	return sharePicture{"/icon-512.png", iconSide, iconSide, line(site.Name)}, nil
}

func (s *Service) coverCandidates(ctx context.Context, site settings.Site) ([]candidate, error) {
	covers, err := readRows[struct {
		Title    string `json:"title"`
		ImageURL string `json:"image_url"`
		Still    string `json:"video_thumbnail_url"`
	}](ctx, s.cfg.Content, "cover_images", "select=title,image_url,video_thumbnail_url&is_active=eq.true&order=display_order.asc&limit=5")
	var out []candidate
	for _, c := range covers {
		out = append(out, candidate{[]string{c.ImageURL, c.Still}, joinFilled(", ", line(c.Title), line(site.Name))})
	}
	return out, err
}
