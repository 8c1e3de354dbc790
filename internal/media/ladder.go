package media

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"atelie/internal/media/rendition"
)

// This file decides which renditions a picture has, and in which stages they are made. A rendition is a copy of a picture in another size,
// shape or format. The ladder of a picture is the set of its renditions in the standard widths, up to its own width.

// revision is the version number of the encoders, stored with each rendition. Raise it when renditions should be encoded again: the command
// "atelie media rebuild" then replaces the renditions with a lower number.
const revision = 1

// A picture with a side of more than maxUntiledSide pixels is cut into tiles (squares of tileSide pixels), so that visitors can zoom in to
// its pixels. A smaller picture has no tiles, but a rendition of its own width.
const (
	maxUntiledSide = 4096
	tileSide       = 1024
)

// The size in pixels of the share picture: the rendition for link previews.
const (
	shareWidth  = 1200
	shareHeight = 630
)

// hasTiles reports whether a picture of this size has tiles.
func hasTiles(width, height int) bool { return max(width, height) > maxUntiledSide }

// maxSideWebP is the longest side in pixels that a WebP file can have.
const maxSideWebP = 16383

// standardWidths are MainWidths and ExtraWidths of package rendition, in ascending order.
var standardWidths = slices.Sorted(slices.Values(slices.Concat(rendition.MainWidths[:], rendition.ExtraWidths[:])))

// widths returns the widths in pixels of a picture's renditions, in ascending order: the standard widths below the picture's own width and,
// if the picture has no tiles, its own width. For 500 x 400 pixels they are 64, 128, 192, 256, 320, 400 and 500. Widths at which a tall
// picture would exceed maxSideWebP are left out. If no width is left, the result is the largest width that fits.
func widths(width, height int) (out []int) {
	// fitsWebP reports whether the height of a rendition of width w is within WebP's limit. That height is w*height/width.
	fitsWebP := func(w int) bool { return w*height <= maxSideWebP*width }
	for _, w := range standardWidths {
		if w < width && fitsWebP(w) {
			out = append(out, w)
		}
	}
	switch {
	case fitsWebP(width) && (!hasTiles(width, height) || len(out) == 0):
		return append(out, width)
	case len(out) == 0:
		return append(out, max(1, maxSideWebP*width/height))
	}
	return out
}

// recipe is a rendition to be made.
type recipe struct {
	name  string          // made by nameOf from order; the key in media_renditions
	order rendition.Order // size, shape and format for the engine
	eager bool            // true: made in advance by a job, and never evicted; false: made on request
}

// nameOf returns the name of an order's rendition. Two orders have the same name if and only if they are equal.
func nameOf(o rendition.Order) string {
	if o.Crop != (rendition.Rect{}) {
		return fmt.Sprintf("tile-%d-%d.%s", o.Crop.X/tileSide, o.Crop.Y/tileSide, o.Format)
	}
	return fmt.Sprintf("%s-%dx%d-q%d.%s", o.Fit, o.Width, o.Height, o.Quality, o.Format)
}

// eagerRecipe returns a recipe for a rendition that is made in advance.
func eagerRecipe(o rendition.Order) recipe { return recipe{name: nameOf(o), order: o, eager: true} }

// widthOrder returns the order of the whole picture with a width in pixels, and the height in proportion.
func widthOrder(width int, f rendition.Format) rendition.Order {
	return rendition.Order{Width: width, Fit: rendition.Contain, Format: f}
}

func shareOrder() rendition.Order {
	return rendition.Order{Width: shareWidth, Height: shareHeight, Fit: rendition.Frame, Format: rendition.JPEG}
}

// tileOrder returns the order of a tile of a picture. The bool is false if the picture has no such tile.
func tileOrder(width, height, column, row int) (rendition.Order, bool) {
	x, y := column*tileSide, row*tileSide
	if !hasTiles(width, height) || column < 0 || row < 0 || x >= width || y >= height {
		return rendition.Order{}, false
	}
	return rendition.Order{Fit: rendition.Contain, Format: rendition.WebP,
		Crop: rendition.Rect{X: x, Y: y, Width: min(tileSide, width-x), Height: min(tileSide, height-y)}}, true
}

// The renditions of a picture are made in stages. Each stage decodes the picture once. The first stage is cheap. It runs for all waiting
// pictures before the ladder of any picture, so that visitors soon see each picture. AVIF costs the most time and is made last.
const (
	stageFirst = iota
	stageLadder
	stageTiles
	stageAVIF
	stageCount
	onDemand // not a stage: a single rendition that a request waits for
)

// recipes returns the renditions that a stage makes of a picture in advance. width and height are the picture's, in pixels.
func recipes(stage int, bucket string, width, height int) (out []recipe) {
	switch stage {
	case stageFirst:
		for _, w := range firstWidths(width, height) {
			out = append(out, eagerRecipe(widthOrder(w, rendition.WebP)))
		}
	case stageLadder: // includes the widths of the first stage, for pictures that have none yet
		for _, w := range widths(width, height) {
			out = append(out, eagerRecipe(widthOrder(w, rendition.WebP)))
		}
		if bucket == coverBucket {
			out = append(out, uprightCuts(width, height, rendition.WebP)...)
		}
		out = append(out, eagerRecipe(shareOrder()))
	case stageTiles:
		for row := 0; row*tileSide < height; row++ {
			for column := 0; column*tileSide < width; column++ {
				if o, ok := tileOrder(width, height, column, row); ok {
					out = append(out, eagerRecipe(o))
				}
			}
		}
	case stageAVIF:
		// Below the smallest main width, AVIF's container adds as many bytes as AVIF saves.
		for _, w := range widths(width, height) {
			if w >= min(rendition.MainWidths[0], width) {
				out = append(out, eagerRecipe(widthOrder(w, rendition.AVIF)))
			}
		}
		if bucket == coverBucket {
			out = append(out, uprightCuts(width, height, rendition.AVIF)...)
		}
	}
	return out
}

// firstWidths returns the widths of the first stage, which lists, cards and phones show.
func firstWidths(width, height int) []int {
	available := widths(width, height)
	return slices.Compact([]int{snap(available, rendition.MainWidths[0]), snap(available, rendition.MainWidths[1])})
}

// coverBucket is the bucket of covers, the large pictures at the top of the home page.
const coverBucket = "cover-images"

// uprightCuts returns the upright cuts (4:5) of a broad cover, which the home page shows on phones. web/src/lib/media.ts
// offers browsers the same sizes.
func uprightCuts(width, height int, format rendition.Format) (out []recipe) {
	const tall, smallest = 5.0 / 4, 256
	if float64(height)*1.2 > float64(width)*tall {
		return nil
	}
	for _, w := range widths(width, height) {
		if h := int(math.Round(float64(w) * tall)); w >= smallest && float64(w)*tall <= float64(height) {
			out = append(out, eagerRecipe(rendition.Order{Width: w, Height: h, Fit: rendition.Cover, Format: format}))
		}
	}
	return out
}

// cutShapes are the shapes (height divided by width) of cut pictures at public URLs. Any other shape becomes the
// nearest of them, so that anonymous callers cannot have any number of files made.
var cutShapes = [...]float64{9.0 / 21, 9.0 / 16, 2.0 / 3, 3.0 / 4, 4.0 / 5, 1, 5.0 / 4, 4.0 / 3, 3.0 / 2, 16.0 / 9, 21.0 / 9}

// nearestShape returns the nearest of cutShapes to the shape of that size.
func nearestShape(width, height int) float64 {
	distance := func(shape float64) float64 {
		return math.Abs(math.Log(shape) - math.Log(float64(height)/float64(width)))
	}
	return slices.MinFunc(cutShapes[:], func(a, b float64) int { return cmp.Compare(distance(a), distance(b)) })
}

// snap returns the smallest available width that is not below the requested one, or else the largest. available is in ascending order.
func snap(available []int, width int) int {
	i, _ := slices.BinarySearch(available, width)
	return available[min(i, len(available)-1)]
}
