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

// This file decides whether a client may see a changed row. Clients receive only changes of rows that they could also read.

// maySee reports whether the policy (package policy) lets the member (a client that has joined a channel) read the changed row now. It
// looks up whether the member is an administrator only if the result depends on that.
func (s *Service) maySee(ctx context.Context, m *member, r *decodedChange) (bool, error) {
	c := s.callerOf(m)
	c.Admin = false // first without the rights of an administrator, because these need a query
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
	// The row must meet all conditions. A condition on a column that the change does not have is not met.
	return !slices.ContainsFunc(grant.Rows, func(condition policy.Condition) bool {
		value, known := r.record[condition.Column]
		return !known || !meets(value, condition, r.At)
	})
}

// meets reports whether value (JSON) met a condition at recordedAt, the time at which the change was recorded. It compares times with
// recordedAt and not with this node's clock, so that all nodes decide alike. recordedAt was rounded down to a millisecond, so a time within
// that millisecond counts as past.
func meets(value json.RawMessage, c policy.Condition, recordedAt string) bool {
	if c.When == "" {
		return bytes.Equal(value, toJSON(c.Value))
	}
	var at *time.Time // nil for null
	recorded, err := time.Parse(time.RFC3339, recordedAt)
	if err != nil || json.Unmarshal(value, &at) != nil {
		return false
	}
	if at == nil {
		return c.When != policy.Come // null meets ComeOrNull and NotCome
	}
	isPast := at.Before(recorded.Add(time.Millisecond))
	return isPast == (c.When != policy.NotCome) // NotCome requires a time in the future, the others one in the past
}
