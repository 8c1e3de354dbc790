package pages

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
)

// file is a file of the built site. Its body is made when somebody asks for it the first time.
type file struct {
	name    string // without a slash at its beginning
	headers []header
	body    func() (*body, error)
}

// packed ends the names of files of which the build left brotli's form alone (scripts/compress.mjs).
const packed = ".br"

// readFiles takes the built site into memory: less than a megabyte. What begins with a dot is the build's own business, and
// index.html is part of pages only.
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
		if plain, ok := strings.CutSuffix(name, packed); ok {
			files[plain] = &file{plain, fileHeaders(plain, nil), sync.OnceValues(func() (*body, error) { return unpack(content) })}
		} else {
			files[name] = &file{name, fileHeaders(name, content), sync.OnceValues(func() (*body, error) { return newBody(content, nil), nil })}
		}
		return nil
	})
	return files, err
}

// unpack gives what brotli's form holds, in the codings that browsers ask for. They take brotli over HTTPS alone.
func unpack(br []byte) (*body, error) {
	content, err := io.ReadAll(brotli.NewReader(bytes.NewReader(br)))
	if err != nil {
		return nil, fmt.Errorf("a file of the site is damaged: %w", err)
	}
	gz, err := gzipped(content)
	if err != nil {
		return nil, err
	}
	return newBody(content, map[string][]byte{"br": br, "gzip": gz}), nil
}

// fileHeaders: names under /assets carry a hash and never change; the others are asked for again after a while.
func fileHeaders(name string, content []byte) []header {
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(content)
	}
	lasting := "public, max-age=86400"
	if strings.HasPrefix(name, "assets/") {
		lasting = "public, max-age=31536000, immutable"
	}
	headers := []header{{"Content-Type", []string{kind}}, {"Cache-Control", []string{lasting}}, {"X-Content-Type-Options", []string{"nosniff"}}}
	if strings.HasSuffix(name, ".svg") {
		headers = append(headers, header{"Content-Security-Policy", []string{"default-src 'none'; style-src 'unsafe-inline'"}})
	}
	return headers
}

// asset serves a file of the built site and tells whether there was one.
func (s *Service) asset(w http.ResponseWriter, r *http.Request) (bool, error) {
	f := s.assets[strings.TrimPrefix(r.URL.Path, "/")]
	if f == nil {
		return false, nil // no such file: the address is a page's, or unknown
	}
	h := w.Header()
	for i := range f.headers {
		h[f.headers[i].name] = f.headers[i].values
	}
	b, err := f.body()
	if err != nil {
		return true, err
	}
	if len(b.variants) > 1 {
		return true, b.write(w, r, http.StatusOK)
	}
	whole := b.variants[0] // such as fonts and pictures, of which parts may be asked for
	h["Etag"] = whole.etags
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(whole.bytes))
	return true, nil
}
