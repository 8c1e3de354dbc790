package pages

import (
	"context"

	"atelie/internal/db"
)

// This file reads tables that /rest/v1 does not offer.

// wasDeleted reports whether a work with this id existed and was deleted. Its URL then has the status 410 (Gone) instead of 404.
func (s *Service) wasDeleted(ctx context.Context, id string) (bool, error) {
	return db.One[bool](ctx, s.db, "select exists (select 1 from gone_works where id = $1)", id)
}

// findSeriesByOldSlug returns the id of the series that had this slug earlier and now has another one, or "" if there is none.
func (s *Service) findSeriesByOldSlug(ctx context.Context, slug string) (id string, err error) {
	id, err = db.One[string](ctx, s.db, "select cast(series_id as text) from series_old_slugs where slug = $1", slug)
	return id, db.NoRowsAs(err, nil)
}
