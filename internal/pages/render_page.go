package pages

import (
	"context"
	"errors"
	"io/fs"

	"atelie/internal/pages/render"
)

// This file renders pages on the server, with package render.

// renderBytecode is the path, within the build, of the bytecode of the script that renders pages on the server. It is compressed with
// brotli.
const renderBytecode = ".server/render.bytecode.br"

// newRenderer returns the renderer of the built site. It returns nil if the build has no file renderBytecode. In this case browsers
// render all pages.
func newRenderer(dist fs.FS) (*render.Renderer, error) {
	packed, err := fs.ReadFile(dist, renderBytecode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return render.New(packed), err
}

// isServerRendered reports whether the server renders the page of a view. If there is a renderer, it renders all pages except those of the
// admin area.
func (s *Service) isServerRendered(v view) bool { return s.renderer != nil && !isAdminPath(v.path) }

// renderPage renders the page of a view (what a URL selects) from its boot data (the JSON in the page from which its scripts start).
// inAdvance is true if no visitor waits for the page. For a page that the server never renders, renderPage returns an empty page and true.
// After an error, which it logs, it returns an empty page and false. In both cases the browser renders the page.
func (s *Service) renderPage(ctx context.Context, v view, bootJSON string, inAdvance bool) (page render.Page, ok bool) {
	if !s.isServerRendered(v) {
		return page, true
	}
	renderFunc := s.renderer.Render
	if inAdvance {
		renderFunc = s.renderer.RenderInAdvance
	}
	page, err := renderFunc(ctx, v.path, bootJSON)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a page could not be rendered on the server; the browser renders it", "path", v.path, "language", v.language, "cause", err.Error())
		return render.Page{}, false
	}
	return page, true
}

// Close frees the memory of the renderer.
func (s *Service) Close() error {
	if s.renderer == nil {
		return nil
	}
	return s.renderer.Close()
}
