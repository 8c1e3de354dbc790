package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file decides which row changes a client that has subscribed to them gets.

// maySee reports whether the policy lets the member (a client that has joined a channel) read the row now. It looks up the member's rights
// only if the result depends on them.
func (s *Service) maySee(ctx context.Context, m *member, r *decodedChange) (bool, error) {
	c := s.callerOf(m)
	c.Admin = false // first without the rights of an administrator, because they need a query
	if visible(c, r) {
		return true, nil
	}
	if c.Role != identity.Authenticated {
		return false, nil
	}
	c, err := s.withRights(ctx, c)
	return err == nil && c.Admin && visible(c, r), err
}

// visible reports whether the policy lets a caller read the row of a change.
func visible(c identity.Caller, r *decodedChange) bool {
	grant := policy.Table(c, r.Table, policy.Select)
	if !grant.Allowed || grant.Rows.All() {
		return grant.Allowed
	}
	return !slices.ContainsFunc(grant.Rows, func(condition policy.Condition) bool {
		value, known := r.record[condition.Column]
		return !known || !meets(value, condition, r.At)
	})
}

// meets reports whether a JSON value met a condition when a change was recorded, at the time recordedAt. It does not read this node's clock,
// so that all nodes decide alike. recordedAt is cut to milliseconds: a time within its millisecond counts as past.
func meets(value json.RawMessage, c policy.Condition, recordedAt string) bool {
	if c.When == "" {
		return bytes.Equal(value, toJSON(c.Value))
	}
	var at *time.Time
	recorded, err := time.Parse(time.RFC3339, recordedAt)
	if err != nil || json.Unmarshal(value, &at) != nil {
		return false
	}
	if at == nil {
		return c.When != policy.Come
	}
	return at.Before(recorded.Add(time.Millisecond)) == (c.When != policy.NotCome)
}
