//go:build !unix

package rendition

import (
	"os"
	"os/exec"
)

// leadNewGroup does nothing, because this system has no process groups.
func leadNewGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

// stopGroup and resumeGroup do nothing, because this system cannot stop processes.
func stopGroup(*exec.Cmd) {}

func resumeGroup(*exec.Cmd) {}

// killOwnGroup ends this process. It has started no others, because libvips is used only on Unix.
func killOwnGroup() { os.Exit(1) } //nolint:forbidigo // the server has died: there is no process that could read an error

func keepFilesPrivate() {}

func readUsage(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	return usage{cpu: p.UserTime() + p.SystemTime()}
}
