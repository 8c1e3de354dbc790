package cli

import (
	"errors"
	"fmt"
	"time"

	"atelie/internal/apikeys"
	"atelie/internal/app"
	"atelie/internal/identity"
)

// keysCommand is the command atelie keys. It manages the two API keys of the site, the public key (role anon) and the service key (role
// service_role), and rotates the key that signs access tokens. The versions of an API key are numbered by generation; a rotation creates the
// next generation.
type keysCommand struct {
	Print  keysPrintCommand  `cmd:"" settings:"site listen domains listen-https site-url api-url" default:"1" help:"Print the public key and the service key, in dotenv form."`
	List   keysListCommand   `cmd:"" help:"List the generations of both keys, and whether an earlier secret is still needed."`
	Rotate keysRotateCommand `cmd:"" settings:"site jwt-algorithm" help:"Make a new public or service key, or a new key that signs access tokens."`
	Revoke keysRevokeCommand `cmd:"" help:"Revoke a public or service key, on all nodes within a second."`
}

type keysPrintCommand struct{}

// Run prints both API keys and the URL that supabase-js needs. It opens the site with app.Open, which checks that the secret belongs to the
// database. Keys that are made with another secret would not work.
func (c *keysPrintCommand) Run(env *environment) error {
	if err := env.deriveURLs(); err != nil {
		return err
	}
	env.cfg.BesideServer = true
	site, err := app.Open(env.ctx, env.cfg, env.log, env.now)
	if err != nil {
		return err
	}
	keys, err := newestKeys(env, site)
	if err := errors.Join(err, site.Close()); err != nil {
		return err
	}
	return env.printf("ANON_KEY=%s\nSERVICE_ROLE_KEY=%s\nURL=%s\n", keys[identity.Anon], keys[identity.Service], env.cfg.Server.APIURL)
}

// newestKeys returns the newest generation of the public key and of the service key, by role.
func newestKeys(env *environment, site *app.Site) (map[identity.Role]string, error) {
	keys := map[identity.Role]string{}
	tokens := identity.New(identity.Config{Secret: []byte(site.Secret)}, env.now)
	for _, role := range []identity.Role{identity.Anon, identity.Service} {
		generation, err := apikeys.Newest(env.ctx, site.DB, role)
		if err != nil {
			return nil, err
		}
		if keys[role], err = tokens.KeyOf(role, generation); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// roleOf returns the role of the API key with a name on the command line: identity.Anon for "anon" and "public", identity.Service for
// "service" and "elevated". The parser allows no other names.
func roleOf(name string) identity.Role {
	if name == "anon" || name == "public" {
		return identity.Anon
	}
	return identity.Service
}

// keyName returns the name of a role's API key in the output.
func keyName(role identity.Role) string {
	if role == identity.Anon {
		return "anon"
	}
	return "service"
}

type keysListCommand struct{}

// Run prints one line for each generation of both API keys, without the keys themselves.
func (c *keysListCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		list, err := a.Keys.List(env.ctx)
		if err != nil {
			return err
		}
		for _, g := range list {
			made, state := "original", "valid"
			if g.Created != nil {
				made = "made " + g.Created.Format(time.RFC3339)
			}
			if g.Revoked != nil {
				state = "revoked " + g.Revoked.Format(time.RFC3339)
			}
			env.say("%-8s %3d  %-26s %s\n", keyName(g.Role), g.Number, made, state)
		}
		return printPrevious(env, a)
	})
}

// printPrevious prints whether the previous secret is still needed, if there is one.
func printPrevious(env *environment, a *app.App) error {
	if !a.HasPreviousSecret() {
		return nil
	}
	found, err := a.Reseal(env.ctx, false /* only count */)
	if err != nil {
		return err
	}
	if found > 0 {
		return env.printf("The previous secret is needed: %d values are encrypted with it.\n", found)
	}
	return env.printf("No value is encrypted with the previous secret any more: it may be removed.\n")
}

type keysRotateCommand struct {
	Key       string `arg:"" optional:"" default:"" enum:"anon,public,service,elevated," help:"anon or public for the public key, service or elevated for the service key. Without a key: as with --signing."`
	Signing   bool   `help:"Make a new key that signs access tokens, with jwt-algorithm ES256. The other keys stay."`
	RevokeOld bool   `help:"Revoke all older keys of this kind at once."`
}

// Run creates the next generation of a key. Without a key it rotates the signing key, as earlier versions did.
func (c *keysRotateCommand) Run(env *environment) error {
	if c.Key == "" || c.Signing {
		if c.Key != "" || c.RevokeOld {
			return errors.New("keys rotate: --signing goes without a key and without --revoke-old; earlier signing keys end by themselves")
		}
		return rotateSigningKey(env)
	}
	role := roleOf(c.Key)
	return env.with(func(a *app.App) error {
		number, err := a.Keys.Rotate(env.ctx, role, c.RevokeOld)
		if err != nil {
			return err
		}
		older := "Older ones stay valid until they are revoked."
		if c.RevokeOld {
			older = "All older ones are revoked."
		}
		return env.printf("The %s key has generation %d now; atelie keys prints it. %s\n", keyName(role), number, older)
	})
}

func rotateSigningKey(env *environment) error {
	return env.with(func(a *app.App) error {
		id, from, err := a.Auth.RotateSigningKey(env.ctx)
		if err != nil {
			return err
		}
		return env.printf("Key %s is published now and signs from %s on. Nobody is signed out.\n", id, from.Format(time.RFC3339))
	})
}

type keysRevokeCommand struct {
	Key        string `arg:"" enum:"anon,public,service,elevated" help:"anon or public for the public key, service or elevated for the service key."`
	Generation int    `arg:"" help:"Its number, as atelie keys list shows it."`
}

// Run revokes a key. Programs that still use it are rejected from then on, so Run prints what to do next.
func (c *keysRevokeCommand) Run(env *environment) error {
	role := roleOf(c.Key)
	return env.with(func(a *app.App) error {
		added, err := a.Keys.Revoke(env.ctx, role, c.Generation)
		if err != nil {
			return fmt.Errorf("%s key %d: %w", keyName(role), c.Generation, err)
		}
		text := fmt.Sprintf("Generation %d of the %s key is void on all nodes within a second.\n", c.Generation, keyName(role))
		if added > 0 {
			text += fmt.Sprintf("It was the last one: generation %d takes its place, atelie keys prints it.\n", added)
		}
		if added > 0 && role == identity.Anon {
			text += "The site's pages use it already. Pages that are open must be loaded again.\n"
		}
		return env.printf("%s", text)
	})
}
