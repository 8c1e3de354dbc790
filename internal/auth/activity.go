package auth

import (
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/activity"
	"atelie/internal/device"
)

// There are two logs. The audit log, which belongs to this package, says what happened to accounts. The activity log is what owners
// (accounts with the role admin) see in the admin area: package activity merges entries of the audit log with its own entries. This file
// converts entries of the audit log to entries of the activity log. To show a further action there, add it to activityActions in audit.go.

// auditDetail is the part of an audit entry's detail (JSON) that the activity log shows to owners.
type auditDetail struct {
	// Actor is actorServiceKey (a program with the service key, the API key with full rights), actorCommand (a command of the operator, who
	// runs the server), or "" (the account itself).
	Actor    string `json:"actor"`
	Method   string `json:"method"`   // how the account signed in or tried to, such as password
	Provider string `json:"provider"` // provider of the identity, such as google
	Changed  any    `json:"changed"`  // "email" or "phone"; a list of field names if the service key has changed the account
}

// Activity returns a page of at most limit entries of the given kinds, the newest first. previous is the position at which the previous
// page ended. All entries of the page are older than previous, or have the same time and a larger id.
func (s *Service) Activity(ctx context.Context, kinds []activity.Kind, previous activity.Position, limit int) ([]activity.Entry, error) {
	var actions []auditAction
	for kind, kindActions := range activityActions {
		if slices.Contains(kinds, kind) {
			actions = append(actions, kindActions...)
		}
	}
	if len(actions) == 0 {
		return nil, nil
	}
	rows, err := olderAuditEntries(ctx, s.db, actions, previous.At, previous.Event, limit)
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

// toActivityEntry converts an audit entry to an entry of the activity log. If the account itself acted, Entry.Account is that account. If
// the service key or a command changed the account, Entry.Subject is the account.
func (e auditEntry) toActivityEntry() (activity.Entry, error) {
	entry := activity.Entry{ID: e.id, At: e.createdAt.UTC(), Action: e.action, IP: e.ip}
	for kind, kindActions := range activityActions {
		if slices.Contains(kindActions, auditAction(e.action)) {
			entry.Kind = kind
		}
	}
	var detail auditDetail
	if err := json.Unmarshal([]byte(e.detail), &detail); err != nil {
		return entry, err
	}
	// For a sign-in at a provider, its name says more than the method, such as oauth.
	entry.Method = detail.Method
	if detail.Provider != "" && detail.Provider != "email" && detail.Provider != "phone" {
		entry.Method = detail.Provider
	}
	entry.Title, _ = detail.Changed.(string) // "" for a list of fields
	switch {
	case detail.Actor == actorServiceKey:
		entry.By, entry.Subject = activity.ByKey, e.name
	case detail.Actor == actorCommand:
		entry.By, entry.Subject = activity.ByCommand, e.name
	case e.userID == nil && entry.Kind == activity.KindSecurity: // such as the rotation of a signing key
		entry.By = activity.ByProgram
	case e.userID == nil: // such as a refused sign-in to an unknown address
		entry.By = activity.ByNobody
	case e.isSSO == nil: // the account does not exist any more
		entry.By = activity.ByDeleted
	default:
		entry.By, entry.Account = activity.ByAccount, e.name
	}
	if e.userAgent != "" {
		entry.Device = new(device.Parse(e.userAgent))
	}
	return entry, nil
}
