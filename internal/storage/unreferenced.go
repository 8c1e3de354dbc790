package storage

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file removes unreferenced objects: uploaded files to which nothing in the database refers. The hourly maintenance calls it.

// unreferencedAge is the minimum age at which an unreferenced object is removed. Younger objects stay, because the owner uploads files
// before saving the form that refers to them.
const unreferencedAge = 48 * time.Hour

// RemoveUnreferenced removes the unreferenced objects that are older than unreferencedAge from the buckets of the site and of conversations,
// and returns their number. It does not remove the still of a referenced video (the picture that pages show until the video plays).
// referencedURLs returns a public URL for each object to which the database refers. If it fails, nothing is removed.
func (s *Service) RemoveUnreferenced(ctx context.Context, referencedURLs func(context.Context) ([]string, error)) (removed int, err error) {
	old, err := listOlderThan(ctx, s.db, s.now().Add(-unreferencedAge))
	if err != nil || len(old) == 0 {
		return 0, err
	}
	// referencedURLs is called after the objects were listed, so that it also returns references that were saved during the listing.
	urls, err := referencedURLs(ctx)
	if err != nil {
		return 0, err
	}
	used := ReferencedObjects(urls)
	for _, o := range old {
		// Objects in other buckets stay, because the site does not know what refers to them.
		if !files.SiteOrConversationBucket(o.Bucket) || used[o.Bucket+"/"+o.Name] {
			continue
		}
		err := s.db.WithTx(ctx, func(tx *db.Tx) error {
			deleted, err := s.removeObject(ctx, tx, o.Bucket, o.Name)
			if err == nil && deleted.BlobID != o.BlobID {
				return db.ErrNoRows // the object was replaced since it was listed; the error rolls the removal back
			}
			return err
		})
		if errors.Is(err, db.ErrNoRows) {
			continue // removed or replaced meanwhile
		}
		if err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// ReferencedObjects returns the objects to which public URLs refer, and the stills of the videos among them. The keys are
// bucket/name.
func ReferencedObjects(urls []string) map[string]bool {
	used := make(map[string]bool, len(urls))
	for _, publicURL := range urls {
		if bucket, name, ok := files.ParsePublicURL(publicURL); ok {
			used[bucket+"/"+name] = true
			if still, ok := files.StillOf(bucket + "/" + name); ok {
				used[still] = true
			}
		}
	}
	return used
}
