// Package acmetest runs a certificate authority for tests: the program pebble of Let's Encrypt. Like a public authority, pebble connects to
// a domain before it issues a certificate. The package also runs a DNS server for pebble that resolves every domain to this machine.
package acmetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"atelie/internal/proctest"
)

// Options configures an Authority.
type Options struct {
	HTTPPort, TLSPort int           // ports of this machine to which the authority connects to validate a domain
	Validity          time.Duration // how long issued certificates are valid; rounded down to whole seconds
}

// Authority is a running certificate authority.
type Authority struct {
	DirectoryURL   string         // URL of the ACME directory, with which a client begins
	ServerRootFile string         // PEM file with the root certificate of the server at DirectoryURL
	IssuingRoots   *x509.CertPool // the root certificate of the certificates that the authority issues

	mu     sync.Mutex
	output bytes.Buffer // output of pebble; guarded by mu
}

// Write implements io.Writer, so that pebble can write its output to the Authority.
func (a *Authority) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output.Write(p)
}

// Issued returns how many certificates the authority has issued.
func (a *Authority) Issued() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Count(a.output.String(), "Issued certificate serial")
}

// Log returns the output of pebble.
func (a *Authority) Log() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output.String()
}

// Start starts an authority and waits until it responds. The end of the test stops the authority.
func Start(t *testing.T, o Options) *Authority {
	t.Helper()
	program, err := proctest.Build("pebble")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &Authority{ServerRootFile: filepath.Join(dir, "cert.pem")}
	serverRoots, err := writeCertificate(a.ServerRootFile, filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	listen, management := freeAddress(t), freeAddress(t)
	for management == listen {
		management = freeAddress(t)
	}
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": management, "certificate": a.ServerRootFile, "privateKey": filepath.Join(dir, "key.pem"),
		"httpPort": o.HTTPPort, "tlsPort": o.TLSPort, "keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"domainBlocklist": []string{"blocked.example"},
		"profiles":        map[string]any{"default": map[string]any{"description": "", "validityPeriod": int(o.Validity.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	configFile := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(context.Background(), program, "-config", configFile, "-dnsserver", serveDNS(t))
	process.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	process.Stdout, process.Stderr, process.SysProcAttr = a, a, proctest.EndWithParent(syscall.SIGKILL)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proctest.Kill(process); err != nil {
			t.Error(err)
		}
	})
	a.DirectoryURL = "https://" + listen + "/dir"
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: serverRoots}}, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	root := a.wait(t, client, "https://"+management+"/roots/0")
	directory := a.wait(t, client, a.DirectoryURL)
	if o.Validity < minRenewalInfoValidity {
		a.DirectoryURL = serveWithoutRenewalInfo(t, directory)
	}
	a.IssuingRoots = x509.NewCertPool()
	if !a.IssuingRoots.AppendCertsFromPEM(root) {
		t.Fatalf("no root: %s", root)
	}
	return a
}

// wait requests a URL until pebble responds, and returns the body.
func (a *Authority) wait(t *testing.T, client *http.Client, address string) []byte {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		body, err := fetch(t.Context(), client, address)
		if err == nil {
			return body
		}
		if time.Now().After(deadline) {
			t.Fatalf("pebble did not get ready: %v\n%s", err, a.Log())
		}
	}
}

func fetch(ctx context.Context, client *http.Client, address string) (body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}

// minRenewalInfoValidity is the minimum validity for which clients may ask pebble when to renew (ARI, RFC 9773). pebble proposes
// a window of two days around the start of the last third, cut off at the expiry. With a shorter validity the window reaches the
// expiry, and the client chooses a random moment in it.
const minRenewalInfoValidity = 72 * time.Hour

// serveWithoutRenewalInfo serves the ACME directory without the URL for renewal windows, and returns the URL of this directory.
// Clients then renew a certificate when a third of its validity is left, and not at a random moment.
func serveWithoutRenewalInfo(t *testing.T, directory []byte) string {
	t.Helper()
	var entries map[string]any
	if err := json.Unmarshal(directory, &entries); err != nil {
		t.Fatal(err)
	}
	delete(entries, "renewalInfo")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(entries) // an error means that the client has gone
	}))
	t.Cleanup(server.Close)
	return server.URL + "/dir"
}

// freeAddress returns an address with a free port below 32768. From 32768 on the system gives ports to connections and to
// listeners on port 0: such a port could be taken before pebble listens on it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", 16_000+rand.N(16_000)))
		if err == nil {
			_ = l.Close() // only its address is wanted
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// writeCertificate writes httptest's certificate for 127.0.0.1 and its key, which the authority's own server uses. It returns
// the root that verifies it.
func writeCertificate(certFile, keyFile string) (*x509.CertPool, error) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool, errors.Join(writePEM(certFile, "CERTIFICATE", server.Certificate().Raw), writePEM(keyFile, "PRIVATE KEY", key))
}

func writePEM(file, kind string, data []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}

// serveDNS starts a DNS server that resolves every name to 127.0.0.1, and returns its address. pebble queries it over TCP.
func serveDNS(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for answerNext(conn) == nil {
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// answerNext answers one query; each message follows its length (RFC 1035 §4.2.2). It answers no query that has several questions.
func answerNext(conn net.Conn) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	packet := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, packet); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil || len(m.Questions) != 1 {
		return errors.Join(err, errors.New("not one question"))
	}
	q := m.Questions[0]
	m.Response, m.Additionals, m.Answers = true, nil, nil
	if q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	reply, err := m.Pack()
	if err == nil {
		_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
	return err
}
