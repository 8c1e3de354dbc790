//go:build !unix

package rendition

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

// endOwnGroup ends this process: there is nothing else, as libvips is used on Unix alone.
func endOwnGroup() { os.Exit(1) } //nolint:forbidigo // the server has died; nobody is left to be told

func usageOf(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	return usage{cpu: p.UserTime() + p.SystemTime()}
}
