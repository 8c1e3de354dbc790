// Package cli implements the command line of the program. Each command is in a file of its own, and is listed in the type commands; cli.go
// has the parser and the exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelie/internal/app"
	"atelie/internal/apperr"
	"atelie/internal/config"
	"atelie/internal/db"
)

// Exit codes of the program.
const (
	exitOK         = 0
	exitError      = 1 // the command failed
	exitUsage      = 2 // wrong arguments or settings
	exitNewer      = 3 // atelie upgrade --check: there is a newer release
	exitIncomplete = 4 // atelie import: something could not be imported
)

// exitStatus is an exit code as an error. A command that has printed its result returns an exitStatus to set the exit code. The function Run
// prints nothing for such an error.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// commands declares the whole command line for the library kong. Its fields are the commands and the settings (config.Config). Every setting
// is a flag of all commands, but the help of a command shows only the settings that the command reads. The tag settings of a command names
// them: "site" stands for the settings by which the site's database, files and secret are found, and "*" for all settings.
type commands struct {
	config.Config
	ConfigFile kong.ConfigFlag  `name:"config" type:"existingfile" env:"ATELIE_CONFIG" placeholder:"FILE" help:"JSON file with settings; their names are those of the flags."`
	Version    kong.VersionFlag `help:"Print the version."`

	Serve   serveCommand   `cmd:"" settings:"*" help:"Migrate and serve the site."`
	Demo    demoCommand    `cmd:"" settings:"site password-min-length max-upload vips" help:"Load the demo content; loading it again changes nothing."`
	Owner   ownerCommand   `cmd:"" settings:"site password-min-length" help:"Manage the accounts that may administer the site."`
	SSO     ssoCommand     `cmd:"" settings:"site site-url api-url saml signup" name:"sso" help:"Manage the identity providers of single sign-on."`
	Keys    keysCommand    `cmd:"" settings:"site" help:"Print, list, rotate and revoke the keys of the site."`
	Secret  secretCommand  `cmd:"" settings:"site" help:"Change the secret in the data folder, or replace a lost secret."`
	Mail    mailCommand    `cmd:"" settings:"site site-url smtp-url mail-from" help:"Test the mail settings."`
	Health  healthCommand  `cmd:"" settings:"config listen domains listen-http" help:"Check whether the server on this machine is ready; fail if it is not."`
	Media   mediaCommand   `cmd:"" settings:"site vips" help:"Verify pictures and videos and the files derived from them, or make derived files again."`
	Migrate migrateCommand `cmd:"" settings:"config data-dir database-url jwt-secret" help:"Migrate the database to the schema of this version."`
	Copy    copyCommand    `cmd:"" help:"Copy a site to another database and file store, and compare both."`
	Export  exportCommand  `cmd:"" settings:"site site-url api-url" help:"Write the whole site into one archive: rows, files, and pages that open from the disk."`
	Import  importCommand  `cmd:"" settings:"site site-url api-url max-upload storage-quota vips" help:"Import an archive into an empty site (atelie import FILE), or a Supabase project."`
	Restore restoreCommand `cmd:"" settings:"config data-dir backup-passphrase" help:"Rebuild a site in a new data folder from its backup."`
	Backup  backupCommand  `cmd:"" settings:"site backup-*" help:"Show the status of the backup, update it now, verify it, or list its restore points."`
	Show    configCommand  `cmd:"" settings:"*" name:"config" help:"Print every setting with its source; secrets are masked."`
	About   versionCommand `cmd:"" name:"version" help:"Print the version and the commit that the program was built from."`
	Upgrade upgradeCommand `cmd:"" settings:"config release-file" help:"Check whether the release file names a newer release."`

	PictureWorker pictureWorkerCommand `cmd:"" hidden:"" name:"picture-worker" help:"Make the renditions of one picture; the server starts this command itself."`
}

// environment is the argument of each command's Run method.
type environment struct {
	ctx    context.Context // ends when the program is signalled to stop
	cfg    *config.Config
	kong   *kong.Context // the parsed command line
	in     io.Reader     // standard input
	out    io.Writer     // receives the command's results
	outErr error         // the first error of writing to out in say
	errOut io.Writer     // receives logs and errors
	log    *slog.Logger
	now    func() time.Time // the clock
}

// exited is an exit code as a panic value. After --help and --version, kong calls an exit function that must not return. Therefore the exit
// function that Run passes to kong panics with an exited value, and Run recovers.
type exited int

// Run executes the command line and returns the exit code. Results go to out, logs and errors to errOut.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, version string) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exited:
			code = int(p)
		default:
			panic(p)
		}
	}()
	var (
		c    commands
		file settingsFile
	)
	parser, err := kong.New(&c, kong.Name("atelie"), kong.Description("The website that an artist runs to show work and take commissions."),
		kong.Vars{"version": version}, kong.Writers(out, errOut), kong.Configuration(file.read), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}), kong.Help(printHelp),
		kong.Exit(func(code int) { panic(exited(code)) }))
	if err != nil {
		return printErrors(errOut, err, exitError)
	}
	if len(args) > 0 && args[0] == "help" { // atelie help backup is atelie backup --help
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return printErrors(errOut, err, exitUsage)
	}
	if err := errors.Join(c.LoadOIDC(os.Environ(), file["oidc"]), c.Validate()); err != nil {
		return printErrors(errOut, err, exitUsage)
	}
	c.Build = version
	env := &environment{ctx: ctx, cfg: &c.Config, kong: parsed, in: in, out: out, errOut: errOut, log: newLogger(errOut), now: time.Now}
	err = parsed.Run(env)
	if err == nil {
		err = env.outErr
	}
	if err != nil {
		if ended, ok := errors.AsType[exitStatus](err); ok {
			return int(ended)
		}
		return printErrors(errOut, err, exitError)
	}
	return exitOK
}

// lockedText is printed for an SQLite database that stays locked.
const lockedText = "the database is locked: another program, usually the server, writes to it without a pause; run the command again when it writes less, or stop it first"

// printErrors writes one line per error and returns code. It leaves out the codes of apperr.Error, which are for programs.
func printErrors(w io.Writer, err error, code int) int {
	text := err.Error()
	if refusal, ok := errors.AsType[*apperr.Error](err); ok {
		text = strings.Replace(text, refusal.Code+": ", "", 1)
	}
	if db.IsLocked(err) {
		text = lockedText
	}
	for line := range strings.Lines(text) {
		_, _ = fmt.Fprintln(w, "atelie:", strings.TrimSpace(line))
	}
	return code
}

// newLogger returns a logger that writes text to a terminal, and JSON to anything else.
func newLogger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok {
		if stat, err := f.Stat(); err == nil && stat.Mode()&os.ModeCharDevice != 0 {
			return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: shortTime}))
		}
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}

// shortTime shortens the time of a log line to hours, minutes and seconds.
func shortTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
	}
	return a
}

// deriveURLs sets the site's URLs for a command that does not listen.
func (e *environment) deriveURLs() error {
	addr, err := e.cfg.ListenAddr()
	if err == nil {
		e.cfg.DeriveURLs(addr)
	}
	return err
}

// with opens the site without listening, runs fn and closes the site.
func (e *environment) with(fn func(*app.App) error) error {
	if err := e.deriveURLs(); err != nil {
		return err
	}
	e.cfg.BesideServer = true
	a, err := app.New(e.ctx, *e.cfg, e.log, e.now)
	if err != nil {
		return err
	}
	return errors.Join(fn(a), a.Close())
}

// say prints a part of the command's results. If printing fails, the command continues, and Run reports the error at the end.
func (e *environment) say(format string, args ...any) {
	if err := e.printf(format, args...); err != nil && e.outErr == nil {
		e.outErr = err
	}
}

func (e *environment) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.out, format, args...)
	return err
}
