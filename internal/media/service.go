// Package media prepares stored pictures and videos for the pages. It inspects uploads and removes private metadata from pictures. It makes
// renditions of pictures (copies in other sizes, shapes and formats). It moves the index of a video, which says where the frames are, to
// the beginning of the file.
package media

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/jobs"
	"atelie/internal/media/rendition"
)

// Blobs stores blobs: the bytes of files. Database rows refer to a blob by its id. A new blob is pending until a transaction commits it. A
// blob that stays pending is removed after a while.
type Blobs interface {
	// Open opens a blob for reading until ctx ends. The error is fs.ErrNotExist if there is no such blob.
	Open(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// OpenPublic is Open for a file that anyone may read. Small blobs are kept in memory.
	OpenPublic(ctx context.Context, blob files.Blob) (files.Body, error)
	// Reserve records n new pending blobs and returns their ids.
	Reserve(ctx context.Context, n int) ([]string, error)
	// Put stores the bytes of a pending blob. After an error nothing is stored.
	Put(ctx context.Context, id string, body io.Reader) (files.Blob, error)
	// Commit makes blobs permanent, in the transaction that writes the rows that refer to them.
	Commit(ctx context.Context, tx *db.Tx, ids ...string) error
	// Discard removes a committed blob after the commit of tx. tx must delete the last reference to the blob.
	Discard(ctx context.Context, tx *db.Tx, id string) error
	// Remove deletes blobs that are still pending.
	Remove(ctx context.Context, ids ...string)
}

// Engine makes renditions. rendition.Processor implements it. If the error of Make is an apperr.Error with a status below 500, the picture
// itself is the cause, and another attempt would fail too.
type Engine interface {
	Make(ctx context.Context, job rendition.Job) (rendition.Result, error)
	// CanDecode reports whether the engine can decode pictures of a type.
	CanDecode(mimeType string) bool
	// AVIF reports whether the engine can make AVIF.
	AVIF() bool
}

// Config configures a Service.
type Config struct {
	// Engine makes renditions, in jobs and on request. If Engine is nil, there are no renditions.
	Engine Engine
	// Jobs is the queue of the jobs that follow an upload. If Jobs is nil, there are no such jobs.
	Jobs *jobs.Queue
	// Content reads the content version (the number that each change of visible content raises), and reports outages of the database. If
	// Content is nil, rows are read for each request, and no rendition is served during an outage.
	Content *content.Version
	// Access decides who may see the renditions of an object.
	Access files.AccessFunc
	// Scratch is the folder for temporary files. "" means the system's folder.
	Scratch string
	// Full reports whether the disk of the data folder is full. While it is full, the times of use of renditions are not stored, because each
	// write would use up the space that is kept for signing in and deleting. If Full is nil, the times are always stored.
	Full func() bool
	// MaxLazyBytes limits the total size in bytes of the lazy renditions (made on request, not in advance). If they exceed MaxLazyBytes, the
	// least recently used ones are deleted. 0 means 2 GB.
	MaxLazyBytes int64
}

// Service inspects uploads and handles requests for renditions.
type Service struct {
	db          *db.DB
	blobs       Blobs
	cfg         Config
	log         *slog.Logger
	now         func() time.Time
	objectLocks keyLocks                        // the locks of withLease, by object id
	failures    *content.Cache[string, failure] // renditions that could not be made, by blob id and name
	rows        *files.RowCache[servedRows]     // rows of public renditions, by rowKey
	probes      *semaphore.Weighted             // limits how many calls of probeVideo run at a time
	// stripSlots limits how many calls of stripMetadata run at a time, so that many uploads do not use all processors.
	stripSlots *semaphore.Weighted

	// Renditions that are being made on request, by blob id and name. Close calls stop to end their context, lifetime, and
	// waits for running.
	making   singleflight.Group
	running  sync.WaitGroup
	lifetime context.Context
	stop     context.CancelFunc

	substituteDelay, renderTimeout time.Duration // defaultSubstituteDelay and defaultRenderTimeout except in tests
}

// New returns a Service. The caller closes it.
func New(d *db.DB, blobs Blobs, cfg Config, log *slog.Logger, now func() time.Time) *Service {
	if cfg.MaxLazyBytes == 0 {
		cfg.MaxLazyBytes = 2 << 30
	}
	s := &Service{
		db: d, blobs: blobs, cfg: cfg, log: log, now: now, rows: files.NewRowCache(cfg.Content, servedRows.size),
		failures: content.NewCache[string](maxFailures, func(failure) int { return 1 }),
		probes:   semaphore.NewWeighted(maxProbes), stripSlots: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2))),
		substituteDelay: defaultSubstituteDelay, renderTimeout: defaultRenderTimeout,
	}
	s.lifetime, s.stop = context.WithCancel(context.Background())
	return s
}

// Close cancels the renditions that are being made on request, and waits for their end. Call it after the last request.
func (s *Service) Close() {
	s.stop()
	s.running.Wait()
}

// RowLookups returns the counts of the row cache for public renditions.
func (s *Service) RowLookups() *content.Lookups { return s.rows.Lookups() }

// Reads reports whether the engine can decode pictures of a type.
func (s *Service) Reads(t *files.Type) bool {
	return s.cfg.Engine != nil && s.cfg.Engine.CanDecode(t.MIME)
}

// scratchAge is the age at which Sweep removes a temporary file.
const scratchAge = time.Hour

// Sweep removes the temporary files that a killed process left.
func (s *Service) Sweep() error {
	if s.cfg.Scratch == "" {
		return nil
	}
	entries, err := os.ReadDir(s.cfg.Scratch)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || s.now().Sub(info.ModTime()) < scratchAge {
			continue // removed already, or possibly in use by a running process
		}
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.cfg.Scratch, e.Name())))
	}
	return err
}

func newID() string { return uuid.NewString() }
