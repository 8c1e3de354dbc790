package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCommand is the command atelie version. It prints what the program was built from.
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// build describes the program. Commit and CommitDate are "" if it was not built in a git checkout, as in a container image.
type build struct {
	Version    string `json:"version"`
	Commit     string `json:"commit"`
	CommitDate string `json:"commit_date"` // RFC 3339
	Modified   bool   `json:"modified"`    // the checkout had changes that were not committed
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

// newBuild returns the description of a program with this version. info is the data that the go command recorded in the program at build
// time.
func newBuild(version string, info *debug.BuildInfo) build {
	b := build{Version: version, Go: runtime.Version(), Platform: platform()}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.CommitDate = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// platform returns the system and the processor for which the program was built, as in linux/amd64.
func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// Run prints the version.
func (c *versionCommand) Run(env *environment) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b := newBuild(env.cfg.Build, info)
	if c.JSON {
		return json.NewEncoder(env.out).Encode(b)
	}
	return env.printf("%s", b)
}

// String returns the text that the command prints.
func (b build) String() string {
	changes := ""
	if b.Modified {
		changes = ", with changes that were not committed"
	}
	return fmt.Sprintf("atelie %s\ncommit:   %s%s\ndate:     %s\ngo:       %s\nplatform: %s\n",
		b.Version, cmp.Or(b.Commit, "unknown"), changes, cmp.Or(b.CommitDate, "unknown"), b.Go, b.Platform)
}
