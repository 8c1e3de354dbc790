package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/identity"
	"atelie/internal/jobs"
)

// smallDisk returns the folder of a real file system of 64 MB. If this user may not mount a file system, the test runs again in new Linux
// namespaces, in which it may.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=0700")
	if err == nil {
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	if os.Getenv("ATELIE_TEST_MOUNTS") != "" {
		t.Fatal(err)
	}
	rerun := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	rerun.Env = append(os.Environ(), "ATELIE_TEST_MOUNTS=1")
	rerun.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := rerun.CombinedOutput(); err != nil {
		t.Fatalf("in new namespaces: %v\n%s", err, out)
	}
	return ""
}

// fillDisk writes a file until no byte of the disk is free.
func fillDisk(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // an error is expected, because the disk is full
	for size := 1 << 20; size >= 1; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// Proves A-dash-6, F-disk-full.
func TestOwnerSignsInAndDeletesOnAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	if dir == "" {
		return
	}
	cfg := configuration(t)
	cfg.Server.DataDir = dir
	cfg.Server.DiskWarn, cfg.Storage.MaxUpload = 1<<30, 100<<20
	var logged bytes.Buffer
	a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(&logged, nil)), time.Now) // the handler has a lock
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Auth.AddOwner(t.Context(), "ana@example.com", "a wall of whitewash"); err != nil {
		t.Fatal(err)
	}
	a.space.CheckEvery = time.Hour // no check while this test fills the disk: it would free the reserve, and the test would fill that too
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := a.Serve(ctx, l, nil); err != nil {
			t.Error(err)
		}
	})
	defer func() {
		stop()
		serving.Wait()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(logged.String(), "the disk is full:"); n < 1 || n > 2 { // filled by this test, and for a moment by the upload of 60 MB
			t.Errorf("%d lines about the full disk", n)
		}
	}()
	service, anon := key(t, a, identity.Service), key(t, a, identity.Anon)
	call := func(method, path, bearer, kind, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	insert := func(id string) (int, string) {
		return call("POST", "/rest/v1/products", service, "application/json", `{"id":"`+id+`","title":"Work"}`)
	}
	signIn := func() (int, string) {
		return call("POST", "/auth/v1/token?grant_type=password", anon, "application/json", `{"email":"ana@example.com","password":"a wall of whitewash"}`)
	}
	upload := func(name string, size int) (int, string) {
		return call("POST", "/storage/v1/object/product-images/"+name, service, "video/mp4", string(mp4(size)))
	}
	want := func(what string, status int, text string, got int, body string) {
		t.Helper()
		if got != status || !strings.Contains(body, text) {
			t.Errorf("%s: %d %s, want %d with %s", what, got, body, status, text)
		}
	}
	ready := func() (int, string) { return call("GET", "/health/ready", "", "", "") }

	id := uuid.NewString()
	status, body := insert(id)
	want("insert while there is room", 201, "", status, body)
	a.space.Check()
	for _, err := os.Stat(filepath.Join(dir, "reserve")); err != nil; _, err = os.Stat(filepath.Join(dir, "reserve")) { // Serve makes it
		a.space.Check()
	}
	status, body = ready()
	want("ready while there is room", 200, `{"status":"ok"}`, status, body)

	if err := os.WriteFile(filepath.Join(dir, "much"), make([]byte, 36<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	a.space.Check()
	status, body = ready()
	want("ready with little room", 200, `{"status":"ok","disk":"low"}`, status, body)
	status, body = insert(uuid.NewString())
	want("insert with little room", 201, "", status, body)
	tell := a.newLowDiskNotifier(t.Context())
	for range 3 {
		tell(datafolder.Usage{})
	}
	var mails int
	if err := a.DB.QueryRow(t.Context(), "select count(*) from auth_last_sent where kind = 'disk_low'").Scan(&mails); err != nil || mails != 1 {
		t.Errorf("%d turns taken, %v", mails, err)
	}
	if sent, err := a.Auth.NotifyOwners(t.Context(), "disk_low", "", diskMailInterval); err != nil || sent {
		t.Errorf("a second mail on the same day: %v, %v", sent, err)
	}

	waitForState(t, a, "", jobs.State{}) // for the same reason: the mail is written
	fillDisk(t, dir, "all")
	status, body = signIn() // before any check of the disk: the failed write frees the reserve and is retried
	want("sign-in at once", 200, "access_token", status, body)
	status, body = ready()
	want("ready on a full disk", 503, "the disk is full", status, body)
	status, body = insert(uuid.NewString())
	want("insert", 507, `"code":"53100"`, status, body)
	status, body = upload("a.mp4", 1000)
	want("upload", 507, `"error":"InsufficientStorage"`, status, body)
	status, body = call("POST", "/functions/v1/submit-contact", anon, "application/json", `{"name":"Ana","email":"ana@example.com","message":"A message that is long enough."}`)
	want("message", 507, `"success":false`, status, body)
	status, body = call("POST", "/functions/v1/contact-quarantine", service, "application/json", `{}`)
	want("a list of the quarantine", 200, `"success":true`, status, body)
	status, body = call("POST", "/functions/v1/address-data", service, "application/json", `{"action":"erase","address":"ana.lima@example.com"}`)
	want("erase an address", 200, `"places"`, status, body)
	status, body = call("POST", "/auth/v1/invite", service, "application/json", `{"email":"rui@example.com"}`)
	want("invite", 507, `"error_code":"insufficient_storage"`, status, body)
	for range 5 {
		status, body = signIn()
		want("sign-in", 200, "access_token", status, body)
	}
	for i := range 2 { // another program takes what the reserve has released
		fillDisk(t, dir, fmt.Sprint("all", i))
		status, body = signIn()
		want("sign-in on a disk that was filled again", 200, "access_token", status, body)
	}
	status, body = call("DELETE", "/rest/v1/products?id=eq."+id, service, "application/json", "")
	want("delete", 204, "", status, body)

	for _, name := range []string{"much", "all", "all0", "all1"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if room := a.space.Check(); room.Level != datafolder.Enough {
		t.Errorf("with room again: %+v", room)
	}
	if _, err := os.Stat(filepath.Join(dir, "reserve")); err != nil {
		t.Errorf("the reserve is not there again: %v", err)
	}
	status, body = ready()
	want("ready with room again", 200, `{"status":"ok"}`, status, body)
	status, body = insert(id)
	want("insert with room again", 201, "", status, body)
	if got := sendRequest(a, "GET", "/rest/v1/products?select=id&id=eq."+id, service); !json.Valid(got.Body.Bytes()) || !bytes.Contains(got.Body.Bytes(), []byte(id)) {
		t.Errorf("what was acknowledged: %s", got.Body)
	}
	status, body = upload("b.mp4", 60<<20) // larger than the disk, so it fails despite the reserve
	want("an upload that is too large", 507, fmt.Sprintf(`"statusCode":"%d"`, 507), status, body)
	status, body = insert(uuid.NewString())
	want("insert after it", 201, "", status, body)
}

// Proves F-disk-full, F-disk-full-tus.
//
// TestAnUploadGoesOnAfterAFullDisk runs with the backup in the data folder, which is the default.
func TestAnUploadGoesOnAfterAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	if dir == "" {
		return
	}
	cfg := configuration(t)
	cfg.Server.DataDir, cfg.Backup = dir, config.Backup{Retention: 720 * time.Hour}
	cfg.Database.URL = "" // in the data folder
	a := newAppOf(t, cfg, time.Now)
	if err := a.Auth.AddOwner(t.Context(), "ana@example.com", "a wall of whitewash"); err != nil {
		t.Fatal(err)
	}
	serve(t, a)
	service, anon := key(t, a, identity.Service), key(t, a, identity.Anon)
	h := a.Handler()
	call := func(method, path, token string, body []byte, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec
	}
	want := func(what string, rec *httptest.ResponseRecorder, status int, text string) {
		t.Helper()
		if rec.Code != status || !strings.Contains(rec.Body.String(), text) {
			t.Errorf("%s: %d %s", what, rec.Code, rec.Body)
		}
	}
	backedUp := func() {
		t.Helper()
		began := time.Now()
		for end := began.Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			status, err := a.Backup.Status(t.Context())
			if err == nil && status.LastBackup.After(began) && status.WaitingFiles == 0 && status.BackupError == "" {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the backup is not up to date: %+v, %v", status, err)
			}
		}
	}
	jsonBody, file := []string{"Content-Type", "application/json"}, slices.Concat(outagePicture(t), make([]byte, 6<<20))
	want("bucket", call("POST", "/storage/v1/bucket", service, []byte(`{"id":"open","name":"open","public":true}`), jsonBody...), 200, "")
	want("upload", call("POST", "/storage/v1/object/open/kept.jpg", service, outagePicture(t)), 200, "")
	for _, err := os.Stat(filepath.Join(dir, "reserve")); err != nil; _, err = os.Stat(filepath.Join(dir, "reserve")) { // Serve makes it
		a.space.Check()
	}
	backedUp()
	begun := call("POST", "/storage/v1/upload/resumable", service, nil, "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(len(file)), "Upload-Metadata", "bucketName b3Blbg==,objectName bGFyZ2UuanBn") // open, large.jpg
	at, err := url.Parse(begun.Header().Get("Location"))
	if begun.Code != 201 || err != nil {
		t.Fatalf("%d %s, %v", begun.Code, begun.Body, err)
	}
	patch := func(offset, end int) *httptest.ResponseRecorder {
		return call("PATCH", at.Path, service, file[offset:end], "Tus-Resumable", "1.0.0", "Upload-Offset", strconv.Itoa(offset), "Content-Type", "application/offset+octet-stream")
	}
	const half = 3 << 20
	want("with room", patch(0, half), 204, "")

	// Not more than is free: the backup also checks the disk, and the reserve must not be freed.
	if err := os.WriteFile(filepath.Join(dir, "all"), make([]byte, a.space.Check().Free-2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	full := patch(half, len(file))
	want("on a full disk", full, 507, "disk is full")
	if offset := call("HEAD", at.Path, service, nil, "Tus-Resumable", "1.0.0").Header().Get("Upload-Offset"); offset != strconv.Itoa(half) {
		t.Errorf("what was acknowledged: %s bytes", offset)
	}
	want("another upload", call("POST", "/storage/v1/object/open/other.jpg", service, outagePicture(t)), 507, `"error":"InsufficientStorage"`)
	want("sign-in", call("POST", "/auth/v1/token?grant_type=password", anon, []byte(`{"email":"ana@example.com","password":"a wall of whitewash"}`), jsonBody...), 200, "access_token")
	want("deletion of a file", call("DELETE", "/storage/v1/object/open/kept.jpg", service, nil), 200, "Successfully deleted")
	want("the file", call("GET", "/storage/v1/object/public/open/kept.jpg", anon, nil), 400, `"statusCode":"404"`)

	if err := os.Remove(filepath.Join(dir, "all")); err != nil {
		t.Fatal(err)
	}
	if room := a.space.Check(); room.Level == datafolder.Full {
		t.Fatalf("with room again: %+v", room)
	}
	want("with room again", patch(half, len(file)), 204, "")
	if got := call("GET", "/storage/v1/object/public/open/large.jpg", anon, nil); got.Code != 200 || !bytes.Equal(got.Body.Bytes(), file) {
		t.Errorf("the file: %d, %d bytes", got.Code, got.Body.Len())
	}
	want("another upload", call("POST", "/storage/v1/object/open/other.jpg", service, outagePicture(t)), 200, "")
	backedUp()
}

// mp4 is the beginning of a video, enough to be recognized by its first bytes.
func mp4(size int) []byte {
	b := make([]byte, size)
	copy(b, "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom")
	return b
}
