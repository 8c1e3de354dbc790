package storage

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/policy"
)

// unreferencedAge is how long a file may lie without a row that shows it: uploads happen before the form is saved
// (READING §3.25).
const unreferencedAge = 48 * time.Hour

const publicPath = "/storage/v1/object/public/"

// CollectUnreferenced removes those files of the site's buckets of at least 48 hours whose public address is not among the addresses that
// referenced gives, and returns how many. A film's still is needed as long as the film. An error while asking for the addresses removes nothing.
func (s *Service) CollectUnreferenced(ctx context.Context, referenced func(context.Context) ([]string, error)) (removed int, err error) {
	old, err := listOlderThan(ctx, s.db, s.now().Add(-unreferencedAge))
	if err != nil || len(old) == 0 {
		return 0, err
	}
	// Asked after the files were listed: a row that came in between counts.
	addresses, err := referenced(ctx)
	if err != nil {
		return 0, err
	}
	used := make(map[string]bool, len(addresses))
	for _, a := range addresses {
		if name, ok := objectOf(a); ok {
			used[name] = true
			if still, ok := stillOf(name); ok {
				used[still] = true
			}
		}
	}
	for _, o := range old {
		// Other buckets are not the site's: nothing tells what their files are for.
		if !slices.Contains(policy.Buckets, o.Bucket) || used[o.Bucket+"/"+o.Name] {
			continue
		}
		err := s.db.WithTx(ctx, func(tx *db.Tx) error {
			found, err := s.removeObject(ctx, tx, o.Bucket, o.Name)
			if err == nil && found.BlobID != o.BlobID {
				return db.ErrNoRows // replaced since it was listed: rolls the removal back
			}
			return err
		})
		if errors.Is(err, db.ErrNoRows) {
			continue // somebody else was quicker
		}
		if err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// objectOf gives bucket/name of a public address, with or without a host.
func objectOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(u.Path, publicPath)
}
