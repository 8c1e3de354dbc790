package rendition

import "math"

// maxEncoded is the longest side of a WebP file in pixels.
const maxEncoded = 16383

// Plan computes which part of a picture of width x height an order shows (view), and the size that this part gets (w x h),
// all in pixels as shown. Except for Crop and Cover, the view is the whole picture. For Frame, w x h is the size of the
// picture on the background, which has the size of the order. The error is an ErrOrder.
func Plan(order Order, width, height int) (view Rect, w, h int, err error) {
	view = Rect{0, 0, width, height}
	if order.Width < 0 || order.Height < 0 || order.Quality < 0 || order.Quality > 100 ||
		max(order.Width, order.Height) > maxEncoded {
		return view, 0, 0, ErrOrder.Becausef("%+v", order)
	}
	switch order.Format {
	case WebP, JPEG, AVIF, PNG:
	default:
		return view, 0, 0, ErrOrder.Becausef("format %q", order.Format)
	}
	if c := order.Crop; c != (Rect{}) {
		// A tile may reach beyond the edge of the picture. It is cut off there.
		if c.X < 0 || c.Y < 0 || c.Width <= 0 || c.Height <= 0 || c.X >= width || c.Y >= height {
			return view, 0, 0, ErrOrder.Becausef("crop %+v of %d x %d", c, width, height)
		}
		view = Rect{c.X, c.Y, min(c.Width, width-c.X), min(c.Height, height-c.Y)}
	}
	if order.Width == 0 && order.Height == 0 {
		w, h = scaled(view.Width, view.Height, min(1, maxEncoded/float64(max(view.Width, view.Height))))
		return view, w, h, nil
	}
	vw, vh := float64(view.Width), float64(view.Height)
	sx, sy := float64(order.Width)/vw, float64(order.Height)/vh
	if sx == 0 {
		sx = sy
	} else if sy == 0 {
		sy = sx
	}
	switch order.Fit {
	case "", Contain:
		w, h = scaled(view.Width, view.Height, min(sx, sy, 1, maxEncoded/float64(max(view.Width, view.Height))))
	case Frame:
		if order.Width == 0 || order.Height == 0 {
			return view, 0, 0, ErrOrder.Becausef("a frame needs both sizes: %+v", order)
		}
		w, h = scaled(view.Width, view.Height, min(sx, sy))
		w, h = min(w, order.Width), min(h, order.Height)
	case Fill:
		w, h = max(1, int(math.Round(vw*sx))), max(1, int(math.Round(vh*sy)))
	case Cover:
		// If the picture is too small, the rendition is smaller than ordered, in the same shape.
		s := max(sx, sy)
		w, h = max(1, int(math.Round(vw*sx/max(s, 1)))), max(1, int(math.Round(vh*sy/max(s, 1))))
		s = min(s, 1)
		cw, ch := min(view.Width, max(1, int(math.Round(float64(w)/s)))), min(view.Height, max(1, int(math.Round(float64(h)/s))))
		view = Rect{view.X + (view.Width-cw)/2, view.Y + (view.Height-ch)/2, cw, ch}
	default:
		return view, 0, 0, ErrOrder.Becausef("fit %q", order.Fit)
	}
	if max(w, h) > maxEncoded {
		return view, 0, 0, ErrOrder.Becausef("%d x %d pixels, at most %d a side", w, h, maxEncoded)
	}
	return view, w, h, nil
}

func scaled(w, h int, s float64) (int, int) {
	return max(1, int(math.Round(float64(w)*s))), max(1, int(math.Round(float64(h)*s)))
}
