//go:build !unix

package rendition

import (
	"os"
	"os/exec"
)

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

// haltGroup and resumeGroup do nothing, because this system cannot stop processes.
func haltGroup(*exec.Cmd) {}

func resumeGroup(*exec.Cmd) {}

// endOwnGroup ends this process. It has started no others, because libvips is used only on Unix.
func endOwnGroup() { os.Exit(1) } //nolint:forbidigo // the server has died: there is no process that could read an error

func keepFilesPrivate() {}

func usageOf(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	return usage{cpu: p.UserTime() + p.SystemTime()}
}
