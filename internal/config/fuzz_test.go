package config

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzStorageURL checks the setting storage-url: an error must not contain the secret access key, and an accepted URL must name one bucket,
// key, secret and region, with a prefix that does not leave the bucket.
func FuzzStorageURL(f *testing.F) {
	for _, address := range []string{"s3://KEY:SECRET@s3.example.com/bucket", "s3://k:s%2Fs@localhost:9000/bucket/a/b?tls=off&create=on&path-style=off&region=eu-west-1", "s3://k:s@h/b", "s3://k:s@h/bucket/../x",
		"s3://k:s@h/bucket?tls=1&tls=2", "s3:/x", "http://k:s@h/bucket", "s3://k:s@[::1]:9/bucket//", "s3://k:s@h/bucket/%2e%2e/x?region=%0a"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		s := Storage{URL: address}
		b, err := s.Bucket()
		if err != nil {
			u, parseErr := url.Parse(address)
			if parseErr != nil || u.User == nil {
				return
			}
			if secret, _ := u.User.Password(); len(secret) > 12 && strings.Contains(err.Error(), secret) {
				t.Errorf("the error contains the secret: %v", err)
			}
			return
		}
		if b == nil {
			if address != "" {
				t.Errorf("%q is treated like the empty setting", address)
			}
			return
		}
		if !bucketName.MatchString(b.Bucket) || b.KeyID == "" || b.Secret == "" || !regionName.MatchString(b.Region) {
			t.Errorf("%q gives %+v", address, b)
		}
		if b.Prefix != "" && (path.Clean(b.Prefix)+"/" != b.Prefix || strings.HasPrefix(b.Prefix, "/") || strings.HasPrefix(b.Prefix, "..")) {
			t.Errorf("%q has a prefix that leaves the bucket: %q", address, b.Prefix)
		}
		if end, err := url.Parse(b.Endpoint); err != nil || end.Hostname() == "" || end.User != nil || end.Path != "" {
			t.Errorf("%q has the endpoint %q (%v)", address, b.Endpoint, err)
		}
	})
}

// FuzzSMTPURL checks that a password is never sent unencrypted to another machine.
func FuzzSMTPURL(f *testing.F) {
	for _, address := range []string{"smtp://u:p@mail.example.com:587", "smtps://mail.example.com", "smtp://localhost:25?tls=none", "smtp://u:p@mail.example.com?tls=none", "smtp://u@h", "smtp://h:0", "smtps://h?tls=offered", "smtp://u:p@[::1]?tls=none"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		m := Mail{SMTPURL: address}
		s, err := m.Server()
		if err != nil || s == nil {
			return
		}
		if s.Host == "" || s.Port < 1 || s.Port > 65535 || (s.User == "") != (s.Password == "") {
			t.Errorf("%q gives %+v", address, s)
		}
		if s.User != "" && s.TLS != "required" && s.TLS != "implicit" && !isThisMachine(s.Host) {
			t.Errorf("%q would send its password unencrypted: %+v", address, s)
		}
	})
}

// FuzzAddresses checks that an accepted URL of the site is a URL with nothing after the host.
func FuzzAddresses(f *testing.F) {
	for _, text := range []string{"https://example.com", "http://127.0.0.1:8000/", "https://u:p@example.com", "https://example.com?x", "//example.com", "javascript:alert(1)", "http://[::1]"} {
		f.Add(text, text, text)
	}
	f.Fuzz(func(t *testing.T, origin, hook, issuer string) {
		if u, err := url.Parse(origin); isOrigin(origin) && (err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
			t.Errorf("%q is taken for an origin", origin)
		}
		if u, err := url.Parse(hook); validateServiceURL("sms-hook-url", hook) == nil && (err != nil || u.Hostname() == "" || (u.Scheme == "http" && strings.HasSuffix(u.Hostname(), ".com"))) {
			t.Errorf("%q is accepted as a service for codes", hook)
		}
		if u, err := url.Parse(issuer); isIssuer(issuer) && (err != nil || u.Host == "" || u.User != nil) {
			t.Errorf("%q is taken for an issuer", issuer)
		}
	})
}

// FuzzSizes checks that a size equals its own text form, parsed again.
func FuzzSizes(f *testing.F) {
	for _, text := range []string{"500MB", "2GiB", "1", "0B", "-1", "9223372036854775807", "9GiBB", " 1 KB "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size, again Bytes
		if size.UnmarshalText([]byte(text)) != nil {
			return
		}
		if size < 0 {
			t.Errorf("%q is %d bytes", text, size)
		}
		if err := again.UnmarshalText([]byte(size.String())); err != nil || again != size {
			t.Errorf("%q is %d bytes, written %s, and then %d (%v)", text, size, size, again, err)
		}
	})
}

// FuzzProxies checks that no network is wider than its text says.
func FuzzProxies(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "127.0.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "10.0.0.1/33", "0.0.0.0/0", " 10.1.2.3/8 "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Server{TrustedProxies: []string{text}}
		prefixes, err := s.Proxies()
		if err != nil {
			return
		}
		if len(prefixes) != 1 || !prefixes[0].IsValid() {
			t.Fatalf("%q gives %v", text, prefixes)
		}
		if !strings.Contains(text, "/") && !prefixes[0].IsSingleIP() {
			t.Errorf("%q gives %v", text, prefixes)
		}
	})
}
