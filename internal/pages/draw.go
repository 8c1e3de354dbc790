package pages

import (
	"context"
	"errors"
	"io/fs"

	"atelie/internal/pages/render"
)

// renderScript is the file with the site's script that draws pages on the server, compressed with brotli.
const renderScript = ".server/render.js.br"

// newRenderer returns the renderer of the built site. It returns nil if the site was built without the script; browsers then
// draw all pages.
func newRenderer(dist fs.FS) (*render.Renderer, error) {
	packed, err := fs.ReadFile(dist, renderScript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return render.New(packed), err
}

// draws reports whether the server draws the page of a view: all pages except those of the admin area.
func (s *Service) draws(v view) bool { return s.renderer != nil && !isAdminPath(v.path) }

// draw returns the drawn page of a view. It returns an empty page if the browser has to draw it, from the same boot data. ok
// is false after an error, which is logged.
func (s *Service) draw(ctx context.Context, v view, boot string) (drawn render.Page, ok bool) {
	if !s.draws(v) {
		return drawn, true
	}
	drawn, err := s.renderer.Render(ctx, v.path, boot)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a page could not be drawn on the server; the browser draws it", "path", v.path, "language", v.language, "cause", err.Error())
		return render.Page{}, false
	}
	return drawn, true
}

// Close frees the memory of the renderer.
func (s *Service) Close() error {
	if s.renderer == nil {
		return nil
	}
	return s.renderer.Close()
}
