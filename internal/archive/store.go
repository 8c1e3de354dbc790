package archive

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file checks whether a site is empty, as it must be before an import.

// presetKeys are the keys of settings that an empty site may have before an import.
var presetKeys = []string{unfinishedImportKey, guideKey}

const guideKey = "guide" // whether the owner has dismissed the first-run guide

// hasContent reports whether a table has rows. Rows of site_settings with presetKeys do not count. table becomes part of the SQL text, so
// callers must pass constants only.
func hasContent(ctx context.Context, q db.Querier, table string) (bool, error) {
	if table == "site_settings" {
		return settings.ExistsOther(ctx, q, presetKeys...)
	}
	return db.One[bool](ctx, q, "select exists (select 1 from "+table+")")
}
