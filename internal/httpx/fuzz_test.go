package httpx

import (
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// FuzzClientIP checks that the address of a client is valid and cannot be forged by the client: it is the address of the
// connection, or the last address in the header that does not belong to a trusted proxy.
func FuzzClientIP(f *testing.F) {
	for _, header := range []string{"", "1.2.3.4", "1.2.3.4, 127.0.0.1", "::ffff:1.2.3.4", "fe80::1%eth0", "999.1.1.1", ",,", "unknown", "1.2.3.4:80", "[::1]:80"} {
		f.Add(header, "127.0.0.1:1234")
		f.Add(header, "9.9.9.9:1234")
	}
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	f.Fuzz(func(t *testing.T, header, remote string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", header)
		got := clientIP(r, trusted)
		direct, err := netip.ParseAddrPort(remote)
		if err != nil {
			return // net/http never sets such a RemoteAddr
		}
		if got == direct.Addr().Unmap().WithZone("").String() || got == direct.Addr().String() {
			return
		}
		if !isTrusted(direct.Addr(), trusted) {
			t.Errorf("%s claims to be %q and is taken for %q", remote, header, got)
		}
		addr, err := netip.ParseAddr(got)
		if err != nil {
			t.Fatalf("%q from %s gives %q", header, remote, got)
		}
		claimed := slices.ContainsFunc(strings.Split(header, ","), func(part string) bool {
			a, err := netip.ParseAddr(strings.TrimSpace(part))
			return err == nil && a.Unmap().WithZone("") == addr.Unmap().WithZone("")
		})
		if !claimed {
			t.Errorf("%q from %s gives %q", header, remote, got)
		}
	})
}
