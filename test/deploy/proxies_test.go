package deploy

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atelie/internal/certificates/acmetest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/program"
)

// visitor is the source address of the tests' requests, which differs from the proxy's.
const visitor = "127.0.0.5"

const site = "https://example.com"

// front is a running reverse proxy: its ports for HTTP (plain) and HTTPS (secure), and the root certificate for the latter.
type front struct {
	plain, secure string
	roots         *x509.CertPool
	logs          string // folder of nginx's logs
	output        *lines
}

// client returns a client that connects to the proxy, whatever the host of a request is.
func (f front) client(t *testing.T, h2 bool) *http.Client {
	t.Helper()
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(visitor)}}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: f.roots}, ForceAttemptHTTP2: h2, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		port := f.plain
		if strings.HasSuffix(address, ":443") {
			port = f.secure
		}
		return from.DialContext(ctx, "tcp", "127.0.0.1:"+port)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// two has two nodes with one database and one data folder, as in the examples for several nodes.
type two struct {
	nodes        []*node
	env          []string
	anon, secret string
}

func startTwo(t *testing.T) *two {
	t.Helper()
	w := &two{env: []string{
		"ATELIE_DATA_DIR=" + t.TempDir(), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_SITE_URL=" + site, "ATELIE_TRUSTED_PROXIES=127.0.0.1",
		"ATELIE_DATABASE_URL=" + dbtest.URL(t, db.Postgres), "ATELIE_JWT_SECRET=" + strings.Repeat("k", 32),
	}}
	keys := command(t, w.env, "keys")
	w.anon, w.secret = program.Value(t, keys, "ANON_KEY"), program.Value(t, keys, "SERVICE_ROLE_KEY")
	for range 2 {
		w.nodes = append(w.nodes, start(t, w.env...))
	}
	added := command(t, w.env, "owner", "add", "ana@example.com")
	if !strings.Contains(added, "ana@example.com") {
		t.Fatal(added)
	}
	return w
}

// TestProxyExamples runs the same checks with each example, and with the program's own HTTPS.
func TestProxyExamples(t *testing.T) {
	w := startTwo(t)
	one, several := w.nodes[0].address, []string{w.nodes[0].address, w.nodes[1].address}
	for name, begin := range map[string]func(t *testing.T) front{
		"nginx, one": func(t *testing.T) front { return startNginx(t, "one.conf", "127.0.0.1:8000", one) },
		"nginx, several": func(t *testing.T) front {
			return startNginx(t, "several.conf", "10.0.0.11:8000", several[0], "10.0.0.12:8000", several[1])
		},
		"Caddy, one": func(t *testing.T) front { return startCaddy(t, "one.Caddyfile", "127.0.0.1:8000", one) },
		"Caddy, several": func(t *testing.T) front {
			return startCaddy(t, "several.Caddyfile", "atelie1:8000", several[0], "atelie2:8000", several[1])
		},
		"no proxy": w.itself,
	} {
		t.Run(name, func(t *testing.T) {
			f := begin(t)
			c := f.client(t, true)
			eventually(t, "the proxy serves the site", func() bool { return answers(c, site+"/health/ready") })
			w.pages(t, f)
			w.signIn(t, c)
			w.upload(t, c, strings.ReplaceAll(name, ", ", "-"))
			w.breaks(t, c, strings.ReplaceAll(name, ", ", "-"))
			w.socket(t, f.client(t, false))
		})
	}
}

// TestNoRequestFailsWhenANodeStops stops the second of two nodes and sends requests before a health check can have seen it.
func TestNoRequestFailsWhenANodeStops(t *testing.T) {
	w := startTwo(t)
	for name, begin := range map[string]func(t *testing.T, second string) front{
		"nginx": func(t *testing.T, second string) front {
			return startNginx(t, "several.conf", "10.0.0.11:8000", w.nodes[0].address, "10.0.0.12:8000", second)
		},
		"Caddy": func(t *testing.T, second string) front {
			return startCaddy(t, "several.Caddyfile", "atelie1:8000", w.nodes[0].address, "atelie2:8000", second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.nodes[1].address})
			second := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				forward.ServeHTTP(rw, r)
			}))
			defer second.Close() // Close may be called twice
			f := begin(t, second.Listener.Addr().String())
			c := f.client(t, true)
			eventually(t, "the second node gets requests", func() bool { return answers(c, site+"/health/ready") && requests.Load() > 3 })
			second.Close()
			for i := range 20 {
				if page := do(t, c, w.request(t, http.MethodGet, site+"/health/ready", nil)); page.status != http.StatusOK {
					t.Errorf("request %d: %d %s", i, page.status, page.body)
				}
			}
		})
	}
}

// pages checks HTTP/2, the redirect to HTTPS, and that the log has the visitor's address despite a forged X-Forwarded-For.
func (w *two) pages(t *testing.T, f front) {
	t.Helper()
	c := f.client(t, true)
	r := w.request(t, http.MethodGet, site+"/?seen="+t.Name(), nil)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	page := do(t, c, r)
	if page.status != http.StatusOK || page.major != 2 || !strings.Contains(page.body, "<html") || page.header.Get("Strict-Transport-Security") == "" {
		t.Errorf("the page: HTTP/%d %d %v", page.major, page.status, page.header)
	}
	id := page.header.Get("X-Request-Id")
	eventually(t, "the request is logged", func() bool { return w.logged(id) != "" })
	if got := w.logged(id); got != visitor {
		t.Errorf("the visitor's address in the log is %s", got)
	}
	moved := do(t, c, w.request(t, http.MethodGet, "http://example.com/artworks?lang=pt", nil))
	if got := moved.header.Get("Location"); moved.status != http.StatusPermanentRedirect || got != site+"/artworks?lang=pt" {
		t.Errorf("HTTP: %d to %q", moved.status, got)
	}
}

// logged returns the visitor's address that either node has logged for a request, or "".
func (w *two) logged(id string) string {
	for _, n := range w.nodes {
		for text := range strings.Lines(n.output.String()) {
			var line struct{ ID, IP string }
			if json.Unmarshal([]byte(text), &line) == nil && line.ID == id {
				return line.IP
			}
		}
	}
	return ""
}

func (w *two) signIn(t *testing.T, c *http.Client) {
	t.Helper()
	changed := command(t, w.env, "owner", "password", "ana@example.com")
	_, rest, ok := strings.Cut(changed, "Password:")
	if !ok {
		t.Fatalf("no password in %q", changed)
	}
	body, err := json.Marshal(map[string]string{"email": "ana@example.com", "password": strings.Fields(rest)[0]})
	if err != nil {
		t.Fatal(err)
	}
	r := w.request(t, http.MethodPost, site+"/auth/v1/token?grant_type=password", bytes.NewReader(body))
	r.Header.Set("apikey", w.anon)
	signed := do(t, c, r)
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(signed.body), &session); err != nil || signed.status != http.StatusOK {
		t.Fatalf("sign-in: %d %s", signed.status, signed.body)
	}
	r = w.request(t, http.MethodGet, site+"/auth/v1/user", nil)
	r.Header.Set("apikey", w.anon)
	r.Header.Set("Authorization", "Bearer "+session.Token)
	if me := do(t, c, r); me.status != http.StatusOK || !strings.Contains(me.body, "ana@example.com") {
		t.Errorf("user: %d %s", me.status, me.body)
	}
}

// film returns a body that is larger than the default limits and buffers of proxies.
func film(t *testing.T) []byte {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(root, "internal/demo/content/noite-no-cais.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	return append(head, make([]byte, 8<<20)...)
}

// upload uploads a video in one request, and another one by TUS, whose first PATCH is interrupted half-way.
func (w *two) upload(t *testing.T, c *http.Client, name string) {
	t.Helper()
	data := film(t)
	r := w.request(t, http.MethodPost, site+"/storage/v1/object/product-images/"+name+"-whole.mp4", bytes.NewReader(data))
	r.Header.Set("Authorization", "Bearer "+w.secret)
	r.Header.Set("Content-Type", "video/mp4")
	if sent := do(t, c, r); sent.status != http.StatusOK {
		t.Fatalf("upload: %d %s", sent.status, sent.body)
	}
	w.download(t, c, name+"-whole.mp4", data)

	place := w.create(t, c, name+"-pieces.mp4", len(data))
	// The received half is stored, so the proxy does not buffer the request. The half is sent again while nothing is stored, because
	// HEAD interrupts a PATCH that has not read its body yet.
	var offset int
	eventually(t, "the sent part is stored", func() bool {
		w.breakHalfway(t, c, place, data)
		offset = w.offset(t, c, place)
		return offset > 0
	})
	if offset >= len(data) {
		t.Fatalf("after the break %d of %d bytes are there", offset, len(data))
	}
	r = w.tus(t, http.MethodPatch, place, bytes.NewReader(data[offset:]))
	r.Header.Set("Upload-Offset", strconv.Itoa(offset))
	r.Header.Set("Content-Type", "application/offset+octet-stream")
	if rest := do(t, c, r); rest.status != http.StatusNoContent {
		t.Fatalf("the rest: %d %s", rest.status, rest.body)
	}
	w.download(t, c, name+"-pieces.mp4", data)
}

// breaks breaks one upload after the other. A proxy that counted them as failures of the nodes would soon have no node left.
func (w *two) breaks(t *testing.T, c *http.Client, name string) {
	t.Helper()
	data := film(t)
	for i := range 3 {
		w.breakHalfway(t, c, w.create(t, c, fmt.Sprintf("%s-broken-%d.mp4", name, i), len(data)), data)
		if page := do(t, c, w.request(t, http.MethodGet, site+"/health/ready", nil)); page.status != http.StatusOK {
			t.Errorf("after %d broken uploads: %d %s", i+1, page.status, page.body)
		}
	}
}

// create creates a TUS upload and returns its URL.
func (w *two) create(t *testing.T, c *http.Client, name string, size int) string {
	t.Helper()
	r := w.tus(t, http.MethodPost, site+"/storage/v1/upload/resumable", nil)
	r.Header.Set("Upload-Length", strconv.Itoa(size))
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	r.Header.Set("Upload-Metadata", "bucketName "+b64("product-images")+",objectName "+b64(name)+",contentType "+b64("video/mp4"))
	created := do(t, c, r)
	place := created.header.Get("Location")
	if created.status != http.StatusCreated || !strings.HasPrefix(place, site+"/") {
		t.Fatalf("TUS: %d %s, to %q", created.status, created.body, place)
	}
	return place
}

// breakHalfway sends a PATCH whose connection breaks after half of the data.
func (w *two) breakHalfway(t *testing.T, c *http.Client, place string, data []byte) {
	t.Helper()
	body, line := io.Pipe()
	go func() {
		_, err := line.Write(data[:len(data)/2])
		_ = line.CloseWithError(errors.Join(errors.New("the connection breaks"), err)) // always nil
	}()
	r := w.tus(t, http.MethodPatch, place, body)
	r.ContentLength = int64(len(data))
	r.Header.Set("Upload-Offset", "0")
	r.Header.Set("Content-Type", "application/offset+octet-stream")
	if response, err := c.Do(r); err == nil {
		_ = response.Body.Close()
	}
	_ = body.Close() // ends the goroutine if the response came before the half was read; always nil
}

// offset returns how many bytes of an upload are stored, or 0 while another request has its lock.
func (w *two) offset(t *testing.T, c *http.Client, place string) int {
	t.Helper()
	head := do(t, c, w.tus(t, http.MethodHead, place, nil))
	if head.status == http.StatusLocked {
		return 0
	}
	offset, err := strconv.Atoi(head.header.Get("Upload-Offset"))
	if err != nil {
		t.Fatalf("HEAD: %d %v", head.status, err)
	}
	return offset
}

func (w *two) download(t *testing.T, c *http.Client, name string, want []byte) {
	t.Helper()
	got := do(t, c, w.request(t, http.MethodGet, site+"/storage/v1/object/public/product-images/"+name, nil))
	if got.status != http.StatusOK || got.body != string(want) {
		t.Errorf("%s came back with %d bytes of %d: %d", name, len(got.body), len(want), got.status)
	}
}

func (w *two) socket(t *testing.T, c *http.Client) {
	t.Helper()
	socket, response, err := websocket.Dial(t.Context(), "wss://example.com/realtime/v1/websocket?vsn=2.0.0&apikey="+w.anon, &websocket.DialOptions{HTTPClient: c})
	if err != nil {
		t.Fatalf("wss: %v", err)
	}
	if response.Body != nil {
		defer func() { _ = response.Body.Close() }()
	}
	if err := socket.Write(t.Context(), websocket.MessageText, []byte(`[null,"1","phoenix","heartbeat",{}]`)); err != nil {
		t.Fatal(err)
	}
	if _, reply, err := socket.Read(t.Context()); err != nil || !strings.Contains(string(reply), "phx_reply") {
		t.Errorf("heartbeat: %s, %v", reply, err)
	}
	if err := socket.CloseNow(); err != nil {
		t.Error(err)
	}
}

func (w *two) request(t *testing.T, method, address string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *two) tus(t *testing.T, method, address string, body io.Reader) *http.Request {
	t.Helper()
	r := w.request(t, method, address, body)
	r.Header.Set("Authorization", "Bearer "+w.secret)
	r.Header.Set("Tus-Resumable", "1.0.0")
	return r
}

// reply is a response with its body.
type reply struct {
	status, major int
	header        http.Header
	body          string
}

func do(t *testing.T, c *http.Client, r *http.Request) reply {
	t.Helper()
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.ProtoMajor, response.Header, string(body)}
}

// itself starts a third node, which serves HTTPS itself.
func (w *two) itself(t *testing.T) front {
	t.Helper()
	f := front{plain: program.FreePort(t), secure: program.FreePort(t)}
	ports := [2]int{}
	for i, port := range []string{f.plain, f.secure} {
		var err error
		if ports[i], err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
	}
	authority := acmetest.Start(t, acmetest.Options{HTTPPort: ports[0], TLSPort: ports[1], Validity: time.Hour})
	f.roots = authority.IssuingRoots
	w.nodes = append(w.nodes, start(t, append(w.env, "ATELIE_DOMAIN=example.com", "ATELIE_LISTEN_HTTPS=127.0.0.1:"+f.secure, "ATELIE_LISTEN_HTTP=127.0.0.1:"+f.plain,
		"ATELIE_ACME_DIRECTORY="+authority.DirectoryURL, "ATELIE_ACME_ROOTS="+authority.ServerRootFile)...))
	return f
}

// cacheFolder is where the examples for nginx store responses.
const cacheFolder = "/var/cache/nginx/"

// startNginx runs an example with other ports, another certificate and the test's nodes.
func startNginx(t *testing.T, name string, nodes ...string) front {
	t.Helper()
	binary, dir := need(t, "nginx"), t.TempDir()
	f := front{plain: program.FreePort(t), secure: program.FreePort(t)}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key)
	f.roots = x509.NewCertPool()
	if pem, err := os.ReadFile(cert); err != nil || !f.roots.AppendCertsFromPEM(pem) {
		t.Fatalf("no certificate: %v", err)
	}
	f.logs = filepath.Join(dir, "log")
	if err := os.Mkdir(f.logs, 0o700); err != nil {
		t.Fatal(err)
	}
	nodes = append(nodes, "/var/log/nginx/", f.logs+"/")
	text := example(t, "nginx/"+name)
	if strings.Contains(text, cacheFolder) && !slices.Contains(nodes, cacheFolder) {
		nodes = append(nodes, cacheFolder, dir+"/")
	}
	text = replaced(t, text, append(nodes, "listen 80;", "listen 127.0.0.1:"+f.plain+";", "listen 443 ssl", "listen 127.0.0.1:"+f.secure+" ssl",
		"/etc/letsencrypt/live/example.com/fullchain.pem", cert, "/etc/letsencrypt/live/example.com/privkey.pem", key)...)
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	main := write(t, filepath.Join(dir, "nginx.conf"), "daemon off;\nmaster_process off;\npid "+filepath.Join(dir, "pid")+";\nevents {}\nhttp {\naccess_log off;\n"+temporary.String()+
		"include "+write(t, filepath.Join(dir, "atelie.conf"), text)+";\n}\n")
	if out, err := exec.Command(binary, "-t", "-e", "stderr", "-p", dir, "-c", main).CombinedOutput(); err != nil || bytes.Contains(out, []byte("[warn]")) {
		t.Fatalf("nginx -t: %v\n%s", err, out)
	}
	f.output = process(t, exec.Command(binary, "-e", "stderr", "-p", dir, "-c", main))
	return f
}

// TestNginxLogsNoPrivateLink asks for private links while no node responds, so that nginx writes into both of its logs.
func TestNginxLogsNoPrivateLink(t *testing.T) {
	for name, nodes := range map[string][]string{"one.conf": {"127.0.0.1:8000"}, "several.conf": {"10.0.0.11:8000", "10.0.0.12:8000"}, "cached.conf": {"127.0.0.1:8000"}} {
		t.Run(name, func(t *testing.T) {
			var replacements []string
			for _, node := range nodes {
				replacements = append(replacements, node, "127.0.0.1:"+program.FreePort(t))
			}
			f := startNginx(t, name, replacements...)
			c := f.client(t, true)
			w := &two{}
			const token, elsewhere = "c2VjcmV0LXRva2VuLW9mLWE", "YW5vdGhlci1wcml2YXRlLWw"
			eventually(t, "nginx answers", func() bool {
				response, err := c.Do(w.request(t, http.MethodGet, site+"/before", nil))
				return err == nil && response.Body.Close() == nil
			})
			requests := 0
			for _, path := range []string{
				"/enquiry/" + token, "/enquiry/" + token + "?lang=pt", "/enquiry/" + token + "/picture/1/small", "//enquiry/" + token, "/Enquiry/" + token, "/ENQUIRY/" + token, "/%65nquiry/" + token, "/enquiry%2f" + token, "/enquiry/" + token + "/",
				"/x/../enquiry/" + token, "/enquiry/x/../" + token,
			} {
				for _, base := range []string{site, "http://example.com"} {
					for _, method := range []string{http.MethodGet, http.MethodPost} {
						r := w.request(t, method, base+"/", nil)
						r.URL.Opaque = "//example.com" + path
						do(t, c, r)
						requests++
					}
				}
			}
			r := w.request(t, http.MethodGet, "http://example.com/?next=/enquiry/"+elsewhere, nil)
			r.Header.Set("Referer", site+"/enquiry/"+elsewhere)
			do(t, c, r)
			var access string
			eventually(t, "all requests are logged", func() bool {
				text, err := os.ReadFile(filepath.Join(f.logs, "access.log"))
				access = string(text)
				return err == nil && strings.Count(access, " /enquiry/- ") >= requests+1 && strings.Contains(access, "GET /before ")
			})
			errorsOfNginx, err := os.ReadFile(filepath.Join(f.logs, "error.log"))
			if err != nil {
				t.Fatal(err)
			}
			for log, text := range map[string]string{"access log": access, "error log": string(errorsOfNginx) + f.output.String()} {
				if strings.Contains(text, token) || strings.Contains(text, elsewhere) {
					t.Errorf("the %s has the token:\n%s", log, text)
				}
			}
		})
	}
}

// startCaddy runs an example with other ports and the test's nodes; Caddy issues its own certificates.
func startCaddy(t *testing.T, name string, nodes ...string) front {
	t.Helper()
	binary, dir := need(t, "caddy"), t.TempDir()
	f := front{plain: program.FreePort(t), secure: program.FreePort(t)}
	text := replaced(t, example(t, "caddy/"+name), nodes...)
	options := "{\n\tadmin off\n\thttp_port " + f.plain + "\n\thttps_port " + f.secure + "\n\tdefault_bind 127.0.0.1\n\tlocal_certs\n\tskip_install_trust\n}\n"
	cmd := exec.Command(binary, "run", "--adapter", "caddyfile", "--config", write(t, filepath.Join(dir, "Caddyfile"), options+text))
	cmd.Env = append(os.Environ(), "DOMAIN=example.com", "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	process(t, cmd)
	rootFile := filepath.Join(dir, "caddy/pki/authorities/local/root.crt")
	f.roots = x509.NewCertPool()
	eventually(t, "Caddy has issued its root certificate", func() bool {
		pem, err := os.ReadFile(rootFile)
		return err == nil && f.roots.AppendCertsFromPEM(pem)
	})
	return f
}

func writeCertificate(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"example.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
}
