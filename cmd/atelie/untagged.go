//go:build !nodynamic

package main

// Without the tag the WebP encoder would load whatever libwebp the host has, and the binary would need the host's C
// library. Build with -tags nodynamic, as the Makefile does.
var _ = build_with_tags_nodynamic
