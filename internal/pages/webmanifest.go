package pages

import (
	"context"
	"encoding/json"
	"net/http"

	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// manifestIcon is an element of the array "icons" in the web app manifest.
type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

// WebManifest handles /site.webmanifest (W3C Web Application Manifest), which tells browsers how to install the site as an app. The
// parameter lang of the URL selects the language of the manifest.
func (s *Service) WebManifest(w http.ResponseWriter, r *http.Request) error {
	l := i18n.Language(requestedLanguage(r.URL))
	return s.serveGenerated(w, r, "manifest "+string(l), "application/manifest+json", func(ctx context.Context) ([]byte, error) {
		site, err := settings.LoadSite(ctx, s.db)
		if err != nil {
			return nil, err
		}
		home, err := s.describePage(ctx, view{path: "/", language: string(l), status: http.StatusOK}, site)
		if err != nil {
			return nil, err
		}
		name := oneLine(site.Name)
		const pageColour = "#fafaf8" // background of the light theme
		return json.Marshal(struct {
			ID          string         `json:"id"`
			Name        string         `json:"name"`
			ShortName   string         `json:"short_name"`
			Description string         `json:"description"`
			Lang        i18n.Language  `json:"lang"`
			Dir         string         `json:"dir"`
			StartURL    string         `json:"start_url"`
			Scope       string         `json:"scope"`
			Display     string         `json:"display"`
			Theme       string         `json:"theme_color"`
			Background  string         `json:"background_color"`
			Icons       []manifestIcon `json:"icons"`
		}{
			ID:          "/",
			Name:        name,
			ShortName:   name,
			Description: home.description,
			Lang:        l,
			Dir:         "ltr",
			StartURL:    localizePath("/", l),
			Scope:       "/",
			Display:     "minimal-ui",
			Theme:       pageColour,
			Background:  pageColour,
			Icons: []manifestIcon{
				{Src: "/favicon.svg", Sizes: "any", Type: "image/svg+xml"},
				{Src: "/icon-192.png", Sizes: "192x192", Type: "image/png"},
				{Src: "/icon-512.png", Sizes: "512x512", Type: "image/png"},
				{Src: "/icon-maskable.png", Sizes: "512x512", Type: "image/png", Purpose: "maskable"},
			},
		})
	})
}
