package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"atelie/internal/app"
	"atelie/internal/auth"
	"atelie/internal/auth/saml"
)

// ssoCommand is the command atelie sso. It manages the identity providers of single sign-on: servers, for example of a company, that sign
// users in by SAML.
type ssoCommand struct {
	Info   ssoInfoCommand   `cmd:"" help:"Print the URLs with which an identity provider must be configured."`
	List   ssoListCommand   `cmd:"" help:"List the identity providers."`
	Add    ssoAddCommand    `cmd:"" help:"Add an identity provider by its metadata."`
	Remove ssoRemoveCommand `cmd:"" help:"Remove an identity provider and end the sessions of its people."`
	Renew  ssoRenewCommand  `cmd:"" name:"renew-key" help:"Make a new key pair for this site. Identity providers must then read its metadata again."`
}

// ssoInfoCommand is the command atelie sso info.
type ssoInfoCommand struct {
	ID string `arg:"" optional:"" help:"Print this identity provider as JSON instead."`
}

// Run prints the URLs of this site's service provider (its side of SAML), or one identity provider. If the site has no key pair, Run
// creates it, so that an identity provider can be configured before SAML is enabled.
func (c *ssoInfoCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		if c.ID != "" {
			p, err := a.Auth.SSOProviderByID(env.ctx, c.ID)
			if err != nil {
				return err
			}
			out, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				return err
			}
			return env.printf("%s\n", out)
		}
		info, err := a.Auth.SSOInfo(env.ctx)
		if err != nil {
			return err
		}
		state := "off: set ATELIE_SAML=on"
		if info.Enabled {
			state = "on"
		}
		return env.printf("Entity id:    %s\nMetadata:     %s\nACS URL:      %s\nSAML is %s.\n", info.EntityID, info.MetadataURL, info.ACSURL, state)
	})
}

type ssoListCommand struct{}

// Run prints a line for each identity provider.
func (c *ssoListCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		list, err := a.Auth.SSOProviders(env.ctx, "", "" /* no filters */)
		if err != nil {
			return err
		}
		for _, p := range list {
			state := "enabled"
			if p.Disabled {
				state = "disabled"
			}
			var domains []string
			for _, d := range p.Domains {
				domains = append(domains, d.Domain)
			}
			env.say("%s\t%s\t%s\t%s\n", p.ID, state, p.SAML.EntityID, strings.Join(domains, ","))
		}
		return nil
	})
}

type ssoAddCommand struct {
	MetadataURL      string   `help:"URL of the identity provider's metadata; it is read again when it is stale." xor:"metadata" required:""`
	MetadataFile     string   `help:"File with the identity provider's metadata." type:"existingfile" xor:"metadata" required:""`
	Domain           []string `help:"E-mail domain whose people sign in there; may be given several times."`
	AttributeMapping string   `help:"JSON file that maps attributes to claims." type:"existingfile"`
	NameIDFormat     string   `help:"Format of the name that is requested. Default: persistent." enum:",persistent,email,transient,unspecified" default:""`
	ResourceID       string   `help:"Your own name for the provider."`
}

var nameIDFormats = map[string]string{
	"": "", "persistent": saml.NameIDPersistent, "email": saml.NameIDEmail, "transient": saml.NameIDTransient, "unspecified": saml.NameIDUnspecified,
}

func (c *ssoAddCommand) Run(env *environment) error {
	format := nameIDFormats[c.NameIDFormat]
	change := auth.SSOProviderChange{Type: "saml", MetadataURL: c.MetadataURL, Domains: c.Domain, NameIDFormat: &format}
	if c.ResourceID != "" {
		change.ResourceID = &c.ResourceID
	}
	if c.MetadataFile != "" {
		text, err := os.ReadFile(c.MetadataFile)
		if err != nil {
			return err
		}
		change.MetadataXML = string(text)
		if change.MetadataXML == "" {
			return errors.New("the metadata file is empty")
		}
	}
	if c.AttributeMapping != "" {
		text, err := os.ReadFile(c.AttributeMapping)
		if err != nil {
			return err
		}
		change.AttributeMapping = new(saml.Mapping)
		if err := json.Unmarshal(text, change.AttributeMapping); err != nil {
			return fmt.Errorf("attribute mapping: %w", err)
		}
	}
	return env.with(func(a *app.App) error {
		p, err := a.Auth.AddSSOProvider(env.ctx, change)
		if err != nil {
			return err
		}
		env.say("%s\t%s\n", p.ID, p.SAML.EntityID)
		info, err := a.Auth.SSOInfo(env.ctx)
		if err != nil {
			return err
		}
		if !info.Enabled {
			env.log.Warn("SAML is off: nobody can sign in by this provider until ATELIE_SAML=on is set")
		}
		if !info.SignupOpen {
			env.log.Warn("sign-up is closed: people without an account are refused until ATELIE_SIGNUP=open is set")
		}
		return nil
	})
}

type ssoRemoveCommand struct {
	ID string `arg:"" help:"Id of the identity provider, or resource_ followed by your own name for it."`
}

func (c *ssoRemoveCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		p, err := a.Auth.RemoveSSOProvider(env.ctx, c.ID)
		if err != nil {
			return err
		}
		return env.printf("%s is removed; the sessions of its people have ended.\n", p.SAML.EntityID)
	})
}

type ssoRenewCommand struct{}

func (c *ssoRenewCommand) Run(env *environment) error {
	return env.with(func(a *app.App) error {
		if err := a.Auth.RenewSSOKey(env.ctx); err != nil {
			return err
		}
		info, err := a.Auth.SSOInfo(env.ctx)
		if err != nil {
			return err
		}
		return env.printf("The key is new. Identity providers must read %s again.\n", info.MetadataURL)
	})
}
