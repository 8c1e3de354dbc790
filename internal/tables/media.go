package tables

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Media tells of the files behind addresses, and takes what the owner says about one.
type Media interface {
	// Describe gives a JSON object for each address that it knows; detailed ones tell the owner more.
	Describe(ctx context.Context, addresses []string, detailed bool) (map[string]json.RawMessage, error)
	// SetFocus writes the point of a picture that must stay in sight, in parts of its width and height from the top left
	// corner; false when it knows no such picture.
	SetFocus(ctx context.Context, address string, x, y float64) (bool, error)
}

// SetMedia supplies the computed column media. It is for wiring, before the first request; without it nothing is known.
func (s *Service) SetMedia(m Media) { s.media = m }

// mediaColumns are the columns that hold addresses of files.
var mediaColumns = map[string][]string{
	"products":     {"image_url", "image_gallery", "video_gallery"},
	"reviews":      {"image_url"},
	"cover_images": {"image_url", "video_thumbnail_url"},
}

// MediaURLs gives every address of a file that a row refers to, hidden rows included, so that files that nobody shows
// any more can be told from those in use (READING §3.25).
func (s *Service) MediaURLs(ctx context.Context) ([]string, error) {
	var urls []string
	for name, columns := range mediaColumns {
		q := &Query{Table: schema[name], Where: All{}}
		for _, c := range columns {
			q.Select = append(q.Select, Field{Name: c, Column: q.Table.byName[c]})
		}
		p, err := s.page(ctx, q, math.MaxInt64, 0, false)
		if err != nil {
			return nil, err
		}
		for _, row := range p.rows {
			var values map[string]any
			if err := json.Unmarshal([]byte(row), &values); err != nil {
				return nil, err
			}
			for _, v := range values {
				switch v := v.(type) {
				case string:
					urls = append(urls, v)
				case []any:
					for _, item := range v {
						if text, ok := item.(string); ok {
							urls = append(urls, text)
						}
					}
				}
			}
		}
	}
	return urls, nil
}

// describe fills the computed columns of rows with what is known of their files, an object by address, in one question
// for all rows.
func (s *Service) describe(ctx context.Context, caller identity.Caller, rows []string, fields []Field) ([]string, error) {
	computed := func(f Field) bool { return f.Column.files != nil }
	if len(rows) == 0 || !slices.ContainsFunc(fields, computed) {
		return rows, nil
	}
	taken := make([][]member, len(rows))
	var all []string
	for i, row := range rows {
		var err error
		if taken[i], err = members(row); err != nil {
			return nil, err
		}
		for j, f := range fields {
			if !computed(f) {
				continue
			}
			addresses, err := addressesIn(taken[i][j].value)
			if err != nil {
				return nil, err
			}
			all = append(all, addresses...)
		}
	}
	slices.Sort(all)
	known := map[string]json.RawMessage{}
	if s.media != nil {
		var err error
		if known, err = s.media.Describe(ctx, slices.Compact(all), policy.MediaDetails(caller)); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(rows))
	for i, row := range taken {
		parts := make([]string, len(row))
		for j, m := range row {
			if computed(fields[j]) {
				addresses, err := addressesIn(m.value)
				if err != nil {
					return nil, err
				}
				m.value = objectOf(known, addresses)
			}
			parts[j] = jsonText(m.name) + ":" + string(m.value)
		}
		out[i] = "{" + strings.Join(parts, ",") + "}"
	}
	return out, nil
}

// objectOf makes a JSON object of what is known, in the order of the addresses.
func objectOf(known map[string]json.RawMessage, addresses []string) json.RawMessage {
	var parts []string
	for i, a := range addresses {
		if v, ok := known[a]; ok && !slices.Contains(addresses[:i], a) {
			parts = append(parts, jsonText(a)+":"+string(v))
		}
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

// addressesIn reads what builder.files wrote: texts, lists of texts and nulls.
func addressesIn(value json.RawMessage) (out []string, err error) {
	var values []json.RawMessage
	if err := json.Unmarshal(value, &values); err != nil {
		return nil, err
	}
	for _, v := range values {
		var list []string
		if len(v) > 0 && v[0] != '[' {
			v = json.RawMessage("[" + string(v) + "]")
		}
		if string(v) == "[null]" {
			continue
		}
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

var errNoMedia = apperr.New(http.StatusNotFound, "P0002", "There is no picture at that address")

// setMediaFocus writes the point of a picture that must stay in sight when it is cut. x and y go from 0 to 1.
func (s *Service) setMediaFocus(ctx context.Context, args map[string]any) (string, error) {
	caller := identity.Of(ctx)
	if !policy.MediaFocus(caller) {
		return "", errDenied(caller, "function set_media_focus")
	}
	address, ok := args["address"].(string)
	if !ok {
		return "", errArgumentOf("address must be a text")
	}
	var at [2]float64
	for i, name := range []string{"x", "y"} {
		n, ok := args[name].(json.Number)
		v, err := n.Float64()
		if !ok || err != nil || !(v >= 0 && v <= 1) {
			return "", errArgumentOf(name + " must be a number from 0 to 1")
		}
		at[i] = v
	}
	if s.media == nil {
		return "", errNoMedia
	}
	found, err := s.media.SetFocus(ctx, address, at[0], at[1])
	if err == nil && !found {
		err = errNoMedia
	}
	return "", err
}
