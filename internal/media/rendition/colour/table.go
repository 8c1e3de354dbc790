package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// colourTable is the lookup table of an ICC profile (tag A2B; its types are lut8Type, lut16Type and lutAToBType). It converts device values
// (the numbers in a pixel) to Lab or XYZ, the two forms of the profile connection space (PCS). The fields are applied in this order. All
// but scaleToPCS are optional.
type colourTable struct {
	inputCurves  []curve                     // one for each channel of the device value
	grid         *grid                       // converts the channels to three outputs
	middleCurves []curve                     // one for each of the three outputs
	matrix       *[3][4]float64              // multiplies the outputs by the first three columns, and adds the fourth
	outputCurves []curve                     // one for each of the three outputs
	scaleToPCS   func([3]float64) [3]float64 // converts values from 0 to 1 to Lab or XYZ
}

// grid contains colours for device values at regular distances. The method interpolate computes the colours between them. A grid has 1, 3
// or 4 inputs and 3 outputs.
type grid struct {
	points []int     // number of points along each input
	values []float64 // 3 values for each point, ordered like a nested array: the last input varies fastest
}

var errTable = errors.New("unusable colour table")

// Offsets in the tag and lengths, in bytes unless stated otherwise (ICC.1:2022 §10.10 to §10.12).
const (
	minTagSize    = 32     // the header of lutAToBType, the shortest of the three
	inputsOffset  = 8      // number of inputs
	outputsOffset = 9      // number of outputs
	lut8Curves    = 48     // the curves of an 8-bit table
	lut16Curves   = 52     // the curves of a 16-bit table
	lut8CurveSize = 256    // samples of each curve of an 8-bit table
	inSizeOffset  = 48     // number of samples of an input curve of a 16-bit table
	outSizeOffset = 50     // number of samples of an output curve of a 16-bit table
	largestLab16  = 0xff00 // the largest value of the 16-bit Lab of ICC version 2
)

// parseTable reads the tag A2B of a profile. inputs is the profile's number of channels. The table converts to Lab if isLab is true, and to
// XYZ if it is false.
func parseTable(tag []byte, inputs int, isLab bool) (*colourTable, error) {
	if len(tag) < minTagSize || int(tag[inputsOffset]) != inputs || tag[outputsOffset] != 3 {
		return nil, errTable
	}
	t := &colourTable{scaleToPCS: func(v [3]float64) [3]float64 {
		const maxXYZ = 1 + 32767.0/32768 // the largest u1Fixed15Number
		return [3]float64{v[0] * maxXYZ, v[1] * maxXYZ, v[2] * maxXYZ}
	}}
	labScale := 1.0 // scale of Lab values; 16-bit tables store the largest value as largestLab16, not as 65535
	var err error
	switch kind := string(tag[:4]); kind {
	case "mft1": // lut8Type
		err = t.parseLut(tag, inputs, 1, lut8Curves, lut8CurveSize, lut8CurveSize)
	case "mft2": // lut16Type
		if len(tag) < lut16Curves {
			return nil, errTable
		}
		labScale = 65535.0 / largestLab16
		err = t.parseLut(tag, inputs, 2, lut16Curves, int(binary.BigEndian.Uint16(tag[inSizeOffset:])), int(binary.BigEndian.Uint16(tag[outSizeOffset:])))
	case "mAB ": // lutAToBType
		err = t.parseLutAToB(tag, inputs)
	default:
		return nil, fmt.Errorf("%w: %q", errTable, kind)
	}
	if isLab {
		t.scaleToPCS = func(v [3]float64) [3]float64 {
			return [3]float64{100 * labScale * v[0], 255*labScale*v[1] - 128, 255*labScale*v[2] - 128}
		}
	}
	return t, err
}

// parseLut reads a table of lut8Type or lut16Type. width is the number of bytes of each value, and at is the offset of the first value in
// tag. in and out are the numbers of samples of an input and an output curve. The matrix is ignored, because it is only for XYZ as input.
func (p *colourTable) parseLut(tag []byte, inputs, width, at, in, out int) error {
	if in < 2 || out < 2 || in > 4096 || out > 4096 {
		return errTable
	}
	readNext := func(n int) []float64 {
		if n > (len(tag)-at)/width {
			return nil
		}
		v := readFractions(tag[at:], n, width)
		at += n * width
		return v
	}
	readCurves := func(count, n int) (cs []curve) {
		for range count {
			if v := readNext(n); v != nil {
				cs = append(cs, curve{samples: v})
			}
		}
		return cs
	}
	p.inputCurves = readCurves(inputs, in)
	points := slices.Repeat([]int{int(tag[10])}, inputs)
	size, err := gridSize(points)
	if err != nil {
		return err
	}
	p.grid = &grid{points, readNext(size)}
	p.outputCurves = readCurves(3, out)
	if len(p.inputCurves) != inputs || p.grid.values == nil || len(p.outputCurves) != 3 {
		return errTable
	}
	return nil
}

// parseLutAToB reads a table of lutAToBType.
func (p *colourTable) parseLutAToB(tag []byte, inputs int) error {
	for _, set := range []struct {
		curves    *[]curve
		at, count int // at is the offset of 4 bytes that point to the curves; if they are 0, there are none
	}{{&p.outputCurves, 12, 3}, {&p.middleCurves, 20, 3}, {&p.inputCurves, 28, inputs}} {
		from := uint64(binary.BigEndian.Uint32(tag[set.at:]))
		for i := 0; i < set.count && from != 0; i++ {
			if from > uint64(len(tag)) {
				return errTable
			}
			c, size, err := readCurve(tag[from:])
			if err != nil {
				return err
			}
			*set.curves = append(*set.curves, c)
			from += uint64(size+3) &^ 3
		}
	}
	if from := uint64(binary.BigEndian.Uint32(tag[16:])); from != 0 {
		if from+48 > uint64(len(tag)) {
			return errTable
		}
		p.matrix = new([3][4]float64)
		for row := range 3 {
			for column := range 3 {
				p.matrix[row][column] = readS15Fixed16(tag[int(from)+4*(3*row+column):])
			}
			p.matrix[row][3] = readS15Fixed16(tag[int(from)+36+4*row:])
		}
	}
	from := uint64(binary.BigEndian.Uint32(tag[24:]))
	if from == 0 {
		if inputs != 3 {
			return errTable
		}
		return nil
	}
	if from+20 > uint64(len(tag)) {
		return errTable
	}
	points := make([]int, inputs)
	for i := range points {
		points[i] = int(tag[int(from)+i])
	}
	size, err := gridSize(points)
	if err != nil {
		return err
	}
	values := tag[from+20:]
	width := int(tag[from+16])
	if width < 1 || width > 2 || size > len(values)/width {
		return errTable
	}
	p.grid = &grid{points, readFractions(values, size, width)}
	return nil
}

// gridSize returns how many numbers a grid with three outputs has.
func gridSize(points []int) (int, error) {
	size := 3
	for _, n := range points {
		if n < 2 || size > maxProfile {
			return 0, errTable
		}
		size *= n
	}
	return size, nil
}

// eval converts a device value to Lab or XYZ.
func (p *colourTable) eval(device []float64) [3]float64 {
	var in [4]float64
	n := copy(in[:], device)
	for i := range p.inputCurves {
		in[i] = p.inputCurves[i].eval(in[i])
	}
	v := [3]float64(in[:3])
	if p.grid != nil {
		v = p.grid.interpolate(in[:n])
	}
	for i := range p.middleCurves {
		v[i] = p.middleCurves[i].eval(v[i])
	}
	if m := p.matrix; m != nil {
		var w [3]float64
		for i := range w {
			w[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2] + m[i][3]
		}
		v = w
	}
	for i := range p.outputCurves {
		v[i] = p.outputCurves[i].eval(v[i])
	}
	return p.scaleToPCS(v)
}

// interpolate returns the colour for a device value. As in Little CMS, interpolation is tetrahedral over three inputs. With four
// inputs, it is linear over the first and tetrahedral over the others.
func (g *grid) interpolate(in []float64) [3]float64 {
	if len(in) == 4 {
		plane := len(g.values) / g.points[0]
		i, f := locateCell(in[0], g.points[0])
		low := grid{g.points[1:], g.values[i*plane : (i+1)*plane]}
		high := grid{g.points[1:], g.values[(i+1)*plane : (i+2)*plane]}
		u, v := low.interpolate(in[1:]), high.interpolate(in[1:])
		for k := range u {
			u[k] += f * (v[k] - u[k])
		}
		return u
	}
	var step [3]int
	var rest [3]float64
	base, stride := 0, 3
	for i := len(in) - 1; i >= 0; i-- {
		n, f := locateCell(in[i], g.points[i])
		base += n * stride
		step[i], rest[i] = stride, f
		stride *= g.points[i]
	}
	order := [3]int{0, 1, 2}
	for _, s := range [][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if rest[order[s[0]]] < rest[order[s[1]]] {
			order[s[0]], order[s[1]] = order[s[1]], order[s[0]]
		}
	}
	// Go from the lowest corner along the edges of the tetrahedron, along the axis with the largest fraction first.
	v := [3]float64(g.values[base : base+3])
	for _, axis := range order {
		if step[axis] == 0 {
			continue
		}
		next := base + step[axis]
		for k := range v {
			v[k] += rest[axis] * (g.values[next+k] - g.values[base+k])
		}
		base = next
	}
	return v
}

// locateCell returns the grid cell of x, clamped to 0..1, and the position within the cell. The cell is never the last point.
func locateCell(x float64, points int) (int, float64) {
	at := min(max(x, 0), 1) * float64(points-1)
	i := min(int(at), points-2)
	return i, at - float64(i)
}
