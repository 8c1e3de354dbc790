package cli

import (
	"fmt"
	"net/url"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"atelie/internal/config"
)

// configCommand is the command atelie config.
type configCommand struct{}

// Run prints the name, value and source of each setting. Secrets are masked.
func (c *configCommand) Run(env *environment) error {
	var settings []config.Setting
	for _, flag := range env.kong.Model.Flags {
		if isSetting(flag) {
			value := mask(flag.Tag.Get("secret"), fmt.Sprint(env.kong.FlagValue(flag)))
			settings = append(settings, config.Setting{Name: flag.Name, Value: value, Source: findSource(env.kong, flag)})
		}
	}
	for _, provider := range env.cfg.OIDC { // the settings of sign-in providers are not flags of kong
		for _, s := range provider.Shown {
			if s.Secret {
				s.Value = mask("yes", s.Value)
			}
			settings = append(settings, s)
		}
	}
	w := tabwriter.NewWriter(env.out, 0, 4, 2, ' ', 0)
	for _, s := range settings {
		if _, err := fmt.Fprintf(w, "%s\t%s\t(%s)\n", s.Name, s.Value, s.Source); err != nil {
			return err
		}
	}
	return w.Flush()
}

// mask returns a setting's value for the output, without secrets. kind is the value of the setting's tag secret: "yes" hides the whole value,
// "url" hides the password in a URL, and "" hides nothing. An empty value becomes "-".
func mask(kind, value string) string {
	switch {
	case value == "":
		return "-"
	case kind == "yes":
		return "********"
	case kind == "url":
		if u, err := url.Parse(value); err == nil {
			return u.Redacted()
		}
		return "********"
	}
	return value
}

// findSource returns the source of a setting's value: flag, environment and the name of the variable, file, or default.
func findSource(ctx *kong.Context, flag *kong.Flag) string {
	source := "default"
	for _, p := range ctx.Path {
		if p.Flag == flag && !p.Resolved {
			return "flag"
		}
		if p.Flag == flag { // Resolved: the value comes from the settings file
			source = "file"
		}
	}
	if name, set := findVariable(flag); set {
		return "environment " + name
	}
	return source
}
