// Package config declares all settings with their names, defaults and help. A setting gets its value from the first of these sources that
// has one: its flag, its environment variable, the settings file, its default.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config holds all settings, in sections. A new setting is a new field in a section. The library kong (which parses the command line) reads
// the tags of the fields: the names of the flag and of the environment variable, the default and the help. The command atelie config reads
// the tag secret: "yes" masks the whole value, "url" the password in a URL.
type Config struct {
	Server   Server   `embed:""`
	Database Database `embed:""`
	Storage  Storage  `embed:""`
	Backup   Backup   `embed:""`
	Pictures Pictures `embed:""`
	CDN      CDN      `embed:""`
	Realtime Realtime `embed:""`
	Auth     Auth     `embed:""`
	Mail     Mail     `embed:""`
	SMS      SMS      `embed:""`

	// OIDC are the identity providers, set by LoadOIDC. They have no flags, because the operator chooses their names.
	OIDC []OIDC `kong:"-"`
	// Build is the version of the program. It is not a setting.
	Build string `kong:"-"`
	// New is the flag --new of some commands. If it is true, a missing database or file store is created even if other parts of the site
	// exist. If it is false, the start fails in that case, because the missing part may be lost, or a setting may name a wrong folder.
	New bool `kong:"-"`
	// BesideServer is set by commands that can run while a server uses the same site. They wait longer for the lock of an SQLite database.
	BesideServer bool `kong:"-"`
}

// Server contains the settings of the server: its data folder, its addresses, and the files and services that it depends on.
type Server struct {
	DataDir string `name:"data-dir" env:"ATELIE_DATA_DIR" default:"./data" help:"Folder for the database, the files and the generated secret."`
	Listen  string `name:"listen" env:"ATELIE_LISTEN" default:"127.0.0.1:8000" help:"Address to listen on, host:port."`
	SiteURL string `name:"site-url" env:"ATELIE_SITE_URL" help:"Public URL of the site. Default: derived from the listen address."`
	APIURL  string `name:"api-url" env:"ATELIE_API_URL" help:"Public URL of the backend. Default: the URL of the site."`

	// Settings for HTTPS. Domain has the domain names as the operator wrote them; the method Domains returns them in normalized form.
	Domain        []string `name:"domains" env:"ATELIE_DOMAIN" help:"Domain names of the site; the first is the main one. Turns on HTTPS: certificates are obtained and renewed automatically. You accept the terms of the certificate authority (Let's Encrypt, if no other is set)."`
	ListenHTTPS   string   `name:"listen-https" env:"ATELIE_LISTEN_HTTPS" default:":443" help:"With a domain: address to listen on for HTTPS."`
	ListenHTTP    string   `name:"listen-http" env:"ATELIE_LISTEN_HTTP" default:":80" help:"With a domain: address to listen on for HTTP, which answers the certificate authority and redirects to HTTPS."`
	ACMEEmail     string   `name:"acme-email" env:"ATELIE_ACME_EMAIL" help:"E-mail address to which the certificate authority writes when something is wrong."`
	ACMEDirectory string   `name:"acme-directory" env:"ATELIE_ACME_DIRECTORY" help:"ACME directory URL of another certificate authority. Default: Let's Encrypt."`
	ACMERoots     string   `name:"acme-roots" env:"ATELIE_ACME_ROOTS" help:"PEM file with the root certificates that verify the connection to the certificate authority. Default: those of the system."`

	DiskWarn       Bytes    `name:"disk-warn" env:"ATELIE_DISK_WARN" default:"1GiB" help:"Warn the owners when the disk of the data folder has less free space than this. 0 for never."`
	TrustedProxies []string `name:"trusted-proxies" env:"ATELIE_TRUSTED_PROXIES" help:"Addresses or networks of proxies whose X-Forwarded-For is trusted."`
	ReleaseFile    string   `name:"release-file" env:"ATELIE_RELEASE_FILE" secret:"url" placeholder:"FILE|URL" help:"File or https URL that names the newest release. The server reads it once a day and shows a newer release in the overview; atelie upgrade --check reads it too. When empty, the program does not look for newer releases."`
	MetricsListen  string   `name:"metrics-listen" env:"ATELIE_METRICS_LISTEN" help:"Address to listen on for metrics (GET /metrics, for Prometheus), host:port. Everybody who can reach it can read them, so use the loopback address or a private network. Off when empty."`
}

// Database contains the database's URL and the limit of one read.
type Database struct {
	URL     string `name:"database-url" env:"ATELIE_DATABASE_URL" secret:"url" help:"URL of a PostgreSQL database, postgres://… . Default: SQLite in the data folder."`
	MaxRows int    `name:"max-rows" env:"ATELIE_MAX_ROWS" default:"1000" help:"Largest number of rows that one read of a table returns."`
}

// Storage contains the URL of the file store, the limits of one upload, and the limit of all files together.
type Storage struct {
	URL          string        `name:"storage-url" env:"ATELIE_STORAGE_URL" secret:"url" help:"Where files are stored: s3://KEY:SECRET@host[:port]/bucket[/prefix], with the parameters region=, tls=off, path-style=off, create=on. Default: the data folder."`
	MaxUpload    Bytes         `name:"max-upload" env:"ATELIE_MAX_UPLOAD" default:"2GiB" help:"Largest file that may be uploaded."`
	UploadExpiry time.Duration `name:"upload-expiry" env:"ATELIE_UPLOAD_EXPIRY" default:"24h" help:"How long a resumable upload may take, from its beginning."`
	Quota        Bytes         `name:"storage-quota" env:"ATELIE_STORAGE_QUOTA" default:"0" help:"Largest size of all files together. 0 for no limit."`
}

// Pictures contains the setting of the program that makes renditions (resized copies of pictures).
type Pictures struct {
	Vips string `name:"vips" env:"ATELIE_VIPS" default:"auto" help:"The vips command of libvips-tools, which makes renditions with less CPU and adds AVIF and HEIC: auto (use it if it is found), off, or its absolute path."`
}

// Realtime holds the limits of live connections.
type Realtime struct {
	MaxSockets           int `name:"max-sockets" env:"ATELIE_MAX_SOCKETS" default:"10000" help:"Largest number of live connections of one node."`
	MaxSocketsPerAddress int `name:"max-sockets-per-address" env:"ATELIE_MAX_SOCKETS_PER_ADDRESS" default:"100" help:"Largest number of live connections from one IP address."`
}

// Auth holds the settings of accounts and sessions.
type Auth struct {
	// Tokens.
	JWTSecret         string        `name:"jwt-secret" env:"ATELIE_JWT_SECRET" secret:"yes" help:"Secret that signs tokens, at least 32 characters. Default: generated once and stored in the data folder."`
	JWTSecretPrevious string        `name:"jwt-secret-previous" env:"ATELIE_JWT_SECRET_PREVIOUS" secret:"yes" help:"The previous secret, needed until all values encrypted with it are encrypted with the current one; its tokens and keys stay valid. Stored in the data folder if the secret is."`
	JWTAlgorithm      string        `name:"jwt-algorithm" env:"ATELIE_JWT_ALGORITHM" default:"HS256" enum:"HS256,ES256" help:"How access tokens are signed: with the secret, or with keys whose public halves are published."`
	JWTExpiry         time.Duration `name:"jwt-expiry" env:"ATELIE_JWT_EXPIRY" default:"1h" help:"Lifetime of an access token."`
	RefreshReuse      time.Duration `name:"refresh-reuse-interval" env:"ATELIE_REFRESH_REUSE_INTERVAL" default:"10s" help:"How long a used refresh token may be used again. Later its use ends the session. The parent of the current token may always be used again."`

	// Accounts without a role, and passwords.
	Signup            string   `name:"signup" env:"ATELIE_SIGNUP" default:"closed" enum:"open,closed" help:"Whether everybody may create an account. Such accounts have no role."`
	PasswordMinLength int      `name:"password-min-length" env:"ATELIE_PASSWORD_MIN_LENGTH" default:"10" help:"Shortest new password, in characters; at least 6."`
	PasswordReauth    Switch   `name:"password-reauthentication" env:"ATELIE_PASSWORD_REAUTHENTICATION" default:"off" help:"Require a code sent by mail or SMS before a session older than a day may change the password."`
	RedirectURLs      []string `name:"redirect-urls" env:"ATELIE_REDIRECT_URLS" help:"Further URLs to which links and providers may redirect. * matches characters other than . and /, ** matches anything."`

	// Limits of sessions.
	SessionIdle      time.Duration `name:"session-idle" env:"ATELIE_SESSION_IDLE" default:"0s" help:"How long a session of an account without a role may be unused before it ends. 0 for no limit."`
	SessionMax       time.Duration `name:"session-max" env:"ATELIE_SESSION_MAX" default:"0s" help:"How long after the sign-in a session of an account without a role ends. 0 for no limit."`
	OwnerSessionIdle time.Duration `name:"owner-session-idle" env:"ATELIE_OWNER_SESSION_IDLE" default:"720h" help:"How long a session of an account with a role may be unused before it ends. 0 for no limit."`
	OwnerSessionMax  time.Duration `name:"owner-session-max" env:"ATELIE_OWNER_SESSION_MAX" default:"4320h" help:"How long after the sign-in a session of an account with a role ends. 0 for no limit."`

	SecondFactor Switch `name:"require-second-factor" env:"ATELIE_REQUIRE_SECOND_FACTOR" default:"off" help:"Owners can administer the site only with a second factor; owners without one must enrol one first."`

	// Confirmations by mail and SMS.
	MailAutoconfirm  Switch        `name:"mail-autoconfirm" env:"ATELIE_MAIL_AUTOCONFIRM" default:"off" help:"Treat e-mail addresses as confirmed without sending a mail."`
	MailMinInterval  time.Duration `name:"mail-min-interval" env:"ATELIE_MAIL_MIN_INTERVAL" default:"60s" help:"Shortest time between two mails of the same kind to one account."`
	MailsPerDay      int           `name:"mails-per-day" env:"ATELIE_MAILS_PER_DAY" default:"28" help:"Largest number of mails of one kind (recovery and magic link, confirmation, change of address, code) to one address in a day. 0 for no limit."`
	PhoneEnabled     Switch        `name:"phone-enabled" env:"ATELIE_PHONE_ENABLED" default:"off" help:"Allow sign-in by phone number; requires the sms settings."`
	PhoneAutoconfirm Switch        `name:"phone-autoconfirm" env:"ATELIE_PHONE_AUTOCONFIRM" default:"off" help:"Treat phone numbers as confirmed without sending a message."`
	TextsPerDay      int           `name:"texts-per-day" env:"ATELIE_TEXTS_PER_DAY" default:"10" help:"Largest number of text messages of one kind to one number in a day, and five times as many for a verified second factor. 0 for no limit."`
	SMSMinInterval   time.Duration `name:"sms-min-interval" env:"ATELIE_SMS_MIN_INTERVAL" default:"60s" help:"Shortest time between two text messages to one account."`

	// Other ways to sign in, and the limits of all.
	ManualLinking Switch `name:"manual-linking" env:"ATELIE_MANUAL_LINKING" default:"off" help:"Allow signed-in users to add further ways to sign in."`
	SAML          Switch `name:"saml" env:"ATELIE_SAML" default:"off" help:"Single sign-on by SAML 2.0; the command atelie sso adds identity providers."`
	RateLimits    Switch `name:"rate-limits" env:"ATELIE_RATE_LIMITS" default:"on" help:"Limit sign-ins and codes per IP address and per account."`
}

// Switch is a setting that is on or off.
type Switch bool

// UnmarshalText accepts on, true, yes and 1, and off, false, no and 0.
func (s *Switch) UnmarshalText(text []byte) error {
	switch strings.ToLower(strings.TrimSpace(string(text))) {
	case "on", "true", "yes", "1":
		*s = true
	case "off", "false", "no", "0":
		*s = false
	default:
		return fmt.Errorf("%q is neither on nor off", text)
	}
	return nil
}

func (s Switch) String() string {
	if s {
		return "on"
	}
	return "off"
}

// Bytes is a size in bytes, written with a unit (500MB, 2GiB) or without.
type Bytes int64

// units are the units of Bytes. Longer suffixes come first, because KiB and KB end with B too; String uses the first three.
var units = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// UnmarshalText parses a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.factor {
			continue
		}
		*b = Bytes(n * u.factor)
		return nil
	}
	return fmt.Errorf("%q is not a size such as 500MB or 2GiB", s)
}

// MarshalText formats a size as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String formats a size with the largest binary unit (GiB, MiB, KiB) that divides it, or in bytes.
func (b Bytes) String() string {
	for i := 2; i >= 0; i-- {
		if u := units[i]; b != 0 && int64(b)%u.factor == 0 {
			return strconv.FormatInt(int64(b)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Validate checks all settings. Its error has one line per mistake.
func (c *Config) Validate() error {
	m := mistakes{c.Server.validate(), c.Database.validate(), c.Storage.validate(), c.validateBackup()}
	vips := c.Pictures.Vips
	m.addIf(vips != "auto" && vips != "off" && !filepath.IsAbs(vips), "vips: must be auto, off or the absolute path of the vips command, such as /usr/bin/vips")
	m.add(c.validateCDN())
	m.addIf(c.Realtime.MaxSockets < 0 || c.Realtime.MaxSocketsPerAddress < 0, "max-sockets, max-sockets-per-address: must not be negative")
	m = append(m, c.Auth.validate(), c.Mail.validate(), c.SMS.validate(bool(c.Auth.PhoneEnabled && !c.Auth.PhoneAutoconfirm)), c.validateOIDC())
	return m.join()
}

// mistakes collects errors of settings, one line for each.
type mistakes []error

// addIf adds a mistake if wrong is true.
func (m *mistakes) addIf(wrong bool, format string, args ...any) {
	if wrong {
		*m = append(*m, fmt.Errorf(format, args...))
	}
}

// add adds an error. It may be nil, which join ignores.
func (m *mistakes) add(err error) { *m = append(*m, err) }

// join returns one error for all mistakes, or nil if there are none.
func (m mistakes) join() error { return errors.Join(m...) }

func (s *Server) validate() error {
	var m mistakes
	m.addIf(s.DataDir == "", "data-dir: must not be empty")
	m.add(validateListen("listen", s.Listen))
	m.addIf(s.SiteURL != "" && !isOrigin(s.SiteURL), "site-url: %q is not a URL such as https://example.com, without a path", s.SiteURL)
	m.addIf(s.APIURL != "" && !isOrigin(s.APIURL), "api-url: %q is not a URL such as https://example.com, without a path", s.APIURL)
	m.addIf(strings.HasPrefix(s.SiteURL, "https:") && strings.HasPrefix(s.APIURL, "http:"), "api-url: a site on https cannot call a backend on http")
	m.addIf(strings.Contains(s.ReleaseFile, "://") && !strings.HasPrefix(s.ReleaseFile, "https://"), "release-file: must be a file or a URL with https")
	_, err := s.Proxies()
	m.add(err)
	m.add(s.validateHTTPS())
	m.add(s.validateMetrics())
	return m.join()
}

// validateMetrics returns an error if the metrics would share an address with the site, and so be public.
func (s *Server) validateMetrics() error {
	if s.MetricsListen == "" {
		return nil
	}
	if err := validateListen("metrics-listen", s.MetricsListen); err != nil {
		return err
	}
	public := []string{s.Listen}
	if len(s.Domain) > 0 {
		public = []string{s.ListenHTTPS, s.ListenHTTP}
	}
	for _, address := range public {
		if sameAddress(s.MetricsListen, address) {
			return fmt.Errorf("metrics-listen: the site listens on %s; the metrics need an address of their own, such as 127.0.0.1:9464", address)
		}
	}
	return nil
}

// sameAddress reports whether two listen addresses have a port in common. Port 0 stands for any free port.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	numberA, _ := strconv.ParseUint(portA, 10, 16) // validateListen reports what is no number
	numberB, _ := strconv.ParseUint(portB, 10, 16)
	if errA != nil || errB != nil || numberA != numberB || numberA == 0 {
		return false
	}
	return hostA == hostB || coversAll(hostA) || coversAll(hostB) || isLoopback(hostA) && isLoopback(hostB)
}

// coversAll reports whether a listener on host has all addresses of the machine.
func coversAll(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().IsUnspecified()
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

func validateListen(name, value string) error {
	if _, port, err := net.SplitHostPort(value); err != nil || port == "" {
		return fmt.Errorf("%s: %q is not an address such as 127.0.0.1:8000", name, value)
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s: %q is not a port", name, port)
	}
	return nil
}

// isOrigin reports whether value is a URL of scheme, host and port alone.
func isOrigin(value string) bool {
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return false
	}
	return u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

// Proxies returns the networks of trusted proxies. A single IP address becomes a network with one address.
func (s *Server) Proxies() ([]netip.Prefix, error) {
	var (
		prefixes []netip.Prefix
		m        mistakes
	)
	for _, p := range s.TrustedProxies {
		p = strings.TrimSpace(p)
		if addr, err := netip.ParseAddr(p); err == nil {
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(p)
		m.addIf(err != nil, "trusted-proxies: %q is neither an address nor a network such as 10.0.0.0/8", p)
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, m.join()
}

func (d *Database) validate() error {
	if d.MaxRows < 1 || d.MaxRows > 1_000_000 {
		return errors.New("max-rows: must be between 1 and 1000000")
	}
	if d.URL == "" || strings.HasPrefix(d.URL, "postgres://") || strings.HasPrefix(d.URL, "postgresql://") {
		return nil
	}
	return errors.New("database-url: must start with postgres:// (leave it empty for SQLite in the data folder)")
}

func (s *Storage) validate() error {
	var m mistakes
	_, err := s.Bucket()
	m.add(err)
	m.addIf(s.UploadExpiry < time.Second || s.UploadExpiry > 30*24*time.Hour, "upload-expiry: must be from 1s to 720h")
	m.addIf(s.MaxUpload < 1<<20, "max-upload: must be at least 1MiB")
	return m.join()
}

func (a *Auth) validate() error {
	var m mistakes
	m.addIf(a.JWTSecret != "" && len(a.JWTSecret) < 32, "jwt-secret: must have at least 32 characters (leave it empty to have one generated)")
	m.addIf(a.JWTSecretPrevious != "" && (len(a.JWTSecretPrevious) < 32 || a.JWTSecret == "" || a.JWTSecretPrevious == a.JWTSecret),
		"jwt-secret-previous: must have at least 32 characters and stand beside another jwt-secret")
	m.addIf(a.JWTExpiry < 30*time.Second || a.JWTExpiry > 7*24*time.Hour, "jwt-expiry: must be between 30s and 168h")
	m.addIf(a.RefreshReuse < 0 || a.RefreshReuse > time.Minute, "refresh-reuse-interval: must be between 0s and 1m")
	m.addIf(a.PasswordMinLength < 6 || a.PasswordMinLength > 128, "password-min-length: must be between 6 and 128")
	m.addIf(a.MailsPerDay < 0 || a.MailsPerDay > 1000, "mails-per-day: must be between 0 and 1000")
	m.addIf(a.TextsPerDay < 0 || a.TextsPerDay > 1000, "texts-per-day: must be between 0 and 1000")
	for name, limit := range map[string]time.Duration{
		"session-idle": a.SessionIdle, "session-max": a.SessionMax, "owner-session-idle": a.OwnerSessionIdle, "owner-session-max": a.OwnerSessionMax,
	} {
		m.addIf(limit != 0 && (limit < a.JWTExpiry || limit < 10*time.Minute), "%s: must be 0 for no limit, or at least 10m and not shorter than jwt-expiry", name)
	}
	m.addIf(a.MailMinInterval < 0 || a.MailMinInterval > 24*time.Hour, "mail-min-interval: must be between 0s and 24h")
	m.addIf(a.SMSMinInterval < 0 || a.SMSMinInterval > 24*time.Hour, "sms-min-interval: must be between 0s and 24h")
	for _, pattern := range a.RedirectURLs {
		u, err := url.Parse(strings.ReplaceAll(pattern, "*", "x"))
		m.addIf(err != nil || u.Scheme == "" || strings.HasPrefix(pattern, "*") || u.Scheme == "javascript" || u.Scheme == "data",
			"redirect-urls: %q is not a URL such as https://example.com/**", pattern)
	}
	return m.join()
}

// DeriveURLs sets SiteURL and APIURL if they are empty: SiteURL from the first domain, or else from the address of the open
// listener; APIURL from SiteURL. It removes slashes at their ends.
func (c *Config) DeriveURLs(listening net.Addr) {
	if c.Server.SiteURL == "" {
		c.Server.SiteURL = c.Server.origin(listening)
	}
	c.Server.SiteURL = strings.TrimRight(c.Server.SiteURL, "/")
	if c.Server.APIURL == "" {
		c.Server.APIURL = c.Server.SiteURL
	}
	c.Server.APIURL = strings.TrimRight(c.Server.APIURL, "/")
}

func (s *Server) origin(listening net.Addr) string {
	host, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return ""
	}
	if domains, err := s.Domains(); err == nil && len(domains) > 0 {
		if port == "443" {
			return "https://" + domains[0]
		}
		return "https://" + net.JoinHostPort(domains[0], port)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// ListenAddr returns the configured listen address. Commands that do not listen use it for DeriveURLs.
func (c *Config) ListenAddr() (net.Addr, error) {
	if len(c.Server.Domain) > 0 {
		return net.ResolveTCPAddr("tcp", c.Server.ListenHTTPS)
	}
	return net.ResolveTCPAddr("tcp", c.Server.Listen)
}

// DatabaseURL returns the URL of the database in the form that db.Open expects.
func (c *Config) DatabaseURL() string {
	if c.Database.URL != "" {
		return c.Database.URL
	}
	return "sqlite:" + filepath.Join(c.Server.DataDir, "atelie.db")
}

// FilesDir returns the folder for uploaded files.
func (c *Config) FilesDir() string { return filepath.Join(c.Server.DataDir, "files") }

// MailDir returns the folder for mails, which is used when no SMTP server is configured.
func (c *Config) MailDir() string { return filepath.Join(c.Server.DataDir, "mail") }
