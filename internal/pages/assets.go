package pages

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
)

// This file reads the files of the built site, such as scripts, fonts and icons, when the program starts, and sends them to browsers.
// It serves each file that the build contains, so a new file needs no change here.

// file is a file of the built site.
type file struct {
	name     string                // path of the file in the build, and of its URL, without a leading slash
	headers  http.Header           // response headers; all responses share the slices of values, so nothing may change them
	loadBody func() (*body, error) // returns the content in its encodings; only the first call creates it
}

// brotliSuffix ends the names of files that the build has compressed with brotli (scripts/compress.mjs). The build does not contain these
// files uncompressed.
const brotliSuffix = ".br"

// readFiles reads the files of the built site into memory (less than a megabyte), by the paths of their URLs. It leaves out index.html, which
// is the template of the pages, and files and folders whose names begin with a dot, which only the server uses.
func readFiles(dist fs.FS) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || name == "index.html":
			return nil
		}
		content, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		if original, ok := strings.CutSuffix(name, brotliSuffix); ok {
			headers := fileHeaders(original, nil /* no content: the extension of a compressed file determines the type */)
			files[original] = &file{original, headers, sync.OnceValues(func() (*body, error) { return unpack(content) })}
		} else {
			headers := fileHeaders(name, content)
			files[name] = &file{name, headers, sync.OnceValues(func() (*body, error) { return newFileBody(content, nil /* no other encodings */), nil })}
		}
		return nil
	})
	return files, err
}

// unpack returns a body for content that is compressed with brotli. The body has the content uncompressed, in brotli and in gzip. Gzip is
// for HTTP without TLS, over which browsers do not accept brotli.
func unpack(compressed []byte) (*body, error) {
	content, err := io.ReadAll(brotli.NewReader(bytes.NewReader(compressed)))
	if err != nil {
		return nil, fmt.Errorf("a file of the site is damaged: %w", err)
	}
	gzipped, err := compressGzip(content)
	if err != nil {
		return nil, err
	}
	return newFileBody(content, map[string][]byte{"br": compressed, "gzip": gzipped}), nil
}

// fileHeaders returns the headers of a file. Browsers may cache files under /assets for a year, because their names contain a
// hash of the content.
func fileHeaders(name string, content []byte) http.Header {
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(content)
	}
	lifetime := "public, max-age=86400"
	if strings.HasPrefix(name, "assets/") {
		lifetime = "public, max-age=31536000, immutable"
	}
	headers := http.Header{"Content-Type": {kind}, "Cache-Control": {lifetime}, "X-Content-Type-Options": {"nosniff"}}
	if strings.HasSuffix(name, ".svg") {
		headers.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	}
	return headers
}

// serveAsset serves a file of the built site and reports whether there is one.
func (s *Service) serveAsset(w http.ResponseWriter, r *http.Request) (bool, error) {
	f := s.assets[strings.TrimPrefix(r.URL.Path, "/")]
	if f == nil {
		return false, nil
	}
	h := w.Header()
	maps.Copy(h, f.headers)
	b, err := f.loadBody()
	if err != nil {
		return true, err
	}
	if len(b.variants) > 1 {
		return true, b.write(w, r, http.StatusOK)
	}
	whole := b.variants[0].encoded.Load() // such as fonts and pictures, which are not compressed; ServeContent handles Range requests
	h["Etag"] = whole.etags
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(whole.bytes))
	return true, nil
}
