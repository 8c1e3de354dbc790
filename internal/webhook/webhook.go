// Package webhook checks the URLs of webhooks, signs the calls, and makes the HTTP client that calls them. A webhook is a URL of another
// service that the site calls, for example to report a new message. Package cdn also uses the client, for the purge API of a CDN.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// callTimeout limits one call of a webhook, from the DNS query to the end of the response.
const callTimeout = 10 * time.Second

// Errors of URLs that must not be called.
var (
	ErrURL     = errors.New("the webhook's URL must begin with https:// and have no user name")
	ErrHost    = errors.New("the webhook's URL has a host name that is not valid")
	ErrPrivate = errors.New("the webhook's URL points to a host in a private network")
)

// hostNamePattern matches host names of the DNS, whose labels have at most 63 characters (RFC 1123 §2.1). numericHostPattern matches names
// whose last label is a number. Such names are refused, because URL parsers read them as IP addresses in an old notation, such as 0x7f.1.
var (
	hostNamePattern    = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.?$`)
	numericHostPattern = regexp.MustCompile(`(^|\.)(0[xX][0-9A-Fa-f]*|[0-9]+)\.?$`)
)

// ParseURL parses the URL of a webhook. The URL must be https, or http if allowPrivate is set. The error is ErrURL or ErrHost. ParseURL
// makes no DNS query.
func ParseURL(rawURL string, allowPrivate bool) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, ErrURL
	}
	if isAllowed := u.Scheme == "https" || allowPrivate && u.Scheme == "http"; !isAllowed {
		return nil, ErrURL
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, ErrHost
		}
	}
	name := u.Hostname()
	if _, err := netip.ParseAddr(name); err == nil {
		return u, nil
	}
	// The patterns apply only to ASCII names. The HTTP client converts other names to ASCII (punycode) later.
	isASCII := !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
	const maxHostName = 253 // RFC 1035
	if name == "" || len(name) > maxHostName || (isASCII && (!hostNamePattern.MatchString(name) || numericHostPattern.MatchString(name))) {
		return nil, ErrHost
	}
	return u, nil
}

// NewClient returns an HTTP client for the URLs of webhooks. It follows no redirect and uses no proxy. Unless allowPrivate is set, it
// connects only to public IP addresses. It checks the IP address of each connection and not the host name, because a name can resolve
// to another IP address than before (DNS rebinding).
func NewClient(allowPrivate bool) *http.Client {
	dialer := &net.Dialer{Timeout: callTimeout}
	if !allowPrivate {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !IsPublic(at.Addr()) {
				return ErrPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: callTimeout, MaxResponseHeaderBytes: 64 << 10},
	}
}

// reservedNetworks are networks that are not private by netip's rules, but are not part of the public internet either
// (RFC 6890, RFC 6052, RFC 3056).
var reservedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
}

// IsPublic reports whether an IP address is one of the public internet.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(reservedNetworks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Sign sets the headers of a request with a JSON body as Standard Webhooks 1.0 (standardwebhooks.com) requires, so that the receiver can
// verify the sender. id must be the same at every attempt. The request gets a signature for each key that is not nil.
func Sign(r *http.Request, id string, now time.Time, body []byte, keys ...[]byte) {
	id, sent := "msg_"+id, strconv.FormatInt(now.Unix(), 10)
	var signatures []string
	for _, key := range keys {
		if key != nil {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(id + "." + sent + "."))
			mac.Write(body)
			signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", sent)
	r.Header.Set("webhook-signature", strings.Join(signatures, " "))
}

// StatusError is the error of a call whose response has another status than 2xx.
type StatusError struct {
	Host   string
	Status int
}

func (e StatusError) Error() string {
	return fmt.Sprintf("%s responded with status %d", e.Host, e.Status)
}

// Send sends a request with a client of NewClient. A status other than 2xx is a StatusError. Errors contain the host, but no other part
// of the URL and nothing of the response, because both may be secret.
func Send(c *http.Client, r *http.Request) error {
	res, err := c.Do(r)
	if errors.Is(err, ErrPrivate) {
		return ErrPrivate
	}
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the text of url.Error contains the whole URL
		}
		return fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)); err != nil && res.StatusCode/100 == 2 {
		return fmt.Errorf("%s: %w", r.URL.Host, err)
	}
	if res.StatusCode/100 != 2 {
		return StatusError{r.URL.Host, res.StatusCode}
	}
	return nil
}
