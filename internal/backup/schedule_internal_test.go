package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves H-proof-schedule.
func TestAProofIsDueEachNightAndSoonerAfterAFailure(t *testing.T) {
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.Local)
	at := func(hour, minute int) time.Time { return time.Date(2026, 3, 10, hour, minute, 0, 0, time.Local) }
	proven := func(ended time.Time) State {
		text, err := json.Marshal(RestoreTestDetail{Ended: ended})
		if err != nil {
			t.Fatal(err)
		}
		return State{LastOK: ended.Add(-time.Minute), Detail: string(text)}
	}
	failed := func(before State, at time.Time) State {
		before.LastError, before.Error = at, "damaged"
		return before
	}
	incomplete := func(code string, at time.Time) State {
		return State{LastError: at, ErrorSince: at, Error: "not done", Detail: `{"code":"` + code + `"}`}
	}
	last := proven(at(4, 30))
	for name, c := range map[string]struct {
		states map[Kind]State
		now    time.Time
		due    bool
	}{
		"never proven":                             {map[Kind]State{}, noon, true},
		"proven this night":                        {map[Kind]State{KindRestoreTest: last}, noon, false},
		"proven this night, before four":           {map[Kind]State{KindRestoreTest: proven(at(3, 59))}, noon, true},
		"proven yesterday, before four":            {map[Kind]State{KindRestoreTest: proven(at(4, 30).AddDate(0, 0, -1))}, at(3, 59), false},
		"proven yesterday, at four":                {map[Kind]State{KindRestoreTest: proven(at(4, 30).AddDate(0, 0, -1))}, at(4, 0), true},
		"failed an hour ago":                       {map[Kind]State{KindRestoreTest: failed(last, at(11, 0))}, noon, true},
		"failed less than an hour ago":             {map[Kind]State{KindRestoreTest: failed(last, at(11, 1))}, noon, false},
		"the destination was away ten minutes ago": {map[Kind]State{KindRestoreTest: last, KindIncompleteRestoreTest: incomplete(errUnreachable.Code, at(11, 50))}, noon, true},
		"the destination was away just now":        {map[Kind]State{KindRestoreTest: last, KindIncompleteRestoreTest: incomplete(errUnreachable.Code, at(11, 51))}, noon, false},
		"no room an hour ago":                      {map[Kind]State{KindRestoreTest: last, KindIncompleteRestoreTest: incomplete(errNoRoom.Code, at(11, 0))}, noon, true},
		"no room less than an hour ago":            {map[Kind]State{KindRestoreTest: last, KindIncompleteRestoreTest: incomplete(errNoRoom.Code, at(11, 1))}, noon, false},
		"failed before this night":                 {map[Kind]State{KindRestoreTest: failed(State{}, at(3, 50))}, at(4, 10), true},
	} {
		s := &Service{db: &db.DB{Dialect: db.SQLite}}
		if got := s.isDueByStates(c.states, c.now, true); got != c.due {
			t.Errorf("%s: %t", name, got)
		}
		if s.isDueByStates(c.states, c.now, false) {
			t.Errorf("%s: due right after the start without a request", name)
		}
		states := map[Kind]State{kindRestoreTestRequest: {LastOK: c.now.Add(-time.Second)}}
		for kind, state := range c.states {
			states[kind] = state
		}
		if !s.isDueByStates(states, c.now, false) {
			t.Errorf("%s: not due for whom asks", name)
		}
		s.db = &db.DB{Dialect: db.Postgres}
		if s.isDueByStates(states, c.now, true) {
			t.Errorf("%s: due before there is a snapshot", name)
		}
		states[KindSnapshot] = State{LastOK: at(3, 0)}
		if !s.isDueByStates(states, c.now, true) {
			t.Errorf("%s: not due when there is a snapshot", name)
		}
	}
}

// nightlyNodes are the nodes of a site with a PostgreSQL database, and their clock.
type nightlyNodes struct {
	d     *db.DB
	nodes []*Service
	log   bytes.Buffer // of all nodes

	mu   sync.Mutex
	at   time.Time
	free int64
}

func newNightlyNodes(t *testing.T, destination Destination, nodes int) *nightlyNodes {
	t.Helper()
	n := &nightlyNodes{d: dbtest.Open(t, db.Postgres), at: time.Date(2026, 3, 10, 4, 30, 0, 0, time.Local), free: 1 << 40}
	log := slog.New(slog.NewTextHandler(&n.log, nil)) // a handler writes one line at a time
	for range nodes {
		n.nodes = append(n.nodes, New(n.d, Config{
			Destination: destination, Retention: 72 * time.Hour, SiteID: "site", Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: log, ScratchDir: t.TempDir(),
			OpenBlob:  func(context.Context, string) (io.ReadSeekCloser, error) { return nil, fs.ErrNotExist },
			DiskFull:  func() bool { return false },
			FreeSpace: func() int64 { n.mu.Lock(); defer n.mu.Unlock(); return n.free },
		}, n.now))
	}
	return n
}

func (n *nightlyNodes) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

func (n *nightlyNodes) set(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = at
}

// tick runs the periodic work of all nodes once, concurrently. It returns the number of successful restore tests so far.
func (n *nightlyNodes) tick(t *testing.T) int {
	t.Helper()
	var nodes sync.WaitGroup
	for _, s := range n.nodes {
		nodes.Go(func() {
			if err := errors.Join(s.snapshotIfDue(t.Context()), s.testRestoreIfDue(t.Context(), true)); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	return strings.Count(n.log.String(), "was restored and is what the site has")
}

// Proves H-proof-schedule.
func TestOneNodeProvesTheBackupEachNight(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 3)
	for n.tick(t) == 0 { // until the other nodes find the snapshot of the first one
		if t.Failed() {
			t.FailNow()
		}
	}
	for night := range 3 {
		day := time.Date(2026, 3, 11+night, 0, 0, 0, 0, time.Local)
		for _, step := range []struct {
			after time.Duration
			want  int // restore tests since the beginning
		}{{2 * time.Hour, night + 1}, {3*time.Hour + 59*time.Minute, night + 1}, {4 * time.Hour, night + 2}, {5 * time.Hour, night + 2}, {23 * time.Hour, night + 2}} {
			n.set(day.Add(step.after))
			if got := n.tick(t); got != step.want {
				t.Errorf("%s: %d restore tests, want %d", n.now(), got, step.want)
			}
		}
	}
	held, err := db.One[int64](t.Context(), n.d, "select count(*) from backup_status where holder is not null")
	if err != nil || held > 0 {
		t.Errorf("%d leases are left, %v", held, err)
	}
}

// Proves H-proof-schedule.
func TestANodeThatWasKilledDuringAProofIsReplaced(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	if _, err := n.nodes[0].TakeSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if mine, err := Lease(t.Context(), n.d, KindRestoreTest, "a node that is killed", n.now(), n.now().Add(snapshotLease)); err != nil || !mine {
		t.Fatal(mine, err)
	}
	if got := n.tick(t); got != 0 {
		t.Errorf("%d restore tests while another node has the lease", got)
	}
	n.set(n.now().Add(snapshotLease))
	if got := n.tick(t); got != 1 {
		t.Errorf("%d restore tests after the lease", got)
	}
}

// Proves H-proof-away.
func TestProofWithoutDiskSpaceIsRepeated(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	n.free = 1 << 10
	if got := n.tick(t); got != 0 {
		t.Errorf("%d restore tests", got)
	}
	status, err := n.nodes[0].Status(t.Context())
	if err != nil || status.RestoreTestIncompleteCode != "backup_proof_no_room" || !strings.Contains(status.RestoreTestIncomplete, "0 MB are free on the disk of the data folder, ") || status.RestoreTestError != "" {
		t.Errorf("%+v, %v", status, err)
	}
	n.mu.Lock()
	n.free = 1 << 40
	n.mu.Unlock()
	n.set(n.now().Add(restoreTestRetryDelay - time.Minute))
	if got := n.tick(t); got != 0 {
		t.Errorf("%d restore tests within the hour", got)
	}
	n.set(n.now().Add(time.Minute))
	if got := n.tick(t); got != 1 {
		t.Errorf("%d restore tests after an hour", got)
	}
	if status, err := n.nodes[0].Status(t.Context()); err != nil || status.RestoreTestIncomplete != "" {
		t.Errorf("%+v, %v", status, err)
	}
}

// slowDestination opens objects only when the context has ended.
type slowDestination struct{ Destination }

func (d slowDestination) Open(ctx context.Context, _ string) (io.ReadCloser, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Proves H-proof-away.
func TestProofThatTimesOutIsNotAFailedProof(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	n := newNightlyNodes(t, destination, 1)
	s := n.nodes[0]
	if _, err := s.TakeSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cfg.Destination = slowDestination{destination}
	s.restoreTestTimeout = time.Millisecond
	if got := n.tick(t); got != 0 {
		t.Errorf("%d restore tests", got)
	}
	status, err := s.Status(t.Context())
	if err != nil || status.RestoreTestIncompleteCode != "backup_proof_timeout" || status.RestoreTestError != "" || status.DestinationUnreachable {
		t.Errorf("%+v, %v", status, err)
	}
	for _, err := range []error{errors.New("x"), &destinationError{errors.New("x")}, apperr.New(http.StatusTeapot, "x", "x")} {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if not := incompleteReason(ended, fmt.Errorf("%w", err)); not == nil || not.Code != "backup_proof_timeout" {
			t.Errorf("%v: %v", err, not)
		}
		if not := incompleteReason(ended, fmt.Errorf("%w (%w)", damage("x", nil), err)); not != nil {
			t.Errorf("damage that was found in time: %v", not)
		}
	}
}

// Proves H-copy-stale.
func TestStaleSecondaryDestinationIsAFailure(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	s := n.nodes[0]
	s.cfg.Secondary = OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "second")})
	if got := n.tick(t); got != 1 {
		t.Fatalf("%d restore tests", got)
	}
	copied := n.now()
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{copyStaleAfter, ""}, {copyStaleAfter + time.Hour, errCopyStale.Error()}} {
		n.set(copied.Add(c.after))
		status, err := s.Status(t.Context())
		if err != nil || status.BackupError != c.want || c.want != "" && !status.ErrorSince.Equal(copied) {
			t.Errorf("after %s: %+v, %v", c.after, status, err)
		}
	}
	// A failure of a secondary destination that is no longer configured does not count.
	if err := RecordFailure(t.Context(), n.d, KindCopy, n.now(), "away"); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Status(t.Context()); err != nil || status.BackupError != "away" {
		t.Errorf("%+v, %v", status, err)
	}
	s.cfg.Secondary = nil
	if status, err := s.Status(t.Context()); err != nil || status.BackupError != "" {
		t.Errorf("without a secondary destination: %+v, %v", status, err)
	}
}

// Proves H-proof-schedule.
func TestResultsOfAnotherDestinationDoNotCount(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	if got := n.tick(t); got != 1 {
		t.Fatalf("%d restore tests", got)
	}
	if err := RecordFailure(t.Context(), n.d, KindRestoreTest, n.now(), "damaged"); err != nil {
		t.Fatal(err)
	}
	n.set(n.now().Add(8 * time.Hour)) // both were done this night, so nothing is due
	cfg := n.nodes[0].cfg
	cfg.Destination = OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "elsewhere")})
	s := New(n.d, cfg, n.now)
	n.nodes = []*Service{s}
	if err := s.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context())
	if err != nil || !status.LastBackup.IsZero() || !status.LastRestoreTest.IsZero() || !status.TestedRestorePoint.IsZero() || status.RestoreTestError != "" {
		t.Errorf("%+v, %v", status, err)
	}
	if got := n.tick(t); got != 2 {
		t.Errorf("%d restore tests", got)
	}
	if newest, err := s.Newest(t.Context()); err != nil || !newest.Equal(n.now()) {
		t.Errorf("the newest snapshot is of %s, %v", newest, err)
	}
}

// After atelie copy or a restore, a site can have the same destination with another engine.
//
// Proves H-proof-schedule.
func TestResultsOfThePreviousEngineDoNotCount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
		lastRestoreTest := func() time.Time { // after another start
			t.Helper()
			s := New(d, Config{Destination: destination, SiteID: "site", Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, time.Now)
			if err := s.claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			status, err := s.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return status.LastRestoreTest
		}
		lastRestoreTest()
		if err := RecordSuccess(t.Context(), d, KindRestoreTest, time.Now(), `{"ended":"2026-11-23T04:10:00Z"}`); err != nil {
			t.Fatal(err)
		}
		if lastRestoreTest().IsZero() {
			t.Error("a start has forgotten the last restore test")
		}
		previous := db.SQLite
		if d.Dialect == db.SQLite {
			previous = db.Postgres
		}
		if _, err := Claim(t.Context(), destination, "site", string(previous)); err != nil {
			t.Fatal(err)
		}
		// The results are forgotten before format.json is written, because after that nothing shows that the engine has changed.
		s := New(d, Config{Destination: unwritableDestination{destination}, SiteID: "site", Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, time.Now)
		if err := s.claim(t.Context()); err == nil {
			t.Error("an unwritable destination was claimed")
		}
		if status, err := s.Status(t.Context()); err != nil || !status.LastRestoreTest.IsZero() {
			t.Errorf("the restore test counts after an interrupted claim: %+v, %v", status, err)
		}
		if got := lastRestoreTest(); !got.IsZero() {
			t.Errorf("the restore test of %s counts", got)
		}
	})
}

// unwritableDestination is a destination that can be read, but not written.
type unwritableDestination struct{ Destination }

func (unwritableDestination) Write(context.Context, string, io.ReadSeeker) error {
	return &destinationError{errors.New("unavailable")}
}

func (unwritableDestination) Add(context.Context, string, io.ReadSeeker) error {
	return &destinationError{errors.New("unavailable")}
}

// Proves H-backup-outage.
func TestFailureOfTheFormerSQLiteDatabaseDoesNotCount(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	if err := errors.Join(
		RecordFailure(t.Context(), n.d, KindDatabase, n.now(), errDiskFull.Error()),
		RecordSuccess(t.Context(), n.d, KindSnapshot, n.now(), "{}"),
	); err != nil {
		t.Fatal(err)
	}
	if status, err := n.nodes[0].Status(t.Context()); err != nil || status.BackupError != "" || !status.LastBackup.Equal(n.now()) {
		t.Errorf("%+v, %v", status, err)
	}
}

// undeletableDestination is a destination whose next deletion fails.
type undeletableDestination struct {
	Destination
	fails bool
}

func (d *undeletableDestination) Delete(ctx context.Context, name string) error {
	if d.fails {
		d.fails = false
		return errors.New("unavailable")
	}
	return d.Destination.Delete(ctx, name)
}

// Proves H-backup-outage.
func TestFailedRemovalOfSnapshotsIsRepeated(t *testing.T) {
	destination := &undeletableDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})}
	n := newNightlyNodes(t, destination, 1)
	s := n.nodes[0]
	backupError := func() string { // after another step of runSnapshots
		t.Helper()
		if err := s.snapshotIfDue(t.Context()); err != nil {
			s.failed(t.Context(), KindSnapshot, err)
		}
		status, err := s.Status(t.Context())
		if err != nil || !status.LastBackup.Equal(n.now()) {
			t.Fatalf("%+v, %v", status, err)
		}
		return status.BackupError
	}
	for _, day := range []int{10, 11} {
		n.set(time.Date(2026, 3, day, 4, 30, 0, 0, time.Local))
		if got := backupError(); got != "" {
			t.Fatal(got)
		}
	}
	n.set(time.Date(2026, 3, 20, 4, 30, 0, 0, time.Local))
	destination.fails = true
	if got := backupError(); got == "" {
		t.Error("the failure is not shown")
	}
	if got := backupError(); got != "" {
		t.Errorf("the failure has ended, but is shown: %s", got)
	}
	var names []string
	if err := destination.List(t.Context(), SnapshotsDir+"/", func(o Object) error { names = append(names, o.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(names) != 4 { // the newest one, the last one before the retention, and their descriptions
		t.Errorf("got %q", names)
	}
}

// Proves H-backup-outage.
func TestFailureThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	var log bytes.Buffer
	s := New(d, Config{Destination: OpenDestination(DestinationConfig{Folder: t.TempDir()}), Log: slog.New(slog.NewTextHandler(&log, nil))}, time.Now)
	for _, statement := range []string{"create trigger refuse before insert on backup_status begin select raise(abort, 'refused'); end", "drop trigger refuse"} {
		if err := db.Exec(t.Context(), d, statement); err != nil {
			t.Fatal(err)
		}
		s.failed(t.Context(), KindBlobs, errors.New("unavailable"))
	}
	states, err := ReadStates(t.Context(), d)
	if err != nil || states[KindBlobs].Error == "" {
		t.Errorf("%+v, %v", states[KindBlobs], err)
	}
	if n := strings.Count(log.String(), "new data is not in the backup destination"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, log.String())
	}
}

// Proves H-backup-outage.
func TestSuccessThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	var log bytes.Buffer
	s := New(d, Config{Destination: OpenDestination(DestinationConfig{Folder: t.TempDir()}), Log: slog.New(slog.NewTextHandler(&log, nil))}, time.Now)
	s.failed(t.Context(), KindBlobs, errors.New("unavailable"))
	for _, statement := range []string{"create trigger refuse before insert on backup_status begin select raise(abort, 'refused'); end", "drop trigger refuse"} {
		if err := db.Exec(t.Context(), d, statement); err != nil {
			t.Fatal(err)
		}
		if s.hasFailed(KindBlobs) { // as in runBlobs
			s.succeeded(t.Context(), KindBlobs, time.Now())
		}
	}
	states, err := ReadStates(t.Context(), d)
	if err != nil || states[KindBlobs].Error != "" || s.hasFailed(KindBlobs) {
		t.Errorf("%+v, %v", states[KindBlobs], err)
	}
	if n := strings.Count(log.String(), "has everything again"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, log.String())
	}
}

// Proves H-backup-outage.
func TestSnapshotThatCouldNotBeRecordedIsTakenAgain(t *testing.T) {
	n := newNightlyNodes(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), 1)
	s := n.nodes[0]
	if err := db.Exec(t.Context(), n.d, "alter table backup_status add constraint refused check (kind <> 'snapshot' or last_ok_at is null)"); err != nil {
		t.Fatal(err)
	}
	if err := s.snapshotIfDue(t.Context()); err == nil {
		t.Error("a snapshot was recorded")
	}
	if err := db.Exec(t.Context(), n.d, "alter table backup_status drop constraint refused"); err != nil {
		t.Fatal(err)
	}
	n.set(n.now().Add(snapshotPollInterval))
	if err := s.snapshotIfDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Status(t.Context()); err != nil || !status.LastBackup.Equal(n.now()) {
		t.Errorf("%+v, %v", status, err)
	}
}

// Proves H-proof-away.
func TestProofAfterAnUpgradeReportsAnUnreachableDestination(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	n := newNightlyNodes(t, destination, 1)
	s := n.nodes[0]
	if _, err := s.TakeSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "earlier.db") // it is not read: its description has no schema version, as in an earlier version
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.storeSnapshot(t.Context(), file, Snapshot{Time: n.now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	n.set(n.now().Add(2 * time.Hour))
	s.cfg.Destination = unwritableDestination{destination}
	if err := s.testRestore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Status(t.Context()); err != nil || status.RestoreTestIncompleteCode != errUnreachable.Code || !status.DestinationUnreachable || status.RestoreTestError != "" {
		t.Errorf("%+v, %v", status, err)
	}
}

// Proves H-proof.
func TestProofAfterAnUpgradeTakesAnotherSnapshot(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	n := newNightlyNodes(t, destination, 1)
	s := n.nodes[0]
	if _, err := s.TakeSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	point, err := findRestorePoint(t.Context(), destination, string(db.Postgres), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "earlier.db")
	if err := point.restore(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	earlier, err := openRestored(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Exec(t.Context(), earlier, "drop table calendar_feeds") // as in an earlier version of the program
	if err := errors.Join(err, closeRestored(earlier, file)); err != nil {
		t.Fatal(err)
	}
	if err := s.storeSnapshot(t.Context(), file, Snapshot{Time: n.now().Add(time.Hour), Tables: point.snapshot.Tables}); err != nil {
		t.Fatal(err)
	}
	n.set(n.now().Add(2 * time.Hour))
	if err := s.testRestore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if restoreTest, err := ReadRestoreTest(t.Context(), n.d); err != nil || restoreTest.Error != "" || restoreTest.Incomplete != "" || !restoreTest.RestorePoint.Equal(n.now()) {
		t.Errorf("%+v, %v", restoreTest, err)
	}
}

// Proves H-restore-lost.
//
// TestSyncsAfterSlowUploadsAreCloser checks when the next sync is due, depending on how long the latest one and its upload took.
func TestSyncsAfterSlowUploadsAreCloser(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s := New(d, Config{}, time.Now)
	tried, _ := d.Writes()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		took, since time.Duration // since the latest sync
		written     bool
		due         bool
	}{
		"fast upload, too soon":           {0, 870 * time.Millisecond, true, false},
		"fast upload":                     {0, 880 * time.Millisecond, true, true},
		"upload of 300 ms, too soon":      {300 * time.Millisecond, 570 * time.Millisecond, true, false},
		"upload of 300 ms":                {300 * time.Millisecond, 580 * time.Millisecond, true, true},
		"upload of a minute, too soon":    {time.Minute, 370 * time.Millisecond, true, false},
		"upload of a minute":              {time.Minute, 380 * time.Millisecond, true, true},
		"nothing was written":             {time.Minute, 870 * time.Millisecond, false, false},
		"nothing was written by this one": {time.Minute, 880 * time.Millisecond, false, true},
	} {
		l := &databaseLoop{s: s, took: c.took, syncedAt: now, newDataAt: now, writes: tried}
		if c.written {
			l.writes--
		}
		if got := l.isSyncDue(now.Add(c.since)); got != c.due {
			t.Errorf("%s: due is %t", name, got)
		}
	}
}
