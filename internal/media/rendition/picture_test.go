package rendition

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// texture returns a picture with large shapes, fine lines and noise. Pictures of the same size are equal.
func texture(w, h int) *image.NRGBA {
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			fx, fy := float64(x), float64(y)
			v := 128 + 60*math.Sin(fx/17+math.Sin(fy/23)*2) + 30*math.Sin(fy/3.1) + 12*r.NormFloat64()
			u := 110 + 70*math.Cos(fy/31)
			t := 90 + 50*math.Sin((fx+fy)/41)
			if (x/40+y/30)%5 == 0 {
				v, u, t = 240-v/4, 40+u/8, 200-t/4
			}
			m.SetNRGBA(x, y, color.NRGBA{clamp8(v), clamp8((u + v) / 2), clamp8(t), 255})
		}
	}
	return m
}
