package datafolder

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Level says how much space is left on the disk of the data folder.
type Level int

// The levels. At Low the owners are warned. At Full new content and uploads are rejected, but people can still sign in and
// delete.
const (
	Enough Level = iota
	Low
	Full
)

const (
	// reserveName is the name of the reserve: a file that only occupies space. It is removed when the disk is full, so that
	// people can still sign in and delete. Its size is reserveSize bytes, or a quarter of a small disk.
	reserveName = "reserve"
	reserveSize = 16 << 20
	// defaultInterval is the interval of checks. It is short because a fast upload could fill the disk between two checks.
	defaultInterval = 2 * time.Second
	// minRetryBytes is the free space in bytes that is needed to repeat a write that failed because the disk was full.
	minRetryBytes = 1 << 20
	// maxUsageAge is the age from which Usage does not return the result of a check, but checks again.
	maxUsageAge = 100 * time.Millisecond
)

// Space measures the free space on the disk of a data folder and manages the reserve file.
type Space struct {
	CheckEvery time.Duration // interval of checks in Run; to be set before Run

	dir       string
	warnBelow int64 // free space in bytes below which the level is Low
	log       *slog.Logger

	mu        sync.Mutex
	running   bool      // Run has begun: checks create and remove the reserve
	usage     Usage     // result of the most recent check
	checkedAt time.Time // time of the most recent check
}

// Usage is the result of a check of the disk. Free and Total are in bytes; Free does not include the reserve.
type Usage struct {
	Level       Level
	Free, Total int64
}

// NewSpace returns a Space for the disk of dir. The level is Low below warnBelow bytes of free space, but on a small disk
// below about a tenth of the disk. Run creates the reserve.
func NewSpace(dir string, warnBelow int64, log *slog.Logger) *Space {
	return &Space{CheckEvery: defaultInterval, dir: dir, warnBelow: warnBelow, log: log}
}

// Run creates the reserve and checks the disk every CheckEvery until ctx ends. It calls onLow after each check whose level is
// not Enough.
func (s *Space) Run(ctx context.Context, onLow func(Usage)) {
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	tick := time.NewTicker(s.CheckEvery)
	defer tick.Stop()
	for {
		if usage := s.Check(); usage.Level != Enough {
			onLow(usage)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Usage returns the result of the most recent check. It checks again if that result is older than maxUsageAge, or Full.
func (s *Space) Usage() Usage {
	s.mu.Lock()
	usage, fresh := s.usage, s.usage.Level != Full && time.Since(s.checkedAt) < maxUsageAge
	s.mu.Unlock()
	if fresh {
		return usage
	}
	return s.Check()
}

// FreeReserve is to be called after a write failed because the disk is full. It removes the reserve and reports whether there is
// now enough space to repeat the write.
func (s *Space) FreeReserve() (retry bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.removeReserve()
	}
	s.check()
	return s.usage.Free >= minRetryBytes // another check may have removed the reserve already
}

// Check reads the free space, removes the reserve when there is too little, and creates it when there is enough.
func (s *Space) Check() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check()
	return s.usage
}

// check is Check for callers that hold s.mu.
func (s *Space) check() {
	free, total, err := measure(s.dir)
	if err != nil {
		s.log.Error("the free space of the data folder cannot be read", "folder", s.dir, "cause", err.Error())
		return
	}
	size := min(reserveSize, total/4)
	hasReserve := s.hasReserve(size)
	switch {
	case !s.running: // without Run, as in commands, nothing creates or removes the reserve
	case hasReserve && free < size/2:
		if s.removeReserve() {
			s.log.Error("the disk is full: new content and uploads are refused until there is room; the reserve lets people sign in and delete", "folder", s.dir, "free", free, "reserve", size)
		}
		hasReserve = false
	case !hasReserve && free >= 2*size:
		if err := s.makeReserve(size); err != nil {
			s.log.Warn("the reserve for a full disk could not be created: on a full disk people may be unable to sign in and delete", "folder", s.dir, "cause", err.Error())
		} else {
			hasReserve, free = true, free-size
			if s.usage.Level == Full {
				s.log.Info("there is room on the disk again", "folder", s.dir, "free", free)
			}
		}
	}
	usage := Usage{Free: free, Total: total}
	switch {
	case !hasReserve && free < 2*size && (s.running || free < size/2): // in commands a missing reserve alone does not mean a full disk
		usage.Level = Full
	case free < min(s.warnBelow, max(total/10, size)): // a disk that is smaller than warnBelow must not always be Low
		usage.Level = Low
		if s.usage.Level == Enough {
			s.log.Warn("little room is left on the disk of the data folder", "folder", s.dir, "free", free, "total", total)
		}
	}
	s.usage, s.checkedAt = usage, time.Now()
}

func (s *Space) reserveFile() string { return filepath.Join(s.dir, reserveName) }

// hasReserve reports whether the reserve exists and takes up at least half of size, in bytes.
func (s *Space) hasReserve(size int64) bool {
	info, err := os.Stat(s.reserveFile())
	return err == nil && info.Size() >= size/2 && allocated(info) >= size/2 // a sparse file reserves nothing
}

// removeReserve removes the reserve and reports whether there was one.
func (s *Space) removeReserve() bool {
	err := os.Remove(s.reserveFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Error("the reserve for a full disk could not be removed", "cause", err.Error())
	}
	return err == nil
}

func (s *Space) makeReserve(size int64) (err error) {
	f, err := os.OpenFile(s.reserveFile(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	if err := errors.Join(allocate(f, size), f.Close()); err != nil {
		return errors.Join(err, os.Remove(s.reserveFile()))
	}
	return nil
}

// fill writes size random bytes, which no file system can compress, to a file. allocate needs it where the system cannot reserve
// space.
func fill(f *os.File, size int64) error {
	_, err := io.CopyN(f, rand.Reader, size)
	return errors.Join(err, f.Sync())
}
