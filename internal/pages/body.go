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

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// body is the content of a response in all encodings (HTTP's content codings). It is compressed once for all requests.
type body struct {
	variants     []variant         // the preferred encoding first, the uncompressed content last
	recompressed bool              // whether the brotli variant has brotli's best quality
	inputsHash   [sha256.Size]byte // pageInputs.hash of a page; zero for a file
}

// variant is the content of a body in one encoding. Each variant has its own entity tag (RFC 9110 §8.8.3.3). All responses share
// the slices of header values, so nothing may change their elements.
type variant struct {
	encoding                             string // one of encodings, or "" for the uncompressed content
	bytes                                []byte
	encodingHeader, contentLength, etags []string // header values
}

// encodings are the values of Content-Encoding in the order of preference.
var encodings = []string{"br", "zstd", "gzip"}

// pageQuality is brotli's quality for pages that a request waits for. Quality 5 takes 2 ms for 60 kB; the best, 11, takes 100 ms.
// pageWindow is the base-2 logarithm of the window size in bytes. A page fits into 2^18 bytes, and a compressor with the default
// window would allocate megabytes for each page.
const (
	pageQuality = 5
	pageWindow  = 18
)

// zstdEncoder returns the encoder, which all pages share. It takes a megabyte of memory, and the next better level would take five.
// That level would help few visitors, because browsers that support zstd also support brotli.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<pageWindow), zstd.WithEncoderLevel(zstd.SpeedDefault))
})

// compressPage returns a body with the content of a page in every encoding.
func compressPage(content []byte) (*body, error) {
	br, err := compressBrotli(content, pageQuality)
	if err != nil {
		return nil, err
	}
	gz, err := compressGzip(content)
	if err != nil {
		return nil, err
	}
	encoder, err := zstdEncoder()
	if err != nil {
		return nil, err
	}
	return newBody(content, map[string][]byte{"br": br, "zstd": encoder.EncodeAll(content, nil), "gzip": gz}), nil
}

// recompress returns a copy of the body whose brotli variant is compressed with the best quality.
func (b *body) recompress() (*body, error) {
	br, err := compressBrotli(b.plain(), brotli.BestCompression)
	if err != nil {
		return nil, err
	}
	forms := map[string][]byte{}
	for _, v := range b.variants {
		forms[v.encoding] = v.bytes
	}
	forms["br"] = br
	r := newBody(b.plain(), forms)
	r.recompressed, r.inputsHash = true, b.inputsHash
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

// newBody returns a body from content and its compressed forms by encoding. It leaves out forms that are not smaller than
// content.
func newBody(content []byte, forms map[string][]byte) *body {
	b := &body{}
	for _, c := range encodings {
		if form := forms[c]; len(form) > 0 && len(form) < len(content) {
			b.variants = append(b.variants, variant{
				encoding: c, bytes: bytes.Clone(form), encodingHeader: []string{c}, contentLength: []string{strconv.Itoa(len(form))}, etags: []string{newEntityTag(form)},
			})
		}
	}
	b.variants = append(b.variants, variant{bytes: content, contentLength: []string{strconv.Itoa(len(content))}, etags: []string{newEntityTag(content)}})
	return b
}

func newEntityTag(bytes []byte) string {
	sum := sha256.Sum256(bytes)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// plain returns the uncompressed content.
func (b *body) plain() []byte { return b.variants[len(b.variants)-1].bytes }

// size returns the approximate memory of the body in bytes.
func (b *body) size() (n int) {
	for _, v := range b.variants {
		n += len(v.bytes) + 200 // an estimate for the headers
	}
	return n
}

// chooseVariant returns the variant for the values of Accept-Encoding (RFC 9110 §12.5.3): the first in our order of preference whose
// weight is above 0, or the uncompressed one.
func (b *body) chooseVariant(accepted []string) *variant {
	for i := range b.variants {
		if v := &b.variants[i]; v.encoding == "" || accepts(accepted, v.encoding) {
			return v
		}
	}
	return &b.variants[len(b.variants)-1]
}

// accepts reports whether Accept-Encoding lists a encoding with a weight above 0. If it does not list the encoding, the
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
	v := b.chooseVariant(r.Header["Accept-Encoding"])
	h := w.Header()
	if len(b.variants) > 1 {
		h["Vary"] = vary
	}
	if status == http.StatusOK { // responses such as 404 get no entity tag
		h["Etag"] = v.etags
		if known := r.Header["If-None-Match"]; len(known) > 0 && matches(known, v.etags[0]) {
			delete(h, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if v.encoding != "" {
		h["Content-Encoding"] = v.encodingHeader
	}
	h["Content-Length"] = v.contentLength
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(v.bytes)
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
