package cli

import "atelie/internal/storage/rendition"

type pictureWorkerCommand struct{}

// Run does one job in this process, which its limits may end: the server starts it, hands it the job on its standard
// input and reads the result from its standard output.
func (pictureWorkerCommand) Run(env *environment) error {
	return rendition.Work(env.ctx, env.in, env.out, env.errOut)
}
