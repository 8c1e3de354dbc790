// Package app builds the program from the other packages: it creates their services, connects them and starts them. Commands and tests
// both build the program with New. A new service needs a field in App and a call in wire; a new endpoint needs a route in routes.go.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"atelie/internal/activity"
	"atelie/internal/apikeys"
	"atelie/internal/auth"
	"atelie/internal/auth/oauth"
	"atelie/internal/backup"
	"atelie/internal/cdn"
	"atelie/internal/certificates"
	"atelie/internal/config"
	"atelie/internal/content"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/demo"
	"atelie/internal/files"
	"atelie/internal/functions"
	"atelie/internal/health"
	"atelie/internal/history"
	"atelie/internal/identity"
	"atelie/internal/interval"
	"atelie/internal/jobs"
	"atelie/internal/mail"
	"atelie/internal/media"
	"atelie/internal/media/rendition"
	"atelie/internal/metrics"
	"atelie/internal/pages"
	"atelie/internal/policy"
	"atelie/internal/realtime"
	"atelie/internal/settings"
	"atelie/internal/sms"
	"atelie/internal/storage"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/resumable"
	"atelie/internal/tables"
	"atelie/internal/webhook"
	"atelie/web"
)

// App is the whole program: its services, and the resources that the services share, such as the database. The exported fields are for
// commands and tests.
type App struct {
	DB        *db.DB
	Jobs      *jobs.Queue
	Auth      *auth.Service
	Tables    *tables.Service
	Storage   *storage.Service
	Media     *media.Service
	Functions *functions.Service
	Realtime  *realtime.Service
	Mail      *mail.Mailer
	Tokens    *identity.Tokens
	Keys      *apikeys.Service
	Backup    *backup.Service // nil if backups are off

	cfg      config.Config
	log      *slog.Logger
	now      func() time.Time
	stopping atomic.Bool // the program is ending; /health/ready responds with 503

	// Stored data besides the database.
	blobs  blob.Store
	marker string // id that the database and blobs both contain, which shows that they belong to the same site
	space  *datafolder.Space

	// Further services.
	processor    *rendition.Processor
	uploads      *resumable.Service
	pages        *pages.Service
	settings     *settings.Service
	history      *history.Service
	activity     *activity.Service
	health       *health.Service
	certificates atomic.Pointer[certificates.Manager] // nil until ServeSecure
	sms          *sms.Sender
	metrics      *metrics.Metrics // nil if metrics are off
	purger       *cdn.Purger      // nil if no CDN is configured for purging

	// Checks of requests, and caches of responses.
	authenticator *identity.Authenticator
	trusted       []netip.Prefix // networks of the trusted proxies
	content       *content.Version
	responses     *tables.ResponseCache

	hiddenFiles hiddenFiles // files that only owners may read

	// Timeouts and intervals, which tests shorten.
	bodyTimeout       time.Duration
	requestTimeout    time.Duration
	checkCertificates time.Duration // interval of checks whether certificates must be renewed; 0 means the default
}

// messageJitter is the maximum random delay before the job of a message request begins. The job does more work if the account
// exists, which slows down concurrent requests. Because of the delay, their response times do not reveal whether the account
// exists.
const messageJitter = 400 * time.Millisecond

// Default timeouts of App.bodyTimeout and App.requestTimeout.
const (
	defaultBodyTimeout    = 30 * time.Second // limit for reading a request body; uploads extend it
	defaultRequestTimeout = 40 * time.Second // limit for a request that transfers no file
)

// New opens the site (Open) and builds the program. cfg must be valid and contain the derived URLs (DeriveURLs). now is the
// clock for all rules that depend on time.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, now func() time.Time) (*App, error) {
	site, err := Open(ctx, &cfg, log, now)
	if err != nil {
		return nil, err
	}
	log = slog.New(db.FilterOutageLogs(log.Handler(), site.Space.IsFull))
	a := &App{
		DB: site.DB, blobs: site.Files, marker: site.Marker, space: site.Space, cfg: cfg, log: log, now: now,
		bodyTimeout: defaultBodyTimeout, requestTimeout: defaultRequestTimeout,
	}
	if err := a.wire(ctx); err != nil {
		return nil, errors.Join(err, site.Close())
	}
	return a, nil
}

// wire creates the services. The order matters: a service is created after the services that are passed to it.
func (a *App) wire(ctx context.Context) (err error) {
	a.content = content.NewVersion(a.DB, a.log)
	if a.trusted, err = a.cfg.Server.Proxies(); err != nil {
		return err
	}
	var previousSecret []byte // nil if there is none
	if a.HasPreviousSecret() {
		previousSecret = []byte(a.cfg.Auth.JWTSecretPrevious)
	}
	a.Tokens = identity.New(identity.Config{
		Secret: []byte(a.cfg.Auth.JWTSecret), Previous: previousSecret, ES256: a.cfg.Auth.JWTAlgorithm == "ES256",
		// Keys and Auth are created later, because they need Tokens: so these are functions, which read a.Keys and a.Auth when
		// they are called.
		Generations: func(role identity.Role, generation int) (bool, error) { return a.Keys.Valid(role, generation) },
		Issuers:     func(ctx context.Context) ([]string, error) { return a.Auth.Issuers(ctx) },
		SigningKeys: func(ctx context.Context) ([]identity.SigningKey, error) { return a.Auth.SigningKeys(ctx) },
	}, a.now)
	a.Keys = apikeys.New(a.DB, a.content, a.Tokens, a.now)
	a.Jobs = jobs.New(a.DB, a.currentKey("jobs"), a.previousKey("jobs"), a.log, a.now)
	authConfig := a.authConfig()
	if authConfig.Providers, err = a.providers(); err != nil {
		return err
	}
	a.Auth = auth.New(a.DB, a.Jobs, a.Tokens, authConfig, a.now)
	a.authenticator = &identity.Authenticator{Tokens: a.Tokens, IsAdmin: a.Auth.IsAdmin}
	loadTokens := func(context.Context) error { return a.Tokens.Load() }
	for _, step := range []func(context.Context) error{
		a.Auth.EnsureSigningKey, a.Auth.RecordIssuer, loadTokens, a.wireBackup, a.wireStorage, a.wirePages, a.wirePurger, a.wireDelivery, a.wireRealtime,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	a.wireHealth()
	a.wireMetrics()
	return nil
}

// wirePages makes the service for the tables, and those that read them for pages and settings.
func (a *App) wirePages(context.Context) error {
	a.Tables = tables.New(a.DB, tables.Config{
		MaxRows: a.cfg.Database.MaxRows, Media: a.Media, Record: a.handleChanges,
		RecordInserted: func(ctx context.Context, tx *db.Tx, table, query string, args ...any) error {
			return a.Realtime.RecordInserted(ctx, tx, table, query, args...)
		},
	}, a.now)
	a.responses = a.Tables.NewResponseCache(a.content, a.Keys.AnonKey)
	describe := func(ctx context.Context, urls []string) (map[string]json.RawMessage, error) {
		return a.Media.Describe(ctx, urls, false)
	}
	a.settings = settings.New(a.DB, settings.Config{Describe: describe, CheckWebhook: a.checkWebhook, Demo: demo.LoadedContent}, a.now)
	dist, err := web.Dist()
	if err != nil {
		return err
	}
	a.pages, err = pages.New(a.DB, dist, pages.Config{
		SiteURL: a.cfg.Server.SiteURL, APIURL: a.cfg.Server.APIURL, AnonKey: a.Keys.AnonKey, SecondFactor: bool(a.cfg.Auth.SecondFactor), BackupDays: a.backupDays(), Version: a.content,
		DescribePictures: describe,
		Log:              a.log,
		Content:          a.publicContent(),
	}, a.now)
	return err
}

// checkWebhook returns the reason why a URL cannot be used for webhooks, or "" if it can.
func (a *App) checkWebhook(ctx context.Context, webhookURL string) string {
	switch err := a.Functions.CheckWebhook(ctx, webhookURL); {
	case errors.Is(err, webhook.ErrPrivate):
		return settings.ReasonWebhookPrivate
	case errors.Is(err, webhook.ErrHost):
		return settings.ReasonWebhookHost
	case err != nil:
		return settings.ReasonWebhookHTTPS
	}
	return ""
}

// publicContent returns the functions by which pages read the site's content. They have the rights of an anonymous visitor.
func (a *App) publicContent() pages.ContentReader {
	visitor := identity.Caller{Role: identity.Anon}
	return pages.ContentReader{
		Rows: func(ctx context.Context, table, query string) ([]string, error) {
			return a.Tables.Rows(ctx, visitor, table, query)
		},
		Count: func(ctx context.Context, table, query string) (int64, error) {
			return a.Tables.Count(ctx, visitor, table, query)
		},
		Pictures: func(ctx context.Context, urls []string) (map[string]pages.Picture, error) {
			known, err := a.Media.Pictures(ctx, urls)
			out := make(map[string]pages.Picture, len(known))
			for pictureURL, p := range known {
				out[pictureURL] = pages.Picture(p)
			}
			return out, err
		},
	}
}

// wireStorage makes the services for files and pictures, and registers the handlers of their jobs.
func (a *App) wireStorage(ctx context.Context) (err error) {
	a.processor, err = rendition.NewProcessor(rendition.Config{Vips: a.cfg.Pictures.Vips, Log: a.log})
	if err != nil {
		return err
	}
	scratch := filepath.Join(a.cfg.Server.DataDir, datafolder.Scratch)
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	recorder := storage.NoRecorder
	if a.Backup != nil { // the backup must know which files were added and removed
		recorder = storage.Recorder{Added: a.Backup.AddBlobs, Removed: a.Backup.RemoveBlob}
	}
	blobs := storage.NewBlobs(a.DB, a.blobs, recorder, a.log, a.now)
	a.Media = media.New(a.DB, blobs, media.Config{Engine: a.processor, Jobs: a.Jobs, Scratch: scratch, Content: a.content, Access: a.fileAccess, Full: a.space.IsFull}, a.log, a.now)
	a.Storage = storage.New(a.DB, blobs, a.Media, storage.Config{
		MaxUpload: int64(a.cfg.Storage.MaxUpload), Quota: int64(a.cfg.Storage.Quota), SignKey: a.currentKey("signed storage addresses"), PreviousSignKey: a.previousKey("signed storage addresses"),
		Content: a.content, FileURLsLike: a.fileURLsLike, Access: a.fileAccess, KeptFor: max(history.Retention, a.cfg.Backup.Retention),
	}, a.now)
	if a.uploads, err = resumable.New(a.DB, a.Storage, a.cfg.Server.APIURL, int64(a.cfg.Storage.MaxUpload), a.cfg.Storage.UploadExpiry, a.log, a.now); err != nil {
		return err
	}
	a.uploads.CheckSpace = a.checkRowSpace
	a.history = history.New(a.DB, history.Config{RestoreFiles: a.Storage.RestoreFiles, Replaced: a.Storage.Replaced, ReleaseFiles: a.Storage.ReleaseKept}, a.now)
	a.activity = activity.New(a.DB, activity.Config{Events: a.Auth.Activity}, a.now)
	if err := a.Storage.EnsureBuckets(ctx); err != nil {
		return fmt.Errorf("buckets: %w", err)
	}
	pictureWorkers := max(1, runtime.NumCPU()/2)
	first := map[string]jobs.Handler{media.JobFirst: a.Media.MakeFirst}
	a.Jobs.HandlePool(pictureWorkers, media.JobTimeout, first)
	// A second pool for all jobs on pictures. It makes first sizes too, and starts other jobs only if no first size waits.
	a.Jobs.HandlePool(pictureWorkers, media.JobTimeout, first, map[string]jobs.Handler{media.JobPicture: a.Media.MakeLadder},
		map[string]jobs.Handler{media.JobExtras: a.Media.MakeExtras}, map[string]jobs.Handler{media.JobAVIF: a.Media.MakeAVIF})
	a.Jobs.HandlePool(1, media.VideoTimeout, map[string]jobs.Handler{media.JobVideo: a.Media.ArrangeVideo})
	return nil
}

func (a *App) authConfig() auth.Config {
	c := a.cfg.Auth
	var previous *auth.Keys // nil if there is no previous secret
	if a.HasPreviousSecret() {
		previous = &auth.Keys{RefreshKey: a.previousKey("refresh tokens"), CodeKey: a.previousKey("codes"), SealKey: a.previousKey("sealed secrets")}
	}
	return auth.Config{
		SiteURL: a.cfg.Server.SiteURL, APIURL: a.cfg.Server.APIURL, Version: a.cfg.Build, JWTExpiry: c.JWTExpiry, RefreshReuse: c.RefreshReuse,
		RefreshKey: a.currentKey("refresh tokens"), CodeKey: a.currentKey("codes"), SealKey: a.currentKey("sealed secrets"), Previous: previous,
		SignupOpen: c.Signup == "open", MailAutoconfirm: bool(c.MailAutoconfirm), PhoneEnabled: bool(c.PhoneEnabled), PhoneAutoconfirm: bool(c.PhoneAutoconfirm),
		ManualLinking: bool(c.ManualLinking), RateLimited: bool(c.RateLimits), SAML: bool(c.SAML), RedirectURLs: c.RedirectURLs,
		ES256:         c.JWTAlgorithm == "ES256",
		MessageJitter: messageJitter, MailMinInterval: c.MailMinInterval, MailsPerDay: c.MailsPerDay, TextsPerDay: c.TextsPerDay, SMSMinInterval: c.SMSMinInterval, PasswordMinLength: c.PasswordMinLength,
		PasswordReauth: bool(c.PasswordReauth),
		SMSProvider:    a.smsProvider(),
		Sessions:       auth.SessionLimits{Idle: c.SessionIdle, Max: c.SessionMax, OwnerIdle: c.OwnerSessionIdle, OwnerMax: c.OwnerSessionMax}, RequireSecondFactor: bool(c.SecondFactor),
	}
}

// providers returns the configured identity providers by name. It makes no requests to them, so that the program starts even
// if a provider is down.
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

// Close ends the database connections. Call it after Serve has returned.
func (a *App) Close() error {
	a.Media.Close()
	err := errors.Join(a.pages.Close(), a.DB.Close())
	if a.Backup != nil {
		err = errors.Join(err, a.Backup.Close()) // after the last write
	}
	return err
}

// LoadDemo stores the demo content in the same way as uploads by an owner. A second call changes nothing.
func (a *App) LoadDemo(ctx context.Context) error {
	service := identity.Caller{Role: identity.Service}
	upload := func(ctx context.Context, bucket, name string, body io.Reader, size int64) error {
		_, err := a.Storage.Put(ctx, service, bucket, name, body, size, storage.PutOptions{Upsert: true, CacheControl: "max-age=31536000"})
		return err
	}
	insert := func(ctx context.Context, table string, row map[string]any) error {
		return a.Tables.InsertRows(ctx, service, table, []map[string]any{row})
	}
	return demo.Load(ctx, a.DB, upload, insert, a.now)
}

// shutdownGrace is how long running requests may still take after the program was signalled to stop. Then their connections are
// closed.
const shutdownGrace = 30 * time.Second

// endpoint is a listener with the server that accepts its connections. A server with a TLSConfig serves HTTPS.
type endpoint struct {
	server   *http.Server
	listener net.Listener
}

func (a *App) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      2 * time.Minute, // transfers of files extend it
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
}

// Serve serves requests and runs jobs until ctx ends; then it lets running requests and jobs finish. It returns an error
// immediately while another node serves the database with a different secret, because neither node would accept the other's
// tokens. metrics is the listener of the metrics; it is nil if none is set.
func (a *App) Serve(ctx context.Context, site, metrics net.Listener) error {
	return a.serve(ctx, metrics, endpoint{a.server(a.Handler()), site})
}

// serve is Serve with the endpoints of the site. It adds the endpoint at which Prometheus reads the metrics.
func (a *App) serve(ctx context.Context, metrics net.Listener, endpoints ...endpoint) error {
	if metrics != nil {
		endpoints = append(endpoints, endpoint{a.server(a.metrics), metrics})
	}
	release, err := a.DB.Claim(ctx, claimKeys(a.cfg.Auth.JWTSecret, a.cfg.Auth.JWTSecretPrevious), func(err error) {
		switch {
		case errors.Is(err, db.ErrClaimed): // only the operator knows which of the two secrets is right
			a.log.Error("another node serves this database with a different jwt-secret, and neither accepts the other's tokens: stop the node with the wrong one")
		case err != nil:
			a.log.Warn("the connection that holds the claim on the database was lost; the claim is renewed", "cause", err.Error())
		default:
			a.log.Info("the claim on the database is renewed")
		}
	})
	if errors.Is(err, db.ErrClaimed) {
		err = errors.New("jwt-secret: a running node of this database has another one; all nodes need the same (ATELIE_JWT_SECRET); to change it without a pause give every node the new one as ATELIE_JWT_SECRET_PREVIOUS first, then exchange the two")
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil // the program was signalled to stop while it waited for the claim
		}
		return err
	}
	defer release()
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx)) // ends after the last request
	var workers sync.WaitGroup
	workers.Go(func() { interval.Every(background, maintenanceInterval, func() { a.maintain(background) }) })
	workers.Go(func() { a.log.Info("pictures", "engine", a.processor.Engine()) }) // in the background, because Engine may have to start libvips
	workers.Go(func() { a.space.Run(background, a.newLowDiskNotifier(background)) })
	if a.HasPreviousSecret() { // resealing stores no progress: the sealed values themselves show what is left
		workers.Go(func() { interval.Every(background, resealInterval, func() { a.resealOnce(background) }) })
	}
	loops := []func(context.Context){a.watchHealth, a.Jobs.Run, a.Realtime.Run, a.content.Run, a.applyScheduledChanges, a.pages.Warm, a.releaseMemory}
	if a.cfg.Server.ReleaseFile != "" {
		loops = append(loops, a.watchRelease)
	}
	if a.Backup != nil {
		loops = append(loops, a.Backup.Run)
	}
	if a.purger != nil {
		loops = append(loops, a.purger.Run)
	}
	for _, run := range loops {
		workers.Go(func() { run(background) })
	}

	failed := make(chan error, len(endpoints))
	for _, e := range endpoints {
		go func() {
			if e.server.TLSConfig != nil {
				failed <- e.server.ServeTLS(e.listener, "", "") // the TLSConfig supplies the certificates
			} else {
				failed <- e.server.Serve(e.listener)
			}
		}()
	}
	select {
	case err = <-failed: // one endpoint failed: stop the others too
		for _, e := range endpoints {
			err = errors.Join(err, e.server.Close())
		}
	case <-ctx.Done():
		a.stopping.Store(true)
		a.log.Info("stopping", "grace", shutdownGrace.String())
		a.Realtime.Stop() // Server.Shutdown does not close WebSockets
		err = shutDown(context.WithoutCancel(ctx), endpoints)
	}
	stopBackground()
	workers.Wait()
	if a.Backup != nil {
		a.Backup.CopyLastBlobs(context.WithoutCancel(ctx))
	}
	return err
}

// shutDown stops all endpoints at the same time and waits for running requests, at most shutdownGrace.
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

const (
	maintenanceInterval = time.Hour
	rateLimitRetention  = 24 * time.Hour // how long counters of rate limits stay; the longest window of a limit is a day
)

// maintain deletes expired rows and files. Serve calls it once in maintenanceInterval.
func (a *App) maintain(ctx context.Context) {
	err := errors.Join(
		a.Functions.PurgeMessages(ctx), a.Functions.PurgeQuarantine(ctx), a.Functions.PurgeThanks(ctx), a.Functions.PurgeLinks(ctx),
		a.Auth.RetireUnusedKeys(ctx), a.Auth.Purge(ctx),
		a.Jobs.Purge(ctx), a.Mail.Purge(ctx),
		a.history.Purge(ctx), a.activity.Purge(ctx), a.collectFiles(ctx), a.collectKeptFiles(ctx), a.Storage.Sweep(ctx), a.Media.Sweep(), a.Media.EnsureMedia(ctx), a.uploads.Sweep(ctx),
		a.DB.PurgeHits(ctx, a.now().Add(-rateLimitRetention), a.now()), a.settings.MeasureResponseTime(ctx, a.DB), // after messages were deleted
	)
	if err != nil && ctx.Err() == nil {
		a.log.Error("hourly maintenance is incomplete; it is tried again in an hour", "cause", err.Error())
	}
}

// collectFiles deletes stored files to which no row and no setting refers.
func (a *App) collectFiles(ctx context.Context) error {
	removed, err := a.Storage.RemoveUnreferenced(ctx, func(ctx context.Context) ([]string, error) {
		urls, err := a.Tables.MediaURLs(ctx)
		if err != nil {
			return nil, err
		}
		names, err := a.Functions.PictureNames(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			urls = append(urls, files.PublicPath+policy.ConversationBucket+"/"+name)
		}
		site, err := settings.LoadSite(ctx, a.DB)
		return append(urls, site.Portrait), err
	})
	if removed > 0 {
		a.log.Info("collected files that nothing refers to", "files", removed)
	}
	return err
}

// fileURLsLike returns the texts in rows, revisions and the settings among which are all URLs that contain part.
func (a *App) fileURLsLike(ctx context.Context, tx *db.Tx, part string) ([]string, error) {
	urls, err := history.FileURLsLike(ctx, tx, part)
	if err != nil {
		return nil, err
	}
	current, err := a.Tables.MediaURLsLike(ctx, tx, part)
	if err != nil {
		return nil, err
	}
	site, err := settings.LoadSite(ctx, tx)
	return append(append(urls, current...), site.Portrait), err
}

// collectKeptFiles deletes the removed files to which no revision refers any more.
func (a *App) collectKeptFiles(ctx context.Context) error {
	removed, err := a.Storage.CollectKept(ctx, a.history.FileURLs)
	if removed > 0 {
		a.log.Info("collected files that no revision refers to", "files", removed)
	}
	return err
}
