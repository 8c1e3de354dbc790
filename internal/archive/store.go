package archive

import (
	"context"
	"errors"

	"atelie/internal/db"
)

// This file has the SQL by which an import recognizes an empty site and keeps its marker.

// presetKeys is an SQL list of the settings that a site may have before an import: the marker of an unfinished import, and guide,
// which says whether the owner has dismissed the first-run guide.
const presetKeys = "('" + markerKey + "', 'guide')"

// hasContent reports whether an exported table has rows that an import must not touch. table becomes part of the SQL text, so
// callers must pass constants only.
func hasContent(ctx context.Context, q db.Querier, table string) (bool, error) {
	condition := ""
	if table == "site_settings" {
		condition = " where key not in " + presetKeys
	}
	return db.One[bool](ctx, q, "select exists (select 1 from "+table+condition+")")
}

// readMarker returns the value of the row markerKey, or "".
func readMarker(ctx context.Context, q db.Querier) (string, error) {
	value, err := db.One[string](ctx, q, "select cast(value as text) from site_settings where key = $1", markerKey)
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// deletePreset deletes the setting guide, because the archive may have one of its own.
func deletePreset(ctx context.Context, tx *db.Tx) error { return deleteSetting(ctx, tx, "guide") }

func deleteSetting(ctx context.Context, tx *db.Tx, key string) error {
	return db.Exec(ctx, tx, "delete from site_settings where key = $1", key)
}
