package storage

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/media"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/storagetest"
	"atelie/test/soak"
)

// noise returns a file of an accepted type with size random bytes, different at each call.
func noise(size int) []byte {
	content := append(storagetest.ISO("isom"), make([]byte, size)...)
	for i := len(content) - size; i < len(content); i++ {
		content[i] = byte(rand.Uint32())
	}
	return content
}

// request returns the bytes of an upload request, so that a test can truncate it anywhere.
func request(t *testing.T, r *http.Request) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Proves F-upload-whole.
//
// TestAbortedUploadsLeaveNothing breaks the connection at a random point of each upload. The uploads are raw, chunked and as a form, for a new
// name and for the name of an existing object.
func TestAbortedUploadsLeaveNothing(t *testing.T) {
	kept := noise(1000)
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/kept.mp4", kept)
		server := httptest.NewServer(s.HTTP)
		for i := range 60 {
			content := noise(200_000)
			name, body, contentType := "new.mp4", io.Reader(bytes.NewReader(content)), "video/mp4"
			if i%2 == 0 {
				name = "kept.mp4"
			}
			switch i % 3 {
			case 0:
				body = io.MultiReader(body) // without a known length the body is sent chunked
			case 1:
				kind, form := storagetest.Form(t, storagetest.Field{Name: "cacheControl", Value: "60"}, storagetest.Field{Name: "", Value: string(content)}, storagetest.Field{Name: "metadata", Value: `{"a":1}`})
				body, contentType = bytes.NewReader(form), kind
			}
			r, err := http.NewRequest("PUT", server.URL+"/storage/v1/object/product-images/"+name, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Authorization", "Bearer "+s.Keys["admin"])
			whole := request(t, r)
			cut := rand.IntN(len(whole) - 1)
			if i < 6 {
				cut = len(whole) - 1 - i // truncations of the last bytes are the hardest to detect
			}
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(whole[:cut]); err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 { // half closed, so that the response can be read
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				if response, err := http.ReadResponse(bufio.NewReader(conn), r); err == nil {
					if response.StatusCode == 200 {
						t.Errorf("an upload cut at %d of %d was accepted", cut, len(whole))
					}
					if err := response.Body.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		server.Close() // waits for the handlers
		s.Holds(1)
		if s.PublicFile("product-images/kept.mp4") != string(kept) {
			t.Error("an aborted upload changed the file")
		}
	})
}

// Proves F-download-races.
//
// TestReadersGetCompleteFilesDuringReplacements reads one name while other clients replace and remove it.
func TestReadersGetCompleteFilesDuringReplacements(t *testing.T) {
	if testing.Short() {
		t.Skip("reads and replaces one file for seconds")
	}
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		server := httptest.NewServer(s.HTTP)
		defer server.Close()
		var (
			readers, writers sync.WaitGroup
			done             = make(chan struct{})
			read             = func() error {
				response, err := http.Get(server.URL + "/storage/v1/object/public/product-images/a.mp4")
				if err != nil {
					return err
				}
				content, err := io.ReadAll(response.Body)
				if err := errors.Join(err, response.Body.Close()); err != nil {
					return err
				}
				if response.StatusCode == http.StatusBadRequest { // the object is removed at the moment
					return nil
				}
				sum := sha256.Sum256(content)
				if response.StatusCode != 200 || response.Header.Get("ETag") != `"`+hex.EncodeToString(sum[:])+`"` {
					return fmt.Errorf("%d, %d bytes under %s", response.StatusCode, len(content), response.Header.Get("ETag"))
				}
				return nil
			}
		)
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						if err := read(); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		for range 2 {
			writers.Go(func() {
				for i := range soak.Size(10, 20) {
					if _, err := s.Put(t.Context(), owner, "product-images", "a.mp4", bytes.NewReader(noise(300_000)), -1, PutOptions{Upsert: true}); err != nil {
						t.Error(err)
					}
					if i%5 == 4 {
						s.Call("admin", "DELETE", "/object/product-images/a.mp4", nil)
					}
				}
			})
		}
		writers.Wait()
		close(done)
		readers.Wait()
		s.Call("admin", "DELETE", "/object/product-images", strings.NewReader(`{"prefixes":["a.mp4"]}`))
		s.Holds(0)
	})
}

// Proves F-download-races.
//
// TestReadersContinueWhileAnObjectIsMoved moves an object back and forth. Readers get the complete file, or the error that it does not exist.
func TestReadersContinueWhileAnObjectIsMoved(t *testing.T) {
	content := noise(300_000)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.UploadFile("product-images/0.mp4", content)
		done := make(chan struct{})
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					rec := s.Call("nobody", "GET", fmt.Sprintf("/object/public/product-images/%d.mp4", i%2), nil)
					if rec.Code == 200 && rec.Body.String() != string(content) || rec.Code != 200 && rec.Code != 400 {
						t.Errorf("%d, %d bytes", rec.Code, rec.Body.Len())
						return
					}
				}
			})
		}
		for i := range soak.Size(16, 40) {
			if rec := s.Change("admin", "move", fmt.Sprintf(`{"bucketId":"product-images","sourceKey":"%d.mp4","destinationKey":"%d.mp4"}`, i%2, 1-i%2)); rec.Code != 200 {
				t.Error(rec.Body)
			}
		}
		close(done)
		readers.Wait()
		s.Holds(1)
	})
}

// Proves F-upload-whole, F-change-one.
//
// TestKilledProcess kills a program during uploads and removals, and checks rows and files after the next start.
func TestKilledProcess(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			address, root := dbtest.URL(t, dialect), t.TempDir()
			d, err := db.Open(t.Context(), address, db.NoHooks)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			if err := d.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			stored := 0
			for n := 0; n < soak.Size(4, 40) || stored == 0 && n < 80; n++ { // a busy machine needs longer for an upload
				killed(t, address, root, time.Duration(1+n/8)*time.Duration(20+rand.IntN(150))*time.Millisecond)
				stored += recovered(t, d, root)
			}
			if stored == 0 {
				t.Error("no upload got through before the kills; the test shows nothing")
			}
		})
	}
}

// killedName is the application_name of the killed program's PostgreSQL sessions.
const killedName = "atelie killed"

// killed runs uploadForever as a separate program and kills it some time after it has begun.
func killed(t *testing.T, address, root string, after time.Duration) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "UPLOAD_DATABASE="+address, "UPLOAD_FOLDER="+root, "PGAPPNAME="+killedName)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n') // printed when it has begun
	if err != nil {
		t.Errorf("the program said %q: %v", line, err)
	}
	time.Sleep(after)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the program ended before it was killed")
	}
}

// recovered starts the service again and checks that rows and files correspond. It returns their number.
func recovered(t *testing.T, d *db.DB, root string) int {
	t.Helper()
	blobs, err := blob.NewDisk(root, blob.Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Now().Add(2 * sweepAge) }
	s := &site{Site: storagetest.NewWithStore(t, d, blobs)}
	s.Root = root
	s.Service = New(d, NewBlobs(d, blobs, NoRecorder, slog.New(slog.DiscardHandler), now), nil, Config{MaxUpload: maxUpload}, now)
	// The last statements of a killed program can still be running in the PostgreSQL server, or not even be read yet: its sessions then
	// look idle. They end after these statements.
	deadline := time.Now().Add(time.Minute)
	for busy := d.Dialect == db.Postgres; busy; time.Sleep(time.Millisecond) {
		if err := d.QueryRow(t.Context(), "select exists (select 1 from pg_stat_activity where datname = current_database() and application_name = $1)", killedName).Scan(&busy); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the sessions of the killed program do not end")
		}
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	objects, err := db.Collect(t.Context(), d, scanObject, "select "+objectColumns+" from storage_objects")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		content, err := os.ReadFile(filepath.Join(root, o.BlobID[:2], o.BlobID[2:4], o.BlobID))
		sum := sha256.Sum256(content)
		if err != nil || int64(len(content)) != o.Size || hex.EncodeToString(sum[:]) != o.ETag {
			t.Errorf("%s: %d bytes of %d, %v", o.Name, len(content), o.Size, err)
		}
	}
	s.Holds(len(objects))
	return len(objects)
}

// uploadForever is the program that TestKilledProcess kills. TestMain runs it instead of the tests. It returns only if it could not
// begin.
func uploadForever(address, root string) error {
	ctx := context.Background()
	d, err := db.Open(ctx, address, db.NoHooks)
	if err != nil {
		return err
	}
	blobs, err := blob.NewDisk(root, blob.Unbounded)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	stored := NewBlobs(d, blobs, NoRecorder, log, time.Now)
	s := New(d, stored, media.New(d, stored, media.Config{}, log, time.Now), Config{MaxUpload: maxUpload}, time.Now)
	if err := s.EnsureBuckets(ctx); err != nil {
		return err
	}
	fmt.Println("begun")
	for i := range 4 {
		go func() {
			for {
				name := "shared.mp4"
				if i%2 == 0 {
					name = uuid.NewString() + ".mp4"
				}
				if _, err := s.Put(ctx, owner, "product-images", name, bytes.NewReader(noise(50_000)), -1, PutOptions{Upsert: true}); err != nil {
					fmt.Fprintln(os.Stderr, apperr.From(err))
				}
				if rand.IntN(4) == 0 {
					err := d.WithTx(ctx, func(tx *db.Tx) error {
						req := moveRequest{BucketID: "product-images", SourceKey: name, DestinationKey: uuid.NewString() + ".mp4"}
						_, err := s.move(ctx, tx, req, bucket{ID: "cover-images"}, nil)
						return err
					})
					if err != nil && !errors.Is(err, files.ErrNoObject) {
						fmt.Fprintln(os.Stderr, err)
					}
				}
				if rand.IntN(4) == 0 {
					err := d.WithTx(ctx, func(tx *db.Tx) error {
						_, err := s.removeObject(ctx, tx, "product-images", name)
						return err
					})
					if err != nil && !errors.Is(err, db.ErrNoRows) {
						fmt.Fprintln(os.Stderr, err)
					}
				}
			}
		}()
	}
	select {}
}
