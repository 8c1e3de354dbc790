package cli

import (
	"fmt"
	"net/url"
	"text/tabwriter"

	"github.com/alecthomas/kong"
)

type configCommand struct{}

// Run prints one line per setting: flag, value, source. Secrets show only that they are set.
func (c *configCommand) Run(env *environment) error {
	w := tabwriter.NewWriter(env.out, 0, 4, 2, ' ', 0)
	for _, flag := range env.kong.Model.Flags {
		if len(flag.Envs) == 0 {
			continue // --help and --version are no settings
		}
		value := fmt.Sprint(env.kong.FlagValue(flag))
		if text, ok := env.kong.FlagValue(flag).(fmt.Stringer); ok {
			value = text.String()
		}
		if _, err := fmt.Fprintf(w, "%s\t%s\t(%s)\n", flag.Name, mask(flag.Tag.Get("secret"), value), source(env.kong, flag)); err != nil {
			return err
		}
	}
	for _, provider := range env.cfg.OIDC {
		for _, s := range provider.Shown {
			kind := ""
			if s.Secret {
				kind = "yes"
			}
			if _, err := fmt.Fprintf(w, "%s\t%s\t(%s)\n", s.Name, mask(kind, s.Value), s.Source); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

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

func source(ctx *kong.Context, flag *kong.Flag) string {
	for _, p := range ctx.Path {
		if p.Flag == flag && !p.Resolved {
			return "flag"
		}
	}
	if name, set := variable(flag); set {
		return "environment " + name
	}
	for _, p := range ctx.Path {
		if p.Flag == flag {
			return "file"
		}
	}
	return "default"
}
