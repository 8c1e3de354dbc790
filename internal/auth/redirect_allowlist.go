package auth

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"atelie/internal/auth/saml"
)

// redirectAllowlist decides to which URLs a browser can be redirected: the URLs of the site, and those that match a pattern of
// Config.RedirectURLs. It refuses all others, because the URL of a redirect can contain a session, which no other site must get.
type redirectAllowlist struct {
	site     *url.URL          // SiteURL; nil if it is not a valid URL with a host
	patterns []redirectPattern // of Config.RedirectURLs; see compileGlob for the syntax
}

// redirectPattern is a compiled pattern. A pattern with a scheme matches the parts of a URL separately, because
// https://**.site.example/** must not match https://evil.example/.site.example/.
type redirectPattern struct {
	authority *regexp.Regexp // matches the scheme and host; nil for a pattern without a scheme
	path      *regexp.Regexp // matches the path and query; nil for a pattern without a scheme
	wholeURL  *regexp.Regexp // matches the complete URL; nil for a pattern with a scheme
}

// newRedirectAllowlist compiles the patterns. A pattern with wrong syntax matches only its own text, without wildcards. The
// authority and the path of a pattern are compiled separately, so a mistake in one of them does not change the other.
func newRedirectAllowlist(site string, patterns []string) redirectAllowlist {
	var list redirectAllowlist
	if base, err := url.Parse(site); err == nil && base.Host != "" {
		list.site = base
	}
	for _, pattern := range patterns {
		if pattern = strings.TrimSpace(pattern); pattern == "" {
			continue
		}
		for _, alternative := range expandBraces(pattern) { // {a,b} stands for several patterns
			list.patterns = append(list.patterns, compilePattern(alternative))
		}
	}
	return list
}

// compilePattern compiles a pattern. A pattern without a path matches only URLs without a path. If it ends with **, as in
// https://app.example**, it matches URLs with any path.
func compilePattern(pattern string) redirectPattern {
	schemeEnd := strings.Index(pattern, "://")
	if schemeEnd < 0 {
		return redirectPattern{wholeURL: compileGlob(pattern)}
	}
	hostStart := schemeEnd + len("://")
	pathOffset := indexOutsideSets(pattern[hostStart:], "/") // relative to hostStart
	switch {
	case pathOffset >= 0:
		return redirectPattern{authority: compileGlob(strings.ToLower(pattern[:hostStart+pathOffset])), path: compileGlob(pattern[hostStart+pathOffset:])}
	case strings.HasSuffix(pattern, "**"):
		return redirectPattern{authority: compileGlob(strings.ToLower(pattern)), path: compileGlob("**")}
	}
	return redirectPattern{authority: compileGlob(strings.ToLower(pattern)), path: compileGlob("")}
}

// indexOutsideSets returns the index of the first byte of pattern that is one of chars, or -1. It skips bytes after a backslash, and bytes
// in a set such as [a-z].
func indexOutsideSets(pattern, chars string) int {
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
		case strings.IndexByte(chars, pattern[i]) >= 0:
			return i
		case pattern[i] == '[':
			i += max(0, strings.IndexByte(pattern[i:], ']'))
		}
	}
	return -1
}

// maxAlternatives is the maximum number of patterns for which the braces of one pattern can stand.
const maxAlternatives = 1000

// expandBraces returns the patterns for which a pattern with braces stands: a{b,c} stands for ab and ac. A pattern whose braces do not
// match, or that stands for more than maxAlternatives, is returned as it is.
func expandBraces(pattern string) []string {
	expanded := []string{}
	rest := []string{pattern} // patterns that may have braces
	for len(rest) > 0 {
		p := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		open := indexOutsideSets(p, "{")
		if open < 0 {
			expanded = append(expanded, p)
		} else {
			parts, after, ok := alternatives(p[open+1:])
			if !ok {
				return []string{pattern}
			}
			for _, part := range parts {
				rest = append(rest, p[:open]+part+after)
			}
		}
		if len(expanded)+len(rest) > maxAlternatives {
			return []string{pattern}
		}
	}
	return expanded
}

// alternatives splits the text after an opening brace at the commas of that brace, up to its closing brace. after is the text after the
// closing brace.
func alternatives(text string) (parts []string, after string, ok bool) {
	depth, begin := 0, 0
	for i := 0; i < len(text); i++ {
		next := indexOutsideSets(text[i:], "{},")
		if next < 0 {
			return nil, "", false
		}
		i += next
		switch {
		case text[i] == '{':
			depth++
		case text[i] == '}' && depth > 0:
			depth--
		case text[i] == '}':
			return append(parts, text[begin:i]), text[i+1:], true
		case depth == 0:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return nil, "", false
}

// compileGlob converts a pattern with Supabase Auth's syntax to a regular expression: * matches any characters except . and /,
// ** any characters, ? one character except . and /, [a-z] and [!a-z] one character of a set, {a,b} one of several texts, and
// \ makes the next character literal. No pattern can make matching slow: Go's regexp takes time linear in the length of the URL.
func compileGlob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	depth := 0 // number of braces that are open
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
				return literalPattern(pattern)
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
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1])) // a byte of a longer UTF-8 character stays unchanged
		}
	}
	b.WriteString(`)\z`)
	compiled, err := regexp.Compile(b.String())
	if err != nil || depth > 0 {
		return literalPattern(pattern)
	}
	return compiled
}

// globSet converts the inside of brackets to a character class.
func globSet(set string) string {
	negated := strings.HasPrefix(set, "!")
	set = strings.TrimPrefix(set, "!")
	set = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(set)
	if negated {
		return "[^" + set + "]"
	}
	return "[" + set + "]"
}

// literalPattern returns an expression that matches only the text of the pattern itself.
func literalPattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD")) + `\z`)
}

// matches reports whether the pattern matches a URL, which the caller has split into authority and path.
func (p redirectPattern) matches(authority, path string) bool {
	if p.wholeURL != nil {
		return p.wholeURL.MatchString(authority + path)
	}
	return p.authority.MatchString(authority) && p.path.MatchString(path)
}

var (
	webHost = regexp.MustCompile(`\A[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\z`)
	// numericHost matches hosts whose last part is a number. Browsers read them as IPv4 addresses, in forms that net.ParseIP
	// does not know.
	numericHost = regexp.MustCompile(`(?:\A|\.)(?:[0-9]+|0x[0-9a-f]*)\z`)
	// activeSchemes are never allowed: they run or show content of the URL itself, or open something else than a web page.
	activeSchemes = map[string]bool{
		"javascript": true, "data": true, "vbscript": true, "blob": true, "file": true, "filesystem": true, "about": true, "view-source": true,
		"ws": true, "wss": true, "ftp": true, "mailto": true, "tel": true, "sms": true, "intent": true, "jar": true, "chrome": true,
	}
)

// allows reports whether a URL is the site's or matches a pattern. It rejects URLs that browsers may parse differently from
// this program: those with a user name, backslashes, spaces, control characters, dot segments, an encoded or non-ASCII host,
// or with one or three slashes after the scheme.
func (l redirectAllowlist) allows(target string) bool {
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c == 0x7f || c == '\\' {
			return false
		}
	}
	target, _, _ = strings.Cut(target, "#")
	u, err := url.Parse(target)
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.User != nil || activeSchemes[u.Scheme] || hasDotSegments(u.Path) {
		return false
	}
	after := target[len(u.Scheme)+1:]
	web := u.Scheme == "http" || u.Scheme == "https"
	host := strings.ToLower(u.Hostname())
	if web && (!strings.HasPrefix(after, "//") || !isWebHost(host)) {
		return false
	}
	if l.isSite(u, host) {
		// This service itself is no target: it could redirect the browser to a provider, and browsers keep the fragment with
		// the session over redirects.
		return u.Path != "/auth/v1" && !strings.HasPrefix(u.Path, "/auth/v1/")
	}
	if web && !saml.IsLoopback(host) && (numericHost.MatchString(host) || net.ParseIP(host) != nil) {
		return false
	}
	authority, path := u.Scheme+":", after
	if strings.HasPrefix(after, "//") {
		end := strings.IndexAny(after[2:], "/?")
		if end < 0 {
			end = len(after) - 2
		}
		authority, path = strings.ToLower(u.Scheme+":"+after[:2+end]), after[2+end:]
	}
	return slices.ContainsFunc(l.patterns, func(p redirectPattern) bool { return p.matches(authority, path) })
}

// isSite reports whether the URL has the site's origin. On a loopback host every port is accepted (RFC 8252 §7.3).
func (l redirectAllowlist) isSite(u *url.URL, host string) bool {
	return l.site != nil && u.Scheme == l.site.Scheme && host == strings.ToLower(l.site.Hostname()) && (portOf(u) == portOf(l.site) || saml.IsLoopback(host))
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// isWebHost reports whether host is a plain ASCII host name or an IP address.
func isWebHost(host string) bool {
	return webHost.MatchString(host) && !strings.Contains(host, "..") || net.ParseIP(host) != nil
}

func hasDotSegments(path string) bool {
	parts := strings.Split(path, "/")
	return slices.Contains(parts, ".") || slices.Contains(parts, "..")
}
