package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves S4-aal-3.
//
// An owner with a verified second factor, who has signed in with only the password, has the rights of an account without a role. This must
// be so on every surface, until the second factor is verified for the session.
func TestPasswordAloneGivesNoRightsOnceAFactorExists(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			const email, password = "ines@example.pt", "a wall of whitewash"
			if err := a.Auth.AddOwner(t.Context(), email, password); err != nil {
				t.Fatal(err)
			}
			anon := key(t, a, identity.Anon)
			send := func(method, target, token, body string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(method, target, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				a.Handler().ServeHTTP(w, r)
				return w
			}
			signIn := func() string {
				w := send("POST", "/auth/v1/token?grant_type=password", anon, `{"email":"`+email+`","password":"`+password+`"}`)
				var session struct {
					AccessToken string `json:"access_token"`
				}
				if err := json.Unmarshal(w.Body.Bytes(), &session); err != nil || w.Code != http.StatusOK {
					t.Fatalf("sign-in: %d %s", w.Code, w.Body)
				}
				return session.AccessToken
			}
			exec := func(query string, args ...any) {
				if _, err := a.DB.Exec(t.Context(), query, args...); err != nil {
					t.Fatal(err)
				}
			}
			before := signIn()
			// Each function sends a request that needs the role, and reports whether it was refused.
			refused := map[string]func(token string) bool{
				"insert": func(token string) bool {
					w := send("POST", "/rest/v1/products", token, `{"title":"Cais","artwork_type":"mural"}`)
					return w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), `"42501"`)
				},
				"delete": func(token string) bool {
					return send("DELETE", "/rest/v1/reviews?display_order=gte.0", token, "").Code == http.StatusForbidden
				},
				"read": func(token string) bool {
					return strings.TrimSpace(send("GET", "/rest/v1/contact_submissions?select=id", token, "").Body.String()) == "[]"
				},
				"reorder": func(token string) bool {
					return send("POST", "/rest/v1/rpc/reorder_reviews", token, `{"ids":[]}`).Code == http.StatusForbidden
				},
				"export": func(token string) bool {
					return send("POST", "/functions/v1/contact-export", token, `{"format":"json"}`).Code == http.StatusForbidden
				},
				"look an address up": func(token string) bool {
					return send("POST", "/functions/v1/address-data", token, `{"address":"rui@example.pt"}`).Code == http.StatusForbidden
				},
				"erase an address": func(token string) bool {
					return send("POST", "/functions/v1/address-data", token, `{"action":"erase","address":"nobody@example.pt"}`).Code == http.StatusForbidden
				},
				"history": func(token string) bool {
					return send("POST", "/rest/v1/rpc/get_history", token, `{"table":"site_settings"}`).Code == http.StatusForbidden
				},
				"health": func(token string) bool {
					return send("POST", "/rest/v1/rpc/get_site_health", token, `{}`).Code == http.StatusForbidden
				},
				"deleted rows": func(token string) bool {
					return send("POST", "/rest/v1/rpc/get_deleted", token, `{"table":"products"}`).Code == http.StatusForbidden
				},
				"activity": func(token string) bool {
					return send("POST", "/rest/v1/rpc/get_activity", token, `{}`).Code == http.StatusForbidden
				},
				"removed files": func(token string) bool {
					return send("POST", "/rest/v1/rpc/restore_files", token, `{"urls":[]}`).Code == http.StatusForbidden
				},
				"list files": func(token string) bool {
					body := send("POST", "/storage/v1/object/list/product-images", token, `{"prefix":""}`).Body.String()
					return strings.TrimSpace(body) == "[]" || strings.Contains(body, `"403"`)
				},
				"upload": func(token string) bool {
					return strings.Contains(send("POST", "/storage/v1/object/product-images/x.png", token, "x").Body.String(), `"403"`)
				},
				"remove": func(token string) bool {
					return strings.Contains(send("DELETE", "/storage/v1/object/product-images/x.png", token, "").Body.String(), `"403"`)
				},
			}
			exec(`insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, 'Rui', 'rui@example.pt', 'Olá, bom dia', 'general', 'new', $2)`, uuid.NewString(), time.Now())
			for name, is := range refused {
				if name != "list files" && is(before) { // everybody gets the same list of an empty bucket
					t.Errorf("%s is refused to an owner without a factor", name)
				}
			}
			exec(`insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at)
				select $1, id, 'totp', 'verified', $2, $2 from auth_users`, uuid.NewString(), time.Now())
			low := signIn()
			for name, is := range refused {
				if !is(low) {
					t.Errorf("%s is not refused at aal1", name)
				}
			}
			exec("update auth_sessions set aal = 'aal2'") // the token itself still says aal1
			if !refused["insert"](low) {
				t.Error("a token of aal1 rises with its session")
			}
			// The page can still read the role, so that it can ask for the code.
			if body := send("GET", "/rest/v1/user_roles?select=role", low, "").Body.String(); !strings.Contains(body, `"admin"`) {
				t.Errorf("user_roles: %s", body)
			}
		})
	}
}
