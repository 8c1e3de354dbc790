package rendition

import "math"

// This file computes the geometry of a rendition: which part of the picture it shows, and at which size.

// maxRenditionSide is the longest side of a rendition in pixels, in all formats. It is the limit of WebP.
const maxRenditionSide = 16383

// Layout returns the geometry of the rendition that order describes, for a picture of width x height. All values are in pixels after the
// EXIF rotation. The error for an invalid order wraps ErrOrder.
//   - crop is the part of the picture that the rendition shows: the whole picture, unless Order.Crop is set or the fit is Cover.
//   - w and h are the size to which this part is scaled. With the fit Frame, the scaled part lies on a background of the order's size.
func Layout(order Order, width, height int) (crop Rect, w, h int, err error) {
	crop = Rect{0, 0, width, height}
	if order.Width < 0 || order.Height < 0 || order.Quality < 0 || order.Quality > 100 ||
		max(order.Width, order.Height) > maxRenditionSide {
		return crop, 0, 0, ErrOrder.Becausef("%+v", order)
	}
	switch order.Format {
	case WebP, JPEG, AVIF, PNG:
	default:
		return crop, 0, 0, ErrOrder.Becausef("format %q", order.Format)
	}
	if c := order.Crop; c != (Rect{}) {
		// The crop may reach beyond the right and the lower edge of the picture, as the last tile of a zoom does. It is reduced to the
		// part inside the picture.
		if c.X < 0 || c.Y < 0 || c.Width <= 0 || c.Height <= 0 || c.X >= width || c.Y >= height {
			return crop, 0, 0, ErrOrder.Becausef("crop %+v of %d x %d", c, width, height)
		}
		crop = Rect{c.X, c.Y, min(c.Width, width-c.X), min(c.Height, height-c.Y)}
	}
	if order.Width == 0 && order.Height == 0 {
		w, h = scaleSize(crop.Width, crop.Height, min(1, maxRenditionSide/float64(max(crop.Width, crop.Height))))
		return crop, w, h, nil
	}
	cropW, cropH := float64(crop.Width), float64(crop.Height)
	sx, sy := float64(order.Width)/cropW, float64(order.Height)/cropH // scales; 0 if the order has no width or no height
	if sx == 0 {
		sx = sy
	} else if sy == 0 {
		sy = sx
	}
	switch order.Fit {
	case "", Contain:
		w, h = scaleSize(crop.Width, crop.Height, min(sx, sy, 1, maxRenditionSide/float64(max(crop.Width, crop.Height))))
	case Frame:
		if order.Width == 0 || order.Height == 0 {
			return crop, 0, 0, ErrOrder.Becausef("a frame needs both sizes: %+v", order)
		}
		w, h = scaleSize(crop.Width, crop.Height, min(sx, sy))
		w, h = min(w, order.Width), min(h, order.Height)
	case Fill:
		w, h = max(1, int(math.Round(cropW*sx))), max(1, int(math.Round(cropH*sy)))
	case Cover:
		// If the picture is too small, the rendition is smaller than ordered, but has the ordered shape.
		s := max(sx, sy)
		w, h = max(1, int(math.Round(cropW*sx/max(s, 1)))), max(1, int(math.Round(cropH*sy/max(s, 1))))
		s = min(s, 1)
		cw, ch := min(crop.Width, max(1, int(math.Round(float64(w)/s)))), min(crop.Height, max(1, int(math.Round(float64(h)/s))))
		crop = Rect{crop.X + (crop.Width-cw)/2, crop.Y + (crop.Height-ch)/2, cw, ch}
	default:
		return crop, 0, 0, ErrOrder.Becausef("fit %q", order.Fit)
	}
	if max(w, h) > maxRenditionSide {
		return crop, 0, 0, ErrOrder.Becausef("%d x %d pixels, at most %d a side", w, h, maxRenditionSide)
	}
	return crop, w, h, nil
}

// scaleSize multiplies a size by s. Sides are rounded and at least 1.
func scaleSize(w, h int, s float64) (int, int) {
	return max(1, int(math.Round(float64(w)*s))), max(1, int(math.Round(float64(h)*s)))
}
