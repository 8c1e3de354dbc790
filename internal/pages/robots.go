package pages

import (
	"context"
	"net/http"
)

// Robots handles /robots.txt (RFC 9309), which tells crawlers of search engines what they should not request. It does not exclude /rest/ and
// /storage/, because crawlers that run scripts read the tables and the pictures there.
func (s *Service) Robots(w http.ResponseWriter, r *http.Request) error {
	return s.serveGenerated(w, r, "robots", "text/plain; charset=utf-8", func(context.Context) ([]byte, error) {
		return []byte("User-agent: *\nDisallow: /admin\nDisallow: /auth/\nDisallow: /functions/\nDisallow: /realtime/\n\nSitemap: " + s.cfg.SiteURL + "/sitemap.xml\n"), nil
	})
}
