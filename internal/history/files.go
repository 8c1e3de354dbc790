package history

import (
	"context"
	"encoding/json"
	"strings"

	"atelie/internal/db"
)

// FileURLs returns the URLs, and all other texts, of all revisions. A file that was removed is kept for as long as it is among them.
func (s *Service) FileURLs(ctx context.Context) ([]string, error) {
	rows, err := listRowsBefore(ctx, s.db, "")
	if err != nil {
		return nil, err
	}
	return textsOf(rows)
}

// FileURLsLike returns the texts of the revisions that contain part, in the transaction in which a file is removed. part has
// nothing but letters, digits and hyphens of ASCII, which stand alike in a file's name, its URL and JSON.
func FileURLsLike(ctx context.Context, tx *db.Tx, part string) ([]string, error) {
	rows, err := listRowsBefore(ctx, tx, part)
	if err != nil {
		return nil, err
	}
	return textsOf(rows)
}

// textsOf returns all texts within JSON objects that may be the URL of a file: those with a slash.
func textsOf(rows []string) (texts []string, err error) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, "/") {
				texts = append(texts, v)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	for _, row := range rows {
		var tree map[string]any
		if err := json.Unmarshal([]byte(row), &tree); err != nil {
			return nil, err
		}
		walk(tree)
	}
	return texts, nil
}
