//go:build !nodynamic

package main

// The undefined name below stops a build without -tags nodynamic (the Makefile sets the tag). Without the tag, the WebP encoder would load
// any libwebp that the machine has, and the program would need the machine's C library.
var _ = build_with_tags_nodynamic
