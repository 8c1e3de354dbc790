package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// This file compresses the content of pages and files, and sends it in an encoding that the client accepts. If the client has the content
// already, it sends the status 304 (Not Modified) without content.

// body is the content of a page or file in several encodings (HTTP's content codings). The content is compressed only once in each
// encoding, for all requests.
type body struct {
	variants     []*variant        // the preferred encoding first, the uncompressed content last
	recompressed bool              // whether the brotli variant was compressed again, with brotli's best quality
	inputsHash   [sha256.Size]byte // hash of the head and the boot data from which a page was made; zero for a file
}

// variant is one encoding of a body. The first request for the encoding compresses the content, so no request waits for the compression in
// other encodings.
type variant struct {
	encoding string                         // content encoding, one of encodings; "" for the uncompressed content
	mu       sync.Mutex                     // locked during the compression
	encoded  atomic.Pointer[representation] // nil until the content is compressed
}

// representation is the compressed content of a variant: its bytes and the values of its response headers. Each variant has its own entity
// tag (RFC 9110 §8.8.3.3). All responses share the slices of header values, so nothing may change their elements.
type representation struct {
	bytes                                []byte   // nil if compression did not make the content smaller
	encodingHeader, contentLength, etags []string // values of Content-Encoding, Content-Length and ETag
}

// encodings are the values of Content-Encoding in the order of preference.
var encodings = []string{"br", "zstd", "gzip"}

const (
	// pageQuality is brotli's quality for pages that a request waits for. For 60 kB, quality 5 takes 2 ms, and the best quality (11) 100 ms.
	pageQuality = 5
	// pageWindow is the base-2 logarithm of the compressors' window size in bytes. A page fits into 2^18 bytes. With the default window, a
	// compressor would allocate megabytes for each page.
	pageWindow = 18
)

// zstdEncoder returns the zstd encoder, which all pages share. It takes one megabyte of memory. The next better level would take five, and
// few visitors would profit, because browsers that support zstd also support brotli, which is preferred.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<pageWindow), zstd.WithEncoderLevel(zstd.SpeedDefault))
})

// newPageBody returns a body with the content of a page, which is compressed when a request asks for an encoding.
func newPageBody(content []byte) *body {
	b := &body{}
	for _, encoding := range encodings {
		b.variants = append(b.variants, &variant{encoding: encoding})
	}
	b.variants = append(b.variants, newVariant("", content))
	return b
}

// load returns the representation of a variant. The first call compresses content, which must be the content of the body.
func (v *variant) load(content []byte) (*representation, error) {
	if rep := v.encoded.Load(); rep != nil {
		return rep, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if rep := v.encoded.Load(); rep != nil {
		return rep, nil
	}
	compressed, err := compress(content, v.encoding)
	if err != nil {
		return nil, err
	}
	if len(compressed) >= len(content) {
		compressed = nil
	}
	rep := newRepresentation(v.encoding, bytes.Clone(compressed))
	v.encoded.Store(rep)
	return rep, nil
}

// compress compresses a page that a request waits for.
func compress(content []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "br":
		return compressBrotli(content, pageQuality)
	case "zstd":
		encoder, err := zstdEncoder()
		if err != nil {
			return nil, err
		}
		return encoder.EncodeAll(content, nil), nil
	}
	return compressGzip(content)
}

// recompress returns a copy of the body whose brotli variant is compressed with the best quality.
func (b *body) recompress() (*body, error) {
	br, err := compressBrotli(b.plain(), brotli.BestCompression)
	if err != nil {
		return nil, err
	}
	r := &body{recompressed: true, inputsHash: b.inputsHash}
	for _, v := range b.variants {
		if v.encoding == "br" && len(br) < len(b.plain()) {
			v = newVariant(v.encoding, bytes.Clone(br))
		}
		r.variants = append(r.variants, v)
	}
	return r, nil
}

// compressBrotli compresses with a quality of 0 to 11.
func compressBrotli(content []byte, quality int) ([]byte, error) {
	var out bytes.Buffer
	return compressWith(content, &out, brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: quality, LGWin: pageWindow}))
}

func compressGzip(content []byte) ([]byte, error) {
	var out bytes.Buffer
	return compressWith(content, &out, gzip.NewWriter(&out))
}

// compressWith writes content to w, a compressor whose output is out, and returns the output.
func compressWith(content []byte, out *bytes.Buffer, w io.WriteCloser) ([]byte, error) {
	_, err := w.Write(content)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// newFileBody returns the body of a file that was compressed in advance. compressed has its bytes by encoding. Encodings that are not
// smaller than content are left out.
func newFileBody(content []byte, compressed map[string][]byte) *body {
	b := &body{}
	for _, c := range encodings {
		if encoded := compressed[c]; len(encoded) > 0 && len(encoded) < len(content) {
			b.variants = append(b.variants, newVariant(c, bytes.Clone(encoded)))
		}
	}
	b.variants = append(b.variants, newVariant("", content))
	return b
}

// newVariant returns a variant with known bytes.
func newVariant(encoding string, bytes []byte) *variant {
	v := &variant{encoding: encoding}
	v.encoded.Store(newRepresentation(encoding, bytes))
	return v
}

func newRepresentation(encoding string, bytes []byte) *representation {
	sum := sha256.Sum256(bytes)
	rep := &representation{bytes: bytes, contentLength: []string{strconv.Itoa(len(bytes))}, etags: []string{`"` + hex.EncodeToString(sum[:12]) + `"`}}
	if encoding != "" {
		rep.encodingHeader = []string{encoding}
	}
	return rep
}

// plain returns the uncompressed content.
func (b *body) plain() []byte { return b.variants[len(b.variants)-1].encoded.Load().bytes }

// compressedShare is the divisor with which size estimates a variant that is not compressed yet: in practice, each encoding reduces a page
// to less than a quarter.
const compressedShare = 4

// size returns the approximate memory of the body in bytes.
func (b *body) size() (n int) {
	for _, v := range b.variants {
		n += 300 // an estimate for the headers
		if rep := v.encoded.Load(); rep != nil {
			n += len(rep.bytes)
		} else {
			n += len(b.plain()) / compressedShare
		}
	}
	return n
}

// chooseRepresentation returns the representation for the values of Accept-Encoding (RFC 9110 §12.5.3): that of the first encoding, in
// our order of preference, whose weight is above 0, or the uncompressed one.
func (b *body) chooseRepresentation(accepted []string) (*representation, error) {
	last := len(b.variants) - 1
	for _, v := range b.variants[:last] {
		if !accepts(accepted, v.encoding) {
			continue
		}
		if rep, err := v.load(b.plain()); err != nil || rep.bytes != nil {
			return rep, err
		}
	}
	return b.variants[last].encoded.Load(), nil
}

// accepts reports whether Accept-Encoding lists an encoding with a weight above 0. If it does not list the encoding, the
// weight of * decides.
func accepts(accepted []string, encoding string) bool {
	named, anything := false, false
	for _, line := range accepted {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, weighted := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if name != "*" && !strings.EqualFold(name, encoding) {
				continue
			}
			yes := true
			if weighted {
				_, q, _ := strings.Cut(parameters, "=")
				weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
				yes = err == nil && weight > 0
			}
			if name != "*" {
				return yes
			}
			named, anything = true, yes
		}
	}
	return named && anything
}

// vary is the value of Vary for bodies in several encodings.
var vary = []string{"Accept-Encoding"}

// write sends the variant that the client accepts, or the status 304 if the client already has it. The caller must have set
// the headers that do not depend on the encoding.
func (b *body) write(w http.ResponseWriter, r *http.Request, status int) error {
	rep, err := b.chooseRepresentation(r.Header["Accept-Encoding"])
	if err != nil {
		return err
	}
	return b.send(w, r, status, rep)
}

// send is like write, for a representation that the caller has chosen. An error means that the client has gone.
func (b *body) send(w http.ResponseWriter, r *http.Request, status int, rep *representation) error {
	h := w.Header()
	if len(b.variants) > 1 {
		h["Vary"] = vary
	}
	if status == http.StatusOK { // responses such as 404 get no entity tag
		h["Etag"] = rep.etags
		if known := r.Header["If-None-Match"]; len(known) > 0 && matches(known, rep.etags[0]) {
			delete(h, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if rep.encodingHeader != nil {
		h["Content-Encoding"] = rep.encodingHeader
	}
	h["Content-Length"] = rep.contentLength
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(rep.bytes)
	return err
}

// matches reports whether If-None-Match lists the entity tag. It uses the weak comparison (RFC 9110 §13.1.2), because proxies
// that compress again make tags weak.
func matches(known []string, tag string) bool {
	for _, line := range known {
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimPrefix(strings.TrimSpace(part), "W/"); part == tag || part == "*" {
				return true
			}
		}
	}
	return false
}
