package pages

import (
	"context"
	"slices"
)

// The size of share pictures in pixels, as link previews want it.
const (
	shareWidth  = 1200
	shareHeight = 630
)

// markSide is the side in pixels of the site's mark, which stands in where there is no picture.
const markSide = 512

// sharePicture is the picture of a link preview.
type sharePicture struct {
	address       string // on this server, from its root
	width, height int
	alt           string
}

func (p sharePicture) large() bool { return p.width == shareWidth }

// candidate is a file that may stand for a page.
type candidate struct {
	files []string // the first one that there is a picture of counts
	alt   string
}

// sharePicture finds the picture for a page: the work's own; for a wall that of its newest work; else the first cover's, the
// portrait, and at last the site's mark.
func (s *Service) sharePicture(ctx context.Context, v view, site Site, w *work) (sharePicture, error) {
	l := v.lang()
	var all []candidate
	if w != nil {
		all = append(all, candidate{w.files(), w.alt(l)})
	} else {
		if wall, ok := wallOf(v.path); ok {
			newest, err := s.works(ctx, onWall(wall)+"&order=created_at.desc&limit=5")
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
		alt := line(ownText(site, l, func(t Texts) string { return t.PortraitAlt }))
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
	return sharePicture{"/icon-512.png", markSide, markSide, line(site.Name)}, nil
}

func (s *Service) coverCandidates(ctx context.Context, site Site) ([]candidate, error) {
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
