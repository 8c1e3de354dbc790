package deploy

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelie/test/program"
	"atelie/test/soak"
)

// nobody is the id of the user as whom the image runs the program.
const nobody = 65532

// TestImageContentIsSufficient starts the program in a root file system like the image's: it has only the program, the root certificates
// and two empty folders. The program serves the site, in soak runs with the demo content, and its health check succeeds.
func TestImageContentIsSufficient(t *testing.T) {
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.MkdirTemp(folder, "image")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, mode := range map[string]os.FileMode{"": 0o755, "etc/ssl/certs": 0o755, "data": 0o755, "tmp": 0o755} {
		if err := os.MkdirAll(filepath.Join(image, dir), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(image, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, binary, filepath.Join(image, "atelie"), 0o755)
	copyFile(t, "/etc/ssl/certs/ca-certificates.crt", filepath.Join(image, "etc/ssl/certs/ca-certificates.crt"), 0o644)
	if os.Getuid() == 0 {
		for _, dir := range []string{"data", "tmp"} {
			if err := os.Chown(filepath.Join(image, dir), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	listen := "127.0.0.1:" + program.FreePort(t)
	inside := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/atelie", args...)
		cmd.Path, cmd.Dir, cmd.Err = "/atelie", "/", nil // exec.Command has looked for /atelie outside of the image
		cmd.Env = []string{"ATELIE_DATA_DIR=/data", "ATELIE_LISTEN=" + listen}
		cmd.SysProcAttr = locked(image)
		return cmd
	}
	args := soak.Size([]string{"serve"}, []string{"serve", "--demo"}) // the pictures of the demo content take 15 s
	n := listening(t, process(t, inside(args...)))
	response, err := http.Get("http://" + n.address + "/")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(page), "<html") {
		t.Errorf("the page: %s %v", response.Status, err)
	}
	if out, err := inside("health").CombinedOutput(); err != nil || string(out) != "ready\n" {
		t.Errorf("the health check: %v, %s", err, out)
	}
	if out, err := inside("keys").CombinedOutput(); err != nil || !strings.Contains(string(out), "ANON_KEY=") {
		t.Errorf("a command beside the server: %v, %s", err, out)
	}
}

// locked runs a program as the image's user with a folder as its root. Without root's rights it uses a user namespace.
func locked(image string) *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Chroot: image, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return &syscall.SysProcAttr{Chroot: image, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, mode); err != nil {
		t.Fatal(err)
	}
}
