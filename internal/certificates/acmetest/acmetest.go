// Package acmetest gives a test a real certificate authority: pebble (pinned in tools/go.mod), which validates names as a
// public one does, with a DNS server that sends every name to this machine.
package acmetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Options say where the authority looks for challenges, and how long its certificates last.
type Options struct {
	HTTPPort, TLSPort int
	Validity          time.Duration // whole seconds
}

// Authority is a running certificate authority.
type Authority struct {
	Directory string         // its address
	RootsFile string         // PEM file that vouches for that address
	Roots     *x509.CertPool // what vouches for the certificates that it gives

	mu     sync.Mutex
	output bytes.Buffer
}

// Write collects what the program says.
func (a *Authority) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output.Write(p)
}

// Issued counts the certificates that were given.
func (a *Authority) Issued() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Count(a.output.String(), "Issued certificate serial")
}

// Log is everything that the program has said.
func (a *Authority) Log() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.output.String()
}

// Start starts an authority, which ends with the test.
func Start(t *testing.T, o Options) *Authority {
	t.Helper()
	program, err := pebble()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &Authority{RootsFile: filepath.Join(dir, "cert.pem")}
	own, err := writeCertificate(a.RootsFile, filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	listen, manage := freeAddress(t), freeAddress(t)
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": manage, "certificate": a.RootsFile, "privateKey": filepath.Join(dir, "key.pem"),
		"httpPort": o.HTTPPort, "tlsPort": o.TLSPort, "keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"domainBlocklist": []string{"blocked.example"},
		"profiles":        map[string]any{"default": map[string]any{"description": "", "validityPeriod": int(o.Validity.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(context.Background(), program, "-config", file, "-dnsserver", serveDNS(t))
	process.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	process.Stdout, process.Stderr, process.SysProcAttr = a, a, endWithParent()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Process.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		_ = process.Wait() // says that it was killed
	})
	a.Directory = "https://" + listen + "/dir"
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own}}, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	root := a.wait(t, client, "https://"+manage+"/roots/0")
	a.wait(t, client, a.Directory)
	a.Roots = x509.NewCertPool()
	if !a.Roots.AppendCertsFromPEM(root) {
		t.Fatalf("no root: %s", root)
	}
	return a
}

func (a *Authority) wait(t *testing.T, client *http.Client, address string) []byte {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
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
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New(answer.Status)
	}
	return io.ReadAll(answer.Body)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// writeCertificate makes the certificate of the authority's own address.
func writeCertificate(certFile, keyFile string) (*x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pool, errors.Join(os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
}

// serveDNS sends every name to 127.0.0.1; pebble asks by TCP.
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

// answerNext answers one question; each message has its length before it (RFC 1035 §4.2.2).
func answerNext(conn net.Conn) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	packet := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, packet); err != nil {
		return err
	}
	reply := answerDNS(packet)
	if reply == nil {
		return errors.New("no question")
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return err
}

func answerDNS(packet []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil || len(m.Questions) != 1 {
		return nil
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
	if err != nil {
		return nil
	}
	return reply
}

// pebble builds the server through Go's build cache and gives its path.
var pebble = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	tools := filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "tools", "go.mod")
	out, err := exec.Command("go", "tool", "-modfile="+tools, "-n", "pebble").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("build pebble: %s", failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
})
