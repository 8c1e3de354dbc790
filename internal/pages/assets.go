package pages

import (
	"bytes"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// file is a file of the built site, in the codings that the build made of it.
type file struct {
	name    string // without a slash at its beginning
	headers []header
	body    *body
}

// readFiles takes the built site into memory: some two megabytes. What begins with a dot is the build's own business, and
// index.html is part of pages only.
func readFiles(dist fs.FS) (map[string]*file, error) {
	contents := map[string][]byte{}
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
		contents[name], err = fs.ReadFile(dist, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	files := map[string]*file{}
	for name, content := range contents {
		if isForm(name, contents) {
			continue
		}
		forms := map[string][]byte{}
		for _, c := range codings {
			forms[c.name] = contents[name+c.suffix]
		}
		files[name] = &file{name, fileHeaders(name, content), newBody(content, forms)}
	}
	return files, nil
}

// isForm tells a file that the build made of another one by compression.
func isForm(name string, contents map[string][]byte) bool {
	for _, c := range codings {
		if origin, ok := strings.CutSuffix(name, c.suffix); ok && contents[origin] != nil {
			return true
		}
	}
	return false
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
	if len(f.body.variants) > 1 {
		return true, f.body.write(w, r, http.StatusOK)
	}
	whole := f.body.variants[0] // such as fonts and pictures, of which parts may be asked for
	h["Etag"] = whole.etags
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(whole.bytes))
	return true, nil
}
