package settings

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-whatsapp.
func TestPhoneNumbersAreStoredInE164(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		version := d.get().Version
		for given, stored := range map[string]string{
			"+351 912 345 678": "+351912345678", "+55 (11) 96123-4567": "+5511961234567", "tel:+44-7911-123456": "", "+44 7911 123456": "+447911123456",
			"https://wa.me/351912345678": "https://wa.me/351912345678", "https://wa.me/message/ABC": "https://wa.me/message/ABC",
			"912 345 678": "", "351912345678": "", "+912345678": "", "+351 12": "", "00351912345678": "", "+351912345678 ext. 5": "",
			"https://wa.me/912345678": "", "https://wa.me/": "",
		} {
			saved, err := d.save(version, `{"site":{"whatsapp":"`+given+`"}}`)
			switch {
			case stored == "" && (err == nil || err.Details != "site.whatsapp"):
				t.Errorf("%s is accepted: %v", given, err)
			case stored != "" && (err != nil || saved.Settings.Site.WhatsApp != stored):
				t.Errorf("%s: %q, %v", given, saved.Settings.Site.WhatsApp, err)
			case stored != "":
				version = saved.Version
			}
		}
	})
}

// Proves A-set-whatsapp.
//
// A number without a country code that an earlier version stored stays valid until the owner changes it.
func TestUnchangedOldPhoneNumberIsAccepted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		if err := save(t.Context(), database, SiteKey, Site{Name: "Alvor", PrivacySince: "2026-01-02", WhatsApp: "912 345 678"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		saved, err := d.save(d.get().Version, `{"site":{"name":"Anil","whatsapp":"912 345 678"}}`)
		if err != nil || saved.Settings.Site.Name != "Anil" || saved.Settings.Site.WhatsApp != "912 345 678" {
			t.Errorf("got %+v, error %v", saved.Settings.Site, err)
		}
		if _, err := d.save(saved.Version, `{"site":{"whatsapp":"912 345 679"}}`); err == nil {
			t.Error("another number without a country code is accepted")
		}
	})
}
