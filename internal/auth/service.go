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
// if RefreshKey or CodeKey is too short: an attacker could guess a short key, and then compute tokens or codes.
func New(d *db.DB, queue *jobs.Queue, tokens *identity.Tokens, cfg Config, now func() time.Time) *Service {
	if len(cfg.RefreshKey) < 32 || len(cfg.CodeKey) < 32 {
		panic("auth: RefreshKey and CodeKey need at least 32 bytes")
	}
	cfg.SiteURL = strings.TrimRight(cfg.SiteURL, "/")
	cfg.APIURL = strings.TrimRight(cfg.APIURL, "/")
	s := &Service{db: d, queue: queue, tokens: tokens, cfg: cfg, now: now, hasher: newHasher(), sealer: sealer{seal.New(cfg.SealKey)}}
	if cfg.Previous != nil {
		s.sealer.encrypter = s.sealer.encrypter.WithPrevious(cfg.Previous.SealKey)
	}
	s.allowlist = newRedirectAllowlist(cfg.SiteURL, cfg.RedirectURLs)
	queue.Handle(JobMessageRequest, s.handleMessageRequest)
	return s
}

// How long rows stay after they are no longer used.
const (
	replacedTokenMonths     = 1               // refresh tokens that a newer one has replaced
	knownDeviceYears        = 2               // known devices, counted from the newest sign-in
	lastSentDays            = 7               // times of sent messages, for cooldowns and quotas
	endedChallengeRetention = time.Hour       // expired challenges of second factors
	unusedFlowRetention     = 2 * confirmLife // flows; a flow must outlive its mailed link, which is valid for confirmLife
)

// Limits of two kinds of audit entries. All others stay for activity.RetentionDays.
const (
	// refreshAuditRetention is for audit entries about refreshed sessions. It is shorter, because a session adds an entry at each refresh.
	refreshAuditRetention = 30 * 24 * time.Hour
	// maxRefusedEntries is the number of audit entries about refused sign-ins. It is limited because anybody can cause them.
	maxRefusedEntries = 100_000
)

// Purge deletes rows that have expired or are no longer needed, such as ended sessions, links, codes, flows and old audit entries. The
// hourly maintenance calls it. Purge also deletes issuers (iss claims of access tokens) that were not used for eight days (issuerLife).
// Before that, it records that the service's own issuer is in use.
func (s *Service) Purge(ctx context.Context) error {
	now := s.now()
	ago := func(age time.Duration) time.Time { return s.now().Add(-age) }
	return errors.Join(
		s.RecordIssuer(ctx),
		deleteEndedSessions(ctx, s.db, s.sessionAliveArgs()),
		deleteReplacedRefreshTokens(ctx, s.db, now.AddDate(0, -replacedTokenMonths, 0)),
		deleteBefore(ctx, s.db, "auth_one_time_tokens", "expires_at", now),
		deleteBefore(ctx, s.db, "auth_flow_states", "created_at", ago(unusedFlowRetention)),
		deleteBefore(ctx, s.db, "auth_known_devices", "last_seen_at", now.AddDate(-knownDeviceYears, 0, 0)),
		deleteBefore(ctx, s.db, "auth_audit_log", "created_at", now.AddDate(0, 0, -activity.RetentionDays)),
		keepNewestAudit(ctx, s.db, auditSignInRefused, maxRefusedEntries),
		deleteAuditOlderThan(ctx, s.db, auditTokenRefreshed, ago(refreshAuditRetention)),
		deleteBefore(ctx, s.db, "auth_factor_challenges", "expires_at", ago(endedChallengeRetention)),
		deleteBefore(ctx, s.db, "auth_signing_keys", "verify_until", now),
		deleteBefore(ctx, s.db, "auth_last_sent", "sent_at", now.AddDate(0, 0, -lastSentDays)),
		deleteBefore(ctx, s.db, "auth_issuers", "used_at", ago(issuerLife)),
		deleteBefore(ctx, s.db, "auth_sso_relay_states", "created_at", ago(samlRequestLife)),
		deleteBefore(ctx, s.db, "auth_sso_used_assertions", "usable_until", now),
		deleteUnneededHashKeys(ctx, s.db),
	)
}
