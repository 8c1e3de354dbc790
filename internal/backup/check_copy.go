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

// This file compares objects of the second place by content, and copies damaged ones again. copyOnce compares only names and sizes, so
// it would never replace a damaged object of the right size.

// errUnmended is the cause when an object of the second place is damaged and a new copy of it is too.
var errUnmended = errors.New("an object in the second place of the backup is damaged, and copying it again did not mend it")

// checkCopy compares the second place with the first one: everything but files that a restore of the newest moment needs, and random
// files. An object that differs is copied again, logged, and compared once more. names are the objects of the first place.
func (s *Service) checkCopy(ctx context.Context, names []string, detail *CopyDetail) error {
	for _, name := range names {
		if name == formatName || name == secretName || name == sealedSecretName {
			want, err := sumOf(ctx, s.cfg.Place, name)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", name, errRemoved)
			}
			if err == nil {
				err = s.checkObject(ctx, name, want, detail)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := s.checkCopiedDatabase(ctx, detail); err != nil {
		return err
	}
	return s.checkCopiedFiles(ctx, names, detail)
}

// checkCopiedDatabase compares the newest snapshot of a PostgreSQL database, or the parts that make the newest state of an SQLite
// database, each of which has its own checksum.
func (s *Service) checkCopiedDatabase(ctx context.Context, detail *CopyDetail) error {
	if s.db.Dialect == db.Postgres {
		list, err := listSnapshots(ctx, s.cfg.Place)
		if err != nil || len(list) == 0 {
			return err
		}
		newest := list[len(list)-1]
		return s.checkObject(ctx, newest.Name, newest.SHA256, detail)
	}
	source, err := openParts(ctx, s.cfg.Place)
	if err != nil {
		return err
	}
	target, err := openParts(ctx, s.cfg.CopyTo)
	if err != nil {
		return err
	}
	plan, err := litestream.CalcRestorePlan(ctx, target, 0, time.Time{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for _, info := range plan {
		if err := s.checkOrMend(ctx, partName(info), detail, func() error {
			_, _, err := target.verify(ctx, info)
			return err
		}, func() error { return copyPart(ctx, source, target, info) }); err != nil {
			return err
		}
	}
	return nil
}

// checkCopiedFiles compares random files with the checksums that were recorded when they were copied into the first place.
func (s *Service) checkCopiedFiles(ctx context.Context, names []string, detail *CopyDetail) error {
	var ids []string
	for _, name := range names {
		id := path.Base(name)
		if _, err := uuid.Parse(id); err == nil && name == BlobName(id) {
			ids = append(ids, id)
		}
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for compared := 0; compared < proofFiles && len(ids) > 0; ids = ids[1:] {
		want, err := copiedSum(ctx, s.db, ids[0])
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

// checkObject compares an object of the second place with the SHA-256 that it must have.
func (s *Service) checkObject(ctx context.Context, name, want string, detail *CopyDetail) error {
	return s.checkOrMend(ctx, name, detail, func() error {
		got, err := sumOf(ctx, s.cfg.CopyTo, name)
		if err == nil && got != want {
			err = damage(name, nil)
		}
		return err
	}, func() error { return copyObject(ctx, s.cfg.Place, s.cfg.CopyTo, name) })
}

// checkOrMend calls check, and if something is damaged or missing then copyAgain and check once more.
func (s *Service) checkOrMend(ctx context.Context, name string, detail *CopyDetail, check, copyAgain func() error) error {
	detail.Compared++
	err := check()
	if !isDamaged(err) {
		return err
	}
	if err := copyAgain(); err != nil {
		return err
	}
	if err := check(); isDamaged(err) {
		return fmt.Errorf("%w: %s", errUnmended, name)
	} else if err != nil {
		return err
	}
	detail.Mended++
	s.log.Warn("backup: an object in the second place was damaged or missing, and was copied again: look after that disk or bucket if this repeats", "name", name, "place", s.cfg.CopyTo.Label(), "cause", err.Error())
	return nil
}

// isDamaged reports whether an error of the second place says that an object is not what was copied.
func isDamaged(err error) bool {
	var damage *Damage
	return errors.As(err, &damage) || errors.Is(err, fs.ErrNotExist)
}

// sumOf returns the SHA-256 of an object in hexadecimal digits.
func sumOf(ctx context.Context, p Place, name string) (sum string, err error) {
	body, err := p.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, reader{ctx, body}); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
