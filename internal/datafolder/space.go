package datafolder

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelie/internal/interval"
)

// This file watches the free space on the disk of the data folder, and keeps some space in reserve for when the disk is full.

// Level says how much space is left on the disk of the data folder.
type Level int

// The levels.
const (
	Enough Level = iota
	Low          // the owners get a warning
	Full         // new content and uploads are rejected; people can still sign in and delete content
)

const (
	// reserveName is the name of the reserve: a file that only occupies space. When the disk is full, the program frees the file's space
	// in reserveSlices steps, so that people can still sign in and delete content.
	reserveName   = "reserve"
	reserveSize   = 16 << 20 // bytes; on a small disk, the reserve is a quarter of the disk instead
	reserveSlices = 4
	// defaultInterval is the default of Space.CheckEvery. It is short, because a fast upload could fill the disk between two checks.
	defaultInterval = 2 * time.Second
	// minRetryBytes is the free space in bytes that is needed to retry a write that failed because the disk was full.
	minRetryBytes = 1 << 20
	// maxUsageAge is the maximum age of the last check whose result Usage returns. If the result is older, Usage checks again.
	maxUsageAge = 100 * time.Millisecond
)

// Space measures the free space on the disk of a data folder and manages the reserve file.
type Space struct {
	CheckEvery time.Duration // time between two checks of Run; must be set before Run

	dir       string
	warnBelow int64 // bytes; see NewSpace
	log       *slog.Logger

	mu        sync.Mutex
	running   bool      // Run has begun, so checks may change the reserve
	usage     Usage     // result of the most recent check
	checkedAt time.Time // time of the most recent check
}

// Usage is the result of a check of the disk. Free and Total are in bytes; Free does not include the reserve.
type Usage struct {
	Level       Level
	Free, Total int64
}

// NewSpace returns a Space for the disk of dir. The level is Low if fewer than warnBelow bytes are free. On a small disk, the limit is about
// a tenth of the disk instead. Run creates the reserve.
func NewSpace(dir string, warnBelow int64, log *slog.Logger) *Space {
	return &Space{CheckEvery: defaultInterval, dir: dir, warnBelow: warnBelow, log: log}
}

// Run creates the reserve, and checks the disk at the interval CheckEvery until ctx ends. It calls onLow after each check whose level is not
// Enough.
func (s *Space) Run(ctx context.Context, onLow func(Usage)) {
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	interval.Every(ctx, s.CheckEvery, func() {
		if usage := s.Check(); usage.Level != Enough {
			onLow(usage)
		}
	})
}

// Usage returns the result of the most recent check. It checks again if that result is older than maxUsageAge, or Full.
func (s *Space) Usage() Usage {
	s.mu.Lock()
	usage, isFresh := s.usage, s.usage.Level != Full && time.Since(s.checkedAt) < maxUsageAge
	s.mu.Unlock()
	if isFresh {
		return usage
	}
	return s.Check()
}

// IsFull reports whether the disk is full according to Usage.
func (s *Space) IsFull() bool { return s.Usage().Level == Full }

// FreeReserve is to be called after a write failed because the disk is full. It releases a slice of the reserve and reports whether
// there is now enough space to retry the write.
func (s *Space) FreeReserve() (retry bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.releaseSlice(s.reserved(), reserveSizeOn(s.usage.Total)/reserveSlices)
	}
	s.check()
	return s.usage.Free >= minRetryBytes // another check may have released the slice already
}

// Check measures the free space. If there is too little, it releases a slice of the reserve; if there is enough, it restores the whole
// reserve.
func (s *Space) Check() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check()
	return s.usage
}

// check is Check for callers that hold s.mu.
func (s *Space) check() {
	free, total, err := diskSpace(s.dir)
	if err != nil {
		s.log.Error("the free space of the data folder cannot be read", "folder", s.dir, "cause", err.Error())
		return
	}
	size := reserveSizeOn(total)
	slice := size / reserveSlices
	reserved := s.reserved()
	isWhole := reserved > size-slice
	switch {
	case !s.running: // without Run, as in commands, nothing changes the reserve
	case isWhole && free < size/2, reserved > 0 && free < slice:
		if s.releaseSlice(reserved, slice) {
			reserved, isWhole = max(0, reserved-slice), false
			free += slice
		}
	case !isWhole && free+reserved >= 2*size:
		if err := s.makeReserve(size); err != nil {
			s.log.Warn("the reserve for a full disk could not be created: on a full disk people may be unable to sign in and delete", "folder", s.dir, "cause", err.Error())
		} else {
			free -= size - reserved
			reserved, isWhole = size, true
		}
	}
	usage := Usage{Free: free, Total: total}
	switch {
	case !isWhole && free+reserved < 2*size && (s.running || free < size/2): // in commands a missing reserve alone does not mean a full disk
		usage.Level = Full
	case free < min(s.warnBelow, max(total/10, size)): // a disk that is smaller than warnBelow must not always be Low
		usage.Level = Low
	}
	s.logChange(usage, reserved)
	s.usage, s.checkedAt = usage, time.Now()
}

// logChange logs that the level is another one than at the previous check.
func (s *Space) logChange(usage Usage, reserved int64) {
	switch {
	case usage.Level == s.usage.Level:
	case usage.Level == Full:
		if s.running {
			s.log.Error("the disk is full: new content and uploads are refused until there is room; the reserve lets people sign in and delete", "folder", s.dir, "free", usage.Free, "reserve", reserved)
		}
	case s.usage.Level == Full:
		s.log.Info("there is room on the disk again", "folder", s.dir, "free", usage.Free)
	case usage.Level == Low:
		s.log.Warn("little space is left on the disk of the data folder", "folder", s.dir, "free", usage.Free, "total", usage.Total)
	}
}

// reserveSizeOn returns the size of the whole reserve on a disk of total bytes.
func reserveSizeOn(total int64) int64 { return min(reserveSize, total/4) }

func (s *Space) reserveFile() string { return filepath.Join(s.dir, reserveName) }

// reserved returns how many bytes the reserve occupies; 0 if there is none. A sparse file occupies nothing.
func (s *Space) reserved() int64 {
	info, err := os.Stat(s.reserveFile())
	if err != nil {
		return 0
	}
	return min(info.Size(), allocatedSize(info))
}

// releaseSlice makes the reserve, which occupies reserved bytes, smaller by slice. It reports whether that was possible.
func (s *Space) releaseSlice(reserved, slice int64) bool {
	if reserved == 0 {
		return false
	}
	var err error
	if reserved > slice {
		err = os.Truncate(s.reserveFile(), reserved-slice)
	} else {
		err = os.Remove(s.reserveFile())
	}
	if err != nil {
		s.log.Error("the reserve for a full disk could not be released: people may be unable to sign in and delete", "folder", s.dir, "cause", err.Error())
	}
	return err == nil
}

// makeReserve creates the reserve, or makes it whole again.
func (s *Space) makeReserve(size int64) (err error) {
	f, err := os.OpenFile(s.reserveFile(), os.O_RDWR|os.O_CREATE, fileMode)
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
