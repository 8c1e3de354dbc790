package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"atelie/internal/db"
	"atelie/internal/policy"
	"atelie/internal/storage/metadata"
)

// seen is what an upload shows of a picture or a film: its size in pixels as shown, and, where the public file is a
// cleaned one, the file as it came.
type seen struct {
	width, height int
	original      *original
	film          *filmFacts // of a film
}

// looked is an upload that has been looked at. cleaned holds the file without what is nobody's business, when that is
// not the file itself.
type looked struct {
	seen
	cleaned *os.File
}

func (l *looked) close() {
	if l != nil && l.cleaned != nil {
		_ = l.cleaned.Close() // it has no name any more
	}
}

// ofTheSite tells the site's own buckets, whose pictures get a ladder and are cleaned, from others, where a program
// keeps what it wants to get back byte by byte.
func ofTheSite(bucketID string) bool { return slices.Contains(policy.Buckets, bucketID) }

// lookAt checks a complete file, cleans a picture of the site, and reads what a film of the site says of itself. It gives
// nil for films elsewhere.
func (s *Service) lookAt(ctx context.Context, f io.ReadSeeker, b bucket, kind *fileType) (*looked, error) {
	switch {
	case kind.isImage():
	case ofTheSite(b.ID):
		return s.lookAtFilm(ctx, f, kind)
	default:
		return nil, nil
	}
	l := &looked{}
	var err error
	if l.width, l.height, err = sizeOf(f, kind); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	info, err := metadata.Read(f, kind.mime)
	if err != nil {
		return nil, errBroken.Because(err)
	}
	if info.Orientation > 4 { // turned by a quarter
		l.width, l.height = l.height, l.width
	}
	if !ofTheSite(b.ID) || kind.hidden {
		return l, nil
	}
	if l.cleaned, err = s.cleaned(ctx, f, kind); err != nil {
		return nil, err
	}
	return l, nil
}

// cleaned writes the cleaned form of a picture into a file without a name; nil when it is the picture itself.
func (s *Service) cleaned(ctx context.Context, f io.ReadSeeker, kind *fileType) (_ *os.File, err error) {
	if err := s.cleaners.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.cleaners.Release(1)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(s.cfg.Scratch, "picture-*")
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, spool.Close())
		}
	}()
	if err := os.Remove(spool.Name()); err != nil { // the kernel keeps it until it is closed
		return nil, err
	}
	if err := metadata.Clean(spool, f, kind.mime); err != nil {
		var onDisk *fs.PathError
		if errors.As(err, &onDisk) {
			return nil, err // our own: a full disk
		}
		return nil, errBroken.Because(err)
	}
	same, err := sameBytes(f, spool)
	if err != nil || same {
		return nil, err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	keep = true
	return spool, nil
}

// sameBytes compares two files, the length first.
func sameBytes(a, b io.ReadSeeker) (bool, error) {
	sizeA, errA := a.Seek(0, io.SeekEnd)
	sizeB, errB := b.Seek(0, io.SeekEnd)
	if err := errors.Join(errA, errB); err != nil || sizeA != sizeB {
		return false, err
	}
	_, errA = a.Seek(0, io.SeekStart)
	_, errB = b.Seek(0, io.SeekStart)
	if err := errors.Join(errA, errB); err != nil {
		return false, err
	}
	for bufA, bufB := make([]byte, 64<<10), make([]byte, 64<<10); sizeA > 0; {
		n := min(sizeA, int64(len(bufA)))
		_, errA = io.ReadFull(a, bufA[:n])
		_, errB = io.ReadFull(b, bufB[:n])
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(bufA[:n], bufB[:n]) {
			return false, err
		}
		sizeA -= n
	}
	return true, nil
}

// publish stores the cleaned file and makes it the object's; the file that came stays as the original.
func (s *Service) publish(ctx context.Context, o *Object, l *looked) (*seen, error) {
	switch {
	case l == nil:
		return nil, nil
	case l.cleaned == nil:
		return &l.seen, nil
	}
	id := newID()
	if err := insertTrash(ctx, s.db, id, s.now()); err != nil {
		return nil, err
	}
	info, err := s.blobs.Put(ctx, id, l.cleaned, nil)
	if err != nil {
		s.removeFile(context.WithoutCancel(ctx), id)
		return nil, err
	}
	l.original = &original{o.BlobID, o.Size, o.ETag}
	o.BlobID, o.Size, o.ETag = id, info.Size, info.SHA256
	return &l.seen, nil
}

// addMedia writes down, in the transaction that saves an object, what is known of it, and asks for its renditions.
func (s *Service) addMedia(ctx context.Context, tx *db.Tx, o Object, p *seen) error {
	if err := insertMedia(ctx, tx, o, p, s.now()); err != nil {
		return err
	}
	switch {
	case s.cfg.Jobs == nil || !ofTheSite(o.Bucket):
		return nil
	case p.film == nil:
		return s.cfg.Jobs.Enqueue(ctx, tx, JobPicture, pictureJob{o.ID, o.BlobID})
	case p.film.state() == waiting:
		return s.cfg.Jobs.Enqueue(ctx, tx, JobFilm, pictureJob{o.ID, o.BlobID})
	}
	return nil
}

// discardMedia removes what is known of an object and all that was made of it.
func (s *Service) discardMedia(ctx context.Context, tx *db.Tx, objectID string) error {
	blobs, err := takeMedia(ctx, tx, objectID)
	if err != nil {
		return err
	}
	for _, id := range blobs {
		if err := s.discard(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// EnsureMedia asks for the renditions of those pictures of the site that nothing is known of, and reads such films: they
// came before this program did either.
func (s *Service) EnsureMedia(ctx context.Context) error {
	all, err := listPictures(ctx, s.db)
	if err != nil {
		return err
	}
	for _, p := range all {
		ensure := s.ensureFilm
		if p.isImage() {
			ensure = s.ensure
		}
		if p.media != nil || !ofTheSite(p.Bucket) || p.isImage() && s.cfg.Engine == nil {
			continue
		}
		if _, err := ensure(ctx, p.Object); err != nil && !errors.Is(err, errNoObject) && !refusal(err) {
			return err
		}
	}
	return nil
}

// ensure gives the media row of a picture and makes one when there is none.
func (s *Service) ensure(ctx context.Context, o Object) (*media, error) {
	kind := typeOf(o.MimeType)
	if kind == nil || !kind.isImage() {
		return nil, errNoPicture
	}
	f, err := s.blobs.Open(ctx, o.BlobID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoObject.Because(err)
	}
	if err != nil {
		return nil, err
	}
	l, err := s.lookAt(ctx, f, bucket{}, kind) // as in a bucket that is not the site's: the public file is what it is
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return s.add(ctx, o, &l.seen)
}

// add writes down what is known of an object that is stored already, and gives the row.
func (s *Service) add(ctx context.Context, o Object, p *seen) (*media, error) {
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		now, err := lockObject(ctx, tx, o.Bucket, o.Name)
		if err != nil {
			return err
		}
		if now.BlobID != o.BlobID {
			return db.ErrNoRows
		}
		return s.addMedia(ctx, tx, o, p)
	})
	if errors.Is(err, db.ErrNoRows) {
		return nil, errNoObject
	}
	if err != nil {
		return nil, err
	}
	_, m, err := findShown(ctx, s.db, o.Bucket, o.Name)
	if err == nil && m == nil {
		err = errNoObject
	}
	return m, err
}
