package video

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"testing"
	"time"
)

const demoVideo = "../../demo/content/noite-no-cais.mp4"

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// boxOf returns an ISO box: its length, its kind and its parts.
func boxOf(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), kind...), body...)
}

// u32 returns big-endian 32-bit numbers.
func u32(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// sample describes the video track of indexOf.
type sample struct {
	codec         string
	width, height uint32
	turned        bool   // to be shown rotated by 90 degrees
	offsets       []byte // a stco or co64 box
	tail          []byte // bytes after the last box of a track
}

// indexOf returns the moov box of a video: a track with frames, and a track with sound.
func indexOf(s sample) []byte {
	matrix := u32(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30)
	if s.turned {
		matrix = u32(0, 1<<16, 0, 0xFFFF0000, 0, 0, s.height<<16, 0, 1<<30)
	}
	entry := boxOf(s.codec, make([]byte, 24), []byte{byte(s.width >> 8), byte(s.width), byte(s.height >> 8), byte(s.height)}, make([]byte, 50))
	return boxOf("moov",
		boxOf("mvhd", u32(0, 0, 0, 1000, 12_500), make([]byte, 80)),
		boxOf("trak",
			boxOf("tkhd", u32(0, 0, 0, 1, 0, 12_500, 0, 0, 0, 0), matrix, u32(s.width<<16, s.height<<16)),
			boxOf("mdia",
				boxOf("hdlr", u32(0, 0), []byte("vide"), make([]byte, 12)),
				boxOf("minf", boxOf("stbl", boxOf("stsd", u32(0, 1), entry), s.offsets))),
			s.tail),
		boxOf("trak", boxOf("mdia", boxOf("hdlr", u32(0, 0), []byte("soun"), make([]byte, 12)))))
}

// stco returns the box with the offsets of the frames.
func stco(offsets ...uint32) []byte {
	return boxOf("stco", u32(0, uint32(len(offsets))), u32(offsets...))
}

func TestProbeReadsTheDemoVideo(t *testing.T) {
	info, err := Probe(bytes.NewReader(mustRead(t, demoVideo)))
	if err != nil {
		t.Fatal(err)
	}
	if info.Codec != "avc1" || !info.Plays() || !info.IndexFirst || info.Duration.Round(time.Second) != 12*time.Second || info.Width == 0 || info.Height == 0 {
		t.Errorf("%+v", info)
	}
}

func TestProbe(t *testing.T) {
	ftyp, mdat := boxOf("ftyp", []byte("isom"), u32(0)), boxOf("mdat", make([]byte, 100))
	video := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		file []byte
		want Info
	}{
		"index behind":    {video(ftyp, mdat, indexOf(sample{codec: "avc1", width: 640, height: 360})), Info{640, 360, 12500 * time.Millisecond, "avc1", true, false}},
		"index in front":  {video(ftyp, indexOf(sample{codec: "hvc1", width: 640, height: 360}), mdat), Info{640, 360, 12500 * time.Millisecond, "hvc1", true, true}},
		"a phone's turn":  {video(ftyp, indexOf(sample{codec: "avc1", width: 640, height: 360, turned: true}), mdat), Info{360, 640, 12500 * time.Millisecond, "avc1", true, true}},
		"QuickTime":       {video(boxOf("wide"), mdat, indexOf(sample{codec: "apch", width: 1920, height: 1080, tail: u32(0)})), Info{1920, 1080, 12500 * time.Millisecond, "apch", true, false}},
		"in fragments":    {video(ftyp, indexOf(sample{codec: "avc1", width: 64, height: 36}), boxOf("moof"), mdat, boxOf("moof"), mdat), Info{64, 36, 12500 * time.Millisecond, "avc1", true, true}},
		"mdat to the end": {video(ftyp, indexOf(sample{codec: "av01", width: 64, height: 36}), u32(0), []byte("mdat"), make([]byte, 9)), Info{64, 36, 12500 * time.Millisecond, "av01", true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Probe(bytes.NewReader(c.file))
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestPlays(t *testing.T) {
	for codec, want := range map[string]bool{"avc1": true, "vp09": true, "AV1": true, "VP8": true, "hvc1": false, "hev1": false, "apch": false, "mp4v": false, "": false} {
		if got := (Info{Codec: codec}).Plays(); got != want {
			t.Errorf("%s: %v", codec, got)
		}
	}
}

// The demo video has its index at the beginning. The test moves it to the end; Faststart must restore the original bytes.
func TestFaststartGivesTheDemoVideoBack(t *testing.T) {
	want := mustRead(t, demoVideo)
	m, err := readBoxes(bytes.NewReader(want), int64(len(want)))
	if err != nil {
		t.Fatal(err)
	}
	behind := bytes.Clone(m.index)
	if err := adjustOffsets(behind[m.moov.headerLength:], "moov", func(o uint64) (uint64, error) { return o - uint64(m.moov.size), nil }, true); err != nil {
		t.Fatal(err)
	}
	slow := bytes.Join([][]byte{want[:m.moov.at], want[m.moov.at+m.moov.size:], behind}, nil)
	if info, err := Probe(bytes.NewReader(slow)); err != nil || info.IndexFirst {
		t.Fatalf("%+v, %v", info, err)
	}
	r, err := Faststart(bytes.NewReader(slow))
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %d bytes of %d", err, len(got), len(want))
	}
	if again, err := Faststart(bytes.NewReader(got)); again != nil || err != nil {
		t.Errorf("moved twice: %v", err)
	}
}

// Each offset must lead to the same bytes as before, wherever the frames are.
func TestFaststartMovesEachOffset(t *testing.T) {
	ftyp := boxOf("ftyp", []byte("qt  "), u32(0))
	before, after := boxOf("mdat", []byte("first..."), []byte("second..")), boxOf("mdat", []byte("third..."))
	at := uint32(len(ftyp) + 8)
	index := func(third uint32) []byte {
		return indexOf(sample{codec: "avc1", width: 64, height: 36, offsets: stco(at, at+8, third), tail: u32(0)})
	}
	third := at + 16 + uint32(len(index(0))) + 8
	file := bytes.Join([][]byte{ftyp, before, index(third), after}, nil)
	r, err := Faststart(bytes.NewReader(file))
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(file) {
		t.Fatalf("%d bytes, was %d", len(got), len(file))
	}
	m, err := readBoxes(bytes.NewReader(got), int64(len(got)))
	if err != nil || !m.hasIndexFirst() {
		t.Fatal("the index is not in front", err)
	}
	var led []string
	if err := adjustOffsets(m.index[m.moov.headerLength:], "moov", func(o uint64) (uint64, error) {
		led = append(led, string(got[o:o+8]))
		return o, nil
	}, false); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first...", "second..", "third..."}; len(led) != 3 || led[0] != want[0] || led[1] != want[1] || led[2] != want[2] {
		t.Errorf("offsets lead to %q", led)
	}
}

func TestOffsetsThatNeedMoreBits(t *testing.T) {
	file := bytes.NewReader(bytes.Join([][]byte{
		boxOf("ftyp", []byte("isom"), u32(0)), boxOf("mdat", make([]byte, 64)),
		indexOf(sample{codec: "avc1", width: 64, height: 36, offsets: stco(20, math.MaxUint32-8)}),
	}, nil))
	m, err := readBoxes(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	m.moov.at = math.MaxUint32 + 1 // as in a video of more than 4 GB
	index, err := m.buildMovedIndex(16)
	if err != nil {
		t.Fatal(err)
	}
	table, err := findChild(index[8:], "trak", "mdia", "minf", "stbl", "co64")
	if err != nil || len(table) != 8+16 {
		t.Fatalf("no wide table: %d bytes, %v", len(table), err)
	}
	if got, want := binary.BigEndian.Uint64(table[16:]), uint64(math.MaxUint32-8+len(index)); got != want {
		t.Errorf("leads to %d, want %d", got, want)
	}
}

// Proves F-film-refused.
func TestInvalidVideos(t *testing.T) {
	ftyp := boxOf("ftyp", []byte("isom"), u32(0))
	whole := bytes.Join([][]byte{ftyp, boxOf("mdat", make([]byte, 64)), indexOf(sample{codec: "avc1", width: 64, height: 36, offsets: stco(20)})}, nil)
	webm := []byte{0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84, 'w', 'e', 'b', 'm'}
	for name, file := range map[string][]byte{
		"nothing":             {},
		"two bytes":           {0, 0},
		"text":                []byte("<!doctype html><title>no film</title>"),
		"no index":            bytes.Join([][]byte{ftyp, boxOf("mdat", make([]byte, 64))}, nil),
		"cut short":           whole[:len(whole)-40],
		"cut in the pictures": whole[:50],
		"two indexes":         bytes.Join([][]byte{whole, indexOf(sample{codec: "avc1"})}, nil),
		"compressed index":    bytes.Join([][]byte{ftyp, boxOf("mdat", make([]byte, 8)), boxOf("moov", boxOf("cmov", u32(1)))}, nil),
		"a box of 3 bytes":    bytes.Join([][]byte{ftyp, u32(3), []byte("moov")}, nil),
		"a huge index":        bytes.Join([][]byte{ftyp, u32(1), []byte("moov"), u32(0, 1<<31-1)}, nil),
		"a huge box":          bytes.Join([][]byte{ftyp, u32(1), []byte("mdat"), u32(math.MaxUint32, math.MaxUint32)}, nil),
		"offsets break off":   bytes.Join([][]byte{ftyp, boxOf("mdat", make([]byte, 8)), indexOf(sample{codec: "avc1", offsets: boxOf("stco", u32(0, math.MaxUint32))})}, nil),
		"sound alone":         bytes.Join([][]byte{ftyp, boxOf("moov", boxOf("mvhd", make([]byte, 100)))}, nil),
		"WebM without tracks": webm,
		"Matroska":            {0x1A, 0x45, 0xDF, 0xA3, 0x8B, 0x42, 0x82, 0x88, 'm', 'a', 't', 'r', 'o', 's', 'k', 'a'},
		"WebM cut short":      webm[:7],
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Probe(bytes.NewReader(file))
			if name != "offsets break off" && !errors.Is(err, ErrUnreadable) {
				t.Errorf("probed: %v", err)
			}
			r, err := Faststart(bytes.NewReader(file))
			if err == nil && r != nil {
				_, err = io.ReadAll(r)
				t.Errorf("rewritten: %v", err)
			}
			if err != nil && !errors.Is(err, ErrUnreadable) {
				t.Errorf("%v", err)
			}
		})
	}
}

func ebml(id uint64, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	var out []byte
	for shift := 24; shift >= 0; shift -= 8 {
		if b := byte(id >> shift); b != 0 || len(out) > 0 {
			out = append(out, b)
		}
	}
	return append(append(out, 0x10, byte(len(body)>>16), byte(len(body)>>8), byte(len(body))), body...)
}

func TestProbeReadsWebM(t *testing.T) {
	head := ebml(idEBML, ebml(idDocType, []byte("webm")))
	about := ebml(idSegmentInfo, ebml(idTimestampUnit, []byte{0x0F, 0x42, 0x40}), ebml(idDuration, binary.BigEndian.AppendUint64(nil, math.Float64bits(2500))))
	list := ebml(idTracks,
		ebml(idTrackEntry, ebml(idTrackType, []byte{2}), ebml(idCodec, []byte("A_OPUS"))),
		ebml(idTrackEntry, ebml(idTrackType, []byte{1}), ebml(idCodec, []byte("V_VP9")), ebml(idVideo, ebml(idPixelWidth, []byte{2, 0x80}), ebml(idPixelHeight, []byte{1, 0x68}))))
	live := append(append([]byte{0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, list...), 0x1F, 0x43, 0xB6, 0x75, 0xFF, 1, 2, 3)
	for name, c := range map[string]struct {
		file []byte
		want Info
	}{
		"whole":              {append(bytes.Clone(head), ebml(idSegment, about, list, ebml(idCluster, make([]byte, 50)))...), Info{640, 360, 2500 * time.Millisecond, "VP9", true, true}},
		"as it was recorded": {append(bytes.Clone(head), live...), Info{640, 360, 0, "VP9", true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Probe(bytes.NewReader(c.file))
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
			if r, err := Faststart(bytes.NewReader(c.file)); r != nil || err != nil {
				t.Errorf("a WebM was rewritten: %v", err)
			}
		})
	}
}

func FuzzVideo(f *testing.F) {
	ftyp := boxOf("ftyp", []byte("isom"), u32(0))
	f.Add(bytes.Join([][]byte{ftyp, boxOf("mdat", make([]byte, 16)), indexOf(sample{codec: "avc1", width: 64, height: 36, offsets: stco(20, 24)})}, nil))
	f.Add(append(ebml(idEBML, ebml(idDocType, []byte("webm"))), ebml(idSegment, ebml(idTracks, ebml(idTrackEntry, ebml(idTrackType, []byte{1}), ebml(idCodec, []byte("V_AV1")))))...))
	f.Fuzz(func(t *testing.T, file []byte) {
		if info, err := Probe(bytes.NewReader(file)); err == nil && (info.Codec == "" || info.Duration < 0 || info.Width < 0) {
			t.Errorf("%+v", info)
		}
		r, err := Faststart(bytes.NewReader(file))
		if err != nil || r == nil {
			return
		}
		fast, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Faststart(bytes.NewReader(fast)); again != nil || err != nil {
			t.Errorf("rewritten, and again: %v", err)
		}
	})
}

// sparse is a file of zeros, except for the given bytes at some offsets.
type sparse struct {
	size, at int64
	parts    map[int64][]byte
	reads    int
}

func (s *sparse) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset += s.size
	}
	s.at = offset
	return offset, nil
}

func (s *sparse) Read(p []byte) (int, error) {
	s.reads++
	if s.at >= s.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), s.size-s.at)]
	clear(p)
	for at, b := range s.parts {
		if from := at - s.at; from >= 0 && from < int64(len(p)) {
			copy(p[from:], b)
		}
	}
	s.at += int64(len(p))
	return len(p), nil
}

// Proves F-film-refused.
//
// A file that only claims to be large costs neither much memory nor many reads.
func TestLargeVideosCostLittle(t *testing.T) {
	ftyp := boxOf("ftyp", []byte("isom"), u32(0))
	large := &sparse{size: 200 << 20, parts: map[int64][]byte{0: ftyp, 16: append(u32(maxIndex+8), "moov"...)}}
	apart := &sparse{size: 2000 << 20, parts: map[int64][]byte{0: ftyp}}
	for at := int64(16); at < apart.size; at += 1 << 20 {
		apart.parts[at] = append(u32(uint32(min(1<<20, apart.size-at))), "free"...)
	}
	whole := &sparse{size: 2000 << 20, parts: map[int64][]byte{0: ftyp, 16: append(u32(1900<<20), "mdat"...)}}
	index := indexOf(sample{codec: "avc1", width: 64, height: 36, offsets: stco(24)})
	whole.parts[16+1900<<20], whole.size = index, 16+1900<<20+int64(len(index))
	for name, c := range map[string]struct {
		file  *sparse
		fine  bool
		reads int
	}{"an index of 64 MB": {large, false, 5}, "boxes far apart": {apart, false, maxReads}, "2 GB": {whole, true, 5}} {
		info, err := Probe(c.file)
		if (err == nil) != c.fine || err != nil && !errors.Is(err, ErrUnreadable) || c.file.reads > c.reads {
			t.Errorf("%s: %+v, %v after %d reads", name, info, err, c.file.reads)
		}
	}
	r, err := Faststart(whole)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	head := make([]byte, 16+len(index))
	if _, err := io.ReadFull(r, head); err != nil || string(head[20:24]) != "moov" {
		t.Errorf("%q, %v", head[16:24], err)
	}
}
