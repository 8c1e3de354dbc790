package app

import (
	"net/http"
	"strings"
	"time"

	"atelie/internal/content"
	"atelie/internal/httpx"
	"atelie/internal/metrics"
	"atelie/internal/pages"
)

// This file collects the metrics (numbers about the running program, for Prometheus) and counts requests for them.

// wireMetrics creates the metrics if the operator has set an address at which Prometheus reads them. Otherwise metrics are off, and nothing
// is counted. wireMetrics must be called after the services whose numbers it reads have been created.
func (a *App) wireMetrics() {
	if a.cfg.Server.MetricsListen == "" {
		return
	}
	a.metrics = metrics.New(metrics.Sources{
		Version: a.cfg.Build, DB: a.DB, Jobs: a.Jobs, Space: a.space, Sockets: a.Realtime.Sockets, Mails: a.Mail.Attempts, Backup: a.backupState,
		Caches: map[string]*content.Lookups{
			"pages": a.pages.Lookups(), "responses": a.responses.Lookups(), "files": a.Storage.BlobCacheLookups(),
			"file_rows": a.Storage.RowLookups(), "rendition_rows": a.Media.RowLookups(),
		},
	}, a.log)
}

// newObserver returns the function that counts requests for the metrics, or nil if metrics are off. Requests are counted by surface (a part
// of the API with its own prefix, such as /auth/v1). findSurface returns the surface of a path: surfaceOf or otherSurface.
func (a *App) newObserver(findSurface func(path string) metrics.Surface) httpx.Observer {
	if a.metrics == nil {
		return nil
	}
	return func(r *http.Request, status int, duration time.Duration) {
		a.metrics.Observe(findSurface(r.URL.Path), status, duration)
	}
}

// surfaceOf returns the surface that handles a path of the site.
func surfaceOf(path string) metrics.Surface {
	switch {
	case strings.HasPrefix(path, "/storage/v1/render/"):
		return metrics.Render
	case strings.HasPrefix(path, "/storage/v1/"):
		return metrics.Storage
	case strings.HasPrefix(path, "/rest/v1/"):
		return metrics.Rest
	case strings.HasPrefix(path, "/auth/v1/"):
		return metrics.Auth
	case strings.HasPrefix(path, "/functions/v1/"):
		return metrics.Functions
	case strings.HasPrefix(path, "/realtime/v1/"):
		return metrics.Realtime
	case strings.HasPrefix(path, "/health/"), path == pages.ReportPath:
		return metrics.Other
	}
	return metrics.Pages
}

// otherSurface returns metrics.Other for every path. It is for the listener of plain HTTP while the site has HTTPS, because that listener
// serves no surface.
func otherSurface(string) metrics.Surface { return metrics.Other }
