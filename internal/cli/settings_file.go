package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// settingsFile is the JSON file of --config. Its names are the flags' names, and a name that is none stops the start: a
// misspelt setting must not be ignored.
type settingsFile map[string]any

// read is called by kong when the file's name is known.
func (f *settingsFile) read(r io.Reader) (kong.Resolver, error) {
	if err := json.NewDecoder(r).Decode(f); err != nil {
		return nil, fmt.Errorf("config: not a JSON object with settings: %w", err)
	}
	return *f, nil
}

// Validate is called by kong once all commands and flags are known.
func (f settingsFile) Validate(app *kong.Application) error {
	known := map[string]bool{"oidc": true} // an object of its own, see config.LoadOIDC
	for _, flag := range app.Flags {
		known[flag.Name] = len(flag.Envs) > 0 && flag.Name != "config"
	}
	for name := range f {
		if !known[name] {
			return fmt.Errorf("config: %q is not a setting", name)
		}
	}
	return nil
}

// Resolve gives the file's value. kong asks for every flag that the command line lacks, so the environment has to be
// given its precedence here.
func (f settingsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, set := variable(flag); set {
		return nil, nil
	}
	return f[flag.Name], nil
}

// variable names the environment variable that sets a flag, if one does.
func variable(flag *kong.Flag) (name string, set bool) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name, true
		}
	}
	return "", false
}
