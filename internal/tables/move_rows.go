package tables

import (
	"context"
	"fmt"
	"slices"

	"atelie/internal/db"
)

// This file implements the functions that move rows to another place in the owner's order: move_work and the other functions of rpc.go
// whose names begin with move_. The rows of a table are ordered by their order keys (see order_key.go).

// maxMoved is the maximum number of rows that one call moves.
const maxMoved = 500

// places are the values of the argument place. For before and after, the argument target has the id of the row beside which the rows are
// moved.
var places = []string{"before", "after", "first", "last"}

// move contains the arguments of a call: which rows to move, and where.
type move struct {
	ids    []string // ids of the rows in their new order, without duplicates
	place  string   // one of places
	target string   // id of the row beside which they are moved, not one of ids; "" for first and last
}

// moveRows returns a function that moves rows of a table so that they follow one another in the order of the argument ids. It writes other
// rows only if no order keys are free at the place, so that all rows must get new keys. noun is what error texts call a row.
func moveRows(table, noun string) function {
	return function{params: []string{"ids", "place", "target"}, allowed: mayUpdate(table), call: func(s *Service, ctx context.Context, args map[string]any) (string, error) {
		m, err := readMove(noun, args)
		if err != nil || len(m.ids) == 0 {
			return "", err
		}
		return "", s.move(ctx, schema[table], noun, m)
	}}
}

// move gives the rows new order keys and records the rows for live clients. If there are no free keys at the place, it renumbers all rows.
func (s *Service) move(ctx context.Context, t *Table, noun string, m move) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := db.LockTable(ctx, tx, t.Name); err != nil { // two concurrent moves to one place would make the same keys
			return err
		}
		requested := m.ids // all ids that the call names; each must exist
		if m.target != "" {
			requested = append(slices.Clone(requested), m.target)
		}
		existing, err := queryTexts(ctx, tx, renderValue(tx.Dialect, t, t.Key, hasKey(t, requested)))
		if err != nil {
			return err
		}
		for _, id := range requested {
			if !slices.Contains(existing, id) {
				return errReorder("there is no " + noun + " " + id)
			}
		}
		recordDerived, err := s.watchDerived(ctx, tx, t, m.ids)
		if err != nil {
			return err
		}
		keys, ok, err := s.orderKeysFor(ctx, tx, t, m)
		if err != nil {
			return err
		}
		if ok {
			for i, id := range m.ids {
				st := renderUpdate(tx.Dialect, &Query{Table: t, Where: hasKey(t, []string{id})}, row{t.OrderKey: keys[i]})
				if err := db.Exec(ctx, tx, st.sql, st.args...); err != nil {
					return err
				}
			}
		} else if err := s.renumberAround(ctx, tx, t, m); err != nil {
			return err
		}
		if err := s.recordWritten(ctx, tx, t, m.ids, sameKeys(m.ids)); err != nil {
			return err
		}
		return recordDerived()
	})
}

func readMove(noun string, args map[string]any) (m move, err error) {
	if m.ids, err = rowIDs(noun, args["ids"]); err != nil {
		return m, err
	}
	if len(m.ids) > maxMoved {
		return m, errReorder(fmt.Sprintf("one call may move at most %d rows", maxMoved))
	}
	m.place, _ = args["place"].(string)
	if !slices.Contains(places, m.place) {
		return m, errReorder("place must be before, after, first or last")
	}
	if beside := m.place == "before" || m.place == "after"; beside != (args["target"] != nil) {
		return m, errReorder("target must be set if place is before or after, and only then")
	} else if !beside {
		return m, nil
	}
	target, err := fromJSON(UUID, args["target"])
	if err != nil {
		return m, err
	}
	m.target = target.(string)
	if slices.Contains(m.ids, m.target) {
		return m, errReorder("the " + noun + " " + m.target + " cannot move beside itself")
	}
	return m, nil
}

// orderKeysFor returns the new order keys of the moved rows. ok is false if there is no room for them between their neighbours. At the
// end of the table where new rows come, they get keys of that end, so that rows that are inserted later still come before or after them.
func (s *Service) orderKeysFor(ctx context.Context, tx *db.Tx, t *Table, m move) (keys []string, ok bool, err error) {
	others := Not{hasKey(t, m.ids)}
	findKey := func(desc bool, where ...Node) (key string, found bool, err error) {
		q := &Query{Table: t, Where: All(append(where, others)), Order: []Term{{Column: t.OrderKey, Desc: desc}}, Limit: new(int64(1))}
		got, err := queryTexts(ctx, tx, renderColumn(tx.Dialect, q, t.OrderKey))
		if err != nil || len(got) == 0 {
			return "", false, err
		}
		return got[0], true, nil
	}
	var low, high string
	hasLow, hasHigh := false, false
	switch m.place {
	case "last":
		low, hasLow, err = findKey(true)
	case "first":
		high, hasHigh, err = findKey(false)
	default:
		at, _, err := findKey(false, Compare{t.Key, Equal, m.target})
		if err != nil {
			return nil, false, err
		}
		twins, err := queryTexts(ctx, tx, renderValue(tx.Dialect, t, t.Key, All{Compare{t.OrderKey, Equal, at}, Not{hasKey(t, append(slices.Clone(m.ids), m.target))}}))
		if err != nil || len(twins) > 0 { // rows that another program has written may have equal keys
			return nil, false, err
		}
		if m.place == "after" {
			low, hasLow = at, true
			high, hasHigh, err = findKey(false, Compare{t.OrderKey, Greater, at})
		} else {
			high, hasHigh = at, true
			low, hasLow, err = findKey(true, Compare{t.OrderKey, Less, at})
		}
		if err != nil {
			return nil, false, err
		}
	}
	switch {
	case err != nil:
	case hasHigh && high == "": // a row without a key, of another program: nothing comes before it
	case t.NewLast && !hasHigh:
		keys, ok = lastOrderKeys(low, s.now(), m.ids)
	case !t.NewLast && !hasLow:
		keys, ok = firstOrderKeys(high, s.now(), m.ids)
	default:
		keys, ok = orderKeysBetween(low, high, len(m.ids))
	}
	return keys, ok, err
}

// renumberAround gives all rows new short keys in their order, with the moved rows at their new place. It is needed only if no keys are
// left there: after some thousand moves to one place, or if other programs wrote rows.
func (s *Service) renumberAround(ctx context.Context, tx *db.Tx, t *Table, m move) error {
	all, err := queryTexts(ctx, tx, renderKeys(tx.Dialect, &Query{Table: t, Order: []Term{{Column: t.OrderKey}}}))
	if err != nil {
		return err
	}
	order := slices.DeleteFunc(all, func(id string) bool { return slices.Contains(m.ids, id) })
	at := 0
	switch m.place {
	case "before":
		at = slices.Index(order, m.target)
	case "after":
		at = slices.Index(order, m.target) + 1
	case "last":
		at = len(order)
	}
	st := renderOrderKeys(tx.Dialect, t, slices.Insert(order, at, m.ids...))
	return db.Exec(ctx, tx, st.sql, st.args...)
}
