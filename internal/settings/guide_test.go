package settings

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// Proves A-guide-seed.
//
// Seed lists the settings that still have the text of the seed. A setting leaves the list when the owner changes or clears its text.
func TestSeedKeysNameUnchangedTexts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		texts := []string{
			"about.title", "about.description", "about.description2", "about.portraitAlt", "testimonials.trustedBy", "contact.responseTime", "contact.success.body",
		}
		want := []string{"site.name"}
		ownTexts := map[string]map[string]string{"en": {}, "pt": {}}
		for language := range ownTexts {
			for _, key := range texts {
				want = append(want, "site.texts."+language+"."+key)
				ownTexts[language][key] = "My own " + key
			}
		}
		slices.Sort(want)
		first := d.get()
		if !slices.Equal(first.Seed, want) || first.Guide != "" {
			t.Errorf("a new site: %q, guide %q", first.Seed, first.Guide)
		}
		// A save of another field also stores the seed's texts; they stay in the list.
		partlyChanged, err := d.save(first.Version, `{"site":{"name":"Alvor","email":"ola@alvor.example","texts":{"en":{"testimonials.trustedBy":""}}}}`)
		if err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(key string) bool {
			return key == "site.name" || key == "site.texts.en.testimonials.trustedBy"
		})
		if !slices.Equal(partlyChanged.Seed, want) || !slices.Equal(d.get().Seed, want) {
			t.Errorf("after two of them were changed: %q", partlyChanged.Seed)
		}
		given, _ := json.Marshal(map[string]any{"site": map[string]any{"texts": ownTexts}})
		allChanged, err := d.save(partlyChanged.Version, string(given))
		if err != nil {
			t.Fatal(err)
		}
		if allChanged.Seed == nil || len(allChanged.Seed) > 0 {
			t.Errorf("a site in the owner's words: %q", allChanged.Seed)
		}
	})
}

// Proves A-guide-state.
//
// The state of the guide changes neither the version of the settings nor any page.
func TestGuideStateIsIndependentOfTheSettings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		first := d.get()
		for _, state := range []string{"dismissed", "", "done"} {
			response, err := d.call(admin, d.s.Save, `{"guide":"`+state+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			if again := d.get(); response.Guide != state || again.Guide != state || again.Version != first.Version || !slices.Equal(again.Seed, first.Seed) {
				t.Errorf("%q: %+v", state, again)
			}
		}
		if at, err := SiteChanged(t.Context(), database); err != nil || !at.IsZero() {
			t.Errorf("the site counts as changed at %v, %v", at, err)
		}
		if now, err := LoadSite(t.Context(), database); err != nil || !reflect.DeepEqual(now, first.Settings.Site) {
			t.Errorf("the site changed: %+v, %v", now, err)
		}
		// Saved together with settings, and unchanged by a save without it.
		both, err := d.call(admin, d.s.Save, `{"version":"`+first.Version+`","settings":{"site":{"name":"Alvor"}},"guide":"dismissed"}`)
		if err != nil || both.Guide != "dismissed" || both.Settings.Site.Name != "Alvor" {
			t.Errorf("%+v, %v", both, err)
		}
		if kept, err := d.save(both.Version, `{"site":{"name":"Anil"}}`); err != nil || kept.Guide != "dismissed" {
			t.Errorf("%+v, %v", kept, err)
		}
		// A refused save changes neither.
		if _, err := d.call(admin, d.s.Save, `{"version":"old","settings":{},"guide":"done"}`); err == nil || err.Code != "PT409" {
			t.Errorf("%v", err)
		}
		for body, code := range map[string]string{`{"guide":"finished"}`: "22023", `{"guide":7}`: "PGRST102", `{"guide":null}`: "PGRST102"} {
			if _, err := d.call(admin, d.s.Save, body); err == nil || err.Status != 400 || err.Code != code || (code == "22023" && err.Details != "guide") {
				t.Errorf("%s: %v", body, err)
			}
		}
		for _, c := range []identity.Caller{{}, {Role: identity.Anon}, {Role: identity.Authenticated, UserID: admin.UserID}} {
			if _, err := d.call(c, d.s.Save, `{"guide":"done"}`); err == nil || err.Code != "42501" {
				t.Errorf("%v: %v", c.Role, err)
			}
		}
		if d.get().Guide != "dismissed" {
			t.Error("a refused save changed the guide")
		}
		if response, err := d.call(identity.Caller{Role: identity.Service}, d.s.Save, `{"guide":"done"}`); err != nil || response.Guide != "done" {
			t.Errorf("the service key: %+v, %v", response, err)
		}
	})
}
