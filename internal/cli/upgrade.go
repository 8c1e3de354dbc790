package cli

import (
	"errors"
	"fmt"

	"atelie/internal/release"
)

// upgradeCommand is the command atelie upgrade --check. It compares this program with the newest release, which the operator's release file
// (setting release-file) names. It installs nothing, and connects to no address other than that of the release file.
type upgradeCommand struct {
	Check bool `required:"" help:"Compare this program with the release that ATELIE_RELEASE_FILE names. Exit status: 0 if there is no newer release, 3 if there is one, 1 if the comparison fails."`
}

// Run prints what the comparison has found. If there is a newer release, the error is the exit code exitNewer.
func (c *upgradeCommand) Run(env *environment) error {
	location := env.cfg.Server.ReleaseFile
	if location == "" {
		return errors.New("upgrade: no release file is set: name one with ATELIE_RELEASE_FILE or --release-file, a file or an https URL")
	}
	currentVersion, err := release.Canonical(env.cfg.Build)
	if err != nil {
		return fmt.Errorf("upgrade: this program was not built from a release, so it cannot be compared: %w", err)
	}
	newest, err := release.Read(env.ctx, location)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	newestVersion, _ := release.Canonical(newest.Version) // Read has checked it
	switch order := release.Compare(newestVersion, currentVersion); {
	case order < 0:
		return env.printf("This program is %s, newer than the release that the file names, %s.\n", currentVersion, newestVersion)
	case order == 0:
		return env.printf("This program is %s, the newest release.\n", currentVersion)
	}
	env.say("A newer release is available: %s of %s. This program is %s.\n", newestVersion, newest.Date, currentVersion)
	if newest.Notes != "" {
		env.say("What has changed: %s\n", newest.Notes)
	}
	if f, ok := newest.Files[platform()]; ok {
		env.say("For this machine: %s, SHA-256 %s\n", f.Name, f.SHA256)
	}
	env.say("Make a backup before you start it: the new version migrates the database, and this program cannot read a migrated database.\n")
	return exitStatus(exitNewer)
}
