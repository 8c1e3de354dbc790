package deploy

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var settingName = regexp.MustCompile(`ATELIE_[A-Z0-9_]+`)

// settings returns the names of the environment variables in the help of atelie serve.
func settings(t *testing.T) []string {
	t.Helper()
	return settingName.FindAllString(command(t, nil, "serve", "--help"), -1)
}

func TestNamedSettingsExist(t *testing.T) {
	known := settings(t)
	if len(known) < 30 {
		t.Fatalf("the help names only %q", known)
	}
	exist := slices.Clone(known)                                                           // with those of other commands
	for _, subcommand := range [][]string{{"copy"}, {"restore"}, {"import", "supabase"}} { // commands with variables of their own
		exist = append(exist, settingName.FindAllString(command(t, nil, append(subcommand, "--help")...), -1)...)
	}
	files := []string{"README.md", "docs/hosting.md"}
	err := filepath.WalkDir(filepath.Join(root, "deploy"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range settingName.FindAllString(string(text), -1) {
			if !slices.Contains(exist, name) && !strings.HasPrefix(name, "ATELIE_OIDC_") {
				t.Errorf("%s names %s, which is no setting", file, name)
			}
		}
	}
	reference, err := os.ReadFile(filepath.Join(root, "docs", "hosting.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known {
		// A row of the table may name several settings by their endings: `ATELIE_SMS_HOOK_URL`, `_SECRET`.
		ending := "`" + name[strings.LastIndex(name, "_"):] + "`"
		if !strings.Contains(string(reference), "`"+name) && !strings.Contains(string(reference), ending) && name != "ATELIE_CONFIG" {
			t.Errorf("docs/hosting.md does not name %s", name)
		}
	}
}

// value returns the value of a directive of the unit.
func value(t *testing.T, unit, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
	if found == nil {
		t.Fatalf("the unit has no %s", name)
	}
	return found[1]
}

func TestSystemdUnit(t *testing.T) {
	unit := example(t, "atelie.service")
	words := strings.Fields(value(t, unit, "ExecStart"))
	if len(words) != 4 || words[1] != "serve" || words[2] != "--config" {
		t.Fatalf("ExecStart is %q", words)
	}
	// The example settings are valid, and their data folder is writable for the unit.
	shown := command(t, nil, "config", "--config", filepath.Join(root, "deploy", filepath.Base(words[3])))
	for _, want := range []string{`data-dir +/var/lib/` + value(t, unit, "StateDirectory") + ` +\(file\)`, `domains +\[example.com www.example.com\] +\(file\)`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(shown) {
			t.Errorf("the example settings lack %s:\n%s", want, shown)
		}
	}
	if filepath.Dir(words[3]) != "/etc/"+value(t, unit, "ConfigurationDirectory") {
		t.Error("ExecStart does not read its settings from ConfigurationDirectory")
	}
	if stop, err := strconv.Atoi(strings.TrimSuffix(value(t, unit, "TimeoutStopSec"), "s")); err != nil || stop <= 30 {
		t.Errorf("systemd kills after %d s, while requests may take 30: %v", stop, err)
	}
	if value(t, unit, "RestartPreventExitStatus") != "2" || !strings.Contains(value(t, unit, "AmbientCapabilities"), "CAP_NET_BIND_SERVICE") {
		t.Error("the unit restarts after a settings error, or may not use port 443")
	}

	analyze := need(t, "systemd-analyze")
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(t.TempDir(), "atelie.service"), replaced(t, unit, words[0], binary))
	if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// The exposure is a number from 0 (safest) to 10 (unprotected).
	out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", "--threshold=20", file).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

func TestDockerfile(t *testing.T) {
	text := example(t, "Dockerfile")
	_, last, ok := strings.Cut(text, "FROM scratch\n")
	if !ok {
		t.Fatal("the last stage is not FROM scratch")
	}
	for _, want := range []string{
		"COPY --from=program /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt\n",
		"COPY --from=program --chown=65532:65532 /empty/data /data\n", "COPY --from=program --chown=65532:65532 /empty/tmp /tmp\n", "COPY --from=program /atelie /atelie\n",
		"USER 65532:65532\n", "VOLUME /data\n", `CMD ["/atelie", "health"]` + "\n", `ENTRYPOINT ["/atelie"]` + "\n", `CMD ["serve"]` + "\n",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("the last stage lacks %q, with which TestImageContentIsSufficient runs", want)
		}
	}
	if !strings.Contains(last, "ATELIE_LISTEN=0.0.0.0:8000") || !strings.Contains(last, "EXPOSE 8000 80 443") {
		t.Error("the ports do not match")
	}
	ignored := example(t, "Dockerfile.dockerignore")
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-].*) \S+$`).FindAllStringSubmatch(text, -1) {
		for _, source := range strings.Fields(line[1]) {
			if _, err := os.Stat(filepath.Join(root, source)); err != nil {
				t.Error(err)
			}
			top, _, _ := strings.Cut(source, "/")
			if !strings.Contains(ignored, "\n!"+top+"\n") {
				t.Errorf("Dockerfile.dockerignore excludes %s", source)
			}
		}
	}
	// The image's build copies every package of the program.
	list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if eq .Path "atelie"}}{{$.ImportPath}}{{end}}{{end}}`, "./cmd/atelie")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		if !regexp.MustCompile(`^atelie/(cmd|internal|web)(/|$)`).MatchString(name) {
			t.Errorf("the image's build does not copy %s", name)
		}
	}
}

func TestComposeFile(t *testing.T) {
	text := example(t, "compose.yaml")
	for _, image := range regexp.MustCompile(`(?m)^\s+image: (\S+)$`).FindAllStringSubmatch(text, -1) {
		if owner, _, found := strings.Cut(image[1], "/"); found && strings.ContainsAny(owner, ".:") {
			t.Errorf("%s names a registry", image[1])
		}
	}
	grace := regexp.MustCompile(`stop_grace_period: (\d+)s`).FindStringSubmatch(text)
	if grace == nil {
		t.Fatal("there is no stop_grace_period")
	}
	if n, err := strconv.Atoi(grace[1]); err != nil || n <= 30 {
		t.Errorf("the nodes get %d s to stop: %v", n, err)
	}
	balancer := example(t, "caddy/several.Caddyfile")
	for _, service := range []string{"atelie1", "atelie2"} {
		if !strings.Contains(text, "\n  "+service+":\n    <<: *node\n") || !strings.Contains(balancer, service+":8000") {
			t.Errorf("%s is missing in one of the files", service)
		}
	}
	proxy := regexp.MustCompile(`ATELIE_TRUSTED_PROXIES: (\S+)`).FindStringSubmatch(text)
	if proxy == nil || !strings.Contains(text, "ipv4_address: "+proxy[1]+" ") {
		t.Errorf("the trusted proxy %v is not Caddy", proxy)
	}
	// example.env has exactly the variables that the compose file uses.
	env := example(t, "example.env")
	for _, name := range regexp.MustCompile(`\$\{([A-Z0-9_]+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(env, "\n"+name[1]+"=") {
			t.Errorf("example.env lacks %s", name[1])
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^([A-Z0-9_]+)=`).FindAllStringSubmatch(env, -1) {
		if !strings.Contains(text, "${"+name[1]) {
			t.Errorf("example.env has %s, which nothing reads", name[1])
		}
	}
	// The settings of the nodes are valid after substitution, and all nodes have one place for their backup.
	place := regexp.MustCompile(`(?m)^ATELIE_BACKUP_URL=(s3://.*)$`).FindStringSubmatch(env)
	if place == nil {
		t.Fatal("example.env names no bucket for the backup")
	}
	fill := strings.NewReplacer("${DOMAIN:?", "example.com${", "${ATELIE_JWT_SECRET:?", strings.Repeat("k", 64)+"${", "${POSTGRES_PASSWORD:?", "geheim${", "${S3_SECRET:?", "geheim${", "${ATELIE_BACKUP_URL:?", strings.ReplaceAll(place[1], "${S3_SECRET}", "geheim")+"${")
	rest := regexp.MustCompile(`\$\{[^}]*\}`)
	var filled []string
	for _, line := range regexp.MustCompile(`(?m)^    (ATELIE_\w+): (.*)$`).FindAllStringSubmatch(text, -1) {
		filled = append(filled, line[1]+"="+rest.ReplaceAllString(fill.Replace(line[2]), ""))
	}
	if shown := command(t, filled, "config"); !strings.Contains(shown, "https://example.com") || !strings.Contains(shown, "s3:7070/atelie?") || !strings.Contains(shown, "s3:7070/atelie-backup?") {
		t.Errorf("the nodes' settings: %v\n%s", filled, shown)
	}
}

// TestExampleSettingsAreASmallObject checks that the example is short, because people edit this JSON by hand.
func TestExampleSettingsAreASmallObject(t *testing.T) {
	var object map[string]any
	if err := json.Unmarshal([]byte(example(t, "settings.json")), &object); err != nil || len(object) > 5 {
		t.Errorf("%v, %v", object, err)
	}
}
