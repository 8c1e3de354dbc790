package deploy

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/certificates/acmetest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/program"
)

// startBalancer starts a round-robin TCP load balancer in front of two nodes, and returns its port. It waits for a node that does not listen yet.
func startBalancer(t *testing.T, nodes *[2]atomic.Pointer[string]) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer func() { _ = conn.Close() }()
				// A refused connection would fail the authority's challenge.
				upstream, err := net.Dial("tcp", *nodes[n%2].Load())
				for err != nil && t.Context().Err() == nil {
					time.Sleep(10 * time.Millisecond)
					upstream, err = net.Dial("tcp", *nodes[n%2].Load())
				}
				if err != nil {
					return // the test is over
				}
				defer func() { _ = upstream.Close() }()
				go func() { _, _ = io.Copy(upstream, conn) }()
				_, _ = io.Copy(conn, upstream)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// TestTwoProgramsShareOneCertificate checks that two programs that share only the database obtain one certificate, whichever of them gets
// the certificate authority's challenges.
func TestTwoProgramsShareOneCertificate(t *testing.T) {
	for _, dialect := range []db.Dialect{db.Postgres} { // SQLite allows only one program
		t.Run(string(dialect), func(t *testing.T) {
			var https, plain [2]atomic.Pointer[string] // the addresses of the nodes for HTTPS and for HTTP
			for i := range https {
				a, b := "127.0.0.1:"+program.FreePort(t), "127.0.0.1:"+program.FreePort(t)
				https[i].Store(&a)
				plain[i].Store(&b)
			}
			authority := acmetest.Start(t, acmetest.Options{HTTPPort: startBalancer(t, &plain), TLSPort: startBalancer(t, &https), Validity: time.Hour})
			env := []string{
				"ATELIE_DATA_DIR=" + t.TempDir(), "ATELIE_DOMAIN=Ateliê.example,www.atelie.example", "ATELIE_SITE_URL=https://xn--ateli-lsa.example",
				"ATELIE_ACME_DIRECTORY=" + authority.DirectoryURL, "ATELIE_ACME_ROOTS=" + authority.ServerRootFile, "ATELIE_ACME_EMAIL=ana@atelie.example",
			}
			if dialect == db.Postgres {
				env = append(env, "ATELIE_DATABASE_URL="+dbtest.URL(t, dialect))
			}
			for i := range https {
				start(t, append(env, "ATELIE_LISTEN_HTTPS="+*https[i].Load(), "ATELIE_LISTEN_HTTP="+*plain[i].Load())...)
			}
			serial := func(i int, name string) string {
				conn, err := tls.Dial("tcp", *https[i].Load(), &tls.Config{RootCAs: authority.IssuingRoots, ServerName: name})
				if err != nil {
					return ""
				}
				defer func() { _ = conn.Close() }()
				return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
			}
			for _, name := range []string{"xn--ateli-lsa.example", "www.atelie.example"} {
				eventually(t, "both nodes serve the certificate of "+name, func() bool { return serial(0, name) != "" && serial(0, name) == serial(1, name) })
			}
			if n := authority.Issued(); n != 2 {
				t.Errorf("%d certificates for two names:\n%s", n, authority.Log())
			}
			if n := strings.Count(authority.Log(), "There are now 1 accounts"); n > 1 || strings.Contains(authority.Log(), "There are now 2 accounts") {
				t.Error("each node has opened an account")
			}
			// The health command of a node with HTTPS uses its HTTP port.
			if out := command(t, append(env, "ATELIE_LISTEN_HTTP="+*plain[1].Load()), "health"); out != "ready\n" {
				t.Errorf("health: %q", out)
			}
			if response, err := http.Get("http://" + *plain[0].Load() + "/health/live"); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
				t.Errorf("health over HTTP on port %s: %v", strconv.Quote(*plain[0].Load()), err)
			}
		})
	}
}
