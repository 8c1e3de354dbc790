package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// The kinds of changes.
const (
	changeInsert = "INSERT"
	changeUpdate = "UPDATE"
	changeDelete = "DELETE"
)

// Change is one changed row. Record is the new row as JSON, Old the key of a row that was updated, or of a deleted one the
// key and the columns by which policy tells who could see it: only the key leaves the server.
type Change struct {
	Table  string          `json:"table"`
	Type   string          `json:"type"`
	Record json.RawMessage `json:"record,omitempty"`
	Old    json.RawMessage `json:"old,omitempty"`
	At     string          `json:"at"`
}

// Record writes changes down in the transaction that makes them.
func (s *Service) Record(ctx context.Context, tx *db.Tx, changes []Change) error {
	at := s.now().UTC().Format("2006-01-02T15:04:05.000Z")
	payloads := make([][]byte, len(changes))
	for i, c := range changes {
		c.At = at
		var err error
		if payloads[i], err = json.Marshal(c); err != nil {
			return err
		}
	}
	return s.bus.Record(ctx, tx, kindChange, payloads...)
}

// row is a change ready to be judged and sent.
type row struct {
	Change
	columns []Column
	judged  map[string]json.RawMessage // what policy and filters look at: the new row, or of a deleted one what is known
	old     map[string]json.RawMessage // the key
	bodies  map[string]json.RawMessage // the data of the message by the columns that were asked for
}

func (s *Service) row(c Change) (*row, error) {
	r := &row{Change: c, columns: s.cfg.Tables[c.Table], bodies: map[string]json.RawMessage{}}
	if c.Old != nil {
		var old map[string]json.RawMessage
		if err := json.Unmarshal(c.Old, &old); err != nil {
			return nil, err
		}
		r.judged, r.old = old, map[string]json.RawMessage{}
		for _, column := range r.columns {
			if value, there := old[column.Name]; there && column.Key {
				r.old[column.Name] = value
			}
		}
	}
	if c.Type != changeDelete {
		r.judged = nil
		if err := json.Unmarshal(c.Record, &r.judged); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// deliverChange sends a change to those who watch the table and may see the row.
func (s *Service) deliverChange(ctx context.Context, c Change) error {
	s.mu.Lock()
	watchers := members(s.watchers[c.Table])
	s.mu.Unlock()
	if len(watchers) == 0 {
		return nil
	}
	r, err := s.row(c)
	if err != nil {
		return err
	}
	for _, m := range watchers {
		if s.expired(m) || !r.wanted(m) {
			continue
		}
		sees, err := s.sees(ctx, m, r)
		if err != nil {
			s.cannotTell(ctx, m, err)
			continue
		}
		if sees {
			r.send(m)
		}
	}
	return nil
}

// sees asks policy whether the member may read the row now. Rights are looked up only where they decide.
func (s *Service) sees(ctx context.Context, m *member, r *row) (bool, error) {
	c := s.callerOf(m)
	c.Admin = false
	if visible(c, r) {
		return true, nil
	}
	if c.Role != identity.Authenticated {
		return false, nil
	}
	c, err := s.withStanding(ctx, c)
	return err == nil && c.Admin && visible(c, r), err
}

func visible(c identity.Caller, r *row) bool {
	grant := policy.Table(c, r.Table, policy.Select)
	if !grant.Allowed || grant.Rows.All() {
		return grant.Allowed
	}
	value, known := r.judged[grant.Rows.Column]
	return known && bytes.Equal(value, toJSON(grant.Rows.Value))
}

func (r *row) wanted(m *member) bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool { return r.matches(&e) })
}

// matches holds an entry against the change. Of a deleted row only the key can be filtered by, as in the reference.
func (r *row) matches(e *entry) bool {
	if !e.covers(r.Table) || (e.Event != "*" && e.Event != r.Type) {
		return false
	}
	record := r.judged
	if r.Type == changeDelete {
		record = r.old
	}
	for _, c := range e.conditions {
		if !c.holds(r.columns, record) {
			return false
		}
	}
	return true
}

// send sends one message for all entries that ask for the same columns.
func (r *row) send(m *member) {
	ids := map[string][]int64{}
	selects := map[string][]string{}
	for i := range m.entries {
		e := &m.entries[i]
		if r.matches(e) {
			key := string(toJSON(e.Select))
			ids[key] = append(ids[key], e.ID)
			selects[key] = e.Select
		}
	}
	for key, list := range ids {
		payload := slices.Concat([]byte(`{"ids":`), toJSON(list), []byte(`,"data":`), r.body(key, selects[key]), []byte("}"))
		m.socket.send(encode(m.socket.v2, nil, nil, m.full(), eventChanges, payload))
	}
}

// body gives the data of the message, with all columns or the asked ones and the key.
func (r *row) body(key string, asked []string) json.RawMessage {
	if body, done := r.bodies[key]; done {
		return body
	}
	columns, record := r.columns, r.Record
	if len(asked) > 0 {
		columns = nil
		kept := map[string]json.RawMessage{}
		for _, c := range r.columns {
			if c.Key || slices.Contains(asked, c.Name) {
				columns = append(columns, c)
				kept[c.Name] = r.judged[c.Name]
			}
		}
		if record != nil {
			record = toJSON(kept)
		}
	}
	body := toJSON(struct {
		Schema  string                     `json:"schema"`
		Table   string                     `json:"table"`
		At      string                     `json:"commit_timestamp"`
		Type    string                     `json:"type"`
		Columns []Column                   `json:"columns"`
		Record  json.RawMessage            `json:"record,omitempty"`
		Old     map[string]json.RawMessage `json:"old_record,omitempty"`
		Errors  []string                   `json:"errors"`
	}{"public", r.Table, r.At, r.Type, columns, record, r.old, nil})
	r.bodies[key] = body
	return body
}
