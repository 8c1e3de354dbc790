package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// body is content in all codings that it is kept in, the first ones preferred.
type body struct {
	variants []variant
	tight    bool // as small as brotli makes it
	madeOf   [sha256.Size]byte
}

// variant is a body in one coding. Each has an entity tag of its own, for they are different bytes (RFC 9110 §8.8.3.3).
// The header's values are made once: an answer takes them as they are.
type variant struct {
	coding                  string // as Content-Encoding names it, "" for none
	bytes                   []byte
	encoding, length, etags []string
}

// codings in the order in which they are chosen, as Content-Encoding names them.
var codings = []string{"br", "zstd", "gzip"}

// pageQuality is brotli's for pages, which are compressed while somebody waits: 5 takes 2 ms for 60 kB, 11 takes 100.
// The window of 2^18 bytes holds a page; the usual one takes megabytes each time.
const (
	pageQuality = 5
	pageWindow  = 18
)

var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<pageWindow), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
})

// compress makes a body of content, in every coding.
func compress(content []byte) (*body, error) {
	br, err := brotlied(content, pageQuality)
	if err != nil {
		return nil, err
	}
	gz, err := gzipped(content)
	if err != nil {
		return nil, err
	}
	encoder, err := zstdEncoder()
	if err != nil {
		return nil, err
	}
	return newBody(content, map[string][]byte{"br": br, "zstd": encoder.EncodeAll(content, nil), "gzip": gz}), nil
}

// tightened is the same body with its brotli form as small as it gets.
func (b *body) tightened() (*body, error) {
	br, err := brotlied(b.plain(), brotli.BestCompression)
	if err != nil {
		return nil, err
	}
	forms := map[string][]byte{}
	for _, v := range b.variants {
		forms[v.coding] = v.bytes
	}
	forms["br"] = br
	t := newBody(b.plain(), forms)
	t.tight, t.madeOf = true, b.madeOf
	return t, nil
}

// brotlied packs with a quality of 0 to 11.
func brotlied(content []byte, quality int) ([]byte, error) {
	var out bytes.Buffer
	w := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: quality, LGWin: pageWindow})
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func gzipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// newBody takes content and its forms by coding; those that are not there are not offered, nor those that save nothing.
func newBody(content []byte, forms map[string][]byte) *body {
	b := &body{}
	for _, c := range codings {
		if form := forms[c]; len(form) > 0 && len(form) < len(content) {
			b.variants = append(b.variants, variant{
				coding: c, bytes: bytes.Clone(form), encoding: []string{c}, length: []string{strconv.Itoa(len(form))}, etags: []string{tagOf(form)},
			})
		}
	}
	b.variants = append(b.variants, variant{bytes: content, length: []string{strconv.Itoa(len(content))}, etags: []string{tagOf(content)}})
	return b
}

// tagOf names bytes; a coding packed anew is another representation.
func tagOf(bytes []byte) string {
	sum := sha256.Sum256(bytes)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// plain is the content itself.
func (b *body) plain() []byte { return b.variants[len(b.variants)-1].bytes }

// size in bytes of memory.
func (b *body) size() (n int) {
	for _, v := range b.variants {
		n += len(v.bytes) + 200
	}
	return n
}

// choose picks by Accept-Encoding (RFC 9110 §12.5.3): the first of ours that is accepted, however little, and the
// identity otherwise.
func (b *body) choose(accepted []string) *variant {
	for i := range b.variants {
		if v := &b.variants[i]; v.coding == "" || accepts(accepted, v.coding) {
			return v
		}
	}
	return &b.variants[len(b.variants)-1]
}

// accepts tells whether a coding is named with a weight above 0, or else * is.
func accepts(accepted []string, coding string) bool {
	named, anything := false, false
	for _, line := range accepted {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, weighted := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if name != "*" && !strings.EqualFold(name, coding) {
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

// varies is the value of Vary for what is kept in several codings.
var varies = []string{"Accept-Encoding"}

// write answers with the form that the caller takes, or with 304 when it has that one. The other headers must be set.
func (b *body) write(w http.ResponseWriter, r *http.Request, status int) error {
	v := b.choose(r.Header["Accept-Encoding"])
	h := w.Header()
	if len(b.variants) > 1 {
		h["Vary"] = varies
	}
	if status == http.StatusOK { // of an address that is not there nothing is to be kept
		h["Etag"] = v.etags
		if known := r.Header["If-None-Match"]; len(known) > 0 && matches(known, v.etags[0]) {
			delete(h, "Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if v.coding != "" {
		h["Content-Encoding"] = v.encoding
	}
	h["Content-Length"] = v.length
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(v.bytes)
	return err
}

// matches compares If-None-Match, weakly as RFC 9110 §13.1.2 wants it: proxies that compress anew weaken tags.
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
