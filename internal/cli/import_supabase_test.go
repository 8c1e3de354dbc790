package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// importedUser begins each dump: an account with the role, and the tables that are empty.
const importedUser = `INSERT INTO auth.users (id, email, email_confirmed_at) VALUES ('00000000-0000-4000-8000-00000000000a', 'ana@example.com', '2024-01-02 03:04:05+00');
INSERT INTO public.user_roles (user_id, role) VALUES ('00000000-0000-4000-8000-00000000000a', 'admin');
CREATE TABLE public.reviews (id uuid);
CREATE TABLE public.cover_images (id uuid);
CREATE TABLE public.contact_submissions (id uuid);
`

// Proves H-supabase-dry.
func TestImportSupabaseFromADump(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "dump.sql")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(importedUser+text+"\nRESET ALL;\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("INSERT INTO public.products (id, title) VALUES ('10000000-0000-4000-8000-000000000001', 'Mural');")
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--dry-run"}, 0, "Dry run, nothing is changed. To be imported: 3. Here already and unchanged: 0. Left out: 0."},
		{[]string{}, 0, "Imported: 3. Here already and unchanged: 0. Left out: 0."},
		{[]string{}, 0, "Imported: 0. Here already and unchanged: 3. Left out: 0."},
	} {
		if r := atelie(t, dir, "", append([]string{"import", "supabase", "--dump", file}, step.args...)...); r.code != step.code || !strings.Contains(r.out, step.want) {
			t.Fatalf("%v: %+v", step.args, r)
		}
	}
	if r := atelie(t, dir, "", "owner", "list"); r.code != 0 || !strings.Contains(r.out, "ana@example.com") {
		t.Errorf("got %+v", r)
	}
	write("INSERT INTO public.products (id, title) VALUES ('10000000-0000-4000-8000-000000000001', 'Wall'), ('10000000-0000-4000-8000-000000000002', '');")
	if r := atelie(t, dir, "", "import", "supabase", "--dump", file); r.code != exitIncomplete || !strings.Contains(r.out, "other values (title)") || !strings.Contains(r.out, "title must not be empty") ||
		!strings.Contains(r.out, "Left out: 2.") || r.err != "" {
		t.Errorf("got %+v", r)
	}
	if err := os.WriteFile(file, []byte("PGDMP"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"pg_dump --format=plain": {"--dump", file}, "ATELIE_IMPORT_SERVICE_KEY": {}, "https://": {"--project-url", "http://abc.supabase.co", "--service-key", "k"},
		"like https://abcdefgh.supabase.co": {"--service-key", "k"},
	} {
		if r := atelie(t, dir, "", append([]string{"import", "supabase"}, args...)...); r.code != exitError || !strings.Contains(r.err, want) {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// Proves H-supabase-key.
func TestImportSupabaseTakesTheKeyFromEnvironmentOrFile(t *testing.T) {
	const serviceKey = "sb_secret_0123456789"
	project := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("apikey") != serviceKey:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/auth/v1/admin/users":
			_, _ = io.WriteString(w, `{"users":[]}`)
		default:
			_, _ = io.WriteString(w, `[]`)
		}
	}))
	defer project.Close()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(serviceKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if r := atelie(t, dir, "", "import", "supabase", "--project-url", project.URL, "--service-key-file", file); r.code != 0 || strings.Contains(r.out+r.err, serviceKey) {
		t.Errorf("%+v", r)
	}
	t.Setenv("ATELIE_IMPORT_SERVICE_KEY", serviceKey)
	t.Setenv("ATELIE_IMPORT_PROJECT_URL", project.URL)
	if r := atelie(t, dir, "", "import", "supabase"); r.code != 0 || strings.Contains(r.out+r.err, serviceKey) {
		t.Errorf("%+v", r)
	}
	dump := filepath.Join(t.TempDir(), "dump.sql") // accounts and rows from a dump, files from the project
	if err := os.WriteFile(dump, []byte(importedUser+"CREATE TABLE public.products (id uuid);RESET ALL;"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := atelie(t, dir, "", "import", "supabase", "--dump", dump); r.code != 0 || !strings.Contains(r.out, "accounts: 1 added") || !strings.Contains(r.out, "files of cover-images: 0 added") {
		t.Errorf("%+v", r)
	}
	t.Setenv("ATELIE_IMPORT_SERVICE_KEY", "wrong-"+serviceKey)
	if r := atelie(t, dir, "", "import", "supabase"); r.code != exitError || strings.Contains(r.out+r.err, serviceKey) || !strings.Contains(r.err, "status 401") {
		t.Errorf("%+v", r)
	}
}
