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
	"atelie/internal/media/video"
)

// This file reads the headers of uploaded videos, and moves the index of a video to the beginning of its file. The index (the moov box of
// an MP4) says where the frames are in the file. With the index at the beginning, browsers can play a video before they have received all
// of it.

// JobVideo is the kind of the jobs that move the index of an uploaded video.
const JobVideo = "film" // stored jobs contain the kind, so it cannot change

// VideoTimeout limits one run of a job of the kind JobVideo. It is long because a run can read 2 GB from the store and write 2 GB
// to it.
const VideoTimeout = 30 * time.Minute

// maxProbes is the maximum number of videos whose headers are read at the same time. The limit exists because the index of each video, up to
// 64 MB, is held in memory.
const maxProbes = 2

// videoState returns the state of a video from the result of probeVideo: failed, ready or waiting.
func videoState(f *files.Video) string {
	switch {
	case f.Failure != "":
		return stateFailed
	case f.IndexFirst:
		return stateReady
	}
	return stateWaiting
}

// probeVideo reads a video's header and index. If the file is not a readable video, err is nil and the inspection contains a Failure: the
// caller can then store the file, and the owner sees the reason. If the end of the file is missing, truncated is an error with the details,
// so that the caller can reject an upload. Otherwise truncated is nil.
func (s *Service) probeVideo(ctx context.Context, f io.ReadSeeker, t *files.Type) (inspection *files.Inspection, truncated, err error) {
	if err := s.probes.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer s.probes.Release(1)
	withFailure := func(reason string) *files.Inspection { return &files.Inspection{Video: &files.Video{Failure: reason}} }
	if t == files.Matroska {
		return withFailure(reasonMatroska), nil /* not truncated */, nil
	}
	info, err := video.Probe(f)
	switch {
	case errors.Is(err, video.ErrTruncated):
		return withFailure(reasonUnreadableVideo), err, nil
	case errors.Is(err, video.ErrUnreadable):
		return withFailure(reasonUnreadableVideo), nil, nil
	case err != nil:
		return nil, nil, err
	}
	found := &files.Video{Codec: info.Codec, Duration: info.Duration, IndexFirst: info.IndexFirst}
	return &files.Inspection{Width: info.Width, Height: info.Height, Video: found}, nil, nil
}

// ArrangeVideo runs a job of the kind JobVideo: it moves a video's index to the beginning of the file.
func (s *Service) ArrangeVideo(ctx context.Context, payload []byte) error {
	return s.runJob(ctx, payload, reasonIndex, func(ctx context.Context, j mediaJob) error { return s.arrange(ctx, j.ObjectID, j.Version) })
}

// arrange probes a video. If the index is at the end, arrange stores a copy of the file with the index at the beginning. The
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
		found, _, err := s.probeVideo(ctx, f, files.TypeOf(o.MimeType))
		if err != nil {
			return err
		}
		if videoState(found.Video) != stateWaiting { // the file stays as it is
			return s.db.WithTx(ctx, func(tx *db.Tx) error {
				return saveVideoFacts(ctx, tx, m.ObjectID, m.Version, m.Version, found, s.now())
			})
		}
		err = s.moveIndex(ctx, o, m, f)
		if errors.Is(err, video.ErrUnreadable) { // return a permanent error: the job is not retried
			err = errors.Join(errCannotBeShown(reasonUnreadableVideo).Because(err),
				failMedia(context.WithoutCancel(ctx), s.db, m.ObjectID, m.Version, reasonUnreadableVideo, s.now()))
		}
		return err
	})
}

// moveIndex stores the video again with the index at the beginning, and replaces the file. The error wraps video.ErrUnreadable if the video
// cannot be read.
func (s *Service) moveIndex(ctx context.Context, o files.Object, m *media, f io.ReadSeeker) error {
	body, err := video.Faststart(f)
	if err == nil && body == nil {
		err = fmt.Errorf("%w: its index is neither before nor after the media data", video.ErrUnreadable)
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
		if err == nil && videoState(found.Video) != stateReady {
			err = fmt.Errorf("%w: after its index was moved", video.ErrUnreadable)
		}
		if err != nil {
			s.blobs.Remove(context.WithoutCancel(ctx), stored.ID)
		}
	}
	if err != nil {
		return err
	}
	return s.replaceFile(ctx, o, m, found, stored)
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
		if err == nil && !replaced {
			err = errObsolete
		}
		if err != nil {
			return err
		}
		if err := saveVideoFacts(ctx, tx, m.ObjectID, o.BlobID, stored.ID, found, s.now()); err != nil {
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

// verifyVideo compares a video with its row.
func (s *Service) verifyVideo(ctx context.Context, object mediaObject) error {
	switch {
	case object.media == nil:
		return errors.New("it has no media row")
	case object.State == stateFailed:
		return errors.New(reasonText(object.Reason))
	}
	if err := s.verifyBlob(ctx, "the video", object.BlobID, object.ETag); err != nil {
		return err
	}
	found, err := s.inspectStored(ctx, object.Object)
	switch {
	case err != nil:
		return err
	case found.Video.Failure != "":
		return errors.New(reasonText(found.Video.Failure))
	case object.State == stateWaiting, !found.Video.IndexFirst:
		return errors.New("its index is at the end of the file")
	case !object.matches(found):
		return errors.New("its row does not match the file")
	}
	return nil
}

// matches reports whether the row agrees with what was read from the video.
func (m *media) matches(found *files.Inspection) bool {
	return m.Facts.Width == found.Width && m.Facts.Height == found.Height && m.Codec != nil && *m.Codec == storableText(found.Video.Codec) &&
		m.Duration != nil && math.Abs(*m.Duration-found.Video.Duration.Seconds()) < 0.01
}

// rebuildVideo probes a video again and moves its index to the beginning if necessary. It returns an error for a video that
// cannot be shown. If all is false, it skips a video that is in order.
func (s *Service) rebuildVideo(ctx context.Context, object mediaObject, all bool) error {
	m := object.media
	found, err := s.inspectStored(ctx, object.Object)
	if err != nil {
		return err
	}
	if !all && m.State == stateReady && videoState(found.Video) == stateReady && m.matches(found) {
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
	if found.Video.Failure != "" {
		return errors.New(reasonText(found.Video.Failure))
	}
	return nil
}
