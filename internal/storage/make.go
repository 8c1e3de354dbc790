package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/jobs"
	"atelie/internal/storage/rendition"
)

// Engine makes renditions. Errors with a status below 500 say that the picture is at fault: another try would fail too.
type Engine interface {
	Make(ctx context.Context, job rendition.Job) (rendition.Result, error)
	// Takes tells whether pictures of a type can be worked on.
	Takes(mimeType string) bool
	// AVIF tells whether orders in AVIF can be filled.
	AVIF() bool
}

// The kinds of jobs that make a picture's renditions after its upload: what pages wait for, and then, when no picture
// waits for that, what they can do without.
const (
	JobPicture = "picture"
	JobExtras  = "picture-extras"
)

// JobTime is how long one run of them may take: the largest pictures have a hundred tiles.
const JobTime = 15 * time.Minute

// pictureJob names a version of an object.
type pictureJob struct {
	ObjectID string `json:"object_id"`
	Version  string `json:"version"`
}

var (
	errObsolete = errors.New("the picture has been replaced or removed")
	errBusy     = errors.New("another one is making renditions of this picture")
)

// MakeLadder does a job of the kind JobPicture, and asks for the rest. A picture that cannot be read has failed for good.
func (s *Service) MakeLadder(ctx context.Context, payload []byte) error {
	return s.work(ctx, payload, reasonPicture, func(ctx context.Context, j pictureJob) error {
		if err := s.makeStage(ctx, j.ObjectID, j.Version, stageLadder); err != nil {
			return err
		}
		return s.db.WithTx(ctx, func(tx *db.Tx) error { return s.cfg.Jobs.Enqueue(ctx, tx, JobExtras, j) })
	})
}

// MakeExtras does a job of the kind JobExtras: tiles, and AVIF where the engine makes it.
func (s *Service) MakeExtras(ctx context.Context, payload []byte) error {
	return s.work(ctx, payload, reasonPicture, func(ctx context.Context, j pictureJob) error { return s.makeSet(ctx, j.ObjectID, j.Version) })
}

// work does a job of a version of an object. lastly is the reason that stays when the last try has failed.
func (s *Service) work(ctx context.Context, payload []byte, lastly string, fn func(context.Context, pictureJob) error) error {
	var j pictureJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("picture: %w", err))
	}
	err := fn(ctx, j)
	if errors.Is(err, errObsolete) {
		return nil
	}
	if refusal(err) {
		return jobs.Permanent(err) // produce has noted why
	}
	if err != nil && jobs.TicketOf(ctx).Last {
		return errors.Join(err, failMedia(context.WithoutCancel(ctx), s.db, j.ObjectID, j.Version, lastly, s.now()))
	}
	return err
}

// makeSet makes what is missing of a picture's set, stage by stage.
func (s *Service) makeSet(ctx context.Context, objectID, version string) error {
	for stage := range stages {
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
	return s.alone(ctx, objectID, version, func(ctx context.Context, o Object, m *media) error {
		missing, err := s.missing(ctx, m, recipes(stage, o.Bucket, m.Facts.Width, m.Facts.Height))
		if err != nil || len(missing) == 0 && (stage != stageLadder || m.State == ready) {
			return err
		}
		return s.produce(ctx, o, m, missing, stage == stageLadder)
	})
}

// missing leaves out what exists already, by this revision of the encoders.
func (s *Service) missing(ctx context.Context, m *media, wanted []recipe) (out []recipe, err error) {
	rows, err := listMade(ctx, s.db, m.ObjectID)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(rows))
	for _, r := range rows {
		there[r.Name] = r.Revision >= revision
	}
	for _, w := range wanted {
		if !there[w.name] {
			out = append(out, w)
		}
	}
	return out, nil
}

// The right to make renditions of a picture belongs to one at a time over all nodes. It is renewed while work goes on,
// so that a node that dies holds nobody up for long.
const (
	makerLease = 30 * time.Second
	makerRenew = 8 * time.Second
	makerPoll  = 100 * time.Millisecond
)

// alone runs fn while nobody else makes renditions of the picture, waiting for its turn as long as ctx lasts. fn gets what
// is known of it then. errObsolete says that there is no such version any more.
func (s *Service) alone(ctx context.Context, objectID, version string, fn func(ctx context.Context, o Object, m *media) error) error {
	leave, err := s.turns.enter(ctx, objectID)
	if err != nil {
		return err
	}
	defer leave()
	maker := newID()
	for {
		mine, err := claimMedia(ctx, s.db, objectID, version, maker, s.now(), s.now().Add(makerLease))
		if err != nil {
			return err
		}
		if mine {
			break
		}
		if _, m, err := findShownByID(ctx, s.db, objectID); err != nil && !errors.Is(err, db.ErrNoRows) {
			return err
		} else if m == nil || m.Version != version {
			return errObsolete
		}
		select {
		case <-time.After(makerPoll):
		case <-ctx.Done():
			return errors.Join(errBusy, ctx.Err())
		}
	}
	defer func() {
		if err := releaseMedia(context.WithoutCancel(ctx), s.db, objectID, maker); err != nil {
			slog.WarnContext(ctx, "the right to make renditions was not given back, it ends by itself", "object", objectID, "cause", err)
		}
	}()
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	var renewing sync.WaitGroup
	defer renewing.Wait()
	done := make(chan struct{})
	defer close(done)
	renewing.Go(func() {
		tick := time.NewTicker(makerRenew)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if mine, err := claimMedia(ctx, s.db, objectID, version, maker, s.now(), s.now().Add(makerLease)); err == nil && !mine {
					lost(errObsolete)
				}
			case <-done:
				return
			}
		}
	})
	o, m, err := findShownByID(ctx, s.db, objectID)
	switch {
	case errors.Is(err, db.ErrNoRows), err == nil && (m == nil || m.Version != version):
		return errObsolete
	case err != nil:
		return err
	case m.State == failed:
		return errPicture(m.Reason)
	}
	if err = fn(ctx, o, m); err != nil && errors.Is(context.Cause(ctx), errObsolete) {
		return errObsolete
	}
	return err
}

// produce makes renditions out of the byte-exact upload and stores them. facts says that the picture's own facts are
// wanted too; with them its first renditions are there.
func (s *Service) produce(ctx context.Context, o Object, m *media, wanted []recipe, facts bool) (err error) {
	folder, err := os.MkdirTemp(s.cfg.Scratch, "picture-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	source := filepath.Join(folder, "source")
	blobID := o.BlobID
	if m.Original != nil {
		blobID = m.Original.BlobID
	}
	if err := s.fetch(ctx, blobID, source); err != nil {
		return err
	}
	job := rendition.Job{Source: source, Folder: folder, Facts: facts}
	for _, w := range wanted {
		job.Orders = append(job.Orders, w.order)
	}
	result, err := s.cfg.Engine.Make(ctx, job)
	if refusal(err) {
		var why *apperr.Error
		errors.As(err, &why)
		return errors.Join(err, failMedia(context.WithoutCancel(ctx), s.db, m.ObjectID, m.Version, why.Code, s.now()))
	}
	if err != nil {
		return err
	}
	return s.keep(ctx, m, wanted, result, facts)
}

// fetch writes a blob into a file.
func (s *Service) fetch(ctx context.Context, blobID, name string) (err error) {
	in, err := s.blobs.Open(ctx, blobID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// keep stores the files of a result, then their rows in one transaction: no row without its file, no file forgotten.
func (s *Service) keep(ctx context.Context, m *media, wanted []recipe, result rendition.Result, facts bool) error {
	byOrder := make(map[rendition.Order]recipe, len(wanted))
	for _, w := range wanted {
		byOrder[w.order] = w
	}
	now := s.now()
	rows := make([]made, 0, len(result.Made))
	files := make([]string, 0, len(result.Made))
	for _, f := range result.Made {
		w, ok := byOrder[f.Order]
		if !ok {
			return fmt.Errorf("the engine made %+v, which nobody ordered", f.Order)
		}
		rows = append(rows, made{
			Name: w.name, BlobID: newID(), Format: f.Order.Format, Width: f.Width, Height: f.Height, Size: f.Size, P3: f.P3, Eager: w.eager, Revision: revision, UsedAt: now,
		})
		files = append(files, f.File)
	}
	if len(rows) != len(wanted) {
		return fmt.Errorf("the engine made %d renditions of %d", len(rows), len(wanted))
	}
	err := s.db.WithTx(ctx, func(tx *db.Tx) error { // before the first byte is stored, as with uploads
		for _, r := range rows {
			if err := insertTrash(ctx, tx, r.BlobID, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	committing := false
	err = s.storeAll(ctx, rows, files)
	if err == nil {
		err = s.db.WithTx(ctx, func(tx *db.Tx) error {
			committing = false
			if there, err := lockMedia(ctx, tx, m.ObjectID, m.Version); err != nil || !there {
				return errors.Join(err, errObsolete)
			}
			if facts {
				if err := saveFacts(ctx, tx, m.ObjectID, ready, result, now); err != nil {
					return err
				}
			}
			for _, r := range rows {
				replaced, err := insertMade(ctx, tx, m.ObjectID, r)
				if err != nil {
					return err
				}
				if replaced != "" {
					if err := s.discard(ctx, tx, replaced); err != nil {
						return err
					}
				}
				if err := deleteTrash(ctx, tx, r.BlobID); err != nil {
					return err
				}
			}
			committing = true
			return nil
		})
	}
	if err != nil && !committing {
		for _, r := range rows {
			s.removeFile(context.WithoutCancel(ctx), r.BlobID)
		}
	}
	return err
}

// storeAll puts the files into the store, a few at a time: a bucket is far away.
func (s *Service) storeAll(ctx context.Context, rows []made, files []string) error {
	var (
		all  sync.WaitGroup
		errs = make([]error, len(rows))
		free = make(chan struct{}, 4)
	)
	for i := range rows {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			errs[i] = s.storeFile(ctx, &rows[i], files[i])
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s *Service) storeFile(ctx context.Context, r *made, name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := s.blobs.Put(ctx, r.BlobID, f, nil)
	r.Size, r.ETag = info.Size, info.SHA256
	return err
}

// turns lets one at a time work on a key within this process, in the order of arrival as far as Go keeps it.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free    chan struct{}
	waiting int
}

// enter waits for the key; the error is that of ctx.
func (t *turns) enter(ctx context.Context, key string) (leave func(), err error) {
	t.mu.Lock()
	if t.keys == nil {
		t.keys = map[string]*turn{}
	}
	k := t.keys[key]
	if k == nil {
		k = &turn{free: make(chan struct{}, 1)}
		t.keys[key] = k
	}
	k.waiting++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if k.waiting--; k.waiting == 0 {
			delete(t.keys, key)
		}
	}
	select {
	case k.free <- struct{}{}:
		return func() {
			<-k.free
			forget()
		}, nil
	case <-ctx.Done():
		forget()
		return nil, errors.Join(errBusy, ctx.Err())
	}
}
