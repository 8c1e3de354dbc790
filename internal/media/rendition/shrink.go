package rendition

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// This file decodes a JPEG at a half or a quarter of its size, for renditions that are much smaller than the JPEG. For each block of 8 x 8
// samples it computes only 4 x 4 or 2 x 2 samples, from the lowest frequencies. This takes a third of the time of decoding at full size.

// errNeedsFullSize is returned for a JPEG that is broken or that this decoder does not support. The caller then uses the decoder of the
// standard library, which decodes at full size.
var errNeedsFullSize = errors.New("the JPEG needs the decoder for the full size")

// minShrinkRatio is the minimum ratio of the shrunk picture's width to the rendition's width. With a smaller ratio, the rendition would be
// less sharp.
const minShrinkRatio = 2

// shrunkSide returns how many samples along a block's side a rendition needs: 2, 4 or 8 (the full size). scale is the ratio of the
// rendition's width to the picture's width. For example, a rendition of a fifth of the width needs 4.
func shrunkSide(scale float64) int {
	for _, n := range [...]int{2, 4} {
		if float64(n)/8 >= minShrinkRatio*scale {
			return n
		}
	}
	return 8
}

// shrunkJPEG decodes a baseline JPEG of one scan to n/8 of its width and height, rounded down; n is 2 or 4. The error is
// errNeedsFullSize if this decoder cannot decode the picture.
func shrunkJPEG(r io.Reader, n int) (*source, error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	d := &shrinker{data: all, n: n}
	if err := d.readHeaders(); err != nil {
		return nil, err
	}
	if err := d.decodeScan(); err != nil {
		return nil, err
	}
	return d.toSource(), nil
}

// shrinker is the decoder of shrunkJPEG (ITU-T T.81; markers by table B.1). A unit of the scan (a minimum coded unit) is the group of
// blocks, of all components, that covers one area of the picture.
type shrinker struct {
	data       []byte // the file
	at         int    // position in data
	n          int    // samples along a side of a block, 2 or 4
	w, h       int    // size of the picture in the file
	components []component
	quant      [4][]int32  // quantization tables by number, with values in the order of the file (zigzag)
	dc, ac     [4]*huffman // Huffman tables by number
	restart    int         // number of units of the scan between two restart markers; 0 if there are no such markers
}

// component is a channel of the picture, with across x down blocks in each unit of the scan.
type component struct {
	id, quant    byte // the identifier of the component in the headers, and the number of its quantization table
	across, down int
	dc, ac       *huffman
	stride       int    // length of a row of pix
	pix          []byte // the decoded samples
	lastDC       int32  // the DC value of the previous block
}

// readHeaders reads the segments up to and including the header of the scan. After it, d.at is the start of the scan's data.
func (d *shrinker) readHeaders() error {
	if len(d.data) < 4 || d.data[0] != 0xff || d.data[1] != 0xd8 {
		return errNeedsFullSize
	}
	for d.at = 2; ; {
		if d.at+4 > len(d.data) || d.data[d.at] != 0xff {
			return errNeedsFullSize
		}
		marker, size := d.data[d.at+1], int(binary.BigEndian.Uint16(d.data[d.at+2:]))
		if size < 2 || d.at+2+size > len(d.data) {
			return errNeedsFullSize
		}
		segment := d.data[d.at+4 : d.at+2+size]
		d.at += 2 + size
		ok := true
		switch {
		case marker == 0xc0 || marker == 0xc1:
			ok = d.readFrame(segment)
		case marker == 0xc4:
			ok = d.readHuffmanTables(segment)
		case marker == 0xdb:
			ok = d.readQuantTables(segment)
		case marker == 0xdd:
			ok = len(segment) == 2
			if ok {
				d.restart = int(binary.BigEndian.Uint16(segment))
			}
		case marker == 0xee: // Adobe's marker: the meaning of the channels
			ok = len(segment) < 12 || string(segment[:5]) != "Adobe" || segment[11] == 1
		case marker == 0xfe || marker >= 0xe0 && marker <= 0xef:
		case marker == 0xda:
			if !d.readScanHeader(segment) {
				return errNeedsFullSize
			}
			return nil
		default: // progressive, arithmetic, lossless
			ok = false
		}
		if !ok {
			return errNeedsFullSize
		}
	}
}

// readFrame reads the frame header. Like the other read methods, it returns false if the coding is not supported or broken.
func (d *shrinker) readFrame(b []byte) bool {
	if d.components != nil || len(b) < 6 || b[0] != 8 || b[5] != 1 && b[5] != 3 || len(b) != 6+3*int(b[5]) {
		return false
	}
	d.h, d.w = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	// A picture smaller than a block could have no samples left.
	if d.w < 8 || d.h < 8 {
		return false
	}
	for i := range int(b[5]) {
		c := b[6+3*i:]
		p := component{id: c[0], across: int(c[1] >> 4), down: int(c[1] & 15), quant: c[2]}
		if p.quant > 3 || p.across < 1 || p.across > 2 || p.down < 1 || p.down > 2 || i > 0 && (p.across != 1 || p.down != 1) {
			return false
		}
		d.components = append(d.components, p)
	}
	if len(d.components) == 1 {
		d.components[0].across, d.components[0].down = 1, 1 // a unit of a lone component is one block
	} else if d.components[0].id == 'R' && d.components[1].id == 'G' && d.components[2].id == 'B' {
		return false
	}
	return true
}

func (d *shrinker) readQuantTables(b []byte) bool {
	for len(b) > 0 {
		wide, to := b[0]>>4, b[0]&15
		size := 64 * (1 + int(wide))
		if wide > 1 || to > 3 || len(b) < 1+size {
			return false
		}
		table := make([]int32, 64)
		for i := range table {
			if wide == 1 {
				table[i] = int32(binary.BigEndian.Uint16(b[1+2*i:]))
			} else {
				table[i] = int32(b[1+i])
			}
		}
		d.quant[to], b = table, b[1+size:]
	}
	return true
}

// huffman decodes Huffman codes. look maps the next lookBits bits of the input to length<<8 | symbol, or to 0 if the code is
// longer. limits contains the upper bounds of the longer codes by length, left-aligned in 16 bits. offsets contains, by length,
// the difference between the index of a symbol in symbols and its code.
type huffman struct {
	look    [1 << lookBits]uint16
	limits  [17]uint32
	offsets [17]int
	symbols []byte
}

const lookBits = 10

func (d *shrinker) readHuffmanTables(b []byte) bool {
	for len(b) > 0 {
		if len(b) < 17 || b[0]>>4 > 1 || b[0]&15 > 3 {
			return false
		}
		counts, sum := b[1:17], 0
		for _, c := range counts {
			sum += int(c)
		}
		if sum == 0 || sum > 256 || len(b) < 17+sum {
			return false
		}
		t := &huffman{symbols: b[17 : 17+sum]}
		code, at := uint32(0), 0
		for length := 1; length <= 16; length++ {
			t.offsets[length] = at - int(code)
			for range counts[length-1] {
				if code >= 1<<length {
					return false
				}
				if length <= lookBits {
					first := code << (lookBits - length)
					for i := range uint32(1) << (lookBits - length) {
						t.look[first+i] = uint16(length)<<8 | uint16(t.symbols[at])
					}
				}
				code++
				at++
			}
			t.limits[length] = code << (16 - length)
			code <<= 1
		}
		if b[0]>>4 == 0 {
			d.dc[b[0]&15] = t
		} else {
			d.ac[b[0]&15] = t
		}
		b = b[17+sum:]
	}
	return true
}

// readScanHeader reads the header of a scan. It returns false unless the scan has all components.
func (d *shrinker) readScanHeader(b []byte) bool {
	n := len(d.components)
	if n == 0 || len(b) != 4+2*n || int(b[0]) != n || b[1+2*n] != 0 || b[2+2*n] != 63 || b[3+2*n] != 0 {
		return false
	}
	for i := range d.components {
		p := &d.components[i]
		if b[1+2*i] != p.id || b[2+2*i]>>4 > 3 || b[2+2*i]&15 > 3 {
			return false
		}
		p.dc, p.ac = d.dc[b[2+2*i]>>4], d.ac[b[2+2*i]&15]
		if p.dc == nil || p.ac == nil || d.quant[p.quant] == nil {
			return false
		}
	}
	return true
}

// bits reads the entropy-coded bits. acc contains the next count bits; the first of them is its highest bit. When a marker ends
// the data, zeros are added; padded is their number.
type bits struct {
	data   []byte
	at     int
	acc    uint64
	count  uint
	padded uint
}

// fill provides at least 32 bits.
func (b *bits) fill() {
	if b.at+4 <= len(b.data) {
		// Read four bytes together if none of them is 0xff.
		if v := binary.BigEndian.Uint32(b.data[b.at:]); (v&^(v+0x01010101))&0x80808080 == 0 {
			b.acc |= uint64(v) << (32 - b.count)
			b.count += 32
			b.at += 4
			return
		}
	}
	for b.count <= 32 {
		v := byte(0)
		switch {
		case b.at >= len(b.data):
			b.padded += 8
		case b.data[b.at] != 0xff:
			v = b.data[b.at]
			b.at++
		case b.at+1 < len(b.data) && b.data[b.at+1] == 0:
			v = 0xff
			b.at += 2
		default:
			b.padded += 8
		}
		b.acc |= uint64(v) << (56 - b.count)
		b.count += 8
	}
}

// ended reports whether added zeros were consumed, so that the data ended too early.
func (b *bits) ended() bool { return b.count < b.padded }

// decodeLong decodes a code of more than lookBits bits; 0 if there is no such code.
func (t *huffman) decodeLong(acc uint64) uint16 {
	top := uint32(acc >> 48)
	for length := lookBits + 1; length <= 16; length++ {
		if top < t.limits[length] {
			if at := t.offsets[length] + int(top>>(16-length)); at >= 0 && at < len(t.symbols) {
				return uint16(length)<<8 | uint16(t.symbols[at])
			}
			return 0
		}
	}
	return 0
}

// readSigned returns the signed number that the upper size bits of acc hold, in the form of T.81 (F.2.2.1).
func readSigned(acc uint64, size uint) int32 {
	v := int32(acc >> (64 - size))
	if v < 1<<(size-1) {
		v += -1<<size + 1
	}
	return v
}

// zigzag maps the coefficients of a block, in the order of the file, to 8 rows of 8.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// decodeScan decodes all units of the scan. The file must end after the scan.
func (d *shrinker) decodeScan() error {
	first := d.components[0] // no component has more blocks in a unit
	unitsX := (d.w + 8*first.across - 1) / (8 * first.across)
	unitsY := (d.h + 8*first.down - 1) / (8 * first.down)
	for i := range d.components {
		p := &d.components[i]
		p.stride = unitsX * p.across * d.n
		p.pix = make([]byte, p.stride*unitsY*p.down*d.n)
	}
	in := bits{data: d.data, at: d.at}
	left := d.restart
	marker := byte(0xd0)
	for y := range unitsY {
		for x := range unitsX {
			if d.restart > 0 && left == 0 {
				if in.ended() || in.at+2 > len(in.data) || in.data[in.at] != 0xff || in.data[in.at+1] != marker {
					return errNeedsFullSize
				}
				in = bits{data: d.data, at: in.at + 2}
				marker = 0xd0 + (marker+1)&7
				left = d.restart
				for i := range d.components {
					d.components[i].lastDC = 0
				}
			}
			left--
			for i := range d.components {
				p := &d.components[i]
				for by := range p.down {
					for bx := range p.across {
						to := ((y*p.down+by)*p.stride + (x*p.across + bx)) * d.n
						if !d.decodeBlock(&in, p, p.pix[to:]) {
							return errNeedsFullSize
						}
					}
				}
			}
		}
		if in.ended() {
			return errNeedsFullSize
		}
	}
	if in.at+2 > len(in.data) || in.data[in.at] != 0xff || in.data[in.at+1] != 0xd9 {
		return errNeedsFullSize
	}
	return nil
}

// decodeBlock decodes one block into n rows of n samples.
func (d *shrinker) decodeBlock(in *bits, p *component, to []byte) bool {
	quant := d.quant[p.quant]
	quant = quant[:64]
	var c [32]int32 // only the four rows that are needed
	if in.count < 32 {
		in.fill()
	}
	e := p.dc.look[in.acc>>(64-lookBits)]
	if e == 0 {
		if e = p.dc.decodeLong(in.acc); e == 0 {
			return false
		}
	}
	size := uint(e & 0xff)
	if size > 15 {
		return false
	}
	in.acc <<= e >> 8
	if size > 0 {
		p.lastDC += readSigned(in.acc, size)
		in.acc <<= size
	}
	in.count -= uint(e>>8) + size
	c[0] = p.lastDC * quant[0]
	flat := true
	last := uint(4)
	if d.n == 4 {
		last = 24
	}
	table := p.ac
	acc, count := in.acc, in.count
	for k := uint(1); k < 64; k++ {
		if count < 32 {
			in.acc, in.count = acc, count
			in.fill()
			acc, count = in.acc, in.count
		}
		e := table.look[acc>>(64-lookBits)]
		if e == 0 {
			if e = table.decodeLong(acc); e == 0 {
				return false
			}
		}
		size := uint(e & 15)
		acc <<= e >> 8
		count -= uint(e >> 8)
		if size == 0 {
			switch e >> 4 & 15 {
			case 0: // the block ends
				k = 64
			case 15:
				k += 15
			default:
				return false
			}
			continue
		}
		if k += uint(e >> 4 & 15); k <= last {
			if at := zigzag[k&63]; at < 32 {
				c[at] = readSigned(acc, size) * quant[k&63]
				flat = false
			}
		}
		acc <<= size
		count -= size
	}
	in.acc, in.count = acc, count
	switch {
	case flat:
		v := toSample((c[0] + 4) >> 3)
		for y := range d.n {
			row := to[y*p.stride:][:d.n]
			for x := range row {
				row[x] = v
			}
		}
	case d.n == 2:
		idct2(&c, to, p.stride)
	default:
		idct4(&c, to, p.stride)
	}
	return true
}

// toSample converts a value around zero to a byte.
func toSample(v int32) byte { return byte(min(max(v+128, 0), 255)) }

// idct2 is the inverse transform of two samples a side, over the four lowest frequencies: cos of 45 degrees, twice.
func idct2(c *[32]int32, to []byte, stride int) {
	a, b, e, f := c[0], c[1], c[8], c[9]
	to[0], to[1] = toSample((a+b+e+f+4)>>3), toSample((a-b+e-f+4)>>3)
	to = to[stride:]
	to[0], to[1] = toSample((a+b-e-f+4)>>3), toSample((a-b-e+f+4)>>3)
}

// Factors of the transform of four samples a side, with 12 bits after the point: half of cos(uπ/8).
var (
	half1 = int32(math.Round(math.Cos(math.Pi/8) / 2 * (1 << 12)))
	half2 = int32(math.Round(math.Cos(math.Pi/4) / 2 * (1 << 12)))
	half3 = int32(math.Round(math.Cos(3*math.Pi/8) / 2 * (1 << 12)))
)

// idct4 is the inverse transform of four samples a side, over the sixteen lowest frequencies.
func idct4(c *[32]int32, to []byte, stride int) {
	var rows [16]int32
	for y := range 4 {
		in := c[8*y : 8*y+4 : 8*y+4]
		out := rows[4*y : 4*y+4 : 4*y+4]
		s, t := (in[0]+in[2])*half2, (in[0]-in[2])*half2
		o, q := in[1]*half1+in[3]*half3, in[1]*half3-in[3]*half1
		// Four fractional bits remain.
		out[0], out[1], out[2], out[3] = (s+o+128)>>8, (t+q+128)>>8, (t-q+128)>>8, (s-o+128)>>8
	}
	for x := range 4 {
		a, b, e, f := rows[x], rows[4+x], rows[8+x], rows[12+x]
		s, t := (a+e)*half2, (a-e)*half2
		o, q := b*half1+f*half3, b*half3-f*half1
		to[x] = toSample((s + o + 1<<15) >> 16)
		to[stride+x] = toSample((t + q + 1<<15) >> 16)
		to[2*stride+x] = toSample((t - q + 1<<15) >> 16)
		to[3*stride+x] = toSample((s - o + 1<<15) >> 16)
	}
}

// toSource returns the decoded picture, without the padding in the blocks at the right and lower edges.
func (d *shrinker) toSource() *source {
	s := &source{model: gray, w: d.w * d.n / 8, h: d.h * d.n / 8, subX: d.components[0].across, subY: d.components[0].down}
	if len(d.components) == 3 {
		s.model = ycc
	}
	for i, p := range d.components {
		w, h := s.w, s.h
		if i > 0 {
			w, h = max(1, w/s.subX), max(1, h/s.subY)
		}
		s.channels = append(s.channels, storedRows(p.pix, p.stride, w, h))
	}
	return s
}
