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
	"runtime"
	"strconv"
	"strings"
	"time"
)

// vips is a libvips command that was found, and what it can do. Without a path there is none.
type vips struct {
	path    string
	version string
	heic    bool
	avif    bool
}

func (v vips) String() string {
	if v.path == "" {
		return "atelie"
	}
	text := "vips " + v.version
	if v.heic {
		text += ", HEIC"
	}
	if v.avif {
		text += ", AVIF"
	}
	return text
}

// locateVips gives the command's path, empty for none. A path that the owner wrote must exist.
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

// Pictures of 16 x 16 black pixels, by libvips 8.14: which of the two a libvips reads depends on how it was built and on
// what else is installed.
const (
	tinyHEIC = "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAIgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACptZGF0AAAAHigBrwQSEkzg+AROY/7pVFUBIKzotHShyJcQk7tqwA=="
	tinyAVIF = "AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAGAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlwcnAAAABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAQAAAAEAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAAEEgYIDhAAAACBtZGF0EgAKCRgM/9ggQEDQgDIJHkAAAEAAqY6B"
)

// probeVips tries the command. One that does not work is as good as none: the own engine is always there.
func probeVips(path string, log *slog.Logger) vips {
	if path == "" {
		return vips{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	v, err := tryVips(ctx, path)
	if err != nil {
		log.Warn("libvips is not used", "path", path, "cause", err)
		return vips{}
	}
	return v
}

func tryVips(ctx context.Context, path string) (_ vips, err error) {
	folder, err := os.MkdirTemp("", "atelie-vips-")
	if err != nil {
		return vips{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c := vipsCommand{path: path, folder: folder, modules: true}
	text, err := c.run(ctx, "--version")
	if err != nil {
		return vips{}, err
	}
	v := vips{path: path, version: strings.TrimPrefix(strings.TrimSpace(text), "vips-")}
	major, rest, _ := strings.Cut(v.version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if m, err := strconv.Atoi(major); err != nil || m < 8 {
		return vips{}, fmt.Errorf("version %q is too old", v.version)
	} else if n, err := strconv.Atoi(minor); err != nil || m == 8 && n < 13 {
		return vips{}, fmt.Errorf("version %q is too old: 8.13 is the first that can be used", v.version)
	}
	for _, probe := range []struct {
		name, content string
		can           *bool
	}{{"tiny.heic", tinyHEIC, &v.heic}, {"tiny.avif", tinyAVIF, &v.avif}} {
		content, err := base64.StdEncoding.DecodeString(probe.content)
		if err != nil {
			return vips{}, err
		}
		if err := os.WriteFile(filepath.Join(folder, probe.name), content, 0o600); err != nil {
			return vips{}, err
		}
		args := []string{"copy", probe.name, probe.name + ".v"}
		if probe.can == &v.avif { // it must also be written
			args = []string{"heifsave", probe.name, "made.avif", "--compression", "av1"}
		}
		_, err = c.run(ctx, args...)
		*probe.can = err == nil
	}
	return v, nil
}

// vipsCommand runs libvips in a folder, where all names that it is given lie: in a file's name it would take brackets
// for options. Untrusted keeps away loaders that are not made for strangers' files; our own raw files are among those.
// Modules loads HEIC and AVIF, and with them ImageMagick and others that are not used: three times the start.
type vipsCommand struct {
	path, folder string
	untrusted    bool
	modules      bool
	idleUntil    time.Time // it gets a processor only when nobody else wants it, up to then
}

// idleTime is how long libvips works on a job with nothing but idle processors. Where others leave it none, its work
// must still be done within the job's time.
const idleTime = 100 * time.Second

// run gives what the command said. One that is still idling when its time for that is over begins again.
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
	if !c.modules { // libvips looks for its modules there and finds none
		cmd.Env = append(cmd.Env, "VIPSHOME="+c.folder)
	}
	var stdout, stderr bounded
	stdout.limit, stderr.limit = stderrLimit, stderrLimit
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err == nil && strings.Contains(stderr.String(), "error in tile") {
		err = errors.New("it said that all was well after an error") // 8.14 does, one time in ten
	}
	if err != nil {
		return "", vipsError{said: stderr.String(), cause: err}
	}
	return stdout.String(), nil
}

// vipsError is a run that failed, with what the command said.
type vipsError struct {
	said  string
	cause error
}

// Error has the last line alone: warnings before it repeat themselves.
func (e vipsError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.said), "\n")
	return fmt.Sprintf("vips: %v: %s", e.cause, tail(lines[len(lines)-1]))
}

func (e vipsError) Unwrap() error { return e.cause }

// decodeFault tells apart a file that cannot be read from a libvips that cannot read. Its loaders put their names before
// what they say; anything else is no fault of the file, and the own engine is asked. So it is for JPEG, where the two
// must agree.
func (s *vipsStudy) decodeFault(ctx context.Context, err error) error {
	var (
		e    vipsError
		exit *exec.ExitError
	)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &e):
		return engineError{err}
	case outOfMemory(e.said):
		return ErrTooCostly.Because(err)
	case errors.As(err, &exit) && exit.ExitCode() < 0: // by a signal: a crash in a decoder is the file's doing
		return ErrUnreadable.Because(err)
	case s.header.MimeType == "image/jpeg":
		return engineError{err}
	}
	said := strings.ToLower(e.said)
	for _, sign := range []string{"premature end", "truncated", "unexpected end", "read error", "out of data", "not enough data", "end of stream", "unable to read"} {
		if strings.Contains(said, sign) {
			return ErrTruncated.Because(err)
		}
	}
	for line := range strings.Lines(said) {
		for _, loader := range []string{"png", "libpng", "gif", "webp", "tiff", "heif", "icc"} {
			if strings.HasPrefix(line, loader) {
				return ErrUnreadable.Because(err)
			}
		}
	}
	return engineError{err}
}

// vipsMemory is what libvips takes for encoding at 2560 pixels, in bytes; AVIF takes more.
const (
	vipsMemory = 160 << 20
	avifMemory = 250 << 20
)

// vipsCost estimates the memory of a job in bytes. What is stored from top to bottom is streamed; what is not takes
// half of what the own engine needs, which is the bound for all.
func vipsCost(h Header, orders []Order) int64 {
	cost := max(h.Memory-reserve, 0)/2 + vipsMemory
	for _, o := range orders {
		if o.Format == AVIF {
			return cost + avifMemory
		}
	}
	return cost
}
