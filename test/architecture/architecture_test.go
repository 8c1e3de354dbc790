// Package architecture checks that docs/architecture.md agrees with the repository, and that packages import only packages that they may import.
package architecture

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// treePaths returns the paths in the code blocks of docs/architecture.md, where indentation expresses nesting.
func treePaths(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "```\n")
	if len(parts) < 3 || len(parts)%2 == 0 {
		t.Fatal("docs/architecture.md has no code blocks, or one without an end")
	}
	var paths []string
	for i := 1; i < len(parts); i += 2 {
		var parents []string
		for line := range strings.Lines(parts[i]) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
			if depth > len(parents) {
				t.Fatalf("line %q is indented too far", line)
			}
			path := filepath.Join(append(slices.Clone(parents[:depth]), name)...)
			paths = append(paths, path)
			parents = append(parents[:depth:depth], name)
		}
	}
	return paths
}

func TestEveryPathInTheTreeExists(t *testing.T) {
	for _, path := range treePaths(t) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("docs/architecture.md names %s: %v", path, err)
		}
	}
}

func TestEveryFolderIsInTheTree(t *testing.T) {
	paths := treePaths(t)
	for _, parent := range []string{"internal", "web/src", "test"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() && !slices.Contains(paths, filepath.Join(parent, e.Name())) {
				t.Errorf("%s/%s is missing in docs/architecture.md", parent, e.Name())
			}
		}
	}
}

var (
	foundation   = []string{"apperr", "identity", "policy", "httpx", "db", "db/dbtest", "content", "apikeys", "datafolder", "device", "seal", "jobs", "metrics", "i18n", "memory", "settings", "settings/settingstest", "history", "activity", "files", "gomaxprocs", "imported", "interval", "proctest", "s3client", "webhook"}
	capabilities = []string{"auth", "auth/saml", "auth/saml/samltest", "auth/oauth", "auth/oauth/oauthtest", "tables", "storage", "storage/blob", "storage/blob/blobtest", "storage/resumable", "storage/storagetest", "media", "media/video", "media/metadata", "media/rendition", "media/rendition/renditiontest", "media/rendition/colour", "functions", "pages", "pages/render", "pages/render/bytecode", "demo", "mail", "mail/mailtest", "sms", "realtime", "realtime/bus", "certificates", "certificates/acmetest", "archive", "archive/archivetest", "supabase", "health", "release", "backup", "cdn"}
)

// outer packages are subpackages of a capability that may import the rest of it.
var outer = []string{"atelie/internal/storage/resumable", "atelie/internal/media/metadata", "atelie/internal/media/rendition", "atelie/internal/media/rendition/renditiontest", "atelie/internal/storage/blob/blobtest", "atelie/internal/storage/storagetest", "atelie/internal/archive/archivetest"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags=nodynamic", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p.Imports
	}
	return all
}

// layer returns the layer of a package, or -1. A package may import packages of lower layers and, in the foundation, also packages of its
// own layer.
func layer(path string) int {
	name, inside := strings.CutPrefix(path, "atelie/internal/")
	switch {
	case strings.HasPrefix(path, "atelie/test/"), strings.HasPrefix(path, "atelie/bench"):
		return 9
	case strings.HasPrefix(path, "atelie/cmd/"):
		return 5
	case path == "atelie/web":
		return 0
	case !inside:
		return -1
	case name == "cli":
		return 4
	case name == "app":
		return 3
	case name == "config":
		return 0
	case slices.Contains(capabilities, name):
		return 2
	case slices.Contains(foundation, name):
		return 1
	}
	return -1
}

func TestImportsFollowTheLayers(t *testing.T) {
	for path, imports := range packages(t) {
		from := layer(path)
		if from < 0 {
			t.Errorf("%s has no layer: add it here and to docs/architecture.md", path)
		}
		for _, imported := range imports {
			if !strings.HasPrefix(imported, "atelie/") {
				continue
			}
			to := layer(imported)
			sameFoundation := from == 1 && to == 1
			own := strings.HasPrefix(imported, path+"/")
			within := slices.Contains(outer, path) && (strings.HasPrefix(path, imported+"/") || strings.HasPrefix(imported, filepath.Dir(path)+"/"))
			if to >= from && !sameFoundation && !own && !within {
				t.Errorf("%s imports %s, against the direction", path, imported)
			}
			if imported == "atelie/internal/config" && from < 3 {
				t.Errorf("%s imports config: app passes settings to it instead", path)
			}
			if path == "atelie/internal/policy" && imported != "atelie/internal/identity" {
				t.Errorf("policy imports %s: it does no I/O and knows only who calls", imported)
			}
		}
	}
}

var sqlStatement = regexp.MustCompile(`(?i)["` + "`" + `]\s*(select .+ from|insert into|update \w+ set|delete from|create table) `)

// A capability with many tables has a store file for each noun.
var storeFile = regexp.MustCompile(`^store(_[a-z_]+)?\.go$`)

func TestSQLIsOnlyInStoreFiles(t *testing.T) {
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, "internal/db/") || storeFile.MatchString(filepath.Base(rel)) || rel == "internal/tables/sql.go" {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if found := sqlStatement.Find(source); found != nil {
			t.Errorf("%s contains SQL (%s…): move it to store.go", rel, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !sqlStatement.MatchString(`db.Exec("delete from x")`) {
		t.Error("the pattern does not find SQL any more")
	}
}

// TestLockFileHasNoURLs checks that the lock file names no package registry.
func TestLockFileHasNoURLs(t *testing.T) {
	lock, err := os.ReadFile(filepath.Join(root, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(lock, []byte(`"resolved": "http`)) {
		t.Error("package-lock.json contains download addresses, which .npmrc should omit")
	}
}

// TestCitedProductRulesExist finds citations of docs/product.md to a rule or heading that does not exist. A citation is the file's name,
// a comma, and the number of a rule or a heading.
func TestCitedProductRulesExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/product.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:(\d+)\. |## (.+)$)`).FindAllStringSubmatch(string(page), -1) {
		if m[1] != "" {
			names["rule "+m[1]] = true
		} else {
			names[m[2]] = true
		}
	}
	citation := regexp.MustCompile(`docs/product\.md, (rule \d+|\p{L}[^.):;]*)`)
	found := 0
	for _, top := range []string{"cmd", "internal", "web/src", "test", "bench", "scripts"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !slices.Contains([]string{".go", ".ts", ".tsx", ".mjs"}, filepath.Ext(path)) || strings.HasSuffix(path, "architecture_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range citation.FindAllStringSubmatch(string(text), -1) {
				found++
				if !names[m[1]] {
					t.Errorf("%s cites %q, which docs/product.md does not have", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no citation was found")
	}
}
