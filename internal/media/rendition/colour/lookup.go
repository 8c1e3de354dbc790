package colour

// lookup is a profile's colour table, converted to the values of a target space. The values are not clipped, so that
// interpolation across the border of the gamut is correct. For a table in XYZ the values are linear light in steps of
// 1/shaperTop. For a table in Lab they are encoded, 0 to 255: like Lab, this scale is nearly uniform for the eye.
type lookup struct {
	light     *[shaperTop + 1]uint8 // the tone curve for linear light; nil for encoded values
	points    int                   // along each input
	cells     [256]int32            // the grid cell of each 8-bit value
	fractions [256]float32          // the position of each 8-bit value within its cell, 0 to 1
	values    [][4]float32
}

func newLookup(p *Profile, target [3][3]float64, points int) *lookup {
	l := &lookup{points: points}
	if !p.labPCS {
		l.light = encoded()
	}
	for v := range 256 {
		i, f := cell(float64(v)/255, points)
		l.cells[v], l.fractions[v] = int32(i), float32(f)
	}
	n := p.channels()
	count := 1
	for range n {
		count *= points
	}
	l.values = make([][4]float32, count)
	var device [4]float64
	for i := range l.values {
		for c, rest := n-1, i; c >= 0; c-- {
			device[c] = float64(rest%points) / float64(points-1)
			rest /= points
		}
		rgb := multiply(target, p.xyz(device[:n]))
		for k := range rgb {
			if l.light != nil {
				l.values[i][k] = float32(shaperTop * rgb[k])
			} else {
				l.values[i][k] = float32(255 * encode(rgb[k]))
			}
		}
	}
	return l
}

func (l *lookup) rgba(pix []byte) {
	for len(pix) >= 4 {
		v := l.inCube(l.values, pix[0], pix[1], pix[2])
		pix[0], pix[1], pix[2] = l.round(v[0]), l.round(v[1]), l.round(v[2])
		pix = pix[4:]
	}
}

func (l *lookup) cmyk(dst, src []byte) {
	cube := int32(l.points * l.points * l.points)
	for len(src) >= 4 && len(dst) >= 4 {
		base := l.cells[src[0]] * cube
		low := l.inCube(l.values[base:base+cube], src[1], src[2], src[3])
		high := l.inCube(l.values[base+cube:base+2*cube], src[1], src[2], src[3])
		f := l.fractions[src[0]]
		dst[0] = l.round(low[0] + f*(high[0]-low[0]))
		dst[1] = l.round(low[1] + f*(high[1]-low[1]))
		dst[2] = l.round(low[2] + f*(high[2]-low[2]))
		dst[3] = 255
		src, dst = src[4:], dst[4:]
	}
}

// inCube interpolates in the tetrahedron around a colour of three values.
func (l *lookup) inCube(values [][4]float32, a, b, c byte) [3]float32 {
	n := int32(l.points)
	base := (l.cells[a]*n+l.cells[b])*n + l.cells[c]
	x, y, z := l.fractions[a], l.fractions[b], l.fractions[c]
	i, j, k := n*n, n, int32(1)
	if x < y {
		x, y, i, j = y, x, j, i
	}
	if y < z {
		y, z, j, k = z, y, k, j
		if x < y {
			x, y, i, j = y, x, j, i
		}
	}
	v0, v1, v2, v3 := &values[base], &values[base+i], &values[base+i+j], &values[base+i+j+k]
	return [3]float32{
		v0[0] + x*(v1[0]-v0[0]) + y*(v2[0]-v1[0]) + z*(v3[0]-v2[0]),
		v0[1] + x*(v1[1]-v0[1]) + y*(v2[1]-v1[1]) + z*(v3[1]-v2[1]),
		v0[2] + x*(v1[2]-v0[2]) + y*(v2[2]-v1[2]) + z*(v3[2]-v2[2]),
	}
}

// round converts a value to 8 bits: it clips the value, and applies the tone curve to linear light.
func (l *lookup) round(v float32) uint8 {
	if l.light != nil {
		return l.light[int32(min(max(v, 0), shaperTop)+0.5)]
	}
	return uint8(min(max(v, 0), 255) + 0.5)
}
