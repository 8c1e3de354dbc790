// Package cli has one file a command. It is the only place that decides the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelie/internal/app"
	"atelie/internal/apperr"
	"atelie/internal/config"
)

// Exit codes: 1 for a failure while working, 2 for a call or a setting that is wrong.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

type commands struct {
	config.Config
	ConfigFile kong.ConfigFlag  `name:"config" type:"existingfile" env:"ATELIE_CONFIG" help:"JSON file with settings, named as the flags are."`
	Version    kong.VersionFlag `help:"Print the version."`

	Serve   serveCommand   `cmd:"" help:"Migrate and serve the site."`
	Demo    demoCommand    `cmd:"" help:"Load the demo content; a second time changes nothing."`
	Owner   ownerCommand   `cmd:"" help:"Manage the accounts that may administer the site."`
	SSO     ssoCommand     `cmd:"" name:"sso" help:"Manage the identity providers of single sign-on."`
	Keys    keysCommand    `cmd:"" help:"Print the keys of the site, or make a new one for access tokens."`
	Mail    mailCommand    `cmd:"" help:"Try the settings of mail."`
	Health  healthCommand  `cmd:"" help:"Ask the server on this machine whether it is ready; fails when it is not."`
	Media   mediaCommand   `cmd:"" help:"Check the smaller pictures that pages show, or make them again."`
	Migrate migrateCommand `cmd:"" help:"Bring the database up to date."`
	Copy    copyCommand    `cmd:"" help:"Copy a site to another database and another place for files, and compare the two."`
	Show    configCommand  `cmd:"" name:"config" help:"Print every setting with its source, secrets masked."`

	PictureWorker pictureWorkerCommand `cmd:"" hidden:"" name:"picture-worker" help:"Make the renditions of one picture; the program calls itself so."`
}

// environment is what a command gets besides its own flags.
type environment struct {
	ctx    context.Context
	cfg    *config.Config
	kong   *kong.Context
	in     io.Reader
	out    io.Writer // for people and scripts
	log    *slog.Logger
	now    func() time.Time
	errOut io.Writer
}

// exited carries kong's wish to end (after --help or --version) up to Run.
type exited int

// Run executes the command line and gives the exit code. Output for people goes to out, logs and errors to errOut.
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
		kong.Vars{"version": version}, kong.Writers(out, errOut), kong.Configuration(file.read), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(code int) { panic(exited(code)) }))
	if err != nil {
		return complain(errOut, err, exitError)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return complain(errOut, err, exitUsage)
	}
	if err := errors.Join(c.LoadOIDC(os.Environ(), file["oidc"]), c.Validate()); err != nil {
		return complain(errOut, err, exitUsage)
	}
	c.Build = version
	env := &environment{ctx: ctx, cfg: &c.Config, kong: parsed, in: in, out: out, errOut: errOut, log: newLogger(errOut), now: time.Now}
	if err := parsed.Run(env); err != nil {
		return complain(errOut, err, exitError)
	}
	return exitOK
}

// complain writes each mistake on a line of its own. The codes of refusals are for programs and stay away.
func complain(w io.Writer, err error, code int) int {
	text := err.Error()
	var refusal *apperr.Error
	if errors.As(err, &refusal) {
		text = strings.Replace(text, refusal.Code+": ", "", 1)
	}
	for line := range strings.Lines(text) {
		_, _ = fmt.Fprintln(w, "atelie:", strings.TrimSpace(line))
	}
	return code
}

// newLogger writes JSON, or plain lines when a person watches on a terminal.
func newLogger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok {
		if stat, err := f.Stat(); err == nil && stat.Mode()&os.ModeCharDevice != 0 {
			return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: shortTime}))
		}
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}

func shortTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
	}
	return a
}

// open builds the program for a command that works without listening.
func (e *environment) open() (*app.App, error) {
	if err := e.prepare(); err != nil {
		return nil, err
	}
	return app.New(e.ctx, *e.cfg, e.log, e.now)
}

func (e *environment) prepare() error {
	addr, err := e.cfg.ListenAddr()
	if err != nil {
		return err
	}
	e.cfg.DeriveURLs(addr)
	return e.cfg.Prepare()
}

// with runs fn on the opened program and closes it.
func (e *environment) with(fn func(*app.App) error) error {
	a, err := e.open()
	if err != nil {
		return err
	}
	return errors.Join(fn(a), a.Close())
}

func (e *environment) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.out, format, args...)
	return err
}
