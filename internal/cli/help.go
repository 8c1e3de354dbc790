package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// This file prints the help of the program and of its commands.

// siteSettings are the settings by which a command finds the database, the files and the secret of the site. The struct tag "settings" of a
// command lists the settings that it reads (see the type commands). In this tag, the word "site" stands for siteSettings.
var siteSettings = []string{"config", "data-dir", "database-url", "storage-url", "jwt-secret", "jwt-secret-previous"}

// printHelp prints the help of the program or of a command: first the flags of the command, then the settings that it reads. It hides the
// other settings, because every setting is a flag of all commands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	patterns := settingPatterns(node)
	group := &kong.Group{Key: "settings", Title: "Settings that this command reads:"}
	for _, flag := range ctx.Model.Flags {
		switch {
		case isSetting(flag):
			flag.Group = group
			flag.Hidden = !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, flag.Name) })
		case flag.Name == "version":
			flag.Hidden = node != ctx.Model.Node // only the program's own help shows it
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	text := ""
	switch {
	case node == ctx.Model.Node:
		text = "Run \"atelie serve --help\" for all settings. Each is a flag, an environment variable, or a line of the settings file (--config).\n"
	case len(node.Children) > 0:
		text = fmt.Sprintf("\nRun \"%s <command> --help\" for the flags and settings of a command.\n", node.FullPath())
	case len(patterns) > 0 && !slices.Contains(patterns, "*"):
		text = "\nRun \"atelie serve --help\" for all settings.\n"
	}
	_, err := fmt.Fprint(ctx.Stdout, text)
	return err
}

// isSetting reports whether a flag of the program is a setting. A setting can also be set by an environment variable. The flags --help and
// --version cannot, so they are not settings.
func isSetting(flag *kong.Flag) bool { return len(flag.Envs) > 0 }

// settingPatterns returns the patterns, such as backup-*, of the settings that a command reads. They are in the struct tag "settings" of the
// command, separated by spaces. If the command has no such tag, that of the nearest command above it counts. A command that has subcommands
// reads no settings itself.
func settingPatterns(node *kong.Node) (patterns []string) {
	if node.Parent == nil || len(node.Children) > 0 {
		return nil
	}
	for n := node; n.Parent != nil && len(patterns) == 0; n = n.Parent {
		patterns = strings.Fields(n.Tag.Get("settings"))
	}
	if i := slices.Index(patterns, "site"); i >= 0 {
		patterns = slices.Replace(patterns, i, i+1, siteSettings...)
	}
	return patterns
}

// matches reports whether the pattern, in which * stands for any characters, matches the name of a setting.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
