package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the id of the user and of the group with which the image runs the program.
const imageUser = 65532

// copyLines are the COPY lines that the last stage of the Dockerfile must have. makeRootTar makes the same files without a container.
var copyLines = []string{
	"--from=program /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt",
	"--from=program --chown=65532:65532 /empty/data /data",
	"--from=program --chown=65532:65532 /empty/tmp /tmp",
	"--from=program /atelie /atelie",
}

// writeImage writes one image for all Linux programs as an OCI archive: a tar file with the layout of the OCI image specification.
func writeImage(out, dockerfile string, programs []program, version string, date time.Time) (err error) {
	config, err := readConfig(dockerfile)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		processor, linux := strings.CutPrefix(p.platform, "linux/")
		if !linux {
			continue
		}
		image, err := buildImage(p.file, processor, config, date)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: processor}}})
	}
	// Programs that load the archive read the name of the image from the annotations of an outer index.
	namedIndex := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{
		Annotations: map[string]string{"org.opencontainers.image.ref.name": version, "io.containerd.image.name": "docker.io/library/atelie:" + version}}})
	folder, err := os.MkdirTemp("", "atelie-image")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if _, err := layout.Write(folder, namedIndex); err != nil {
		return err
	}
	return tarFolder(out, folder, date)
}

// buildImage makes the image with one program.
func buildImage(file, processor string, config v1.Config, date time.Time) (v1.Image, error) {
	root, err := makeRootTar(file, date)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(root)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: date}, CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	configFile, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	configFile = configFile.DeepCopy()
	configFile.OS, configFile.Architecture, configFile.Created, configFile.Config = "linux", processor, v1.Time{Time: date}, config
	return mutate.ConfigFile(image, configFile)
}

// makeRootTar returns a tar file with the files of the image. Its certificate authorities are those of Mozilla, which the module
// golang.org/x/crypto contains, so that they do not depend on the machine.
func makeRootTar(file string, date time.Time) ([]byte, error) {
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range []struct {
		name  string
		mode  int64
		owner int
		text  []byte
	}{
		{"etc/", 0o755, 0, nil}, {"etc/ssl/", 0o755, 0, nil}, {"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots.Bytes()},
		{"data/", 0o755, imageUser, nil}, {"tmp/", 0o755, imageUser, nil},
		{"atelie", 0o755, 0, program},
	} {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(e.name, "/") {
			kind = tar.TypeDir
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: kind, Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.text)), ModTime: date}); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}

// readConfig reads the last stage of the image file. A line that it does not know is an error, so that the image of docker build
// and this one cannot differ unnoticed.
func readConfig(dockerfile string) (v1.Config, error) {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return v1.Config{}, err
	}
	_, stage, ok := strings.Cut(string(text), "\nFROM scratch\n")
	if !ok {
		return v1.Config{}, errors.New("the last stage is not FROM scratch")
	}
	var (
		c      v1.Config
		copies []string
	)
	for line := range strings.Lines(stage) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch word {
		case "COPY":
			copies = append(copies, rest)
		case "USER":
			c.User = rest
		case "ENV":
			c.Env = strings.Fields(rest)
		case "VOLUME":
			c.Volumes = map[string]struct{}{rest: {}}
		case "EXPOSE":
			c.ExposedPorts = map[string]struct{}{}
			for _, port := range strings.Fields(rest) {
				c.ExposedPorts[port+"/tcp"] = struct{}{}
			}
		case "STOPSIGNAL":
			c.StopSignal = rest
		case "HEALTHCHECK":
			c.Healthcheck, err = readHealthcheck(rest)
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &c.Entrypoint)
		case "CMD":
			err = json.Unmarshal([]byte(rest), &c.Cmd)
		default:
			err = errors.New("not known")
		}
		if err != nil {
			return c, fmt.Errorf("%q: %w", line, err)
		}
	}
	if !slices.Equal(copies, copyLines) || c.User != fmt.Sprintf("%d:%d", imageUser, imageUser) {
		return c, errors.New("it copies other files, or has another user, than tools/release/image.go")
	}
	return c, nil
}

// readHealthcheck reads --interval=10s --timeout=5s --start-period=30s CMD […].
func readHealthcheck(line string) (*v1.HealthConfig, error) {
	options, command, ok := strings.Cut(line, "CMD ")
	if !ok {
		return nil, errors.New("it has no CMD")
	}
	var h v1.HealthConfig
	if err := json.Unmarshal([]byte(command), &h.Test); err != nil {
		return nil, err
	}
	h.Test = append([]string{"CMD"}, h.Test...)
	for _, option := range strings.Fields(options) {
		name, value, _ := strings.Cut(option, "=")
		d, err := time.ParseDuration(value)
		if err != nil {
			return nil, err
		}
		switch name {
		case "--interval":
			h.Interval = d
		case "--timeout":
			h.Timeout = d
		case "--start-period":
			h.StartPeriod = d
		default:
			return nil, fmt.Errorf("%s is not known", name)
		}
	}
	return &h, nil
}

// tarFolder writes the files of a folder as a tar file, in the order of their names.
func tarFolder(out, folder string, date time.Time) (err error) {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := tar.NewWriter(f)
	defer func() { err = errors.Join(err, w.Close()) }()
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(text)), ModTime: date}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
}
