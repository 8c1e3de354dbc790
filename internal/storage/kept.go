package storage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file keeps and restores files that were removed, replaced or moved. Such a file is kept if a row or a revision still refers to the
// URL that the file had. A revision is a row as it was before a change or a deletion. If the owner restores a revision, its files are needed
// again. A kept file has no public URL.

// keptBucket is the bucket of the kept objects. Its name contains a control character, so that no URL and no request can name the bucket.
const keptBucket = "\tkept"

// maxKeptOfName is the maximum number of kept objects that had the same name. If there are more, the oldest ones are discarded.
const maxKeptOfName = 50

// isReferenced reports whether a row or a revision refers to the URL of an object of the site's buckets. A reference to a video is also a
// reference to its still: the picture that pages show until the video plays.
func (s *Service) isReferenced(ctx context.Context, tx *db.Tx, o files.Object) (bool, error) {
	if s.cfg.FileURLsLike == nil || !files.SiteBucket(o.Bucket) {
		return false, nil
	}
	urls, err := s.cfg.FileURLsLike(ctx, tx, plainPart(o.Name)) // also finds URLs of other objects, if their names contain the same part
	return ReferencedObjects(urls)[o.Bucket+"/"+o.Name], err
}

// moveToKept moves an object into keptBucket. It changes only the bucket and the name in the object's row. The bytes, the renditions and
// the original of a stripped copy belong to the object's id, so they need no change. The new name is the id, so that several objects that
// had the same name can be kept.
func (s *Service) moveToKept(ctx context.Context, tx *db.Tx, o files.Object) error {
	now := s.now()
	if err := ensureKeptBucket(ctx, tx, now); err != nil {
		return err
	}
	if err := insertKept(ctx, tx, o.ID, o.Bucket, o.Name, now); err != nil {
		return err
	}
	if err := renameObject(ctx, tx, o.ID, keptBucket, o.ID, now); err != nil {
		return err
	}
	return s.discardOldest(ctx, tx, o.Bucket, o.Name)
}

// keepReplaced handles the old object after an upload with the same name. If a row or revision refers to the old object, keepReplaced keeps
// the old object under a new id, because the new object has the old id. If not, keepReplaced discards the old object.
func (s *Service) keepReplaced(ctx context.Context, tx *db.Tx, replaced replacedObject) error {
	referenced, err := s.isReferenced(ctx, tx, replaced.Object)
	if err != nil {
		return err
	}
	if !referenced {
		return errors.Join(s.media.Discard(ctx, tx, replaced.ID), s.blobs.Discard(ctx, tx, replaced.BlobID))
	}
	id, err := s.insertInKept(ctx, tx, replaced.Object, replaced.metadata)
	if err != nil {
		return err
	}
	if err := s.media.Move(ctx, tx, replaced.ID, id); err != nil {
		return err
	}
	return s.discardOldest(ctx, tx, replaced.Bucket, replaced.Name)
}

// insertInKept inserts a copy of o, with a new id, into keptBucket. It records the bucket and name of o, and returns the new id.
func (s *Service) insertInKept(ctx context.Context, tx *db.Tx, o files.Object, metadata *string) (id string, err error) {
	kept := o
	kept.ID, kept.Bucket, kept.UpdatedAt = uuid.NewString(), keptBucket, s.now()
	kept.Name = kept.ID
	if err := ensureKeptBucket(ctx, tx, kept.UpdatedAt); err != nil {
		return "", err
	}
	if _, err := insertObject(ctx, tx, kept, metadata); err != nil {
		return "", err
	}
	return kept.ID, insertKept(ctx, tx, kept.ID, o.Bucket, o.Name, kept.UpdatedAt)
}

// discardOldest discards the oldest kept objects that had a name, if there are more than maxKeptOfName of them.
func (s *Service) discardOldest(ctx context.Context, tx *db.Tx, bucketID, name string) error {
	ids, err := listOlderKept(ctx, tx, bucketID, name, maxKeptOfName)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.discardKept(ctx, tx, id); err != nil && !errors.Is(err, db.ErrNoRows) { // restored meanwhile
			return err
		}
	}
	return nil
}

// discardKept removes a kept object. The error is db.ErrNoRows if it is not kept any more.
func (s *Service) discardKept(ctx context.Context, tx *db.Tx, id string) error {
	locked, err := lockObject(ctx, tx, keptBucket, id)
	if err != nil {
		return err
	}
	if err := deleteKept(ctx, tx, id); err != nil {
		return err
	}
	return s.discardObject(ctx, tx, locked)
}

// keptCopy is a copy of an object's bytes, for its former URL.
type keptCopy struct {
	source   string      // id of the object's blob
	object   files.Blob  // the copy of it
	original *files.Blob // the copy of the object's original; nil if it has none
}

func (c *keptCopy) ids() []string {
	if c.original == nil {
		return []string{c.object.ID}
	}
	return []string{c.object.ID, c.original.ID}
}

// copyForKept copies the bytes of an object and of its original. The copies are pending.
func (s *Service) copyForKept(ctx context.Context, o files.Object) (_ *keptCopy, err error) {
	original, err := findOriginal(ctx, s.db, o.Bucket, o.Name)
	if err != nil {
		return nil, err
	}
	c := &keptCopy{source: o.BlobID}
	if c.object, err = s.copyBlob(ctx, o.BlobID); err != nil || original.BlobID == o.BlobID {
		return c, err
	}
	copied, err := s.copyBlob(ctx, original.BlobID)
	if err != nil {
		s.blobs.Remove(context.WithoutCancel(ctx), c.object.ID)
		return nil, err
	}
	c.original = &copied
	return c, nil
}

func (s *Service) copyBlob(ctx context.Context, id string) (files.Blob, error) {
	f, err := s.blobs.Open(ctx, id)
	if err != nil {
		return files.Blob{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	ids, err := s.blobs.Reserve(ctx, 1)
	if err != nil {
		return files.Blob{}, err
	}
	return s.blobs.Put(ctx, ids[0], f)
}

// keepMoved keeps the copy of an object that gets another name.
func (s *Service) keepMoved(ctx context.Context, tx *db.Tx, o files.Object, c *keptCopy) error {
	metadata, err := readMetadata(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	kept := o
	kept.BlobID = c.object.ID
	if kept.ID, err = s.insertInKept(ctx, tx, kept, metadata); err != nil {
		return err
	}
	if err := s.media.Copy(ctx, tx, o.ID, kept, c.original); err != nil {
		return err
	}
	if err := s.blobs.Commit(ctx, tx, c.ids()...); err != nil {
		return err
	}
	return s.discardOldest(ctx, tx, o.Bucket, o.Name)
}

// plainPart returns the longest part of a name before its first dot that has only letters, digits and hyphens of ASCII. These are
// the same in a URL and in JSON as in the name. A video and its still have the same plain part.
func plainPart(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	parts := strings.FieldsFunc(stem, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	return slices.MaxFunc(append(parts, ""), func(a, b string) int { return len(a) - len(b) })
}

// RestoreFiles moves kept objects back to their public URLs, with the stills of videos, in one transaction. With a time, files that were
// replaced since are replaced by what they were at that time, and are kept in turn; with the zero time, files that exist stay. Of the
// URLs in the site's buckets RestoreFiles returns those that have no file; it ignores other URLs. The error is errQuota if the files do
// not fit into the quota.
func (s *Service) RestoreFiles(ctx context.Context, urls []string, at time.Time) (missing []string, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		missing = []string{}
		restored := false
		for _, url := range urls {
			bucket, name, ok := files.ParsePublicURL(url)
			if !ok || !files.SiteBucket(bucket) {
				continue
			}
			moved, err := s.restoreObject(ctx, tx, bucket, name, at)
			if errors.Is(err, db.ErrNoRows) {
				missing = append(missing, url)
				continue
			}
			if err != nil {
				return err
			}
			restored = restored || moved
			if still, ok := files.StillOf(name); ok {
				restoredStill, err := s.restoreObject(ctx, tx, bucket, still, at)
				if err != nil && !errors.Is(err, db.ErrNoRows) {
					return err
				}
				restored = restored || restoredStill
			}
		}
		if !restored {
			return nil
		}
		return s.checkQuota(ctx, tx)
	})
	return missing, err
}

// restoreObject moves a kept object of a name back: the one that had the name at the time, or else the newest one, unless an object has
// the name. renameObject gives either object the current time, so that RemoveUnreferenced leaves it until the row that refers to it
// is saved. If another transaction restores the same object meanwhile, restoreObject leaves it. The error is db.ErrNoRows if no object
// has the name afterwards.
func (s *Service) restoreObject(ctx context.Context, tx *db.Tx, bucketID, name string, at time.Time) (restored bool, err error) {
	now, err := lockObject(ctx, tx, bucketID, name)
	exists := err == nil
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return false, err
	}
	id, err := "", db.ErrNoRows
	if !at.IsZero() {
		id, err = findKeptAt(ctx, tx, bucketID, name, at)
	}
	if errors.Is(err, db.ErrNoRows) && !exists {
		id, err = findKept(ctx, tx, bucketID, name)
	}
	if errors.Is(err, db.ErrNoRows) && exists {
		return false, renameObject(ctx, tx, now.ID, bucketID, name, s.now())
	}
	if err != nil {
		return false, err
	}
	// Before any change, because RestoreFiles commits after db.ErrNoRows.
	back, err := lockObject(ctx, tx, keptBucket, id)
	if errors.Is(err, db.ErrNoRows) { // restored or discarded meanwhile
		if now, err = lockObject(ctx, tx, bucketID, name); err == nil {
			err = renameObject(ctx, tx, now.ID, bucketID, name, s.now())
		}
		return false, err
	}
	if err != nil {
		return false, err
	}
	if err := deleteKept(ctx, tx, id); err != nil {
		return false, err
	}
	if exists { // after deleteKept, because moveToKept could discard the oldest kept object, which may be this one
		if err := s.moveToKept(ctx, tx, now); err != nil {
			return false, err
		}
	}
	if err := renameObject(ctx, tx, id, bucketID, name, s.now()); err != nil {
		return false, err
	}
	back.Bucket, back.Name = bucketID, name
	return true, s.media.Resume(ctx, tx, back)
}

// Replaced returns a function that reports whether the file at a public URL, or the still of the video at this URL, was a different file at
// the time at. Files that were removed and not replaced do not count.
func (s *Service) Replaced(ctx context.Context) (func(url string, at time.Time) bool, error) {
	all, err := listReplaced(ctx, s.db)
	newest := map[string]time.Time{}
	for _, f := range all {
		if key := f.Bucket + "/" + f.Name; f.At.After(newest[key]) {
			newest[key] = f.At
		}
	}
	return func(url string, at time.Time) bool {
		for object := range ReferencedObjects([]string{url}) {
			if replacedAt, ok := newest[object]; ok && !replacedAt.Before(at) {
				return true
			}
		}
		return false
	}, err
}

// ReleaseKept ends the time for which the kept objects with these former URLs stay at least, because what refers to them is erased. Objects
// with a URL in remaining are still needed by a revision, and are not released.
func (s *Service) ReleaseKept(ctx context.Context, tx *db.Tx, urls, remaining []string) error {
	needed := ReferencedObjects(remaining)
	for object := range ReferencedObjects(urls) {
		if needed[object] {
			continue
		}
		bucket, name, _ := strings.Cut(object, "/")
		if err := releaseKept(ctx, tx, bucket, name); err != nil {
			return err
		}
	}
	return nil
}

// CollectKept removes the kept objects that were removed more than KeptFor ago and whose former URL is not among the results of
// referencedURLs, because no revision has that URL any more. It removes a replaced object even if its former URL is among them: the URL now
// means another object, and the older revisions are gone by then. CollectKept returns the number of removed objects.
func (s *Service) CollectKept(ctx context.Context, referencedURLs func(context.Context) ([]string, error)) (removed int, err error) {
	all, err := listKept(ctx, s.db)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	urls, err := referencedURLs(ctx) // after the objects were listed, as in RemoveUnreferenced
	if err != nil {
		return 0, err
	}
	used := ReferencedObjects(urls)
	for _, k := range all {
		if s.now().Sub(k.RemovedAt) < s.cfg.KeptFor || used[k.Bucket+"/"+k.Name] && !k.Replaced {
			continue
		}
		err := s.db.WithTx(ctx, func(tx *db.Tx) error { return s.discardKept(ctx, tx, k.ID) })
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
