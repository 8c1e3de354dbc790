package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// settingsFile is the content of the JSON file that --config names: a map from the names of flags to the values of settings, such as
// "data-dir" to "/var/lib/atelie". An unknown name is an error, so that a misspelt setting is noticed.
type settingsFile map[string]any

// read decodes the file. kong calls it with the open file.
func (f *settingsFile) read(r io.Reader) (kong.Resolver, error) {
	if err := json.NewDecoder(r).Decode(f); err != nil {
		return nil, fmt.Errorf("config: not a JSON object with settings: %w", err)
	}
	return *f, nil
}

// Validate checks the names in the file. kong calls it when it knows all commands and flags.
func (f settingsFile) Validate(app *kong.Application) error {
	known := map[string]bool{"oidc": true} // an object; config.LoadOIDC reads it
	for _, flag := range app.Flags {
		// A flag is a setting if it also has an environment variable. The file cannot name another file with "config".
		known[flag.Name] = len(flag.Envs) > 0 && flag.Name != "config"
	}
	for name := range f {
		if !known[name] {
			return fmt.Errorf("config: %q is not a setting", name)
		}
	}
	return nil
}

// Resolve returns the value that the file contains for a flag, or nil. kong calls it for every flag that is not on the command
// line. Resolve also returns nil if an environment variable sets the flag, because the environment takes precedence.
func (f settingsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, set := findVariable(flag); set {
		return nil, nil
	}
	return f[flag.Name], nil
}

// findVariable returns the name of the environment variable that sets a flag. set is false if no variable does.
func findVariable(flag *kong.Flag) (name string, set bool) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name, true
		}
	}
	return "", false
}
