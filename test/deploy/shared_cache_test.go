package deploy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"atelie/test/program"
)

// cached is a site with the demo content behind nginx as a shared cache.
type cached struct {
	t            *testing.T
	client       *http.Client
	anon, secret string
	picture      string // path of a picture's public URL
	rendition    string // path of a rendition as pages name it, with the hash of its content
}

// newCached starts a site with additional settings, behind nginx with cached.conf. replacements has pairs of texts: in cached.conf, the first of
// each pair is replaced by the second.
func newCached(t *testing.T, settings []string, replacements ...string) *cached {
	t.Helper()
	dir := t.TempDir()
	env := append([]string{"ATELIE_DATA_DIR=" + dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_SITE_URL=" + site, "ATELIE_TRUSTED_PROXIES=127.0.0.1", "ATELIE_CDN=on"}, settings...)
	if folder := os.Getenv("TEST_DEMO"); folder == "" {
		command(t, env, "demo")
	} else if err := os.CopyFS(dir, os.DirFS(folder)); err != nil { // has all renditions; made by scripts/test.mjs
		t.Fatal(err)
	}
	keys := command(t, env, "keys")
	node := start(t, env...)
	c := &cached{t: t, anon: program.Value(t, keys, "ANON_KEY"), secret: program.Value(t, keys, "SERVICE_ROLE_KEY")}
	c.client = startNginx(t, "cached.conf", append(replacements, "127.0.0.1:8000", node.address)...).client(t, true)
	c.client.Transport.(*http.Transport).DisableCompression = true
	eventually(t, "the proxy serves the site", func() bool { return answers(c.client, site+"/health/ready") })
	return c
}

// startCached calls newCached without changes, and waits until a rendition is made.
func startCached(t *testing.T) *cached {
	t.Helper()
	c := newCached(t, nil)
	var works []struct {
		Address string                        `json:"image_url"`
		Media   map[string]struct{ V string } `json:"media"`
	}
	if err := json.Unmarshal([]byte(c.get("/rest/v1/products?select=image_url,media&order=id&limit=1", "apikey", c.anon).body), &works); err != nil || len(works) != 1 {
		t.Fatalf("%v: %d works", err, len(works))
	}
	address, err := url.Parse(works[0].Address)
	if err != nil {
		t.Fatal(err)
	}
	c.picture = address.Path
	c.rendition = strings.Replace(address.Path, "/object/", "/render/image/", 1) + "?width=640&format=webp&v=" + works[0].Media[works[0].Address].V
	eventually(t, "the rendition is made", func() bool { return strings.Contains(c.get(c.rendition).header.Get("Cache-Control"), "immutable") })
	return c
}

func (c *cached) send(method, path, body string, header ...string) reply {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, site+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return do(c.t, c.client, r)
}

func (c *cached) get(path string, header ...string) reply {
	c.t.Helper()
	return c.send(http.MethodGet, path, "", header...)
}

// hit requests a path until the response comes from the cache.
func (c *cached) hit(path string, header ...string) (got reply) {
	c.t.Helper()
	eventually(c.t, "the cache answers "+path, func() bool {
		got = c.get(path, header...)
		return got.header.Get("X-Cache-Status") == "HIT"
	})
	return got
}

// TestSharedCache runs nginx as a cache in front of the program with ATELIE_CDN=on.
//
// Proves H-cdn-edit, H-cdn-private, H-cdn-variants.
func TestSharedCache(t *testing.T) {
	c := startCached(t)
	t.Run("variants", c.variants)
	t.Run("private", c.private)
	t.Run("edit", c.edit)
}

// decode returns the uncompressed body of a reply.
func decode(t *testing.T, got reply) string {
	t.Helper()
	var reader io.Reader = strings.NewReader(got.body)
	var err error
	switch encoding := got.header.Get("Content-Encoding"); encoding {
	case "br":
		reader = brotli.NewReader(reader)
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		reader, err = zstd.NewReader(reader)
	case "":
	default:
		t.Fatalf("Content-Encoding %q", encoding)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func (c *cached) variants(t *testing.T) {
	for _, encoding := range []string{"br", "zstd", "gzip", "identity"} {
		// The page changes while the demo's renditions are made and recorded, so the three responses must meet in one second.
		eventually(t, encoding+" has the same page, and 304 for its entity tag", func() bool {
			got, plain := c.hit("/", "Accept-Encoding", encoding), c.get("/", "Accept-Encoding", "identity")
			if name := cmp.Or(got.header.Get("Content-Encoding"), "identity"); name != encoding {
				t.Fatalf("%s: answered %q", encoding, name)
			}
			known := c.hit("/", "Accept-Encoding", encoding, "If-None-Match", got.header.Get("Etag"))
			return decode(t, got) == plain.body && known.status == http.StatusNotModified && known.body == ""
		})
	}
	whole := c.hit(c.picture)
	for _, part := range []reply{c.hit(c.picture, "Range", "bytes=100-299"), c.get(c.picture, "Range", "bytes=100-299", "Authorization", "Bearer "+c.secret)} {
		if part.status != http.StatusPartialContent || part.body != whole.body[100:300] {
			t.Errorf("range: %d with %d bytes", part.status, len(part.body))
		}
	}
	negotiated := strings.Replace(c.rendition, "&format=webp", "", 1) // the URL in pages
	if got := c.hit(negotiated, "Accept", "image/avif,image/webp,*/*"); got.header.Get("Content-Type") != "image/webp" {
		t.Errorf("negotiated: %v", got.header)
	}
	if got := c.hit(c.rendition); !bytes.Contains([]byte(got.body[:16]), []byte("WEBP")) || got.header.Get("Content-Type") != "image/webp" {
		t.Errorf("rendition: %v", got.header)
	}
}

// private requests everything that is not public several times. No response may come from the cache, or allow the cache to store it.
func (c *cached) private(t *testing.T) {
	signed := c.send(http.MethodPost, strings.Replace(c.picture, "/public/", "/sign/", 1), `{"expiresIn":600}`, "Authorization", "Bearer "+c.secret, "Content-Type", "application/json")
	var token struct {
		URL string `json:"signedURL"`
	}
	if err := json.Unmarshal([]byte(signed.body), &token); err != nil || token.URL == "" {
		t.Fatalf("sign: %s", signed.body)
	}
	negotiated := strings.Replace(c.rendition, "&format=webp", "", 1)
	for _, request := range []struct {
		path   string
		header []string
	}{
		{"/rest/v1/products?select=id", []string{"apikey", c.anon}},
		{"/rest/v1/products?select=id&apikey=" + c.anon, nil},
		{"/rest/v1/contact_submissions?select=*", []string{"apikey", c.secret, "Authorization", "Bearer " + c.secret}},
		{"/storage/v1" + token.URL, nil},
		{strings.Replace(c.picture, "/public/", "/authenticated/", 1), []string{"Authorization", "Bearer " + c.secret}},
		{c.picture, []string{"Authorization", "Bearer " + c.anon}},
		{c.picture + "?token=abc", nil},
		{negotiated, []string{"Accept", "image/avif,image/jpeg"}},
		{negotiated, nil},
		{"/", []string{"Cookie", "session=1"}},
		{"/?token=abc", nil},
		{"/admin", nil},
		{"/auth/v1/settings", []string{"apikey", c.anon}},
		{"/health/ready", nil},
		{"/storage/v1/object/public/product-images/missing.jpg", nil},
	} {
		for range 3 { // the third would come from the cache if an earlier one had been stored
			got := c.get(request.path, request.header...)
			control, status := got.header.Get("Cache-Control"), got.header.Get("X-Cache-Status")
			if status == "HIT" || status == "STALE" || !strings.Contains(control, "private") && !strings.Contains(control, "no-store") {
				t.Errorf("%s %v: %d, %q, %s", request.path, request.header, got.status, control, status)
			}
		}
	}
}

// edit changes the site's name, and checks it on all pages while the cache is warm.
func (c *cached) edit(t *testing.T) {
	paths := []string{"/feed.xml", "/site.webmanifest"}
	for part := range strings.SplitSeq(c.get("/sitemap.xml").body, "<loc>") {
		address, _, isLocation := strings.Cut(part, "</loc>")
		if isLocation && !strings.Contains(address, "art=") {
			paths = append(paths, strings.ReplaceAll(strings.TrimPrefix(address, site), "&amp;", "&"))
		}
	}
	if len(paths) < 8 {
		t.Fatalf("the sitemap has no pages: %v", paths)
	}
	owner := []string{"apikey", c.secret, "Authorization", "Bearer " + c.secret, "Content-Type", "application/json"}
	for _, name := range []string{"Casa Amarela", "Casa Azul", "Casa Verde"} {
		for _, path := range paths {
			c.hit(path)
		}
		var settings struct{ Version string }
		if err := json.Unmarshal([]byte(c.send(http.MethodPost, "/rest/v1/rpc/get_site_settings", "{}", owner...).body), &settings); err != nil {
			t.Fatal(err)
		}
		saved := c.send(http.MethodPost, "/rest/v1/rpc/save_site_settings", `{"version":"`+settings.Version+`","settings":{"site":{"name":"`+name+`"}}}`, owner...)
		if saved.status != http.StatusOK {
			t.Fatalf("save: %d %s", saved.status, saved.body)
		}
		acknowledged := time.Now()
		for _, path := range paths {
			for {
				requested := time.Since(acknowledged) // when the request began, because a busy machine may delay the response
				if strings.Contains(c.get(path).body, name) {
					break
				}
				if requested > 2*time.Second {
					t.Errorf("%s: the edit was not visible after %v", path, requested)
					break
				}
			}
		}
	}
}

// TestNoStoredPageDuringARevalidation requests a page while nginx revalidates it. The stored page can be of any age, so nginx must ask the
// program for the second request too.
//
// Proves H-cdn-edit.
func TestNoStoredPageDuringARevalidation(t *testing.T) {
	node := httptest.NewUnstartedServer(nil)
	client := startNginx(t, "cached.conf", "127.0.0.1:8000", node.Listener.Addr().String()).client(t, true)
	var requests atomic.Int64
	node.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 2 && !answers(client, site+"/") { // the first request was stored, and the second one is the revalidation
			t.Error("no response during the revalidation")
		}
		w.Header().Set("Cache-Control", "public, max-age=0, s-maxage=1, stale-if-error=300") // that of pages
		if _, err := io.WriteString(w, "a page"); err != nil {
			t.Error(err)
		}
	})
	node.Start()
	t.Cleanup(node.Close)
	eventually(t, "nginx revalidates the page", func() bool { return answers(client, site+"/") && requests.Load() > 1 })
	if n := requests.Load(); n != 3 {
		t.Errorf("the program got %d requests, want 3", n)
	}
}

// TestPurgedCache runs nginx as a CDN: it stores responses with CDN-Cache-Control for the minute that this header states, and drops
// everything when the program calls its purge URL. Debian's nginx has no purge, so the test removes its files.
//
// Proves H-cdn-purge-edit.
func TestPurgedCache(t *testing.T) {
	dir := t.TempDir()
	purge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("X-Token") != "secret" || string(body) != `{"tags":["atelie-pages"]}` {
			t.Errorf("%s %s %v: %v", r.Method, body, r.Header, err)
		}
		err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				err = os.Remove(path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // nginx has renamed or replaced it
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(purge.Close)
	const noCache = "proxy_no_cache "
	c := newCached(t, []string{"ATELIE_WEBHOOK_PRIVATE=on", "ATELIE_CDN_PURGE_URL=" + purge.URL, "ATELIE_CDN_PURGE_HEADER=X-Token: secret"}, cacheFolder, dir+"/",
		"upstream atelie {", "map $upstream_http_cdn_cache_control $private {\n\t\"\" 1;\n\tdefault \"\";\n}\nupstream atelie {",
		noCache, "proxy_ignore_headers Cache-Control;\n\t\tproxy_cache_valid any 1m;\n\t\t"+noCache+"$private ")
	c.edit(t)
}
