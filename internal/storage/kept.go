package storage

import (
	"context"
	"errors"
	"strings"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file keeps removed objects whose URL is in a revision, and restores them. A revision is what a row was before a change or a
// deletion; the owner can bring it back.

// keptBucket is the bucket of the kept objects. Its id has a control character, so that no URL and no request can name it.
const keptBucket = "\tkept"

// keep moves an object of the site's buckets into keptBucket if a revision refers to its URL. It also moves the still (the
// picture) of a film to whose URL a revision refers. The object's bytes, original and renditions stay as they are.
func (s *Service) keep(ctx context.Context, tx *db.Tx, o files.Object) (moved bool, err error) {
	if s.cfg.FileURLsLike == nil || !files.SiteBucket(o.Bucket) {
		return false, nil
	}
	urls, err := s.cfg.FileURLsLike(ctx, tx, plainPart(o.Name))
	if err != nil || !referencedObjects(urls)[o.Bucket+"/"+o.Name] {
		return false, err
	}
	return true, moveToKept(ctx, tx, o, s.now())
}

// plainPart returns the longest part of a name before its first dot that has only letters, digits and hyphens of ASCII. These are
// the same in a URL and in JSON as in the name. A film and its still have the same plain part.
func plainPart(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	longest := ""
	for _, part := range strings.FieldsFunc(stem, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// RestoreFiles moves kept objects back to their public URLs, with the stills of films, in one transaction. Of the URLs in the
// site's buckets it returns those that have no file; it ignores other URLs. The error is errQuota if the files do not fit into
// the quota.
func (s *Service) RestoreFiles(ctx context.Context, urls []string) (missing []string, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		missing = []string{}
		restored := false
		for _, url := range urls {
			bucket, name, ok := files.ParsePublicURL(url)
			if !ok || !files.SiteBucket(bucket) {
				continue
			}
			moved, err := s.restoreObject(ctx, tx, bucket, name)
			if errors.Is(err, db.ErrNoRows) {
				missing = append(missing, url)
				continue
			}
			if err != nil {
				return err
			}
			restored = restored || moved
			if still, ok := files.StillOf(name); ok {
				if _, err := s.restoreObject(ctx, tx, bucket, still); err != nil && !errors.Is(err, db.ErrNoRows) {
					return err
				}
			}
		}
		if !restored {
			return nil
		}
		return s.checkQuota(ctx, tx)
	})
	return missing, err
}

// restoreObject moves the newest kept object of a name back, unless an object has the name. renameObject gives either object the
// current time, so that CollectUnreferenced leaves it until the row that refers to it is saved. The error is db.ErrNoRows if
// there is neither.
func (s *Service) restoreObject(ctx context.Context, tx *db.Tx, bucketID, name string) (restored bool, err error) {
	if o, err := lockObject(ctx, tx, bucketID, name); err == nil {
		return false, renameObject(ctx, tx, o.ID, bucketID, name, s.now())
	} else if !errors.Is(err, db.ErrNoRows) {
		return false, err
	}
	id, err := findKept(ctx, tx, bucketID, name)
	if err != nil {
		return false, err
	}
	if err := deleteKept(ctx, tx, id); err != nil {
		return false, err
	}
	return true, renameObject(ctx, tx, id, bucketID, name, s.now())
}

// CollectKept removes the kept objects whose former URL is not among those that referencedURLs returns, because the revisions with
// that URL are gone. It returns the number of removed objects.
func (s *Service) CollectKept(ctx context.Context, referencedURLs func(context.Context) ([]string, error)) (removed int, err error) {
	all, err := listKept(ctx, s.db)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	urls, err := referencedURLs(ctx) // after the objects were listed, as in CollectUnreferenced
	if err != nil {
		return 0, err
	}
	used := referencedObjects(urls)
	for _, k := range all {
		if used[k.Bucket+"/"+k.Name] {
			continue
		}
		err := s.db.WithTx(ctx, func(tx *db.Tx) error {
			locked, err := lockObject(ctx, tx, keptBucket, k.ID)
			if err != nil {
				return err
			}
			if err := deleteKept(ctx, tx, locked.ID); err != nil {
				return err
			}
			_, err = s.discardObject(ctx, tx, locked)
			return err
		})
		if errors.Is(err, db.ErrNoRows) {
			continue // restored meanwhile
		}
		if err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
