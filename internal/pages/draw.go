package pages

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"atelie/internal/pages/render"
)

// bundle is the site's script for the server. Its folder begins with a dot, so that it is no asset.
const bundle = ".server/render.js.gz"

// useBundle gives the service what draws its pages. A site that was built without it is drawn by browsers alone.
func (s *Service) useBundle(dist fs.FS) error {
	packed, err := fs.ReadFile(dist, bundle)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.renderer = render.New(packed)
	return err
}

// draws tells whether the server draws the page of a view. The owner's pages are drawn by browsers.
func (s *Service) draws(v view) bool { return s.renderer != nil && !ofOwner(v.path) }

// draw gives the page's elements, and those of them that belong into the head. When a page cannot be drawn it
// is empty, and the browser draws it from the same data.
func (s *Service) draw(ctx context.Context, v view, boot string) (head, body string, ok bool) {
	if !s.draws(v) {
		return "", "", true
	}
	elements, err := s.renderer.Render(ctx, v.path, boot)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a page is left to the browser to draw", "path", v.path, "language", v.language, "cause", err.Error())
		return "", "", false
	}
	head, body = cutPreloads(elements)
	return head, body, true
}

// cutPreloads takes away the links that React puts before the page. That of the most urgent picture belongs into the
// head; the others only say what stands a few lines below.
func cutPreloads(drawn string) (urgent, rest string) {
	for strings.HasPrefix(drawn, "<link ") {
		end := strings.Index(drawn, "/>") + len("/>") // React escapes > in attributes
		if strings.Contains(drawn[:end], `fetchPriority="high"`) {
			urgent += drawn[:end]
		}
		drawn = drawn[end:]
	}
	return urgent, drawn
}

// Close gives back what the engine holds.
func (s *Service) Close() error {
	if s.renderer == nil {
		return nil
	}
	return s.renderer.Close()
}
