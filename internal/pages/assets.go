package pages

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// asset serves a file of the built site and tells whether there was one. Names under /assets carry a hash and never
// change; the others are asked for again after a while.
func (s *Service) asset(w http.ResponseWriter, r *http.Request) (bool, error) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" || name == "index.html" || strings.HasPrefix(path.Base(name), ".") || strings.HasPrefix(name, ".") {
		return false, nil
	}
	stat, err := fs.Stat(s.dist, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || (err == nil && stat.IsDir()) {
		return false, nil // no such file: the address is a page's, or unknown
	}
	if err != nil {
		return false, err
	}
	body, err := fs.ReadFile(s.dist, name)
	if err != nil {
		return false, err
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=86400")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.HasSuffix(name, ".svg") {
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	return true, nil
}
