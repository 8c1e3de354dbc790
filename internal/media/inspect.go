package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition"
)

// This file inspects uploads, and saves the results in the table media. It also copies, moves and deletes rows of the table with their
// objects (stored files).

// Inspect checks a complete upload of type t. strip is true for uploads into buckets whose pictures are published without private metadata
// such as locations (files.SiteOrConversationBucket). The result has:
//   - for every picture: its size
//   - for a picture with strip: also a placeholder, made from the small preview picture inside the file, and a copy of the file without
//     private metadata, unless the copy would equal the file or the metadata of this type cannot be removed
//   - for a video with strip: what its header and index say
//
// The result for a video without strip is nil.
func (s *Service) Inspect(ctx context.Context, f io.ReadSeeker, t *files.Type, strip bool) (*files.Inspection, error) {
	if !t.Image {
		if !strip {
			return nil, nil
		}
		// A truncated video is rejected here, before it is stored. For a video that is stored already, the failure is only recorded
		// (inspectStored).
		found, truncated, err := s.probeVideo(ctx, f, t)
		if err == nil && truncated != nil {
			err = errVideoTruncated.Because(truncated)
		}
		return found, err
	}
	found := &files.Inspection{}
	var err error
	if found.Width, found.Height, err = sizeOf(f, t); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	info, err := metadata.Read(f, t.MIME)
	if err != nil {
		return nil, errUnreadableImage.Because(err)
	}
	if info.Orientation > 4 { // shown rotated by 90 degrees
		found.Width, found.Height = found.Height, found.Width
	}
	if !strip {
		return found, nil
	}
	found.Thumbhash, found.Color = rendition.Preview(ctx, info, found.Width, found.Height)
	if !t.KeepsMetadata {
		found.Stripped, err = s.stripMetadata(ctx, f, t)
	}
	return found, err
}

// stripMetadata returns a copy of a picture without private metadata, or nil if the copy would equal the picture. The copy is a temporary
// file that is already removed from its folder, so that closing it frees its space.
func (s *Service) stripMetadata(ctx context.Context, f io.ReadSeeker, t *files.Type) (stripped *os.File, err error) {
	if err := s.stripSlots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.stripSlots.Release(1)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	file, err := datafolder.OpenShared(filepath.Join(s.cfg.Scratch, "picture-"+uuid.NewString()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if stripped == nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if err := os.Remove(file.Name()); err != nil { // the open file can be used until it is closed
		return nil, err
	}
	if err := metadata.Strip(file, f, t.MIME); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, err // an error of the temporary file, such as a full disk
		}
		return nil, errUnreadableImage.Because(err)
	}
	same, err := sameBytes(f, file)
	if err != nil || same {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return file, nil
}

// sameBytes reports whether two files are equal.
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

// Record saves the result of an inspection and enqueues the object's jobs, in the transaction that saves the object. original is the
// upload, if the public file is a copy of it without metadata; otherwise nil.
func (s *Service) Record(ctx context.Context, tx *db.Tx, o files.Object, i *files.Inspection, original *files.Blob) error {
	if err := insertMedia(ctx, tx, o, i, original, s.now()); err != nil {
		return err
	}
	switch {
	case s.cfg.Jobs == nil || !files.SiteBucket(o.Bucket):
		return nil
	case i.Video == nil:
		return s.cfg.Jobs.Enqueue(ctx, tx, JobFirst, mediaJob{o.ID, o.BlobID})
	case videoState(i.Video) == stateWaiting:
		return s.cfg.Jobs.Enqueue(ctx, tx, JobVideo, mediaJob{o.ID, o.BlobID})
	}
	return nil
}

// Move transfers an object's media row, original and renditions to another object with the same blob.
func (s *Service) Move(ctx context.Context, tx *db.Tx, fromID, toID string) error {
	original, err := lockOriginal(ctx, tx, fromID)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := copyMedia(ctx, tx, fromID, toID); err != nil {
		return err
	}
	if err := moveRenditions(ctx, tx, fromID, toID); err != nil {
		return err
	}
	if err := setOriginal(ctx, tx, fromID, nil); err != nil { // an original has one media row at any time
		return err
	}
	return errors.Join(setOriginal(ctx, tx, toID, original), deleteMediaRow(ctx, tx, fromID))
}

// Copy copies an object's media row to another object, whose blob and original have the same bytes. original is nil if there is none. The
// renditions of a picture are made once Resume is called.
func (s *Service) Copy(ctx context.Context, tx *db.Tx, fromID string, to files.Object, original *files.Blob) error {
	if _, err := lockOriginal(ctx, tx, fromID); errors.Is(err, db.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	if err := copyMedia(ctx, tx, fromID, to.ID); err != nil {
		return err
	}
	return errors.Join(setVersion(ctx, tx, to.ID, to.BlobID), setOriginal(ctx, tx, to.ID, original))
}

// Resume enqueues the first job of an object that was restored or copied, unless its jobs had finished before.
func (s *Service) Resume(ctx context.Context, tx *db.Tx, o files.Object) error {
	kind, waiting, err := findWaiting(ctx, tx, o)
	switch {
	case err != nil || !waiting || s.cfg.Jobs == nil:
		return err
	case kind == "video":
		return s.cfg.Jobs.Enqueue(ctx, tx, JobVideo, mediaJob{o.ID, o.BlobID})
	}
	return s.cfg.Jobs.Enqueue(ctx, tx, JobFirst, mediaJob{o.ID, o.BlobID})
}

// Discard removes an object's media row, original and renditions, in the transaction that removes or replaces the object.
func (s *Service) Discard(ctx context.Context, tx *db.Tx, objectID string) error {
	blobs, err := deleteMedia(ctx, tx, objectID)
	if err != nil {
		return err
	}
	for _, id := range blobs {
		if err := s.blobs.Discard(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// EnsureMedia inspects the pictures and videos of the site that have no media row, because an older version of the program
// stored them.
func (s *Service) EnsureMedia(ctx context.Context) error {
	all, err := listPicturesAndVideos(ctx, s.db)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.media != nil || !files.SiteBucket(p.Bucket) || p.isImage() && s.cfg.Engine == nil { // without an engine pictures get no renditions
			continue
		}
		if _, err := s.addMedia(ctx, p.Object); err != nil && !errors.Is(err, files.ErrNoObject) && !files.IsRefusal(err) {
			return err
		}
	}
	return nil
}

// addMedia inspects an object that has no media row, and inserts the row. The error is files.ErrNoObject if the object was
// replaced or removed before the row was inserted.
func (s *Service) addMedia(ctx context.Context, o files.Object) (*media, error) {
	found, err := s.inspectStored(ctx, o)
	if err != nil {
		return nil, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		same, err := lockObject(ctx, tx, o)
		if err == nil && !same {
			err = files.ErrNoObject
		}
		if err != nil {
			return err
		}
		return s.Record(ctx, tx, o, found, nil)
	})
	if err != nil {
		return nil, err
	}
	_, m, err := findMediaObjectByID(ctx, s.db, o.ID)
	if errors.Is(err, db.ErrNoRows) || err == nil && m == nil {
		err = files.ErrNoObject
	}
	return m, err
}

// inspectStored inspects a stored object without making a copy without metadata. The result for a truncated video has a Failure.
func (s *Service) inspectStored(ctx context.Context, o files.Object) (found *files.Inspection, err error) {
	t := files.TypeOf(o.MimeType)
	if t == nil {
		return nil, errNoPicture
	}
	f, err := s.blobs.Open(ctx, o.BlobID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, files.ErrNoObject.Because(err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if t.Image {
		return s.Inspect(ctx, f, t, false)
	}
	found, _, err = s.probeVideo(ctx, f, t)
	return found, err
}
