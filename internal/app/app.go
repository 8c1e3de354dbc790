// Package app is the composition root: the only package that knows every capability. Commands and tests both build
// the program through New.
package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"atelie/internal/auth"
	"atelie/internal/auth/oauth"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/demo"
	"atelie/internal/functions"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail"
	"atelie/internal/pages"
	"atelie/internal/realtime"
	"atelie/internal/sms"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/rendition"
	"atelie/internal/storage/resumable"
	"atelie/internal/tables"
	"atelie/web"
)

// App is the wired program. Its fields are what commands and tests need to reach.
type App struct {
	DB        *db.DB
	Jobs      *jobs.Queue
	Auth      *auth.Service
	Tables    *tables.Service
	Storage   *storage.Service
	Functions *functions.Service
	Realtime  *realtime.Service
	Mail      *mail.Mailer
	Tokens    *identity.Tokens

	blobs         blob.Store
	studio        *rendition.Studio
	uploads       *resumable.Service
	pages         *pages.Service
	sms           *sms.Sender
	authenticator *identity.Authenticator
	trusted       []netip.Prefix
	cfg           config.Config
	log           *slog.Logger
	now           func() time.Time
	bodyTime      time.Duration
	answerTime    time.Duration
	// checkCertificates is how often they are looked at for renewal; zero for the usual pace.
	checkCertificates time.Duration
	stopping          atomic.Bool
}

// askPause hides, in the time of other answers, whether a mail that was asked for leaves at all.
const askPause = 400 * time.Millisecond

// bodyTime is how long a body may take that is no upload, answerTime how long a request may take that moves no file.
const (
	bodyTime   = 30 * time.Second
	answerTime = 40 * time.Second
)

// New opens and migrates the database and wires everything. The configuration must be valid, prepared and have its
// addresses derived. now is the clock of all time-dependent rules.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, now func() time.Time) (*App, error) {
	database, err := db.Open(ctx, cfg.DatabaseURL())
	if err != nil {
		return nil, err
	}
	a := &App{DB: database, cfg: cfg, log: log, now: now, bodyTime: bodyTime, answerTime: answerTime}
	if err := a.wire(ctx); err != nil {
		return nil, errors.Join(err, database.Close())
	}
	return a, nil
}

func (a *App) wire(ctx context.Context) error {
	if err := a.DB.Migrate(ctx); err != nil {
		return err
	}
	var err error
	if a.blobs, err = a.openBlobs(ctx); err != nil {
		return err
	}
	if a.trusted, err = a.cfg.Server.Proxies(); err != nil {
		return err
	}
	secret := []byte(a.cfg.Auth.JWTSecret)
	a.Tokens = identity.NewTokens(secret, a.now)
	a.Jobs = jobs.New(a.DB, derive(secret, "jobs"), a.log, a.now)
	authConfig := a.authConfig(secret)
	if authConfig.Providers, err = a.providers(); err != nil {
		return err
	}
	a.Auth = auth.New(a.DB, a.Jobs, a.Tokens, authConfig, a.now)
	if err := a.Auth.EnsureSigningKey(ctx); err != nil {
		return err
	}
	if err := a.Tokens.UseKeys(a.Auth.SigningKeys, a.cfg.Auth.JWTAlgorithm == "ES256"); err != nil {
		return fmt.Errorf("signing keys: %w", err)
	}
	a.authenticator = &identity.Authenticator{Tokens: a.Tokens, IsAdmin: a.Auth.IsAdmin}
	a.Tables = tables.New(a.DB, a.cfg.Database.MaxRows, a.now)
	if err := a.wireStorage(ctx, secret); err != nil {
		return err
	}
	if a.uploads, err = resumable.New(a.DB, a.Storage, a.cfg.Server.APIURL, int64(a.cfg.Storage.MaxUpload), a.cfg.Storage.UploadExpiry, a.now); err != nil {
		return err
	}
	if err := a.wirePages(); err != nil {
		return err
	}
	a.Functions = functions.New(a.DB, a.page, a.now)
	if err := a.wireDelivery(); err != nil {
		return err
	}
	return a.wireRealtime(ctx)
}

// visitor is whom pages are made for: nobody in particular.
var visitor = identity.Caller{Role: identity.Anon}

func (a *App) wirePages() error {
	anonKey, err := a.Tokens.Key(identity.Anon)
	if err != nil {
		return err
	}
	dist, err := web.Dist()
	if err != nil {
		return err
	}
	a.pages, err = pages.New(a.DB, dist, pages.Config{
		SiteURL: a.cfg.Server.SiteURL, APIURL: a.cfg.Server.APIURL, AnonKey: anonKey,
		Describe: func(ctx context.Context, addresses []string) (map[string]json.RawMessage, error) {
			return a.Storage.Describe(ctx, addresses, false)
		},
		Log: a.log,
		Content: pages.Content{
			Rows: func(ctx context.Context, table, query string) ([]string, error) {
				return a.Tables.Rows(ctx, visitor, table, query)
			},
			Count: func(ctx context.Context, table, query string) (int64, error) {
				return a.Tables.Count(ctx, visitor, table, query)
			},
		},
	}, a.now)
	return err
}

// page draws what a function answers a browser with, as a page of the site.
func (a *App) page(w http.ResponseWriter, r *http.Request, p functions.Page) error {
	return a.pages.Document(w, r, pages.Document(p))
}

// wireStorage makes the files surface and gives the queue what it does with pictures.
func (a *App) wireStorage(ctx context.Context, secret []byte) error {
	studio, err := rendition.NewStudio(rendition.Config{Vips: a.cfg.Pictures.Vips, Log: a.log})
	if err != nil {
		return err
	}
	a.studio = studio
	scratch := filepath.Join(a.cfg.Server.DataDir, "scratch")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	a.Storage = storage.New(a.DB, a.blobs, storage.Config{
		MaxUpload: int64(a.cfg.Storage.MaxUpload), Quota: int64(a.cfg.Storage.Quota), SignKey: derive(secret, "signed storage addresses"),
		Engine: studio, Jobs: a.Jobs, Scratch: scratch,
	}, a.now)
	if err := a.Storage.EnsureBuckets(ctx); err != nil {
		return fmt.Errorf("buckets: %w", err)
	}
	a.Jobs.HandleSlow(max(1, runtime.NumCPU()/2), storage.JobTime,
		jobs.Slow{Kind: storage.JobPicture, Do: a.Storage.MakeLadder}, jobs.Slow{Kind: storage.JobExtras, Do: a.Storage.MakeExtras})
	a.Jobs.HandleSlow(1, storage.FilmTime, jobs.Slow{Kind: storage.JobFilm, Do: a.Storage.ArrangeFilm})
	a.Tables.SetMedia(a.Storage)
	return nil
}

// openBlobs opens the bucket when one is set, the folder otherwise.
func (a *App) openBlobs(ctx context.Context) (blob.Store, error) {
	bucket, err := a.cfg.Storage.S3()
	if err != nil {
		return nil, err
	}
	if bucket != nil {
		return blob.NewS3(ctx, blob.S3Config(*bucket))
	}
	disk, err := blob.NewDisk(a.cfg.FilesDir())
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return disk, nil
}

func (a *App) authConfig(secret []byte) auth.Config {
	c := a.cfg.Auth
	return auth.Config{
		SiteURL: a.cfg.Server.SiteURL, APIURL: a.cfg.Server.APIURL, Version: a.cfg.Build, JWTExpiry: c.JWTExpiry, RefreshReuse: c.RefreshReuse,
		RefreshKey: derive(secret, "refresh tokens"), CodeKey: derive(secret, "codes"), SealKey: derive(secret, "sealed secrets"),
		SignupOpen: c.Signup == "open", MailAutoconfirm: bool(c.MailAutoconfirm), PhoneEnabled: bool(c.PhoneEnabled), PhoneAutoconfirm: bool(c.PhoneAutoconfirm),
		ManualLinking: bool(c.ManualLinking), RateLimits: bool(c.RateLimits), SAML: bool(c.SAML), RedirectURLs: c.RedirectURLs,
		ES256:    c.JWTAlgorithm == "ES256",
		AskPause: askPause, MailMinInterval: c.MailMinInterval, SMSMinInterval: c.SMSMinInterval, PasswordMinLength: c.PasswordMinLength,
		PasswordReauth: bool(c.PasswordReauth),
		SMSProvider:    a.smsProvider(),
	}
}

// providers makes the identity providers ready. None of them is called yet: one that is down must not stop the start.
func (a *App) providers() (map[string]*oauth.Provider, error) {
	found := map[string]*oauth.Provider{}
	for _, o := range a.cfg.OIDC {
		p, err := oauth.New(oauth.Settings{
			Name: o.Name, Issuer: o.Issuer, ClientIDs: o.ClientIDs, ClientSecret: o.ClientSecret, Scopes: o.Scopes, TeamID: o.TeamID, KeyID: o.KeyID,
		}, a.cfg.Server.APIURL+"/auth/v1/callback", a.now)
		if err != nil {
			return nil, fmt.Errorf("identity provider: %w", err)
		}
		found[o.Name] = p
	}
	return found, nil
}

// derive makes a key for one purpose out of the secret, so that no two purposes share bytes.
func derive(secret []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("atelie " + purpose))
	return mac.Sum(nil)
}

// Close ends the database connections. Call it after Serve has returned.
func (a *App) Close() error { return errors.Join(a.pages.Close(), a.DB.Close()) }

// LoadDemo puts the demo content in place, through the code that an upload takes; a second time changes nothing.
func (a *App) LoadDemo(ctx context.Context) error {
	return demo.Load(ctx, a.DB, demoFiles{a.Storage}, a.Tables, a.now)
}

// demoFiles gives the demo loader the upload that it needs.
type demoFiles struct{ storage *storage.Service }

func (f demoFiles) Upload(ctx context.Context, bucket, name string, body demo.File) error {
	_, err := f.storage.Put(ctx, identity.Caller{Role: identity.Service}, bucket, name, body.Reader, body.Size, storage.PutOptions{Upsert: true, CacheControl: "max-age=31536000"})
	return err
}

// shutdownGrace is how long running requests may take to finish after a stop was asked for.
const shutdownGrace = 30 * time.Second

// endpoint is a port and what answers there; with TLS settings it is HTTPS.
type endpoint struct {
	server   *http.Server
	listener net.Listener
}

func (e endpoint) serve() error {
	if e.server.TLSConfig != nil {
		return e.server.ServeTLS(e.listener, "", "") // certificates come from the settings
	}
	return e.server.Serve(e.listener)
}

func (a *App) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      2 * time.Minute, // transfers of files move it on
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
}

// Serve answers requests and works on queued jobs until ctx ends, then lets both finish what they are at. It returns an
// error at once while another node serves the database with another secret: neither would know the other's tokens.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	return a.serve(ctx, endpoint{a.server(a.Handler()), listener})
}

func (a *App) serve(ctx context.Context, endpoints ...endpoint) error {
	release, err := a.DB.Claim(ctx, int32(binary.BigEndian.Uint32(derive([]byte(a.cfg.Auth.JWTSecret), "what nodes have in common"))), func(err error) {
		switch {
		case errors.Is(err, db.ErrClaimed): // which of the two is right only the host knows
			a.log.Error("another node serves this database with another jwt-secret: stop it, neither knows the other's tokens")
		case err != nil:
			a.log.Warn("the claim on the database was lost, it is made anew", "cause", err.Error())
		default:
			a.log.Info("the claim on the database is made anew")
		}
	})
	if errors.Is(err, db.ErrClaimed) {
		err = errors.New("jwt-secret: a running node of this database has another one; all nodes need the same (ATELIE_JWT_SECRET), and to change it all must stop")
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it began
		}
		return err
	}
	defer release()
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx)) // until the last request is answered
	var housekeeping sync.WaitGroup
	housekeeping.Go(func() { a.keepHouse(background) })
	housekeeping.Go(func() { a.log.Info("pictures", "engine", a.studio.Engine()) }) // asking libvips takes a moment
	housekeeping.Go(func() { a.Jobs.Run(background) })
	housekeeping.Go(func() { a.Realtime.Run(background) })

	failed := make(chan error, len(endpoints))
	for _, e := range endpoints {
		go func() { failed <- e.serve() }()
	}
	select {
	case err = <-failed: // the other endpoints fall with it
		for _, e := range endpoints {
			err = errors.Join(err, e.server.Close())
		}
	case <-ctx.Done():
		a.stopping.Store(true)
		a.log.Info("stopping", "grace", shutdownGrace.String())
		a.Realtime.Stop() // Shutdown does not know of sockets
		err = shutDown(context.WithoutCancel(ctx), endpoints)
	}
	stopBackground()
	housekeeping.Wait()
	return err
}

// shutDown lets running requests finish, on all endpoints at once.
func shutDown(ctx context.Context, endpoints []endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	var all errgroup.Group
	for _, e := range endpoints {
		all.Go(func() error {
			if err := e.server.Shutdown(ctx); err != nil {
				return errors.Join(fmt.Errorf("stop: requests still running after %s were cut", shutdownGrace), e.server.Close())
			}
			return nil
		})
	}
	return all.Wait()
}

// keepHouse removes what has outlived its time, at start and then once an hour.
func (a *App) keepHouse(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		err := errors.Join(a.Functions.PurgeQuarantine(ctx), a.Functions.PurgeThanked(ctx), a.Auth.RetireUnusedKeys(ctx), a.Auth.Forget(ctx), a.Jobs.Purge(ctx), a.Mail.Purge(ctx), a.collectFiles(ctx), a.Storage.Sweep(ctx), a.Storage.EnsureMedia(ctx), a.uploads.Sweep(ctx), a.DB.ForgetHits(ctx, a.now().Add(-24*time.Hour)))
		if err != nil && ctx.Err() == nil {
			a.log.Error("housekeeping", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// collectFiles removes uploads that no row and no setting shows any more.
func (a *App) collectFiles(ctx context.Context) error {
	removed, err := a.Storage.CollectUnreferenced(ctx, func(ctx context.Context) ([]string, error) {
		urls, err := a.Tables.MediaURLs(ctx)
		if err != nil {
			return nil, err
		}
		site, err := pages.LoadSite(ctx, a.DB)
		return append(urls, site.Portrait), err
	})
	if removed > 0 {
		a.log.Info("collected files that nothing refers to", "files", removed)
	}
	return err
}
