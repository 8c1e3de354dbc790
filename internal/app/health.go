package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/storage/blob"
)

// This file handles the health checks of load balancers and supervisors. The health that owners see is in site_health.go.

// live handles /health/live. The status is always 200. live checks nothing, because supervisors restart a process that is not live, and a
// restart would not make a slow database faster.
func (a *App) live(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, http.StatusOK, "ok", "" /* disk not checked */)
}

// readyTimeout limits the checks of /health/ready.
const readyTimeout = 2 * time.Second

// ready handles /health/ready. The status is 200 if the node (this server) can serve requests. The status is 503 if the node is stopping, if
// the database or the file store cannot be used, or if the disk is full.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	if a.stopping.Load() {
		writeHealth(w, http.StatusServiceUnavailable, "stopping", "" /* disk not checked */)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := a.DB.Ready(ctx); err != nil {
		if errors.Is(err, db.ErrUnavailable) {
			httpx.NoteError(r.Context(), httpx.ErrNoDatabase.Because(err)) // writes the error into the access log, as for other requests
		}
		a.notReady(w, "database", err)
		return
	}
	// Ready also checks that the file store contains the marker, an id of this site. Without that check, a store that was emptied, or a
	// wrong one that was mounted in its place, would count as ready.
	if err := a.blobs.Ready(ctx, a.marker); err != nil {
		a.notReady(w, "file store", err)
		return
	}
	switch a.space.Usage().Level {
	case datafolder.Full:
		writeHealth(w, http.StatusServiceUnavailable, "the disk is full: nothing new can be stored", "full")
	case datafolder.Low:
		writeHealth(w, http.StatusOK, "ok", "low")
	default:
		writeHealth(w, http.StatusOK, "ok", "" /* enough free space */)
	}
}

// notReady sends the status 503 and the name of the failing part ("database" or "file store"). The cause is only logged, because it can
// contain paths and host names, and anyone can read the response.
func (a *App) notReady(w http.ResponseWriter, part string, err error) {
	a.log.Error("not ready", "part", part, "cause", err.Error())
	reason := part + " does not respond"
	var missing db.MissingTables
	switch {
	case errors.As(err, &missing):
		reason = missing.Error()
	case errors.Is(err, db.ErrFileGone):
		reason = "the database file was removed or replaced"
	case errors.Is(err, blob.ErrNoMarker), errors.Is(err, blob.ErrOtherMarker):
		reason = "the file store is not the one that the program was started with, or was emptied"
	case errors.Is(err, fs.ErrNotExist):
		reason = "the folder for files is missing"
	}
	writeHealth(w, http.StatusServiceUnavailable, reason, "" /* disk not checked */)
}

// healthBody is the body of the responses to /health/live and /health/ready.
type healthBody struct {
	Status string `json:"status"`         // ok, or the reason why not
	Disk   string `json:"disk,omitempty"` // low or full, "" otherwise
}

// writeHealth sends a healthBody. text and disk are its fields Status and Disk.
func writeHealth(w http.ResponseWriter, status int, text, disk string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(healthBody{text, disk}) // an error means that the client has gone
}
