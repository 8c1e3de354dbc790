package rendition

import (
	"cmp"
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

// Config configures a Processor. Zero values mean the defaults in the comments.
type Config struct {
	// Vips is "auto" (use libvips' command vips if it is found), "off", or the path of the command. Default: auto.
	Vips string
	// Limits limit the pictures that are accepted.
	Limits Limits
	// Memory limits the estimated memory of all jobs together, in bytes. Default: half of the machine's memory, at most 1.5 GB.
	Memory int64
	// JobMemory limits the memory that each process of a job may allocate, in bytes, on systems that can enforce it. Default: 1.5 GB.
	JobMemory int64
	// Workers is how many jobs that are not urgent run at a time. In addition, twice as many urgent jobs may run. Default: half the
	// number of processors.
	Workers int
	// CPU is how much processor time each process of a job may use, on systems that can enforce it. Default: 2 min.
	CPU time.Duration
	// Timeout is how long one job may run. Default: 5 min. This is far more than CPU, so that no picture is rejected because the
	// machine is busy.
	Timeout time.Duration
	// Program is the command, with its arguments, that starts a worker process. Default: this program with the argument Command.
	Program []string
	// Log gets the failures of libvips and of workers.
	Log *slog.Logger
}

// Processor makes renditions in worker processes, so that a hostile file can end only its own job and not the server. It is safe for
// concurrent use.
type Processor struct {
	cfg      Config
	pool     *pool
	findVips func() vipsInfo // tests libvips' command at the first call
	idleTime time.Duration   // how long libvips uses only idle processors (SCHED_IDLE) for a job that is not urgent
}

// NewProcessor checks the settings. Whether libvips works is tested when it is needed for the first time.
func NewProcessor(cfg Config) (*Processor, error) {
	cfg.Memory = cmp.Or(cfg.Memory, defaultBudget())
	cfg.JobMemory = cmp.Or(cfg.JobMemory, 1536<<20)
	cfg.Workers = cmp.Or(cfg.Workers, halfProcessors())
	cfg.CPU = cmp.Or(cfg.CPU, 2*time.Minute)
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Minute)
	cfg.Limits.Memory = math.MaxInt64 // the pool limits the memory, because libvips needs less than the header's estimate
	if len(cfg.Program) == 0 {
		self, err := WorkerProgram()
		if err != nil {
			return nil, fmt.Errorf("picture worker: %w", err)
		}
		cfg.Program = []string{self, Command}
	}
	path, err := locateVips(cfg.Vips)
	if err != nil {
		return nil, err
	}
	s := &Processor{cfg: cfg, pool: newPool(cfg.Workers, cfg.Memory), idleTime: defaultIdleTime}
	s.findVips = sync.OnceValue(func() vipsInfo { return probeVips(path, cfg.Log) })
	return s, nil
}

// WorkerProgram returns the path of the default worker program. Package renditiontest replaces it.
var WorkerProgram = ownProgram

// ownProgram returns the path of this program. Without /proc, as in a bare chroot, it searches for the program by the name with
// which it was called.
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

// Engine describes in words what makes the renditions: "atelie", or "vips" with its version and formats.
func (s *Processor) Engine() string { return s.findVips().String() }

// AVIF reports whether AVIF can be made.
func (s *Processor) AVIF() bool { return s.findVips().hasAVIF }

// ownTypes are the types that the own engine can decode.
var ownTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff"}

// CanDecode reports whether pictures of a type can be decoded. HEIC and AVIF need a libvips that supports them.
func (s *Processor) CanDecode(mime string) bool {
	switch mime {
	case "image/heic":
		return s.findVips().hasHEIC
	case "image/avif":
		return s.findVips().hasAVIF
	}
	return slices.Contains(ownTypes, mime)
}

// Make waits until the pool lets a job run, and runs it in a worker process. It uses libvips if that works. It uses the own engine if
// libvips does not work, for an urgent job if that is quick (makeOwn), and if libvips fails and the file is not the cause. If the picture is
// rejected, the error is an *apperr.Error with a 4xx status and a stable code. Other errors are the error of ctx, and failures of the
// system.
func (s *Processor) Make(ctx context.Context, job Job) (Result, error) {
	result, _, err := s.make(ctx, job)
	return result, err
}

// make is Make. It also returns the state of the ended worker process, which tells what it has used; nil if no worker was started.
func (s *Processor) make(ctx context.Context, job Job) (Result, *os.ProcessState, error) {
	for _, path := range []*string{&job.Source, &job.Folder} { // the worker runs in a folder of its own
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return Result{}, nil, err
		}
		*path = absolute
	}
	h, err := s.inspect(job.Source)
	if err != nil {
		return Result{}, nil, err
	}
	own := slices.Contains(ownTypes, h.MimeType) && !slices.ContainsFunc(job.Orders, func(o Order) bool { return o.Format == AVIF })
	if v := s.findVips(); v.path != "" {
		cost := vipsCost(h, job.Orders)
		if job.Urgent && h.pixels() <= quickPixels { // the own engine can decode the source at its full size
			cost = max(cost, h.Memory)
		}
		result, ended, err := s.run(ctx, job, v.path, cost)
		if _, engineFailed := errors.AsType[engineError](err); !engineFailed || !own {
			return result, ended, err
		}
		s.cfg.Log.InfoContext(ctx, "libvips failed; the own engine does the job", "cause", err)
	}
	if !own {
		return Result{}, nil, ErrNeedsVips
	}
	return s.run(ctx, job, "", h.Memory)
}

// inspect reads a picture's header. It returns an error for pictures for which no process should be started.
func (s *Processor) inspect(path string) (Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = f.Close() }() // only read
	h, err := readAnyHeader(f)
	switch {
	case err != nil:
		return Header{}, err
	case !s.CanDecode(h.MimeType):
		return Header{}, ErrNeedsVips
	}
	return h, s.cfg.Limits.check(h)
}

// run waits for the pool and runs a job with its limits. vips is the path of libvips' command, or "" for the own engine. cost is
// the estimated memory in bytes. The limit of the worker's memory is higher than cost, because cost is resident memory, and the
// system counts all allocated memory.
func (s *Processor) run(ctx context.Context, job Job, vips string, cost int64) (Result, *os.ProcessState, error) {
	leave, err := s.pool.enter(ctx, cost, job.Urgent)
	if err != nil {
		return Result{}, nil, err
	}
	defer leave()
	return s.runTask(ctx, task{estimatedMemory: cost, Job: job, Limits: s.cfg.Limits, Memory: min(s.cfg.JobMemory, max(768<<20, 2*cost)), CPU: s.cfg.CPU, Vips: vips, IdleTime: s.idleTime})
}
