package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpShowsTheFlagsOfACommandFirst checks the help of every command: its own flags come before the settings, of which it shows those
// that the command reads.
func TestHelpShowsTheFlagsOfACommandFirst(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars{"version": "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	var settings []string
	for _, flag := range parser.Model.Flags {
		if isSetting(flag) {
			settings = append(settings, flag.Name)
		}
	}
	for _, node := range parser.Model.Leaves(true) {
		r := atelie(t, t.TempDir(), "", append(strings.Fields(node.Path()), "--help")...)
		own, read, _ := strings.Cut(r.out, "\nSettings that this command reads:\n")
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: %+v", node.Path(), r)
		}
		for _, flag := range node.Flags {
			if !listed(own, flag.Name) || listed(read, flag.Name) {
				t.Errorf("%s: --%s is not among its own flags:\n%s", node.Path(), flag.Name, r.out)
			}
		}
		patterns := settingPatterns(node)
		for _, name := range settings {
			shown, wanted := listed(read, name), slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
			if shown != wanted || listed(own, name) {
				t.Errorf("%s: is the setting %s shown? %t, want %t", node.Path(), name, shown, wanted)
			}
		}
		for _, p := range patterns {
			if !slices.ContainsFunc(settings, func(name string) bool { return matches(p, name) }) {
				t.Errorf("%s: %s is no setting", node.Path(), p)
			}
		}
	}
}

// listed reports whether a line of a help text begins with a flag.
func listed(text, flag string) bool {
	return regexp.MustCompile(`(?m)^ +--` + regexp.QuoteMeta(flag) + `(=|\s|$)`).MatchString(text)
}

func TestHelpSaysWhereTheSettingsAre(t *testing.T) {
	help := func(command ...string) string {
		t.Helper()
		r := atelie(t, t.TempDir(), "", append(command, "--help")...)
		if r.code != 0 {
			t.Errorf("%q: %+v", command, r)
		}
		return r.out
	}
	for _, command := range [][]string{nil, {"backup", "status"}, {"restore"}} {
		if out := help(command...); !strings.Contains(out, `Run "atelie serve --help" for all settings.`) || strings.Contains(out, "--max-rows") {
			t.Errorf("%q:\n%s", command, out)
		}
	}
	if out := help("backup"); !strings.Contains(out, "backup verify") || !strings.Contains(out, `Run "atelie backup <command> --help"`) || strings.Contains(out, "--data-dir") {
		t.Errorf("backup:\n%s", out)
	}
	if out := help("backup", "status"); !strings.Contains(out, "$ATELIE_BACKUP_URL") || strings.Index(out, "--json") > strings.Index(out, "--data-dir") {
		t.Errorf("backup status:\n%s", out)
	}
	if out := help("serve"); !strings.Contains(out, "$ATELIE_DATA_DIR") || !strings.Contains(out, "$ATELIE_MAX_ROWS") || strings.Contains(out, "for all settings") {
		t.Errorf("serve:\n%s", out)
	}
}

func TestHelpIsACommandToo(t *testing.T) {
	for _, command := range [][]string{nil, {"backup"}, {"backup", "status"}} {
		wanted := atelie(t, t.TempDir(), "", append(slices.Clone(command), "--help")...)
		if got := atelie(t, t.TempDir(), "", append([]string{"help"}, command...)...); got != wanted || got.code != 0 || got.out == "" {
			t.Errorf("%q: %+v, want %+v", command, got, wanted)
		}
	}
	if r := atelie(t, t.TempDir(), "", "help", "nothing"); r.code != 2 || !strings.Contains(r.err, "nothing") {
		t.Errorf("%+v", r)
	}
}
