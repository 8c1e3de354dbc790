package tables

import (
	"regexp"
	"strconv"
)

// This file reads JSON paths such as tags->0 (the first element of the column tags) and tags->>-1 (the last one, as a string). As in
// PostgREST 12, the arrows apply to to_jsonb(column):
//   - In a list, an index selects an element.
//   - In any other value, the indices 0 and -1 select the value itself.
//   - Every other step selects nothing (null).
//
// A path into alt_texts, the only JSON column, is refused.

// step is one arrow of a JSON path with the key or index after it.
type step struct {
	asText bool   // the arrow is ->>, whose result is a string; false for the arrow ->
	isKey  bool   // true if a key follows the arrow, false if an index
	key    string // used if isKey is true
	index  int64  // used if isKey is false
}

// pathTarget is the part of a column's value that a path selects.
type pathTarget struct {
	column *Column
	kind   targetKind
	index  int64 // index of the element; -1 is the last one, -2 the one before; used if kind is selectsElement
}

// targetKind states how much of a column's value a path selects.
type targetKind int

const (
	selectsNothing targetKind = iota // the result is null
	selectsWhole                     // the whole value
	selectsElement                   // one element of a list
)

// maxSteps is the maximum number of steps in a path. No useful path has so many: values are not nested, so each step after the first one
// selects the same value again, or nothing.
const maxSteps = 10

// readSteps reads all steps at the parser's position, such as "->key" or "->>0".
func (p *parser) readSteps() ([]step, error) {
	var steps []step
	for p.at("->") {
		p.pos += len("->")
		s := step{asText: p.skip(">")}
		var found bool
		var err error
		if s.index, found, err = p.readIndex(); err != nil {
			return nil, err
		}
		if !found {
			if s.key, err = p.readName(); err != nil {
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

// readIndex reads the index of a step. found is false if the step has a key instead of an index.
func (p *parser) readIndex() (n int64, found bool, err error) {
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

// readPath reads the JSON path after a column. It returns the column that stands for the selected value, and the name of the
// result if the query gives no alias.
func (p *parser) readPath(c *Column) (found *Column, name string, err error) {
	steps, err := p.readSteps()
	if err != nil {
		return nil, "", err
	}
	return followSteps(c, steps)
}

// followSteps returns the same as readPath, for steps that were read before. Without steps it returns the column itself.
func followSteps(c *Column, steps []step) (found *Column, name string, err error) {
	if len(steps) == 0 {
		return c, c.Name, nil
	}
	if c.Kind == AltTexts {
		return nil, "", errUnsupported("a path into " + c.Name)
	}
	target := pathTarget{column: c, kind: selectsWhole}
	name = c.Name
	for i, s := range steps {
		if i > 0 && steps[i-1].asText {
			return nil, "", errNoArrow(s)
		}
		switch {
		case s.isKey:
			name, target.kind = s.key, selectsNothing
		case target.kind == selectsWhole && c.Kind == List && max(s.index, -s.index) <= maxGallery: // no list is longer
			target.kind, target.index = selectsElement, s.index
		case (target.kind == selectsWhole && c.Kind == List) || (s.index != 0 && s.index != -1):
			target.kind = selectsNothing
		}
	}
	kind := JSON
	if steps[len(steps)-1].asText {
		kind = Text
	}
	return &Column{Name: c.Name, Kind: kind, path: &target}, name, nil
}

// wholeColumn returns the column whose whole value c shows, or nil if c shows only an element of a list, or nothing.
func (c *Column) wholeColumn() *Column {
	switch {
	case c.path == nil:
		return c
	case c.path.kind == selectsWhole:
		return c.path.column
	}
	return nil
}
