package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// pipeline is the colour table of a profile (tag A2B), which converts device values to Lab or XYZ. Its steps are curves, a
// grid of colours, curves, a matrix and curves; each is optional.
type pipeline struct {
	before []curve
	grid   *grid
	middle []curve
	matrix *[3][4]float64
	after  []curve
	decode func([3]float64) [3]float64 // converts values from 0 to 1 to Lab or XYZ
}

// grid is a table of colours at the points of a grid; the method at interpolates between them. It has 1, 3 or 4 inputs and 3
// outputs.
type grid struct {
	points []int     // number of points along each input
	values []float64 // 3 values for each point; the last input varies fastest
}

var errTable = errors.New("unusable colour table")

// parseTable reads the tag A2B of a profile with that many channels (inputs). lab says that its outputs are Lab, not XYZ.
func parseTable(tag []byte, inputs int, lab bool) (*pipeline, error) {
	if len(tag) < 32 || int(tag[8]) != inputs || tag[9] != 3 { // bytes 8 and 9: the numbers of inputs and outputs
		return nil, errTable
	}
	p := &pipeline{decode: func(v [3]float64) [3]float64 {
		const xyz = 1 + 32767.0/32768
		return [3]float64{v[0] * xyz, v[1] * xyz, v[2] * xyz}
	}}
	scale := 1.0
	var err error
	switch kind := string(tag[:4]); kind {
	case "mft1":
		err = p.parseOld(tag, inputs, 1, 48, 256, 256)
	case "mft2":
		if len(tag) < 52 {
			return nil, errTable
		}
		scale = 65535.0 / 65280 // Lab in 16 bits of version 2 ends at 0xff00
		err = p.parseOld(tag, inputs, 2, 52, int(binary.BigEndian.Uint16(tag[48:])), int(binary.BigEndian.Uint16(tag[50:])))
	case "mAB ":
		err = p.parseNew(tag, inputs)
	default:
		return nil, fmt.Errorf("%w: %q", errTable, kind)
	}
	if lab {
		p.decode = func(v [3]float64) [3]float64 {
			return [3]float64{100 * scale * v[0], 255*scale*v[1] - 128, 255*scale*v[2] - 128}
		}
	}
	return p, err
}

// parseOld reads a table of lut8Type or lut16Type. It ignores their matrix, which is for XYZ as input.
func (p *pipeline) parseOld(tag []byte, inputs, width, at, in, out int) error {
	if in < 2 || out < 2 || in > 4096 || out > 4096 {
		return errTable
	}
	read := read16
	if width == 1 {
		read = read8
	}
	take := func(n int) []float64 {
		if n > (len(tag)-at)/width {
			return nil
		}
		v := read(tag[at:], n)
		at += n * width
		return v
	}
	curves := func(count, n int) (cs []curve) {
		for range count {
			if v := take(n); v != nil {
				cs = append(cs, curve{samples: v})
			}
		}
		return cs
	}
	p.before = curves(inputs, in)
	points := slices.Repeat([]int{int(tag[10])}, inputs)
	size, err := gridSize(points)
	if err != nil {
		return err
	}
	p.grid = &grid{points, take(size)}
	p.after = curves(3, out)
	if len(p.before) != inputs || p.grid.values == nil || len(p.after) != 3 {
		return errTable
	}
	return nil
}

// parseNew reads a table of lutAToBType.
func (p *pipeline) parseNew(tag []byte, inputs int) (err error) {
	curves := func(at, count int) (cs []curve, err error) {
		from := uint64(binary.BigEndian.Uint32(tag[at:]))
		if from == 0 {
			return nil, nil
		}
		for range count {
			if from > uint64(len(tag)) {
				return nil, errTable
			}
			c, size, err := readCurve(tag[from:])
			if err != nil {
				return nil, err
			}
			cs = append(cs, c)
			from += uint64(size+3) &^ 3
		}
		return cs, nil
	}
	if p.after, err = curves(12, 3); err != nil {
		return err
	}
	if p.middle, err = curves(20, 3); err != nil {
		return err
	}
	if p.before, err = curves(28, inputs); err != nil {
		return err
	}
	if from := uint64(binary.BigEndian.Uint32(tag[16:])); from != 0 {
		if from+48 > uint64(len(tag)) {
			return errTable
		}
		p.matrix = new([3][4]float64)
		for row := range 3 {
			for column := range 3 {
				p.matrix[row][column] = fixed(tag[int(from)+4*(3*row+column):])
			}
			p.matrix[row][3] = fixed(tag[int(from)+36+4*row:])
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
	switch width := tag[from+16]; {
	case width == 1 && size <= len(values):
		p.grid = &grid{points, read8(values, size)}
	case width == 2 && size <= len(values)/2:
		p.grid = &grid{points, read16(values, size)}
	default:
		return errTable
	}
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

func (p *pipeline) eval(device []float64) [3]float64 {
	var in [4]float64
	n := copy(in[:], device)
	for i := range p.before {
		in[i] = p.before[i].at(in[i])
	}
	v := [3]float64(in[:3])
	if p.grid != nil {
		v = p.grid.at(in[:n])
	}
	for i := range p.middle {
		v[i] = p.middle[i].at(v[i])
	}
	if m := p.matrix; m != nil {
		var w [3]float64
		for i := range w {
			w[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2] + m[i][3]
		}
		v = w
	}
	for i := range p.after {
		v[i] = p.after[i].at(v[i])
	}
	return p.decode(v)
}

// at interpolates as Little CMS does: tetrahedral over three inputs; of four inputs, linear over the first.
func (g *grid) at(in []float64) [3]float64 {
	if len(in) == 4 {
		plane := len(g.values) / g.points[0]
		i, f := cell(in[0], g.points[0])
		low := grid{g.points[1:], g.values[i*plane : (i+1)*plane]}
		high := grid{g.points[1:], g.values[(i+1)*plane : (i+2)*plane]}
		u, v := low.at(in[1:]), high.at(in[1:])
		for k := range u {
			u[k] += f * (v[k] - u[k])
		}
		return u
	}
	var step [3]int
	var rest [3]float64
	base, stride := 0, 3
	for i := len(in) - 1; i >= 0; i-- {
		n, f := cell(in[i], g.points[i])
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

// cell returns the grid cell of x, clamped to 0..1, and the position within the cell. The cell is never the last point.
func cell(x float64, points int) (int, float64) {
	at := min(max(x, 0), 1) * float64(points-1)
	i := min(int(at), points-2)
	return i, at - float64(i)
}
