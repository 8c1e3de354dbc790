package storage

import (
	"context"
	"fmt"
	"net/url"

	"atelie/internal/storage/rendition"
)

// largeWidth is the widest rendition that other sites are pointed to, in pixels.
const largeWidth = 1600

// Picture is where other sites find a picture of ours. The addresses are paths on this server that name the content.
type Picture struct {
	Share         string // whole, on a ground of its own colours: 1200 × 630 pixels, JPEG, under 300 kB
	Large         string // at most 1600 pixels wide
	Width, Height int    // of Large, in pixels
}

// Pictures gives those pictures by the public addresses of files, for a film those of its still. What is not known here,
// or could not be read, is left out.
func (s *Service) Pictures(ctx context.Context, addresses []string) (map[string]Picture, error) {
	out := map[string]Picture{}
	names := map[string]address{}
	var wanted []address
	for _, a := range addresses {
		b, name, ok := placeOf(a)
		if !ok {
			continue
		}
		if still, isFilm := stillOf(name); isFilm {
			name = still
		}
		names[a] = address{b, name}
		wanted = append(wanted, names[a])
	}
	if len(wanted) == 0 || s.cfg.Engine == nil {
		return out, nil
	}
	known, err := listShown(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	for a, name := range names {
		if k, ok := known[name]; ok && k.Kind == "image" && k.State != failed && s.cfg.Engine.Takes(k.MimeType) {
			if out[a], err = k.picture(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s shown) picture() (Picture, error) {
	all := widths(s.Facts.Width, s.Facts.Height)
	width := all[0]
	for _, w := range all {
		if w <= largeWidth {
			width = w
		}
	}
	_, width, height, err := rendition.Plan(rung(width, rendition.WebP), s.Facts.Width, s.Facts.Height)
	place := (&url.URL{Path: "/storage/v1/render/image/public/" + s.Bucket + "/" + s.Name}).EscapedPath()
	return Picture{
		Share: fmt.Sprintf("%s?width=%d&height=%d&resize=frame&format=jpeg&v=%s", place, shareWidth, shareHeight, version(s.Object)),
		Large: fmt.Sprintf("%s?width=%d&v=%s", place, width, version(s.Object)),
		Width: width, Height: height,
	}, err
}
