package health

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// releaseFile is a release file that a test changes.
type releaseFile struct {
	newest Release
	err    error
	reads  atomic.Int64
}

// at returns a ReleaseFile with this location that reads f instead of a real file.
func (f *releaseFile) at(location string) *ReleaseFile {
	return &ReleaseFile{
		Location: location,
		Read: func(context.Context) (Release, error) {
			f.reads.Add(1)
			return f.newest, f.err
		},
		IsNewer: func(version string) bool { return version > "1.2.0" },
	}
}

// checkRelease runs the check on two nodes concurrently, and returns how often the file was read.
func (s *site) checkRelease(f *releaseFile) int64 {
	s.t.Helper()
	before := f.reads.Load()
	var nodes sync.WaitGroup
	for range 2 {
		nodes.Go(func() {
			if err := s.CheckRelease(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		})
	}
	nodes.Wait()
	return f.reads.Load() - before
}

// Proves H-release-daily, A-health-release.
func TestTheReleaseFileIsReadOnceADay(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const location = "https://ana:secret@example.com/release.json"
		f := &releaseFile{newest: Release{"1.3.0", "2026-12-01", "https://example.com/1.3.0"}}
		if s.checkRelease(f) != 0 || s.state().Release != nil {
			t.Error("without a release file a file was read, or a state returned")
		}
		var log strings.Builder
		s.log = slog.New(slog.NewTextHandler(&log, nil))
		s.cfg.ReleaseFile = f.at(location)
		if got := s.state().Release; got == nil || got.Newer != nil || got.ReadAt != nil || f.reads.Load() != 0 {
			t.Errorf("the overview reads the file: %+v", got)
		}
		if n := s.checkRelease(f); n != 1 {
			t.Errorf("two nodes have read it %d times", n)
		}
		got := s.state()
		if r := got.Release; r.Newer == nil || *r.Newer != f.newest || !r.ReadAt.Equal(start) || r.FailingSince != nil {
			t.Errorf("got %+v", r)
		}
		if mailed := s.check(); len(got.Problems) != 0 || mailed != nil {
			t.Errorf("a newer release is a problem: %+v, mailed %q", got.Problems, mailed)
		}
		records, err := readRecords(t.Context(), s.db)
		for name, r := range records {
			if strings.Contains(r.cause, "secret") || strings.Contains(r.cause, "release.json") {
				t.Errorf("%s stores the address: %s", name, r.cause)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		s.at = start.Add(23 * time.Hour)
		if n := s.checkRelease(f); n != 0 {
			t.Errorf("within a day it is read %d times again", n)
		}
		s.at = start.Add(24 * time.Hour)
		f.newest.Version = "1.2.0"
		if n := s.checkRelease(f); n != 1 || s.state().Release.Newer != nil {
			t.Errorf("a day later: read %d times, %+v", n, s.state().Release)
		}
		f.newest.Version = "1.4.0"
		s.cfg.ReleaseFile = f.at("/srv/release.json")
		if got := s.state().Release; got.ReadAt != nil {
			t.Errorf("the state of another file: %+v", got)
		}
		if n := s.checkRelease(f); n != 1 || s.state().Release.Newer.Version != "1.4.0" {
			t.Errorf("another file: read %d times, %+v", n, s.state().Release)
		}
		if log.Len() > 0 {
			t.Errorf("logged %s", log.String())
		}
	})
}

// Proves A-health-release.
func TestAnUnreadableReleaseFileIsLoggedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		var log strings.Builder
		s.log = slog.New(slog.NewTextHandler(&log, nil))
		f := &releaseFile{newest: Release{Version: "1.3.0", Date: "2026-12-01"}}
		s.cfg.ReleaseFile = f.at("/srv/release.json")
		s.checkRelease(f)
		f.err = errors.New("example.com answered 502")
		for day := range 3 {
			s.at = start.AddDate(0, 0, day+1)
			if n := s.checkRelease(f); n != 1 {
				t.Errorf("day %d: read %d times", day, n)
			}
		}
		got := s.state().Release
		if !got.FailingSince.Equal(start.AddDate(0, 0, 1)) || !got.ReadAt.Equal(start) || got.Newer == nil {
			t.Errorf("%+v", got)
		}
		s.fresh()
		s.want("the release file cannot be read")
		if strings.Count(log.String(), "answered 502") != 1 {
			t.Errorf("logged %s", log.String())
		}
		f.err = nil
		s.at = start.AddDate(0, 0, 4)
		s.checkRelease(f)
		if s.state().Release.FailingSince != nil || !strings.Contains(log.String(), "can be read again") {
			t.Errorf("%+v, logged %s", s.state().Release, log.String())
		}
	})
}
