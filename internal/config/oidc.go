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

// OIDC is one identity provider, set by ATELIE_OIDC_<NAME>_<FIELD> or by "oidc": {"<name>": {"<field>": …}} in the file.
// google, apple, github, facebook and discord know their addresses; any other name needs an issuer.
type OIDC struct {
	Name          string
	Issuer        string
	ClientIDs     []string
	ClientSecret  string
	Scopes        []string
	TeamID, KeyID string // Apple
	// Shown lists what was set and where, in the order of the fields, for the command that prints settings.
	Shown []Setting
}

// Setting is one value that was set outside the fixed list of flags.
type Setting struct {
	Name, Value, Source string
	Secret              bool
}

// WellKnownProviders need no issuer.
var WellKnownProviders = []string{"apple", "discord", "facebook", "github", "google"}

// reservedProviders are names that mean another way of signing in, in tokens and in the list of identities.
var reservedProviders = []string{"email", "phone", "anonymous", "anonymous_users", "saml", "sso", "web3"}

const oidcPrefix = "ATELIE_OIDC_"

type oidcField struct {
	suffix string
	secret bool
	set    func(*OIDC, string)
}

// oidcFields are what can be set. None ends like another: a name is taken apart from its end.
var oidcFields = []oidcField{
	{"ISSUER", false, func(o *OIDC, v string) { o.Issuer = v }},
	{"CLIENT_ID", false, func(o *OIDC, v string) { o.ClientIDs = words(v) }},
	{"CLIENT_SECRET", true, func(o *OIDC, v string) { o.ClientSecret = v }},
	{"SCOPES", false, func(o *OIDC, v string) { o.Scopes = words(v) }},
	{"TEAM_ID", false, func(o *OIDC, v string) { o.TeamID = v }},
	{"KEY_ID", false, func(o *OIDC, v string) { o.KeyID = v }},
}

// words splits at commas and spaces.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

var providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// LoadOIDC finds the identity providers in environ ("NAME=value", as os.Environ gives it) and in the file's part, which
// may be nil; the environment wins. A misspelt field stops the start. Empty values count as not set.
func (c *Config) LoadOIDC(environ []string, file any) error {
	found := map[string]map[string]Setting{} // by provider and field
	var errs []error
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
		errs = append(errs, readOIDCFile(file, put))
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, oidcPrefix)
		if !ours {
			continue
		}
		provider, field, ok := splitOIDC(rest)
		if !ok {
			errs = append(errs, fmt.Errorf("oidc: %s is not a setting: it should end in _ISSUER, _CLIENT_ID, _CLIENT_SECRET, _SCOPES, _TEAM_ID or _KEY_ID", name))
			continue
		}
		put(provider, field, Setting{Value: value, Source: "environment " + name})
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
	return errors.Join(errs...)
}

// splitOIDC takes GOOGLE_CLIENT_ID apart.
func splitOIDC(rest string) (provider, field string, ok bool) {
	for _, f := range oidcFields {
		if name, found := strings.CutSuffix(rest, "_"+f.suffix); found {
			return strings.ToLower(name), f.suffix, true
		}
	}
	return "", "", false
}

// fileField is a field's name in the file and in lists: client-id.
func fileField(suffix string) string { return strings.ToLower(strings.ReplaceAll(suffix, "_", "-")) }

func readOIDCFile(file any, put func(provider, field string, s Setting)) error {
	providers, ok := file.(map[string]any)
	if !ok {
		return errors.New(`config: "oidc" must be an object with one object a provider`)
	}
	var errs []error
	for _, provider := range slices.Sorted(maps.Keys(providers)) {
		fields, ok := providers[provider].(map[string]any)
		if !ok {
			errs = append(errs, fmt.Errorf("config: oidc %q must be an object", provider))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			value, isText := fields[name].(string)
			known := slices.IndexFunc(oidcFields, func(f oidcField) bool { return fileField(f.suffix) == name })
			if known < 0 || !isText {
				errs = append(errs, fmt.Errorf("config: oidc %q: %q is not a setting with a text", provider, name))
				continue
			}
			put(strings.ToLower(provider), oidcFields[known].suffix, Setting{Value: value, Source: "file"})
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateOIDC() error {
	var errs []error
	for _, o := range c.OIDC {
		mistake := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("oidc-"+o.Name+": "+format, args...))
		}
		wellKnown := slices.Contains(WellKnownProviders, o.Name)
		switch {
		case !providerName.MatchString(o.Name):
			mistake("the name may have letters, digits, - and _ only")
		case slices.Contains(reservedProviders, o.Name):
			mistake("this name means another way of signing in")
		}
		if len(o.ClientIDs) == 0 {
			mistake("the client id is missing")
		}
		if o.Issuer == "" && !wellKnown {
			mistake("the issuer is missing")
		} else if o.Issuer != "" && !isIssuer(o.Issuer) {
			mistake("the issuer %q is not an address such as https://id.example.com", o.Issuer)
		}
		if o.ClientSecret == "" && (o.Name == "github" || o.Name == "facebook" || o.Name == "discord") {
			mistake("the client secret is missing")
		}
		if o.Name == "apple" && (o.TeamID == "") != (o.KeyID == "") {
			mistake("the team id and the key id go together")
		} else if o.Name != "apple" && o.TeamID+o.KeyID != "" {
			mistake("only apple has a team id and a key id")
		}
	}
	return errors.Join(errs...)
}

// isIssuer takes http on this machine only: codes and secrets travel there.
func isIssuer(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1")
}
