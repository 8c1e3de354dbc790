package storage

import (
	"context"
	"math"

	"atelie/internal/db"
)

// This file checks the quota, the limit for the total size of all uploaded files.

// quotaLeft returns the maximum size in bytes that the quota allows for a new object with the given bucket and name. The bytes of an
// object that the new one would replace count as free. Without a quota the result is math.MaxInt64.
func (s *Service) quotaLeft(ctx context.Context, bucketID, name string) (int64, error) {
	if s.cfg.Quota == 0 {
		return math.MaxInt64, nil
	}
	used, err := usedBytes(ctx, s.db, bucketID, name)
	if err != nil {
		return 0, err
	}
	return max(0, s.cfg.Quota-used), nil
}

// checkQuota returns errQuota if the files exceed the quota. It is called in the transaction that has saved an object. It takes a lock that
// all nodes (servers of the site) share, so that two uploads cannot both use the same free bytes.
func (s *Service) checkQuota(ctx context.Context, tx *db.Tx) error {
	if s.cfg.Quota == 0 {
		return nil
	}
	if err := lockQuota(ctx, tx); err != nil {
		return err
	}
	used, err := usedBytes(ctx, tx, "", "") // "" and "": leave out no object
	if err != nil {
		return err
	}
	if used > s.cfg.Quota {
		return errQuota.Becausef("%d bytes of %d", used, s.cfg.Quota)
	}
	return nil
}
