package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file chooses substitutes: the pictures that are sent in place of renditions (copies in other sizes, shapes or formats) that do not
// exist yet.

// smallFileBytes is the maximum size in bytes of a public file (the file at the object's URL) that can be the substitute although there are
// renditions in the requested format. A larger public file can be the substitute only if there are none.
const smallFileBytes = 1 << 20

// findSubstitute returns the picture that is sent in place of a rendition that does not exist yet:
//   - For a tile (a part of the full size), the result is a transparent picture, because the page shows a smaller picture below the tile.
//   - Otherwise the candidates are the uncropped renditions in the requested format, and the public file if the client can show it. If
//     there are none, the candidates are the uncropped renditions in other formats.
//   - The result is the narrowest candidate that is at least as wide as needed. If all are narrower, the result is the widest candidate.
//   - Without candidates, the result is a plain picture in the dominant colour.
func (s *Service) findSubstitute(ctx context.Context, o files.Object, m *media, order rendition.Order) (servedPicture, error) {
	if order.Crop != (rendition.Rect{}) { // a tile
		return plainPicture(1, 1, color.Transparent)
	}
	all, err := listRenditions(ctx, s.db, m.ObjectID)
	if err != nil {
		return servedPicture{}, err
	}
	var candidates, otherFormats []servedPicture // renditions in the format of the order (the rendition to be made), and in other formats
	for _, r := range all {
		if !strings.HasPrefix(r.Name, string(rendition.Contain)) { // only names of uncropped renditions begin with "contain"
			continue
		}
		p := servedPicture{renditionRow: r, mime: mediaTypes[r.Format]}
		if r.Format == order.Format {
			candidates = append(candidates, p)
		} else {
			otherFormats = append(otherFormats, p)
		}
	}
	var canBeShown bool // whether the client can show the public file, judged by the requested format
	switch o.MimeType {
	case files.JPEG.MIME, files.PNG.MIME, files.GIF.MIME:
		canBeShown = true
	case files.WebP.MIME:
		canBeShown = order.Format != rendition.JPEG && order.Format != rendition.PNG
	}
	if canBeShown && (o.Size <= smallFileBytes || len(candidates) == 0) {
		stored := renditionRow{BlobID: o.BlobID, ETag: o.ETag, Width: m.Facts.Width, Height: m.Facts.Height, Size: o.Size}
		candidates = append(candidates, servedPicture{renditionRow: stored, mime: o.MimeType})
	}
	if len(candidates) == 0 {
		candidates = otherFormats
	}
	if len(candidates) == 0 {
		return plainPicture(m.Facts.Width, m.Facts.Height, dominantColour(m))
	}
	best := slices.MinFunc(candidates, func(a, b servedPicture) int { return compareWidths(a.Width, b.Width, neededWidth(order, m)) })
	best.isSubstitute = true
	return best, nil
}

// neededWidth returns the width in pixels that the uncropped picture needs for an order.
func neededWidth(o rendition.Order, m *media) int {
	switch {
	case o.Width == 0 && o.Height == 0:
		return m.Facts.Width
	case o.Height == 0:
		return o.Width
	}
	return max(o.Width, o.Height*m.Facts.Width/max(1, m.Facts.Height))
}

// compareWidths compares two widths, for sorting: first the widths of at least wanted, ascending, then the smaller widths, descending.
func compareWidths(a, b, wanted int) int {
	switch {
	case a >= wanted && b >= wanted:
		return a - b
	case a >= wanted:
		return -1
	case b >= wanted:
		return 1
	}
	return b - a
}

// dominantColour returns a picture's dominant colour, or a light grey if it is not known yet.
func dominantColour(m *media) color.Color {
	b, err := hex.DecodeString(strings.TrimPrefix(m.Facts.Color, "#"))
	if err != nil || len(b) != 3 {
		return color.RGBA{0xe8, 0xe8, 0xe8, 0xff}
	}
	return color.RGBA{b[0], b[1], b[2], 0xff}
}

// plainSide is the maximum side of a plain picture in pixels.
const plainSide = 32

// plainPicture returns a small PNG of one colour, in the shape of a picture of that width and height.
func plainPicture(width, height int, fill color.Color) (servedPicture, error) {
	scale := min(1, plainSide/float64(max(width, height, 1)))
	side := func(n int) int { return max(1, int(math.Round(float64(n)*scale))) }
	img := image.NewPaletted(image.Rect(0, 0, side(width), side(height)), color.Palette{fill})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return servedPicture{}, err
	}
	sum := sha256.Sum256(b.Bytes())
	return servedPicture{
		renditionRow: renditionRow{ETag: hex.EncodeToString(sum[:]), Width: img.Rect.Dx(), Height: img.Rect.Dy(), Size: int64(b.Len())},
		mime:         files.PNG.MIME, isSubstitute: true, content: b.Bytes(),
	}, nil
}
