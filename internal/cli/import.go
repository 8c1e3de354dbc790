package cli

import "errors"

// importCommand is the command atelie import, a group with one command for each source. Without a command's name it is site.
type importCommand struct {
	Site importSiteCommand `cmd:"" default:"withargs" help:"Import an archive that atelie export has made into an empty site."`
}

type importSiteCommand struct {
	File string `arg:"" type:"existingfile" help:"The archive."`
}

func (c *importSiteCommand) Run(*environment) error {
	return errors.New("import: not yet")
}
