package settings

import (
	"reflect"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-gallery.
func TestTheGalleryHasDefaultsUntilTheOwnerChooses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		first := d.get()
		want := Gallery{Types: []string{"digital", "mural", "watercolour"}, Order: OrderNewest}
		if got := first.Settings.Site.Gallery; !reflect.DeepEqual(got, want) || !reflect.DeepEqual(got.HiddenTypes(), []string{"oil", "acrylic"}) {
			t.Errorf("a new site: %+v, hidden %v", got, got.HiddenTypes())
		}
		saved, err := d.save(first.Version, `{"site":{"gallery":{"types":["oil","acrylic"],"order":"position.asc","strip":"created_at.desc","hideEmpty":true}}}`)
		if err != nil {
			t.Fatal(err)
		}
		want = Gallery{Types: []string{"oil", "acrylic"}, Order: OrderManual, StripOrder: OrderNewest, HideEmpty: true}
		if got := d.get().Settings.Site.Gallery; !reflect.DeepEqual(got, want) || got.EffectiveStripOrder() != OrderNewest {
			t.Errorf("%+v, want %+v", got, want)
		}
		// A shorter list replaces a longer one. Fields that a save leaves out stay.
		saved, err = d.save(saved.Version, `{"site":{"gallery":{"types":["mural"],"strip":""}}}`)
		want = Gallery{Types: []string{"mural"}, Order: OrderManual, HideEmpty: true}
		if got := saved.Settings.Site.Gallery; err != nil || !reflect.DeepEqual(got, want) || got.EffectiveStripOrder() != OrderManual {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		// Earlier versions stored settings without a gallery.
		if err := save(t.Context(), database, SiteKey, map[string]any{"name": "Alvor"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := d.get().Settings.Site.Gallery; !reflect.DeepEqual(got, first.Settings.Site.Gallery) {
			t.Errorf("stored without a gallery: %+v", got)
		}
	})
}
