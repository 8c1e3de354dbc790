package functions

import (
	"fmt"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
)

// giveCopies turns private links and copies on.
func (s *site) giveCopies() {
	s.t.Helper()
	if err := settings.Delete(s.t.Context(), s.d, settings.SiteKey); err != nil {
		s.t.Fatal(err)
	}
	if err := settings.Insert(s.t.Context(), s.d, settings.SiteKey, map[string]any{"name": "Alvor", "enquiryLinks": true, "enquiryCopies": true}, s.clock); err != nil {
		s.t.Fatal(err)
	}
}

// copies returns the number of copies that have a job.
func (s *site) copies() (n int) {
	s.t.Helper()
	s.scan(&n, "select count(*) from contact_notices n where channel = 'copy' and exists (select 1 from jobs where kind = 'contact.copy' and about = n.message_id)")
	return n
}

// sendTo sends a message of the sender email from the IP address from, and returns the response without the token of its link. more is added to
// the JSON of the message.
func (s *site) sendTo(from, email, more string) string {
	s.t.Helper()
	body := `{"name":"Inês","email":"` + email + `","message":"Gosto muito do mural.","language":"pt"` + more + `}`
	rec := s.callFrom(from+":1", "anon", "submit-contact", body)
	if rec.Code != 200 {
		s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	text := rec.Body.String()
	if before, after, found := strings.Cut(text, "/enquiry/"); found {
		text = before + "/enquiry/" + after[22:]
	}
	return text
}

// Proves E-copy-1, E-copy-3.
//
// Copies are limited for each mailbox, for each IP address and in total. Beyond a limit, and for spam, no copy is sent, but the response stays
// the same.
func TestCopiesAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		const follow = `,"follow":true`
		s.giveLinks(true)
		if got := s.sendTo("203.0.113.1", "ines@exemplo.pt", follow); strings.Contains(got, "copy") || s.copies() != 0 {
			t.Errorf("without the setting: %d copies, %s", s.copies(), got)
		}
		s.giveCopies()
		if got := s.sendTo("203.0.113.1", "ines@exemplo.pt", ""); strings.Contains(got, "copy") || s.copies() != 0 {
			t.Errorf("without a link: %d copies, %s", s.copies(), got)
		}
		first := s.sendTo("203.0.113.1", "ines@exemplo.pt", follow)
		if s.copies() != 1 || !strings.HasSuffix(strings.TrimSpace(first), `"enquiry_copy":true}`) {
			t.Errorf("%d copies, %s", s.copies(), first)
		}
		expectSameResponse := func(what string, got string, copies int) {
			t.Helper()
			if got != first || s.copies() != copies {
				t.Errorf("%s: %d copies, want %d; %s", what, s.copies(), copies, got)
			}
		}
		expectSameResponse("spam", s.sendTo("203.0.113.1", "outra@exemplo.pt", follow+`,"reason":"casino"`), 1)
		expectSameResponse("second", s.sendTo("203.0.113.2", "i.nes+a@exemplo.pt", follow), 2)
		expectSameResponse("third", s.sendTo("203.0.113.3", "INES@exemplo.pt", follow), 3)
		expectSameResponse("fourth to a mailbox", s.sendTo("203.0.113.4", "ines+b@exemplo.pt", follow), 3)
		for i := range copiesPerRequester {
			expectSameResponse("one requester", s.sendTo("203.0.113.5", fmt.Sprintf("a%d@exemplo.pt", i), follow), 4+i)
		}
		expectSameResponse("eleventh of a requester", s.sendTo("203.0.113.5", "b@exemplo.pt", follow), 3+copiesPerRequester)
		if err := db.Exec(t.Context(), d, "update rate_limits set hits = $1 where name = $2", copiesPerDay, copyLimitAll); err != nil {
			t.Fatal(err)
		}
		expectSameResponse("in all", s.sendTo("203.0.113.6", "c@exemplo.pt", follow), 3+copiesPerRequester)
		s.clock = s.clock.Add(copyWindow)
		expectSameResponse("the next day", s.sendTo("203.0.113.6", "ines@exemplo.pt", follow), 4+copiesPerRequester)
		// Erasing an address deletes the record of its mailbox.
		s.addressCounts("erase", "ines@exemplo.pt")
		var left int
		if s.scan(&left, "select count(*) from rate_limits where name = $1 and subject = $2", copyLimitMailbox, hashMailbox("ines@exemplo.pt")); left != 0 {
			t.Errorf("%d counters of the mailbox are left", left)
		}
		if s.scan(&left, "select count(*) from contact_notices where channel = 'copy' and lower(recipient) = 'ines@exemplo.pt'"); left != 0 {
			t.Errorf("%d copies to the address are left", left)
		}
	})
}

// Proves E-copy-1, E-copy-4.
//
// A message that is part of a flood gets no copy and the same response. Without a mail server there are no copies.
func TestAFloodGetsNoCopies(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true, MessagesPerHour: 1})
		s.giveCopies()
		const follow = `,"follow":true`
		if a, b := s.sendTo("203.0.113.1", "ines@exemplo.pt", follow), s.sendTo("203.0.113.2", "rui@exemplo.pt", follow); a != b || s.copies() != 1 {
			t.Errorf("%d copies; %s, %s", s.copies(), a, b)
		}
		var quarantined, jobs int
		s.scan(&quarantined, "select count(*) from contact_quarantine")
		if s.scan(&jobs, "select count(*) from jobs where kind = 'contact.copy'"); quarantined != 1 || jobs != 1 {
			t.Errorf("%d in quarantine, %d jobs", quarantined, jobs)
		}
	})
	t.Run("no mail server", func(t *testing.T) {
		dbtest.Each(t, func(t *testing.T, d *db.DB) {
			s := newSite(t, d)
			s.giveCopies()
			if got := s.sendTo("203.0.113.1", "ines@exemplo.pt", `,"follow":true`); strings.Contains(got, "copy") || s.copies() != 0 {
				t.Errorf("%d copies; %s", s.copies(), got)
			}
		})
	})
}
