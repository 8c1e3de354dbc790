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

// While the disk is nearly full, the owners get mails about it.
const (
	diskMailInterval      = 24 * time.Hour   // least time between two mails of all nodes together
	diskMailCheckInterval = 10 * time.Minute // how often a node asks the database whether a mail is due
)

// notifyOwnersOfLowDisk returns the function that Space.Run calls while space is low. It sends the mail when one is due.
func (a *App) notifyOwnersOfLowDisk(ctx context.Context) func(datafolder.Room) {
	var asked time.Time
	return func(datafolder.Room) {
		now := a.now()
		if !asked.IsZero() && now.Sub(asked) < diskMailCheckInterval {
			return
		}
		asked = now
		if _, err := a.Auth.NotifyOwners(ctx, auth.MailKind(mail.DiskLow), diskMailInterval); err != nil && ctx.Err() == nil {
			a.log.Error("the owners could not be told that the disk is nearly full", "cause", err.Error())
		}
	}
}

// checkSpace returns apperr.NoSpace while the disk of the data folder is full.
func checkSpace(space *datafolder.Space) error {
	if room := space.Room(); room.Level == datafolder.Full {
		return apperr.NoSpace.Becausef("%d bytes are free", room.Free)
	}
	return nil
}

// needsSpace wraps the handler of requests that store data. The result answers apperr.NoSpace while the disk of an SQLite
// database is full. Requests that free space, or that an owner needs for that (such as signing in), must not be wrapped.
func (a *App) needsSpace(h httpx.Handler) httpx.Handler {
	if a.DB.Dialect != db.SQLite {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := checkSpace(a.space); err != nil {
			return err
		}
		return h(w, r)
	}
}
