package app

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"

	"atelie/internal/certificates"
	"atelie/internal/httpx"
)

// ServeSecure serves the site like Serve, but with HTTPS and certificates that the program obtains itself (ACME). https is the listener of
// the site. plain is the listener for unencrypted requests: ACME challenges and health checks are handled, all others are redirected to
// HTTPS. Both listeners accept requests before the first certificate exists. metrics is the listener of the metrics, nil if they are off.
func (a *App) ServeSecure(ctx context.Context, https, plain, metrics net.Listener) error {
	server := a.cfg.Server
	roots, err := server.ACMERootPool()
	if err != nil {
		return err
	}
	domains, err := server.Domains()
	if err != nil {
		return err
	}
	if previous := a.derivePrevious("certificates"); previous != nil { // must run before certificates.New reads the certificates
		if _, err := certificates.Reseal(ctx, a.DB, a.deriveCurrent("certificates"), previous, true); err != nil { // true: write the values
			return err
		}
	}
	manager, err := certificates.New(a.DB, certificates.Config{
		Domains: domains, Email: server.ACMEEmail, Directory: server.ACMEDirectory, Roots: roots, SealKey: a.deriveCurrent("certificates"),
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
	plainServer := a.server(httpx.Log(a.log, a.trusted, a.newObserver(noSurface))(manager.HTTP(server.SiteURL, health)))

	managerCtx, stopManager := context.WithCancel(ctx)
	managerEnded := make(chan struct{})
	go func() { // runs while serve below accepts requests, among them the challenges
		manager.Run(managerCtx)
		close(managerEnded)
	}()
	err = a.serve(ctx, a.withMetrics(metrics, endpoint{httpsServer, https}, endpoint{plainServer, plain})...)
	stopManager()
	<-managerEnded
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
