package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// This file reads and evaluates the tone curves of ICC profiles. An ICC profile is the part of a picture file that says which colours the
// numbers in its pixels mean.

// curve is the tone curve of a channel, such as red. It converts device values (the numbers in the pixels) to linear light (in proportion to
// the physical brightness), both 0 to 1. An ICC profile stores a curve as a list of samples or as one of these formulas (ICC.1:2022,
// table 68):
//
//	0  y = x^g
//	1  y = (ax+b)^g if ax+b >= 0, or 0 if not
//	2  y = (ax+b)^g + c if ax+b >= 0, or c if not
//	3  y = (ax+b)^g if x >= d, or cx if not
//	4  y = (ax+b)^g + e if x >= d, or cx + f if not
type curve struct {
	samples    []float64 // linear light for device values at equal distances; nil for a formula
	formula    int       // number of the formula; the fields below are its parameters
	g, a, b, c float64
	d, e, f    float64
}

// maxSamples is the maximum number of samples of a curve: one for each value that a number of 16 bits can have.
const maxSamples = 1 << 16

var errCurve = errors.New("unusable tone curve")

// readCurve reads the curve at the start of tag, a part of a profile. size is the length of the curve in bytes. The error wraps errCurve.
func readCurve(tag []byte) (c curve, size int, err error) {
	const headerSize = 12 // type, reserved (4 bytes), number of samples or of the formula
	if len(tag) < headerSize {
		return curve{}, 0, errCurve
	}
	switch string(tag[:4]) {
	case "curv": // samples
		n := uint64(binary.BigEndian.Uint32(tag[8:]))
		if n > maxSamples || headerSize+2*n > uint64(len(tag)) {
			return curve{}, 0, errCurve
		}
		size = int(headerSize + 2*n)
		switch n {
		case 0: // no samples: linear light equals the device value
			return curve{g: 1}, size, nil
		case 1: // one sample is a gamma, in units of 1/256
			return curve{g: float64(binary.BigEndian.Uint16(tag[headerSize:])) / 256}, size, nil
		}
		return curve{samples: readFractions(tag[headerSize:], int(n), 2)}, size, nil
	case "para": // a formula
		formula := int(binary.BigEndian.Uint16(tag[8:]))
		if formula > 4 {
			return curve{}, 0, fmt.Errorf("%w: formula %d", errCurve, formula)
		}
		parameterCounts := [...]int{1, 3, 4, 5, 7} // by formula
		size = headerSize + 4*parameterCounts[formula]
		if len(tag) < size {
			return curve{}, 0, errCurve
		}
		c.formula = formula
		for i, parameter := range []*float64{&c.g, &c.a, &c.b, &c.c, &c.d, &c.e, &c.f}[:parameterCounts[formula]] {
			*parameter = readS15Fixed16(tag[headerSize+4*i:])
		}
		return c, size, nil
	}
	return curve{}, 0, errCurve
}

// eval returns the value of the curve at x. x is limited to 0..1. The result is limited to -2..2, because the formula of a damaged profile
// can have huge or infinite values.
func (c *curve) eval(x float64) float64 {
	x = min(max(x, 0), 1)
	if c.samples != nil {
		last := len(c.samples) - 1
		at := x * float64(last)
		i := min(int(at), last-1)
		return c.samples[i] + (at-float64(i))*(c.samples[i+1]-c.samples[i])
	}
	var y float64
	switch c.formula {
	case 0:
		y = math.Pow(x, c.g)
	case 1:
		if c.a*x+c.b >= 0 {
			y = math.Pow(c.a*x+c.b, c.g)
		}
	case 2:
		y = c.c
		if c.a*x+c.b >= 0 {
			y += math.Pow(c.a*x+c.b, c.g)
		}
	default:
		if x >= c.d {
			y = math.Pow(max(c.a*x+c.b, 0), c.g) + c.e
		} else {
			y = c.c*x + c.f
		}
	}
	if math.IsNaN(y) {
		return 0
	}
	return min(max(y, -2), 2)
}

// readFractions reads n numbers of width bytes, 1 or 2, as fractions from 0 to 1: it divides them by 255 or 65535.
func readFractions(b []byte, n, width int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if width == 1 {
			out[i] = float64(b[i]) / 255
		} else {
			out[i] = float64(binary.BigEndian.Uint16(b[2*i:])) / 65535
		}
	}
	return out
}
