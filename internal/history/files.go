package history

import (
	"context"
	"encoding/json"
	"strings"
)

// This file finds the URLs of files in revisions (rows as they were before a change or a deletion).

// FileURLs returns all strings in revisions that can be the URL of a file. A removed file stays stored while its URL is among them.
func (s *Service) FileURLs(ctx context.Context) ([]string, error) { return FileURLsLike(ctx, s.db, "") }

// urlTexts returns the strings in JSON objects that can be the URL of a file: those with a slash. It may return other strings too. They do
// no harm, because the callers only look for the URLs of their own files among them.
func urlTexts(rows []string) ([]string, error) {
	return selectTexts(rows, func(text string) bool { return strings.Contains(text, "/") })
}

// selectTexts returns the strings in JSON objects for which keep returns true. Names of fields are left out.
func selectTexts(rows []string, keep func(text string) bool) (texts []string, err error) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if keep(v) {
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
