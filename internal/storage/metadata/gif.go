package metadata

import "errors"

// The blocks of GIF89a.
const (
	gifExtension   = 0x21
	gifImage       = 0x2c
	gifTrailer     = 0x3b
	gifControl     = 0xf9
	gifApplication = 0xff
)

// cleanGIF keeps screen, palettes, frames, their timing and the loop. A file that stops after a whole frame gets the end
// that it lacks.
func cleanGIF(s *source) (plan, error) {
	head, err := s.start(13, "GIF", func(head []byte) bool {
		return string(head[:6]) == "GIF89a" || string(head[:6]) == "GIF87a"
	})
	if err != nil {
		return nil, err
	}
	out := plan{}
	if err := s.skip(palette(head[10])); err != nil {
		return nil, err
	}
	if err := out.keep(0, s.pos); err != nil {
		return nil, err
	}
	images := 0
	for {
		from := s.pos
		block, err := s.byte()
		if errors.Is(err, errTruncated) && images > 0 {
			block, err = gifTrailer, nil
		}
		if err != nil {
			return nil, err
		}
		var keep bool
		switch block {
		case gifTrailer:
			if images == 0 {
				return nil, damaged("it has no picture")
			}
			out.add([]byte{gifTrailer})
			return out, nil
		case gifExtension:
			kind, err := s.byte()
			if err != nil {
				return nil, err
			}
			if kind == gifApplication {
				if err := gifLoop(s, &out); err != nil {
					return nil, err
				}
				continue
			}
			keep = kind == gifControl
		case gifImage:
			descriptor, err := s.bytes(9)
			if err != nil {
				return nil, err
			}
			if err := s.skip(palette(descriptor[8]) + 1); err != nil { // and the size of the first codes
				return nil, err
			}
			keep = true
			images++
		default:
			return nil, damaged("unknown block %#x", block)
		}
		if err := gifBlocks(s); err != nil {
			return nil, err
		}
		if keep {
			if err := out.keep(from, s.pos); err != nil {
				return nil, err
			}
		}
	}
}

// palette is the length of the colour table that the flags announce, in bytes.
func palette(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks goes beyond sub-blocks to the empty one that ends them.
func gifBlocks(s *source) error {
	for {
		n, err := s.byte()
		if err != nil || n == 0 {
			return err
		}
		if err := s.skip(int64(n)); err != nil {
			return err
		}
	}
}

// gifLoop keeps how often an animation repeats, of an application's block, and nothing else of it.
func gifLoop(s *source, out *plan) error {
	n, err := s.byte()
	if err != nil {
		return err
	}
	name, err := s.bytes(int64(n))
	if err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	if string(name) != "NETSCAPE2.0" && string(name) != "ANIMEXTS1.0" {
		return gifBlocks(s)
	}
	for {
		n, err := s.byte()
		if err != nil || n == 0 {
			return err
		}
		data, err := s.bytes(int64(n))
		if err != nil {
			return err
		}
		if n == 3 && data[0] == 1 {
			if len(*out) >= maxPieces {
				return damaged("it is in too many pieces")
			}
			out.add(append([]byte("\x21\xff\x0bNETSCAPE2.0\x03\x01"), data[1], data[2], 0))
		}
	}
}
