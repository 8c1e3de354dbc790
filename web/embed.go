// Package web embeds the built site, the files of web/dist, in the program. Before the first build, web/dist holds only a
// placeholder file. A server without a built site answers requests for pages with the error pages.ErrNotBuilt.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist returns the built site as a file system with index.html at its root. Without a build it has only the placeholder.
func Dist() (fs.FS, error) { return fs.Sub(dist, "dist") }
