package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
	"atelie/internal/storage/blob"
)

// filesContaining lists the files of a folder that contain any of the texts. It removes the soft line
// breaks of quoted-printable before it searches, because one can be within a text.
func filesContaining(t *testing.T, dir string, texts ...string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		data = bytes.ReplaceAll(data, []byte("=\r\n"), nil)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				files = append(files, filepath.Base(path)+" has "+text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// remove deletes the messages that match a query of the table API.
func (s *noticeSite) remove(query string) {
	s.t.Helper()
	if rec := sendRequest(s.App, "DELETE", "/rest/v1/contact_submissions?"+query, key(s.t, s.App, identity.Service)); rec.Code != http.StatusNoContent {
		s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
}

// Proves AM-delete-gone.
//
// TestDeletedMessageLeavesNoCopyInTheDataFolder searches the database's file, its write-ahead log and the stored mails for a deleted
// message.
func TestDeletedMessageLeavesNoCopyInTheDataFolder(t *testing.T) {
	cfg := configuration(t)
	cfg.Mail.MessagesPerHour = 9
	s := &noticeSite{t: t}
	// The clock begins today, because maintenance deletes mails whose files are much older than the clock.
	s.clock.Store(time.Now().UTC().Truncate(24 * time.Hour).Add(9*time.Hour + 41*time.Minute).UnixMicro())
	s.App = newAppOf(t, cfg, s.now)
	s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
	s.set("thanks.enabled", "true")
	serve(t, s.App)
	var ids, canaries []string
	for i := range 9 { // the notices of the last ones wait for a digest
		canaries = append(canaries, fmt.Sprintf("Canary%dx", i))
		ids = append(ids, s.write(canaries[i], fmt.Sprintf("%s@exemplo.example", canaries[i]), "pt"))
	}
	canaries = append(canaries, "CanaryFlood")
	s.call(identity.Anon, "submit-contact", `{"name":"CanaryFlood","email":"a@exemplo.example","message":"Temos uma parede.","reason":""}`)
	waitForState(t, s.App, "contact.plan", jobs.State{})
	waitForState(t, s.App, "contact.notice", jobs.State{})
	s.clock.Store(s.now().Truncate(time.Hour).Add(time.Hour).UnixMicro())
	s.write("Somebody Else", "else@exemplo.example", "pt") // wakes the queue
	waitForState(t, s.App, "", jobs.State{})
	found := strings.Join(filesContaining(t, cfg.Server.DataDir, canaries...), "\n")
	for _, canary := range canaries {
		if !strings.Contains(found, canary) {
			t.Errorf("%s is not there to begin with:\n%s", canary, found)
		}
	}
	if !strings.Contains(found, ".eml has Canary0x") || !strings.Contains(found, ".eml has Canary8x") {
		t.Errorf("the mails were not kept:\n%s", found)
	}

	s.remove("id=in.(" + strings.Join(ids, ",") + ")")
	var aside string
	if err := s.DB.QueryRow(t.Context(), "select id from contact_quarantine").Scan(&aside); err != nil {
		t.Fatal(err)
	}
	s.call(identity.Service, "contact-quarantine", `{"action":"delete","id":"`+aside+`"}`)
	s.waitFor("the data of the address is deleted", func() bool {
		if s.idle() { // otherwise the lease of a running job would expire, and its next run would count as another try
			s.clock.Add(time.Second.Microseconds()) // a scrub that failed because of readers is retried
		}
		return s.count("select count(*) from jobs") == 0
	})
	if left := filesContaining(t, cfg.Server.DataDir, canaries...); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
	if len(filesContaining(t, cfg.Server.DataDir, "Somebody Else")) < 2 {
		t.Error("another message or its mail is gone too")
	}
}

// restoredFiles is the file store of a restored site, with the methods of backup.FileStore.
type restoredFiles struct{ *blob.Disk }

func (f restoredFiles) Sync() error { return f.SyncFolders() }

func (f restoredFiles) Put(ctx context.Context, id string, body io.Reader) (size int64, sha256 string, err error) {
	info, err := blob.Put(ctx, f.Disk, id, body)
	return info.Size, info.SHA256, err
}

// Proves AM-delete-backup.
//
// TestADeletedMessageStaysInTheBackup uses the default backup destination. Of all files, only the backup may still contain a deleted
// message. A restore of a point in time after the deletion must not contain it.
func TestADeletedMessageStaysInTheBackup(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := configuration(t)
			cfg.Backup = config.Backup{Retention: 720 * time.Hour}
			cfg.Database.URL = dbtest.URL(t, dialect)
			if dialect == db.SQLite {
				cfg.Database.URL = "" // in the data folder
			}
			s := &noticeSite{t: t}
			s.App = newAppOf(t, cfg, time.Now)
			s.clock.Store(time.Now().UnixMicro())
			s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
			serve(t, s.App)
			waiting := backup.Waiting{Ended: t.Context().Err, Each: func(string) error { return nil }}
			copied := func() time.Time {
				moment, err := s.Backup.BringUpToDate(t.Context(), waiting)
				if err != nil {
					t.Fatal(err)
				}
				return moment
			}
			messages := func(at time.Time) (names []string) {
				dir := filepath.Join(t.TempDir(), "restored")
				restore := backup.Restore{
					From: backup.OpenDestination(backup.DestinationConfig{Folder: filepath.Join(cfg.Server.DataDir, "backups")}), At: at, Dir: dir, Fingerprint: Fingerprint,
					OpenFiles: func(dir string) (backup.FileStore, error) {
						files, err := blob.NewDisk(filepath.Join(dir, datafolder.Files), blob.Unbounded)
						return restoredFiles{files}, err
					},
					Report: func(string) {},
				}
				if _, err := restore.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				restored, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, datafolder.Database), db.NoHooks)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = restored.Close() }()
				if names, err = db.Collect(t.Context(), restored, db.ScanOne[string], "select name from contact_submissions"); err != nil {
					t.Fatal(err)
				}
				return names
			}
			id := s.write("CanaryBackup", "canary@exemplo.example", "pt")
			waitForState(t, s.App, "", jobs.State{})
			before := copied()
			s.remove("id=eq." + id)
			waitForState(t, s.App, "", jobs.State{})
			after := copied()
			entries, err := os.ReadDir(cfg.Server.DataDir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() == "backups" || e.Name() == datafolder.Database+"-backup" { // the backup, and the files that it has not uploaded yet
					continue
				}
				if left := filesContaining(t, filepath.Join(cfg.Server.DataDir, e.Name()), "CanaryBackup"); len(left) > 0 {
					t.Errorf("still there: %q", left)
				}
			}
			for name, c := range map[string]struct {
				at   time.Time
				want int
			}{"before the deletion": {before, 1}, "after it": {after, 0}, "the newest moment": {time.Time{}, 0}} {
				if names := messages(c.at); len(names) != c.want {
					t.Errorf("%s: %q", name, names)
				}
			}
		})
	}
}

// Proves AM-delete-gone.
//
// TestDeletedRowsLeaveNoCopyInDatabasePages inserts and deletes rows of many lengths, so that rows move between pages.
func TestDeletedRowsLeaveNoCopyInDatabasePages(t *testing.T) {
	cfg := configuration(t)
	s := &noticeSite{t: t, App: newAppOf(t, cfg, time.Now)}
	r := rand.New(rand.NewPCG(1, 2))
	var gone, kept []string
	for round := range 3 {
		err := s.DB.WithTx(t.Context(), func(tx *db.Tx) error {
			for i := range 300 {
				text := fmt.Sprintf("Canary-%d-%d-", round, i)
				body := strings.Repeat(text, 1+r.IntN(400/(1+r.IntN(40))))
				_, err := tx.Exec(t.Context(), "insert into contact_submissions (id, name, email, message, created_at) values ($1, $2, 'a@b.pt', $3, $4)",
					fmt.Sprintf("%08x-0000-4000-8000-%012d", r.Uint32(), i), text, body, time.Now())
				if err != nil {
					return err
				}
				if r.IntN(3) > 0 {
					gone = append(gone, text)
				} else {
					kept = append(kept, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(gone), func(i, j int) { gone[i], gone[j] = gone[j], gone[i] })
		for _, text := range gone {
			s.exec("delete from contact_submissions where name = $1", text)
		}
	}
	if err := s.DB.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := filesContaining(t, cfg.Server.DataDir, gone...); len(left) > 0 {
		t.Errorf("%d of %d are still there: %.300q", len(left), len(gone), left)
	}
	if n := len(filesContaining(t, cfg.Server.DataDir, kept...)); n < len(kept) {
		t.Errorf("%d of %d that were kept are there", n, len(kept))
	}
}

// Proves AM-delete-gone.
//
// TestDeletingAMessageDeletesItsJobsAndEvents includes jobs that have failed permanently, on both databases.
func TestDeletingAMessageDeletesItsJobsAndEvents(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("notice.email", `["gone@alvor.example"]`)
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox for Canary"))
		serve(t, s.App)
		id := s.write("Canary", "canary@exemplo.example", "en")
		waitForState(t, s.App, "contact.plan", jobs.State{})
		s.waitFor("the mail is refused", func() bool {
			return s.count("select count(*) from jobs where failed_at is not null and about is not null") == 1
		})
		if s.count("select count(*) from realtime_outbox where payload like '%Canary%'") == 0 {
			t.Fatal("no event has the message")
		}
		s.remove("id=eq." + id)
		waitForState(t, s.App, "", jobs.State{})
		for _, query := range []string{
			"select count(*) from jobs", "select count(*) from contact_notices", "select count(*) from contact_submissions",
			"select count(*) from realtime_outbox where payload like '%Canary%'",
		} {
			if n := s.count(query); n != 0 {
				t.Errorf("%s: %d", query, n)
			}
		}
	})
}

// Proves RT-change-3.
//
// The recorded events about a message are deleted with it. The events that tell clients of the deletions must stay.
func TestDeletingAMessageSendsADeleteEventForEachOfItsRows(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("site", `{"name":"Alvor","enquiryLinks":true}`)
		id := s.write("Canary", "canary@exemplo.example", "en")
		s.call(identity.Service, "commission", `{"action":"offer","message_id":"`+id+`","text":"A portrait","price":"300 €"}`)
		s.askForReview("Canary")
		s.remove("id=eq." + id)
		for table, want := range map[string]int{
			"contact_submissions": 1, "contact_replies": 2, "commissions": 1, "commission_offers": 1, "commission_reviews": 1, // the replies are the offer and the request
		} {
			if n := s.count(`select count(*) from realtime_outbox where payload like '%"table":"` + table + `"%' and payload like '%"type":"DELETE"%'`); n != want {
				t.Errorf("%s: %d events of deletions, want %d", table, n, want)
			}
		}
		if n := s.count("select count(*) from realtime_outbox where payload like '%portrait%'"); n != 0 {
			t.Errorf("%d events have the text of the offer", n)
		}
	})
}
