package cli

import (
	"errors"
	"fmt"

	"atelie/internal/release"
)

// upgradeCommand is the command atelie upgrade --check. It compares this program with the release that the operator's release file
// names. It installs nothing, and connects to no address other than that of the release file.
type upgradeCommand struct {
	Check bool `required:"" help:"Compare this program with the release that ATELIE_RELEASE_FILE names. Exit status 0: there is no newer one; 3: there is; 1: it cannot be told."`
}

// Run prints what the comparison has found. If there is a newer release, the error is the exit code exitNewer.
func (c *upgradeCommand) Run(env *environment) error {
	place := env.cfg.Server.ReleaseFile
	if place == "" {
		return errors.New("upgrade: no release file is set: name one with ATELIE_RELEASE_FILE or --release-file, a file or an address with https")
	}
	own, err := release.Canonical(env.cfg.Build)
	if err != nil {
		return fmt.Errorf("upgrade: this program was not built from a release, so it cannot be compared: %w", err)
	}
	newest, err := release.Read(env.ctx, place)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	theirs, err := release.Canonical(newest.Version)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	switch order := release.Compare(theirs, own); {
	case order < 0:
		return env.printf("This program is %s, newer than the release that the file names, %s.\n", own, theirs)
	case order == 0:
		return env.printf("This program is %s, the newest release.\n", own)
	}
	env.say("A newer release is there: %s of %s. This program is %s.\n", theirs, newest.Date, own)
	if newest.Notes != "" {
		env.say("What has changed: %s\n", newest.Notes)
	}
	if f, ok := newest.Files[platform()]; ok {
		env.say("For this machine: %s, SHA-256 %s\n", f.Name, f.SHA256)
	}
	env.say("Make a backup before you start it: it updates the database, and this program cannot read that one any more.\n")
	return status(exitNewer)
}
