package auth

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

// redirects knows which addresses a browser may be sent to: those of the site, and those that match a pattern.
type redirects struct {
	site     *url.URL
	patterns []redirectPattern
}

// redirectPattern is a pattern in two halves, so that no wildcard before the first slash reaches into the path:
// https://**.site.example/** must not match https://evil.example/.site.example/. whole is for patterns without
// such a slash.
type redirectPattern struct{ authority, rest, whole *regexp.Regexp }

// newRedirects reads the patterns. One that is malformed matches nothing but itself.
func newRedirects(site string, patterns []string) redirects {
	var r redirects
	if base, err := url.Parse(site); err == nil && base.Host != "" {
		r.site = base
	}
	for _, p := range patterns {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		scheme, rest, ok := strings.Cut(p, "://")
		slash := strings.IndexByte(rest, '/')
		if !ok || slash < 0 || strings.ContainsAny(scheme+rest[:slash], "{}[]\\") {
			r.patterns = append(r.patterns, redirectPattern{whole: compileGlob(p)})
			continue
		}
		r.patterns = append(r.patterns, redirectPattern{authority: compileGlob(strings.ToLower(scheme + "://" + rest[:slash])), rest: compileGlob(rest[slash:])})
	}
	return r
}

// compileGlob reads a pattern in the form that the service has them: * is any run without . and /, ** any run, ? one
// character but . and /, [a-z] and [!a-z] one of a set, {a,b} one of several, \ takes the meaning from what follows. It
// becomes a regular expression, whose matching takes time in proportion to the address whatever the pattern says.
func compileGlob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' && i+1 < len(pattern) && pattern[i+1] == '*':
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
			b.WriteString(`.*`)
		case c == '*':
			b.WriteString(`[^./]*`)
		case c == '?':
			b.WriteString(`[^./]`)
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '[':
			end := strings.IndexByte(pattern[i:], ']')
			if end < 2 {
				return literally(pattern)
			}
			b.WriteString(globSet(pattern[i+1 : i+end]))
			i += end
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == '}' && depth > 0:
			depth--
			b.WriteString(`)`)
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		default:
			b.WriteString(quoteByte(c))
		}
	}
	b.WriteString(`)\z`)
	compiled, err := regexp.Compile(b.String())
	if err != nil || depth > 0 {
		return literally(pattern)
	}
	return compiled
}

// quoteByte keeps the bytes of letters beyond ASCII as they are: together they are one letter.
func quoteByte(c byte) string {
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

func globSet(set string) string {
	negated := strings.HasPrefix(set, "!")
	set = strings.TrimPrefix(set, "!")
	set = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(set)
	if negated {
		return "[^" + set + "]"
	}
	return "[" + set + "]"
}

func literally(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD")) + `\z`)
}

func (p redirectPattern) match(authority, rest string) bool {
	if p.whole != nil {
		return p.whole.MatchString(authority + rest)
	}
	return p.authority.MatchString(authority) && p.rest.MatchString(rest)
}

var (
	webHost = regexp.MustCompile(`\A[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\z`)
	// browsers read a host whose last part is a number as an IPv4 address, in more forms than net.ParseIP knows
	numericHost = regexp.MustCompile(`(?:\A|\.)(?:[0-9]+|0x[0-9a-f]*)\z`)
	// activeSchemes run or show what the address itself holds, or leave the web.
	activeSchemes = map[string]bool{
		"javascript": true, "data": true, "vbscript": true, "blob": true, "file": true, "filesystem": true, "about": true, "view-source": true,
		"ws": true, "wss": true, "ftp": true, "mailto": true, "tel": true, "sms": true, "intent": true, "jar": true, "chrome": true,
	}
)

// allows tells whether an address is the site's or matches a pattern. An address that browsers and this program could
// read differently is refused: with userinfo, backslashes, blanks, control characters, dot segments, an encoded or
// non-ASCII host, one slash or three after the scheme.
func (r redirects) allows(asked string) bool {
	for i := range len(asked) {
		if c := asked[i]; c <= ' ' || c == 0x7f || c == '\\' {
			return false
		}
	}
	asked, _, _ = strings.Cut(asked, "#")
	u, err := url.Parse(asked)
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.User != nil || activeSchemes[u.Scheme] || hasDotSegments(u.Path) {
		return false
	}
	after := asked[len(u.Scheme)+1:]
	web := u.Scheme == "http" || u.Scheme == "https"
	host := strings.ToLower(u.Hostname())
	if web && (!strings.HasPrefix(after, "//") || !webName(host)) {
		return false
	}
	if r.isSite(u, host) {
		// Not back to this service: it would send the browser on to a provider, and browsers keep what stands behind #.
		return u.Path != "/auth/v1" && !strings.HasPrefix(u.Path, "/auth/v1/")
	}
	if web && !isLoopback(host) && (numericHost.MatchString(host) || net.ParseIP(host) != nil) {
		return false
	}
	authority, rest := u.Scheme+":", after
	if strings.HasPrefix(after, "//") {
		end := strings.IndexAny(after[2:], "/?")
		if end < 0 {
			end = len(after) - 2
		}
		authority, rest = strings.ToLower(u.Scheme+":"+after[:2+end]), after[2+end:]
	}
	for _, p := range r.patterns {
		if p.match(authority, rest) {
			return true
		}
	}
	return false
}

// isSite tells whether the address has the site's origin. On a loopback host any port will do (RFC 8252 §7.3).
func (r redirects) isSite(u *url.URL, host string) bool {
	return r.site != nil && u.Scheme == r.site.Scheme && host == strings.ToLower(r.site.Hostname()) && (portOf(u) == portOf(r.site) || isLoopback(host))
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// webName is true for a plain host name or an IP address.
func webName(host string) bool {
	return webHost.MatchString(host) && !strings.Contains(host, "..") || net.ParseIP(host) != nil
}

func hasDotSegments(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
