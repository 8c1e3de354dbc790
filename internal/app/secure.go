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

// ServeSecure is Serve with HTTPS and certificates that the program obtains itself (ACME). The listener https serves the
// site. The listener plain answers ACME challenges and redirects other requests to HTTPS. Both serve even before the first
// certificate exists.
func (a *App) ServeSecure(ctx context.Context, https, plain net.Listener) error {
	server := a.cfg.Server
	roots, err := server.ACMERootPool()
	if err != nil {
		return err
	}
	domains, err := server.Domains()
	if err != nil {
		return err
	}
	if previous := a.derivePrevious("certificates"); previous != nil { // before New reads the certificates
		if _, err := certificates.Reseal(ctx, a.DB, a.deriveCurrent("certificates"), previous, true); err != nil {
			return err
		}
	}
	keeper, err := certificates.New(a.DB, certificates.Config{
		Domains: domains, Email: server.ACMEEmail, Directory: server.ACMEDirectory, Roots: roots, SealKey: a.deriveCurrent("certificates"),
		HTTPS: https.Addr(), HTTP: plain.Addr(), CheckEvery: a.checkCertificates,
	}, a.log, a.now)
	if err != nil {
		return err
	}
	site := a.server(certificates.HSTS(a.Handler()))
	site.TLSConfig = keeper.TLS()
	site.ErrorLog = log.New(connectionLog{a.log}, "", 0)
	health := http.NewServeMux()
	health.HandleFunc("GET /health/live", a.live)
	health.HandleFunc("GET /health/ready", a.ready)
	way := a.server(httpx.Log(a.log, a.trusted)(keeper.HTTP(server.SiteURL, health)))

	keeping, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // needs the listeners, through which the challenges arrive
		keeper.Run(keeping)
		close(ended)
	}()
	err = a.serve(ctx, endpoint{site, https}, endpoint{way, plain})
	stop()
	<-ended
	return errors.Join(err, keeper.Close())
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
