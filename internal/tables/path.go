package tables

import (
	"regexp"
	"strconv"
)

// This file reads JSON paths such as tags->0 and tags->>-1. No column of the tables is JSON. As in PostgREST 12, the arrows
// therefore apply to to_jsonb(column): in a list they select an entry. In any other column they select nothing (null), except
// that the indices 0 and -1 select the value itself.

// step is one arrow of a JSON path with the key or index after it.
type step struct {
	text  bool // ->> instead of ->
	key   string
	index int64
	isKey bool // the step has a key, not an index
}

// pathTarget is the part of a column's value that a path selects.
type pathTarget struct {
	column *Column
	place  place
	index  int64 // index of the entry, from 0, or from -1 backwards; used if place is entry
}

// place is the kind of a pathTarget.
type place int

const (
	nowhere place = iota // nothing: the result is null
	whole                // the whole value
	entry                // one entry of a list
)

// maxSteps limits the length of a path. In these columns the first step decides: further steps select the same value, or
// nothing.
const maxSteps = 10

// steps reads "->key", "->>0" and so on, as many as there are.
func (p *parser) steps() ([]step, error) {
	var steps []step
	for p.at("->") {
		p.pos += len("->")
		s := step{text: p.skip(">")}
		var found bool
		var err error
		if s.index, found, err = p.index(); err != nil {
			return nil, err
		}
		if !found {
			if s.key, err = p.name(); err != nil {
				return nil, err
			}
			s.isKey = true
		}
		if steps = append(steps, s); len(steps) > maxSteps {
			return nil, errQuery("a JSON path may have at most " + strconv.Itoa(maxSteps) + " steps")
		}
	}
	return steps, nil
}

var indexStep = regexp.MustCompile(`^(-?[0-9]+)(?:->|::|[.,]|$)`)

// index reads a number if it is the whole step; otherwise found is false and the step is a key.
func (p *parser) index() (n int64, found bool, err error) {
	part := indexStep.FindStringSubmatch(p.rest())
	if part == nil {
		return 0, false, nil
	}
	if n, err = strconv.ParseInt(part[1], 10, 32); err != nil {
		return 0, false, errNumberRange(part[1]).Because(err)
	}
	p.pos += len(part[1])
	return n, true, nil
}

// path reads the steps after a column. It returns what they find, and the name of the result if the query gives no alias.
func (p *parser) path(c *Column) (found *Column, name string, err error) {
	steps, err := p.steps()
	if err != nil {
		return nil, "", err
	}
	return walk(c, steps)
}

// walk follows steps from a column and returns the same as path. Without steps it returns the column itself.
func walk(c *Column, steps []step) (found *Column, name string, err error) {
	if len(steps) == 0 {
		return c, c.Name, nil
	}
	at := pathTarget{column: c, place: whole}
	name = c.Name
	for i, s := range steps {
		if i > 0 && steps[i-1].text {
			return nil, "", errNoArrow(s)
		}
		switch {
		case s.isKey:
			name, at.place = s.key, nowhere
		case at.place == whole && c.Kind == List && max(s.index, -s.index) <= maxGallery: // no list is longer
			at.place, at.index = entry, s.index
		case (at.place == whole && c.Kind == List) || (s.index != 0 && s.index != -1):
			at.place = nowhere
		}
	}
	kind := JSON
	if steps[len(steps)-1].text {
		kind = Text
	}
	return &Column{Name: c.Name, Kind: kind, path: &at}, name, nil
}

// wholeColumn returns the column whose whole value c shows, or nil if c shows only an entry of a list, or nothing.
func (c *Column) wholeColumn() *Column {
	switch {
	case c.path == nil:
		return c
	case c.path.place == whole:
		return c.path.column
	}
	return nil
}
