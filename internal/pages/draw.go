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

// notFound is drawn for all addresses that lead nowhere: they share one page, and what stands in them is nobody's business.
const notFound = "/404"

// useBundle gives the service what draws its pages. A site that was built without it is drawn by browsers alone.
func (s *Service) useBundle() error {
	packed, err := fs.ReadFile(s.dist, bundle)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.renderer = render.New(packed)
	return err
}

// drawnPath is the path that the components are given, in which nothing stands that a visitor chose freely; "" for the
// owner's pages, which are drawn by browsers.
func drawnPath(v view) string {
	if wall, ok := wallOf(v.path); ok {
		return "/gallery/" + wall
	}
	switch {
	case v.path == "/" || v.path == "/politica-privacidade":
		return v.path
	case v.path == "/admin" || strings.HasPrefix(v.path, "/admin/"):
		return ""
	}
	return notFound
}

// draw gives the page's elements, and those of them that belong into the head. When the page cannot be drawn it is empty,
// and the browser draws it from the same data.
func (s *Service) draw(ctx context.Context, v view, boot string) (head, body string) {
	path := drawnPath(v)
	if s.renderer == nil || path == "" {
		return "", ""
	}
	drawn, err := s.renderer.Render(ctx, path, boot)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "a page is left to the browser to draw", "path", path, "language", v.language, "cause", err.Error())
		return "", ""
	}
	return cutPreloads(drawn)
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
