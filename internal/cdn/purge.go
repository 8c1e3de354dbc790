// Package cdn makes a CDN delete the pages that the CDN has stored. After each change of the content, this package calls the CDN's purge
// API, whose URL is the cdn-purge-url setting.
package cdn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/interval"
	"atelie/internal/jobs"
	"atelie/internal/webhook"
)

// Tag is the cache tag of all public pages: a name in a response header, by which a CDN can delete the stored response. All pages have the
// same tag, because a change of the content can change any page.
const Tag = "atelie-pages"

// JobPurge is the kind of the job that calls the CDN.
const JobPurge = "cdn.purge"

const (
	// secondDelay is the time between the two purges of a change. Other nodes (servers of the site) may send the previous page for up to a
	// second after the change, and the CDN may store that page after the first purge. The second purge removes it.
	secondDelay = time.Second
	// minInterval is the minimum time between two purges, so that many changes in a short time share their purges.
	minInterval = 500 * time.Millisecond
	// pollInterval is the interval at which the content version (a number that each change of visible content raises) is read. Without
	// these reads, this node would miss changes of which nothing notifies it, such as those of the atelie import command.
	pollInterval = 5 * time.Second
	// jobTimeout limits one purge job: the call and the statements of the job.
	jobTimeout = 30 * time.Second
)

// aboutPurges is the value of the About field of all purge jobs. By this value a new purge finds the earlier jobs, and deletes those that
// still wait or have failed.
var aboutPurges = uuid.NewSHA1(uuid.Nil, []byte(JobPurge)).String()

// Config contains the settings of a Purger.
type Config struct {
	URL     string // URL of the CDN's purge API, called with POST
	Header  string // a header "Name: value" of the request, with the CDN's token; "" for none
	Body    string // body of the request, in JSON; "" for none
	Private bool   // whether URL may be http:// and in a private network

	Content *content.Version // tells when the content has changed
	Queue   *jobs.Queue
	Log     *slog.Logger
}

// Purger queues a purge job after each change of the content. If several nodes run, one of them queues it.
type Purger struct {
	db             *db.DB
	cfg            Config
	now            func() time.Time
	client         *http.Client
	contentChanges <-chan struct{} // receives a value when the content may have changed
	secondDelay    time.Duration   // shorter in tests
	minInterval    time.Duration   // shorter in tests
}

// New returns a Purger, and registers the handler of its jobs with the queue. It must be called before Queue and Content run.
func New(d *db.DB, cfg Config, now func() time.Time) (*Purger, error) {
	if _, err := webhook.ParseURL(cfg.URL, cfg.Private); err != nil {
		return nil, err
	}
	p := &Purger{db: d, cfg: cfg, now: now, client: webhook.NewClient(cfg.Private), contentChanges: cfg.Content.Subscribe(), secondDelay: secondDelay, minInterval: minInterval}
	// One worker in a pool of its own: a slow CDN must not delay mails.
	cfg.Queue.HandlePool(1, jobTimeout, map[string]jobs.Handler{JobPurge: p.purge})
	return p, nil
}

// Run queues purges until ctx ends. The first one is queued at the start, for two reasons: the node may have ended before it queued the
// purge of the last change, and the pages of another release differ.
func (p *Purger) Run(ctx context.Context) {
	reason := "start " + uuid.NewString() // with a reason, queue always queues the purge
	var queued content.Versions           // the versions for which the last purge was queued
	var secondDue time.Time               // when the second purge of that change must be queued; zero if it was queued
	for ctx.Err() == nil {
		versions, err := p.cfg.Content.Current(ctx)
		isFirst := versions != queued // the first purge of a change
		secondIsDue := !secondDue.IsZero() && !time.Now().Before(secondDue)
		if err == nil && (isFirst || secondIsDue) {
			if err = p.queue(ctx, reason, versions, isFirst); err == nil {
				queued, reason, secondDue = versions, "", time.Time{}
				if isFirst {
					secondDue = time.Now().Add(p.secondDelay)
				}
				_ = interval.Sleep(ctx, p.minInterval) // the loop ends with ctx
				continue
			}
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrOutage) {
			p.cfg.Log.Warn("cdn: no purge could be queued; it is tried again", "in", pollInterval.String(), "cause", err.Error())
		}
		wait := pollInterval
		if err == nil && !secondDue.IsZero() {
			wait = time.Until(secondDue)
		}
		select {
		case <-ctx.Done():
		case <-p.contentChanges:
		case <-time.After(wait):
		}
	}
}

// queue queues a purge for a content version, unless another node has done so. isFirst distinguishes the two purges of a version. If reason
// is not "", the purge is always queued.
func (p *Purger) queue(ctx context.Context, reason string, versions content.Versions, isFirst bool) error {
	if reason == "" {
		reason = fmt.Sprintf("%d %v", versions.Current, isFirst)
	}
	return p.db.WithTx(ctx, func(tx *db.Tx) error {
		hits, err := tx.Hit(ctx, "cdn-purge", reason, 24*time.Hour, p.now())
		if err != nil || hits > 1 {
			return err
		}
		return errors.Join(
			p.cfg.Queue.Drop(ctx, tx, aboutPurges),
			p.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: JobPurge, Payload: struct{}{}, About: aboutPurges}),
		)
	})
}

// purge runs a JobPurge.
func (p *Purger) purge(ctx context.Context, _ []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.cfg.URL, strings.NewReader(p.cfg.Body))
	if err != nil {
		return jobs.Permanent(webhook.ErrURL)
	}
	if p.cfg.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if name, value, ok := strings.Cut(p.cfg.Header, ":"); ok {
		r.Header.Set(name, strings.TrimSpace(value))
	}
	err = webhook.Send(p.client, r)
	if errors.Is(err, webhook.ErrPrivate) {
		return jobs.Permanent(err)
	}
	return err
}
