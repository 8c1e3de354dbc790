package settings

import (
	"cmp"
	"fmt"
	"slices"
)

// Gallery is what the owner has chosen for the gallery (the page of all works) and the featured strip (the works on the home page). A type of
// works is one of artworkTypes.
type Gallery struct {
	Types      []string `json:"types"`           // the types of works that the gallery shows, in the order of their filter buttons; at least one
	Order      string   `json:"order"`           // the order of the gallery: OrderNewest or OrderManual
	StripOrder string   `json:"strip,omitempty"` // the order of the featured strip: OrderNewest or OrderManual; "" for the order of the gallery
	HideEmpty  bool     `json:"hideEmpty"`       // true: types without a work have no filter button
}

// The orders of works, as the order parameter of requests.
const (
	OrderNewest = "created_at.desc" // the newest work first
	OrderManual = "position.asc"    // by the position column; rpc/move_work sets it
)

// artworkTypes lists the types of works: the values that the artwork_type column allows, in the order in which the form of a work lists them.
var artworkTypes = []string{"digital", "watercolour", "mural", "oil", "acrylic"}

// HiddenTypes returns the types of works that the gallery does not show.
func (g Gallery) HiddenTypes() []string {
	return slices.DeleteFunc(slices.Clone(artworkTypes), func(t string) bool { return slices.Contains(g.Types, t) })
}

// EffectiveStripOrder returns the order of the featured strip: StripOrder, or Order if StripOrder is "".
func (g Gallery) EffectiveStripOrder() string { return cmp.Or(g.StripOrder, g.Order) }

// withDefaults returns g. If g has no types or no order, it gets those of seed (the settings of a new site). checkGallery rejects such a g, but
// a stored gallery may not have been checked.
func (g Gallery) withDefaults(seed Gallery) Gallery {
	if len(g.Types) == 0 {
		g.Types = seed.Types
	}
	g.Order = cmp.Or(g.Order, seed.Order)
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
	if g.StripOrder != "" && g.StripOrder != OrderNewest && g.StripOrder != OrderManual {
		return errField("site.gallery.strip", "must be created_at.desc or position.asc, or empty")
	}
	return nil
}
