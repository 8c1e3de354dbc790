package config

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// CDN holds the settings for shared caches in front of the site, such as a CDN. The comment on Config explains the tags of the fields.
type CDN struct {
	On          Switch `name:"cdn" env:"ATELIE_CDN" default:"off" help:"Allow shared caches, such as a CDN or nginx, to store public pages and files for one second. Everything else is marked private."`
	PurgeURL    string `name:"cdn-purge-url" env:"ATELIE_CDN_PURGE_URL" secret:"url" help:"URL of the CDN's purge API, called (POST) after each change, so that pages with the tag atelie-pages may be stored for longer. Off when empty."`
	PurgeHeader string `name:"cdn-purge-header" env:"ATELIE_CDN_PURGE_HEADER" secret:"yes" help:"Header of the purge request with the CDN's token: \"Name: value\"."`
	PurgeBody   string `name:"cdn-purge-body" env:"ATELIE_CDN_PURGE_BODY" default:"{\"tags\":[\"atelie-pages\"]}" help:"Body of the purge request, JSON or empty."`
}

// headerName matches the names that the header of a purge request may have.
var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// validateCDN checks the settings in CDN.
func (c *Config) validateCDN() error {
	var m mistakes // collects the errors of all settings, so that the operator sees them at once
	if c.CDN.PurgeHeader != "" {
		name, value, isHeader := strings.Cut(c.CDN.PurgeHeader, ":")
		m.addIf(!isHeader || !headerName.MatchString(name) || strings.TrimSpace(value) == "" || strings.ContainsFunc(value, unicode.IsControl),
			"cdn-purge-header: must be a header such as \"Authorization: Bearer …\"")
		m.addIf(c.CDN.PurgeURL == "", "cdn-purge-header: needs cdn-purge-url")
	}
	m.addIf(c.CDN.PurgeBody != "" && !json.Valid([]byte(c.CDN.PurgeBody)), "cdn-purge-body: must be JSON")
	if c.CDN.PurgeURL == "" {
		return m.join()
	}
	m.addIf(!bool(c.CDN.On), "cdn-purge-url: needs cdn=on, without which nothing is stored")
	u, err := url.Parse(c.CDN.PurgeURL)
	// The setting webhook-private also allows http://, for a purge API in a private network.
	m.addIf(err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !bool(c.Mail.WebhookPrivate)),
		"cdn-purge-url: must begin with https:// and have no user name (with webhook-private=on also http://)")
	return m.join()
}
