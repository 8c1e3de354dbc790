package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// This file tests the files that `make release` makes from a binary. scripts/release.sh checks that two builds of the binaries are equal.

// The version and the time (SOURCE_DATE_EPOCH) of the tested release.
const releaseVersion, releaseTime = "9.8.7-rc.1", "1795000000"

// runIn runs a command in a folder, and returns its output.
func runIn(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	// Packages are compressed less than in a release, which takes a sixth of the time.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SOURCE_DATE_EPOCH="+releaseTime, "DPKG_DEB_COMPRESSOR_LEVEL=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Proves H-release-package.
func TestDebianPackage(t *testing.T) {
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	tool, dir := need(t, "dpkg-deb"), t.TempDir()
	files := []string{filepath.Join(dir, "one.deb"), filepath.Join(dir, "two.deb")}
	for _, file := range files {
		runIn(t, root, "scripts/deb.sh", binary, runtime.GOARCH, releaseVersion, file)
	}
	if !bytes.Equal(read(t, files[0]), read(t, files[1])) {
		t.Error("two packages of one program differ")
	}
	if output := runIn(t, root, tool, "--field", files[0], "Package", "Version", "Architecture"); output != "Package: atelie\nVersion: 9.8.7~rc.1\nArchitecture: "+runtime.GOARCH+"\n" {
		t.Errorf("got %s", output)
	}
	out := filepath.Join(dir, "out")
	runIn(t, root, tool, "--raw-extract", files[0], out)
	if output := runIn(t, dir, filepath.Join(out, "usr/bin/atelie"), "version"); !strings.Contains(output, "platform: linux/"+runtime.GOARCH) {
		t.Errorf("got %s", output)
	}
	unit := string(read(t, filepath.Join(out, "lib/systemd/system/atelie.service")))
	if want := strings.Replace(value(t, example(t, "atelie.service"), "ExecStart"), "/usr/local/bin/", "/usr/bin/", 1); value(t, unit, "ExecStart") != want {
		t.Errorf("the unit starts %q", value(t, unit, "ExecStart"))
	}
	if owner := string(read(t, filepath.Join(out, "usr/lib/sysusers.d/atelie.conf"))); !strings.HasPrefix(owner, "u "+value(t, unit, "User")+" ") {
		t.Errorf("the package makes another user than the unit's: %s", owner)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		runIn(t, out, "sh", "-n", "DEBIAN/"+script)
	}
}

// Proves H-release-image.
func TestFilesOfARelease(t *testing.T) {
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	name, tool := "atelie_"+releaseVersion+"_linux_"+runtime.GOARCH, filepath.Join(t.TempDir(), "release")
	runIn(t, root, "go", "build", "-C", "tools", "-o", tool, "./release")
	npm := write(t, filepath.Join(t.TempDir(), "npm.json"), `{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": [{"type": "library", "name": "react", "version": "19.0.0", "purl": "pkg:npm/react@19.0.0"}]}`)
	folders := []string{t.TempDir(), t.TempDir()}
	for _, dir := range folders {
		copyFile(t, binary, filepath.Join(dir, name), 0o755)
		runIn(t, root, tool, "-folder", dir, "-version", releaseVersion, "-date", releaseTime, "-dockerfile", "deploy/Dockerfile", "-npm", npm)
	}
	runIn(t, root, "diff", "-r", folders[0], folders[1])

	checkSums(t, folders[0])
	sum := sha256.Sum256(read(t, binary))
	if text := string(read(t, filepath.Join(folders[0], "release.json"))); !strings.Contains(text, hex.EncodeToString(sum[:])) || !strings.Contains(text, `"linux/`+runtime.GOARCH+`"`) {
		t.Errorf("%s", text)
	}
	// The program of this test is not a release, so the test can only check that it reads the file.
	output, err := exec.Command(binary, "upgrade", "--check", "--data-dir", t.TempDir(), "--release-file", filepath.Join(folders[0], "release.json")).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "not built from a release") {
		t.Errorf("%v, %s", err, output)
	}

	components := string(read(t, filepath.Join(folders[0], "atelie_"+releaseVersion+".cdx.json")))
	for _, want := range []string{`"pkg:npm/react@19.0.0"`, `"pkg:golang/modernc.org/sqlite@v`, `"pkg:golang/std@` + strings.TrimPrefix(runtime.Version(), "go") + `"`, `"version": "` + releaseVersion + `"`} {
		if !strings.Contains(components, want) {
			t.Errorf("the components do not have %s", want)
		}
	}
	checkImage(t, filepath.Join(folders[0], "atelie_"+releaseVersion+"_image.tar"), binary)
}

// checkSums checks SHA256SUMS in a folder with sha256sum. The file must name every other file, and a changed file must be detected.
func checkSums(t *testing.T, dir string) {
	t.Helper()
	tool := need(t, "sha256sum")
	output := runIn(t, dir, tool, "--check", "--strict", "SHA256SUMS")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" && !strings.Contains(output, e.Name()+": OK\n") {
			t.Errorf("SHA256SUMS does not name %s:\n%s", e.Name(), output)
		}
	}
	changed := t.TempDir()
	for _, e := range entries {
		copyFile(t, filepath.Join(dir, e.Name()), filepath.Join(changed, e.Name()), 0o644)
	}
	write(t, filepath.Join(changed, "release.json"), "{}")
	cmd := exec.Command(tool, "--check", "--strict", "SHA256SUMS")
	cmd.Dir = changed
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "release.json: FAILED") {
		t.Errorf("a changed file passes: %v\n%s", err, out)
	}
}

// checkImage follows the digests of an OCI archive from its index to the files of the image.
func checkImage(t *testing.T, archive, binary string) {
	t.Helper()
	blobs := tarFiles(t, bytes.NewReader(read(t, archive)))
	next := func(text []byte, field string) []byte {
		t.Helper()
		var of map[string]json.RawMessage
		if err := json.Unmarshal(text, &of); err != nil {
			t.Fatal(err)
		}
		var one struct{ Digest string }
		var some []struct{ Digest string }
		if err := json.Unmarshal(of[field], &one); err == nil {
			some = append(some, one)
		} else if err := json.Unmarshal(of[field], &some); err != nil || len(some) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		blob := blobs["blobs/"+strings.Replace(some[0].Digest, ":", "/", 1)]
		if sum := sha256.Sum256(blob); "sha256:"+hex.EncodeToString(sum[:]) != some[0].Digest {
			t.Fatalf("%s has another digest", some[0].Digest)
		}
		return blob
	}
	manifest := next(next(blobs["index.json"], "manifests"), "manifests")
	var config struct {
		Architecture string
		Config       struct {
			User, StopSignal string
			Env, Entrypoint  []string
			Cmd              []string
			Volumes          map[string]struct{}
		}
	}
	if err := json.Unmarshal(next(manifest, "config"), &config); err != nil {
		t.Fatal(err)
	}
	if c := config.Config; config.Architecture != runtime.GOARCH || c.User != "65532:65532" || c.StopSignal != "SIGTERM" || strings.Join(c.Entrypoint, " ") != "/atelie" || strings.Join(c.Cmd, " ") != "serve" ||
		strings.Join(c.Env, " ") != "ATELIE_DATA_DIR=/data ATELIE_LISTEN=0.0.0.0:8000" || len(c.Volumes) != 1 {
		t.Errorf("%+v", config)
	}
	layer, err := gzip.NewReader(bytes.NewReader(next(manifest, "layers")))
	if err != nil {
		t.Fatal(err)
	}
	files := tarFiles(t, layer)
	if !bytes.Equal(files["atelie"], read(t, binary)) || bytes.Count(files["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")) < 50 {
		t.Error("the image has another program, or too few certificate authorities")
	}
	for _, folder := range []string{"data/", "tmp/"} {
		if _, ok := files[folder]; !ok {
			t.Errorf("the image has no %s", folder)
		}
	}
}

func tarFiles(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
