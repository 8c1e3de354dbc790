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

// Level is how much space is left on the disk of the data folder.
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
	// people can still sign in and delete. Its size is reserveSize bytes, but at most a quarter of the disk.
	reserveName = "reserve"
	reserveSize = 16 << 20
	// checkEvery is the usual interval of checks. It is short because a fast upload could fill the disk between two checks.
	checkEvery = 2 * time.Second
	// minRetryBytes is the free space in bytes that is needed to attempt a failed write again.
	minRetryBytes = 1 << 20
	// maxUsageAge is how long Usage returns the result of the last check before it checks again.
	maxUsageAge = 100 * time.Millisecond
)

// Space measures the free space on the disk of a data folder and manages the reserve file.
type Space struct {
	CheckEvery time.Duration // interval of checks in Run; to be set before Run

	dir  string
	warn int64 // free space in bytes below which the level is Low
	log  *slog.Logger

	mu        sync.Mutex
	running   bool      // Run has begun: checks create and remove the reserve
	last      Usage     // result of the last check
	checkedAt time.Time // time of the last check
}

// Usage is how much space the disk has, as a check found it. Free and Total are in bytes; Free does not include the reserve.
type Usage struct {
	Level       Level
	Free, Total int64
}

// NewSpace returns a Space for the disk of dir. The level is Low below warn bytes of free space; a small disk has a lower
// limit. Run creates the reserve.
func NewSpace(dir string, warn int64, log *slog.Logger) *Space {
	return &Space{CheckEvery: checkEvery, dir: dir, warn: warn, log: log}
}

// Run creates the reserve and checks the disk every CheckEvery until ctx ends. It calls low after each check whose level is
// not Enough.
func (s *Space) Run(ctx context.Context, low func(Usage)) {
	s.mu.Lock()
	s.running = true
	s.mu.Unlock()
	tick := time.NewTicker(s.CheckEvery)
	defer tick.Stop()
	for {
		if usage := s.Check(); usage.Level != Enough {
			low(usage)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Usage returns the result of the last check. It checks again if that result is older than maxUsageAge, or Full.
func (s *Space) Usage() Usage {
	s.mu.Lock()
	usage, fresh := s.last, s.last.Level != Full && time.Since(s.checkedAt) < maxUsageAge
	s.mu.Unlock()
	if fresh {
		return usage
	}
	return s.Check()
}

// Exhausted is to be called after a write failed because the disk is full. It removes the reserve and reports whether there is
// now enough space to try the write again.
func (s *Space) Exhausted() (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.removeReserve()
	}
	s.check()
	return s.last.Free >= minRetryBytes // another check may have removed the reserve already
}

// Check reads the free space, removes the reserve when there is too little, and creates it when there is enough.
func (s *Space) Check() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check()
	return s.last
}

func (s *Space) check() {
	free, total, err := measure(s.dir)
	if err != nil {
		s.log.Error("the free space of the data folder cannot be read", "folder", s.dir, "cause", err.Error())
		return
	}
	size := min(reserveSize, total/4)
	hasReserve := s.hasReserve(size)
	switch {
	case !s.running:
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
			if s.last.Level == Full {
				s.log.Info("there is room on the disk again", "folder", s.dir, "free", free)
			}
		}
	}
	usage := Usage{Free: free, Total: total}
	switch {
	case !hasReserve && free < 2*size && (s.running || free < size/2):
		usage.Level = Full
	case free < min(s.warn, max(total/10, size)): // a disk that is smaller than warn must not always be Low
		usage.Level = Low
		if s.last.Level == Enough {
			s.log.Warn("little room is left on the disk of the data folder", "folder", s.dir, "free", free, "total", total)
		}
	}
	s.last, s.checkedAt = usage, time.Now()
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

// fill reserves space by writing random bytes, which no file system can compress. It is for systems that cannot reserve space.
func fill(f *os.File, size int64) error {
	_, err := io.CopyN(f, rand.Reader, size)
	return errors.Join(err, f.Sync())
}
