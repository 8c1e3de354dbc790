package rendition

import (
	"context"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// This file changes the size of pictures by resampling: each new sample is a weighted sum of old samples. The filter (the function of the
// weights) is Lanczos3. Pictures are filtered first along the rows (across), then along the columns (down). The arithmetic is fixed-point
// with 16 bits, so that one vector instruction multiplies and adds pairs of numbers.

const (
	weightBits = 14 // fractional bits of a weight
	rowBits    = 6  // fractional bits of a sample between the two passes
	lobes      = 3  // lobes of the filter on each side of its centre
	// block is the number of samples that the vector code processes at once. Weights and rows are padded to multiples of it.
	block = 16
)

// rowReader gives access to the rows of a channel of w x h samples. read returns row y. It may store the row in buf, which must have at
// least w bytes. Concurrent calls of read are allowed.
type rowReader struct {
	w, h int
	read func(y int, buf []byte) []byte
}

// plane is one channel of a picture in memory, without gaps between its rows.
type plane struct {
	w, h int
	pix  []byte
}

func newPlane(w, h int) plane { return plane{w, h, make([]byte, w*h)} }

func (p plane) row(y int) []byte { return p.pix[y*p.w : (y+1)*p.w : (y+1)*p.w] }

func (p plane) rowReader() rowReader {
	return rowReader{p.w, p.h, func(y int, _ []byte) []byte { return p.row(y) }}
}

// kernel has the weights that resample rows or columns. Output i is the weighted sum of taps consecutive inputs. The first of these
// inputs is start[i].
type kernel struct {
	taps    int     // number of inputs for each output
	start   []int32 // index of the first input, for each output
	weights []int16 // taps weights for each output
}

// newKernel computes the weights for n outputs from size inputs. Output i covers the inputs from offset+i*step to offset+(i+1)*step. Inputs
// beyond the edges get no weight, and the weights of an output add up to one. taps is rounded up to a multiple of pad. Near the end, start
// is reduced so that all taps are within the inputs.
func newKernel(size int, offset, step float64, n, pad int) kernel {
	stretch := max(step, 1) // a picture that becomes smaller needs a wider filter
	support := lobes * stretch
	taps := int(math.Ceil(support))*2 + 1
	taps = (taps + pad - 1) / pad * pad
	out := kernel{taps: taps, start: make([]int32, n), weights: make([]int16, n*taps)}
	unscaled := make([]float64, taps) // weights of one output before their sum is scaled to one
	for i := range n {
		centre := offset + (float64(i)+0.5)*step
		first := max(0, int(math.Floor(centre-support+0.5)))
		last := min(size-1, int(math.Ceil(centre+support-0.5)))
		first = min(first, size-1)
		last = max(last, first)
		sum := 0.0
		inputs := min(last-first+1, taps)
		for k := range inputs {
			unscaled[k] = lanczos((float64(first+k) + 0.5 - centre) / stretch)
			sum += unscaled[k]
		}
		// The largest weight absorbs the rounding error, so that areas of one colour keep their colour.
		start := max(0, min(first, size-taps))
		row := out.weights[i*taps : (i+1)*taps]
		rest, largest := 1<<weightBits, 0
		for k := range inputs {
			v := 0
			if sum != 0 {
				v = int(math.Round(unscaled[k] / sum * (1 << weightBits)))
			}
			row[first-start+k] = int16(v)
			rest -= v
			if unscaled[k] > unscaled[largest] {
				largest = k
			}
		}
		row[first-start+largest] += int16(rest)
		out.start[i] = int32(start)
	}
	return out
}

// lanczos is the filter's function; x is the distance from the centre in lobes.
func lanczos(x float64) float64 {
	x = math.Abs(x)
	if x < 1e-9 {
		return 1
	}
	if x >= lobes {
		return 0
	}
	x *= math.Pi
	return lobes * math.Sin(x) * math.Sin(x/lobes) / (x * x)
}

// window is the part of the input that becomes the output, in input samples; fractions are allowed.
type window struct{ x, y, w, h float64 }

// resample resamples a window of a channel to w x h samples. It uses all processors, each for a band of rows.
func resample(ctx context.Context, src rowReader, win window, w, h int) (plane, error) {
	dst := newPlane(w, h)
	stepX, stepY := win.w/float64(w), win.h/float64(h)
	if stepX == 1 && stepY == 1 && win.x == math.Trunc(win.x) && win.y == math.Trunc(win.y) &&
		int(win.x)+w <= src.w && int(win.y)+h <= src.h {
		return dst, forEachBand(h, func(from, to int) error {
			buf := make([]byte, src.w)
			for y := from; y < to; y++ {
				copy(dst.row(y), src.read(y+int(win.y), buf)[int(win.x):])
			}
			return ctx.Err()
		})
	}
	across := newKernel(src.w, win.x, stepX, w, block)
	down := newKernel(src.h, win.y, stepY, h, 2)
	return dst, forEachBand(h, func(from, to int) error {
		return resampleBand(ctx, dst, src, across, down, from, to)
	})
}

// resampleBand computes the output rows from..to. Each input row is filtered across once, into a ring of as many rows as the
// filter down needs. A new row replaces the oldest row of the ring. The weights of the filter down are rotated accordingly, so
// that no rows are moved.
func resampleBand(ctx context.Context, dst plane, src rowReader, across, down kernel, from, to int) error {
	stride := (dst.w + block - 1) / block * block
	ring := make([]int16, down.taps*stride)
	rotated := make([]int16, down.taps)
	out := make([]byte, stride)
	buf := make([]byte, src.w)
	padded := make([]byte, max(0, across.taps)) // a row that is shorter than the filter, with zeros after it
	next := -1
	for y := from; y < to; y++ {
		start := int(down.start[y])
		next = max(next, start)
		for ; next < min(start+down.taps, src.h); next++ {
			line := src.read(next, buf)
			if src.w < across.taps {
				copy(padded, line[:src.w])
				line = padded
			}
			filterAcross(ring[next%down.taps*stride:][:dst.w], line, across.weights, across.start, across.taps)
		}
		weights := down.weights[y*down.taps:][:down.taps]
		for k, v := range weights {
			rotated[(start+k)%down.taps] = v
		}
		filterDown(out, ring, rotated, stride)
		copy(dst.row(y), out)
		if y%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// acrossGeneric filters one row: dst[i] = Σ line[start[i]+k]·weights[i·taps+k].
func acrossGeneric(dst []int16, line []byte, weights []int16, start []int32, taps int) {
	for i := range dst {
		in := line[start[i]:][:taps]
		w := weights[i*taps:][:taps]
		sum := int32(1 << (weightBits - rowBits - 1))
		for k, v := range in {
			sum += int32(v) * int32(w[k])
		}
		dst[i] = int16(min(max(sum>>(weightBits-rowBits), math.MinInt16), math.MaxInt16))
	}
}

// downGeneric filters down the rows of the ring, stride samples each: dst[x] = Σ ring[k·stride+x]·weights[k].
func downGeneric(dst []byte, ring, weights []int16, stride int) {
	for x := range dst {
		sum := int32(1 << (weightBits + rowBits - 1))
		for k, w := range weights {
			sum += int32(ring[k*stride+x]) * int32(w)
		}
		dst[x] = uint8(min(max(sum>>(weightBits+rowBits), 0), 255))
	}
}

// forEachBand splits the range 0..n into bands, at most one per processor. It calls f for all bands concurrently and returns the
// first error.
func forEachBand(n int, f func(from, to int) error) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/16))
	var group errgroup.Group
	for i := range parts {
		group.Go(func() error { return f(n*i/parts, n*(i+1)/parts) })
	}
	return group.Wait()
}
