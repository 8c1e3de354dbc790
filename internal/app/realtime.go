package app

import (
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/db"
	"atelie/internal/policy"
	"atelie/internal/realtime"
	"atelie/internal/tables"
)

// This file handles changes of rows: package realtime sends the changes to subscribed clients, and the data about deleted messages is deleted
// from other tables. Messages are rows of contact_submissions; replies to messages are rows of contact_replies.

// wireRealtime creates the service that sends live changes to clients.
func (a *App) wireRealtime(ctx context.Context) (err error) {
	a.Realtime, err = realtime.New(ctx, a.DB, a.Tokens, a.Auth.SessionStatuses, realtime.Config{
		Tables: tables.ColumnTypes(), MaxSockets: a.cfg.Realtime.MaxSockets, MaxPerIP: a.cfg.Realtime.MaxSocketsPerAddress,
	}, a.log, a.now)
	return err
}

// handleChanges is called with the changes of rows in the transaction that makes them:
//   - It stores the changes, so that subscribed clients receive them after the commit.
//   - It deletes the data about deleted messages from other tables.
//   - After an update of a message, it measures the owners' response time again.
func (a *App) handleChanges(ctx context.Context, tx *db.Tx, changes []db.RowChange) error {
	if err := a.deleteMessageData(ctx, tx, changes); err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(c db.RowChange) bool { return c.Table == "contact_submissions" && c.Type == db.Updated }) {
		if err := a.settings.MeasureResponseTime(ctx, tx); err != nil {
			return err
		}
	}
	return a.Realtime.Record(ctx, tx, changes)
}

// deleteMessageData finds the deleted messages and replies among changes. It deletes the data about them in other tables, such as recorded
// changes and jobs, and the pictures of deleted messages.
func (a *App) deleteMessageData(ctx context.Context, tx *db.Tx, changes []db.RowChange) error {
	var deletedIDs, messageIDs []string // the deleted messages and replies; only the deleted messages
	for _, c := range changes {
		isMessage := c.Table == "contact_submissions"
		isReply := c.Table == "contact_replies"
		if c.Type != db.Deleted || (!isMessage && !isReply) {
			continue
		}
		var key struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(c.Old, &key); err != nil {
			return err
		}
		deletedIDs = append(deletedIDs, key.ID)
		if isMessage {
			messageIDs = append(messageIDs, key.ID)
		}
	}
	if len(deletedIDs) == 0 {
		return nil
	}
	if err := a.Realtime.DeleteEvents(ctx, tx, deletedIDs...); err != nil {
		return err
	}
	for _, id := range messageIDs {
		if err := a.Storage.RemoveFolder(ctx, tx, policy.ConversationBucket, id); err != nil {
			return err
		}
	}
	return a.Functions.CleanUpMessages(ctx, tx, messageIDs...)
}
