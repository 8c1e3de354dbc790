package pages

import "context"

// wasDeleted reports whether a work with this id existed and was deleted. Its URL then has the status 410 (Gone) instead of 404.
func (s *Service) wasDeleted(ctx context.Context, id string) (deleted bool, err error) {
	err = s.db.QueryRow(ctx, "select exists (select 1 from gone_works where id = $1)", id).Scan(&deleted)
	return deleted, err
}
