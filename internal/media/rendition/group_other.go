//go:build !unix

package rendition

import (
	"os"
	"os/exec"
)

// This file replaces group_unix.go, which controls a worker and the programs that it started, on systems without process groups.

// leadNewGroup and killGroup do nothing. exec.Cmd kills the worker when its context ends, and here a worker starts no other programs.
func leadNewGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

// suspendGroup and resumeGroup do nothing, because this system cannot suspend processes.
func suspendGroup(*exec.Cmd) {}

func resumeGroup(*exec.Cmd) {}

// killOwnGroup ends this process. The process has started no others, because libvips is used only on Unix.
func killOwnGroup() { os.Exit(1) } //nolint:forbidigo // the server has died: there is no process that could read an error

// keepFilesPrivate does nothing, because this system has no umask.
func keepFilesPrivate() {}
