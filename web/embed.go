// Package web embeds the built site. Before the first build the folder holds nothing but a placeholder, and the
// program says so instead of serving pages.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist is the built site: index.html and what it needs.
func Dist() (fs.FS, error) { return fs.Sub(dist, "dist") }
