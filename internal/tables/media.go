package tables

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file finds the files to which rows refer by URL. It also fills the column media with descriptions of these files. The column media
// is computed when rows are read.

// MediaService has the functions of package media that this package calls.
type MediaService interface {
	// Describe returns a map from each known URL to a JSON object that describes its file. If detailed is true, the objects
	// include fields that only the owner may see.
	Describe(ctx context.Context, urls []string, detailed bool) (map[string]json.RawMessage, error)
	// SetFocus stores the focus point of a picture, the point that stays visible when the picture is cropped. x and y are fractions of
	// the width and the height from the top left corner, from 0 to 1. SetFocus returns false if no known picture has the URL.
	SetFocus(ctx context.Context, url string, x, y float64) (bool, error)
}

// mediaColumns lists, by table, the columns that contain URLs of files.
var mediaColumns = map[string][]string{
	"products":     {"image_url", "image_gallery", "video_gallery"},
	"reviews":      {"image_url"},
	"cover_images": {"image_url", "video_thumbnail_url"},
	"series":       {"image_url"},
}

// MediaURLs returns the URLs of all files to which rows refer, including rows that visitors cannot see. The hourly maintenance deletes a
// stored file if it was last written at least 48 hours ago and neither these rows nor other data refer to it (docs/product.md, rule 40).
func (s *Service) MediaURLs(ctx context.Context) ([]string, error) {
	return s.listMediaURLs(ctx, s.db, func(b *builder) (statement, bool) { return b.selectFiles(always), true })
}

// UnpublishedMediaURLs returns the URLs of files in unpublished rows, and the URLs of files in all other rows. A row is unpublished if a
// time hides it from visitors: a work that is a draft or scheduled, or a cover (a large picture at the top of the home page) outside of its
// period. A URL can be in both lists. If there are no unpublished URLs, the others are not read, because then no file has to be hidden.
func (s *Service) UnpublishedMediaURLs(ctx context.Context) (unpublished, others []string, err error) {
	unpublished, err = s.listMediaURLs(ctx, s.db, func(b *builder) (statement, bool) {
		published := b.table.publishedCondition()
		return b.selectFiles(Not{published}), published != nil // no time hides rows of the other tables
	})
	if err != nil || len(unpublished) == 0 {
		return nil, nil, err
	}
	others, err = s.listMediaURLs(ctx, s.db, func(b *builder) (statement, bool) { return b.selectFiles(b.table.publishedCondition()), true })
	return unpublished, others, err
}

// listMediaURLs returns the URLs of the files to which rows refer. render selects the files of a table, or returns false for a table that is
// left out.
func (s *Service) listMediaURLs(ctx context.Context, q db.Querier, render func(*builder) (statement, bool)) (urls []string, err error) {
	for name := range mediaColumns {
		st, wanted := render(&builder{dialect: s.db.Dialect, table: schema[name]})
		if !wanted {
			continue
		}
		rows, err := queryTexts(ctx, q, st)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			rowURLs, err := urlsIn(json.RawMessage(row))
			if err != nil {
				return nil, err
			}
			urls = append(urls, rowURLs...)
		}
	}
	return urls, nil
}

// MediaURLsLike is MediaURLs for the rows in which a URL contains namePart, a part of a file's name. namePart must consist of ASCII letters,
// digits and hyphens, because it becomes an SQL pattern without escapes.
func (s *Service) MediaURLsLike(ctx context.Context, q db.Querier, namePart string) ([]string, error) {
	return s.listMediaURLs(ctx, q, func(b *builder) (statement, bool) { return b.selectFilesLike(namePart), true })
}

// describe fills the computed column media of rows: it replaces the array of URLs, which the database returns, by an object that
// maps each known URL to its description. It calls MediaService.Describe once for all rows.
func (s *Service) describe(ctx context.Context, caller identity.Caller, rows []string, fields []Field) ([]string, error) {
	computed := func(f Field) bool { return f.Column.files != nil }
	if len(rows) == 0 || !slices.ContainsFunc(fields, computed) {
		return rows, nil
	}
	type cell struct {
		member *member
		urls   []string
	}
	var cells []cell
	var all []string
	split := make([][]member, len(rows))
	for i, row := range rows {
		var err error
		if split[i], err = splitMembers(row); err != nil {
			return nil, err
		}
		for j, f := range fields {
			if !computed(f) {
				continue
			}
			urls, err := urlsIn(split[i][j].value)
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell{&split[i][j], urls})
			all = append(all, urls...)
		}
	}
	slices.Sort(all)
	known, err := s.media.Describe(ctx, slices.Compact(all), policy.MediaDetails(caller))
	if err != nil {
		return nil, err
	}
	for _, c := range cells {
		c.member.value = encodeDescriptions(known, c.urls)
	}
	out := make([]string, len(rows))
	for i, members := range split {
		out[i] = encodeObject(members)
	}
	return out, nil
}

// encodeDescriptions returns a JSON object with the known URLs and their descriptions, in the order of urls.
func encodeDescriptions(known map[string]json.RawMessage, urls []string) json.RawMessage {
	var all []member
	for i, u := range urls {
		if v, ok := known[u]; ok && !slices.Contains(urls[:i], u) {
			all = append(all, member{u, v})
		}
	}
	return json.RawMessage(encodeObject(all))
}

// urlsIn returns the URLs in the JSON array that builder.filesSQL selects. Its entries are texts, lists of texts and nulls.
func urlsIn(value json.RawMessage) (out []string, err error) {
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

var errNoMedia = apperr.New(http.StatusNotFound, "P0002", "There is no picture at that URL")

// setMediaFocus handles POST /rest/v1/rpc/set_media_focus: it checks the arguments and calls MediaService.SetFocus.
func (s *Service) setMediaFocus(ctx context.Context, args map[string]any) (string, error) {
	url, ok := args["address"].(string)
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
	found, err := s.media.SetFocus(ctx, url, at[0], at[1])
	if err == nil && !found {
		err = errNoMedia
	}
	return "", err
}
