package pages

import "context"

// Content reads what the site shows, as an anonymous visitor would: Rows and Count answer what GET /rest/v1/{table}?{query}
// answers, a JSON text a row. Without these functions the site has no content.
type Content struct {
	Rows  func(ctx context.Context, table, query string) ([]string, error)
	Count func(ctx context.Context, table, query string) (int64, error)
}

// The walls of the gallery. Oil and acrylic hang on none (spec §2).
const allWorks = "all"

var hungTypes = []string{"digital", "mural", "watercolour"}
