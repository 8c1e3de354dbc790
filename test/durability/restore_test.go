package durability

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/test/soak"
)

// The sizes of the tests. A round of TestLostDataFolderIsRestored takes about ten seconds. It waits for many of them, because the replica gets
// only one part a second.
var (
	losses    = flag.Int("losses", soak.Size(2, 30), "how often the data folder is lost")
	lossLimit = flag.Duration("loss-limit", 2*time.Second, "how long before the kill a lost write may have been acknowledged")
	edits     = soak.Size(60, 1000) // of TestEveryJournalledMomentIsRestored
	moments   = soak.Size(5, 50)    // that it restores
)

// run runs a command of the program and returns what it prints.
func (s *site) run(args ...string) string {
	s.t.Helper()
	c := s.command(args...)
	var logs bytes.Buffer
	c.Stderr = &logs
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s%s", args, err, out, logs.String())
	}
	return string(out)
}

// inFolder returns the same program with another data folder.
func (s *site) inFolder(dir string) *site {
	other := &site{t: s.t, binary: s.binary, key: s.key, messages: s.messages, rows: s.rows, files: s.files, times: s.times}
	for _, v := range s.env {
		if !strings.HasPrefix(v, "ATELIE_DATA_DIR=") {
			other.env = append(other.env, v)
		}
	}
	other.env = append(other.env, "ATELIE_DATA_DIR="+dir)
	return other
}

// hardLossLimit is how long before the kill a lost write may have been acknowledged in any round. lossLimit applies to nine of ten rounds,
// because a busy machine can withhold the processor from the backup for longer than that, but not again and again.
const hardLossLimit = 10 * time.Second

// lossesOfASite is how often one site loses its data folder. Each start after a restore begins with a whole copy of the database, and a restore
// reads all of them until the first daily snapshot, so that more losses of one site would only take longer.
const lossesOfASite = 25

// TestLostDataFolderIsRestored kills the server under load at a random time, deletes its data folder, and restores it from the backup. All
// writes that were acknowledged before the backup was last up to date must be restored, byte for byte. Of later writes, only those may be lost
// that were acknowledged within lossLimit before the kill, or hardLossLimit in one of ten rounds. The restored site continues with the same
// destination.
//
// Proves H-restore-lost.
func TestLostDataFolderIsRestored(t *testing.T) {
	binary := build(t)
	var total lossFigures
	for total.rounds < *losses {
		home := t.TempDir()
		total.add(loseFolder(t, binary, home, min(*losses-total.rounds, lossesOfASite)))
		t.Logf("after %d lost folders: %d writes found, of which %d messages, %d rows and %d files were acknowledged before a backup; it was up to date after at most %s; the oldest lost write was acknowledged %s before the kill",
			total.rounds, total.found, total.messages, total.rows, total.files, total.lag, total.lost)
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
	}
	if total.late > max(1, total.rounds/10) {
		t.Errorf("in %d of %d rounds a write is lost that was acknowledged more than %s before the kill", total.late, total.rounds, *lossLimit)
	}
}

// lossFigures are the results of some lost data folders.
type lossFigures struct {
	rounds, found         int
	messages, rows, files int           // of found, those that were acknowledged before the backup was last up to date
	lag                   time.Duration // longest time until the backup was up to date
	lost                  time.Duration // how long before the kill the oldest lost write was acknowledged
	late                  int           // rounds in which a write is lost that was acknowledged before lossLimit
}

func (f *lossFigures) add(g lossFigures) {
	f.rounds, f.found = f.rounds+g.rounds, f.found+g.found
	f.messages, f.rows, f.files = f.messages+g.messages, f.rows+g.rows, f.files+g.files
	f.lag, f.lost, f.late = max(f.lag, g.lag), max(f.lost, g.lost), f.late+g.late
}

// loseFolder starts a new site below home, and rounds times loses and restores its data folder.
func loseFolder(t *testing.T, binary, home string, rounds int) lossFigures {
	t.Helper()
	place := filepath.Join(home, "backup")
	dir := filepath.Join(home, "data 0")
	s := &site{t: t, binary: binary, env: []string{
		"ATELIE_DATA_DIR=" + dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_TRUSTED_PROXIES=127.0.0.1", "ATELIE_MESSAGES_PER_HOUR=0", "ATELIE_BACKUP_URL=" + place,
	}}
	s.keys()
	figures := lossFigures{rounds: rounds}
	for n := range rounds {
		s.start()
		messages, rows, files, took, killed := s.writeUntilBackedUp()
		figures.lag = max(figures.lag, took)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(home, fmt.Sprint("data ", n+1))
		s = s.inFolder(dir)
		s.messages, s.rows, s.files = messages, rows, files
		// A file whose copy was on its way when the server was killed is named as missing: it was acknowledged later.
		out, err := s.command("restore", "--from", place).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "Missing: product-images/") {
			t.Fatalf("%v\n%s", err, out)
		}
		s.start()
		s.verify()
		age := s.forgetLost(killed, string(out))
		if age > *lossLimit {
			figures.late++
		}
		if age > hardLossLimit {
			t.Errorf("round %d: a write that was acknowledged %s before the kill is lost: %s", n, age, out)
		}
		figures.lost = max(figures.lost, age)
		s.kill()
	}
	if s.behind(rounds) {
		t.Errorf("too little was written for the test to mean anything: %d messages, %d rows, %d files", len(s.messages), len(s.rows), len(s.files))
	}
	figures.found, figures.messages, figures.rows, figures.files = len(s.times), len(s.messages), len(s.rows), len(s.files)
	return figures
}

// forgetLost returns how long before the kill the oldest acknowledged write was made that is not there, or 0. It removes what is not
// there from s.times. A file is there if the bucket lists it and restored, the output of the restore, does not name it as missing: the restore
// has compared the contents.
func (s *site) forgetLost(killed time.Time, restored string) (age time.Duration) {
	ctx := s.t.Context()
	found := s.column(ctx, "contact_submissions", "message")
	maps.Copy(found, s.column(ctx, "products", "id"))
	maps.Copy(found, s.fileNames(ctx))
	for name, at := range s.times {
		if found[name] && !strings.Contains(restored, "product-images/"+name) {
			continue
		}
		if lost := killed.Sub(at); lost > age {
			age = lost
			s.t.Logf("%q is lost, which was acknowledged %s before the kill", name, lost.Round(time.Millisecond))
		}
		delete(s.times, name)
	}
	return age
}

// fileNames returns the names of all files of the bucket; it reads page by page.
func (s *site) fileNames(ctx context.Context) map[string]bool {
	all := map[string]bool{}
	for {
		body := fmt.Sprintf(`{"prefix":"","limit":1000,"offset":%d,"sortBy":{"column":"name","order":"asc"}}`, len(all))
		status, got, ok := s.send(ctx, "POST", "/storage/v1/object/list/product-images", map[string]string{"Content-Type": "application/json"}, []byte(body))
		var page []struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(got, &page); !ok || status != http.StatusOK || err != nil {
			s.t.Fatalf("list files: %d %s", status, got)
		}
		for _, file := range page {
			all[file.Name] = true
		}
		if len(page) < 1000 {
			return all
		}
	}
}

// writeUntilBackedUp writes, brings the backup up to date while it goes on writing, and kills the server up to three seconds later. It
// returns what was acknowledged before the backup was brought up to date, how long that took, and the time of the kill.
func (s *site) writeUntilBackedUp() (messages, rows []string, files map[string][]byte, took time.Duration, killed time.Time) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for _, write := range []func(context.Context) bool{s.writeMessage, s.writeRow, s.writeFile} {
		writers.Go(func() {
			for write(ctx) && ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond) // leaves processors to the backup
			}
		})
	}
	known := len(s.files)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		s.mu.Lock()
		enough := len(s.files) > known+3
		s.mu.Unlock()
		if enough {
			break
		}
	}
	s.mu.Lock()
	messages, rows, files = append(messages, s.messages...), append(rows, s.rows...), map[string][]byte{}
	for name, content := range s.files {
		files[name] = content
	}
	s.mu.Unlock()
	began := time.Now()
	s.run("backup", "now")
	took = time.Since(began)
	time.Sleep(rand.N(3 * time.Second)) // the load goes on: the kill meets any moment between two parts
	killed = time.Now()
	s.kill()
	cancel()
	writers.Wait()
	return messages, rows, files, took, killed
}

// TestEveryJournalledMomentIsRestored edits and deletes rows at random and keeps a journal of the states. What is restored at random moments
// is one of these states: that after an edit which was begun before the moment, and not that before one which was acknowledged earlier than
// lossLimit before the moment. A busy machine may be late at a few moments, but nowhere by more than hardLossLimit.
//
// Proves H-restore-moment.
func TestEveryJournalledMomentIsRestored(t *testing.T) {
	home := t.TempDir()
	place := filepath.Join(home, "backup")
	s := &site{t: t, binary: build(t), env: []string{"ATELIE_DATA_DIR=" + filepath.Join(home, "data"), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_BACKUP_URL=" + place}}
	s.keys()
	s.start()
	s.run("backup", "now")
	type entry struct {
		began, acknowledged time.Time
		titles              map[string]string // of the products by id, after the edit
	}
	now := time.Now()
	journal := []entry{{now, now, map[string]string{}}}
	for i := range edits {
		titles, began := maps.Clone(journal[i].titles), time.Now()
		s.edit(titles, i)
		journal = append(journal, entry{began, time.Now(), titles})
		time.Sleep(rand.N(100 * time.Millisecond)) // some seconds have many edits, others few
	}
	ended := time.Now()
	s.run("backup", "now")
	s.kill()
	states, most, late := map[int]bool{}, time.Duration(0), 0
	for range moments {
		at := now.Add(rand.N(ended.Sub(now)))
		other := s.inFolder(filepath.Join(home, uuid.NewString()))
		other.run("restore", "--from", place, "--at", at.UTC().Format(time.RFC3339Nano))
		got := other.titles()
		n := 0 // the newest state that is the restored one and was begun before the moment
		for i, e := range journal {
			if !e.began.After(at) && maps.Equal(got, e.titles) {
				n = i
			}
		}
		if !maps.Equal(got, journal[n].titles) {
			t.Errorf("at %s: %d rows, which are no state of the journal from before that", at, len(got))
			continue
		}
		if n+1 < len(journal) {
			age := at.Sub(journal[n+1].acknowledged)
			most = max(most, age)
			if age > *lossLimit {
				late++
			}
			if age > hardLossLimit {
				t.Errorf("at %s: the edit is missing that was acknowledged %s before", at, age)
			}
		}
		states[n] = true
	}
	if late > max(4, moments/10) {
		t.Errorf("at %d of %d moments an edit is missing that was acknowledged more than %s before", late, moments, *lossLimit)
	}
	t.Logf("%d edits in %s; at %d moments %d of their states were restored, the oldest missing edit was acknowledged %s before the moment",
		edits, ended.Sub(now).Round(time.Second), moments, len(states), most.Round(time.Millisecond))
}

// edit inserts, changes or deletes a product.
func (s *site) edit(titles map[string]string, n int) {
	s.t.Helper()
	ids := make([]string, 0, len(titles))
	for id := range titles {
		ids = append(ids, id)
	}
	title := fmt.Sprint("Work ", n)
	headers := map[string]string{"Content-Type": "application/json"}
	method, path, body, want := "POST", "/rest/v1/products", "", 201
	id := uuid.NewString()
	switch choice := rand.IntN(3); {
	case len(ids) < 5 || choice == 0:
		body = `{"id":"` + id + `","title":"` + title + `"}`
		titles[id] = title
	case choice == 1:
		id = ids[rand.IntN(len(ids))]
		method, path, body, want = "PATCH", path+"?id=eq."+id, `{"title":"`+title+`"}`, 204
		titles[id] = title
	default:
		id = ids[rand.IntN(len(ids))]
		method, path, want = "DELETE", path+"?id=eq."+id, 204
		delete(titles, id)
	}
	if status, got, ok := s.send(s.t.Context(), method, path, headers, []byte(body)); !ok || status != want {
		s.t.Fatalf("%s %s: %d %s", method, path, status, got)
	}
}

// titles reads the products in the database of a data folder that no server has open.
func (s *site) titles() map[string]string {
	s.t.Helper()
	dir := strings.TrimPrefix(s.env[len(s.env)-1], "ATELIE_DATA_DIR=")
	d, err := db.Open(s.t.Context(), "sqlite:"+filepath.Join(dir, "atelie.db"), db.NoHooks)
	if err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	_, err = db.Collect(s.t.Context(), d, func(row db.Row) (struct{}, error) {
		var id, title string
		err := row.Scan(&id, &title)
		found[id] = title
		return struct{}{}, err
	}, "select id, title from products")
	if err := errors.Join(err, d.Close()); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// TestUnreachablePlaceDelaysNothing replaces the folder of the backup by a file while the server writes. The status reports it; nothing is
// lost, and the backup catches up when the folder is back.
func TestUnreachablePlaceDelaysNothing(t *testing.T) {
	home := t.TempDir()
	place := filepath.Join(home, "backup")
	s := &site{t: t, binary: build(t), env: []string{
		"ATELIE_DATA_DIR=" + filepath.Join(home, "data"), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_TRUSTED_PROXIES=127.0.0.1", "ATELIE_MESSAGES_PER_HOUR=0", "ATELIE_BACKUP_URL=" + place,
	}}
	s.keys()
	s.start()
	write := func(n int) {
		for range n {
			for _, fn := range []func(context.Context) bool{s.writeMessage, s.writeRow, s.writeFile} {
				if !fn(t.Context()) {
					t.Fatal("a write failed")
				}
			}
		}
	}
	write(5)
	s.run("backup", "now")
	if err := errors.Join(os.Rename(place, place+" away"), os.WriteFile(place, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.waitForStatus("an error", func(e string, waiting int64) bool { write(1); return e != "" && waiting > 0 })
	write(soak.Size(10, 100))
	if err := errors.Join(os.Remove(place), os.Rename(place+" away", place)); err != nil {
		t.Fatal(err)
	}
	s.waitForStatus("no error", func(e string, waiting int64) bool { return e == "" && waiting == 0 })
	s.run("backup", "now")
	s.kill()
	other := s.inFolder(filepath.Join(home, "new"))
	other.run("restore", "--from", place)
	other.start()
	other.verify()
	other.kill()
}

// waitForStatus waits until the status is as it should be. After an outage the files of the time of the outage are copied one by one,
// which takes as long on a slow machine. It asks twice a second, and less often after a long outage: a command is a process, whose processor
// time would be taken from what is measured.
func (s *site) waitForStatus(what string, ok func(failure string, waiting int64) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(2*time.Minute + *outage); time.Now().Before(deadline); time.Sleep(max(500*time.Millisecond, *outage/100)) {
		var status struct {
			BackupError  string `json:"backup_error"`
			WaitingFiles int64  `json:"waiting_files"`
		}
		if err := json.Unmarshal([]byte(s.run("backup", "status", "--json")), &status); err != nil {
			s.t.Fatal(err)
		}
		if ok(status.BackupError, status.WaitingFiles) {
			return
		}
	}
	s.t.Fatalf("the status does not tell of %s", what)
}
