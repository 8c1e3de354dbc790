package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file compares the content of the secondary destination, which has a copy of the backup, with the primary destination. It copies
// damaged objects again. The check runs after each nightly copy (secondary.go). The copy itself compares only names and sizes, so it would
// never replace a damaged object of the right size.

// errStillDamaged is the error for an object whose new copy is damaged too.
var errStillDamaged = errors.New("an object in the secondary backup destination is still damaged after it was copied again")

// checkCopy compares the content of the secondary destination with the primary one:
//   - format.json and the site's secrets
//   - the objects that a restore of the newest state of the database reads
//   - a random sample of the stored files
//
// An object that differs is logged, copied again and compared once more. names are the names of the primary destination's objects. checkCopy
// counts the compared and the repaired objects in detail.
func (s *Service) checkCopy(ctx context.Context, names []string, detail *CopyDetail) error {
	for _, name := range names {
		if name == formatName || name == secretName || name == sealedSecretName {
			want, _, err := sumOf(ctx, s.cfg.Destination, name)
			if err != nil {
				return missingAs(err, fmt.Errorf("%s: %w", name, errRemoved))
			}
			if err := s.checkObject(ctx, name, want, detail); err != nil {
				return err
			}
		}
	}
	if err := s.checkCopiedDatabase(ctx, detail); err != nil {
		return err
	}
	return s.checkCopiedFiles(ctx, names, detail)
}

// checkCopiedDatabase checks the newest snapshot of a PostgreSQL database. For an SQLite database it checks the LTX files (see RangeClient)
// that a restore of the newest state reads. Each LTX file contains its own checksum, so only a damaged one has to be read from the primary
// destination.
func (s *Service) checkCopiedDatabase(ctx context.Context, detail *CopyDetail) error {
	if s.db.Dialect == db.Postgres {
		list, err := listSnapshots(ctx, s.cfg.Destination)
		if err != nil || len(list) == 0 {
			return err
		}
		newest := list[len(list)-1]
		return s.checkObject(ctx, newest.Name, newest.SHA256, detail)
	}
	source, err := newReplicaReader(ctx, s.cfg.Destination)
	if err != nil {
		return err
	}
	target, err := newReplicaReader(ctx, s.cfg.Secondary)
	if err != nil {
		return err
	}
	// The zero transaction and the zero time select the newest state.
	plan, err := litestream.CalcRestorePlan(ctx, target, 0, time.Time{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for _, info := range plan {
		if err := s.checkOrRepair(ctx, ltxFileName(info), detail, func() error {
			_, _, err := target.verify(ctx, info)
			return err
		}, func() error { return copyLTXFile(ctx, source, target, info) }); err != nil {
			return err
		}
	}
	return nil
}

// checkCopiedFiles compares a random sample of files with the checksums that were recorded when they were copied into the primary
// destination.
func (s *Service) checkCopiedFiles(ctx context.Context, names []string, detail *CopyDetail) error {
	var ids []string
	for _, name := range names {
		id := path.Base(name)
		if _, err := uuid.Parse(id); err == nil && name == BlobName(id) {
			ids = append(ids, id)
		}
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for compared := 0; compared < restoreTestFiles && len(ids) > 0; ids = ids[1:] {
		want, err := copiedChecksum(ctx, s.db, ids[0])
		if errors.Is(err, db.ErrNoRows) { // expired meanwhile
			continue
		}
		if err != nil {
			return err
		}
		if err := s.checkObject(ctx, BlobName(ids[0]), want, detail); err != nil {
			return err
		}
		compared++
	}
	return nil
}

// checkObject compares an object of the secondary destination with the SHA-256 that it must have.
func (s *Service) checkObject(ctx context.Context, name, want string, detail *CopyDetail) error {
	return s.checkOrRepair(ctx, name, detail, func() error {
		got, _, err := sumOf(ctx, s.cfg.Secondary, name)
		if err == nil && got != want {
			err = damage(name, nil)
		}
		return err
	}, func() error { return copyObject(ctx, s.cfg.Destination, s.cfg.Secondary, name) })
}

// checkOrRepair calls check. If the object is damaged or missing, it calls copyAgain, and then check once more.
func (s *Service) checkOrRepair(ctx context.Context, name string, detail *CopyDetail, check, copyAgain func() error) error {
	detail.Compared++
	err := check()
	if !isDamaged(err) {
		return err
	}
	if err := copyAgain(); err != nil {
		return err
	}
	if err := check(); isDamaged(err) {
		return fmt.Errorf("%w: %s", errStillDamaged, name)
	} else if err != nil {
		return err
	}
	detail.Repaired++
	s.log.Warn("backup: an object in the secondary backup destination was damaged or missing, and was copied again: check that disk or bucket if this repeats", "name", name, "destination", s.cfg.Secondary.Label(), "cause", err.Error())
	return nil
}

// isDamaged reports whether an error of a destination says that an object is missing or is not what was written.
func isDamaged(err error) bool {
	_, damaged := errors.AsType[*Damage](err)
	return damaged || errors.Is(err, fs.ErrNotExist)
}

// sumOf returns the SHA-256 of an object in hexadecimal digits, and its size in bytes.
func sumOf(ctx context.Context, dest Destination, name string) (sum string, size int64, err error) {
	body, err := dest.Open(ctx, name)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	size, err = io.Copy(hash, reader{ctx, body})
	return hex.EncodeToString(hash.Sum(nil)), size, err
}
