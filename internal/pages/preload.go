package pages

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"
)

// manifest is what the build tells about its modules, by their path in the sources.
type manifest map[string]struct {
	File    string   `json:"file"`
	Imports []string `json:"imports"`
	CSS     []string `json:"css"`
}

func readManifest(dist fs.FS) (manifest, error) {
	data, err := fs.ReadFile(dist, ".vite/manifest.json")
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("manifest of the site: %w", err)
	}
	for _, module := range slices.Concat([]string{startModule}, languageModules("en"), languageModules("pt"), pageModules("/gallery"), pageModules("/politica-privacidade")) {
		if _, ok := m[module]; !ok {
			return nil, fmt.Errorf("manifest of the site: no %s", module)
		}
	}
	return m, nil
}

// startModule is what a page that the server has drawn loads first.
const startModule = "src/start.ts"

func languageModules(language string) []string { return []string{"src/locales/" + language + ".json"} }

// pageModules are the modules that app/router.tsx waits for before it draws a public page.
func pageModules(path string) []string {
	switch {
	case path == "/gallery" || strings.HasPrefix(path, "/gallery/"):
		return []string{"src/app/routes/public/gallery.tsx"}
	case strings.TrimSuffix(path, "/") == "/politica-privacidade":
		return []string{"src/app/routes/public/privacy.tsx", "src/locales/privacy.json"}
	}
	return nil
}

// preloads names what the entry will ask for first, so that the browser asks for it together with the entry. What
// index.html loads by itself is left out.
func (m manifest) preloads(path, language string) string {
	seen := map[string]bool{"index.html": true}
	for _, module := range m["index.html"].Imports {
		seen[module] = true
	}
	var links strings.Builder
	queue := slices.Concat(languageModules(language), pageModules(path))
	for len(queue) > 0 {
		module := queue[0]
		queue = queue[1:]
		if seen[module] {
			continue
		}
		seen[module] = true
		fmt.Fprintf(&links, `<link rel="modulepreload" crossorigin href="/%s">`, html.EscapeString(m[module].File))
		queue = append(queue, m[module].Imports...)
	}
	return links.String()
}
