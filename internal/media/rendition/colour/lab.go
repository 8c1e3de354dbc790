package colour

import "math"

// This file converts colours to L*a*b*, a space in which distances are similar to visible differences, and measures such differences.

// Lab is a colour in CIE L*a*b* relative to D50, the white point of ICC profiles. L, the lightness, is 0 to 100.
type Lab struct{ L, A, B float64 }

// LabOf returns the colour of an 8-bit pixel in SRGB or DisplayP3. Both spaces have the same transfer function (linearLight).
func LabOf(r, g, b uint8, space Space) Lab {
	matrix := &srgbToXYZ
	if space == DisplayP3 {
		matrix = &p3ToXYZ
	}
	return xyzToLab(multiply(*matrix, [3]float64{linearLight[r], linearLight[g], linearLight[b]}))
}

// Lab returns the colour of a device value (the numbers in a pixel): 1 number for Gray, 3 for RGB or 4 for CMYK, each from 0 to 1. In CMYK,
// 0 is no ink.
func (p *Profile) Lab(device ...float64) Lab {
	var in [4]float64
	copy(in[:], device)
	return xyzToLab(p.convertToXYZ(in[:p.channelCount()]))
}

// xyzToLab converts XYZ relative to D50 to L*a*b*. The numbers in xyzToLab and labToXYZ are from the definition (ISO/CIE 11664-4).
func xyzToLab(xyz [3]float64) Lab {
	var f [3]float64
	for i := range f {
		t := xyz[i] / d50[i]
		if t > 216.0/24389 {
			f[i] = math.Cbrt(t)
		} else {
			f[i] = (24389.0/27*t + 16) / 116
		}
	}
	return Lab{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// labToXYZ is the inverse of xyzToLab. lab contains L, a and b, in this order.
func labToXYZ(lab [3]float64) (xyz [3]float64) {
	y := (lab[0] + 16) / 116
	for i, f := range []float64{y + lab[1]/500, y, y - lab[2]/200} {
		if f > 6.0/29 {
			xyz[i] = d50[i] * f * f * f
		} else {
			xyz[i] = d50[i] * (116*f - 16) * 27 / 24389
		}
	}
	return xyz
}

// DeltaE2000 returns the difference of two colours by CIEDE2000 (ISO/CIE 11664-6). A difference of about 1 is just visible.
func DeltaE2000(p, q Lab) float64 {
	const deg = math.Pi / 180
	pow7 := func(x float64) float64 { return x * x * x * x * x * x * x }
	c := (math.Hypot(p.A, p.B) + math.Hypot(q.A, q.B)) / 2
	g := 0.5 * (1 - math.Sqrt(pow7(c)/(pow7(c)+pow7(25))))
	a1, a2 := (1+g)*p.A, (1+g)*q.A
	c1, c2 := math.Hypot(a1, p.B), math.Hypot(a2, q.B)
	hue := func(b, a float64) float64 {
		h := math.Atan2(b, a) / deg
		if h < 0 {
			h += 360
		}
		return h
	}
	h1, h2 := hue(p.B, a1), hue(q.B, a2)
	// Rounding may put opposite hues slightly more than 180 degrees apart.
	const halfTurn = 180 + 1e-9
	dh, h := 0.0, h1+h2
	if c1*c2 != 0 {
		dh = h2 - h1
		if dh > halfTurn {
			dh -= 360
		} else if dh < -halfTurn {
			dh += 360
		}
		switch {
		case math.Abs(h1-h2) <= halfTurn:
			h /= 2
		case h < 360:
			h = (h + 360) / 2
		default:
			h = (h - 360) / 2
		}
	}
	dL, dC := q.L-p.L, c2-c1
	dH := 2 * math.Sqrt(c1*c2) * math.Sin(dh/2*deg)
	l, cm := (p.L+q.L)/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos((h-30)*deg) + 0.24*math.Cos(2*h*deg) + 0.32*math.Cos((3*h+6)*deg) - 0.20*math.Cos((4*h-63)*deg)
	sL := 1 + 0.015*(l-50)*(l-50)/math.Sqrt(20+(l-50)*(l-50))
	sC, sH := 1+0.045*cm, 1+0.015*cm*t
	rT := -2 * math.Sqrt(pow7(cm)/(pow7(cm)+pow7(25))) * math.Sin(60*math.Exp(-((h-275)/25)*((h-275)/25))*deg)
	x, y, z := dL/sL, dC/sC, dH/sH
	return math.Sqrt(x*x + y*y + z*z + rT*y*z)
}
