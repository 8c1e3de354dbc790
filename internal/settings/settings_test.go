package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

var admin = identity.Caller{Role: identity.Authenticated, UserID: "11111111-1111-4111-8111-111111111111", Admin: true}

func TestMain(m *testing.M) { dbtest.Main(m) }

// client calls rpc/get_site_settings and rpc/save_site_settings.
type client struct {
	t *testing.T
	s *Service
}

// newClient returns a client of a new Service.
func newClient(t *testing.T, d *db.DB) client {
	t.Helper()
	s := New(d, Config{
		Describe: func(_ context.Context, addresses []string) (map[string]json.RawMessage, error) {
			return map[string]json.RawMessage{addresses[0]: json.RawMessage(`{"kind":"image"}`)}, nil
		},
		CheckWebhook: func(context.Context, string) string { return "" },
		Demo:         func(context.Context, db.Querier) ([]byte, []string, error) { return nil, nil, nil },
	}, time.Now)
	return client{t, s}
}

// call calls a handler, and returns the settings or the error.
func (d client) call(c identity.Caller, handler httpx.Handler, body string) (response ownerSettings, refusal *apperr.Error) {
	d.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	rec := httptest.NewRecorder()
	if err := handler(rec, r.WithContext(identity.With(r.Context(), c))); err != nil {
		return response, apperr.From(err)
	}
	if rec.Code != http.StatusOK || rec.Header().Get("Cache-Control") != "no-store" {
		d.t.Errorf("status %d, headers %v", rec.Code, rec.Header())
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil {
		d.t.Fatal(err)
	}
	return response, nil
}

// get returns the settings as an owner reads them.
func (d client) get() ownerSettings {
	d.t.Helper()
	response, err := d.call(admin, d.s.Get, "{}")
	if err != nil {
		d.t.Fatal(err)
	}
	return response
}

func (d client) save(version, settings string) (ownerSettings, *apperr.Error) {
	d.t.Helper()
	return d.call(admin, d.s.Save, `{"version":"`+version+`","settings":`+settings+`}`)
}

// Proves A-set-secret.
func TestSettingsAreForAdministrators(t *testing.T) {
	d := newClient(t, dbtest.Open(t, db.SQLite))
	for _, c := range []struct {
		name   string
		caller identity.Caller
		status int
	}{
		{"nobody", identity.Caller{}, 401},
		{"anonymous", identity.Caller{Role: identity.Anon}, 401},
		{"signed in", identity.Caller{Role: identity.Authenticated, UserID: admin.UserID}, 403},
		{"stranger", identity.Caller{Role: "postgres", Admin: true}, 403},
		{"admin", admin, 0},
		{"service", identity.Caller{Role: identity.Service}, 0},
	} {
		// The caller is checked before the body is read.
		for _, handler := range []httpx.Handler{d.s.Get, d.s.Save} {
			_, err := d.call(c.caller, handler, "not JSON")
			switch {
			case c.status == 0 && err != nil && err.Code != "PGRST102":
				t.Errorf("%s: %v", c.name, err)
			case c.status != 0 && (err == nil || err.Status != c.status || err.Code != "42501"):
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// Proves A-set-all, A-set-secret, A-set-lang.
func TestSettingsAreSavedAndMerged(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		first := d.get()
		if s := first.Settings; s.Site.Name != "Ateliê" || s.NoticeEmail == nil || len(s.NoticeEmail) > 0 || s.NoticeWebhook != "" || s.ThanksEnabled {
			t.Fatalf("%+v", first)
		}
		saved, err := d.save(first.Version, `{"site":{"name":" Alvor ","instagram":"@alvor.atelie","facebook":"https://www.facebook.com/alvor","whatsapp":"+351 912 345 678",
			"email":"ola@alvor.example","portrait":"/storage/v1/object/public/product-images/a.jpg","privacySince":"2026-12-24",
			"privacy":{"use":"Para responder.\r\nNada mais."},"texts":{"en":{"about.title":"Walls"},"pt":{"about.title":"Paredes"}}},
			"noticeEmail":["eu@alvor.example"," EU@alvor.example ","atelier@alvor.example"],"noticeWebhook":"https://hooks.example/new?key=1","noticeLanguage":"pt","thanksEnabled":true}`)
		if err != nil {
			t.Fatal(err)
		}
		s := saved.Settings
		if s.Site.Name != "Alvor" || s.Site.Privacy.Use != "Para responder.\nNada mais." || s.Site.Texts.PT.AboutTitle != "Paredes" ||
			s.Site.Texts.PT.TrustedBy != first.Settings.Site.Texts.PT.TrustedBy || !slices.Equal(s.NoticeEmail, []string{"eu@alvor.example", "atelier@alvor.example"}) {
			t.Errorf("%+v", s)
		}
		if again := d.get(); again.Version != saved.Version || again.Version == first.Version || !reflect.DeepEqual(again.Settings.Site, s.Site) || again.Settings.NoticeWebhook != "https://hooks.example/new?key=1" || !again.Settings.ThanksEnabled {
			t.Errorf("%+v", again)
		}
		// Fields that are left out stay.
		if part, err := d.save(saved.Version, `{"site":{"name":"Anil"}}`); err != nil || part.Settings.Site.Email != "ola@alvor.example" || !part.Settings.ThanksEnabled || len(part.Settings.NoticeEmail) != 2 {
			t.Errorf("%+v, %v", part, err)
		}
		// The rows as other packages read them.
		for key, want := range map[string]string{noticeWebhookKey: `"https://hooks.example/new?key=1"`, noticeLanguageKey: `"pt"`, thanksKey: "true"} {
			if rows, err := readRows(t.Context(), database, key); err != nil || rows[key] != want {
				t.Errorf("%s: %v, %v", key, rows, err)
			}
		}
	})
}

// Proves A-set-rules.
func TestInvalidSettingsAreRefused(t *testing.T) {
	d := newClient(t, dbtest.Open(t, db.SQLite))
	version := d.get().Version
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct{ field, settings string }{
		{"site.name", `{"site":{"name":"  "}}`},
		{"site.name", `{"site":{"name":"` + long(61) + `"}}`},
		{"site.name", `{"site":{"name":"a\nb"}}`},
		{"site.texts.en.about.title", `{"site":{"texts":{"en":{"about.title":"` + long(201) + `"}}}}`},
		{"site.texts.pt.about.description", `{"site":{"texts":{"pt":{"about.description":"a\u0000b"}}}}`},
		{"site.texts.pt.contact.success.body", `{"site":{"texts":{"pt":{"contact.success.body":"` + long(5001) + `"}}}}`},
		{"site.privacy.rights", `{"site":{"privacy":{"rights":"` + long(5001) + `"}}}`},
		{"site.privacySince", `{"site":{"privacySince":"24.12.2026"}}`},
		{"site.privacySince", `{"site":{"privacySince":""}}`},
		{"site.instagram", `{"site":{"instagram":"javascript:alert(1)"}}`},
		{"site.instagram", `{"site":{"instagram":"http://instagram.com/a"}}`},
		{"site.facebook", `{"site":{"facebook":"https://user:secret@facebook.com/"}}`},
		{"site.facebook", `{"site":{"facebook":"two words"}}`},
		{"site.facebook", `{"site":{"facebook":"//evil.example/a"}}`},
		{"site.whatsapp", `{"site":{"whatsapp":"https://evil.example/351"}}`},
		{"site.whatsapp", `{"site":{"whatsapp":"https://evilwhatsapp.com/351"}}`},
		{"site.whatsapp", `{"site":{"whatsapp":"12"}}`},
		{"site.whatsapp", `{"site":{"whatsapp":"call me"}}`},
		{"site.email", `{"site":{"email":"Ana <ana@example.com>"}}`},
		{"site.email", `{"site":{"email":"ana"}}`},
		{"site.email", `{"site":{"email":"a@b.pt?bcc=all@example.com, x@example.com"}}`},
		{"site.portrait", `{"site":{"portrait":"https://elsewhere.example/a.jpg"}}`},
		{"site.portrait", `{"site":{"portrait":"//elsewhere.example/storage/v1/object/public/a/b.jpg"}}`},
		{"site.portrait", `{"site":{"portrait":"javascript:/storage/v1/object/public/a/b"}}`},
		{"noticeEmail", `{"noticeEmail":["a@b.pt","nobody"]}`},
		{"noticeEmail", `{"noticeEmail":["` + strings.Join([]string{"a@b.pt", "b@b.pt", "c@b.pt", "d@b.pt", "e@b.pt", "f@b.pt", "g@b.pt", "h@b.pt", "i@b.pt", "j@b.pt", "k@b.pt"}, `","`) + `"]}`},
		{"noticeWebhook", `{"noticeWebhook":"http://hooks.example/"}`},
		{"noticeLanguage", `{"noticeLanguage":"fr"}`},
		{"noticeWebhook", `{"noticeWebhook":"ftp://127.0.0.1/"}`},
		{"noticeWebhook", `{"noticeWebhook":"https://hooks.example/a b"}`},
		{"site.gallery.types", `{"site":{"gallery":{"types":[]}}}`},
		{"site.gallery.types", `{"site":{"gallery":{"types":null}}}`},
		{"site.gallery.types", `{"site":{"gallery":{"types":["fresco"]}}}`},
		{"site.gallery.types", `{"site":{"gallery":{"types":["oil","oil"]}}}`},
		{"site.gallery.order", `{"site":{"gallery":{"order":"created_at.asc"}}}`},
		{"site.gallery.order", `{"site":{"gallery":{"order":""}}}`},
		{"site.gallery.strip", `{"site":{"gallery":{"strip":"title.asc"}}}`},
	} {
		if _, err := d.save(version, c.settings); err == nil || err.Status != 400 || err.Code != "22023" || err.Details != c.field {
			t.Errorf("%.80s: got %v, want %s", c.settings, err, c.field)
		}
	}
	for _, c := range []struct {
		body, code string
		status     int
	}{
		{"", "PGRST102", 400}, {"[]", "PGRST102", 400}, {`{"version":"a"}`, "PGRST102", 400}, {`{"version":"` + version + `","settings":[]}`, "PGRST102", 400},
		{`{"version":"` + version + `","settings":{"site":{"name":7}}}`, "PGRST102", 400}, {`{"version":"` + strings.Repeat("x", maxBody) + `"}`, "54000", 413},
	} {
		if _, err := d.call(admin, d.s.Save, c.body); err == nil || err.Status != c.status || err.Code != c.code {
			t.Errorf("%.60s: %v", c.body, err)
		}
	}
	if d.get().Version != version {
		t.Error("a refused save changed something")
	}
	for _, settings := range []string{
		`{"noticeWebhook":"http://127.0.0.1:5678/hook"}`, `{"noticeWebhook":"http://localhost/hook"}`, `{"site":{"whatsapp":"https://api.whatsapp.com/send?phone=351900000000"}}`,
		`{"site":{"portrait":"https://a.example/storage/v1/object/public/product-images/a.jpg"}}`, `{"site":{"name":"` + long(60) + `"}}`, `{"noticeEmail":null,"site":{"email":""}}`,
	} {
		saved, err := d.save(version, settings)
		if err != nil {
			t.Errorf("%.80s: %v", settings, err)
			continue
		}
		version = saved.Version
	}
}

// Proves A-set-two.
//
// Two tabs, owners or nodes that save from the same version conflict: one succeeds, and the others get an error.
func TestConcurrentSavesConflict(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		old := d.get().Version
		const savers = 6
		refusals := make([]*apperr.Error, savers)
		var all sync.WaitGroup
		for i := range savers {
			all.Go(func() { _, refusals[i] = d.save(old, `{"site":{"name":"Saver `+string(rune('A'+i))+`"}}`) })
		}
		all.Wait()
		won := ""
		for i, err := range refusals {
			switch {
			case err == nil && won == "":
				won = "Saver " + string(rune('A'+i))
			case err == nil:
				t.Error("two saves from one state")
			case err.Status != 409 || err.Code != "PT409":
				t.Error(err)
			}
		}
		if got := d.get(); won == "" || got.Settings.Site.Name != won || got.Version == old {
			t.Errorf("%q won, %+v", won, got)
		}
	})
}
