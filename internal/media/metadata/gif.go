package metadata

import "errors"

// This file plans copies of GIF files without metadata. A plan lists the parts of the file and the new bytes that make up the copy.

// The kinds of blocks in GIF89a: the first byte of a block.
const (
	gifExtension = 0x21
	gifImage     = 0x2c
	gifTrailer   = 0x3b // the end of the file
)

// The labels of two kinds of extension blocks: the second byte of an extension block.
const (
	gifControl     = 0xf9 // timing and transparency of the next frame
	gifApplication = 0xff // data of a program
)

// stripGIF plans a copy of a GIF without metadata. It drops comments, plain text and application data. It keeps the screen, the
// palettes, the frames with their timing, and the number of repeats. If only the trailer is missing, it is added.
func stripGIF(s *source) (out plan) {
	// The first 13 bytes: signature and version (6), width and height (4), flags of the palette, background colour, aspect ratio.
	head := s.readStart(13, "GIF", func(head []byte) bool {
		return string(head[:6]) == "GIF89a" || string(head[:6]) == "GIF87a"
	})
	s.skip(paletteSize(head[10]))
	out.keep(0, s.pos)
	for imageCount := 0; s.err == nil; {
		from := s.pos
		kind := s.readByte()
		if imageCount > 0 && errors.Is(s.err, errTruncated) { // only the trailer is missing
			kind, s.err = gifTrailer, nil
		}
		keep := true
		switch kind {
		case gifTrailer:
			if imageCount == 0 {
				s.fail(damagedError("it has no picture"))
			}
			out.add([]byte{gifTrailer})
			return out
		case gifExtension:
			label := s.readByte()
			if label == gifApplication {
				keepGIFLoop(s, &out)
				continue
			}
			keep = label == gifControl
		case gifImage:
			descriptor := s.readHead(9)            // position and size of the frame (8 bytes), flags of its palette
			s.skip(paletteSize(descriptor[8]) + 1) // 1 is for the byte with the minimum code size
			imageCount++
		default:
			s.fail(damagedError("unknown block %#x", kind))
		}
		skipGIFBlocks(s)
		if keep {
			out.keep(from, s.pos)
		}
	}
	return nil
}

// paletteSize returns the length in bytes of the palette that the flags announce, or 0 if there is none.
func paletteSize(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// skipGIFBlocks skips sub-blocks up to and including the empty sub-block that ends the list.
func skipGIFBlocks(s *source) {
	for n := s.readByte(); n > 0; n = s.readByte() {
		s.skip(int64(n))
	}
}

// keepGIFLoop reads an application extension, and keeps only the number of repeats of the animation.
func keepGIFLoop(s *source, out *plan) {
	n := s.readByte()
	switch name := string(s.readBytes(int64(n))); {
	case n == 0:
	case name != "NETSCAPE2.0" && name != "ANIMEXTS1.0":
		skipGIFBlocks(s)
	default:
		for n := s.readByte(); n > 0; n = s.readByte() {
			if data := s.readBytes(int64(n)); len(data) == 3 && data[0] == 1 {
				out.add([]byte("\x21\xff\x0bNETSCAPE2.0\x03\x01" + string(data[1:]) + "\x00"))
			}
		}
	}
}
