package auth

import (
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/activity"
	"atelie/internal/device"
)

// This file converts entries of the audit log (what happened to accounts) to entries of the activity log, which owners (accounts with
// the role admin) see in the admin area. To show a further action, add it to activityActions in audit.go.

// auditDetail is the part of an audit entry's detail (JSON) that the activity log shows to owners.
type auditDetail struct {
	Actor    string `json:"actor"`    // actorServiceKey; actorCommand (a command of the operator); or "" if the account acted
	Method   string `json:"method"`   // how the account signed in or tried to, such as password
	Provider string `json:"provider"` // provider of the identity, such as google
	Changed  any    `json:"changed"`  // "email" or "phone"; or a list of fields, if the service key has changed the account
}

// Activity returns at most limit entries of the given kinds, newest first: those that follow the position after.
func (s *Service) Activity(ctx context.Context, kinds []activity.Kind, after activity.Position, limit int) ([]activity.Entry, error) {
	var actions []auditAction
	for kind, kindActions := range activityActions {
		if slices.Contains(kinds, kind) {
			actions = append(actions, kindActions...)
		}
	}
	if len(actions) == 0 {
		return nil, nil
	}
	rows, err := olderAuditEntries(ctx, s.db, actions, after.At, after.Event, limit)
	if err != nil {
		return nil, err
	}
	entries := make([]activity.Entry, len(rows))
	for i, e := range rows {
		if entries[i], err = e.toActivityEntry(); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// toActivityEntry converts an audit entry to an entry of the activity log. The account of the audit entry becomes Entry.Account (who
// acted), or Entry.Subject (who was changed) if the service key or a command has acted.
func (e auditEntry) toActivityEntry() (activity.Entry, error) {
	entry := activity.Entry{ID: e.id, At: e.createdAt.UTC(), Action: e.action}
	for kind, kindActions := range activityActions {
		if slices.Contains(kindActions, auditAction(e.action)) {
			entry.Kind = kind
		}
	}
	var detail auditDetail
	if err := json.Unmarshal([]byte(e.detail), &detail); err != nil {
		return entry, err
	}
	entry.Method = detail.Method
	if detail.Provider != "" && detail.Provider != "email" && detail.Provider != "phone" {
		entry.Method = detail.Provider
	}
	entry.Title, _ = detail.Changed.(string) // "" for a list of fields
	name := e.accountName()
	switch {
	case detail.Actor == actorServiceKey:
		entry.By, entry.Subject = activity.ByKey, name
	case detail.Actor == actorCommand:
		entry.By, entry.Subject = activity.ByCommand, name
	case e.userID == nil && entry.Kind == activity.Key:
		entry.By = activity.ByProgram
	case e.userID == nil:
		entry.By = activity.ByNobody
	case e.isSSO == nil: // the account does not exist any more
		entry.By = activity.ByDeleted
	default:
		entry.By, entry.Account = activity.ByAccount, name
	}
	if e.ip != nil {
		entry.IP = *e.ip
	}
	if e.userAgent != nil && *e.userAgent != "" {
		d := device.Parse(*e.userAgent)
		entry.Device = &d
	}
	return entry, nil
}
