package storage

import (
	"context"
	"math"

	"atelie/internal/db"
)

// room is how many bytes an object of that name may still have, whether it is new or takes the place of another.
func (s *Service) room(ctx context.Context, bucketID, name string) (int64, error) {
	if s.cfg.Quota == 0 {
		return math.MaxInt64, nil
	}
	used, err := usedBytes(ctx, s.db, bucketID, name)
	if err != nil {
		return 0, err
	}
	return max(0, s.cfg.Quota-used), nil
}

// checkQuota counts at the end of a transaction that saves an object: one at a time over all nodes, so that two uploads
// cannot both take the last room.
func (s *Service) checkQuota(ctx context.Context, tx *db.Tx) error {
	if s.cfg.Quota == 0 {
		return nil
	}
	if err := lockQuota(ctx, tx); err != nil {
		return err
	}
	used, err := usedBytes(ctx, tx, "", "")
	if err != nil {
		return err
	}
	if used > s.cfg.Quota {
		return errQuota.Becausef("%d bytes of %d", used, s.cfg.Quota)
	}
	return nil
}
