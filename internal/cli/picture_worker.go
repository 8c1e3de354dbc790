package cli

import "atelie/internal/media/rendition"

// pictureWorkerCommand is the command atelie picture-worker, which the help does not list. The server runs it as a process of its own that
// makes the renditions (resized copies) of a picture.
type pictureWorkerCommand struct{}

// Run does one rendition job. The server starts this process with limits of memory and time, writes the job to its standard
// input, and reads the result from its standard output.
func (pictureWorkerCommand) Run(env *environment) error {
	return rendition.Work(env.ctx, env.in, env.out, env.errOut)
}
