package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage"
	"atelie/internal/storage/storagetest"
)

const replacedWork = "22222222-2222-4222-8222-222222222222"

// replaced returns the replaced files of each revision of replacedWork, newest first, from the response of get_history.
func (s *historySite) replaced() (all [][]string) {
	s.t.Helper()
	var revisions []struct {
		Files []string `json:"replaced_files"`
	}
	if err := json.Unmarshal([]byte(s.do("POST", "/rest/v1/rpc/get_history", `{"table":"products","id":"`+replacedWork+`"}`)), &revisions); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range revisions {
		all = append(all, r.Files)
	}
	return all
}

// restoreAt restores files as they were at a time.
func (s *historySite) restoreAt(at time.Time, urls ...string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"urls": urls, "at": at.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		s.t.Fatal(err)
	}
	if response := s.do("POST", "/rest/v1/rpc/restore_files", string(body)); strings.TrimSpace(response) != `{"missing":[]}` {
		s.t.Errorf("at %s: %s", at, response)
	}
}

// store stores a file, without HTTP.
func (s *historySite) store(name string, content []byte) {
	s.t.Helper()
	if _, err := s.Storage.Put(s.t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, bytes.NewReader(content), -1, storage.PutOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// edit changes the title of replacedWork, and sets the time of the revision.
func (s *historySite) edit(title string, at time.Time) {
	s.t.Helper()
	s.do("PATCH", "/rest/v1/products?id=eq."+replacedWork, `{"title":"`+title+`"}`)
	if err := db.Exec(s.t.Context(), s.DB, "update row_history set changed_at = $1 where id = (select max(id) from row_history)", at); err != nil {
		s.t.Fatal(err)
	}
}

// Proves A-history-replaced.
func TestReplacedFilesAreRestoredWithTheirVersion(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			begin := s.clock
			hour := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Hour) }
			picture, film := historyBase+"a.png", historyBase+"wave.mp4"
			versions := func() [2]string { return [2]string{s.public("a.png"), s.public("wave.still.jpg")} }

			s.upload("a.png", 1)
			s.upload("wave.still.jpg", 2)
			s.store("wave.mp4", readFile(t, "../demo/content/noite-no-cais.mp4"))
			s.do("POST", "/rest/v1/products", `{"id":"`+replacedWork+`","title":"Onda","image_url":"`+picture+`","video_gallery":["`+film+`"]}`)
			first := versions()
			s.edit("Maré", hour(1))
			s.clock = hour(2)
			s.upload("a.png", 101)
			s.upload("wave.still.jpg", 102)
			second := versions()
			s.edit("Sal", hour(3))
			if first[0] == second[0] || first[1] == second[1] {
				t.Fatal("nothing was replaced")
			}
			if got := s.replaced(); len(got) != 2 || len(got[0]) != 0 || !slices.Equal(got[1], []string{picture, film}) {
				t.Errorf("replaced: %q", got)
			}
			if n := s.count("select count(*) from storage_kept"); n != 2 {
				t.Errorf("%d files are kept", n)
			}

			s.clock = hour(4)
			if missing := s.restore(picture); len(missing) != 0 || versions() != second {
				t.Error("a file that is there was replaced without a time")
			}
			s.restoreAt(hour(1), picture)
			if versions() != [2]string{first[0], second[1]} {
				t.Error("the picture is not what it was at the first revision")
			}
			s.restoreAt(hour(1), film)
			if versions() != first {
				t.Error("the still is not what it was at the first revision")
			}
			if rec := sendRequest(s.App, "GET", strings.Replace(historyBase, "/object/", "/render/image/", 1)+"a.png?width=8", ""); rec.Code != http.StatusOK {
				t.Errorf("a rendition of the picture that came back: %d %s", rec.Code, rec.Body)
			}
			if got := s.replaced(); !slices.Equal(got[0], []string{picture, film}) || !slices.Equal(got[1], []string{picture, film}) {
				t.Errorf("replaced: %q", got)
			}
			s.clock = hour(5)
			s.restoreAt(hour(3), picture, film)
			if versions() != second {
				t.Error("the files are not what they were at the second revision")
			}

			s.clock = begin.Add(31 * 24 * time.Hour)
			s.edit("Concha", s.clock) // a revision that refers to the current files
			s.maintain(t.Context())
			if n := s.count("select count(*) from storage_kept"); n != 0 || versions() != second {
				t.Errorf("after 31 days %d files are kept", n)
			}
			if n := s.count("select count(*) from storage_objects"); n != 3 {
				t.Errorf("%d objects", n)
			}
		})
	}
}

// Proves A-history-replaced.
func TestFiftyReplacedVersionsOfAFileAreKept(t *testing.T) {
	s := newHistorySite(t, db.SQLite, 0)
	s.upload("a.png", 0)
	s.do("POST", "/rest/v1/reviews", `{"client_name":"Rui","message":"Gostei.","image_url":"`+historyBase+`a.png"}`)
	for n := range 55 {
		s.clock = s.clock.Add(time.Second)
		s.upload("a.png", uint8(n+1))
	}
	if n := s.count("select count(*) from storage_kept"); n != 50 {
		t.Errorf("%d files are kept", n)
	}
	s.upload("unused.png", 1)
	s.upload("unused.png", 2)
	if n := s.count("select count(*) from storage_objects"); n != 52 {
		t.Errorf("%d objects: a file to which nothing refers is kept", n)
	}
}

// Proves A-history-replaced.
func TestOldestOfFiftyReplacedVersionsIsRestored(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			begin := s.clock
			s.upload("a.png", 0)
			s.do("POST", "/rest/v1/reviews", `{"client_name":"Rui","message":"Gostei.","image_url":"`+historyBase+`a.png"}`)
			first := s.public("a.png")
			for n := range 50 {
				s.clock = s.clock.Add(time.Second)
				s.upload("a.png", uint8(n+1))
			}
			newest := s.public("a.png")
			if first == "" || newest == first {
				t.Fatal("nothing was replaced")
			}
			s.clock = s.clock.Add(time.Second)
			s.restoreAt(begin, historyBase+"a.png")
			if s.public("a.png") != first {
				t.Error("the file is not what it was at first")
			}
			if n := s.count("select count(*) from storage_kept"); n != 50 {
				t.Errorf("%d files are kept", n)
			}
			s.restoreAt(s.clock.Add(-time.Second/2), historyBase+"a.png")
			if s.public("a.png") != newest {
				t.Error("the file that was replaced by the restore is not kept")
			}
		})
	}
}

// Proves A-history-moved.
func TestAMovedFileStaysForTheVersionsWithItsOldURL(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := newHistorySite(t, dialect, 0)
			s.store("old.jpg", storagetest.WithComment(storagetest.Photo(300, 200), "taken at home"))
			s.store("free.jpg", storagetest.WithComment(storagetest.Photo(300, 201), "taken at home"))
			s.do("POST", "/rest/v1/products", `{"id":"`+replacedWork+`","title":"Onda","image_url":"`+historyBase+`old.jpg"}`)
			content := s.public("old.jpg")
			for from, to := range map[string]string{"old.jpg": "new.jpg", "free.jpg": "other.jpg"} {
				s.do("POST", "/storage/v1/object/move", `{"bucketId":"product-images","sourceKey":"`+from+`","destinationKey":"`+to+`"}`)
			}
			if s.public("old.jpg") != "" || s.public("new.jpg") != content {
				t.Fatal("the file was not moved")
			}
			s.do("PATCH", "/rest/v1/products?id=eq."+replacedWork, `{"image_url":"`+historyBase+`new.jpg"}`)
			if n := s.count("select count(*) from storage_kept"); n != 1 {
				t.Errorf("%d files are kept, want that of the work", n)
			}
			if missing := s.restore(historyBase + "old.jpg"); len(missing) != 0 || s.public("old.jpg") != content || s.public("new.jpg") != content {
				t.Error("the file is not at both URLs")
			}
			rendition := strings.Replace(historyBase, "/object/", "/render/image/", 1) + "old.jpg?width=8"
			if rec := sendRequest(s.App, "GET", rendition, ""); rec.Code != http.StatusOK {
				t.Errorf("a rendition of the file that came back: %d %s", rec.Code, rec.Body)
			}
			if n := s.count("select count(*) from media where original_id is not null"); n != 3 {
				t.Errorf("%d originals, want one of each object", n)
			}
			if n := s.count("select count(*) from jobs where kind = 'picture-first'"); n != 3 {
				t.Errorf("the sizes of %d pictures are made, want the two uploads and the one that came back", n)
			}
			if n := s.count("select count(*) from storage_trash"); n != 0 {
				t.Errorf("%d blobs are pending", n)
			}
		})
	}
}

// Proves A-history-files.
func TestRemovedFilesStayForTheRetentionOfTheBackup(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := &historySite{t: t, clock: time.Now()}
			cfg := configuration(t)
			cfg.Database.URL, cfg.Storage.Quota, cfg.Backup.Retention = dbtest.URL(t, dialect), config.Bytes(0), 60*24*time.Hour
			s.App = newAppOf(t, cfg, func() time.Time { return s.clock })
			s.token = key(t, s.App, identity.Service)
			begin := s.clock
			review := func(name, message string) {
				s.upload(name, 1)
				s.do("POST", "/rest/v1/reviews", `{"client_name":"Rui","message":"`+message+`","image_url":"`+historyBase+name+`"}`)
				s.do("DELETE", "/rest/v1/reviews?client_name=eq.Rui", "")
				s.do("DELETE", "/storage/v1/object/product-images/"+name, "")
			}
			review("kept.png", "Gostei.")
			review("erased.png", "Escrevam para eva@exemplo.example.")
			s.do("POST", "/functions/v1/address-data", `{"action":"erase","address":"eva@exemplo.example"}`)
			s.maintain(t.Context())
			if n := s.count("select count(*) from storage_objects"); n != 1 {
				t.Errorf("after the erasure %d files are there", n)
			}
			s.clock = begin.Add(59 * 24 * time.Hour)
			s.maintain(t.Context())
			if revisions, kept := s.count("select count(*) from row_history"), s.count("select count(*) from storage_kept"); revisions != 0 || kept != 1 {
				t.Errorf("after 59 days %d revisions and %d files are there", revisions, kept)
			}
			s.clock = begin.Add(61 * 24 * time.Hour)
			s.maintain(t.Context())
			if n := s.count("select count(*) from storage_objects"); n != 0 {
				t.Errorf("after 61 days %d files are there", n)
			}
		})
	}
}
