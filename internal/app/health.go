package app

import (
	"context"
	"net/http"
	"time"
)

// live says that the process answers; it looks at nothing else, so that a slow database does not get it killed.
func (a *App) live(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "ok") }

// ready says whether requests can be served now: not while stopping, and not without the database or the files.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	if a.stopping.Load() {
		writeHealth(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		a.log.Error("not ready", "cause", err.Error())
		writeHealth(w, http.StatusServiceUnavailable, "database does not answer")
		return
	}
	if err := a.blobs.Ready(ctx); err != nil {
		a.log.Error("not ready", "cause", err.Error())
		writeHealth(w, http.StatusServiceUnavailable, "file store does not answer")
		return
	}
	writeHealth(w, http.StatusOK, "ok")
}

func writeHealth(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"status":"` + text + `"}` + "\n")) // a caller that has gone needs no answer
}
