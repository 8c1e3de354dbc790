package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/jobs"
	"atelie/internal/media/rendition"
)

// This file runs the jobs that make the renditions of a picture (copies in other sizes, shapes or formats) after its upload.

// The kinds of these jobs, in the order in which they run. Each job makes a part of the renditions (a stage), and then enqueues the job of
// the next stage. Stored jobs contain the kinds, so the kinds cannot change.
const (
	JobFirst   = "picture-first"  // the first sizes: at most two widths, which pages need first
	JobPicture = "picture"        // the ladder: the renditions in all standard widths, and the share picture for link previews
	JobExtras  = "picture-extras" // the tiles of a large picture: squares of 1024 pixels, for zooming in
	JobAVIF    = "picture-avif"   // renditions in AVIF
)

// JobTimeout limits one run of a job of these kinds. It is long because the largest pictures have a hundred tiles.
const JobTimeout = 15 * time.Minute

// mediaJob is the payload of a job of these kinds, and of JobVideo (which moves the index of a video to the beginning of its file).
type mediaJob struct {
	ObjectID string `json:"object_id"`
	Version  string `json:"version"` // id of the object's blob (stored bytes); once the object has another blob, the job is obsolete
}

// Errors of withLease, which runs a function while no other node or job makes files from the same object. Jobs of videos get them too.
var (
	errObsolete = errors.New("the picture has been replaced or removed")
	errBusy     = errors.New("another job or request is making renditions of this picture")
)

// MakeFirst runs a job of the kind JobFirst: it makes the first sizes (stageFirst).
func (s *Service) MakeFirst(ctx context.Context, payload []byte) error {
	return s.runStageJob(ctx, payload, stageFirst, JobPicture)
}

// MakeLadder runs a job of the kind JobPicture: it makes the ladder (stageLadder).
func (s *Service) MakeLadder(ctx context.Context, payload []byte) error {
	return s.runStageJob(ctx, payload, stageLadder, JobExtras)
}

// MakeExtras runs a job of the kind JobExtras: it makes the tiles (stageTiles).
func (s *Service) MakeExtras(ctx context.Context, payload []byte) error {
	return s.runStageJob(ctx, payload, stageTiles, JobAVIF)
}

// MakeAVIF runs a job of the kind JobAVIF. It makes no AVIF if the engine cannot make AVIF.
func (s *Service) MakeAVIF(ctx context.Context, payload []byte) error {
	return s.runStageJob(ctx, payload, stageAVIF, "" /* no next job */)
}

// runStageJob makes the missing renditions of a picture in all stages up to and including finalStage. It then enqueues a job of
// the kind nextKind, or none if nextKind is "". For a picture that cannot be read it returns a permanent error.
func (s *Service) runStageJob(ctx context.Context, payload []byte, finalStage int, nextKind string) error {
	return s.runJob(ctx, payload, reasonPicture, func(ctx context.Context, j mediaJob) error {
		if err := s.makeStages(ctx, j.ObjectID, j.Version, finalStage); err != nil || nextKind == "" {
			return err
		}
		return s.db.WithTx(ctx, func(tx *db.Tx) error { return s.cfg.Jobs.Enqueue(ctx, tx, nextKind, j) })
	})
}

// runJob runs a job for one version of an object. If the object has another version by now, the job succeeds without effect.
// finalReason is the code that is recorded if the last attempt fails.
func (s *Service) runJob(ctx context.Context, payload []byte, finalReason string, fn func(context.Context, mediaJob) error) error {
	var j mediaJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("picture: %w", err))
	}
	err := fn(ctx, j)
	if errors.Is(err, errObsolete) {
		return nil
	}
	if files.IsRefusal(err) {
		return jobs.Permanent(err) // produce or arrange has recorded the reason
	}
	// A try that ends because the server stops does not count: the queue runs the job again after the next start.
	if err != nil && jobs.InfoOf(ctx).LastTry && !errors.Is(ctx.Err(), context.Canceled) {
		return errors.Join(err, failMedia(context.WithoutCancel(ctx), s.db, j.ObjectID, j.Version, finalReason, s.now()))
	}
	return err
}

// makeStages makes the missing renditions of a picture, stage by stage, up to and including finalStage.
func (s *Service) makeStages(ctx context.Context, objectID, version string, finalStage int) error {
	for stage := range finalStage + 1 {
		if err := s.makeStage(ctx, objectID, version, stage); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) makeStage(ctx context.Context, objectID, version string, stage int) error {
	if stage == stageAVIF && !s.cfg.Engine.AVIF() {
		return nil
	}
	// Usually an earlier job has made this stage. This check needs no lease, so it does not delay other holders.
	if o, m, err := findMediaObjectByID(ctx, s.db, objectID); err == nil && m != nil && m.Version == version && m.State != stateFailed {
		if missing, err := s.listMissingInStage(ctx, o, m, stage); err == nil && len(missing) == 0 && !m.needsUpdate(stage) {
			return nil
		}
	}
	return s.withLease(ctx, objectID, version, func(ctx context.Context, o files.Object, m *media) error {
		missing, err := s.listMissingInStage(ctx, o, m, stage)
		if err != nil || len(missing) == 0 && !m.needsUpdate(stage) {
			return err
		}
		return s.produce(ctx, o, m, missing, stage)
	})
}

func (s *Service) listMissingInStage(ctx context.Context, o files.Object, m *media, stage int) ([]recipe, error) {
	return s.listMissing(ctx, m, recipes(stage, o.Bucket, m.Facts.Width, m.Facts.Height))
}

// needsUpdate reports whether a stage must still update the row: the first stage adds what decoding shows, the ladder makes it ready.
func (m *media) needsUpdate(stage int) bool {
	return m.State == stateWaiting && (stage == stageLadder || (stage == stageFirst && !m.isDecoded()))
}

// isDecoded reports whether an engine has decoded the picture. Before that, the placeholder is made from the preview in the metadata.
func (m *media) isDecoded() bool { return m.Engine != "" }

// listMissing returns the wanted renditions that do not exist or were made by an older revision of the encoders.
func (s *Service) listMissing(ctx context.Context, m *media, wanted []recipe) ([]recipe, error) {
	rows, err := listRenditions(ctx, s.db, m.ObjectID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(w recipe) bool {
		return slices.ContainsFunc(rows, func(r renditionRow) bool { return r.Name == w.name && r.Revision >= revision })
	}), nil
}

// produce makes renditions of one stage from the file as it was uploaded and stores them. It also saves the picture's facts
// if the row lacks them. If the engine rejects the picture, produce records the reason.
func (s *Service) produce(ctx context.Context, o files.Object, m *media, wanted []recipe, stage int) (err error) {
	folder, err := os.MkdirTemp(s.cfg.Scratch, "picture-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	source := filepath.Join(folder, "source")
	blobID := o.BlobID
	if m.Original != nil {
		blobID = m.Original.ID
	}
	if err := s.copyBlob(ctx, blobID, source); err != nil {
		return err
	}
	job := rendition.Job{Source: source, Folder: folder, NeedsFacts: m.needsUpdate(stage), Urgent: stage == stageFirst || stage == onDemand}
	for _, w := range wanted {
		job.Orders = append(job.Orders, w.order)
	}
	result, err := s.cfg.Engine.Make(ctx, job)
	if files.IsRefusal(err) {
		return errors.Join(err, failMedia(context.WithoutCancel(ctx), s.db, m.ObjectID, m.Version, apperr.From(err).Code, s.now()))
	}
	if err != nil {
		return err
	}
	return s.storeResult(ctx, m, wanted, result, stage)
}

// copyBlob makes a file with the content of a blob: a link to the file of the blob, or a copy if the blob is not a file or in another file
// system. Nothing may write to the new file.
func (s *Service) copyBlob(ctx context.Context, blobID, name string) (err error) {
	in, err := s.blobs.Open(ctx, blobID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if f, ok := in.(*os.File); ok && os.Link(f.Name(), name) == nil {
		return nil
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// storeResult saves the files of a result as pending blobs, then saves their rows in one transaction.
func (s *Service) storeResult(ctx context.Context, m *media, wanted []recipe, result rendition.Result, stage int) error {
	byOrder := make(map[rendition.Order]recipe, len(wanted))
	for _, w := range wanted {
		byOrder[w.order] = w
	}
	if len(result.Made) != len(wanted) {
		return fmt.Errorf("the engine made %d renditions of %d", len(result.Made), len(wanted))
	}
	ids, err := s.blobs.Reserve(ctx, len(wanted))
	if err != nil {
		return err
	}
	now := s.now()
	rows, paths := make([]renditionRow, len(ids)), make([]string, len(ids))
	for i, f := range result.Made {
		w, ok := byOrder[f.Order]
		if !ok {
			return fmt.Errorf("the engine made %+v, which nobody ordered", f.Order)
		}
		rows[i] = renditionRow{Name: w.name, BlobID: ids[i], Format: f.Order.Format, Width: f.Width, Height: f.Height, P3: f.P3, Eager: w.eager, Revision: revision, UsedAt: now}
		paths[i] = f.File
	}
	committing := false // if true, the transaction may be committed although WithTx returns an error: the new blobs must stay
	err = s.storeFiles(ctx, rows, paths)
	if err == nil {
		err = s.db.WithTx(ctx, func(tx *db.Tx) error {
			committing = false
			if there, err := lockMedia(ctx, tx, m.ObjectID, m.Version); err != nil || !there {
				return errors.Join(err, errObsolete)
			}
			if m.needsUpdate(stage) {
				state := stateWaiting
				if stage == stageLadder {
					state = stateReady
				}
				if err := saveFacts(ctx, tx, m.ObjectID, state, result, now); err != nil {
					return err
				}
			}
			for _, r := range rows {
				replacedBlobID, err := insertRendition(ctx, tx, m.ObjectID, r)
				if err != nil {
					return err
				}
				if replacedBlobID != "" {
					if err := s.blobs.Discard(ctx, tx, replacedBlobID); err != nil {
						return err
					}
				}
			}
			committing = true
			return s.blobs.Commit(ctx, tx, ids...)
		})
	}
	if err != nil && !committing {
		s.blobs.Remove(context.WithoutCancel(ctx), ids...)
	}
	return err
}

// storeFiles writes the files into the store, a few at a time because requests to an S3 server take long.
func (s *Service) storeFiles(ctx context.Context, rows []renditionRow, paths []string) error {
	var storing errgroup.Group
	storing.SetLimit(4)
	for i := range rows {
		storing.Go(func() error {
			f, err := os.Open(paths[i])
			if err != nil {
				return err
			}
			stored, err := s.blobs.Put(ctx, rows[i].BlobID, f)
			rows[i].Size, rows[i].ETag = stored.Size, stored.ETag
			return errors.Join(err, f.Close())
		})
	}
	return storing.Wait()
}
