package cli

import (
	"errors"
	"net"

	"atelie/internal/app"
)

type serveCommand struct {
	Demo bool `help:"Load the demo content first, with a ready owner account."`
}

// Run listens first, so that a taken port is told before anything is touched.
func (c *serveCommand) Run(env *environment) error {
	server := env.cfg.Server
	address := server.Listen
	if len(server.Domain) > 0 {
		address = server.ListenHTTPS
	}
	listener, err := listen(env.ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // Serve has closed it already, except when the start failed
	serve := func(a *app.App) error { return a.Serve(env.ctx, listener) }
	if len(server.Domain) > 0 {
		plain, err := listen(env.ctx, server.ListenHTTP)
		if err != nil {
			return err
		}
		defer func() { _ = plain.Close() }()
		serve = func(a *app.App) error { return a.ServeSecure(env.ctx, listener, plain) }
	}
	env.cfg.DeriveURLs(listener.Addr())
	if err := env.cfg.Prepare(); err != nil {
		return err
	}
	a, err := app.New(env.ctx, *env.cfg, env.log, env.now)
	if err != nil {
		return err
	}
	return errors.Join(c.run(env, a, listener, serve), a.Close())
}

func (c *serveCommand) run(env *environment, a *app.App, listener net.Listener, serve func(*app.App) error) error {
	if c.Demo {
		if err := loadDemo(env, a); err != nil {
			return err
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
