package storage

import (
	"fmt"
	"math"
	"slices"

	"atelie/internal/storage/rendition"
)

// revision counts the changes of the encoders that are worth making renditions again (atelie media rebuild).
const revision = 1

// Pictures beyond tiledFrom pixels on a side are also cut into tiles, so that a dialog can zoom to their pixels; smaller
// ones have a rendition of their own width instead.
const (
	tiledFrom = 4096
	tileSide  = 1024
)

// The share picture, as link previews want it.
const (
	shareWidth  = 1200
	shareHeight = 630
)

func tiled(width, height int) bool { return max(width, height) > tiledFrom }

// maxSideWebP is the longest side in pixels that a WebP file can have.
const maxSideWebP = 16383

// rungs are the ladder with the steps between its rungs, from the smallest on.
var rungs = slices.Sorted(slices.Values(slices.Concat(rendition.Ladder[:], rendition.Steps[:])))

// widths are the widths in pixels at which a picture can be had: the rungs below its own, and its own, or, for one that
// has tiles, all rungs alone. A strip so high that WebP could not hold it has those that it can, at least one.
func widths(width, height int) (out []int) {
	fits := func(w int) bool { return w*height <= maxSideWebP*width }
	for _, rung := range rungs {
		if rung < width && fits(rung) {
			out = append(out, rung)
		}
	}
	switch {
	case fits(width) && (!tiled(width, height) || len(out) == 0):
		return append(out, width)
	case len(out) == 0:
		return append(out, max(1, maxSideWebP*width/height))
	}
	return out
}

// recipe is a rendition by its name.
type recipe struct {
	name  string
	order rendition.Order
	eager bool
}

// nameOf writes an order so that equal ones, and no others, have one name.
func nameOf(o rendition.Order) string {
	if o.Crop != (rendition.Rect{}) {
		return fmt.Sprintf("tile-%d-%d.%s", o.Crop.X/tileSide, o.Crop.Y/tileSide, o.Format)
	}
	return fmt.Sprintf("%s-%dx%d-q%d.%s", o.Fit, o.Width, o.Height, o.Quality, o.Format)
}

func asked(o rendition.Order) recipe { return recipe{name: nameOf(o), order: o} }

func eager(o rendition.Order) recipe { return recipe{name: nameOf(o), order: o, eager: true} }

// rung orders a picture at one of its widths.
func rung(width int, f rendition.Format) rendition.Order {
	return rendition.Order{Width: width, Fit: rendition.Contain, Format: f}
}

func shareOrder() rendition.Order {
	return rendition.Order{Width: shareWidth, Height: shareHeight, Fit: rendition.Frame, Format: rendition.JPEG}
}

// tileOrder cuts a tile out of a picture; false outside of it.
func tileOrder(width, height, column, row int) (rendition.Order, bool) {
	x, y := column*tileSide, row*tileSide
	if !tiled(width, height) || column < 0 || row < 0 || x >= width || y >= height {
		return rendition.Order{}, false
	}
	return rendition.Order{Fit: rendition.Contain, Format: rendition.WebP,
		Crop: rendition.Rect{X: x, Y: y, Width: min(tileSide, width-x), Height: min(tileSide, height-y)}}, true
}

// A picture's renditions are made in stages of one decode each: what pages wait for comes first.
const (
	stageLadder = iota
	stageTiles
	stageAVIF
	stages
)

// recipes are what a stage makes of a picture before anybody asks.
func recipes(stage int, bucket string, width, height int) (out []recipe) {
	switch stage {
	case stageLadder:
		for _, w := range widths(width, height) {
			out = append(out, eager(rung(w, rendition.WebP)))
		}
		if bucket == coverBucket {
			out = append(out, uprightCuts(width, height)...)
		}
		out = append(out, eager(shareOrder()))
	case stageTiles:
		for row := 0; row*tileSide < height; row++ {
			for column := 0; column*tileSide < width; column++ {
				if o, ok := tileOrder(width, height, column, row); ok {
					out = append(out, eager(o))
				}
			}
		}
	case stageAVIF:
		// Below the ladder its container weighs as much as it saves.
		for _, w := range widths(width, height) {
			if w >= min(rendition.Ladder[0], width) {
				out = append(out, eager(rung(w, rendition.AVIF)))
			}
		}
	}
	return out
}

// coverBucket holds what fills the first screen.
const coverBucket = "cover-images"

// uprightCuts are a phone's part of a broad cover, four by five: those that web/src/lib/media.ts offers.
func uprightCuts(width, height int) (out []recipe) {
	const tall, smallest = 5.0 / 4, 256
	if float64(height)*1.2 > float64(width)*tall {
		return nil
	}
	for _, w := range widths(width, height) {
		if h := int(math.Round(float64(w) * tall)); w >= smallest && float64(w)*tall <= float64(height) {
			out = append(out, eager(rendition.Order{Width: w, Height: h, Fit: rendition.Cover, Format: rendition.WebP}))
		}
	}
	return out
}

// Shapes that a cut picture can have on public addresses, as height by width: others become the nearest, so that the
// number of files that anybody can ask for is bounded.
var cutShapes = [...]float64{9.0 / 21, 9.0 / 16, 2.0 / 3, 3.0 / 4, 4.0 / 5, 1, 5.0 / 4, 4.0 / 3, 3.0 / 2, 16.0 / 9, 21.0 / 9}

func nearestShape(width, height int) float64 {
	asked, best := math.Log(float64(height)/float64(width)), cutShapes[0]
	for _, s := range cutShapes {
		if math.Abs(math.Log(s)-asked) < math.Abs(math.Log(best)-asked) {
			best = s
		}
	}
	return best
}

// snap gives the smallest of a picture's widths that is not below the one asked for, or the largest.
func snap(available []int, width int) int {
	for _, w := range available {
		if w >= width {
			return w
		}
	}
	return available[len(available)-1]
}
