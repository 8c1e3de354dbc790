package rendition

import (
	"bytes"
	"context"
	"image/jpeg"

	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition/colour"
)

// This file computes the placeholder and the dominant colour of a picture from the preview (a small JPEG) in its metadata. An upload thus
// has both before the picture itself is decoded.

// maxPreviewSide is the longest side in pixels of a preview that is decoded. The preview in EXIF usually has 160.
const maxPreviewSide = 512

// Preview returns the placeholder (a thumbhash) and the dominant colour of a picture, computed from the preview in its metadata. Both are
// empty if there is no usable preview. Preview decodes at most 64 kB and 512 x 512 pixels, so that a request can wait for the result. width
// and height are the size of the picture as shown.
func Preview(ctx context.Context, info metadata.Info, width, height int) (thumbhash []byte, color string) {
	header, err := jpeg.DecodeConfig(bytes.NewReader(info.Preview))
	if err != nil || max(header.Width, header.Height) > maxPreviewSide || min(width, height, header.Width, header.Height) < 1 {
		return nil, ""
	}
	img, err := jpeg.Decode(bytes.NewReader(info.Preview))
	if err != nil {
		return nil, ""
	}
	src, err := newSource(img, false) // false: a JPEG has the full range of values
	if err != nil {
		return nil, ""
	}
	if info.Orientation > 4 { // these orientations exchange width and height, and the preview is not rotated yet
		width, height = height, width
	}
	win := centredWindow(header.Width, header.Height, width, height)
	w, h := scaleSize(width, height, min(1, swatchSide/float64(max(width, height))))
	swatch, err := src.resampleWindow(ctx, win, w, h, false /* full chroma */, info.Orientation)
	if err != nil {
		return nil, ""
	}
	profile, err := colour.Parse(info.Profile)
	if err != nil { // an unreadable profile is ignored, as for the picture itself
		profile = nil
	}
	toSRGB, err := colour.NewTransform(profile, colour.SRGB)
	if err != nil {
		return nil, ""
	}
	if swatch, err = swatch.paintFull(ctx, toSRGB); err != nil {
		return nil, ""
	}
	pixels := swatch.rotate(info.Orientation).toNRGBA()
	return makeThumbhash(pixels), formatHex(dominantColour(pixels))
}

// centredWindow returns the largest centred part of w x h pixels that has the shape of a picture of width x height. Cameras add
// bars to a preview if its shape differs from the picture's.
func centredWindow(w, h, width, height int) window {
	fw, fh, shape := float64(w), float64(h), float64(width)/float64(height)
	if fw > fh*shape {
		return window{(fw - fh*shape) / 2, 0, fh * shape, fh}
	}
	return window{0, (fh - fw/shape) / 2, fw, fw / shape}
}
