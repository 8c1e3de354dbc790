package app

import (
	"context"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/auth"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/mail"
)

// This file mails the owners (the administrators of the site) while the disk is nearly full, and refuses requests that store data while the
// disk is full.

// Intervals of the mails to the owners while the disk is nearly full.
const (
	diskMailInterval      = 24 * time.Hour   // minimum time between two mails, whichever node (server of the site) sends them
	diskMailCheckInterval = 10 * time.Minute // how often a node reads from the database whether a mail is due
)

// newLowDiskNotifier returns a function that mails the owners about the disk if a mail is due. datafolder.Space.Run calls the function at
// intervals while little space is free.
func (a *App) newLowDiskNotifier(ctx context.Context) func(datafolder.Usage) {
	var lastCheck time.Time
	return func(datafolder.Usage) {
		now := a.now()
		if !lastCheck.IsZero() && now.Sub(lastCheck) < diskMailCheckInterval {
			return
		}
		lastCheck = now
		const cause = "" // the mail quotes no error
		if _, err := a.Auth.NotifyOwners(ctx, auth.MailKind(mail.DiskLow), cause, diskMailInterval); err != nil && ctx.Err() == nil {
			a.log.Error("the owners could not be told that the disk is nearly full", "cause", err.Error())
		}
	}
}

// checkSpace returns apperr.NoSpace while the disk of the data folder is full.
func checkSpace(space *datafolder.Space) error {
	if usage := space.Usage(); usage.Level == datafolder.Full {
		return apperr.NoSpace.Becausef("%d bytes are free", usage.Free)
	}
	return nil
}

// checkRowSpace is like checkSpace, but returns nil with PostgreSQL, because the rows are not in the data folder then.
func (a *App) checkRowSpace() error {
	if a.DB.Dialect != db.SQLite {
		return nil
	}
	return checkSpace(a.space)
}

// needsSpace wraps a handler that stores data. Requests fail with apperr.NoSpace while there is no space for rows. Handlers that free space,
// or that an owner needs in order to free space (such as signing in), must not be wrapped.
func (a *App) needsSpace(h httpx.Handler) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.checkRowSpace(); err != nil {
			return err
		}
		return h(w, r)
	}
}
