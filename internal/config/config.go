// Package config holds every setting as data: name, default, help, secret or not. It is the only place that reads the
// environment. Flags win over the environment, the environment over the file, the file over the default.
package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config is all settings, in sections. The tags are read by kong, which makes flags, environment and help of them.
type Config struct {
	Server   Server   `embed:""`
	Database Database `embed:""`
	Storage  Storage  `embed:""`
	Pictures Pictures `embed:""`
	Realtime Realtime `embed:""`
	Auth     Auth     `embed:""`
	Mail     Mail     `embed:""`
	SMS      SMS      `embed:""`

	// OIDC are the identity providers, whose names the owner chooses: LoadOIDC finds them.
	OIDC []OIDC `kong:"-"`
	// Build is the program's version; no setting, it is stamped by the build.
	Build string `kong:"-"`
}

// Server says where the program listens and how the world reaches it.
type Server struct {
	DataDir        string   `name:"data-dir" env:"ATELIE_DATA_DIR" default:"./data" help:"Folder for the database, the files and the generated secret."`
	Listen         string   `name:"listen" env:"ATELIE_LISTEN" default:"127.0.0.1:8000" help:"Address to listen on, host:port."`
	SiteURL        string   `name:"site-url" env:"ATELIE_SITE_URL" help:"Public address of the site. Derived from the listen address when empty."`
	APIURL         string   `name:"api-url" env:"ATELIE_API_URL" help:"Public address of the backend. The site's address when empty."`
	Domain         []string `name:"domains" env:"ATELIE_DOMAIN" help:"Names of the site, the first one foremost: HTTPS with certificates that are obtained and renewed by themselves. You accept the terms of the certificate authority (Let's Encrypt, if no other is set)."`
	ListenHTTPS    string   `name:"listen-https" env:"ATELIE_LISTEN_HTTPS" default:":443" help:"With a domain: address to listen on for HTTPS."`
	ListenHTTP     string   `name:"listen-http" env:"ATELIE_LISTEN_HTTP" default:":80" help:"With a domain: address to listen on for HTTP, which answers the certificate authority and leads to HTTPS."`
	ACMEEmail      string   `name:"acme-email" env:"ATELIE_ACME_EMAIL" help:"Where the certificate authority writes when something is wrong."`
	ACMEDirectory  string   `name:"acme-directory" env:"ATELIE_ACME_DIRECTORY" help:"ACME directory of another certificate authority. Let's Encrypt when empty."`
	ACMERoots      string   `name:"acme-roots" env:"ATELIE_ACME_ROOTS" help:"PEM file with the roots that vouch for that authority's own address."`
	TrustedProxies []string `name:"trusted-proxies" env:"ATELIE_TRUSTED_PROXIES" help:"Addresses or networks of proxies whose X-Forwarded-For counts."`
}

// Database says where rows are kept, and how many of them one read shows.
type Database struct {
	URL     string `name:"database-url" env:"ATELIE_DATABASE_URL" secret:"url" help:"postgres://… ; SQLite in the data folder when empty."`
	MaxRows int    `name:"max-rows" env:"ATELIE_MAX_ROWS" default:"1000" help:"Most rows that one read of a table shows."`
}

// Storage says where files are kept and how large one may be.
type Storage struct {
	URL          string        `name:"storage-url" env:"ATELIE_STORAGE_URL" secret:"url" help:"Where files are kept: s3://KEY:SECRET@host[:port]/bucket[/prefix], with ?region=, tls=off, path-style=off, create=on. The data folder when empty."`
	MaxUpload    Bytes         `name:"max-upload" env:"ATELIE_MAX_UPLOAD" default:"2GiB" help:"Largest file that may be uploaded."`
	UploadExpiry time.Duration `name:"upload-expiry" env:"ATELIE_UPLOAD_EXPIRY" default:"24h" help:"How long a resumable upload may take, from its beginning."`
	Quota        Bytes         `name:"storage-quota" env:"ATELIE_STORAGE_QUOTA" default:"0" help:"How much all files together may weigh, in bytes. 0 for no limit."`
}

// Pictures says what makes renditions.
type Pictures struct {
	Vips string `name:"vips" env:"ATELIE_VIPS" default:"auto" help:"What cuts pictures besides the program itself: auto for the vips command of libvips-tools where it is found, off, or the command's path. With it: less CPU, AVIF, HEIC."`
}

func (p *Pictures) validate() error {
	if p.Vips == "auto" || p.Vips == "off" || filepath.IsAbs(p.Vips) {
		return nil
	}
	return errors.New("vips: must be auto, off or the whole path of the vips command, such as /usr/bin/vips")
}

// Realtime bounds live connections.
type Realtime struct {
	MaxSockets           int `name:"max-sockets" env:"ATELIE_MAX_SOCKETS" default:"10000" help:"Live connections that one node holds."`
	MaxSocketsPerAddress int `name:"max-sockets-per-address" env:"ATELIE_MAX_SOCKETS_PER_ADDRESS" default:"100" help:"Live connections from one address."`
}

func (r *Realtime) validate() error {
	if r.MaxSockets < 0 || r.MaxSocketsPerAddress < 0 {
		return errors.New("max-sockets, max-sockets-per-address: must not be negative")
	}
	return nil
}

// Auth holds what accounts and sessions depend on.
type Auth struct {
	JWTSecret         string        `name:"jwt-secret" env:"ATELIE_JWT_SECRET" secret:"yes" help:"Secret that signs tokens, at least 32 characters. Generated once in the data folder when empty."`
	JWTAlgorithm      string        `name:"jwt-algorithm" env:"ATELIE_JWT_ALGORITHM" default:"HS256" enum:"HS256,ES256" help:"How access tokens are signed: with the secret, or with keys whose public halves are published."`
	JWTExpiry         time.Duration `name:"jwt-expiry" env:"ATELIE_JWT_EXPIRY" default:"1h" help:"Life of an access token."`
	RefreshReuse      time.Duration `name:"refresh-reuse-interval" env:"ATELIE_REFRESH_REUSE_INTERVAL" default:"10s" help:"How long a replaced refresh token may be shown again by another tab."`
	Signup            string        `name:"signup" env:"ATELIE_SIGNUP" default:"closed" enum:"open,closed" help:"Whether strangers may open accounts. They never get a role."`
	PasswordMinLength int           `name:"password-min-length" env:"ATELIE_PASSWORD_MIN_LENGTH" default:"10" help:"Shortest new password, in characters; at least 6."`
	PasswordReauth    Switch        `name:"password-reauthentication" env:"ATELIE_PASSWORD_REAUTHENTICATION" default:"off" help:"Ask for a code by mail or SMS before a session older than a day may change the password."`
	RedirectURLs      []string      `name:"redirect-urls" env:"ATELIE_REDIRECT_URLS" help:"Further addresses that links and providers may lead back to. * stands for letters without . and /, ** for anything."`
	MailAutoconfirm   Switch        `name:"mail-autoconfirm" env:"ATELIE_MAIL_AUTOCONFIRM" default:"off" help:"Take e-mail addresses as confirmed without a mail."`
	MailMinInterval   time.Duration `name:"mail-min-interval" env:"ATELIE_MAIL_MIN_INTERVAL" default:"60s" help:"Shortest time between two mails of a kind to one account."`
	PhoneEnabled      Switch        `name:"phone-enabled" env:"ATELIE_PHONE_ENABLED" default:"off" help:"Sign in by phone number; needs a sender of text messages."`
	PhoneAutoconfirm  Switch        `name:"phone-autoconfirm" env:"ATELIE_PHONE_AUTOCONFIRM" default:"off" help:"Take phone numbers as confirmed without a message."`
	SMSMinInterval    time.Duration `name:"sms-min-interval" env:"ATELIE_SMS_MIN_INTERVAL" default:"60s" help:"Shortest time between two text messages to one account."`
	ManualLinking     Switch        `name:"manual-linking" env:"ATELIE_MANUAL_LINKING" default:"off" help:"Signed-in users may add further ways to sign in."`
	SAML              Switch        `name:"saml" env:"ATELIE_SAML" default:"off" help:"Single sign-on by SAML 2.0; identity providers are added by the sso command."`
	RateLimits        Switch        `name:"rate-limits" env:"ATELIE_RATE_LIMITS" default:"on" help:"Limits on sign-ins and codes, per address and per account."`
}

// Switch is written on or off.
type Switch bool

// UnmarshalText reads on and off, and what other programs call them.
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

// Bytes is a size that is written with a unit: 500MB, 2GiB, or plain bytes.
type Bytes int64

var units = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size.
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

// MarshalText writes a size with the largest binary unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) {
	for i := 2; i >= 0; i-- {
		if u := units[i]; b != 0 && int64(b)%u.factor == 0 {
			return []byte(strconv.FormatInt(int64(b)/u.factor, 10) + u.suffix), nil
		}
	}
	return []byte(strconv.FormatInt(int64(b), 10)), nil
}

func (b Bytes) String() string {
	text, err := b.MarshalText()
	if err != nil {
		return strconv.FormatInt(int64(b), 10)
	}
	return string(text)
}

// Validate checks every section and returns one readable line per mistake.
func (c *Config) Validate() error {
	return errors.Join(c.Server.validate(), c.Database.validate(), c.Storage.validate(), c.Pictures.validate(), c.Realtime.validate(), c.Auth.validate(), c.Mail.validate(), c.SMS.validate(bool(c.Auth.PhoneEnabled && !c.Auth.PhoneAutoconfirm)), c.validateOIDC())
}

func (s *Server) validate() error {
	var errs []error
	if s.DataDir == "" {
		errs = append(errs, errors.New("data-dir: must not be empty"))
	}
	errs = append(errs, validateListen("listen", s.Listen))
	for _, u := range []struct{ name, value string }{{"site-url", s.SiteURL}, {"api-url", s.APIURL}} {
		if u.value != "" {
			errs = append(errs, validateOrigin(u.name, u.value))
		}
	}
	if s.APIURL != "" && s.SiteURL != "" && strings.HasPrefix(s.SiteURL, "https:") && strings.HasPrefix(s.APIURL, "http:") {
		errs = append(errs, errors.New("api-url: a site on https cannot call a backend on http"))
	}
	_, err := s.Proxies()
	return errors.Join(append(errs, err, s.validateHTTPS())...)
}

func validateListen(name, value string) error {
	if _, port, err := net.SplitHostPort(value); err != nil || port == "" {
		return fmt.Errorf("%s: %q is not an address such as 127.0.0.1:8000", name, value)
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s: %q is not a port (%d)", name, port, n)
	}
	return nil
}

func validateOrigin(name, value string) error {
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return fmt.Errorf("%s: %q is not an address such as https://example.com, without a path", name, value)
	}
	return nil
}

// Proxies gives the trusted networks.
func (s *Server) Proxies() ([]netip.Prefix, error) {
	var (
		prefixes []netip.Prefix
		errs     []error
	)
	for _, p := range s.TrustedProxies {
		p = strings.TrimSpace(p)
		if addr, err := netip.ParseAddr(p); err == nil {
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("trusted-proxies: %q is neither an address nor a network such as 10.0.0.0/8", p))
			continue
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, errors.Join(errs...)
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
	var errs []error
	if _, err := s.S3(); err != nil {
		errs = append(errs, err)
	}
	if s.UploadExpiry < time.Second || s.UploadExpiry > 30*24*time.Hour {
		errs = append(errs, errors.New("upload-expiry: must be from 1s to 720h"))
	}
	if s.MaxUpload < 1<<20 {
		errs = append(errs, errors.New("max-upload: must be at least 1MiB"))
	}
	return errors.Join(errs...)
}

func (a *Auth) validate() error {
	var errs []error
	if a.JWTSecret != "" && len(a.JWTSecret) < 32 {
		errs = append(errs, errors.New("jwt-secret: must have at least 32 characters (leave it empty to have one generated)"))
	}
	if a.JWTExpiry < 30*time.Second || a.JWTExpiry > 7*24*time.Hour {
		errs = append(errs, errors.New("jwt-expiry: must be between 30s and 168h"))
	}
	if a.RefreshReuse < 0 || a.RefreshReuse > time.Minute {
		errs = append(errs, errors.New("refresh-reuse-interval: must be between 0s and 1m"))
	}
	if a.PasswordMinLength < 6 || a.PasswordMinLength > 128 {
		errs = append(errs, errors.New("password-min-length: must be between 6 and 128"))
	}
	for _, interval := range []struct {
		name string
		time.Duration
	}{{"mail-min-interval", a.MailMinInterval}, {"sms-min-interval", a.SMSMinInterval}} {
		if interval.Duration < 0 || interval.Duration > 24*time.Hour {
			errs = append(errs, fmt.Errorf("%s: must be between 0s and 24h", interval.name))
		}
	}
	for _, pattern := range a.RedirectURLs {
		if u, err := url.Parse(strings.ReplaceAll(pattern, "*", "x")); err != nil || u.Scheme == "" || strings.HasPrefix(pattern, "*") || u.Scheme == "javascript" || u.Scheme == "data" {
			errs = append(errs, fmt.Errorf("redirect-urls: %q is not an address such as https://example.com/**", pattern))
		}
	}
	return errors.Join(errs...)
}

// DeriveURLs fills the addresses that were left empty: from the first domain, or from the address that the program
// really listens on.
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

// ListenAddr gives the configured address of the site for commands that print URLs without listening.
func (c *Config) ListenAddr() (net.Addr, error) {
	if len(c.Server.Domain) > 0 {
		return net.ResolveTCPAddr("tcp", c.Server.ListenHTTPS)
	}
	return net.ResolveTCPAddr("tcp", c.Server.Listen)
}

// DatabaseURL gives the address that db.Open takes.
func (c *Config) DatabaseURL() string {
	if c.Database.URL != "" {
		return c.Database.URL
	}
	return "sqlite:" + filepath.Join(c.Server.DataDir, "atelie.db")
}

// FilesDir is where the bytes of uploads lie.
func (c *Config) FilesDir() string { return filepath.Join(c.Server.DataDir, "files") }

// MailDir is where mails lie when no SMTP server is set.
func (c *Config) MailDir() string { return filepath.Join(c.Server.DataDir, "mail") }

// Prepare makes the data folder and, when none is set, the secret in it, readable by this user alone.
func (c *Config) Prepare() error {
	if err := os.MkdirAll(c.Server.DataDir, 0o750); err != nil {
		return fmt.Errorf("data-dir: %w", err)
	}
	if c.Auth.JWTSecret != "" {
		return nil
	}
	file := filepath.Join(c.Server.DataDir, "jwt-secret")
	secret, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = createSecret(file)
	}
	if err != nil {
		return fmt.Errorf("jwt-secret: %w", err)
	}
	c.Auth.JWTSecret = strings.TrimSpace(string(secret))
	if len(c.Auth.JWTSecret) < 32 {
		return fmt.Errorf("jwt-secret: %s is damaged: it holds fewer than 32 characters", file)
	}
	return nil
}

// createSecret links a finished file into place, so that two programs that start together end up with one secret.
func createSecret(file string) ([]byte, error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".jwt-secret-*") // made with mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(hex.EncodeToString(raw) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(file)
}
