// Command release makes the files of a release besides the programs: the image, the list of components (SBOM), the release file and the
// checksums. It reads the programs that scripts/release.sh has built.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// program is one build of Ateliê, for one platform, in the folder of the release.
type program struct {
	platform string // such as linux/amd64
	file     string // path
}

func main() {
	folder := flag.String("folder", "", "folder with the programs, named atelie_VERSION_SYSTEM_PROCESSOR; the files go there too")
	version := flag.String("version", "", "version of the release, as in Semantic Versioning")
	seconds := flag.Int64("date", 0, "time of the commit in seconds since 1970, the time of everything")
	dockerfile := flag.String("dockerfile", "", "the image file, whose last stage describes the image")
	npmList := flag.String("npm", "", "what npm sbom says of the site's packages")
	flag.Parse()
	if err := run(*folder, *version, time.Unix(*seconds, 0).UTC(), *dockerfile, *npmList); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the files. date is the time of the commit. All files have this time, so that a second run makes the same bytes.
func run(folder, version string, date time.Time, dockerfile, npmList string) error {
	if v := "v" + version; semver.Canonical(v) != v {
		return fmt.Errorf("%q is not a version such as 1.2.0", version)
	}
	programs, err := findPrograms(folder, version)
	if err != nil {
		return err
	}
	prefix := filepath.Join(folder, "atelie_"+version)
	if err := writeImage(prefix+"_image.tar", dockerfile, programs, version, date); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := writeComponents(prefix+".cdx.json", npmList, programs, version, date); err != nil {
		return fmt.Errorf("components: %w", err)
	}
	if err := writeReleaseFile(filepath.Join(folder, "release.json"), programs, version, date); err != nil {
		return fmt.Errorf("release file: %w", err)
	}
	return writeChecksums(folder)
}

// findPrograms lists the programs in a folder, sorted by name.
func findPrograms(folder, version string) (found []program, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "atelie_"+version+"_*_*64*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		rest := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "atelie_"+version+"_"), ".exe")
		if system, processor, ok := strings.Cut(rest, "_"); ok && !strings.Contains(processor, ".") {
			found = append(found, program{system + "/" + processor, name})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no programs of %s", folder, version)
	}
	return found, nil
}

// writeReleaseFile writes a release file (internal/release).
func writeReleaseFile(out string, programs []program, version string, date time.Time) error {
	type file struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}
	files := map[string]file{}
	for _, p := range programs {
		sum, err := sha256Of(p.file)
		if err != nil {
			return err
		}
		files[p.platform] = file{filepath.Base(p.file), sum}
	}
	text, err := json.MarshalIndent(map[string]any{"version": version, "date": date.Format(time.DateOnly), "files": files}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// writeChecksums writes SHA256SUMS with the sum of every other file in the folder, as sha256sum reads it.
func writeChecksums(folder string) error {
	const name = "SHA256SUMS"
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		sum, err := sha256Of(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(text.String()), 0o644)
}
