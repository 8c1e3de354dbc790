package metrics

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atelie/internal/content"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/jobs"
)

// This file has the metrics whose values are read at each scrape (one reading of all metrics by Prometheus). A new metric needs a variable
// with its name, help text and labels, and a call of gauge or counter in Collect.

// Sources are the parts of the program that a scrape reads.
type Sources struct {
	Version string // version of the program
	DB      *db.DB
	Jobs    *jobs.Queue
	Space   *datafolder.Space                // disk of the data folder
	Caches  map[string]*content.Lookups      // hit and miss counters of each cache; the key is the value of the label "cache"
	Sockets func() int                       // number of live connections to this node
	Mails   func() (delivered, failed int64) // numbers of attempts to deliver a mail
	Backup  func(ctx context.Context) (BackupState, error)
}

// BackupState describes the backup. If On is false, backups are off, and the other fields are not set.
type BackupState struct {
	On      bool
	Age     time.Duration // age of the latest restore point (a state that the backup can restore); negative if there is none
	Waiting int64         // number of files that are not in the destination yet
}

// scrapeTimeout limits how long a scrape waits for the database.
const scrapeTimeout = 2 * time.Second

var (
	jobsUnfinished  = newDesc("atelie_jobs_waiting", "Jobs in the queue that are due now or later, running ones included. Nodes that share a database report the same numbers.", "kind")
	jobsFailed      = newDesc("atelie_jobs_failed", "Jobs that failed and will not be tried again; they are kept for 30 days. Nodes that share a database report the same numbers.", "kind")
	databaseUp      = newDesc("atelie_database_up", "1 if the database answered this scrape, 0 if not; the numbers of jobs are missing then.")
	poolMax         = newDesc("atelie_database_connections_max", "Largest number of connections of the pool.", "pool")
	poolOpen        = newDesc("atelie_database_connections_open", "Open connections of the pool.", "pool")
	poolInUse       = newDesc("atelie_database_connections_in_use", "Connections of the pool that run a statement or a transaction.", "pool")
	poolWaitCount   = newDesc("atelie_database_waits_total", "How often a statement had to wait for a connection of the pool.", "pool")
	poolWaitSeconds = newDesc("atelie_database_wait_seconds_total", "Time that statements have waited for a connection of the pool.", "pool")
	cacheRequests   = newDesc("atelie_cache_requests_total", "Cache lookups by requests; the label result is hit or miss.", "cache", "result")
	diskFree        = newDesc("atelie_disk_free_bytes", "Free space on the disk of the data folder, not counting the reserve file that the server frees when the disk is full.")
	diskTotal       = newDesc("atelie_disk_total_bytes", "Size of the disk of the data folder.")
	liveSockets     = newDesc("atelie_live_sockets", "Live connections to this node.")
	backupAge       = newDesc("atelie_backup_age_seconds", "Age of the latest restore point of the backup; infinite while there is none. Missing when backups are off.")
	backupWaiting   = newDesc("atelie_backup_waiting_files", "Files that are not in the backup destination yet. Missing when backups are off.")
	mailAttempts    = newDesc("atelie_mail_attempts_total", "Attempts to deliver a mail. Without a mail server a mail that was written as a file counts as delivered.", "result")
)

// descriptions are the variables above; newDesc adds them. Prometheus gets them from Describe.
var descriptions []*prometheus.Desc

// newDesc describes a metric to Prometheus.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(name, help, labels, nil)
	descriptions = append(descriptions, d)
	return d
}

// collector reads the sources at each scrape. Between scrapes it costs nothing.
type collector struct {
	Sources
	log *slog.Logger
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout) // Prometheus gives no context
	defer cancel()
	depths, err := c.Jobs.Depths(ctx)
	if err != nil {
		c.log.Error("metrics: the jobs cannot be counted", "cause", err.Error())
		gauge(databaseUp, 0)
	} else {
		gauge(databaseUp, 1)
	}
	for _, d := range depths {
		gauge(jobsUnfinished, float64(d.Waiting), d.Kind)
		gauge(jobsFailed, float64(d.Failed), d.Kind)
	}
	for _, p := range c.DB.Pools() {
		gauge(poolMax, float64(p.Max), p.Name)
		gauge(poolOpen, float64(p.Open), p.Name)
		gauge(poolInUse, float64(p.InUse), p.Name)
		counter(poolWaitCount, float64(p.Waits), p.Name)
		counter(poolWaitSeconds, p.Waited.Seconds(), p.Name)
	}
	for name, lookups := range c.Caches {
		hits, misses := lookups.Counts()
		counter(cacheRequests, float64(hits), name, "hit")
		counter(cacheRequests, float64(misses), name, "miss")
	}
	usage := c.Space.Usage()
	gauge(diskFree, float64(usage.Free))
	gauge(diskTotal, float64(usage.Total))
	gauge(liveSockets, float64(c.Sockets()))
	if state, err := c.Backup(ctx); err != nil {
		c.log.Error("metrics: the state of the backup cannot be read", "cause", err.Error())
	} else if state.On {
		age := state.Age.Seconds()
		if state.Age < 0 {
			age = math.Inf(1)
		}
		gauge(backupAge, age)
		gauge(backupWaiting, float64(state.Waiting))
	}
	delivered, failed := c.Mails()
	counter(mailAttempts, float64(delivered), "delivered")
	counter(mailAttempts, float64(failed), "failed")
}
