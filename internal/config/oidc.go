package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// OIDC contains the settings of one identity provider: a service such as Google, by which users sign in with OAuth or OpenID Connect.
// LoadOIDC reads the settings from environment variables such as ATELIE_OIDC_GOOGLE_CLIENT_ID, or from the settings file. In the file, this
// example is "oidc": {"google": {"client-id": …}}.
type OIDC struct {
	Name          string   // chosen by the operator (who runs the server), or one of WellKnownProviders
	Issuer        string   // URL of the provider; "" selects the default issuer of one of WellKnownProviders
	ClientIDs     []string // ids of this site at the provider
	ClientSecret  string
	Scopes        []string // requested in addition to the scopes for name and e-mail address
	TeamID, KeyID string   // only for Apple
	// Shown has the settings with a value, in the order of oidcFields, for the command atelie config.
	Shown []Setting
}

// Setting is a setting as the command atelie config prints it. Source is where the value comes from, such as an environment variable.
type Setting struct {
	Name, Value, Source string
	Secret              bool // the value must be masked
}

// WellKnownProviders are the providers that have a default issuer.
var WellKnownProviders = []string{"apple", "discord", "facebook", "github", "google"}

// reservedProviders are names that a provider must not have, because tokens and identities use them for other ways to sign in.
var reservedProviders = []string{"email", "phone", "anonymous", "anonymous_users", "saml", "sso", "web3"}

// oidcPrefix begins the names of the environment variables.
const oidcPrefix = "ATELIE_OIDC_"

// oidcField is one setting of a provider.
type oidcField struct {
	suffix string              // end of the environment variable's name
	secret bool                // the value must be masked
	set    func(*OIDC, string) // stores the value
}

// oidcFields are the settings of a provider. No suffix may end with another suffix, because LoadOIDC finds the field by the end of a
// variable's name.
var oidcFields = []oidcField{
	{"ISSUER", false, func(o *OIDC, v string) { o.Issuer = v }},
	{"CLIENT_ID", false, func(o *OIDC, v string) { o.ClientIDs = splitWords(v) }},
	{"CLIENT_SECRET", true, func(o *OIDC, v string) { o.ClientSecret = v }},
	{"SCOPES", false, func(o *OIDC, v string) { o.Scopes = splitWords(v) }},
	{"TEAM_ID", false, func(o *OIDC, v string) { o.TeamID = v }},
	{"KEY_ID", false, func(o *OIDC, v string) { o.KeyID = v }},
}

// splitWords splits a text at commas and spaces.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// providerName matches the names that an operator may choose for a provider.
var providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// LoadOIDC reads the identity providers from environ (in the form of os.Environ) and from file (the "oidc" object of the settings file, or
// nil). The environment takes precedence. A misspelt field is an error. An empty value is ignored.
func (c *Config) LoadOIDC(environ []string, file any) error {
	found := map[string]map[string]Setting{} // the settings found so far, by provider and field
	var m mistakes
	put := func(provider, field string, s Setting) {
		if s.Value = strings.TrimSpace(s.Value); s.Value == "" {
			return
		}
		if found[provider] == nil {
			found[provider] = map[string]Setting{}
		}
		found[provider][field] = s
	}
	if file != nil {
		m.add(readOIDCFile(file, put))
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, oidcPrefix)
		if !ours {
			continue
		}
		field := slices.IndexFunc(oidcFields, func(f oidcField) bool { return strings.HasSuffix(rest, "_"+f.suffix) })
		if field < 0 {
			m.add(fmt.Errorf("oidc: %s is not a setting: it should end in _ISSUER, _CLIENT_ID, _CLIENT_SECRET, _SCOPES, _TEAM_ID or _KEY_ID", name))
			continue
		}
		suffix := oidcFields[field].suffix
		put(strings.ToLower(strings.TrimSuffix(rest, "_"+suffix)), suffix, Setting{Value: value, Source: "environment " + name})
	}
	c.OIDC = nil
	for _, name := range slices.Sorted(maps.Keys(found)) {
		o := OIDC{Name: name}
		for _, f := range oidcFields {
			s, set := found[name][f.suffix]
			if !set {
				continue
			}
			f.set(&o, s.Value)
			s.Name, s.Secret = "oidc-"+name+"-"+fileField(f.suffix), f.secret
			o.Shown = append(o.Shown, s)
		}
		c.OIDC = append(c.OIDC, o)
	}
	return m.join()
}

// fileField returns the name of a field in the settings file and in atelie config, for example client-id for CLIENT_ID.
func fileField(suffix string) string { return strings.ToLower(strings.ReplaceAll(suffix, "_", "-")) }

func readOIDCFile(file any, put func(provider, field string, s Setting)) error {
	providers, ok := file.(map[string]any)
	if !ok {
		return errors.New(`config: "oidc" must be an object with one object a provider`)
	}
	var m mistakes
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		fields, ok := providers[provider].(map[string]any)
		if !ok {
			m.add(fmt.Errorf("config: oidc %q must be an object", provider))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			value, isText := fields[name].(string)
			known := slices.IndexFunc(oidcFields, func(f oidcField) bool { return fileField(f.suffix) == name })
			if known < 0 || !isText {
				m.add(fmt.Errorf("config: oidc %q: %q is not a setting with a text", provider, name))
				continue
			}
			put(strings.ToLower(provider), oidcFields[known].suffix, Setting{Value: value, Source: "file"})
		}
	}
	return m.join()
}

func (c *Config) validateOIDC() error {
	var m mistakes
	for _, o := range c.OIDC {
		check := func(wrong bool, text string) { m.addIf(wrong, "oidc-%s: %s", o.Name, text) }
		named := providerName.MatchString(o.Name)
		check(!named, "the name may have letters, digits, - and _ only")
		check(named && slices.Contains(reservedProviders, o.Name), "this name means another way of signing in")
		check(len(o.ClientIDs) == 0, "the client id is missing")
		check(o.Issuer == "" && !slices.Contains(WellKnownProviders, o.Name), "the issuer is missing")
		check(o.Issuer != "" && !isIssuer(o.Issuer), fmt.Sprintf("the issuer %q is not a URL such as https://id.example.com", o.Issuer))
		check(o.ClientSecret == "" && (o.Name == "github" || o.Name == "facebook" || o.Name == "discord"), "the client secret is missing")
		check(o.Name == "apple" && (o.TeamID == "") != (o.KeyID == ""), "the team id and the key id must both be set or both be missing")
		check(o.Name != "apple" && o.TeamID+o.KeyID != "", "only apple has a team id and a key id")
	}
	return m.join()
}

// isIssuer reports whether a URL may be an issuer. It must be https, or http on this machine, because codes and secrets are
// sent to it.
func isIssuer(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && isThisMachine(u.Hostname())
}
