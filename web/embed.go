// Package web embeds the built site, web/dist, in the program. Before the first build the folder holds only a placeholder
// file; the server then answers requests for pages with the error pages.ErrNotBuilt.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist returns the built site as a file system with index.html at its root. Without a build it has only the placeholder.
func Dist() (fs.FS, error) { return fs.Sub(dist, "dist") }
