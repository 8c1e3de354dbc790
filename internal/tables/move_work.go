package tables

import (
	"context"
	"fmt"
	"slices"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// maxMoved is the largest number of works that one call of move_work moves.
const maxMoved = 500

// places are the allowed values of move_work's argument place. The first two are relative to another work, the target.
var places = []string{"before", "after", "first", "last"}

// move contains the arguments of a call of move_work.
type move struct {
	ids    []string // the works, in their new order; each once
	place  string   // where the works move to: one of places
	target string   // id of a work that is not among ids; "" for the places first and last
}

// moveWork is the function move_work. It moves works, which afterwards follow each other in the order of the argument ids. It writes no
// other rows, unless there is no room for their keys (renumberAround).
func (s *Service) moveWork(ctx context.Context, args map[string]any) (string, error) {
	if caller := identity.Of(ctx); !policy.MoveWorks(caller) {
		return "", errDenied(caller, "function move_work")
	}
	m, err := readMove(args)
	if err != nil || len(m.ids) == 0 {
		return "", err
	}
	t := schema["products"]
	return "", s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lock(ctx, tx, t); err != nil { // two moves between the same works would get the same keys
			return err
		}
		named := m.ids
		if m.target != "" {
			named = append(slices.Clone(named), m.target)
		}
		existing, err := queryTexts(ctx, tx, renderValue(tx.Dialect, t, t.Key, hasKey(t, named)))
		if err != nil {
			return err
		}
		for _, id := range named {
			if !slices.Contains(existing, id) {
				return errReorder("there is no work " + id)
			}
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
		return s.recordWritten(ctx, tx, t, m.ids, unchangedKeys(m.ids))
	})
}

func readMove(args map[string]any) (m move, err error) {
	if m.ids, err = rowIDs("work", args["ids"]); err != nil {
		return m, err
	}
	if len(m.ids) > maxMoved {
		return m, errReorder(fmt.Sprintf("one call may move at most %d works", maxMoved))
	}
	m.place, _ = args["place"].(string)
	if !slices.Contains(places, m.place) {
		return m, errReorder("place must be before, after, first or last")
	}
	if beside := m.place == "before" || m.place == "after"; beside != (args["target"] != nil) {
		return m, errReorder("target is for the places before and after alone")
	} else if !beside {
		return m, nil
	}
	target, err := fromJSON(UUID, args["target"])
	if err != nil {
		return m, err
	}
	m.target = target.(string)
	if slices.Contains(m.ids, m.target) {
		return m, errReorder("the work " + m.target + " cannot move beside itself")
	}
	return m, nil
}

// orderKeysFor returns the new order keys of the moved works. ok is false if there is no room for them between their neighbours.
func (s *Service) orderKeysFor(ctx context.Context, tx *db.Tx, t *Table, m move) (keys []string, ok bool, err error) {
	others := Not{hasKey(t, m.ids)}
	findKey := func(desc bool, where ...Node) (key string, found bool, err error) {
		limit := int64(1)
		q := &Query{Table: t, Where: All(append(where, others)), Order: []Term{{Column: t.OrderKey, Desc: desc}}, Limit: &limit}
		got, err := queryTexts(ctx, tx, renderKeyColumn(tx.Dialect, q, t.OrderKey))
		if err != nil || len(got) == 0 {
			return "", false, err
		}
		return got[0], true, nil
	}
	var low, high string
	switch m.place {
	case "last":
		low, _, err = findKey(true)
	case "first":
		high, found, err := findKey(false)
		if err == nil && (high != "" || !found) {
			keys, ok = firstOrderKeys(high, s.now(), m.ids)
		}
		return keys, ok, err
	default:
		at, _, err := findKey(false, Compare{t.Key, Equal, m.target})
		if err != nil {
			return nil, false, err
		}
		duplicates, err := queryTexts(ctx, tx, renderValue(tx.Dialect, t, t.Key, All{Compare{t.OrderKey, Equal, at}, Not{hasKey(t, append(slices.Clone(m.ids), m.target))}}))
		if err != nil || len(duplicates) > 0 { // rows that another program has written may have equal keys
			return nil, false, err
		}
		if m.place == "after" {
			low = at
			high, _, err = findKey(false, Compare{t.OrderKey, Greater, at})
		} else {
			var found bool
			high = at
			low, found, err = findKey(true, Compare{t.OrderKey, Less, at})
			if err == nil && !found {
				if high != "" {
					keys, ok = firstOrderKeys(high, s.now(), m.ids)
				}
				return keys, ok, nil
			}
		}
		if err != nil {
			return nil, false, err
		}
	}
	if err != nil {
		return nil, false, err
	}
	keys, ok = orderKeysBetween(low, high, len(m.ids))
	return keys, ok, nil
}

// renumberAround gives all works short keys in their order, with the moved works at their new place. It is for the rare case that
// there is no room: after some thousand moves to the same place, or if rows were written by other programs.
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
