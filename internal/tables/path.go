package tables

import (
	"strconv"
	"strings"
	"unicode"
)

// No column of the five tables is JSON. As in the reference (PostgREST 12), -> and ->> then look into to_jsonb(column):
// they find the entries of a list, nothing in anything else, and the value itself at 0 and -1.

// step is one arrow of a JSON path with what it looks for.
type step struct {
	text  bool // ->> instead of ->
	key   string
	index int64
	isKey bool
}

// part is what a path finds in a column.
type part struct {
	of    *Column
	place place
	index int64 // of an entry, from 0; from the end when negative
}

type place int

const (
	nowhere place = iota
	whole
	entry
)

// maxSteps bounds a path; nothing here is deeper than one.
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

// index reads a number, when all up to the next sign is one.
func (p *parser) index() (n int64, found bool, err error) {
	end := p.pos
	if end < len(p.text) && p.text[end] == '-' {
		end++
	}
	first := end
	for end < len(p.text) && unicode.IsDigit(rune(p.text[end])) {
		end++
	}
	rest := p.text[end:]
	ends := rest == ""
	for _, sign := range []string{"->", "::", ".", ","} {
		ends = ends || strings.HasPrefix(rest, sign)
	}
	if end == first || !ends {
		return 0, false, nil
	}
	digits := p.text[p.pos:end]
	if n, err = strconv.ParseInt(digits, 10, 32); err != nil {
		return 0, false, errNumberRange(digits).Because(err)
	}
	p.pos = end
	return n, true, nil
}

// path reads the steps behind a column and gives what they find, with the name that it has when nobody gives it one.
func (p *parser) path(c *Column) (found *Column, name string, err error) {
	steps, err := p.steps()
	if err != nil {
		return nil, "", err
	}
	return walk(c, steps)
}

// walk follows steps from a column. Without steps it gives the column.
func walk(c *Column, steps []step) (found *Column, name string, err error) {
	if len(steps) == 0 {
		return c, c.Name, nil
	}
	at := part{of: c, place: whole}
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
	return &Column{Name: c.Name, Kind: kind, part: &at}, name, nil
}
