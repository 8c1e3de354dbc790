package cli

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	_ "atelie/internal/media/rendition/renditiontest" // jobs start this program as their worker
	"atelie/internal/storage/blob/blobtest"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop, removeDemoTemplate) }

// result is the exit code and the output of a command.
type result struct {
	code     int
	out, err string
}

// atelie runs a command with the data folder, in this process.
func atelie(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	t.Setenv("ATELIE_DATA_DIR", dir)
	var out, errOut bytes.Buffer
	code := Run(t.Context(), args, strings.NewReader(stdin), &out, &errOut, "v1.2.3")
	return result{code, out.String(), errOut.String()}
}

func TestVersionFlag(t *testing.T) {
	if r := atelie(t, t.TempDir(), "", "--version"); r.code != 0 || strings.TrimSpace(r.out) != "v1.2.3" {
		t.Errorf("version: %+v", r)
	}
}

func TestWrongSettingsStopTheStartWithOneLineEach(t *testing.T) {
	t.Setenv("ATELIE_JWT_SECRET", "short")
	r := atelie(t, t.TempDir(), "", "serve", "--listen=nowhere", "--database-url=mysql://x")
	if r.code != 2 {
		t.Fatalf("got %+v", r)
	}
	lines := strings.Split(strings.TrimSpace(r.err), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "atelie: listen:") || !strings.HasPrefix(lines[1], "atelie: database-url:") || !strings.HasPrefix(lines[2], "atelie: jwt-secret:") {
		t.Errorf("got %q", lines)
	}
	for _, args := range [][]string{{"nope"}, {"serve", "--nope"}, {"--max-upload=much", "serve"}, {"owner", "add"}} {
		if r := atelie(t, t.TempDir(), "", args...); r.code != 2 || !strings.Contains(r.err, "atelie:") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// Proves A-safe-17.
func TestConfigShowsSourcesAndHidesSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(file, []byte(`{"jwt-expiry":"2h","site-url":"https://from-file.example"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("geheim", 8)
	t.Setenv("ATELIE_JWT_SECRET", secret)
	t.Setenv("ATELIE_SITE_URL", "https://from-env.example")
	t.Setenv("ATELIE_DATABASE_URL", "postgres://ana:hunter2@db.example/atelie")
	r := atelie(t, dir, "", "--config", file, "--listen=127.0.0.1:9000", "config")
	if r.code != 0 || strings.Contains(r.out, secret) || strings.Contains(r.out, "hunter2") {
		t.Fatalf("%+v", r)
	}
	for setting, want := range map[string][2]string{
		"listen":       {"127.0.0.1:9000", "(flag)"},
		"site-url":     {"https://from-env.example", "(environment ATELIE_SITE_URL)"},
		"jwt-expiry":   {"2h0m0s", "(file)"},
		"max-upload":   {"2GiB", "(default)"},
		"jwt-secret":   {"********", "(environment ATELIE_JWT_SECRET)"},
		"database-url": {"postgres://ana:xxxxx@db.example/atelie", "(environment ATELIE_DATABASE_URL)"},
		"storage-url":  {"-", "(default)"},
	} {
		found := false
		for line := range strings.Lines(r.out) {
			fields := strings.Fields(line)
			if fields[0] != setting {
				continue
			}
			found = true
			if fields[1] != want[0] || strings.Join(fields[2:], " ") != want[1] {
				t.Errorf("%s: got %q", setting, line)
			}
		}
		if !found {
			t.Errorf("%s is not shown", setting)
		}
	}
}

// Proves A-set-1.
func TestAccountSettingsAreStrictByDefault(t *testing.T) {
	r := atelie(t, t.TempDir(), "", "config")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	got := map[string]string{}
	for line := range strings.Lines(r.out) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "(default)" {
			got[fields[0]] = fields[1]
		}
	}
	for setting, want := range map[string]string{
		"signup": "closed", "mail-autoconfirm": "off", "phone-enabled": "off", "phone-autoconfirm": "off", "manual-linking": "off", "saml": "off", "rate-limits": "on",
		"password-min-length": "10", "refresh-reuse-interval": "10s", "mail-min-interval": "1m0s", "mails-per-day": "28", "texts-per-day": "10", "messages-per-hour": "60", "sms-min-interval": "1m0s", "redirect-urls": "[]", "jwt-algorithm": "HS256", "jwt-expiry": "1h0m0s",
	} {
		if got[setting] != want {
			t.Errorf("%s is %q, want %q", setting, got[setting], want)
		}
	}
}

func TestConfigShowsIdentityProvidersWithoutTheirSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(file, []byte(`{"oidc":{"house":{"issuer":"https://id.example","client-secret":"hunter2"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ATELIE_OIDC_HOUSE_CLIENT_ID", "atelie")
	t.Setenv("ATELIE_OIDC_GITHUB_CLIENT_ID", "Iv1.x")
	t.Setenv("ATELIE_OIDC_GITHUB_CLIENT_SECRET", "hunter3")
	r := atelie(t, dir, "", "--config", file, "config")
	if r.code != 0 || strings.Contains(r.out, "hunter") {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{
		"oidc-house-issuer https://id.example (file)", "oidc-house-client-id atelie (environment ATELIE_OIDC_HOUSE_CLIENT_ID)", "oidc-house-client-secret ******** (file)",
		"oidc-github-client-secret ******** (environment ATELIE_OIDC_GITHUB_CLIENT_SECRET)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(r.out), " "), want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
	t.Setenv("ATELIE_OIDC_HOUSE_SECRET", "hunter4")
	if r := atelie(t, dir, "", "--config", file, "config"); r.code != 2 || !strings.Contains(r.err, "ATELIE_OIDC_HOUSE_SECRET is not a setting") || strings.Contains(r.err, "hunter") {
		t.Errorf("%+v", r)
	}
}

func TestMisspeltSettingInTheFileStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	for content, want := range map[string]string{
		`{"site_url":"https://a.example"}`: `"site_url" is not a setting`,
		`{"help":true}`:                    `"help" is not a setting`,
		`["site-url"]`:                     "not a JSON object",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := atelie(t, dir, "", "--config", file, "config"); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", content, r)
		}
	}
}

// Proves S6-key-4.
func TestKeysAreDotenvAndStable(t *testing.T) {
	dir := t.TempDir()
	first := atelie(t, dir, "", "keys")
	second := atelie(t, dir, "", "keys")
	if first.code != 0 || first.out != second.out {
		t.Fatalf("%+v\n%+v", first, second)
	}
	lines := strings.Split(strings.TrimSpace(first.out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "ANON_KEY=ey") || !strings.HasPrefix(lines[1], "SERVICE_ROLE_KEY=ey") || lines[2] != "URL=http://127.0.0.1:8000" {
		t.Errorf("got %q", lines)
	}
}

// Proves A-set-9.
func TestOwnersPasswordsAreAsLongAsTheSettingAsks(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		setting, password string
		refused           bool
	}{{"", "nine char", true}, {"", "ten chars!", false}, {"12", "ten chars!", true}, {"12", "twelve chars", false}, {"6", "s1xc!s", false}} {
		if c.setting != "" {
			t.Setenv("ATELIE_PASSWORD_MIN_LENGTH", c.setting)
		}
		for _, verb := range []string{"add", "password"} {
			r := atelie(t, dir, c.password+"\n", "owner", verb, "ana@example.com", "--password-stdin")
			if c.refused && (r.code != 1 || !strings.Contains(r.err, "characters")) || !c.refused && r.code != 0 {
				t.Errorf("%s, at least %q, %q: %+v", verb, c.setting, c.password, r)
			}
		}
	}
	t.Setenv("ATELIE_PASSWORD_MIN_LENGTH", "5")
	if r := atelie(t, dir, "", "owner", "list"); r.code != 2 {
		t.Errorf("a limit under 6: %+v", r)
	}
	t.Setenv("ATELIE_PASSWORD_MIN_LENGTH", "60")
	r := atelie(t, dir, "", "owner", "add", "rui@example.com")
	if _, made, _ := strings.Cut(r.out, "Password: "); r.code != 0 || len(strings.TrimSpace(made)) < 60 {
		t.Errorf("a made password: %+v", r)
	}
}

func TestOwners(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			dir := t.TempDir()
			if dialect == db.Postgres {
				t.Setenv("ATELIE_DATABASE_URL", dbtest.URL(t, dialect))
			}
			made := atelie(t, dir, "", "owner", "add", "Ana@Example.com")
			if made.code != 0 || !strings.Contains(made.out, "Password: ") {
				t.Fatalf("%+v", made)
			}
			if r := atelie(t, dir, "a long enough one\n", "owner", "add", "rui@example.com", "--password-stdin"); r.code != 0 || strings.Contains(r.out, "Password:") {
				t.Errorf("%+v", r)
			}
			if r := atelie(t, dir, "", "owner", "list"); r.code != 0 || r.out != "ana@example.com\nrui@example.com\n" {
				t.Errorf("%+v", r)
			}
			if r := atelie(t, dir, "another long one\n", "owner", "password", "ana@example.com", "--password-stdin", "--reset-factors"); r.code != 0 {
				t.Errorf("%+v", r)
			}
			if r := atelie(t, dir, "", "owner", "add", "rui@example.com"); r.code != 0 || strings.Contains(r.out, "Password:") {
				t.Errorf("an account that exists keeps its password: %+v", r)
			}
			for _, wrong := range []struct {
				stdin string
				args  []string
			}{
				{"short\n", []string{"owner", "add", "x@example.com", "--password-stdin"}},
				{"", []string{"owner", "add", "x@example.com", "--password-stdin"}},
				{"", []string{"owner", "add", "not an address"}},
				{"", []string{"owner", "password", "nobody@example.com"}},
				{"", []string{"owner", "remove", "nobody@example.com"}},
			} {
				if r := atelie(t, dir, wrong.stdin, wrong.args...); r.code != 1 || strings.Count(r.err, "\n") != 1 || strings.Contains(r.err, "_") {
					t.Errorf("%v: want one line for a person, got %+v", wrong.args, r)
				}
			}
			if r := atelie(t, dir, "", "owner", "remove", "rui@example.com"); r.code != 0 {
				t.Errorf("%+v", r)
			}
			if r := atelie(t, dir, "", "owner", "remove", "ana@example.com"); r.code != 1 || !strings.Contains(r.err, "last owner") {
				t.Errorf("the last owner: %+v", r)
			}
		})
	}
}

func TestMigrateTwice(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if r := atelie(t, dir, "", "migrate"); r.code != 0 || r.err != "" {
			t.Fatalf("%+v", r)
		}
	}
}

func TestPortInUseIsReportedBeforeAnyChange(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dir := filepath.Join(t.TempDir(), "data")
	r := atelie(t, dir, "", "serve", "--listen", listener.Addr().String())
	if r.code != 1 || !strings.Contains(r.err, "another program has this port") {
		t.Errorf("%+v", r)
	}
	r = atelie(t, dir, "", "serve", "--domains=example.com", "--listen-https=127.0.0.1:0", "--listen-http", listener.Addr().String())
	if r.code != 1 || !strings.Contains(r.err, "another program has this port") {
		t.Errorf("the port of HTTP: %+v", r)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the data folder was made")
	}
}

// Proves F-render-demo.
func TestServeDemoShowsTheOwnerAtEveryStart(t *testing.T) {
	if testing.Short() {
		t.Skip("makes the pictures of the demo content")
	}
	usual := firstSizesTimeout
	firstSizesTimeout = time.Hour
	t.Cleanup(func() { firstSizesTimeout = usual })
	dir := t.TempDir()
	t.Setenv("ATELIE_DATA_DIR", dir)
	serve := func() string {
		ctx, stop := context.WithCancel(t.Context()) // no time limit: the demo's pictures take a busy machine long
		defer stop()
		var errOut bytes.Buffer
		out := &stopAtURL{stop: func() {
			defer stop()
			checkFirstSizes(t, dir)
		}}
		if code := Run(ctx, []string{"serve", "--demo", "--listen=127.0.0.1:0"}, strings.NewReader(""), out, &errOut, "test"); code != 0 {
			t.Fatalf("code %d: %s", code, errOut.String())
		}
		return out.text.String()
	}
	password := func(out string) string {
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(line, "Password:"); ok {
				return strings.Fields(rest)[0]
			}
		}
		t.Fatalf("no password in %q", out)
		return ""
	}
	first, second := serve(), serve()
	if password(first) != password(second) || !strings.Contains(second, "owner@demo.example") || strings.Contains(first, "setup=") {
		t.Errorf("first %q, second %q", first, second)
	}
}

// checkFirstSizes checks, when the URL of the demo is printed, that each picture has its first sizes.
func checkFirstSizes(t *testing.T, dir string) {
	t.Helper()
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, datafolder.Database), db.NoHooks)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = d.Close() }()
	var pictures, without int
	err = d.QueryRow(t.Context(), `select count(*), count(case when m.thumbhash is null or not exists (select 1 from media_renditions r where r.object_id = m.object_id) then 1 end)
		from media m where m.kind = 'image'`).Scan(&pictures, &without)
	if err != nil || pictures == 0 || without > 0 {
		t.Errorf("%d of %d pictures have no first size (%v)", without, pictures, err)
	}
}

func TestDemoOwnerIsMadeForEachDatabase(t *testing.T) {
	dir := t.TempDir()
	if r := atelie(t, dir, "", "demo"); r.code != 0 || !strings.Contains(r.out, "Password:") {
		t.Fatalf("%+v", r)
	}
	t.Setenv("ATELIE_DATABASE_URL", dbtest.URL(t, db.Postgres)) // the same data folder, which has a password already
	if r := atelie(t, dir, "", "demo"); r.code != 1 || !strings.Contains(r.err, "is missing or empty, but the file store is not empty") {
		t.Errorf("an empty database beside files: %+v", r)
	}
	if r := atelie(t, dir, "", "demo", "--new"); r.code != 0 || !strings.Contains(r.out, "Password:") {
		t.Errorf("%+v", r)
	}
	if r := atelie(t, dir, "", "owner", "list"); r.out != "owner@demo.example\n" {
		t.Errorf("owners %q", r.out)
	}
}

func TestUnreachableDatabaseIsReportedInOneLine(t *testing.T) {
	t.Setenv("ATELIE_DATABASE_URL", "postgres://u:hidden-password@127.0.0.1:1/x")
	r := atelie(t, t.TempDir(), "", "migrate")
	if r.code != 1 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "127.0.0.1:1") || strings.Contains(r.err, "hidden-password") {
		t.Errorf("%+v", r)
	}
}

// stopAtURL stops the server as soon as it has printed its URL.
type stopAtURL struct {
	text bytes.Buffer
	stop func()
}

func (s *stopAtURL) Write(p []byte) (int, error) {
	n, err := s.text.Write(p)
	if strings.Contains(s.text.String(), "Ateliê: http") {
		s.stop()
	}
	return n, err
}
