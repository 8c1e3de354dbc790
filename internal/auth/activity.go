package auth

import (
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/activity"
	"atelie/internal/device"
)

// auditDetail is the part of an entry's detail that activity shows.
type auditDetail struct {
	Actor    string `json:"actor"`    // actorServiceKey, actorCommand, or "" for the account
	Method   string `json:"method"`   // of a sign-in
	Provider string `json:"provider"` // of a sign-in
	Changed  any    `json:"changed"`  // email or phone, or a list of fields that the service key has changed
}

// Activity returns the entries of the audit log that the owner sees as activity of the kinds, the newest first. They begin after a
// position; there are at most limit.
func (s *Service) Activity(ctx context.Context, kinds []activity.Kind, after activity.Position, limit int) ([]activity.Entry, error) {
	var actions []auditAction
	for kind, of := range activityActions {
		if slices.Contains(kinds, kind) {
			actions = append(actions, of...)
		}
	}
	if len(actions) == 0 {
		return nil, nil
	}
	found, err := olderAuditEntries(ctx, s.db, actions, after.At, after.Event, limit)
	if err != nil {
		return nil, err
	}
	list := make([]activity.Entry, len(found))
	for i, e := range found {
		if list[i], err = e.activity(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// activity returns the entry as the owner sees it. The account of the entry is the one that acted, unless the service key or a
// command did.
func (e auditEntry) activity() (activity.Entry, error) {
	out := activity.Entry{ID: e.id, At: e.createdAt.UTC(), Action: e.action}
	for kind, of := range activityActions {
		if slices.Contains(of, auditAction(e.action)) {
			out.Kind = kind
		}
	}
	var detail auditDetail
	if err := json.Unmarshal([]byte(e.detail), &detail); err != nil {
		return out, err
	}
	out.Method = detail.Method
	if detail.Provider != "" && detail.Provider != "email" && detail.Provider != "phone" {
		out.Method = detail.Provider
	}
	out.Title, _ = detail.Changed.(string)
	name := e.name()
	switch {
	case detail.Actor == actorServiceKey:
		out.By, out.Subject = activity.ByKey, name
	case detail.Actor == actorCommand:
		out.By, out.Subject = activity.ByCommand, name
	case e.userID == nil && out.Kind == activity.Key:
		out.By = activity.ByProgram
	case e.userID == nil:
		out.By = activity.ByNobody
	case e.isSSO == nil:
		out.By = activity.ByDeleted
	default:
		out.By, out.Account = activity.ByAccount, name
	}
	if e.ip != nil {
		out.IP = *e.ip
	}
	if e.agent != nil && *e.agent != "" {
		d := device.Parse(*e.agent)
		out.Device = &d
	}
	return out, nil
}
