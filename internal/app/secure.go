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

// ServeSecure is Serve with HTTPS of our own: the site on the first listener, challenges and the way to HTTPS on the
// second. It serves also while there is no certificate yet.
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
	keeper, err := certificates.New(a.DB, certificates.Config{
		Domains: domains, Email: server.ACMEEmail, Directory: server.ACMEDirectory, Roots: roots, SealKey: derive([]byte(a.cfg.Auth.JWTSecret), "certificates"),
		HTTPS: https.Addr(), HTTP: plain.Addr(), CheckEvery: a.checkCertificates,
	}, a.log, a.now)
	if err != nil {
		return err
	}
	site := a.server(certificates.Strict(a.Handler()))
	site.TLSConfig = keeper.TLS()
	site.ErrorLog = log.New(connectionLog{a.log}, "", 0)
	health := http.NewServeMux()
	health.HandleFunc("GET /health/live", a.live)
	health.HandleFunc("GET /health/ready", a.ready)
	way := a.server(httpx.Log(a.log, a.trusted)(keeper.HTTP(server.SiteURL, health)))

	keeping, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // after the listeners, for challenges come through them
		keeper.Run(keeping)
		close(ended)
	}()
	err = a.serve(ctx, endpoint{site, https}, endpoint{way, plain})
	stop()
	<-ended
	return errors.Join(err, keeper.Close())
}

// connectionLog keeps failed handshakes out of the log: every port 443 gets them all day, from whoever scans it.
type connectionLog struct{ log *slog.Logger }

// Write takes one message of net/http.
func (l connectionLog) Write(message []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(message, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(message)))
	return len(message), nil
}
