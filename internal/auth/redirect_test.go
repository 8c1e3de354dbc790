package auth

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// Proves A-safe-13.
func TestRedirectsToTheSite(t *testing.T) {
	r := newRedirectAllowlist("https://ines.example", nil)
	for target, want := range map[string]bool{
		"https://ines.example": true, "https://ines.example/": true, "https://ines.example/a/b?c=d#e": true, "HTTPS://INES.example/": true, "https://ines.example:443/x": true,
		"https://ines.example?x=https://evil.example": true, "https://ines.example/ção": true,
		"": false, "/": false, "/admin": false, "admin": false, "//evil.example": false, "///evil.example": false, "////evil.example": false, "https:": false, "https://": false,
		"http://ines.example": false, "https://ines.example:8443": false, "https://ines.example.evil.example": false, "https://evil.example/ines.example": false,
		"https://ines.example@evil.example": false, "https://ines.example:x@evil.example": false, "https://x@ines.example": false, "https://@ines.example": false,
		`https:/\evil.example`: false, `https:\\evil.example`: false, `https://evil.example\@ines.example`: false, `https://ines.example\.evil.example`: false, `\\ines.example`: false,
		"https:/evil.example": false, "https:evil.example": false, "https:///ines.example": false, "https:ines.example": false, "https:/ines.example": false,
		"https://ines.example%2f.evil.example": false, "https://evil.example%2f@ines.example": false, "https://ines.example%00.evil.example": false, "https://ines.example%40evil.example": false,
		"https://ınes.example": false, "https://ines。example": false, "https://ines.example。evil.example": false, "https://ines.exam\u00adple": false,
		" https://ines.example": false, "https://ines.example\r\nSet-Cookie: a=b": false, "https://ines.example/\x00": false, "https://ines.example/\x7f": false, "https://ines.example/a b": false, "\thttps://ines.example": false,
		"javascript:alert(1)": false, "JavaScript:alert(1)": false, "javascript://ines.example/%0aalert(1)": false, "data:text/html,x": false, "data://ines.example": false, "blob:https://ines.example/x": false,
		"https://ines.example./": false, "https://ines.example/../x": false, "https://ines.example/%2e%2e/x": false, "https://ines.example/a/%2E/x": false, "https://ines.example:/": true,
		"https://ines.example/auth/v1/authorize?provider=x": false, "https://ines.example/%61uth/v1/verify": false, "https://ines.example/auth/v1": false, "https://ines.example/auth/v1x": true, "https://ines.example:x/": false,
	} {
		if got := r.allows(target); got != want {
			t.Errorf("%q: %v", target, got)
		}
	}
	local := newRedirectAllowlist("http://127.0.0.1:8000", nil)
	for target, want := range map[string]bool{"http://127.0.0.1:5173/x": true, "http://127.0.0.1": true, "http://127.0.0.2:8000": false, "https://127.0.0.1": false, "http://localhost:8000": false} {
		if got := local.allows(target); got != want {
			t.Errorf("%q: %v", target, got)
		}
	}
	if newRedirectAllowlist("", nil).allows("https://ines.example") {
		t.Error("without a site nothing is the site's")
	}
}

// Proves A-set-5, A-safe-13.
func TestRedirectPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"https://app.example", []string{"https://app.example", "HTTPS://APP.example", "https://app.example#x"}, []string{"https://app.example/", "https://app.example/x", "http://app.example", "https://app.example.evil"}},
		{"https://app.example/*", []string{"https://app.example/", "https://app.example/x", "https://app.example/x-y?z"}, []string{"https://app.example/x/y", "https://app.example/x.y", "https://app.example", "https://app.example/../x"}},
		{"https://app.example/**", []string{"https://app.example/", "https://app.example/x/y.z?q=a/b", "https://app.example/x%2fy"}, []string{"https://app.example", "https://app.example.evil/x", "https://evil.example/https://app.example/x", "https://app.example@evil.example/", "https://app.example:8443/"}},
		{"https://*.app.example/**", []string{"https://a.app.example/", "https://A-b.app.example/x"}, []string{"https://a.b.app.example/", "https://app.example/", "https://evil.example/.app.example/", "https://evil.example?.app.example/", "https://a.app.example.evil/", "https://evil.example#.app.example/"}},
		{"https://**.app.example/**", []string{"https://a.app.example/", "https://a.b.app.example/x"}, []string{"https://evil.example/.app.example/", "https://evil.example/x.app.example/y", "https://evil.example?x.app.example/", `https://evil.example\.app.example/`, "https://evil.example:80/.app.example/x"}},
		{"http://localhost:*/**", []string{"http://localhost:3000/", "http://localhost:1/x/y"}, []string{"http://localhost/", "http://localhost:3000.evil.example/", "http://localhost:3000@evil.example/"}},
		{"https://app.example/p?ge", []string{"https://app.example/page", "https://app.example/p-ge"}, []string{"https://app.example/p/ge", "https://app.example/p.ge", "https://app.example/pge"}},
		{"https://app.example/[abc]x", []string{"https://app.example/ax"}, []string{"https://app.example/dx", "https://app.example/x"}},
		{"https://app.example/[!abc]x", []string{"https://app.example/dx"}, []string{"https://app.example/ax"}},
		{"https://app.example/[0-9]", []string{"https://app.example/7"}, []string{"https://app.example/x", "https://app.example/-"}},
		{"https://app.example/{en,pt}/**", []string{"https://app.example/en/", "https://app.example/pt/x"}, []string{"https://app.example/fr/", "https://app.example/enpt/"}},
		{"https://{a,b}.example", []string{"https://a.example", "https://b.example"}, []string{"https://c.example", "https://a.example/"}},
		{"https://**.{a,b}.example/**", []string{"https://x.a.example/", "https://x.y.b.example/z"}, []string{"https://evil.example/.a.example/", "https://evil.example/x.b.example/y", "https://evil.example?.a.example/"}},
		{"https://**.{a,b}.example", []string{"https://x.a.example"}, []string{"https://evil.example/.a.example", "https://evil.example?.a.example", "https://x.a.example/"}},
		{"https://**.app.example", []string{"https://x.app.example"}, []string{"https://evil.example/.app.example", "https://evil.example?.app.example"}},
		{"https://*.app.example", []string{"https://x.app.example"}, []string{"https://evil?.app.example", "https://evil.example?.app.example"}},
		{`https://**\.app.example/**`, []string{"https://x.app.example/y"}, []string{"https://evil.example/.app.example/"}},
		{"https://**.[ab]pp.example/**", []string{"https://x.app.example/y"}, []string{"https://evil.example/.app.example/"}},
		{"https://{**.a.example/x,b.example/{y,z}}", []string{"https://1.a.example/x", "https://b.example/y", "https://b.example/z"}, []string{"https://evil.example/.a.example/x", "https://b.example/x", "https://b.example/"}},
		{"{http,https}://{a,b}.example/**", []string{"http://a.example/", "https://b.example/x"}, []string{"ftp://a.example/", "https://c.example/", "https://evil.example/http://a.example/"}},
		{"{https://a.example,com.ines.app://b}/**", []string{"https://a.example/x", "com.ines.app://b/x"}, []string{"https://b/x", "https://a.example"}},
		{"https://app.example/a{,b,c}", []string{"https://app.example/a", "https://app.example/ab"}, []string{"https://app.example/abc"}},
		{"http://localhost:**", []string{"http://localhost:3000", "http://localhost:3000/x/y?z"}, []string{"http://localhost", "http://evil.example/localhost:1"}},
		{"https://" + strings.Repeat("{a,b}", 12) + ".example/", []string{"https://abababababab.example/"}, []string{"https://a.example/"}},
		{`https://app.example/\*`, []string{"https://app.example/*"}, []string{"https://app.example/x"}},
		{"https://app.example/a,b", []string{"https://app.example/a,b"}, []string{"https://app.example/a", "https://app.example/b"}},
		{"https://app.example/(x|y)+", []string{"https://app.example/(x|y)+"}, []string{"https://app.example/x", "https://app.example/xy"}},
		{"https://app.example/[", []string{"https://app.example/["}, []string{"https://app.example/x"}},
		{"https://app.example/{a", []string{"https://app.example/{a"}, []string{"https://app.example/a"}},
		{"com.ines.app://callback/**", []string{"com.ines.app://callback/", "com.ines.app://callback/x"}, []string{"com.ines.app://evil/", "com.ines.app:callback", "evil://callback/"}},
		{"https://**", []string{"https://anything.example/at/all"}, []string{"http://x.example", "https://1.2.3.4/", "https://16909060/", "https://0x7f.1/", "https://[2001:db8::1]/", "https://a@b.example", "https://"}},
		{"**", []string{"https://anything.example/at/all", "http://127.0.0.1:3000/", "app://x"}, []string{"javascript:alert(1)", "data:text/html,x", "//x.example", "vbscript:x", "file:///etc/passwd", "javascript://x/%0aalert(1)"}},
		{"  https://app.example  ", []string{"https://app.example"}, nil},
		{"", nil, []string{"", "https://app.example"}},
	} {
		r := newRedirectAllowlist("https://ines.example", []string{c.pattern})
		for _, target := range c.yes {
			if !r.allows(target) {
				t.Errorf("%q refuses %q", c.pattern, target)
			}
		}
		for _, target := range c.no {
			if r.allows(target) {
				t.Errorf("%q allows %q", c.pattern, target)
			}
		}
	}
}

// Proves A-safe-13.
func TestHostilePatternsTakeNoTime(t *testing.T) {
	r := newRedirectAllowlist("https://ines.example", []string{"https://" + strings.Repeat("**a", 200) + "/" + strings.Repeat("*?", 200)})
	began := time.Now()
	if r.allows("https://" + strings.Repeat("a", 200) + ".example/" + strings.Repeat("a", 2000) + ".") {
		t.Error("matches")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

func TestQueryParametersAreReplacedAndTheOthersKept(t *testing.T) {
	for to, want := range map[string]string{
		"https://a.example": "https://a.example?code=new", "https://a.example/?x=1&code=old&y=%2F#f": "https://a.example/?x=1&y=%2F&code=new",
		"https://a.example?": "https://a.example?code=new", "https://a.example?c%6fde=old": "https://a.example?code=new",
	} {
		if got := withQuery(to, url.Values{"code": {"new"}}); got != want {
			t.Errorf("%s: %s", to, got)
		}
	}
}

// Proves A-safe-19.
//
// FuzzRedirect compares how a browser parses an allowed URL with the patterns that allow it.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{"https://ines.example/x", "https://ines.example@evil.example", `https:/\evil.example`, "//evil.example", "https://a.app.example/x?y#z", "https://evil.example/.app.example/",
		"javascript:alert(1)", "https://ines.example\r\nx: y", "https://ines.example%2f.evil.example", "HTTPS://INES.EXAMPLE:443", "http://127.0.0.1:3000/x", "ines://callback", "https://ıneſ.example"} {
		f.Add(seed)
	}
	r := newRedirectAllowlist("https://ines.example", []string{"https://*.app.example/**", "https://**.deep.example/**", "http://localhost:*/**", "ines://callback"})
	f.Fuzz(func(t *testing.T, target string) {
		if !r.allows(target) {
			return
		}
		if strings.ContainsAny(target, "\\\r\n\t \x00") {
			t.Errorf("%q contains characters that browsers drop or convert", target)
		}
		scheme, rest, ok := strings.Cut(target, "://")
		if !ok {
			t.Fatalf("%q has no authority", target)
		}
		authority := rest
		if end := strings.IndexAny(rest, "/?#"); end >= 0 { // where the WHATWG parser ends the host
			authority = rest[:end]
		}
		host, port, _ := strings.Cut(strings.ToLower(authority), ":")
		plain := strings.Trim(port, "0123456789") == ""
		switch strings.ToLower(scheme) {
		case "https":
			ours := host == "ines.example" && (port == "" || port == "443")
			if !plain || !ours && !strings.HasSuffix(host, ".app.example") && !strings.HasSuffix(host, ".deep.example") {
				t.Errorf("%q leads to %q", target, authority)
			}
		case "http":
			if host != "localhost" || !plain {
				t.Errorf("%q leads to %q", target, authority)
			}
		case "ines":
			if authority != "callback" && !strings.EqualFold(authority, "callback") {
				t.Errorf("%q leads to %q", target, authority)
			}
		default:
			t.Errorf("%q has the scheme %q", target, scheme)
		}
		if u, err := url.Parse(withQuery(target, url.Values{"code": {"x"}})); err != nil || u.Query().Get("code") != "x" || !strings.EqualFold(u.Host, authority) {
			t.Errorf("%q cannot carry a code: %v %v", target, u, err)
		}
	})
}
