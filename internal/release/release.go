// Package release reads the newest version of the program from the release file of the operator (who runs the server), and compares
// versions. The server reads the file once a day; the command atelie upgrade --check reads it too. The package connects only to the host of
// the file.
package release

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Release is the content of a release file. The command make release writes one. Unknown fields are ignored, so that later versions
// can add some.
type Release struct {
	Version string          `json:"version"` // a version of Semantic Versioning, such as 1.2.0
	Date    string          `json:"date"`    // YYYY-MM-DD
	Notes   string          `json:"notes"`   // optional: URL (https) of a page with the changes
	Files   map[string]File `json:"files"`   // optional: the programs by platform, such as linux/amd64
}

// File is one program of a release.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // checksum in hexadecimal digits
}

// Limits of reading a release file.
const (
	maxSize     = 1 << 20          // bytes of the file
	readTimeout = 30 * time.Second // for reading the whole file
)

// betweenReleases matches the end of a version that git describe returns for a commit that is not a release, such as 1.2.0-5-g885be2b.
var betweenReleases = regexp.MustCompile(`-[0-9]+-g[0-9a-f]{4,}$|-dirty$`)

// Canonical returns a version without the prefix v, such as 1.2.0. It returns an error if the version is not that of a release.
func Canonical(version string) (string, error) {
	v := "v" + strings.TrimPrefix(version, "v")
	// The comparison rejects v1.2, which semver accepts and semver.Canonical completes to v1.2.0. semver.Canonical also removes the build
	// metadata, so the comparison adds it again.
	if !semver.IsValid(v) || semver.Canonical(v)+semver.Build(v) != v || betweenReleases.MatchString(v) {
		return "", fmt.Errorf("%q is not the version of a release, such as 1.2.0", version)
	}
	return v[1:], nil
}

// Compare compares two versions that Canonical has returned. The result is negative if a is older than b, and 0 if they are equal.
func Compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// IsNewer reports whether version is newer than own, the version of this program. It returns false if one of the two is not the version of
// a release.
func IsNewer(version, own string) bool {
	v, err := Canonical(version)
	o, ownErr := Canonical(own)
	return err == nil && ownErr == nil && Compare(v, o) > 0
}

// Read reads and validates the release file at a location: a path or an https URL. It returns an error if reading takes longer than
// readTimeout.
func Read(ctx context.Context, location string) (Release, error) {
	return read(ctx, newClient(), location)
}

func read(ctx context.Context, client *http.Client, location string) (r Release, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // reading a file cannot be interrupted, and may hang with the disk
		text, err := readText(ctx, client, location)
		done <- result{text, err}
	}()
	var got result
	select {
	case got = <-done:
	case <-ctx.Done():
		got.err = fmt.Errorf("the release file could not be read within %s: %w", readTimeout, ctx.Err())
	}
	if got.err != nil {
		return r, got.err
	}
	if err = json.Unmarshal(got.text, &r); err == nil {
		err = r.validate()
	}
	if err != nil {
		return Release{}, fmt.Errorf("the release file is not as docs/hosting.md describes it: %w", err)
	}
	return r, nil
}

func readText(ctx context.Context, client *http.Client, location string) (text []byte, err error) {
	var body io.ReadCloser
	if strings.HasPrefix(location, "https://") {
		body, err = download(ctx, client, location)
	} else {
		body, err = os.Open(location)
	}
	if err != nil {
		return nil, err
	}
	text, err = io.ReadAll(io.LimitReader(body, maxSize+1))
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, errors.New("the release file is larger than 1 MiB")
	}
	return text, nil
}

// newClient returns a client for release files, which follows redirects to https only.
func newClient() *http.Client {
	return &http.Client{CheckRedirect: func(r *http.Request, before []*http.Request) error {
		if r.URL.Scheme != "https" {
			return errors.New("it redirects to a URL without https")
		}
		if len(before) >= 5 {
			return errors.New("it redirects too often")
		}
		return nil
	}}
}

// download requests a release file. The request says nothing about the site.
func download(ctx context.Context, client *http.Client, fileURL string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fileURL, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "atelie")
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s responded with %s", r.URL.Redacted(), answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}

// fileName matches the names that files of a release may have.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]*$`)

// validate checks all fields that are shown, because the file is untrusted and a terminal interprets control characters.
func (r *Release) validate() error {
	if _, err := Canonical(r.Version); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return fmt.Errorf("%q is not a date such as 2026-11-22", r.Date)
	}
	if u, err := url.Parse(r.Notes); r.Notes != "" && (err != nil || u.Scheme != "https") {
		return fmt.Errorf("notes: %q is not a URL with https", r.Notes)
	}
	for platform, f := range r.Files {
		if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 || !fileName.MatchString(f.Name) {
			return fmt.Errorf("files: %q needs a name and a SHA-256", platform)
		}
	}
	return nil
}
