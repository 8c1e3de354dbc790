package app

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"atelie/internal/certificates"
	"atelie/internal/httpx"
)

// ServeSecure serves the site like Serve, but with HTTPS and certificates that the program obtains itself by ACME (RFC 8555). The listeners
// are:
//   - https: for the site. Until the first certificate exists, TLS handshakes fail.
//   - plain: for unencrypted requests. ACME challenges (requests by which the certificate authority checks that a domain leads to this
//     machine) and health checks are answered. All other requests are redirected to HTTPS. Until the first certificate exists, they get a
//     page that says so.
//   - metrics: for the metrics; nil if metrics are off.
func (a *App) ServeSecure(ctx context.Context, https, plain, metrics net.Listener) error {
	settings := a.cfg.Server
	roots, err := settings.ACMERootPool()
	if err != nil {
		return err
	}
	domains, err := settings.Domains()
	if err != nil {
		return err
	}
	sealKey := a.currentKey("certificates") // encrypts the stored certificates
	if previousKey := a.previousKey("certificates"); previousKey != nil {
		// The secret was changed. The stored certificates must be encrypted again, because the manager below can read only values that are
		// encrypted with sealKey.
		if _, err := certificates.Reseal(ctx, a.DB, sealKey, previousKey, true /* write */); err != nil {
			return err
		}
	}
	manager, err := certificates.New(a.DB, certificates.Config{
		Domains: domains, Email: settings.ACMEEmail, Directory: settings.ACMEDirectory, Roots: roots, SealKey: sealKey,
		HTTPS: https.Addr(), HTTP: plain.Addr(), CheckEvery: a.checkCertificates,
	}, a.log, a.now)
	if err != nil {
		return err
	}
	a.certificates.Store(manager)
	httpsServer := a.server(certificates.HSTS(a.Handler()))
	httpsServer.TLSConfig = manager.TLS()
	httpsServer.ErrorLog = log.New(connectionLog{a.log}, "", 0)
	health := http.NewServeMux()
	health.HandleFunc("GET /health/live", a.live)
	health.HandleFunc("GET /health/ready", a.ready)
	withLog := httpx.Log(a.log, a.trusted, a.newObserver(otherSurface))
	plainServer := a.server(withLog(manager.HTTP(settings.SiteURL, health)))

	managerCtx, stopManager := context.WithCancel(ctx)
	var running sync.WaitGroup
	// Run obtains certificates while serve below runs, because the authority sends its challenges to these listeners.
	running.Go(func() { manager.Run(managerCtx) })
	err = a.serve(ctx, metrics, endpoint{httpsServer, https}, endpoint{plainServer, plain})
	stopManager()
	running.Wait()
	return errors.Join(err, manager.Close())
}

// connectionLog logs the errors of net/http. It logs failed TLS handshakes only at the debug level, because scanners on the
// internet cause many of them.
type connectionLog struct{ log *slog.Logger }

// Write logs one message of net/http.
func (l connectionLog) Write(message []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(message, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(message)))
	return len(message), nil
}
