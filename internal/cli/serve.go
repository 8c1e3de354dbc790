package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"atelie/internal/app"
	"atelie/internal/datafolder"
	"atelie/internal/db"
)

// firstSizesTimeout limits how long a start with demo content waits until the first renditions (resized copies) of its pictures are made. On
// two processors this takes some seconds. After the timeout the server starts anyway, and pages show the uploaded files until jobs have made
// the renditions. It is a variable because a test raises it for busy machines.
var firstSizesTimeout = 15 * time.Second

// serveCommand is the command atelie serve, the server itself.
type serveCommand struct {
	Demo bool `help:"Load the demo content first, and create an owner account for it."`
	New  bool `help:"Create a missing database or file store although other parts of the site, such as the secret, exist."`
}

// Run opens the ports and then serves the site. It opens the ports first, so that a port in use is reported before any data is changed.
func (c *serveCommand) Run(env *environment) error {
	server := env.cfg.Server
	listenAddr := server.Listen
	usesHTTPS := len(server.Domain) > 0
	if usesHTTPS {
		listenAddr = server.ListenHTTPS
	}
	listener, err := listen(env.ctx, listenAddr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // for a start that fails; Serve closes the listener too
	var metrics net.Listener
	if server.MetricsListen != "" {
		if metrics, err = listen(env.ctx, server.MetricsListen); err != nil {
			return err
		}
		defer func() { _ = metrics.Close() }()
		env.log.Info("metrics", "address", metrics.Addr().String())
	}
	serve := func(a *app.App) error { return a.Serve(env.ctx, listener, metrics /* nil if metrics are off */) }
	if usesHTTPS {
		plain, err := listen(env.ctx, server.ListenHTTP)
		if err != nil {
			return err
		}
		defer func() { _ = plain.Close() }()
		serve = func(a *app.App) error { return a.ServeSecure(env.ctx, listener, plain, metrics) }
	}
	env.cfg.DeriveURLs(listener.Addr())
	env.cfg.New = c.New
	if env.cfg.Database.URL != "" { // PostgreSQL: several nodes may serve the site, so the data folder is not locked
		warnOfUnusedDatabase(env)
		return c.start(env, listener, serve)
	}
	if err := datafolder.Prepare(env.cfg.Server.DataDir, env.log); err != nil {
		return err
	}
	release, err := datafolder.Lock(env.cfg.Server.DataDir)
	if err != nil {
		return err
	}
	return errors.Join(c.start(env, listener, serve), release())
}

// warnOfUnusedDatabase logs a warning if the data folder has an SQLite database, which is not used while database-url is set. It may
// be the database of a restored site.
func warnOfUnusedDatabase(env *environment) {
	file := filepath.Join(env.cfg.Server.DataDir, datafolder.Database)
	if _, err := os.Stat(file); err != nil { // app.New reports other errors than a missing file
		return
	}
	env.log.Warn("the database in the data folder is not used, because database-url names another; if the site was restored into this folder, unset database-url, or copy the site with atelie copy", "unused", file)
}

// start opens the site and serves it. With SQLite it releases all leases: Run has locked the data folder, so the leases belong
// to no running server.
func (c *serveCommand) start(env *environment, listener net.Listener, serve func(*app.App) error) error {
	a, err := app.New(env.ctx, *env.cfg, env.log, env.now)
	if err != nil {
		return err
	}
	if a.DB.Dialect == db.SQLite {
		err = a.ReleaseLeases(env.ctx)
	}
	if err == nil {
		err = c.run(env, a, listener, serve)
	}
	return errors.Join(err, a.Close())
}

// run loads the demo content if c.Demo is true, prints the site's URL and, if there is no owner, a set-up link, and serves the
// site.
func (c *serveCommand) run(env *environment, a *app.App, listener net.Listener, serve func(*app.App) error) error {
	if c.Demo {
		if err := loadDemo(env, a); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(env.ctx, firstSizesTimeout)
		err := a.Media.MakeFirstSizes(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			env.log.Warn("some pictures of the demo content have no first size yet: jobs make them, and pages show the stored files until then", "cause", err.Error())
		}
	}
	hasOwner, err := a.Auth.HasOwner(env.ctx)
	if err != nil {
		return err
	}
	if err := env.printf("Ateliê: %s\n", env.cfg.Server.SiteURL); err != nil {
		return err
	}
	if !hasOwner {
		token, err := a.Auth.NewSetupLink(env.ctx)
		if err != nil {
			return err
		}
		if err := env.printf("This site has no owner yet. Choose your password here (valid once, for 24 hours):\n  %s/admin/auth?setup=%s\n", env.cfg.Server.SiteURL, token); err != nil {
			return err
		}
	}
	env.log.Info("listening", "address", listener.Addr().String(), "site", env.cfg.Server.SiteURL, "database", string(a.DB.Dialect))
	return serve(a)
}

// listen opens a listener on a TCP address (host:port). The operator reads the texts of its errors, so these say what to do.
func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port (%w)", address, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: not allowed; ports below 1024 need the right CAP_NET_BIND_SERVICE, as in deploy/atelie.service (%w)", address, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this machine has no such address (%w)", address, err)
	case err != nil:
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}
