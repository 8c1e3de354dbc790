package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file implements two commands. "atelie media verify" checks that no picture or video is missing or changed. "atelie media rebuild"
// makes renditions (resized copies of pictures) again. This file also makes the first renditions of the demo content.

// Progress is called after each picture or video. done is the number of finished files, and total is the number of all files. name is the
// file's bucket/name. problem describes what is wrong with the file, or is "". If Progress returns an error, VerifyMedia and RebuildMedia
// stop and return that error.
type Progress func(done, total int, name, problem string) error

// forEachFile calls fn for each picture and video in the site's buckets (named groups of stored files). It passes each error of fn except
// errObsolete to report as a problem, and returns the number of problems.
func (s *Service) forEachFile(ctx context.Context, report Progress, fn func(mediaObject) error) (problems int, err error) {
	all, err := listPicturesAndVideos(ctx, s.db)
	if err != nil {
		return 0, err
	}
	siteFiles := slices.DeleteFunc(all, func(object mediaObject) bool { return !files.SiteBucket(object.Bucket) })
	for i, object := range siteFiles {
		problem := ""
		if err := fn(object); err != nil && !errors.Is(err, errObsolete) { // replaced or removed while it was worked on
			if ctx.Err() != nil {
				return problems, err
			}
			problem = err.Error()
			problems++
		}
		if err := report(i+1, len(siteFiles), object.Bucket+"/"+object.Name, problem); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// VerifyMedia reads each picture of the site with its renditions, and each video. It returns the number of pictures and videos with a
// problem: a file or a rendition is missing, a file has changed, or a database row does not match its file. VerifyMedia changes nothing.
func (s *Service) VerifyMedia(ctx context.Context, report Progress) (problems int, err error) {
	return s.forEachFile(ctx, report, func(object mediaObject) error { return s.verify(ctx, object) })
}

// verify returns an error that describes all problems of a picture or video, or nil.
func (s *Service) verify(ctx context.Context, object mediaObject) error {
	if !object.isImage() {
		return s.verifyVideo(ctx, object)
	}
	if object.media == nil {
		return errors.New("it has no media row")
	}
	if object.State != stateReady {
		return fmt.Errorf("its renditions are %s: %s", object.State, reasonText(object.Reason))
	}
	problems := []error{s.verifyBlob(ctx, "the picture", object.BlobID, object.ETag)}
	if object.Original != nil {
		problems = append(problems, s.verifyBlob(ctx, "the original", object.Original.ID, object.Original.ETag))
	}
	rows, err := listRenditions(ctx, s.db, object.ObjectID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		problems = append(problems, s.verifyBlob(ctx, r.Name, r.BlobID, r.ETag))
	}
	for stage := range stageCount {
		if stage == stageAVIF && !s.cfg.Engine.AVIF() {
			continue
		}
		missing, err := s.listMissingInStage(ctx, object.Object, object.media, stage)
		if err != nil {
			return err
		}
		for _, m := range missing {
			problems = append(problems, fmt.Errorf("%s: is missing, or was made by an older program", m.name))
		}
	}
	return errors.Join(problems...)
}

// verifyBlob compares a blob with its SHA-256, etag. label names the blob in the error.
func (s *Service) verifyBlob(ctx context.Context, label, blobID, etag string) error {
	switch sum, err := s.sumBlob(ctx, blobID); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the file is missing", label)
	case err != nil:
		return fmt.Errorf("%s: %w", label, err)
	case sum != etag:
		return fmt.Errorf("%s: the file has changed", label)
	}
	return nil
}

// sumBlob returns a blob's SHA-256 in hexadecimal digits.
func (s *Service) sumBlob(ctx context.Context, blobID string) (_ string, err error) {
	f, err := s.blobs.Open(ctx, blobID)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// RebuildMedia makes the renditions of the site's pictures that are missing, damaged or made by an older revision of the
// encoders, or all renditions if all is true. It also moves the index of videos to the beginning of the file. The old files are
// shown until the new ones are stored; only renditions that were made on request are deleted, and made again on the next request.
// RebuildMedia returns the number of pictures and videos that failed.
func (s *Service) RebuildMedia(ctx context.Context, all bool, report Progress) (problems int, err error) {
	return s.forEachFile(ctx, report, func(object mediaObject) (err error) {
		if object.media == nil {
			if object.media, err = s.addMedia(ctx, object.Object); err != nil {
				return err
			}
		}
		if object.isImage() {
			return s.rebuild(ctx, object.media, all)
		}
		return s.rebuildVideo(ctx, object, all)
	})
}

// MakeFirstSizes makes the first sizes of the site's pictures that have none. A start with the demo content calls it before it
// prints the site's URL, so that the first visit shows pictures.
func (s *Service) MakeFirstSizes(ctx context.Context) error {
	all, err := listPicturesAndVideos(ctx, s.db)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, object := range all {
		m := object.media
		if !files.SiteBucket(object.Bucket) || !object.isImage() || m == nil || !m.needsUpdate(stageFirst) {
			continue
		}
		group.Go(func() error {
			err := s.makeStage(ctx, m.ObjectID, m.Version, stageFirst)
			// Another node makes them, the picture was replaced or removed, or a job will record why it is refused.
			if errors.Is(err, errBusy) || errors.Is(err, errObsolete) || files.IsRefusal(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// rebuild makes the missing, damaged and outdated renditions of one picture, or all of them.
func (s *Service) rebuild(ctx context.Context, m *media, all bool) error {
	rows, err := listRenditions(ctx, s.db, m.ObjectID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		damaged := false
		if !all && r.Revision >= revision {
			sum, err := s.sumBlob(ctx, r.BlobID)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			damaged = sum != r.ETag // also if the file is missing
		}
		switch {
		case !damaged && !all && r.Revision >= revision:
		case r.Eager:
			err = outdateRendition(ctx, s.db, r.BlobID)
		default: // made again on the next request
			err = s.db.WithTx(ctx, func(tx *db.Tx) error {
				if err := deleteRendition(ctx, tx, r.BlobID); err != nil {
					return err
				}
				return s.blobs.Discard(ctx, tx, r.BlobID)
			})
		}
		if err != nil {
			return err
		}
	}
	if all || m.State != stateReady {
		if err := resetMedia(ctx, s.db, m.ObjectID, m.Version, s.now()); err != nil {
			return err
		}
	}
	return s.makeStages(ctx, m.ObjectID, m.Version, stageCount-1)
}
