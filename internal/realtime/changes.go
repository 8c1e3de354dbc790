package realtime

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atelie/internal/db"
)

// This file records row changes (inserted, updated and deleted rows), and sends them to the clients that have subscribed to the table.

// Record stores row changes in the transaction that makes them. After the commit every node sends them to its clients.
func (s *Service) Record(ctx context.Context, tx *db.Tx, changes []db.RowChange) error {
	at := s.changedAt()
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

// RecordInserted is Record for inserted rows that the program does not have in memory. The database itself reads them with query, which
// must return each inserted row of the table as a JSON object.
func (s *Service) RecordInserted(ctx context.Context, tx *db.Tx, table, query string, args ...any) error {
	const placeholder = "null" // the database puts the row in its place
	event, err := json.Marshal(db.RowChange{Table: table, Type: db.Inserted, Record: json.RawMessage(placeholder), At: s.changedAt()})
	if err != nil {
		return err
	}
	prefix, suffix, _ := strings.Cut(string(event), placeholder)
	return s.bus.RecordRows(ctx, tx, kindChange, prefix, suffix, query, args...)
}

// changedAt returns the current time in the format of RowChange.At.
func (s *Service) changedAt() string { return s.now().UTC().Format("2006-01-02T15:04:05.000Z") }

// DeleteEvents deletes all recorded events whose payload contains one of the keys. keys are the primary keys of deleted rows.
func (s *Service) DeleteEvents(ctx context.Context, tx *db.Tx, keys ...string) error {
	return s.bus.DeleteContaining(ctx, tx, keys...)
}

// decodedChange is a row change with its columns decoded. deliverChange uses the columns to decide which members (clients that have joined
// a channel) receive the change.
type decodedChange struct {
	db.RowChange
	columns []db.ColumnType            // all columns of the table
	record  map[string]json.RawMessage // the new row; of a deleted row, only its key and the columns that the policy reads
	old     map[string]json.RawMessage // the key columns that an updated or deleted row had; nil for an inserted row
	bodies  map[string]json.RawMessage // cache of the encoded change (method body), by the list of columns that a subscriber has selected
}

// decodeChange decodes the columns of a recorded change.
func (s *Service) decodeChange(c db.RowChange) (*decodedChange, error) {
	r := &decodedChange{RowChange: c, columns: s.cfg.Tables[c.Table], bodies: map[string]json.RawMessage{}}
	if c.Old != nil {
		var old map[string]json.RawMessage
		if err := json.Unmarshal(c.Old, &old); err != nil {
			return nil, err
		}
		r.record, r.old = old, map[string]json.RawMessage{}
		for _, column := range r.columns {
			if value, ok := old[column.Name]; ok && column.Key {
				r.old[column.Name] = value
			}
		}
	}
	if c.Type != db.Deleted {
		r.record = nil // Unmarshal would add to the map with the old columns
		if err := json.Unmarshal(c.Record, &r.record); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// deliverChange sends a change to the members on this node who subscribed to the table and may see the row.
func (s *Service) deliverChange(ctx context.Context, c db.RowChange) error {
	watchers := membersOf(s, s.watchers, c.Table)
	if len(watchers) == 0 {
		return nil
	}
	r, err := s.decodeChange(c)
	if err != nil {
		return err
	}
	for _, m := range watchers {
		if s.expired(m) || !r.matchesAny(m) {
			continue
		}
		sees, err := s.maySee(ctx, m, r)
		if err != nil {
			s.dropUnverified(ctx, m, err)
			continue
		}
		if sees {
			r.send(m)
		}
	}
	return nil
}

func (r *decodedChange) matchesAny(m *member) bool {
	return slices.ContainsFunc(m.subscriptions, func(e subscription) bool { return r.matches(&e) })
}

// matches reports whether a subscription asks for this change. Filters can use only the key of a deleted row, as in Supabase.
func (r *decodedChange) matches(e *subscription) bool {
	if !e.covers(r.Table) || (e.Event != "*" && e.Event != r.Type) {
		return false
	}
	record := r.record
	if r.Type == db.Deleted {
		record = r.old
	}
	return !slices.ContainsFunc(e.conditions, func(c condition) bool { return !c.matches(record) })
}

// send sends the change to a member: one message for all of its subscriptions that select the same columns.
func (r *decodedChange) send(m *member) {
	ids := map[string][]int64{}
	selects := map[string][]string{}
	for i := range m.subscriptions {
		e := &m.subscriptions[i]
		if r.matches(e) {
			key := string(toJSON(e.Select))
			ids[key] = append(ids[key], e.ID)
			selects[key] = e.Select
		}
	}
	for key, list := range ids {
		payload := slices.Concat([]byte(`{"ids":`), toJSON(list), []byte(`,"data":`), r.body(key, selects[key]), []byte("}"))
		m.socket.send(encode(m.socket.v2, nil, nil, m.clientTopic(), eventChanges, payload))
	}
}

// body returns the data of a message with the selected columns and the key columns, or with all columns if none are selected.
// cacheKey is the key of the selection in r.bodies.
func (r *decodedChange) body(cacheKey string, selected []string) json.RawMessage {
	if body, ok := r.bodies[cacheKey]; ok {
		return body
	}
	columns, record := r.columns, r.Record
	if len(selected) > 0 {
		columns = nil
		values := map[string]json.RawMessage{}
		for _, c := range r.columns {
			if c.Key || slices.Contains(selected, c.Name) {
				columns = append(columns, c)
				values[c.Name] = r.record[c.Name]
			}
		}
		if record != nil {
			record = toJSON(values)
		}
	}
	body := toJSON(struct {
		Schema  string                     `json:"schema"`
		Table   string                     `json:"table"`
		At      string                     `json:"commit_timestamp"`
		Type    string                     `json:"type"`
		Columns []db.ColumnType            `json:"columns"`
		Record  json.RawMessage            `json:"record,omitempty"`
		Old     map[string]json.RawMessage `json:"old_record,omitempty"`
		Errors  []string                   `json:"errors"`
	}{"public", r.Table, r.At, r.Type, columns, record, r.old, nil})
	r.bodies[cacheKey] = body
	return body
}
