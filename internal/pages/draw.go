package pages

import (
	"context"
	"errors"
	"io/fs"

	"atelie/internal/pages/render"
)

// renderScript is the path in the build of the script that draws pages on the server. It is compressed with brotli.
const renderScript = ".server/render.js.br"

// newRenderer returns the renderer of the built site. It returns nil if the build has no such script. In this case browsers draw
// all pages.
func newRenderer(dist fs.FS) (*render.Renderer, error) {
	packed, err := fs.ReadFile(dist, renderScript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return render.New(packed), err
}

// drawsOnServer reports whether the server draws the page of a view. It draws all pages except those of the admin area.
func (s *Service) drawsOnServer(v view) bool { return s.renderer != nil && !isAdminPath(v.path) }

// draw draws the page of a view from its boot data. It returns an empty page if the browser has to draw the page instead. ok is
// false if that is because of an error, which draw logs. inAdvance is whether no visitor waits for the page.
func (s *Service) draw(ctx context.Context, v view, bootJSON string, inAdvance bool) (drawn render.Page, ok bool) {
	if !s.drawsOnServer(v) {
		return drawn, true
	}
	draw := s.renderer.Render
	if inAdvance {
		draw = s.renderer.RenderInAdvance
	}
	drawn, err := draw(ctx, v.path, bootJSON)
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
