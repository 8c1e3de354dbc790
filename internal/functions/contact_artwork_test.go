package functions

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves FN-contact-artwork.
//
// A message is stored whatever its artwork_id is. The id is stored only if that work is published.
func TestMessageStoresItsPublishedWork(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const published, draft = "33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444"
		s := newSite(t, d)
		for id, title := range map[string]string{published: "Romãs", draft: "Secret"} {
			if _, err := d.Exec(t.Context(), "insert into products (id, title, artwork_type, created_at, published_at, is_published) values ($1, $2, 'mural', $3, $4, $5)",
				id, title, s.clock, map[string]any{published: s.clock, draft: nil}[id], id == published); err != nil {
				t.Fatal(err)
			}
		}
		// storedWork returns the artwork_id of the only message in a table, and deletes the message.
		storedWork := func(table string) (id string) {
			t.Helper()
			if err := d.QueryRow(t.Context(), "select coalesce(cast(artwork_id as text), '') from "+table).Scan(&id); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Exec(t.Context(), "delete from "+table); err != nil {
				t.Fatal(err)
			}
			return id
		}
		withArtwork := func(value string) string { return strings.Replace(good, "}", `,"artwork_id":`+value+`}`, 1) }
		for _, c := range []struct{ body, want string }{
			{good, ""},
			{withArtwork(`"` + published + `"`), published},
			{withArtwork(`"` + strings.ToUpper(published) + `"`), published},
			{withArtwork(`"` + draft + `"`), ""},
			{withArtwork(`"55555555-5555-4555-8555-555555555555"`), ""},
			{withArtwork(`""`), ""}, {withArtwork(`null`), ""}, {withArtwork(`7`), ""}, {withArtwork(`["` + published + `"]`), ""}, {withArtwork(`{"id":"` + published + `"}`), ""},
			{withArtwork(`"` + published + `' or 1=1 --"`), ""}, {withArtwork(`"\u0000"`), ""}, {withArtwork(`"` + strings.Repeat("a", 5000) + `"`), ""},
		} {
			answered(t, s.call("anon", "submit-contact", c.body), 200, success)
			if got := storedWork("contact_submissions"); got != c.want {
				t.Errorf("%.120s: stored %q, want %q", c.body, got, c.want)
			}
		}

		// A form of a browser, and a message that passes through the quarantine.
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/functions/v1/submit-contact",
			strings.NewReader("name=In%C3%AAs&email=ines%40exemplo.pt&message=Gosto+muito+do+mural.&reason=&artwork_id="+published))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		rec := httptest.NewRecorder()
		s.http.ServeHTTP(rec, r)
		if got := storedWork("contact_submissions"); rec.Code != 200 || got != published {
			t.Errorf("a form: %d, stored %q", rec.Code, got)
		}
		for _, c := range []struct{ id, want string }{{published, published}, {draft, ""}} {
			answered(t, s.call("anon", "submit-contact", strings.Replace(withArtwork(`"`+c.id+`"`), `"reason":""`, `"reason":"buy now"`, 1)), 200, success)
			var id string
			if err := d.QueryRow(t.Context(), "select id from contact_quarantine").Scan(&id); err != nil {
				t.Fatal(err)
			}
			answered(t, s.call("admin", "contact-quarantine", `{"action":"restore","id":"`+id+`"}`), 200, `{"success":true,"id":"`+id+`"}`)
			if got := storedWork("contact_submissions"); got != c.want {
				t.Errorf("restored with %q, want %q", got, c.want)
			}
		}
	})
}
