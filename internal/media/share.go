package media

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file returns the URLs of renditions (resized copies of pictures) that package pages puts into the HTML of pages: for search engines,
// link previews and lists.

// smallWidth is the width in pixels of Picture.Small. Lists show this rendition.
const smallWidth = 128

// largeWidth is the maximum width in pixels of Picture.Large.
const largeWidth = 1600

// Picture contains URLs of a picture's renditions. The URLs are paths on this server and contain the version of the content (v), such as
// /storage/v1/render/image/public/product-images/heron.jpg?width=128&v=0123456789abcdef.
type Picture struct {
	// Share is for link previews (og:image): 1200 × 630 pixels, under 300 kB. It shows the whole picture on a background of its dominant
	// colour.
	Share         string
	Small         string // the rendition that is smallWidth pixels wide, or as wide as the picture if that is narrower
	Large         string // the widest rendition of at most largeWidth pixels; if all are wider, the narrowest one
	Width, Height int    // size of Large in pixels
}

// Pictures maps each public URL in urls to the Picture of its file. The Picture of a video shows its still (the frame that is shown before
// the video plays). Files that are unknown or cannot be read are left out.
func (s *Service) Pictures(ctx context.Context, urls []string) (map[string]Picture, error) {
	out := map[string]Picture{}
	nameByURL := map[string]objectName{}
	var wanted []objectName
	for _, publicURL := range urls {
		bucket, name, ok := files.ParsePublicURL(publicURL)
		if !ok {
			continue
		}
		if still, isVideo := files.StillOf(name); isVideo {
			name = still
		}
		nameByURL[publicURL] = objectName{bucket, name}
		wanted = append(wanted, nameByURL[publicURL])
	}
	if len(wanted) == 0 || s.cfg.Engine == nil {
		return out, nil
	}
	objects, err := listMediaObjects(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	for publicURL, name := range nameByURL {
		if object, ok := objects[name]; ok && object.Kind == "image" && object.State != stateFailed && s.cfg.Engine.CanDecode(object.MimeType) {
			if out[publicURL], err = object.newPicture(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s mediaObject) newPicture() (Picture, error) {
	all := widths(s.Facts.Width, s.Facts.Height)
	tooWide, _ := slices.BinarySearch(all, largeWidth+1) // index of the first width above largeWidth
	_, width, height, err := rendition.Layout(widthOrder(all[max(0, tooWide-1)], rendition.WebP), s.Facts.Width, s.Facts.Height)
	path := (&url.URL{Path: "/storage/v1/render/image/public/" + s.Bucket + "/" + s.Name}).EscapedPath()
	return Picture{
		Share: fmt.Sprintf("%s?width=%d&height=%d&resize=frame&format=jpeg&v=%s", path, shareWidth, shareHeight, urlVersion(s.Object)),
		Small: fmt.Sprintf("%s?width=%d&v=%s", path, snap(all, smallWidth), urlVersion(s.Object)),
		Large: fmt.Sprintf("%s?width=%d&v=%s", path, width, urlVersion(s.Object)),
		Width: width, Height: height,
	}, err
}
