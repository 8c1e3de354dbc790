package settings

import (
	"fmt"
	"slices"
)

// Gallery is what the owner has chosen for the gallery (the page of all works) and the featured strip (the works on the home page).
type Gallery struct {
	Types     []string `json:"types"`           // the types of works that the gallery shows, in the order of their filter buttons; at least one
	Order     string   `json:"order"`           // the order of the gallery: OrderNewest or OrderManual
	Strip     string   `json:"strip,omitempty"` // the order of the featured strip: OrderNewest or OrderManual; "" for the order of the gallery
	HideEmpty bool     `json:"hideEmpty"`       // true: types without a work have no filter button
}

// The orders of works, as the order parameter of requests.
const (
	OrderNewest = "created_at.desc" // the newest work first
	OrderManual = "position.asc"    // by the position column; rpc/move_work sets it
)

// artworkTypes lists the types of works that the artwork_type column allows, in the order of the form.
var artworkTypes = []string{"digital", "watercolour", "mural", "oil", "acrylic"}

// HiddenTypes returns the types of works that the gallery does not show.
func (g Gallery) HiddenTypes() (hidden []string) {
	for _, t := range artworkTypes {
		if !slices.Contains(g.Types, t) {
			hidden = append(hidden, t)
		}
	}
	return hidden
}

// StripOrder returns the order of the featured strip.
func (g Gallery) StripOrder() string {
	if g.Strip != "" {
		return g.Strip
	}
	return g.Order
}

// withDefaults returns g with the types and the order of seed (the settings of a new site) if these are missing. Settings that an earlier
// version of the program has stored have no Gallery.
func (g Gallery) withDefaults(seed Gallery) Gallery {
	if len(g.Types) == 0 {
		g.Types = seed.Types
	}
	if g.Order == "" {
		g.Order = seed.Order
	}
	return g
}

// checkGallery checks the settings of the gallery.
func (s *Settings) checkGallery() error {
	g := &s.Site.Gallery
	if len(g.Types) == 0 {
		return errField("site.gallery.types", "must contain a type of works")
	}
	for i, t := range g.Types {
		if !slices.Contains(artworkTypes, t) {
			return errField("site.gallery.types", fmt.Sprintf("contains %q, which is not a type of works", t))
		}
		if slices.Contains(g.Types[:i], t) {
			return errField("site.gallery.types", fmt.Sprintf("contains %q twice", t))
		}
	}
	if g.Order != OrderNewest && g.Order != OrderManual {
		return errField("site.gallery.order", "must be created_at.desc or position.asc")
	}
	if g.Strip != "" && g.Strip != OrderNewest && g.Strip != OrderManual {
		return errField("site.gallery.strip", "must be created_at.desc or position.asc, or empty")
	}
	return nil
}
