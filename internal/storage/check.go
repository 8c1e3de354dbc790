package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"atelie/internal/db"
)

// Progress is told of each picture and film: it is the done-th of all. Problem is empty when it is as it should be.
type Progress func(done, all int, name, problem string) error

// eachPicture calls fn with every picture and film of the site's buckets and reports what it says.
func (s *Service) eachPicture(ctx context.Context, report Progress, fn func(shown) error) (problems int, err error) {
	all, err := listPictures(ctx, s.db)
	if err != nil {
		return 0, err
	}
	ours := all[:0]
	for _, p := range all {
		if ofTheSite(p.Bucket) {
			ours = append(ours, p)
		}
	}
	for i, p := range ours {
		problem := ""
		if err := fn(p); err != nil {
			if ctx.Err() != nil {
				return problems, err
			}
			problem = err.Error()
			problems++
		}
		if err := report(i+1, len(ours), p.Bucket+"/"+p.Name, problem); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// VerifyMedia reads every picture of the site with all of its renditions, and every film, and counts those with something
// missing, changed, or known wrongly. It changes nothing.
func (s *Service) VerifyMedia(ctx context.Context, report Progress) (problems int, err error) {
	return s.eachPicture(ctx, report, func(p shown) error { return s.verify(ctx, p) })
}

func (s *Service) verify(ctx context.Context, p shown) error {
	if !p.isImage() {
		return s.verifyFilm(ctx, p)
	}
	if p.media == nil {
		return errors.New("nothing is known of it")
	}
	if p.State != ready {
		return fmt.Errorf("its renditions are %s: %s", p.State, reasonText(p.Reason))
	}
	var problems []error
	check := func(what, blobID, etag string) {
		switch sum, err := s.sum(ctx, blobID); {
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, fmt.Errorf("%s: the file is missing", what))
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", what, err))
		case sum != etag:
			problems = append(problems, fmt.Errorf("%s: the file has changed", what))
		}
	}
	check("the picture", p.BlobID, p.ETag)
	if p.Original != nil {
		check("the original", p.Original.BlobID, p.Original.ETag)
	}
	rows, err := listMade(ctx, s.db, p.ObjectID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		check(r.Name, r.BlobID, r.ETag)
	}
	for stage := range stages {
		if stage == stageAVIF && !s.cfg.Engine.AVIF() {
			continue
		}
		missing, err := s.missing(ctx, p.media, recipes(stage, p.Bucket, p.Facts.Width, p.Facts.Height))
		if err != nil {
			return err
		}
		for _, m := range missing {
			problems = append(problems, fmt.Errorf("%s: is missing, or was made by an older program", m.name))
		}
	}
	return errors.Join(problems...)
}

func (s *Service) sum(ctx context.Context, blobID string) (_ string, err error) {
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

// RebuildMedia makes what is missing of every picture's renditions, or was made by an older encoder, and with all
// everything anew, and puts the index of every film in front. What is shown stays until the new file is there. It counts
// what could not be done.
func (s *Service) RebuildMedia(ctx context.Context, all bool, report Progress) (problems int, err error) {
	return s.eachPicture(ctx, report, func(p shown) error {
		if !p.isImage() {
			return unlessObsolete(s.rebuildFilm(ctx, p, all))
		}
		m := p.media
		if m == nil {
			var err error
			if m, err = s.ensure(ctx, p.Object); err != nil {
				return err
			}
		}
		return unlessObsolete(s.rebuild(ctx, m, all))
	})
}

// unlessObsolete lets pass that a file was replaced or removed meanwhile.
func unlessObsolete(err error) error {
	if errors.Is(err, errObsolete) {
		return nil
	}
	return err
}

func (s *Service) rebuild(ctx context.Context, m *media, all bool) error {
	rows, err := listMade(ctx, s.db, m.ObjectID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		lost := false
		if !all && r.Revision >= revision {
			sum, err := s.sum(ctx, r.BlobID)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			lost = sum != r.ETag
		}
		switch {
		case !lost && !all && r.Revision >= revision:
		case r.Eager:
			err = outdateMade(ctx, s.db, r.BlobID)
		default: // made again when somebody asks
			err = s.db.WithTx(ctx, func(tx *db.Tx) error {
				if err := deleteMade(ctx, tx, r.BlobID); err != nil {
					return err
				}
				return s.discard(ctx, tx, r.BlobID)
			})
		}
		if err != nil {
			return err
		}
	}
	if all || m.State != ready {
		if err := resetMedia(ctx, s.db, m.ObjectID, m.Version, s.now()); err != nil {
			return err
		}
	}
	return s.makeSet(ctx, m.ObjectID, m.Version)
}
