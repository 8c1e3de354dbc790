package webhook

import (
	"net/netip"
	"testing"
)

// Proves AM-notice-4.
//
// TestPublicAddresses checks that a webhook can connect only to public IP addresses.
func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "::ffff:93.184.215.14": true,
		"127.0.0.1": false, "127.8.8.8": false, "::1": false, "::ffff:127.0.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false,
		"10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "fc00::1": false, "fd12::1": false,
		"169.254.169.254": false, "fe80::1": false, "100.64.0.1": false, "198.18.0.1": false, "192.0.0.170": false,
		"224.0.0.1": false, "ff02::1": false, "255.255.255.255": false, "240.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false,
	} {
		if got := IsPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
