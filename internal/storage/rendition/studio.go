package rendition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Config says how a Studio works. What is zero has a default.
type Config struct {
	// Vips is "auto" (libvips' command where it is found), "off", or the command's path. Empty is auto.
	Vips string
	// Limits bound what a picture may be.
	Limits Limits
	// Memory is how many bytes all jobs together may be expected to take: half of the machine, at most 1.5 GB.
	Memory int64
	// JobMemory is the hard bound of one job's data in bytes, where the system knows such bounds: 1.5 GB.
	JobMemory int64
	// Workers is how many jobs run at a time: half of the processors.
	Workers int
	// CPU is how much processor time one process of a job may take, where the system knows such bounds: 2 min.
	CPU time.Duration
	// Timeout is how long one job may run: 5 min. It is far beyond what CPU allows on a machine with nothing else to do, so
	// that a busy one refuses no picture.
	Timeout time.Duration
	// Program starts a worker: this program's own hidden command.
	Program []string
	Log     *slog.Logger
}

// Studio makes renditions in processes of their own: a hostile file ends its job and nothing else. All methods are
// safe for goroutines.
type Studio struct {
	cfg  Config
	pool *pool
	vips func() vips
}

// NewStudio checks the settings. Whether libvips works is found out when it is first needed.
func NewStudio(cfg Config) (*Studio, error) {
	if cfg.Memory <= 0 {
		cfg.Memory = defaultBudget()
	}
	if cfg.JobMemory <= 0 {
		cfg.JobMemory = 1536 << 20
	}
	if cfg.Workers <= 0 {
		cfg.Workers = defaultWorkers()
	}
	if cfg.CPU <= 0 {
		cfg.CPU = 2 * time.Minute
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if len(cfg.Program) == 0 {
		self, err := ownProgram()
		if err != nil {
			return nil, fmt.Errorf("picture worker: %w", err)
		}
		cfg.Program = []string{self, Command}
	}
	path, err := locateVips(cfg.Vips)
	if err != nil {
		return nil, err
	}
	s := &Studio{cfg: cfg, pool: newPool(cfg.Workers, cfg.Memory)}
	s.vips = sync.OnceValue(func() vips { return probeVips(path, cfg.Log) })
	return s, nil
}

// ownProgram is the path of this program. Where /proc is missing, as in a bare chroot, the name it was called by must do.
func ownProgram() (string, error) {
	self, err := os.Executable()
	if err == nil {
		return self, nil
	}
	called, lookErr := exec.LookPath(os.Args[0])
	if lookErr != nil {
		return "", errors.Join(err, lookErr)
	}
	return filepath.Abs(called)
}

// Engine names what makes the renditions, for people: "atelie", or "vips" with its version and what it can do.
func (s *Studio) Engine() string { return s.vips().String() }

// AVIF tells whether orders in AVIF can be filled.
func (s *Studio) AVIF() bool { return s.vips().avif }

// ownTypes are what the own engine reads.
var ownTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff"}

// Takes tells whether pictures of that type can be worked on here: HEIC and AVIF only with a libvips that reads them.
func (s *Studio) Takes(mime string) bool {
	switch mime {
	case "image/heic":
		return s.vips().heic
	case "image/avif":
		return s.vips().avif
	}
	return slices.Contains(ownTypes, mime)
}

// Make has a job done in a process of its own: by libvips when there is one, by the own engine when there is none or
// when it fails for a reason that is not the file's. It waits for its turn and for memory. Errors: *apperr.Error with
// a 4xx status and a stable code when the file is at fault, the context's own, or a failure of the system.
func (s *Studio) Make(ctx context.Context, job Job) (Result, error) {
	result, _, err := s.make(ctx, job)
	return result, err
}

func (s *Studio) make(ctx context.Context, job Job) (Result, usage, error) {
	for _, path := range []*string{&job.Source, &job.Folder} { // the worker stands in a folder of its own
		whole, err := filepath.Abs(*path)
		if err != nil {
			return Result{}, usage{}, err
		}
		*path = whole
	}
	h, err := s.inspect(job.Source)
	if err != nil {
		return Result{}, usage{}, err
	}
	own := slices.Contains(ownTypes, h.MimeType) && !slices.ContainsFunc(job.Orders, func(o Order) bool { return o.Format == AVIF })
	if v := s.vips(); v.path != "" {
		result, used, err := s.run(ctx, job, v.path, vipsCost(h, job.Orders))
		var engine engineError
		if !errors.As(err, &engine) || !own {
			return result, used, err
		}
		s.cfg.Log.InfoContext(ctx, "libvips failed, the own engine takes over", "cause", err)
	}
	if !own {
		return Result{}, usage{}, ErrNeedsVips
	}
	return s.run(ctx, job, "", h.Memory)
}

// inspect refuses from the header alone what no process should begin to work on.
func (s *Studio) inspect(path string) (Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = f.Close() }() // only read
	h, err := readAnyHeader(f)
	switch {
	case err != nil:
		return Header{}, err
	case !s.Takes(h.MimeType):
		return Header{}, ErrNeedsVips
	}
	// The memory is the pool's business: its budget is the server's, and what libvips needs is less.
	limits := s.cfg.Limits
	limits.Memory = math.MaxInt64
	return h, limits.check(h)
}

// run waits for a place and gives the job its bounds. The hard bound leaves room above the estimate, which is of
// resident memory, while the system counts what has been asked for.
func (s *Studio) run(ctx context.Context, job Job, vips string, cost int64) (Result, usage, error) {
	leave, err := s.pool.enter(ctx, cost)
	if err != nil {
		return Result{}, usage{}, err
	}
	defer leave()
	limits := s.cfg.Limits
	limits.Memory = math.MaxInt64
	return s.work(ctx, task{expected: cost, Job: job, Limits: limits, Memory: min(s.cfg.JobMemory, max(768<<20, 2*cost)), CPU: s.cfg.CPU, Vips: vips})
}
