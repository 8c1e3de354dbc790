package settings

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-commissions.
func TestVisitorsAreToldAboutCommissionsWhenTheOwnerSaysSo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		first := d.get()
		for _, text := range []string{`"commissions"`, `"responseTime"`} { // the version of settings that were stored before stays the same
			if data, err := json.Marshal(first.Settings); err != nil || strings.Contains(string(data), text) {
				t.Errorf("a new site has %s: %s, %v", text, data, err)
			}
		}
		onPages := func() (Commissions, string) {
			t.Helper()
			site, err := LoadPageSite(t.Context(), database)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(site)
			if err != nil {
				t.Fatal(err)
			}
			return site.Commissions, string(data)
		}
		_, before := onPages()

		saved, err := d.save(first.Version, `{"site":{"commissions":{"texts":{"en":{"accepts":" Murals\r\nand portraits ","prices":"from 300 €"},"pt":{"leadTime":"seis semanas"}}}}}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, after := onPages(); after != before {
			t.Errorf("off: %s\nbefore: %s", after, before)
		}
		want := Commissions{State: CommissionsWaitlist}
		want.Texts.EN.Accepts, want.Texts.EN.Prices, want.Texts.PT.LeadTime, want.Texts.PT.Steps = "Murals\nand portraits", "from 300 €", "seis semanas", "Conversa\nEsboço"
		if saved, err = d.save(saved.Version, `{"site":{"commissions":{"state":"waitlist","texts":{"pt":{"steps":"Conversa\nEsboço"}}}}}`); err != nil || !reflect.DeepEqual(saved.Settings.Site.Commissions, want) {
			t.Errorf("%+v, %v, want %+v", saved.Settings.Site.Commissions, err, want)
		}
		if got, _ := onPages(); !reflect.DeepEqual(got, want) {
			t.Errorf("pages: %+v, want %+v", got, want)
		}
		if saved, err = d.save(saved.Version, `{"site":{"commissions":{"state":""}}}`); err != nil {
			t.Fatal(err)
		}
		if _, after := onPages(); after != before || saved.Settings.Site.Commissions.Texts != want.Texts {
			t.Errorf("off again: %s, kept %+v", after, saved.Settings.Site.Commissions)
		}
	})
}

// Proves A-set-commissions.
func TestCommissionsAreChecked(t *testing.T) {
	d := newClient(t, dbtest.Open(t, db.SQLite))
	version := d.get().Version
	for _, c := range []struct{ given, field string }{
		{`{"state":"on"}`, "site.commissions.state"},
		{`{"texts":{"en":{"accepts":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.en.accepts"},
		{`{"texts":{"pt":{"declines":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.pt.declines"},
		{`{"texts":{"pt":{"prices":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.pt.prices"},
		{`{"texts":{"pt":{"leadTime":"` + strings.Repeat("é", 201) + `"}}}`, "site.commissions.texts.pt.leadTime"},
		{`{"texts":{"en":{"leadTime":"six\nweeks"}}}`, "site.commissions.texts.en.leadTime"},
		{`{"texts":{"en":{"steps":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.en.steps"},
		{`{"texts":{"en":{"terms":"` + strings.Repeat("é", 5001) + `"}}}`, "site.commissions.texts.en.terms"},
		{`{"texts":{"en":{"terms":"a\u0000b"}}}`, "site.commissions.texts.en.terms"},
	} {
		if _, err := d.save(version, `{"site":{"commissions":`+c.given+`}}`); err == nil || err.Status != 400 || err.Code != "22023" || err.Details != c.field {
			t.Errorf("%.60s: %+v", c.given, err)
		}
	}
	if _, err := d.save(version, `{"site":{"responseTime":"guessed"}}`); err == nil || err.Details != "site.responseTime" {
		t.Errorf("%+v", err)
	}
	for _, given := range []string{`{"commissions":"open"}`, `{"commissions":{"state":1}}`, `{"commissions":{"texts":[]}}`, `{"responseTime":24}`} {
		if _, err := d.save(version, `{"site":`+given+`}`); err == nil || err.Status != 400 {
			t.Errorf("%s: %+v", given, err)
		}
	}
	longest := strings.Repeat("é", 2000)
	if _, err := d.save(version, `{"site":{"commissions":{"state":"open","texts":{"en":{"accepts":"`+longest+`","declines":"`+longest+`","prices":"`+longest+`","steps":"`+longest+`","leadTime":"`+
		strings.Repeat("é", 200)+`","terms":"`+strings.Repeat("é", 5000)+`"}}}}}`); err != nil {
		t.Errorf("texts at their limits: %+v", err)
	}
}
