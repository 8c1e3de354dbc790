package config

import (
	"net"
	"strings"
	"testing"
	"time"
)

// valid returns a valid configuration.
func valid() Config {
	return Config{
		Server:   Server{DataDir: "data", Listen: "127.0.0.1:8000"},
		Database: Database{MaxRows: 1000},
		Storage:  Storage{MaxUpload: 2 << 30, UploadExpiry: 24 * time.Hour},
		Backup:   Backup{Retention: 720 * time.Hour},
		Pictures: Pictures{Vips: "auto"},
		Auth:     Auth{JWTExpiry: time.Hour, RefreshReuse: 10 * time.Second, Signup: "closed", PasswordMinLength: 10},
	}
}

// Proves A-mail-8, A-set-4, A-set-9.
func TestEveryMistakeHasItsOwnLine(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Config)
		want []string
	}{
		{"defaults", func(*Config) {}, nil},
		{"listen", func(c *Config) { c.Server.Listen = "8000" }, []string{"listen:"}},
		{"port", func(c *Config) { c.Server.Listen = "localhost:99999" }, []string{"listen:"}},
		{"site with a path", func(c *Config) { c.Server.SiteURL = "https://a.example/site" }, []string{"site-url:"}},
		{"mixed schemes", func(c *Config) { c.Server.SiteURL, c.Server.APIURL = "https://a.example", "http://b.example" }, []string{"api-url:"}},
		{"proxies", func(c *Config) { c.Server.TrustedProxies = []string{"10.0.0.0/8", "::1", "home"} }, []string{"trusted-proxies:"}},
		{"metrics off", func(c *Config) { c.Server.MetricsListen = "" }, nil},
		{"metrics beside the site", func(c *Config) { c.Server.MetricsListen = "127.0.0.1:9464" }, nil},
		{"metrics on another address", func(c *Config) { c.Server.MetricsListen = "10.0.0.2:8000" }, nil},
		{"metrics on any port", func(c *Config) { c.Server.Listen, c.Server.MetricsListen = "127.0.0.1:0", "127.0.0.1:0" }, nil},
		{"metrics without a port", func(c *Config) { c.Server.MetricsListen = "127.0.0.1" }, []string{"metrics-listen:"}},
		{"metrics at the site's address", func(c *Config) { c.Server.MetricsListen = "127.0.0.1:8000" }, []string{"metrics-listen: the site listens on 127.0.0.1:8000"}},
		{"metrics at the site's address by its name", func(c *Config) { c.Server.MetricsListen = "localhost:08000" }, []string{"metrics-listen:"}},
		{"metrics everywhere", func(c *Config) { c.Server.MetricsListen = ":8000" }, []string{"metrics-listen:"}},
		{"a site everywhere", func(c *Config) { c.Server.Listen, c.Server.MetricsListen = "[::]:8000", "10.0.0.2:8000" }, []string{"metrics-listen:"}},
		{"metrics on the HTTP port", func(c *Config) {
			c.Server.Domain, c.Server.ListenHTTPS, c.Server.ListenHTTP, c.Server.MetricsListen = []string{"a.example"}, ":443", ":80", "10.0.0.2:80"
		}, []string{"metrics-listen: the site listens on :80"}},
		{"metrics at the unused address", func(c *Config) {
			c.Server.Domain, c.Server.ListenHTTPS, c.Server.ListenHTTP, c.Server.MetricsListen = []string{"a.example"}, ":443", ":80", "127.0.0.1:8000"
		}, nil},
		{"database", func(c *Config) { c.Database.URL = "mysql://x" }, []string{"database-url:"}},
		{"s3 without key and bucket", func(c *Config) { c.Storage.URL = "s3://host" }, []string{"storage-url: needs a key", "storage-url: names no bucket"}},
		{"s3 with other words", func(c *Config) { c.Storage.URL = "s3://k:s@host/bucket/a//b?tls=maybe&color=red&region=A" }, []string{"storage-url: the prefix", "storage-url: the only parameters", "storage-url: region", "storage-url: tls"}},
		{"another store", func(c *Config) { c.Storage.URL = "ftp://k:s@host/bucket" }, []string{"storage-url: is not a URL"}},
		{"vips by a name", func(c *Config) { c.Pictures.Vips = "vips" }, []string{"vips: must be"}},
		{"reuse", func(c *Config) { c.Auth.RefreshReuse = time.Hour }, []string{"refresh-reuse-interval:"}},
		{"short passwords", func(c *Config) { c.Auth.PasswordMinLength = 5 }, []string{"password-min-length:"}},
		{"mails a day", func(c *Config) { c.Auth.MailsPerDay = -1 }, []string{"mails-per-day:"}},
		{"text messages a day", func(c *Config) { c.Auth.TextsPerDay = -1 }, []string{"texts-per-day:"}},
		{"intervals", func(c *Config) { c.Auth.MailMinInterval, c.Auth.SMSMinInterval = -1, 48*time.Hour }, []string{"mail-min-interval:", "sms-min-interval:"}},
		{"redirects", func(c *Config) { c.Auth.RedirectURLs = []string{"https://*.example.com/**", "**", "javascript:**"} }, []string{"redirect-urls:", "redirect-urls:"}},
		{"mail without a sender", func(c *Config) { c.Mail.SMTPURL = "smtp://mail.example" }, []string{"mail-from:"}},
		{"mail", func(c *Config) { c.Mail = Mail{SMTPURL: "mail.example:25", From: "nobody"} }, []string{"smtp-url:", "mail-from:"}},
		{"two senders in one", func(c *Config) { c.Mail.From = "a@b.example, c@d.example" }, []string{"mail-from:"}},
		{"a header in the sender", func(c *Config) { c.Mail.From = "Ana <a@b.example>\r\nBcc: c@d.example" }, []string{"mail-from:"}},
		{"mail that is right", func(c *Config) {
			c.Mail = Mail{SMTPURL: "smtps://u:p@mail.example", From: "Ateliê <a@b.example>"}
		}, nil},
		{"phones without a sender", func(c *Config) { c.Auth.PhoneEnabled = true }, []string{"phone-enabled:"}},
		{"phones that confirm themselves", func(c *Config) { c.Auth.PhoneEnabled, c.Auth.PhoneAutoconfirm = true, true }, nil},
		{"half a hook", func(c *Config) { c.SMS.HookURL = "https://hook.example/x" }, []string{"sms-hook-secret:"}},
		{"a hook in the open", func(c *Config) { c.SMS.HookURL, c.SMS.HookSecret = "http://hook.example", whsec }, []string{"sms-hook-url:"}},
		{"a hook nearby", func(c *Config) { c.SMS.HookURL, c.SMS.HookSecret = "http://10.0.0.7:9/x", whsec }, nil},
		{"a hook beside", func(c *Config) { c.SMS.HookURL, c.SMS.HookSecret, c.Auth.PhoneEnabled = "http://sms:9/x", whsec, true }, nil},
		{"both", func(c *Config) {
			c.SMS = SMS{HookURL: "https://hook.example", HookSecret: whsec, TwilioAccount: "AC1", TwilioToken: "t", TwilioFrom: "+1", TwilioURL: "https://api.example"}
		}, []string{"sms-hook-url:"}},
		{"half an account", func(c *Config) { c.SMS = SMS{TwilioAccount: "AC1", TwilioURL: "ftp://x"} }, []string{"sms-twilio-account:", "sms-twilio-url:"}},
		{"no rows", func(c *Config) { c.Database.MaxRows = 0 }, []string{"max-rows:"}},
		{"domains", func(c *Config) { secure(c, "example.com", "WWW.Example.com.", "ateliê.example") }, nil},
		{"what is no domain", func(c *Config) {
			secure(c, "https://example.com", "*.example.com", "192.0.2.1", "localhost", "a b.example")
		}, []string{"domains:", "domains:", "domains:", "domains:", "domains:"}},
		{"a domain and a site elsewhere", func(c *Config) { secure(c, "example.com"); c.Server.SiteURL = "https://other.example" }, []string{"site-url:"}},
		{"a domain and a site in the open", func(c *Config) { secure(c, "example.com"); c.Server.SiteURL = "http://example.com" }, []string{"site-url:"}},
		{"https", func(c *Config) {
			secure(c, "example.com")
			c.Server.ListenHTTPS, c.Server.ListenHTTP, c.Server.ACMEEmail, c.Server.ACMEDirectory, c.Server.ACMERoots = "443", ":x", "nobody", "http://authority.example", "/nowhere.pem"
		}, []string{"listen-https:", "listen-http:", "acme-email:", "acme-directory:", "acme-roots:"}},
		{"no backup", func(c *Config) { c.Backup.URL = "off" }, nil},
		{"a folder and a bucket for the backup", func(c *Config) {
			c.Backup.URL, c.Backup.CopyURL = "/mnt/nas", "s3://k:s@s3.example.com/bucket/site?region=eu-1"
		}, nil},
		{"a bucket without a key for the backup", func(c *Config) { c.Backup.URL = "s3://s3.example.com/bucket" }, []string{"backup-url:"}},
		{"a place of another kind for the backup", func(c *Config) { c.Backup.URL = "ftp://backup.example.com" }, []string{"backup-url:"}},
		{"a copy without a backup", func(c *Config) { c.Backup.URL, c.Backup.CopyURL = "off", "/mnt/nas" }, []string{"backup-copy-url:"}},
		{"a copy in the same place", func(c *Config) { c.Backup.URL, c.Backup.CopyURL = "/mnt/nas", "/mnt/./nas/" }, []string{"backup-copy-url:"}},
		{"a backup that forgets at once", func(c *Config) { c.Backup.Retention = time.Minute }, []string{"backup-retention:"}},
		{"a short passphrase", func(c *Config) { c.Backup.Passphrase = "short" }, []string{"backup-passphrase:"}},
		{"a purge of a CDN", func(c *Config) {
			c.CDN = CDN{On: true, PurgeURL: "https://a.example/x", PurgeHeader: "Fastly-Key: k", PurgeBody: ""}
		}, nil},
		{"a purge while nothing is stored", func(c *Config) { c.CDN.PurgeURL = "https://a.example/x" }, []string{"cdn-purge-url: needs"}},
		{"an unencrypted purge", func(c *Config) { c.CDN = CDN{On: true, PurgeURL: "http://a.example/x"} }, []string{"cdn-purge-url: must"}},
		{"an unencrypted purge that is allowed", func(c *Config) { c.CDN, c.Mail.WebhookPrivate = CDN{On: true, PurgeURL: "http://127.0.0.1/x"}, true }, nil},
		{"a purge with a password", func(c *Config) { c.CDN = CDN{On: true, PurgeURL: "https://ana:pw@a.example/"} }, []string{"cdn-purge-url: must"}},
		{"a header without a purge", func(c *Config) { c.CDN.PurgeHeader = "A: b" }, []string{"cdn-purge-header: needs"}},
		{"purge headers", func(c *Config) { c.CDN = CDN{On: true, PurgeURL: "https://a.example/", PurgeHeader: "A b: c"} }, []string{"cdn-purge-header: must"}},
		{"a purge header with a line break", func(c *Config) { c.CDN = CDN{On: true, PurgeURL: "https://a.example/", PurgeHeader: "A: b\r\nC: d"} }, []string{"cdn-purge-header: must"}},
		{"a token without the name of its header", func(c *Config) { c.CDN = CDN{On: true, PurgeURL: "https://a.example/", PurgeHeader: "token"} }, []string{"cdn-purge-header: must"}},
		{"a purge body", func(c *Config) { c.CDN.PurgeBody = "tags" }, []string{"cdn-purge-body:"}},
		{"upload expiry", func(c *Config) { c.Storage.UploadExpiry = 0 }, []string{"upload-expiry:"}},
		{"several", func(c *Config) { c.Auth.JWTSecret, c.Auth.JWTExpiry, c.Storage.MaxUpload = "short", time.Second, 1 }, []string{"max-upload:", "jwt-secret:", "jwt-expiry:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := valid()
			c.set(&cfg)
			err := cfg.Validate()
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got %q", lines)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, c.want[i]) {
					t.Errorf("line %q, want %q", line, c.want[i])
				}
			}
		})
	}
}

func secure(c *Config, domains ...string) {
	c.Server.Domain, c.Server.ListenHTTPS, c.Server.ListenHTTP = domains, ":443", ":80"
}

func TestURLsComeFromTheFirstDomain(t *testing.T) {
	for _, c := range []struct{ listen, site, api, wantSite, wantAPI string }{
		{":443", "", "", "https://xn--ateli-lsa.example", "https://xn--ateli-lsa.example"},
		{"192.0.2.1:8443", "", "", "https://xn--ateli-lsa.example:8443", "https://xn--ateli-lsa.example:8443"},
		{":8443", "https://www.example.com/", "", "https://www.example.com", "https://www.example.com"},
		{":443", "", "https://www.example.com", "https://xn--ateli-lsa.example", "https://www.example.com"},
	} {
		cfg := valid()
		secure(&cfg, "Ateliê.example", "www.example.com")
		cfg.Server.ListenHTTPS, cfg.Server.SiteURL, cfg.Server.APIURL = c.listen, c.site, c.api
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		addr, err := cfg.ListenAddr()
		if err != nil {
			t.Fatal(err)
		}
		cfg.DeriveURLs(addr)
		if cfg.Server.SiteURL != c.wantSite || cfg.Server.APIURL != c.wantAPI {
			t.Errorf("%+v: %s, %s", c, cfg.Server.SiteURL, cfg.Server.APIURL)
		}
	}
}

const whsec = "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// Proves A-mail-6.
func TestSMTPAddresses(t *testing.T) {
	for address, want := range map[string]SMTPServer{
		"smtp://mail.example":                        {"mail.example", 587, "", "", "offered"},
		"smtp://mail.example:25/":                    {"mail.example", 25, "", "", "offered"},
		"smtp://ana:p%40ss@mail.example":             {"mail.example", 587, "ana", "p@ss", "required"},
		"smtp://ana%40b.example:p@mail.example:2525": {"mail.example", 2525, "ana@b.example", "p", "required"},
		"smtps://ana:p@mail.example":                 {"mail.example", 465, "ana", "p", "implicit"},
		"smtps://mail.example:1465?tls=required":     {"mail.example", 1465, "", "", "implicit"},
		"smtp://mail.example?tls=required":           {"mail.example", 587, "", "", "required"},
		"smtp://mail.example?tls=none":               {"mail.example", 587, "", "", "none"},
		"smtp://ana:p@localhost:1025?tls=none":       {"localhost", 1025, "ana", "p", "none"},
		"smtp://[::1]:1025?tls=offered":              {"::1", 1025, "", "", "offered"},
	} {
		got, err := (&Mail{SMTPURL: address}).Server()
		if err != nil || *got != want {
			t.Errorf("%s: %+v %v", address, got, err)
		}
	}
	if got, err := (&Mail{}).Server(); got != nil || err != nil {
		t.Errorf("%v %v", got, err)
	}
	for _, address := range []string{
		"mail.example", "http://mail.example", "smtp://", "smtp:mail.example", "smtp://mail.example:0", "smtp://mail.example:70000", "smtp://geheim@mail.example",
		"smtp://:geheim@mail.example", "smtp://ana:geheim@mail.example?tls=none", "smtp://ana:geheim@mail.example?tls=offered", "smtps://ana:geheim@mail.example?tls=none",
		"smtp://ana:geheim@mail.example?tls=maybe", "smtp://ana:geheim@mail.example?ssl=on", "smtp://ana:geheim@mail.example?tls=required&tls=none",
		"smtp://ana:geheim@mail.example/box", "smtp://ana:geheim@mail.example#x", "smtp://ana:ge heim%@mail.example",
	} {
		if got, err := (&Mail{SMTPURL: address}).Server(); err == nil {
			t.Errorf("%s was read as %+v", address, got)
		} else if strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"2GiB": 2 << 30, "500MB": 500e6, "1024": 1024, " 3 KiB ": 3072, "7B": 7} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "2TiB", "9999999999GiB", "1.5GB"} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, b)
		}
	}
	if got := Bytes(2 << 30).String(); got != "2GiB" {
		t.Errorf("got %s", got)
	}
	if got := Bytes(1000).String(); got != "1000" {
		t.Errorf("got %s", got)
	}
}

func TestURLsAreDerived(t *testing.T) {
	for _, c := range []struct {
		listen    net.TCPAddr
		site, api string
		wantSite  string
		wantAPI   string
	}{
		{net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000}, "", "", "http://127.0.0.1:8000", "http://127.0.0.1:8000"},
		{net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, "", "", "http://localhost:80", "http://localhost:80"},
		{net.TCPAddr{Port: 1}, "https://a.example/", "", "https://a.example", "https://a.example"},
		{net.TCPAddr{Port: 1}, "https://a.example", "https://api.a.example", "https://a.example", "https://api.a.example"},
	} {
		cfg := valid()
		cfg.Server.SiteURL, cfg.Server.APIURL = c.site, c.api
		cfg.DeriveURLs(&c.listen)
		if cfg.Server.SiteURL != c.wantSite || cfg.Server.APIURL != c.wantAPI {
			t.Errorf("%+v: got %s and %s", c, cfg.Server.SiteURL, cfg.Server.APIURL)
		}
	}
}
