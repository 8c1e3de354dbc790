package cli

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

// upgradeCommand is the command atelie upgrade --check. It compares this program with the release that the operator's release file
// names. It installs nothing, and connects to no address other than that of the release file.
type upgradeCommand struct {
	Check bool `required:"" help:"Compare this program with the release that ATELIE_RELEASE_FILE names. Exit status 0: there is no newer one; 3: there is; 1: it cannot be told."`
}

// release is the content of a release file. make release writes one (tools/release). Unknown fields are ignored, so that later
// versions can add some.
type release struct {
	Version string                 `json:"version"` // as in Semantic Versioning, such as 1.2.0
	Date    string                 `json:"date"`    // YYYY-MM-DD
	Notes   string                 `json:"notes"`   // optional: a page (https) that tells what has changed
	Files   map[string]releaseFile `json:"files"`   // optional: the programs by platform, such as linux/amd64
}

// releaseFile is one program of a release.
type releaseFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal digits
}

// Limits of reading a release file from the network.
const (
	releaseFileLimit   = 1 << 20 // bytes
	releaseFileTimeout = 30 * time.Second
)

// Run prints the result of the comparison. If there is a newer release, the error is the status exitNewer.
func (c *upgradeCommand) Run(env *environment) error {
	place := env.cfg.Server.ReleaseFile
	if place == "" {
		return errors.New("upgrade: no release file is set: name one with ATELIE_RELEASE_FILE or --release-file, a file or an address with https")
	}
	own, err := canonicalVersion(env.cfg.Build)
	if err != nil {
		return fmt.Errorf("upgrade: this program was not built from a release, so it cannot be compared: %w", err)
	}
	newest, err := readRelease(env.ctx, newReleaseClient(), place)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	theirs, err := canonicalVersion(newest.Version)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	switch order := semver.Compare(theirs, own); {
	case order < 0:
		return env.printf("This program is %s, newer than the release that the file names, %s.\n", own[1:], theirs[1:])
	case order == 0:
		return env.printf("This program is %s, the newest release.\n", own[1:])
	}
	if err := env.printf("A newer release is there: %s of %s. This program is %s.\n", theirs[1:], newest.Date, own[1:]); err != nil {
		return err
	}
	if newest.Notes != "" {
		if err := env.printf("What has changed: %s\n", newest.Notes); err != nil {
			return err
		}
	}
	if f, ok := newest.Files[platform()]; ok {
		if err := env.printf("For this machine: %s, SHA-256 %s\n", f.Name, f.SHA256); err != nil {
			return err
		}
	}
	if err := env.printf("Make a backup before you start it: it updates the database, and this program cannot read that one any more.\n"); err != nil {
		return err
	}
	return status(exitNewer)
}

// betweenReleases matches the end of a version that git describe makes of a commit that is no release, such as 1.2.0-5-g885be2b.
var betweenReleases = regexp.MustCompile(`-[0-9]+-g[0-9a-f]{4,}$|-dirty$`)

// canonicalVersion returns a version in the form that package semver expects, with a v. It returns an error if the version is
// not that of a release.
func canonicalVersion(version string) (string, error) {
	v := "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(v) || semver.Canonical(v)+semver.Build(v) != v || betweenReleases.MatchString(v) {
		return "", fmt.Errorf("%q is not the version of a release, such as 1.2.0", version)
	}
	return v, nil
}

// newReleaseClient returns a client for release files, which follows redirects to https only.
func newReleaseClient() *http.Client {
	return &http.Client{Timeout: releaseFileTimeout, CheckRedirect: func(r *http.Request, before []*http.Request) error {
		if r.URL.Scheme != "https" {
			return errors.New("it leads to an address without https")
		}
		if len(before) >= 5 {
			return errors.New("it leads from address to address")
		}
		return nil
	}}
}

// readRelease reads a release file from a path or an https URL and checks it.
func readRelease(ctx context.Context, client *http.Client, place string) (_ release, err error) {
	var body io.ReadCloser
	if strings.HasPrefix(place, "https://") {
		body, err = download(ctx, client, place)
	} else {
		body, err = os.Open(place)
	}
	if err != nil {
		return release{}, err
	}
	text, err := io.ReadAll(io.LimitReader(body, releaseFileLimit+1))
	if err = errors.Join(err, body.Close()); err != nil {
		return release{}, err
	}
	if len(text) > releaseFileLimit {
		return release{}, errors.New("the release file is larger than 1 MiB")
	}
	var r release
	if err := json.Unmarshal(text, &r); err != nil {
		return release{}, fmt.Errorf("the release file is not as docs/hosting.md describes it: %w", err)
	}
	if err := r.validate(); err != nil {
		return release{}, fmt.Errorf("the release file is not as docs/hosting.md describes it: %w", err)
	}
	return r, nil
}

// download requests a release file. The request says nothing about the site.
func download(ctx context.Context, client *http.Client, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "atelie")
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answered %s", r.URL.Redacted(), answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}

// fileName matches the names that files of a release may have.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]*$`)

// validate checks all fields that are printed: the file comes from elsewhere, and a terminal obeys control characters.
func (r *release) validate() error {
	if _, err := canonicalVersion(r.Version); err != nil {
		return err
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return fmt.Errorf("%q is not a date such as 2026-11-22", r.Date)
	}
	if u, err := url.Parse(r.Notes); r.Notes != "" && (err != nil || u.Scheme != "https") {
		return fmt.Errorf("notes: %q is not an address with https", r.Notes)
	}
	for on, f := range r.Files {
		if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 || !fileName.MatchString(f.Name) {
			return fmt.Errorf("files: %q needs a name and a SHA-256", on)
		}
	}
	return nil
}
