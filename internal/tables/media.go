package tables

import (
	"context"
	"encoding/json"
	"math"
)

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
