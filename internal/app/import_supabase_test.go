package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/crypto/bcrypt"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/supabase"
)

// noWait replaces the wait before a retry. It returns an error, because no request of these tests may need a retry.
func noWait(context.Context, time.Duration) error { return context.DeadlineExceeded }

// runImport runs an import and returns what it prints.
func (s *historySite) runImport(i *supabase.Import) string {
	s.t.Helper()
	var lines []string
	i.Print = func(line string) error {
		lines = append(lines, line)
		return nil
	}
	if err := s.ImportSupabase(s.t.Context(), i); err != nil {
		s.t.Fatalf("%v after\n%s", err, strings.Join(lines, "\n"))
	}
	return strings.Join(lines, "\n")
}

// contents returns the rows of all tables that an import can change, as text.
func (s *historySite) contents() string {
	s.t.Helper()
	var all []string
	for _, q := range []string{
		"select cast(id as text) || coalesce(email, '') || coalesce(encrypted_password, '') || cast(updated_at as text) from auth_users",
		"select cast(id as text) || provider || provider_id || cast(updated_at as text) from auth_identities",
		"select cast(id as text) || coalesce(secret, '') || cast(updated_at as text) from auth_factors",
		"select cast(user_id as text) || role from user_roles",
		"select bucket_id || name || cast(blob_id as text) || etag || cast(updated_at as text) from storage_objects",
		"select id || name || cast(public as text) || coalesce(cast(file_size_limit as text), '') || coalesce(cast(allowed_mime_types as text), '') || cast(updated_at as text) from storage_buckets",
		"select cast(object_id as text) || cast(blob_id as text) || kind || state || coalesce(original_etag, '') || cast(updated_at as text) from media",
		"select cast(id as text) || kind || action || coalesce(cast(row_id as text), '') || coalesce(title, '') from activity",
		"select cast(count(*) as text) from row_history", "select cast(count(*) as text) from auth_audit_log", "select cast(count(*) as text) from jobs",
		"select cast(count(*) as text) from storage_trash", "select cast(count(*) as text) from realtime_outbox",
	} {
		rows, err := db.Collect(s.t.Context(), s.DB, db.ScanOne[string], q)
		if err != nil {
			s.t.Fatal(err)
		}
		slices.Sort(rows)
		all = append(all, rows...)
	}
	for _, table := range []string{"products", "reviews", "cover_images", "contact_submissions"} {
		rows, err := s.Tables.Rows(s.t.Context(), identity.Caller{Role: identity.Service}, table, "select=*,updated_at&order=id")
		if table == "contact_submissions" {
			rows, err = s.Tables.Rows(s.t.Context(), identity.Caller{Role: identity.Service}, table, "select=*&order=id")
		}
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return strings.Join(all, "\n")
}

// wants checks that a text contains some parts, and does not contain the parts after an exclamation mark.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		absent, not := strings.CutPrefix(part, "!")
		if strings.Contains(text, absent) == not {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

const (
	importedAna    = "00000000-0000-4000-8000-00000000000a"
	importedBruno  = "00000000-0000-4000-8000-00000000000b"
	importedClara  = "00000000-0000-4000-8000-00000000000c"
	importedWork   = "10000000-0000-4000-8000-000000000001"
	importedOther  = "10000000-0000-4000-8000-000000000002"
	importedFactor = "20000000-0000-4000-8000-000000000001"
	importedSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
)

// commentedJPEG returns a picture with a comment. The published copy must not contain it.
func commentedJPEG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	comment := "\xff\xfe\x00\x0dat home: 1"
	return slices.Concat(b.Bytes()[:2], []byte(comment+"\x00"), b.Bytes()[2:])
}

// Proves H-supabase-project, H-supabase-again, H-supabase-dry, A-activity-site.
func TestSupabaseImportFromARunningProject(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		source := newHistorySite(t, db.SQLite, 0)
		server := httptest.NewServer(source.Handler())
		defer server.Close()
		target := newHistorySite(t, d.Dialect, 0)

		source.upload("a.png", 1)
		source.upload("folder/deeper/b c+d%.jpg", 2)
		public := server.URL + historyBase
		for _, call := range [][2]string{
			{"/auth/v1/admin/users", `{"id":"` + importedAna + `","email":"ana@example.com","password":"a wall of whitewash","email_confirm":true,"user_metadata":{"full_name":"Ana"}}`},
			{"/auth/v1/admin/users", `{"id":"` + importedBruno + `","phone":"351910000000","ban_duration":"24h"}`},
			{"/rest/v1/user_roles", `[{"user_id":"` + importedAna + `","role":"admin"},{"user_id":"` + importedBruno + `","role":"guest"}]`},
			{"/rest/v1/products", fmt.Sprintf(`{"id":%q,"title":"Mural","image_url":%q,"image_gallery":[%q,"https://elsewhere.example/x.png"],"created_at":"2024-02-03T04:05:06.789012Z","creation_date":"2023-01-02","tags":["a,b","\"c\""]}`,
				importedWork, public+"a.png", server.URL+"/storage/v1/render/image/public/product-images/folder/deeper/b%20c+d%25.jpg?width=300")},
			{"/rest/v1/reviews", `[{"id":"` + importedWork + `","client_name":"Rui","message":"Obrigado","is_active":true},{"id":"` + importedOther + `","client_name":"Eva","message":"Olá","is_active":false}]`},
			{"/rest/v1/cover_images", `{"id":"` + importedWork + `","image_url":"` + public + `a.png","media_type":"image"}`},
			{"/rest/v1/contact_submissions", `{"id":"` + importedWork + `","name":"Zé","email":"ze@example.com","message":"Bom dia","status":"read"}`},
			{"/storage/v1/bucket", `{"id":"private","name":"private"}`},
		} {
			source.do(http.MethodPost, call[0], call[1])
		}
		var many []string
		for n := range 250 { // more than one page
			many = append(many, fmt.Sprintf(`{"id":"30000000-0000-4000-8000-%012d","name":"n","email":"n@example.com","message":"m%d"}`, n, n))
		}
		source.do(http.MethodPost, "/rest/v1/contact_submissions", "["+strings.Join(many, ",")+"]")

		project, err := supabase.NewProject(server.URL, key(t, source.App, identity.Service), noWait)
		if err != nil {
			t.Fatal(err)
		}
		defer project.Close()
		origin, err := supabase.Origin(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		run := func(write bool) (*supabase.Import, string) {
			i := &supabase.Import{Data: project, Files: project, Origins: []string{origin}, Write: write}
			return i, target.runImport(i)
		}
		before := target.contents()
		if i, dry := run(false); i.Problems != 0 || i.Added != 261 || target.contents() != before {
			t.Errorf("the dry run: %d problems, %d to add\n%s", i.Problems, i.Added, dry)
		} else {
			wants(t, dry, "accounts: 2 to be added, 0 unchanged, 0 left out", "files of product-images: 2 to be added", "contact_submissions: 251 to be added", "2 accounts come without a password")
		}
		if i, out := run(true); i.Problems != 0 || i.Added != 261 {
			t.Errorf("%d problems, %d added\n%s", i.Problems, i.Added, out)
		}
		after := target.contents()
		for _, table := range []string{"products", "reviews", "cover_images", "contact_submissions", "user_roles"} {
			got, want := target.do(http.MethodGet, "/rest/v1/"+table, ""), source.do(http.MethodGet, "/rest/v1/"+table, "")
			want = strings.ReplaceAll(want, server.URL+"/storage/v1/render/image/public/product-images/folder/deeper/b%20c+d%25.jpg?width=300", historyBase+"folder/deeper/b%20c+d%25.jpg")
			if want = strings.ReplaceAll(want, public, historyBase); got != want {
				t.Errorf("%s:\n got %s\nwant %s", table, got, want)
			}
		}
		for _, name := range []string{"a.png", "folder/deeper/b c+d%.jpg"} {
			path := (&url.URL{Path: name}).EscapedPath()
			if got := target.public(path); got == "" || got != source.public(path) {
				t.Errorf("%s: %d bytes", name, len(got))
			}
		}
		var user struct {
			Email       string         `json:"email"`
			CreatedAt   time.Time      `json:"created_at"`
			BannedUntil *time.Time     `json:"banned_until"`
			Metadata    map[string]any `json:"user_metadata"`
			Identities  []struct{ Provider string }
		}
		for _, id := range []string{importedAna, importedBruno} {
			if err := json.Unmarshal([]byte(target.do(http.MethodGet, "/auth/v1/admin/users/"+id, "")), &user); err != nil || len(user.Identities) != 1 {
				t.Errorf("%s: %+v %v", id, user, err)
			}
		}
		if user.BannedUntil == nil || user.Identities[0].Provider != "phone" {
			t.Errorf("%+v", user)
		}
		if i, out := run(true); i.Problems != 0 || i.Added != 0 || i.Unchanged != 261 || target.contents() != after {
			t.Errorf("the second run: %d problems, %d added, %d unchanged\n%s", i.Problems, i.Added, i.Unchanged, out)
		}

		// Rows that differ here stay unchanged and are listed, also by a dry run.
		target.do(http.MethodPatch, "/rest/v1/products?id=eq."+importedWork, `{"title":"Changed here"}`)
		source.do(http.MethodDelete, "/storage/v1/object/product-images/a.png", "")
		source.upload("a.png", 9)
		source.do(http.MethodPost, "/storage/v1/object/private/notes.png", target.public("a.png"))
		source.do(http.MethodPost, "/auth/v1/admin/users", `{"id":"`+importedClara+`","email":"clara@example.com"}`)
		target.do(http.MethodPost, "/auth/v1/admin/users", `{"email":"clara@example.com"}`)
		source.do(http.MethodPost, "/rest/v1/user_roles", `{"user_id":"`+importedClara+`","role":"admin"}`)
		after = target.contents()
		for _, write := range []bool{false, true} {
			i, out := run(write)
			wants(t, out, "products "+importedWork+": The site already has this row with other values (title)", "file product-images/a.png: The site already has another file with this name",
				"account "+importedClara+" (clara@example.com): Another account of this site has this email address", "user_roles "+importedClara, "the files of the bucket private")
			if i.Problems != 5 || i.Added != 0 || target.contents() != after {
				t.Errorf("%d problems, %d added\n%s", i.Problems, i.Added, out)
			}
		}
		if got := siteEntries(t, target.DB); !slices.Equal(got, []string{"change supabase-import -"}) {
			t.Errorf("the activity of one import, two that added nothing, and two dry runs: %q", got)
		}
	})
}

// projectDatabase returns the URL of a database with the schema of a Supabase project, and a function that dumps it.
func projectDatabase(t *testing.T) (*db.DB, func(args ...string) string) {
	t.Helper()
	address := dbtest.URL(t, db.Postgres)
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	schema, err := os.ReadFile("testdata/gotrue.sql")
	if err != nil {
		t.Fatal(err)
	}
	bin, err := exec.LookPath("pg_dump")
	if err != nil {
		found, globErr := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
		if globErr != nil || len(found) == 0 {
			t.Fatal("pg_dump is not installed with PostgreSQL")
		}
		bin = found[len(found)-1]
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	connection := []string{"--host=" + q.Get("host"), "--username=" + q.Get("user"), "--dbname=" + strings.TrimPrefix(u.Path, "/")}
	psql := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(bin), "psql"), append(connection, "--quiet", "--set=ON_ERROR_STOP=1", "--command=drop schema public cascade", "--command=create schema public", "--command="+string(schema))...)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return d, func(args ...string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "dump.sql")
		if out, err := exec.CommandContext(t.Context(), bin, slices.Concat(connection, []string{"--file=" + file}, args)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return file
	}
}

func fillProject(t *testing.T, d *db.DB) {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("a wall of whitewash"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	const supabaseFiles = "https://abcdefgh.supabase.co/storage/v1/object/public/"
	// Texts that look like SQL statements.
	hostile := "tab\there \\N \\. back\\slash 'quote' \"double\"\r\n\\.\nINSERT INTO public.user_roles VALUES ('" + importedAna + "', '" + importedBruno + "', 'admin', now());\nCOPY public.user_roles (id, user_id, role) FROM stdin;\n$$ /* --"
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`insert into auth.users (id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data, created_at, updated_at, last_sign_in_at) values
			($1, 'authenticated', 'authenticated', 'Ana@example.com', $2, '2024-01-02 03:04:05.678901+00', '{"provider": "email", "providers": ["email", "google"]}', '{"full_name": "Ana \"A\" \\ é"}', '2023-01-02 03:04:05+00', '2024-01-02 03:04:05+00', '2024-05-06 07:08:09+00')`, []any{importedAna, string(hash)}},
		{`insert into auth.users (id, email, encrypted_password, banned_until, created_at) values ($1, 'bruno@example.com', '$fbscrypt$v=1$x', 'infinity', now())`, []any{importedBruno}},
		{`insert into auth.users (id, is_anonymous) values ($1, true)`, []any{importedClara}},
		{`insert into auth.identities (provider_id, user_id, identity_data, provider, created_at) values ($1, cast($2 as uuid), '{"sub": "x", "email": "ana@example.com", "email_verified": true}', 'email', now()),
			('google-1', cast($2 as uuid), '{"sub": "google-1", "email": "ana@example.com"}', 'google', now())`, []any{importedAna, importedAna}},
		{`insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret) values ($1, $2, 'phone app', 'totp', 'verified', now(), now(), $3),
			(gen_random_uuid(), $2, 'begun', 'totp', 'unverified', now(), now(), $3)`, []any{importedFactor, importedAna, importedSecret}},
		{`insert into public.user_roles (user_id, role) values ($1, 'user'), ($1, 'admin')`, []any{importedAna}},
		{`insert into public.products (id, title, description, artwork_type, image_url, image_gallery, is_featured, creation_date, tags, price, created_at, internal_note) values
			($1, 'Mural', $2, 'mural', $3, array[$3, $4], null, '2023-01-02', array['a,b', '"c" \\', ''], 120.50, '2024-02-03 04:05:06.789012+00', 'secret'),
			($5, 'Clay', null, 'sculpture', null, null, true, null, null, 0, now(), null)`, []any{importedWork, hostile, supabaseFiles + "product-images/a%20b.jpg", "https://zyxw.example/storage/v1/object/public/product-images/c.png", importedOther}},
		{`insert into public.reviews (id, client_name, message) values ($1, 'Rui', $2)`, []any{importedWork, hostile}},
		{`insert into public.cover_images (id, image_url, media_type, display_order) values ($1, $2, 'image', 1)`, []any{importedWork, supabaseFiles + "cover-images/missing.jpg"}},
		{`insert into public.contact_submissions (id, name, email, message) values ($1, 'Zé', 'ze@example.com', $2)`, []any{importedWork, strings.ReplaceAll(hostile, "$$", "$$$")}},
		{`insert into public.newsletter (email) values ('a@example.com'), ('b@example.com')`, nil},
		{`insert into storage.buckets (id, name, public) values ('product-images', 'product-images', true), ('cover-images', 'cover-images', true), ('letters', 'letters', false)`, nil},
		{`insert into storage.objects (bucket_id, name) values ('product-images', 'a b.jpg'), ('product-images', 'notes.txt'), ('cover-images', 'missing.jpg'), ('cover-images', '.emptyFolderPlaceholder'), ('letters', 'x.pdf')`, nil},
	} {
		if _, err := d.Exec(t.Context(), s.sql, s.args...); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
	}
}

// Proves H-supabase-dump, H-supabase-again, H-supabase-dry.
func TestSupabaseImportFromADump(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL takes part without -short")
	}
	project, dump := projectDatabase(t)
	fillProject(t, project)
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "product-images"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a b.jpg": commentedJPEG(t), "notes.txt": []byte("not a picture")} {
		if err := os.WriteFile(filepath.Join(folder, "product-images", name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range map[string][]string{
		"copy":    nil,
		"inserts": {"--inserts"},
		"cli":     {"--column-inserts", "--rows-per-insert=100", "--quote-all-identifiers", "--data-only", "--disable-triggers"},
	} {
		t.Run(name, func(t *testing.T) {
			file := dump(args...)
			for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
				t.Run(string(dialect), func(t *testing.T) { importDump(t, newHistorySite(t, dialect, 0), file, folder) })
			}
		})
	}
}

func importDump(t *testing.T, target *historySite, file, folder string) {
	opened, err := supabase.NewFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}()
	dump, err := supabase.NewDump(file, supabase.DumpFiles{Folder: opened})
	if err != nil {
		t.Fatal(err)
	}
	run := func(write bool) (*supabase.Import, string) {
		i := &supabase.Import{Data: dump, Files: opened, Write: write}
		return i, target.runImport(i)
	}
	leftOut := []string{
		"account " + importedBruno + " (bruno@example.com): the password", "account " + importedClara + ": it is anonymous", "file product-images/notes.txt: mime type",
		"products " + importedOther, "products.price", "products.internal_note: a column that this site does not have, in 1 rows", "zyxw.example", "user_roles " + importedAna,
		"file cover-images/missing.jpg: the folder does not have it", "cover_images: https://abcdefgh.supabase.co/storage/v1/object/public/cover-images/missing.jpg: this file is not imported", "the table newsletter with 2 rows", "the bucket letters with 1 files", "!may be cut",
	}
	before := target.contents()
	dry, out := run(false)
	wants(t, out, leftOut...)
	if target.contents() != before {
		t.Error("the dry run has changed something")
	}
	first, out := run(true)
	wants(t, out, leftOut...)
	if first.Added != dry.Added || first.Problems != dry.Problems || first.Added != 8 || first.Problems != 11 {
		t.Errorf("dry run: %d to add, %d problems; then %d added, %d problems\n%s", dry.Added, dry.Problems, first.Added, first.Problems, out)
	}
	after := target.contents()
	if again, out := run(true); again.Added != 0 || again.Unchanged != 8 || target.contents() != after {
		t.Errorf("the second run: %d added, %d unchanged\n%s", again.Added, again.Unchanged, out)
	}

	var works []struct {
		Description  string   `json:"description"`
		ImageURL     string   `json:"image_url"`
		ImageGallery []string `json:"image_gallery"`
		Tags         []string `json:"tags"`
		CreatedAt    string   `json:"created_at"`
		Featured     bool     `json:"is_featured"`
		Price        int      `json:"price"`
	}
	if err := json.Unmarshal([]byte(target.do(http.MethodGet, "/rest/v1/products", "")), &works); err != nil || len(works) != 1 {
		t.Fatalf("%v %+v", err, works)
	}
	w := works[0]
	if w.ImageURL != historyBase+"a%20b.jpg" || w.ImageGallery[0] != w.ImageURL || !strings.Contains(w.ImageGallery[1], "zyxw") || w.CreatedAt != "2024-02-03T04:05:06.789012+00:00" || w.Price != 0 ||
		!slices.Equal(w.Tags, []string{"a,b", `"c" \\`, ""}) || !strings.Contains(w.Description, "tab\there \\N \\. back\\slash 'quote' \"double\"\r\n\\.\nINSERT") {
		t.Errorf("%+v", w)
	}
	if roles := target.do(http.MethodGet, "/rest/v1/user_roles", ""); roles != `[{"user_id":"`+importedAna+`","role":"admin"}]` {
		t.Errorf("roles: %s", roles)
	}
	if got := target.public("a%20b.jpg"); got == "" || strings.Contains(got, "at home") {
		t.Errorf("the picture: %d bytes", len(got))
	}
	target.signsInAsBefore()
}

// signsInAsBefore checks that the imported account can sign in with its password and second factor, and that the password is then hashed
// again.
func (s *historySite) signsInAsBefore() {
	s.t.Helper()
	s.token = key(s.t, s.App, identity.Anon)
	var session struct {
		AccessToken string `json:"access_token"`
		User        struct {
			Factors []struct{ ID, Status string }
		}
	}
	decode := func(text string, out any) {
		s.t.Helper()
		if err := json.Unmarshal([]byte(text), out); err != nil {
			s.t.Fatal(err)
		}
	}
	decode(s.do(http.MethodPost, "/auth/v1/token?grant_type=password", `{"email":"ana@example.com","password":"a wall of whitewash"}`), &session)
	if len(session.User.Factors) != 1 || session.User.Factors[0].ID != importedFactor || session.User.Factors[0].Status != "verified" {
		s.t.Fatalf("%+v", session)
	}
	hash, err := db.One[string](s.t.Context(), s.DB, "select encrypted_password from auth_users where id = $1", importedAna)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$") {
		s.t.Errorf("the hash is %s (%v)", hash, err)
	}
	s.token = session.AccessToken
	var challenge struct{ ID string }
	decode(s.do(http.MethodPost, "/auth/v1/factors/"+importedFactor+"/challenge", `{}`), &challenge)
	code, err := totp.GenerateCode(importedSecret, s.clock)
	if err != nil {
		s.t.Fatal(err)
	}
	s.do(http.MethodPost, "/auth/v1/factors/"+importedFactor+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, challenge.ID, code))
	s.token = key(s.t, s.App, identity.Service)
}
