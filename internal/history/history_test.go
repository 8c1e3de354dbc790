package history

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
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var admin = identity.Caller{Role: identity.Authenticated, UserID: "11111111-1111-4111-8111-111111111111", Admin: true}

func newService(d *db.DB, now func() time.Time) *Service {
	return New(d, Config{
		RestoreFiles: func(_ context.Context, urls []string, _ time.Time) ([]string, error) { return urls[:1], nil },
		Replaced: func(context.Context) (func(string, time.Time) bool, error) {
			return func(string, time.Time) bool { return false }, nil
		},
		ReleaseFiles: func(context.Context, *db.Tx, []string, []string) error { return nil },
	}, now)
}

// call calls a handler, and returns the body or the error.
func call(t *testing.T, c identity.Caller, handler httpx.Handler, body string) (response string, refusal *apperr.Error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	rec := httptest.NewRecorder()
	if err := handler(rec, r.WithContext(identity.With(r.Context(), c))); err != nil {
		return "", apperr.From(err)
	}
	if rec.Code != http.StatusOK || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, headers %v", rec.Code, rec.Header())
	}
	return strings.TrimSpace(rec.Body.String()), nil
}

// Proves A-history-who.
func TestHistoryIsForAdministrators(t *testing.T) {
	s := newService(dbtest.Open(t, db.SQLite), time.Now)
	for _, c := range []struct {
		name   string
		caller identity.Caller
		status int // of the refusal; 0 if the caller may use the history
	}{
		{"no role", identity.Caller{}, 401},
		{"anonymous", identity.Caller{Role: identity.Anon}, 401},
		{"signed in", identity.Caller{Role: identity.Authenticated, UserID: admin.UserID}, 403},
		{"unknown role", identity.Caller{Role: "postgres", Admin: true}, 403},
		{"admin", admin, 0},
		{"service", identity.Caller{Role: identity.Service}, 0},
	} {
		for _, handler := range []httpx.Handler{s.GetHistory, s.GetDeleted, s.RestoreFiles} {
			_, err := call(t, c.caller, handler, "not JSON") // the caller is checked before the body is read
			switch {
			case c.status == 0 && (err == nil || err.Code != "PGRST102"):
				t.Errorf("%s: %v", c.name, err)
			case c.status != 0 && (err == nil || err.Status != c.status || err.Code != "42501"):
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// Proves A-history-who.
func TestBadRequestsAreRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d, time.Now)
		many, err := json.Marshal(map[string][]string{"urls": slices.Repeat([]string{"/a"}, maxURLs+1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			handler    httpx.Handler
			body, code string
		}{
			{s.GetHistory, `{}`, "22023"},
			{s.GetHistory, `{"table":"contact_submissions","id":"` + admin.UserID + `"}`, "22023"},
			{s.GetHistory, `{"table":"products"}`, "22023"},
			{s.GetHistory, `{"table":"products","id":"' or 1=1 --"}`, "22023"},
			{s.GetHistory, `{"table":"site_settings","id":"site"}`, "22023"},
			{s.GetHistory, `{"table":7}`, "PGRST102"},
			{s.GetDeleted, `{"table":"site_settings"}`, "22023"},
			{s.GetDeleted, `{"table":"reviews","before":"x"}`, "PGRST102"},
			{s.GetDeleted, `{"table":"contact_submissions"}`, "22023"},
			{s.GetDeleted, `{"table":"products; drop table products"}`, "22023"},
			{s.RestoreFiles, `{"urls":"/a"}`, "PGRST102"},
			{s.RestoreFiles, `{"urls":["/a"],"at":"yesterday"}`, "22023"},
			{s.RestoreFiles, `{"urls":["/a"],"at":"0001-01-01T00:00:00Z"}`, "22023"},
			{s.RestoreFiles, string(many), "22023"},
			{s.RestoreFiles, `{"urls":["` + strings.Repeat("x", maxBody) + `"]}`, "54000"},
		} {
			if _, err := call(t, admin, c.handler, c.body); err == nil || err.Code != c.code || err.Status < 400 || err.Status > 499 {
				t.Errorf("%.80s: %v, want %s", c.body, err, c.code)
			}
		}
		if got, err := call(t, admin, s.RestoreFiles, `{"urls":["/a","/b"]}`); err != nil || got != `{"missing":["/a"]}` {
			t.Errorf("%s %v", got, err)
		}
	})
}

type got struct {
	RowID  string `json:"row_id"`
	Action string `json:"action"`
	Actor  *string
	Before map[string]any `json:"row_before"`
	At     time.Time      `json:"changed_at"`
}

func list(t *testing.T, handler httpx.Handler, body string) (all []got) {
	t.Helper()
	text, refusal := call(t, admin, handler, body)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func exec(t *testing.T, ctx context.Context, d *db.DB, query string, args ...any) {
	t.Helper()
	if err := d.WithTx(ctx, func(tx *db.Tx) error { return db.Exec(ctx, tx, query, args...) }); err != nil {
		t.Fatal(err)
	}
}

// Proves A-history-1, A-history-deleted.
func TestHistoryAndDeletedRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d, time.Now)
		ctx := db.WithActor(t.Context(), admin.UserID)
		id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
		insert := func(n int) {
			exec(t, ctx, d, "insert into reviews (id, client_name, message, created_at) values ($1, $2, 'Gostei.', $3)", id(n), fmt.Sprint("n", n), time.Now())
		}
		exec(t, ctx, d, "insert into auth_users (id, email, created_at, updated_at) values ($1, 'ana@alvor.example', $2, $2)", admin.UserID, time.Now())
		for n := range 3 {
			insert(n)
		}
		exec(t, ctx, d, "update reviews set client_name = 'Rui' where id = $1", id(0))
		exec(t, t.Context(), d, "update reviews set client_name = 'Eva' where id = $1", id(0))
		all := list(t, s.GetHistory, `{"table":"reviews","id":"`+strings.ToUpper(id(0))+`"}`)
		if len(all) != 2 || all[0].Before["client_name"] != "Rui" || all[0].Actor != nil || all[1].Before["client_name"] != "n0" || all[1].Actor == nil ||
			*all[1].Actor != "ana@alvor.example" || all[0].At.Before(all[1].At) || time.Since(all[0].At) > time.Hour || all[0].Action != "update" || all[0].RowID != id(0) {
			t.Fatalf("%+v", all)
		}
		if none := list(t, s.GetHistory, `{"table":"products","id":"`+id(0)+`"}`); len(none) != 0 {
			t.Errorf("another table: %+v", none)
		}

		exec(t, ctx, d, "delete from reviews where id = $1", id(0))
		exec(t, ctx, d, "delete from reviews where id = $1", id(1))
		exec(t, ctx, d, "delete from reviews where id = $1", id(2))
		insert(1) // restored
		insert(2) // restored and deleted again
		exec(t, ctx, d, "delete from reviews where id = $1", id(2))
		deleted := list(t, s.GetDeleted, `{"table":"reviews"}`)
		if len(deleted) != 2 || deleted[0].RowID != id(2) || deleted[1].RowID != id(0) || deleted[1].Action != "delete" || deleted[1].Before["client_name"] != "Eva" {
			t.Errorf("%+v", deleted)
		}
		if other := list(t, s.GetDeleted, `{"table":"products"}`); len(other) != 0 {
			t.Errorf("another table: %+v", other)
		}

		for _, name := range []string{"Alvor", "Sal"} {
			exec(t, ctx, d, "insert into site_settings (key, value, updated_at) values ('notice.webhook', $1, $2) on conflict (key) do update set value = excluded.value", `"`+name+`"`, time.Now())
		}
		if all := list(t, s.GetHistory, `{"table":"site_settings"}`); len(all) != 1 || all[0].RowID != "notice.webhook" || all[0].Before["value"] != "Alvor" {
			t.Errorf("%+v", all)
		}
	})
}

// Proves A-history-more.
func TestOlderRevisionsFollowTheNewestTwoHundred(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d, time.Now)
		const rows = 2*maxListed + 5
		for n := range rows {
			exec(t, t.Context(), d, "insert into reviews (id, client_name, message, created_at) values ($1, $2, 'Gostei.', $3)", fmt.Sprintf("00000000-0000-4000-8000-%012d", n), fmt.Sprint("n", n), time.Now())
			exec(t, t.Context(), d, "insert into site_settings (key, value, updated_at) values ('notice.webhook', $1, $2) on conflict (key) do update set value = excluded.value", fmt.Sprintf(`"%d"`, n), time.Now())
		}
		exec(t, t.Context(), d, "delete from reviews")
		for _, c := range []struct {
			handler httpx.Handler
			body    string
			total   int
		}{{s.GetDeleted, `"table":"reviews"`, rows}, {s.GetHistory, `"table":"site_settings"`, rows - 1}} {
			seen, before := map[int64]bool{}, ""
			for {
				var page []struct{ ID int64 }
				text, refusal := call(t, admin, c.handler, "{"+c.body+before+"}")
				if refusal != nil {
					t.Fatal(refusal)
				}
				if err := json.Unmarshal([]byte(text), &page); err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				for _, v := range page {
					if seen[v.ID] {
						t.Fatalf("%s%s: revision %d is there again", c.body, before, v.ID)
					}
					seen[v.ID] = true
				}
				before = fmt.Sprintf(`,"before":%d`, page[len(page)-1].ID)
			}
			if len(seen) != c.total {
				t.Errorf("%s: %d revisions, want %d", c.body, len(seen), c.total)
			}
		}
	})
}

// Proves A-history-kept.
func TestPurgeKeepsThirtyDaysOrFifty(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		s := newService(d, func() time.Time { return now })
		const id, other = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
		for _, one := range []string{id, other} {
			exec(t, t.Context(), d, "insert into reviews (id, client_name, message, created_at) values ($1, 'start', 'Gostei.', $2)", one, now)
		}
		for n := range 60 {
			exec(t, t.Context(), d, "update reviews set client_name = $2 where id = $1", id, fmt.Sprint(n))
		}
		exec(t, t.Context(), d, "update reviews set client_name = 'x' where id = $1", other)
		count := func(of string) int { return len(list(t, s.GetHistory, `{"table":"reviews","id":"`+of+`"}`)) }
		if n := count(id); n != 60 {
			t.Fatalf("%d", n)
		}
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := list(t, s.GetHistory, `{"table":"reviews","id":"`+id+`"}`); len(all) != 50 || all[0].Before["client_name"] != "58" || all[49].Before["client_name"] != "9" || count(other) != 1 {
			t.Errorf("%d of the row, %d of the other", len(all), count(other))
		}
		now = now.Add(Retention - time.Minute)
		if err := s.Purge(t.Context()); err != nil || count(id) != 50 {
			t.Errorf("before the end %d, %v", count(id), err)
		}
		now = now.Add(2 * time.Minute)
		if err := s.Purge(t.Context()); err != nil || count(id) != 0 || count(other) != 0 {
			t.Errorf("after the end %d, %d, %v", count(id), count(other), err)
		}
	})
}

// Proves AM-address-1.
//
// In JSON a line break is \n, so the letter n stands before an address that begins a line. Only the revisions with the address are erased.
func TestRevisionsWithAnAddressAtTheBeginningOfALine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const address, picture = "ana@example.org", "/storage/v1/object/public/review-images/a.jpg"
		s := newService(d, time.Now)
		var released, remaining []string
		s.cfg.ReleaseFiles = func(_ context.Context, _ *db.Tx, urls, left []string) error {
			released, remaining = urls, left
			return nil
		}
		for i, message := range []string{"Write to\n" + address, "\t" + address, "Write to\njo" + address} {
			id := fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i)
			if _, err := d.Exec(t.Context(), "insert into reviews (id, client_name, message, image_url, created_at) values ($1, 'Rui', $2, $3, $4)", id, message, picture, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Exec(t.Context(), "delete from reviews where id = $1", id); err != nil {
				t.Fatal(err)
			}
		}
		count := func() (n int) {
			if err := s.EachRevisionOf(t.Context(), d, address, func(any) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 2 {
			t.Errorf("%d revisions with the address, want 2", n)
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return s.EraseRevisionsOf(t.Context(), tx, address) }); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != 0 {
			t.Errorf("%d revisions with the address after the erasure", n)
		}
		if !slices.Contains(released, picture) || !slices.Contains(remaining, picture) {
			t.Errorf("released %q, remaining %q", released, remaining)
		}
	})
}
