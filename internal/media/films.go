package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/media/film"
)

// JobFilm is the kind of the jobs that move a film's index to the beginning of the file after its upload. Browsers can then
// play the film before they have received all of it.
const JobFilm = "film"

// FilmTimeout limits one run of a job of the kind JobFilm. It is long because a run can read 2 GB from the store and write 2 GB
// to it.
const FilmTimeout = 30 * time.Minute

// maxProbes limits how many films are probed at the same time (probeFilm), because the index of each of them, up to 64 MB, is
// held in memory.
const maxProbes = 2

// filmState returns the state (store_media.go) that a film gets after it was probed.
func filmState(f *files.Film) string {
	switch {
	case f.Failure != "":
		return stateFailed
	case f.IndexFirst:
		return stateReady
	}
	return stateWaiting
}

// probeFilm reads a film's header and index. If the file cannot be read as a film, the inspection contains a Failure and err is
// nil: the file is stored nevertheless, so that the owner sees the reason. errTruncated is not nil if the end of the file is
// missing.
func (s *Service) probeFilm(ctx context.Context, f io.ReadSeeker, t *files.Type) (inspection *files.Inspection, errTruncated, err error) {
	if err := s.probes.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer s.probes.Release(1)
	withFailure := func(reason string) *files.Inspection { return &files.Inspection{Film: &files.Film{Failure: reason}} }
	if t == files.Matroska {
		return withFailure(reasonMatroska), nil, nil
	}
	info, err := film.Probe(f)
	switch {
	case errors.Is(err, film.ErrCut):
		return withFailure(reasonNoFilm), err, nil
	case errors.Is(err, film.ErrUnreadable):
		return withFailure(reasonNoFilm), nil, nil
	case err != nil:
		return nil, nil, err
	}
	return &files.Inspection{Width: info.Width, Height: info.Height, Film: &files.Film{Codec: info.Codec, Duration: info.Duration, IndexFirst: info.IndexFirst}}, nil, nil
}

// ArrangeFilm runs a job of the kind JobFilm: it moves a film's index to the beginning of the file.
func (s *Service) ArrangeFilm(ctx context.Context, payload []byte) error {
	return s.runJob(ctx, payload, reasonIndex, func(ctx context.Context, j mediaJob) error { return s.arrange(ctx, j.ObjectID, j.Version) })
}

// arrange probes a film. If the index is at the end, arrange stores a copy of the file with the index at the beginning. The
// copy replaces the file unless the object has been replaced since. Running downloads of the old file continue.
func (s *Service) arrange(ctx context.Context, objectID, version string) error {
	return s.withLease(ctx, objectID, version, func(ctx context.Context, o files.Object, m *media) (err error) {
		if m.Kind != "video" || m.State != stateWaiting || !files.SiteBucket(o.Bucket) {
			return nil
		}
		f, err := s.blobs.Open(ctx, o.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			if _, now, findErr := findMediaObjectByID(ctx, s.db, objectID); findErr == nil && now != nil && now.Version == version {
				return err // the object still names this file: the store has lost it
			}
			return errObsolete
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		found, _, err := s.probeFilm(ctx, f, files.TypeOf(o.MimeType))
		if err != nil {
			return err
		}
		if filmState(found.Film) != stateWaiting {
			return s.saveFilm(ctx, m, found)
		}
		return s.moveIndex(ctx, o, m, f)
	})
}

// moveIndex stores the film again with the index at the beginning, and replaces the file.
func (s *Service) moveIndex(ctx context.Context, o files.Object, m *media, f io.ReadSeeker) error {
	body, err := film.Faststart(f)
	if err == nil && body == nil {
		err = fmt.Errorf("%w: its index is neither in front nor behind", film.ErrUnreadable)
	}
	if errors.Is(err, film.ErrUnreadable) {
		return s.refuseFilm(ctx, m, err)
	}
	if err != nil {
		return err
	}
	ids, err := s.blobs.Reserve(ctx, 1)
	if err != nil {
		return err
	}
	var found *files.Inspection
	stored, err := s.blobs.Put(ctx, ids[0], body)
	if err == nil {
		moved := o
		moved.BlobID = stored.ID
		found, err = s.inspectStored(ctx, moved)
		if err == nil && filmState(found.Film) != stateReady {
			err = fmt.Errorf("%w: after its index was moved", film.ErrUnreadable)
		}
		if err != nil {
			s.blobs.Remove(context.WithoutCancel(ctx), stored.ID)
		}
	}
	if errors.Is(err, film.ErrUnreadable) {
		return s.refuseFilm(ctx, m, err)
	}
	if err != nil {
		return err
	}
	return s.replaceFile(ctx, o, m, found, stored)
}

// refuseFilm records that a film cannot be read, and returns a permanent error: the job is not repeated.
func (s *Service) refuseFilm(ctx context.Context, m *media, cause error) error {
	return errors.Join(errCannotBeShown(reasonNoFilm).Because(cause), failMedia(context.WithoutCancel(ctx), s.db, m.ObjectID, m.Version, reasonNoFilm, s.now()))
}

// replaceFile replaces the object's file with the stored one. The error is errObsolete if the object no longer has the old file.
func (s *Service) replaceFile(ctx context.Context, o files.Object, m *media, found *files.Inspection, stored files.Blob) error {
	// HTTP dates have whole seconds. The new file must have a later second, so that clients which compare dates notice it.
	updatedAt := s.now().UTC().Truncate(time.Microsecond)
	if next := o.UpdatedAt.Add(time.Second); updatedAt.Before(next) {
		updatedAt = next
	}
	committing := false // if true, the transaction may be committed although WithTx returns an error: the new blob must stay
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		committing = false
		replaced, err := replaceBlob(ctx, tx, o.ID, o.BlobID, stored, updatedAt)
		if err != nil {
			return err
		}
		if !replaced {
			return errObsolete
		}
		if err := saveFilmFacts(ctx, tx, m.ObjectID, o.BlobID, stored.ID, found, s.now()); err != nil {
			return err
		}
		if err := s.blobs.Discard(ctx, tx, o.BlobID); err != nil {
			return err
		}
		if err := s.blobs.Commit(ctx, tx, stored.ID); err != nil {
			return err
		}
		committing = true
		return nil
	})
	if err != nil && !committing {
		s.blobs.Remove(context.WithoutCancel(ctx), stored.ID)
	}
	return err
}

// saveFilm saves what was read from a film whose file stays as it is.
func (s *Service) saveFilm(ctx context.Context, m *media, found *files.Inspection) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return saveFilmFacts(ctx, tx, m.ObjectID, m.Version, m.Version, found, s.now())
	})
}

// verifyFilm compares a film with its row.
func (s *Service) verifyFilm(ctx context.Context, p mediaObject) error {
	switch {
	case p.media == nil:
		return errors.New("nothing is known of it")
	case p.State == stateFailed:
		return errors.New(reasonText(p.Reason))
	}
	if err := s.verifyBlob(ctx, "the film", p.BlobID, p.ETag); err != nil {
		return err
	}
	found, err := s.inspectStored(ctx, p.Object)
	switch {
	case err != nil:
		return err
	case found.Film.Failure != "":
		return errors.New(reasonText(found.Film.Failure))
	case p.State == stateWaiting, !found.Film.IndexFirst:
		return errors.New("its index is behind")
	case !p.matches(found):
		return errors.New("what is known of it is not what the file says")
	}
	return nil
}

// matches reports whether the row agrees with what was read from the film.
func (m *media) matches(found *files.Inspection) bool {
	return m.Facts.Width == found.Width && m.Facts.Height == found.Height && m.Codec != nil && *m.Codec == storableText(found.Film.Codec) &&
		m.Duration != nil && math.Abs(*m.Duration-found.Film.Duration.Seconds()) < 0.01
}

// rebuildFilm probes a film again and moves its index to the beginning if necessary. It returns an error for a film that
// cannot be shown. If all is false, it skips a film that is in order.
func (s *Service) rebuildFilm(ctx context.Context, p mediaObject, all bool) error {
	m := p.media
	found, err := s.inspectStored(ctx, p.Object)
	if err != nil {
		return err
	}
	if !all && m.State == stateReady && filmState(found.Film) == stateReady && m.matches(found) {
		return nil
	}
	if err := resetMedia(ctx, s.db, m.ObjectID, m.Version, s.now()); err != nil {
		return err
	}
	if err := s.arrange(ctx, m.ObjectID, m.Version); err != nil {
		if known, ok := errors.AsType[*apperr.Error](err); ok {
			return errors.New(known.Message)
		}
		return err
	}
	if found.Film.Failure != "" {
		return errors.New(reasonText(found.Film.Failure))
	}
	return nil
}
