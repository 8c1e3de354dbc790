package activity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var (
	admin = identity.Caller{Role: identity.Authenticated, UserID: "11111111-1111-4111-8111-111111111111", Admin: true}
	noon  = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

// newService returns a service that reads these events of accounts. events must be sorted, newest first.
func newService(d *db.DB, now func() time.Time, events ...Entry) *Service {
	return New(d, Config{Events: func(_ context.Context, kinds []Kind, after Position, limit int) ([]Entry, error) {
		var list []Entry
		for _, e := range events {
			if slices.Contains(kinds, e.Kind) && (e.At.Before(after.At) || e.At.Equal(after.At) && e.ID > after.Event) {
				list = append(list, e)
			}
		}
		return list[:min(limit, len(list))], nil
	}}, now)
}

// get calls rpc/get_activity with a body, and returns the response or the error.
func (s *Service) get(t *testing.T, c identity.Caller, body string) (got response, apiErr *apperr.Error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	rec := httptest.NewRecorder()
	if err := s.GetActivity(rec, r.WithContext(identity.With(r.Context(), c))); err != nil {
		return got, apperr.From(err)
	}
	if rec.Code != http.StatusOK || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, headers %v", rec.Code, rec.Header())
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got, nil
}

// Proves A-activity-who.
func TestActivityIsForAdministrators(t *testing.T) {
	s := newService(dbtest.Open(t, db.SQLite), time.Now)
	for _, c := range []struct {
		name   string
		caller identity.Caller
		status int // of the refusal; 0 if the caller may read the activity
	}{
		{"no role", identity.Caller{}, 401},
		{"anonymous", identity.Caller{Role: identity.Anon}, 401},
		{"signed in", identity.Caller{Role: identity.Authenticated, UserID: admin.UserID}, 403},
		{"unknown role", identity.Caller{Role: "postgres", Admin: true}, 403},
		{"admin", admin, 0},
		{"service", identity.Caller{Role: identity.Service}, 0},
	} {
		_, err := s.get(t, c.caller, "not JSON") // the caller is checked before the body is read
		switch {
		case c.status == 0 && (err == nil || err.Code != "PGRST102"):
			t.Errorf("%s: %v", c.name, err)
		case c.status != 0 && (err == nil || err.Status != c.status || err.Code != "42501"):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Proves A-activity-who.
func TestBadRequestsAreRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d, time.Now)
		for body, code := range map[string]string{
			`{"kind":"login"}`:              "22023",
			`{"kind":"change') or 1=1 --"}`: "22023",
			`{"after":"%"}`:                 "22023",
			`{"after":"e30"}`:               "22023", // {}
			`{"after":"` + (Position{noon, 1, "x"}).encode() + `"}`: "22023",
			`{"after":"` + (Position{Event: "x"}).encode() + `"}`:   "22023",
			`{"kind":7}`: "PGRST102",
			`{"after":"` + strings.Repeat("x", maxBody) + `"}`: "54000",
		} {
			if _, err := s.get(t, admin, body); err == nil || err.Code != code || err.Status < 400 || err.Status > 499 {
				t.Errorf("%.80s: %v, want %s", body, err, code)
			}
		}
		if got, err := s.get(t, admin, `{}`); err != nil || len(got.Entries) != 0 || got.Next != "" {
			t.Errorf("an empty site: %v %v", got, err)
		}
	})
}

// Proves A-activity-page.
//
// TestPagesHaveEveryEntryOnce reads changes and events of accounts, many of them with equal times, page by page and by kind.
func TestPagesHaveEveryEntryOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var events []Entry
		for i := range 130 {
			kind := []Kind{KindSignIn, KindRefused, KindSecurity}[i%3]
			events = append(events, Entry{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), At: noon.Add(-time.Duration(i/20) * time.Minute), Kind: kind, Action: "login"})
			if err := db.Exec(t.Context(), d, "insert into activity (created_at, kind, action) values ($1, $2, 'x')", noon.Add(-time.Duration(6-i/20)*time.Minute), []Kind{KindChange, KindExport, KindSecurity}[i%3]); err != nil {
				t.Fatal(err)
			}
		}
		s := newService(d, time.Now, events...)
		for _, c := range []struct {
			kind string
			want int
		}{{"", 260}, {"sign_in", 44}, {"refused", 43}, {"key", 86}, {"change", 44}, {"export", 43}} {
			var (
				seen  = map[string]bool{}
				pages int
				last  = beforeNewest.At
				next  string
			)
			for {
				page, err := s.get(t, admin, `{"kind":"`+c.kind+`","after":"`+next+`"}`)
				if err != nil {
					t.Fatal(err)
				}
				pages++
				for _, e := range page.Entries {
					if seen[e.ID] || e.At.After(last) || c.kind != "" && string(e.Kind) != c.kind {
						t.Errorf("%q: %+v again, out of order or of another kind", c.kind, e)
					}
					seen[e.ID], last = true, e.At
				}
				if next = page.Next; next == "" {
					break
				}
			}
			if len(seen) != c.want || pages != (c.want+pageSize-1)/pageSize {
				t.Errorf("%q: %d entries on %d pages, want %d", c.kind, len(seen), pages, c.want)
			}
		}
	})
}

// Proves A-activity-kept.
func TestEntriesAreKeptFor400Days(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := noon
		s := newService(d, func() time.Time { return now })
		if err := RecordExport(t.Context(), d, "contact-export", admin.UserID, noon); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			at   time.Time
			left int
		}{{noon.AddDate(0, 0, 400), 1}, {noon.AddDate(0, 0, 400).Add(time.Second), 0}} {
			now = c.at
			if err := s.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := s.get(t, admin, `{}`); err != nil || len(got.Entries) != c.left {
				t.Errorf("%s: %v %v", c.at, got, err)
			}
		}
	})
}

// Proves A-activity-1.
//
// TestEntriesNameAccountsAndRows checks that an entry names an account by its current address, and a row by its current name, only while
// the row exists.
func TestEntriesNameAccountsAndRows(t *testing.T) {
	const other, work = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec := func(ctx context.Context, query string, args ...any) {
			t.Helper()
			if err := d.WithTx(ctx, func(tx *db.Tx) error { return db.Exec(ctx, tx, query, args...) }); err != nil {
				t.Fatal(err)
			}
		}
		for id, email := range map[string]string{admin.UserID: "ana@alvor.example", other: "rui@alvor.example"} {
			exec(t.Context(), "insert into auth_users (id, email, created_at, updated_at) values ($1, $2, $3, $3)", id, email, noon)
		}
		ana := db.WithActor(t.Context(), admin.UserID)
		exec(ana, "insert into products (id, title, artwork_type, created_at) values ($1, 'Onda', 'oil', $2)", work, noon)
		exec(db.WithActor(t.Context(), other), "update products set title = 'Maré'")
		exec(ana, "insert into user_roles (user_id, role) values ($1, 'admin')", other)
		exec(t.Context(), "insert into access_keys (role, generation, created_at) values ('anon', 2, $1)", noon)
		exec(t.Context(), "insert into contact_submissions (id, name, email, message, reason, created_at) values ($1, 'Eva', 'eva@exemplo.example', 'Uma parede.', 'general', $2)", other, noon)
		exec(db.WithActor(t.Context(), VisitorActor), "delete from contact_submissions")
		s := newService(d, time.Now)
		list := func() (lines []string) {
			t.Helper()
			got, err := s.get(t, admin, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range got.Entries {
				lines = append(lines, strings.Join([]string{e.Action, string(e.By), e.Account, e.Subject, e.Table, e.RowID, e.Title, fmt.Sprint(e.Number)}, "|"))
			}
			return lines
		}
		want := []string{
			"delete|visitor|||contact_submissions|||1", "key_made|program|||access_keys||anon|2", "role_given|account|ana@alvor.example|rui@alvor.example|user_roles||admin|0",
			"update|account|rui@alvor.example||products|" + work + "|Maré|0", "insert|account|ana@alvor.example||products|" + work + "|Maré|0",
		}
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		exec(t.Context(), "delete from products")
		exec(t.Context(), "delete from auth_users where id = $1", other)
		want = []string{
			"role_removed|program|||user_roles||admin|0", "delete|program|||products||Maré|0", want[0], want[1], "role_given|account|ana@alvor.example||user_roles||admin|0",
			"update|deleted|||products||Maré|0", "insert|account|ana@alvor.example||products||Onda|0",
		}
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// Proves A-activity-series.
func TestEntriesNameSeriesAndWork(t *testing.T) {
	const work, series = "33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec := func(query string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		check := func(name, work, series string) {
			t.Helper()
			got, err := newService(d, time.Now).get(t, admin, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range got.Entries {
				if e.Table != "series_works" {
					continue
				}
				if line := e.Action + "|" + e.RowID + "|" + e.Title + "|" + e.Series.ID + "|" + e.Series.Title; line != "insert|"+work+"|"+series {
					t.Errorf("%s: %s", name, line)
				}
				return
			}
			t.Errorf("%s: no entry", name)
		}
		exec("insert into products (id, title, artwork_type, created_at) values ('" + work + "', 'Onda', 'oil', '2026-01-02T03:04:05+00:00')")
		exec("insert into series (id, slug, title, created_at) values ('" + series + "', 'luz', 'Luz', '2026-01-02T03:04:05+00:00')")
		exec("insert into series_works (id, series_id, product_id, created_at) values ('" + work + "', '" + series + "', '" + work + "', '2026-01-02T03:04:05+00:00')")
		exec("update series set title = 'Cal'")
		check("by their names now", work+"|Onda", series+"|Cal")
		exec("delete from products")
		check("a deleted work", "|Onda", series+"|Cal")
		exec("delete from series")
		check("a deleted series", "|Onda", "|Luz")
	})
}

// Proves A-activity-site.
func TestActionsOnTheWholeSiteAreListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for i, e := range [][2]string{{SiteExport, ""}, {SiteCopy, "/srv/copy"}, {BackupDestination, "s3://disk.example/ana"}, {SiteImport, "https://ana.example"}, {SupabaseImport, ""}, {SiteRestore, "2026-11-22T10:00:00Z"}} {
			if err := RecordSite(t.Context(), d, e[0], e[1], noon.Add(time.Duration(i)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		s := newService(d, time.Now)
		for kind, want := range map[Kind][]string{
			KindExport: {"backup-place program s3://disk.example/ana", "site-copy command /srv/copy", "site-export command "},
			KindChange: {"site-restore command 2026-11-22T10:00:00Z", "supabase-import command ", "site-import command https://ana.example"},
		} {
			got, err := s.get(t, admin, `{"kind":"`+string(kind)+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, e := range got.Entries {
				lines = append(lines, e.Action+" "+string(e.By)+" "+e.Title)
			}
			if !slices.Equal(lines, want) {
				t.Errorf("%s: %q", kind, lines)
			}
		}
	})
}

// Proves A-activity-erased.
func TestEntriesWithAnAddressAreFoundAndErased(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d, time.Now)
		const former = "22222222-2222-4222-8222-222222222222"
		if err := db.Exec(t.Context(), d, "insert into auth_users (id, email, created_at, updated_at) values ($1, 'Canary@exemplo.example', $2, $2)", former, noon); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ table, row, title string }{
			{"reviews", "", "Canary <canary@exemplo.example>"}, {"reviews", "", "acanary@exemplo.example"}, {"products", "", "canary@exemplo.example.org"}, {"products", "", "Onda"},
			{"user_roles", former, "admin"}, {"user_roles", admin.UserID, "admin"},
		} {
			var row any
			if c.row != "" {
				row = c.row
			}
			if err := db.Exec(t.Context(), d, "insert into activity (created_at, kind, action, table_name, row_id, title) values ($1, 'change', 'insert', $2, $3, $4)", noon, c.table, row, c.title); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Exec(t.Context(), d, "insert into activity (created_at, kind, action, table_name, title, series_title) values ($1, 'change', 'insert', 'series_works', 'Onda', 'For canary@exemplo.example'), ($1, 'change', 'insert', 'series_works', 'Onda', 'For acanary@exemplo.example')", noon); err != nil {
			t.Fatal(err)
		}
		count := func() (n int) {
			if err := s.EachEntryAbout(t.Context(), d, "canary@exemplo.example", func(any) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 3 {
			t.Errorf("found %d", n)
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return s.EraseEntriesAbout(t.Context(), tx, "canary@exemplo.example") }); err != nil {
			t.Fatal(err)
		}
		all, err := s.get(t, admin, `{}`)
		if err != nil || len(all.Entries) != 5 || count() != 0 {
			t.Errorf("%v %v", all, err)
		}
	})
}
