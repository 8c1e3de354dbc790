package app

import (
	"testing"
	"time"

	"atelie/internal/identity"
	"atelie/internal/jobs"
)

// Proves AM-retention-2.
//
// TestMaintenanceRemovesOldMessages checks that old messages are deleted with their notices, jobs and live events, that open pages get
// the deletion, and that younger messages stay.
func TestMaintenanceRemovesOldMessages(t *testing.T) {
	eachNoticeSite(t, false, func(t *testing.T, s *noticeSite) {
		s.set("notice.email", `["ana@alvor.example"]`)
		serve(t, s.App)
		old := s.write("Canary", "canary@exemplo.example", "en")
		waitForState(t, s.App, "", jobs.State{})
		s.clock.Store(s.now().AddDate(0, 5, 0).UnixMicro())
		young := s.write("Somebody Else", "else@exemplo.example", "pt")
		waitForState(t, s.App, "", jobs.State{})
		s.clock.Store(s.now().AddDate(0, 1, 0).UnixMicro())
		s.maintain(t.Context())
		if n := s.count("select count(*) from contact_submissions"); n != 2 {
			t.Fatalf("without a retention %d messages are left", n)
		}
		s.set("site", `{"name":"Alvor","messageMonths":6}`)
		s.maintain(t.Context())
		for query, want := range map[string]int{
			"select count(*) from contact_submissions where id = '" + old + "'":                                   0,
			"select count(*) from contact_notices where message_id = '" + old + "'":                               0,
			"select count(*) from realtime_outbox where payload like '%Canary%'":                                  0,
			"select count(*) from realtime_outbox where payload like '%DELETE%' and payload like '%" + old + "%'": 1,
			"select count(*) from contact_submissions where id = '" + young + "'":                                 1,
			"select count(*) from contact_notices where message_id = '" + young + "' and sent_at is not null":     1,
		} {
			if n := s.count(query); n != want {
				t.Errorf("%s: %d", query, n)
			}
		}
		s.waitFor("the jobs of deleted messages are done", func() bool {
			if s.idle() {
				s.clock.Add(1_000_000) // a job that failed because the database had readers is retried a second later
			}
			return s.count("select count(*) from jobs") == 0
		})
	})
}

// Proves AM-retention-2.
func TestOldMessageLeavesNoCopyInTheDataFolder(t *testing.T) {
	cfg := configuration(t)
	s := &noticeSite{t: t}
	s.clock.Store(time.Date(2025, 11, 21, 10, 1, 0, 0, time.UTC).UnixMicro())
	s.App = newAppOf(t, cfg, s.now)
	s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
	serve(t, s.App)
	s.write("Canary", "canary@exemplo.example", "pt")
	waitForState(t, s.App, "", jobs.State{})
	if len(filesContaining(t, cfg.Server.DataDir, "canary@")) < 2 {
		t.Fatal("database and mail do not have it to begin with")
	}
	s.clock.Store(s.now().AddDate(1, 0, 0).UnixMicro())
	s.call(identity.Anon, "submit-contact", `{"name":"Somebody Else","email":"else@exemplo.example","message":"Temos uma parede.","reason":""}`)
	s.set("site", `{"name":"Alvor","messageMonths":12}`)
	s.maintain(t.Context())
	s.waitFor("the jobs of deleted messages are done", func() bool {
		if s.idle() {
			s.clock.Add(1_000_000)
		}
		return s.count("select count(*) from jobs") == 0
	})
	if left := filesContaining(t, cfg.Server.DataDir, "Canary", "canary@"); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
	if len(filesContaining(t, cfg.Server.DataDir, "Somebody Else")) == 0 {
		t.Error("another message is gone too")
	}
}
