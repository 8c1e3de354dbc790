package rendition

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// exact resamples the window win of a plane to w × h samples with the Lanczos3 filter in float64. It uses none of the code under test.
func exact(p plane, win window, w, h int) []float64 {
	kernel := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		if math.Abs(x) >= 3 {
			return 0
		}
		return 3 * math.Sin(math.Pi*x) * math.Sin(math.Pi*x/3) / (math.Pi * math.Pi * x * x)
	}
	line := func(n, size int, off, step float64, at func(i int) float64, put func(i int, v float64)) {
		s := max(step, 1)
		for i := range n {
			c := off + (float64(i)+0.5)*step
			sum, weights := 0.0, 0.0
			for k := max(0, int(c-3*s)-1); k < min(size, int(c+3*s)+2); k++ {
				v := kernel((float64(k) + 0.5 - c) / s)
				sum, weights = sum+v*at(k), weights+v
			}
			put(i, sum/weights)
		}
	}
	mid := make([]float64, w*p.h)
	for y := range p.h {
		line(w, p.w, win.x, win.w/float64(w), func(i int) float64 { return float64(p.pix[y*p.w+i]) }, func(i int, v float64) { mid[y*w+i] = v })
	}
	out := make([]float64, w*h)
	for x := range w {
		line(h, p.h, win.y, win.h/float64(h), func(i int) float64 { return mid[i*w+x] }, func(i int, v float64) { out[i*w+x] = min(max(v, 0), 255) })
	}
	return out
}

// noise returns a plane of random samples.
func noise(w, h int, seed uint64) plane {
	r := rand.New(rand.NewPCG(seed, 7))
	p := newPlane(w, h)
	for i := range p.pix {
		p.pix[i] = uint8(r.UintN(256))
	}
	return p
}

// TestResampleIsExact checks that the result differs from that of exact by at most one level. Its input is noise, which is the hardest. It
// enlarges and reduces planes, parts of them, planes of odd sizes and a single pixel.
func TestResampleIsExact(t *testing.T) {
	for _, c := range []struct {
		w, h int // of the source
		win  window
		ow   int // width of the result
		oh   int // height of the result
	}{
		{200, 133, wholeWindow(200, 133), 64, 43},
		{200, 133, wholeWindow(200, 133), 199, 132},
		{200, 133, wholeWindow(200, 133), 200, 133},
		{37, 29, wholeWindow(37, 29), 90, 71},
		{301, 7, wholeWindow(301, 7), 20, 3},
		{5, 5, wholeWindow(5, 5), 1, 1},
		{1, 1, wholeWindow(1, 1), 40, 30},
		{1, 300, wholeWindow(1, 300), 1, 17},
		{160, 120, window{31.5, 20.25, 77, 55.5}, 33, 21},
		{160, 120, window{31, 20, 64, 64}, 64, 64},
	} {
		p := noise(c.w, c.h, 1)
		got, err := resample(context.Background(), p.rowReader(), c.win, c.ow, c.oh)
		if err != nil {
			t.Fatal(err)
		}
		want := exact(p, c.win, c.ow, c.oh)
		worst := 0.0
		for i, v := range want {
			worst = max(worst, math.Abs(v-float64(got.pix[i])))
		}
		if worst > 1.01 {
			t.Errorf("%dx%d %+v to %dx%d: off by %.2f", c.w, c.h, c.win, c.ow, c.oh, worst)
		}
	}
}

func TestEvenColourStaysEven(t *testing.T) {
	for v := range 256 {
		p := newPlane(97, 61)
		for i := range p.pix {
			p.pix[i] = uint8(v)
		}
		got, err := resample(context.Background(), p.rowReader(), wholeWindow(97, 61), 40, 26)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range got.pix {
			if int(g) != v {
				t.Fatalf("%d became %d", v, g)
			}
		}
	}
}

// The vector code returns the same bytes as the generic code, also if sums exceed 16 bits.
func TestVectorCodeEqualsTheGenericCode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n, taps := 1+r.IntN(70), block*(1+r.IntN(5))
		line := make([]byte, taps+r.IntN(200))
		for i := range line {
			line[i] = uint8(r.UintN(256))
		}
		weights, start := make([]int16, n*taps), make([]int32, n)
		for i := range weights {
			weights[i] = int16(r.IntN(1<<16) - 1<<15)
		}
		for i := range start {
			start[i] = int32(r.IntN(len(line) - taps + 1))
		}
		got, want := make([]int16, n), make([]int16, n)
		filterAcross(got, line, weights, start, taps)
		acrossGeneric(want, line, weights, start, taps)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("across, output %d of %d with %d taps: %d and not %d", i, n, taps, got[i], want[i])
			}
		}
		stride, rows := block*(1+r.IntN(6)), 2*(1+r.IntN(20))
		ring, column := make([]int16, stride*rows), make([]int16, rows)
		for i := range ring {
			ring[i] = int16(r.IntN(1<<16) - 1<<15)
		}
		for i := range column {
			column[i] = int16(r.IntN(1<<13) - 1<<12)
		}
		a, b := make([]byte, stride), make([]byte, stride)
		filterDown(a, ring, column, stride)
		downGeneric(b, ring, column, stride)
		if string(a) != string(b) {
			t.Fatalf("down, %d rows of %d: %v and not %v", rows, stride, a, b)
		}
	}
}
