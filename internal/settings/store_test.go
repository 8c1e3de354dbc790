package settings

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestSiteSettingsAreSeededAndReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got, err := LoadSite(t.Context(), d)
		if err != nil || got.Name != "Ateliê" || got.PrivacySince != "2026-11-21" || got.Email+got.Instagram+got.Facebook+got.WhatsApp+got.Portrait != "" {
			t.Fatalf("got %+v, error %v", got, err)
		}
		for language, texts := range map[string]Texts{"en": got.Texts.EN, "pt": got.Texts.PT} {
			v := reflect.ValueOf(texts)
			for i := range v.NumField() {
				if v.Field(i).String() == "" {
					t.Errorf("%s: no seed text for %s", language, v.Type().Field(i).Tag.Get("json"))
				}
			}
		}
		for _, name := range []string{"One", "Two"} {
			if err := save(t.Context(), d, SiteKey, Site{Name: name}, time.Now()); err != nil {
				t.Fatal(err)
			}
			if got, err := LoadSite(t.Context(), d); err != nil || got.Name != name {
				t.Errorf("got %+v, error %v", got, err)
			}
		}
	})
}

// Proves A-set-none.
//
// A row that the demo content or an earlier version wrote can lack fields. LoadSite gives these fields the values of the seed. A text that the
// owner has cleared stays empty.
func TestStoredSettingsOverrideTheSeed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		seeded, err := LoadSite(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		row := `{"name":"Alvor","texts":{"pt":{"about.title":"Pinto à mão","contact.responseTime":""}}}`
		if _, err := d.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ($1, $2, $3)", SiteKey, row, time.Now()); err != nil {
			t.Fatal(err)
		}
		want := seeded
		want.Name, want.Texts.PT.AboutTitle, want.Texts.PT.ContactResponseTime = "Alvor", "Pinto à mão", ""
		got, err := LoadSite(t.Context(), d)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, error %v", got, err)
		}
		// Saving and loading again changes nothing, including cleared texts.
		if err := save(t.Context(), d, SiteKey, got, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadSite(t.Context(), d); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
}

func TestSettingsThatCannotBeReadAreAnError(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ($1, $2, $3)", SiteKey, `{"texts":[]}`, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadSite(t.Context(), d); err == nil || !strings.Contains(err.Error(), "site settings") {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
}
