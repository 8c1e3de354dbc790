// Package auth is the authentication service at /auth/v1: accounts, sign-in, second factors and sessions. Requests, responses
// and error codes are those of Supabase Auth, so that Supabase's client works unchanged.
package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/seal"
)

// New returns the service. It registers the handler of message requests (jobs that send a link or a code) in the queue. It panics
// if RefreshKey or CodeKey is too short, because an attacker could then compute tokens or codes.
func New(d *db.DB, queue *jobs.Queue, tokens *identity.Tokens, cfg Config, now func() time.Time) *Service {
	if len(cfg.RefreshKey) < 32 || len(cfg.CodeKey) < 32 {
		panic("auth: RefreshKey and CodeKey need at least 32 bytes")
	}
	cfg.SiteURL = strings.TrimRight(cfg.SiteURL, "/")
	cfg.APIURL = strings.TrimRight(cfg.APIURL, "/")
	s := &Service{db: d, queue: queue, tokens: tokens, cfg: cfg, now: now, passwords: newHasher(), sealer: sealer{seal.New(cfg.SealKey)}}
	if cfg.Previous != nil {
		s.sealer.inner = s.sealer.inner.WithPrevious(cfg.Previous.SealKey)
	}
	s.allowlist = newRedirectAllowlist(cfg.SiteURL, cfg.RedirectURLs)
	queue.Handle(JobMessageRequest, s.handleMessageRequest)
	return s
}

// refreshAuditLife is how long entries about refreshed sessions stay in the audit log. It is shorter than for other entries,
// because every session in use adds an entry at each refresh.
const refreshAuditLife = 30 * 24 * time.Hour

// maxRefusedEntries is how many entries about refused sign-ins stay in the audit log, because anybody can cause them.
const maxRefusedEntries = 100_000

// Purge deletes rows that have expired or are no longer needed, such as ended sessions, links, codes and flows, devices that
// were not seen for two years, and audit entries after activity.RetentionDays. It also calls RecordIssuer, so that this service's
// own issuer (the iss claim of its access tokens) stays accepted.
func (s *Service) Purge(ctx context.Context) error {
	now, ago := s.now(), func(age time.Duration) time.Time { return s.now().Add(-age) }
	return errors.Join(
		s.RecordIssuer(ctx),
		deleteEndedSessions(ctx, s.db, s.aliveArgs()),
		deleteReplacedRefreshTokens(ctx, s.db, now.AddDate(0, -1, 0)),
		deleteBefore(ctx, s.db, "auth_one_time_tokens", "expires_at", now),
		deleteBefore(ctx, s.db, "auth_flow_states", "created_at", ago(2*confirmLife)),
		deleteBefore(ctx, s.db, "auth_known_devices", "last_seen_at", now.AddDate(-2, 0, 0)),
		deleteBefore(ctx, s.db, "auth_audit_log", "created_at", now.AddDate(0, 0, -activity.RetentionDays)),
		deleteAuditBeyond(ctx, s.db, auditSignInRefused, maxRefusedEntries),
		deleteAuditBefore(ctx, s.db, auditTokenRefreshed, ago(refreshAuditLife)),
		deleteBefore(ctx, s.db, "auth_factor_challenges", "expires_at", ago(time.Hour)),
		deleteBefore(ctx, s.db, "auth_signing_keys", "verify_until", now),
		deleteBefore(ctx, s.db, "auth_last_sent", "sent_at", now.AddDate(0, 0, -7)),
		deleteBefore(ctx, s.db, "auth_issuers", "used_at", ago(issuerLife)),
		deleteBefore(ctx, s.db, "auth_sso_relay_states", "created_at", ago(relayLife)),
		deleteBefore(ctx, s.db, "auth_sso_used_assertions", "usable_until", now),
		deleteUnneededHashKeys(ctx, s.db),
	)
}
