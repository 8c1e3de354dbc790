package rendition

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// This file finds and runs vips, the command of the library libvips. With it, the program can also decode HEIC and AVIF and make AVIF.

// vipsInfo describes the installed command of libvips.
type vipsInfo struct {
	path    string // path of the command; "" if there is none
	version string
	hasHEIC bool // can decode HEIC
	hasAVIF bool // can decode and make AVIF
}

// String returns a text for the log: the version of libvips and the formats that it supports, or "atelie" if the program makes pictures
// without libvips.
func (v vipsInfo) String() string {
	if v.path == "" {
		return "atelie"
	}
	text := "vips " + v.version
	if v.hasHEIC {
		text += ", HEIC"
	}
	if v.hasAVIF {
		text += ", AVIF"
	}
	return text
}

// locateVips returns the path of libvips' command for the setting Config.Vips, or "" if libvips is disabled ("off") or not
// found. If the setting is a path, it must be the path of a program.
func locateVips(setting string) (string, error) {
	switch setting {
	case "off":
		return "", nil
	case "", "auto":
		path, err := exec.LookPath("vips")
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("vips: %w", err)
		}
		return filepath.Abs(path)
	}
	stat, err := os.Stat(setting)
	if err == nil && (stat.IsDir() || stat.Mode()&0o111 == 0) {
		err = &fs.PathError{Op: "run", Path: setting, Err: errors.New("not a program")}
	}
	if err != nil {
		return "", fmt.Errorf("vips: %w", err)
	}
	return setting, nil
}

// Black pictures of 16 x 16 pixels, made by libvips 8.14, in base64. probeVips tests whether the installed libvips can decode them, because
// the support of these types depends on the build of libvips and on other libraries.
const (
	tinyHEIC = "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAIgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACptZGF0AAAAHigBrwQSEkzg+AROY/7pVFUBIKzotHShyJcQk7tqwA=="
	tinyAVIF = "AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAGAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlwcnAAAABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAQAAAAEAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAAEEgYIDhAAAACBtZGF0EgAKCRgM/9ggQEDQgDIJHkAAAEAAqY6B"
)

// probeVips tests libvips' command at a path. If the command does not work, the result has no path, and the program's own engine makes the
// renditions.
func probeVips(path string, log *slog.Logger) vipsInfo {
	if path == "" {
		return vipsInfo{}
	}
	// The timeout is long, because the result is used until the program ends: a busy machine must not lose HEIC and AVIF.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	v, err := tryVips(ctx, path)
	if err != nil {
		log.Warn("libvips is not used", "path", path, "cause", err)
		return vipsInfo{}
	}
	return v
}

func tryVips(ctx context.Context, path string) (_ vipsInfo, err error) {
	folder, err := os.MkdirTemp("", "atelie-vips-")
	if err != nil {
		return vipsInfo{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c := vipsCommand{path: path, folder: folder, modules: true}
	text, err := c.run(ctx, "--version")
	if err != nil {
		return vipsInfo{}, err
	}
	v := vipsInfo{path: path, version: strings.TrimPrefix(strings.TrimSpace(text), "vips-")}
	var major, minor int
	if n, _ := fmt.Sscanf(v.version, "%d.%d", &major, &minor); n < 2 || major < 8 || major == 8 && minor < 13 {
		return vipsInfo{}, fmt.Errorf("version %q is too old: 8.13 is the first that can be used", v.version)
	}
	for _, probe := range []struct {
		name, content string
		can           *bool
	}{{"tiny.heic", tinyHEIC, &v.hasHEIC}, {"tiny.avif", tinyAVIF, &v.hasAVIF}} {
		content, err := base64.StdEncoding.DecodeString(probe.content)
		if err != nil {
			return vipsInfo{}, err
		}
		if err := os.WriteFile(filepath.Join(folder, probe.name), content, 0o600); err != nil {
			return vipsInfo{}, err
		}
		args := []string{"copy", probe.name, probe.name + ".v"}
		if probe.can == &v.hasAVIF { // AVIF must also be made
			args = []string{"heifsave", probe.name, "made.avif", "--compression", "av1"}
		}
		_, err = c.run(ctx, args...)
		*probe.can = err == nil
	}
	return v, nil
}

// vipsCommand runs operations of libvips, each as a process.
type vipsCommand struct {
	path string
	// folder is where the command runs and all its files are. They are named without a path, because libvips would read
	// brackets in a path as options.
	folder string
	// untrusted blocks the loaders that are not made for untrusted files. The loader of raw files is one of them.
	untrusted bool
	// modules loads the modules for HEIC and AVIF, and with them those of ImageMagick and others, which triples the time to
	// start.
	modules   bool
	idleUntil time.Time // until this time the command gets only idle processors; zero for an urgent job
}

// defaultIdleTime is how long libvips works on a job that is not urgent with idle processors only. After that time it gets normal
// scheduling, so that the job ends in time on a busy machine.
const defaultIdleTime = 100 * time.Second

// run runs an operation and returns the command's output. A command that has not ended at idleUntil is killed and started
// again with normal scheduling.
func (c vipsCommand) run(ctx context.Context, args ...string) (string, error) {
	if time.Now().Before(c.idleUntil) {
		idling, cancel := context.WithDeadline(ctx, c.idleUntil)
		defer cancel()
		if said, err := c.try(idling, startIdle, args); err == nil || idling.Err() == nil || ctx.Err() != nil {
			return said, err
		}
	}
	return c.try(ctx, (*exec.Cmd).Start, args)
}

func (c vipsCommand) try(ctx context.Context, start func(*exec.Cmd) error, args []string) (string, error) {
	if len(args) > 0 && args[0] != "--version" {
		args = append([]string{"--vips-cache-max=0", "--vips-cache-max-memory=0", "--vips-cache-max-files=0"}, args...)
	}
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir = c.folder
	cmd.Env = []string{"LC_ALL=C", "HOME=" + c.folder, "TMPDIR=" + c.folder, fmt.Sprintf("VIPS_CONCURRENCY=%d", runtime.GOMAXPROCS(0)), "VIPS_DISC_THRESHOLD=100m", "MALLOC_ARENA_MAX=2"}
	if c.untrusted {
		cmd.Env = append(cmd.Env, "VIPS_BLOCK_UNTRUSTED=1")
	}
	if !c.modules { // libvips looks for modules below VIPSHOME; the folder has none
		cmd.Env = append(cmd.Env, "VIPSHOME="+c.folder)
	}
	stdout, stderr := boundedBuffer{limit: maxStderrBytes}, boundedBuffer{limit: maxStderrBytes}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err == nil && strings.Contains(stderr.String(), "error in tile") {
		err = errors.New("it reported success after an error") // libvips 8.14 does this about one time in ten
	}
	if err != nil {
		return "", vipsError{said: stderr.String(), cause: err}
	}
	return stdout.String(), nil
}

// vipsError is a failed run with the command's messages.
type vipsError struct {
	said  string
	cause error
}

// Error returns the last line of the messages. The lines before it are repeated warnings.
func (e vipsError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.said), "\n")
	return fmt.Sprintf("vips: %v: %s", e.cause, shorten(lines[len(lines)-1]))
}

func (e vipsError) Unwrap() error { return e.cause }

// classifyDecodeError converts the error of decoding the source: to a refusal if the file is the cause, else to an engineError,
// after which the own engine is tried. A message of libvips about the file begins with the name of a loader. Unless libvips
// crashed or ran out of memory, a JPEG is tried with the own engine, so that both engines reject the same JPEGs.
func (s *vipsSession) classifyDecodeError(ctx context.Context, err error) error {
	e, hasMessages := errors.AsType[vipsError](err)
	exit, hasExited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !hasMessages:
		return engineError{err}
	case outOfMemory.MatchString(e.said):
		return ErrTooCostly.Because(err)
	case hasExited && exit.ExitCode() < 0: // a signal: the file has crashed a decoder
		return ErrUnreadable.Because(err)
	case s.header.MimeType == "image/jpeg":
		return engineError{err}
	case saysTruncated.MatchString(e.said):
		return ErrTruncated.Because(err)
	case beginsWithLoader.MatchString(e.said):
		return ErrUnreadable.Because(err)
	}
	return engineError{err}
}

// Messages of libvips about the file: that its end is missing, and a line that begins with the name of a loader.
var (
	saysTruncated = regexp.MustCompile("(?i)premature end|truncated|unexpected end|read error|out of data|not enough data|" +
		"end of stream|unable to read")
	beginsWithLoader = regexp.MustCompile("(?im)^(png|libpng|gif|webp|tiff|heif|icc)")
)

// vipsMemory is the memory in bytes that libvips needs to encode a picture 2560 pixels wide. For AVIF it needs avifMemory more.
const (
	vipsMemory = 160 << 20
	avifMemory = 250 << 20
)

// vipsCost estimates the memory in bytes that libvips needs for a job. For a picture that cannot be decoded row by row, decoding
// needs half as much memory as in the own engine. This is the estimate for all pictures.
func vipsCost(h Header, orders []Order) int64 {
	cost := max(h.Memory-fixedMemory, 0)/2 + vipsMemory
	for _, o := range orders {
		if o.Format == AVIF {
			return cost + avifMemory
		}
	}
	return cost
}
