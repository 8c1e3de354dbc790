package storage

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
	"atelie/internal/storage/blob"
	"atelie/internal/storage/film"
)

// JobFilm is the kind of jobs that put a film's index in front after its upload, so that it plays before all of it has
// arrived.
const JobFilm = "film"

// FilmTime is how long one run may take: 2 GB are read from the store and written to it again.
const FilmTime = 30 * time.Minute

// maxProbes is how many films are looked at together: each may have an index of 64 MB, which is held in memory.
const maxProbes = 2

// filmFacts is what a film says of itself. failure is the reason why it cannot be shown; then nothing else is known.
type filmFacts struct {
	film.Info
	failure string
}

// state is that of a film before any work on it.
func (f *filmFacts) state() string {
	switch {
	case f.failure != "":
		return failed
	case f.Indexed:
		return ready
	}
	return waiting
}

// probeFilm reads a film's header and index. cut says that its end is missing; a file that cannot be read gives facts
// with a failure.
func (s *Service) probeFilm(ctx context.Context, f io.ReadSeeker, kind *fileType) (facts *filmFacts, cut, err error) {
	if err := s.probes.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer s.probes.Release(1)
	if kind == matroskaType {
		return &filmFacts{failure: reasonMatroska}, nil, nil
	}
	info, err := film.Probe(f)
	switch {
	case errors.Is(err, film.ErrCut):
		return &filmFacts{failure: reasonNoFilm}, err, nil
	case errors.Is(err, film.ErrUnreadable):
		return &filmFacts{failure: reasonNoFilm}, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return &filmFacts{Info: info}, nil, nil
}

// lookAtFilm reads what a film of the site says of itself, and refuses one that has not come whole. What is no film
// beyond its first bytes is stored and shown to its owner as failed.
func (s *Service) lookAtFilm(ctx context.Context, f io.ReadSeeker, kind *fileType) (*looked, error) {
	facts, cut, err := s.probeFilm(ctx, f, kind)
	if err != nil {
		return nil, err
	}
	if cut != nil {
		return nil, errFilmCut.Because(cut)
	}
	return &looked{seen: seen{width: facts.Width, height: facts.Height, film: facts}}, nil
}

// ArrangeFilm does a job of the kind JobFilm.
func (s *Service) ArrangeFilm(ctx context.Context, payload []byte) error {
	return s.work(ctx, payload, reasonWork, func(ctx context.Context, j pictureJob) error { return s.arrange(ctx, j.ObjectID, j.Version) })
}

// arrange reads a film and, where its index is behind, stores it anew with the index in front and puts the new file in
// the old one's place. It does so only to the file that it has read; who reads that one reads on.
func (s *Service) arrange(ctx context.Context, objectID, version string) error {
	return s.alone(ctx, objectID, version, func(ctx context.Context, o Object, m *media) (err error) {
		if m.Kind != "video" || m.State != waiting || !ofTheSite(o.Bucket) {
			return nil
		}
		f, err := s.blobs.Open(ctx, o.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			if _, now, lookErr := findShownByID(ctx, s.db, objectID); lookErr == nil && now != nil && now.Version == version {
				return err // lost, not replaced
			}
			return errObsolete
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		facts, _, err := s.probeFilm(ctx, f, typeOf(o.MimeType))
		if err != nil {
			return err
		}
		if facts.state() != waiting {
			return s.saveFilm(ctx, m, facts)
		}
		return s.putInFront(ctx, o, m, f)
	})
}

// putInFront stores the film with its index in front and swaps the files.
func (s *Service) putInFront(ctx context.Context, o Object, m *media, f io.ReadSeeker) error {
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
	id := newID()
	if err := insertTrash(ctx, s.db, id, s.now()); err != nil {
		return err
	}
	var facts *filmFacts
	stored, err := s.blobs.Put(ctx, id, &noted{ctx: ctx, s: s, blobID: id, since: s.now(), body: body}, func(f io.ReadSeeker) error {
		var err error
		if facts, _, err = s.probeFilm(ctx, f, typeOf(o.MimeType)); err != nil {
			return err
		}
		if facts.state() != ready {
			return fmt.Errorf("%w: after its index was moved", film.ErrUnreadable)
		}
		return nil
	})
	if err != nil {
		s.removeFile(context.WithoutCancel(ctx), id)
		if errors.Is(err, film.ErrUnreadable) {
			return s.refuseFilm(ctx, m, err)
		}
		return err
	}
	return s.swap(ctx, o, m, facts, id, stored)
}

// refuseFilm notes that a film cannot be read, for good.
func (s *Service) refuseFilm(ctx context.Context, m *media, cause error) error {
	return errors.Join(errPicture(reasonNoFilm).Because(cause), failMedia(context.WithoutCancel(ctx), s.db, m.ObjectID, m.Version, reasonNoFilm, s.now()))
}

// swap makes the new file the object's, unless the object has another one by now.
func (s *Service) swap(ctx context.Context, o Object, m *media, facts *filmFacts, id string, stored blob.Info) error {
	// Dates of HTTP have whole seconds: a reader that goes by them must see that the file is another one.
	at := s.now().UTC().Truncate(time.Microsecond)
	if next := o.UpdatedAt.Add(time.Second); at.Before(next) {
		at = next
	}
	committing := false
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		committing = false
		there, err := replaceBlob(ctx, tx, o.ID, o.BlobID, id, stored, at)
		if err != nil {
			return err
		}
		if !there {
			return errObsolete
		}
		if err := saveFilmFacts(ctx, tx, m.ObjectID, o.BlobID, id, facts, s.now()); err != nil {
			return err
		}
		if err := s.discard(ctx, tx, o.BlobID); err != nil {
			return err
		}
		if err := deleteTrash(ctx, tx, id); err != nil {
			return err
		}
		committing = true
		return nil
	})
	if err != nil && !committing {
		s.removeFile(context.WithoutCancel(ctx), id)
	}
	return err
}

func (s *Service) saveFilm(ctx context.Context, m *media, facts *filmFacts) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return saveFilmFacts(ctx, tx, m.ObjectID, m.Version, m.Version, facts, s.now())
	})
}

// ensureFilm gives the media row of a film and makes one when there is none.
func (s *Service) ensureFilm(ctx context.Context, o Object) (*media, error) {
	l, err := s.lookAgain(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.add(ctx, o, &l.seen)
}

// lookAgain reads a stored film; one whose end is missing has failed.
func (s *Service) lookAgain(ctx context.Context, o Object) (_ *looked, err error) {
	f, err := s.blobs.Open(ctx, o.BlobID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoObject.Because(err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	facts, _, err := s.probeFilm(ctx, f, typeOf(o.MimeType))
	if err != nil {
		return nil, err
	}
	return &looked{seen: seen{width: facts.Width, height: facts.Height, film: facts}}, nil
}

// verifyFilm compares a film with what is known of it.
func (s *Service) verifyFilm(ctx context.Context, p shown) error {
	switch {
	case p.media == nil:
		return errors.New("nothing is known of it")
	case p.State == failed:
		return errors.New(reasonText(p.Reason))
	}
	sum, err := s.sum(ctx, p.BlobID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the film: the file is missing")
	case err != nil:
		return err
	case sum != p.ETag:
		return errors.New("the film: the file has changed")
	}
	l, err := s.lookAgain(ctx, p.Object)
	switch {
	case err != nil:
		return err
	case l.film.failure != "":
		return errors.New(reasonText(l.film.failure))
	case p.State == waiting, !l.film.Indexed:
		return errors.New("its index is behind")
	case !p.tells(l.film):
		return errors.New("what is known of it is not what the file says")
	}
	return nil
}

// tells compares a row with a file.
func (m *media) tells(f *filmFacts) bool {
	return m.Facts.Width == f.Width && m.Facts.Height == f.Height && m.Codec != nil && *m.Codec == clean(f.Codec) &&
		m.Duration != nil && math.Abs(*m.Duration-f.Duration.Seconds()) < 0.01
}

// rebuildFilm reads a film anew and puts its index in front where it is not. One that cannot be shown is a problem.
func (s *Service) rebuildFilm(ctx context.Context, p shown, all bool) error {
	m := p.media
	if m == nil {
		var err error
		if m, err = s.ensureFilm(ctx, p.Object); err != nil {
			return err
		}
	}
	l, err := s.lookAgain(ctx, p.Object)
	if err != nil {
		return err
	}
	if !all && m.State == ready && l.film.state() == ready && m.tells(l.film) {
		return nil
	}
	if err := resetMedia(ctx, s.db, m.ObjectID, m.Version, s.now()); err != nil {
		return err
	}
	if err := s.arrange(ctx, m.ObjectID, m.Version); err != nil {
		var known *apperr.Error
		if errors.As(err, &known) {
			return errors.New(known.Message)
		}
		return err
	}
	if l.film.failure != "" {
		return errors.New(reasonText(l.film.failure))
	}
	return nil
}
