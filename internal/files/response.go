package files

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// This file writes responses that contain a file.

// Body is the content of a file in a response: its bytes in memory, or the opened file.
type Body struct {
	Bytes []byte            // all bytes of the file; nil if File is set
	File  io.ReadSeekCloser // nil if Bytes is set
}

// Close closes the file.
func (b Body) Close() error {
	if b.File == nil {
		return nil
	}
	return b.File.Close()
}

// Write responds with the body. The caller must have set the other headers of the file with SetHeaders. modified is the value of the
// Last-Modified header; if modified is zero, the response has no such header.
func (b Body) Write(w http.ResponseWriter, r *http.Request, modified time.Time) {
	switch {
	case b.Bytes == nil:
		// ServeContent handles ranges and conditional requests, and uses sendfile for a file on disk. Its name argument is empty, because
		// SetHeaders has set the type.
		http.ServeContent(w, singleRange(r), "", modified, b.File)
	case !isPlainGet(r):
		http.ServeContent(w, singleRange(r), "", modified, bytes.NewReader(b.Bytes))
	default: // one Write is faster than ServeContent, which copies the bytes in pieces
		h := w.Header()
		h["Accept-Ranges"] = bytesUnit
		h["Content-Length"] = []string{strconv.Itoa(len(b.Bytes))}
		if !modified.IsZero() {
			h["Last-Modified"] = []string{modified.UTC().Format(http.TimeFormat)}
		}
		_, _ = w.Write(b.Bytes) // an error means that the client has gone
	}
}

// isPlainGet reports whether a request is a GET for the whole file without conditions.
func isPlainGet(r *http.Request) bool {
	for _, name := range [...]string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	return r.Method == http.MethodGet
}

// bytesUnit is a variable, so that no response allocates it.
var bytesUnit = []string{"bytes"}

// Values of headers that every response with a file has. noSniff keeps browsers from guessing the type of the file, and sandbox
// keeps them from running scripts in it.
var (
	noSniff = []string{"nosniff"}
	sandbox = []string{"default-src 'none'; sandbox"}
)

// SetHeaders sets the headers of a response with a file. Because of these headers, browsers do not run the file as a page of this
// origin. etag is without quotes.
func SetHeaders(h http.Header, mimeType, cacheControl, etag string) {
	h["Content-Type"] = []string{mimeType}
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = sandbox
	if h.Get("Cache-Control") != "no-store" { // httpx.Guard has set no-store for callers that are not anonymous
		h["Cache-Control"] = []string{cacheControl}
	}
	h["Etag"] = []string{Quote(etag)}
}

// SetAttachment makes the browser save the file instead of showing it. name is the proposed file name; with "" the browser
// chooses one.
func SetAttachment(h http.Header, name string) {
	h.Set("Content-Disposition", contentDisposition(name))
}

// Quote returns a checksum as an entity tag, the form of the ETag header.
func Quote(checksum string) string { return `"` + checksum + `"` }

// singleRange returns r, but without its Range header if that requests several ranges: the response is then the whole file,
// which RFC 9110 §14.2 allows.
func singleRange(r *http.Request) *http.Request {
	if strings.Contains(r.Header.Get("Range"), ",") {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	return r
}

// maxDownloadName is the maximum number of characters of a file name in SetAttachment. Longer names are truncated.
const maxDownloadName = 200

// contentDisposition returns a Content-Disposition header that makes the browser save the file. The header has the name twice:
// in ASCII for old programs (RFC 6266), and in full (RFC 8187). No name can end the header or contain a folder.
func contentDisposition(name string) string {
	runeCount := 0
	name = strings.Map(func(r rune) rune {
		switch runeCount++; {
		case runeCount > maxDownloadName, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case r == '/', r == '\\':
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if name = strings.Trim(name, " ."); name == "" {
		return "attachment"
	}
	ascii := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || r == '"' || r == '%' {
			return '_'
		}
		return r
	}, name)
	var full strings.Builder
	for i := range len(name) {
		if c := name[i]; isAttrChar(c) {
			full.WriteByte(c)
		} else {
			fmt.Fprintf(&full, "%%%02X", c)
		}
	}
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, ascii, full.String())
}

// isAttrChar reports whether RFC 8187 allows a byte without an escape.
func isAttrChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0
}
