package colour

// lookup converts pixels from the colour space of a profile to a target space. It is made from the profile's colour table, which is too
// slow for each pixel. A lookup has the target colours for a regular grid of device values (the numbers in a pixel), and interpolates
// between them. These colours can be outside of the target's gamut (its range of colours), so that interpolation across the border of the
// gamut is correct.
type lookup struct {
	// toneCurve converts linear light to 8 bits with the tone curve of the target. If the profile converts to XYZ, toneCurve is applied after
	// the interpolation. If the profile converts to Lab, toneCurve is nil: the tone curve is applied to the grid points, before the
	// interpolation. In each case this order is the more exact one.
	toneCurve *[linearSteps + 1]uint8
	points    int          // number of grid points along each input
	cells     [256]int32   // the grid cell of each 8-bit device value
	fractions [256]float32 // the position of each 8-bit device value within its cell, 0 to 1
	// colours are R, G, B and an unused number for each grid point: linear light from 0 to linearSteps, or values from 0 to 255 if
	// toneCurve is nil. Colours that the target cannot show are outside of these ranges.
	colours [][4]float32
}

// newLookup computes the lookup of a profile. target is the matrix from XYZ to linear light in the target space.
func newLookup(p *Profile, target [3][3]float64, points int) *lookup {
	l := &lookup{points: points}
	if !p.labPCS {
		l.toneCurve = toneCurve8Bit()
	}
	for v := range 256 {
		i, f := locateCell(float64(v)/255, points)
		l.cells[v], l.fractions[v] = int32(i), float32(f)
	}
	n := p.channelCount()
	count := 1
	for range n {
		count *= points
	}
	l.colours = make([][4]float32, count)
	var device [4]float64
	for i := range l.colours {
		for c, rest := n-1, i; c >= 0; c-- { // the digits of i in the base points are the positions along the inputs
			device[c] = float64(rest%points) / float64(points-1)
			rest /= points
		}
		rgb := multiply(target, p.convertToXYZ(device[:n]))
		for k := range rgb {
			if l.toneCurve != nil {
				l.colours[i][k] = float32(linearSteps * rgb[k])
			} else {
				l.colours[i][k] = float32(255 * applyToneCurve(rgb[k]))
			}
		}
	}
	return l
}

// convertRGBA converts pixels of R, G, B and alpha in place; alpha is unchanged.
func (l *lookup) convertRGBA(pix []byte) {
	for len(pix) >= 4 {
		v := l.interpolate(l.colours, pix[0], pix[1], pix[2])
		pix[0], pix[1], pix[2] = l.to8Bit(v[0]), l.to8Bit(v[1]), l.to8Bit(v[2])
		pix = pix[4:]
	}
}

// convertCMYK converts pixels of four inks in src to opaque RGBA in dst. It interpolates linearly over C, and in a cube of the
// other inks.
func (l *lookup) convertCMYK(dst, src []byte) {
	cubeSize := int32(l.points * l.points * l.points)
	for len(src) >= 4 && len(dst) >= 4 {
		base := l.cells[src[0]] * cubeSize
		low := l.interpolate(l.colours[base:base+cubeSize], src[1], src[2], src[3])
		high := l.interpolate(l.colours[base+cubeSize:base+2*cubeSize], src[1], src[2], src[3])
		f := l.fractions[src[0]]
		dst[0] = l.to8Bit(low[0] + f*(high[0]-low[0]))
		dst[1] = l.to8Bit(low[1] + f*(high[1]-low[1]))
		dst[2] = l.to8Bit(low[2] + f*(high[2]-low[2]))
		dst[3] = 255
		src, dst = src[4:], dst[4:]
	}
}

// interpolate returns the colour for a device value of three channels a, b and c. It interpolates in cube, the colours of a grid
// with three inputs, between the corners of a tetrahedron around the value.
func (l *lookup) interpolate(cube [][4]float32, a, b, c byte) [3]float32 {
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
	v0, v1, v2, v3 := &cube[base], &cube[base+i], &cube[base+i+j], &cube[base+i+j+k]
	return [3]float32{
		v0[0] + x*(v1[0]-v0[0]) + y*(v2[0]-v1[0]) + z*(v3[0]-v2[0]),
		v0[1] + x*(v1[1]-v0[1]) + y*(v2[1]-v1[1]) + z*(v3[1]-v2[1]),
		v0[2] + x*(v1[2]-v0[2]) + y*(v2[2]-v1[2]) + z*(v3[2]-v2[2]),
	}
}

// to8Bit converts a channel of an interpolated colour to 8 bits: it clips the value, and applies toneCurve unless it is nil.
func (l *lookup) to8Bit(v float32) uint8 {
	if l.toneCurve != nil {
		return l.toneCurve[int32(min(max(v, 0), linearSteps)+0.5)]
	}
	return uint8(min(max(v, 0), 255) + 0.5)
}
