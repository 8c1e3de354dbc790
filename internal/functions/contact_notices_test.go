package functions

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
)

// Proves FN-notices-retry.
//
// The second retry has read the failed notice when the first one queues it. On SQLite the two run one after the other.
func TestConcurrentRetriesQueueANoticeOnce(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	s := newSite(t, d)
	answered(t, s.call("anon", "submit-contact", good), 200, success)
	messageID := s.messageID()
	var noticeID string
	s.scan(&noticeID, "select id from contact_notices")
	const plans = "select count(*) from jobs where kind = '" + JobPlan + "'"
	before := s.count(plans)
	s.clock = s.clock.Add(noticeLife)
	second := make(chan *httptest.ResponseRecorder, 1)
	err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		if _, err := requeueNotice(t.Context(), tx, noticeID, s.clock); err != nil {
			return err
		}
		go func() {
			second <- s.call("admin", "contact-notices", `{"action":"retry","ids":["`+messageID+`"]}`)
		}()
		return dbtest.WaitForLock(t.Context(), d)
	})
	if err != nil {
		t.Fatal(err)
	}
	if rec := <-second; rec.Code != 200 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if n := s.count(plans); n != before {
		t.Errorf("the second retry queued %d jobs", n-before)
	}
}

// Proves AM-notice-7.
//
// Without a webhook in the settings nothing is sent, so the notices in its digest are deleted, as single notices are.
func TestTheDigestOfARemovedWebhookIsNotSent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		answered(t, s.call("anon", "submit-contact", good), 200, success)
		n := notice{ID: visitorID, MessageID: s.messageID(), Channel: channelWebhook, Recipient: "hooks.example", Language: i18n.EN}
		err := d.WithTx(t.Context(), func(tx *db.Tx) (err error) {
			if n.DigestID, err = s.joinDigest(t.Context(), tx, n); err != nil {
				return err
			}
			_, err = insertNotice(t.Context(), tx, n, s.clock)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := json.Marshal(digestJob{ID: n.DigestID, Channel: n.Channel, Recipient: n.Recipient, Language: n.Language, Since: s.clock})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.sendDigest(t.Context(), payload); err != nil {
			t.Fatal(err)
		}
		if left := s.count("select count(*) from contact_notices where channel = '" + channelWebhook + "'"); left != 0 {
			t.Errorf("%d notices are left", left)
		}
	})
}

// Proves FN-address-find.
//
// While a notice to an address is sent, everything about that address is erased. The message remains, and so do its other jobs.
func TestErasingARecipientKeepsTheOtherJobsOfTheMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const recipient = "friend@exemplo.pt"
		var s *site
		s = newSiteWith(t, d, Config{SendNotice: func(ctx context.Context, m NoticeMail) error {
			return d.WithTx(ctx, func(tx *db.Tx) error { return s.EraseNoticesOf(ctx, tx, recipient) })
		}})
		answered(t, s.call("anon", "submit-contact", good), 200, success)
		id := s.messageID()
		n := notice{ID: visitorID, MessageID: id, Channel: channelMail, Recipient: "Friend@exemplo.pt", Language: i18n.EN}
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			_, err := insertNotice(t.Context(), tx, n, s.clock)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		about := "select count(*) from jobs where about = '" + id + "'"
		before := s.count(about)
		payload, err := json.Marshal(noticeJob{n.ID})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.sendNotice(t.Context(), payload); err != nil {
			t.Fatal(err)
		}
		if after := s.count(about); before == 0 || after != before {
			t.Errorf("%d jobs about the message before, %d after", before, after)
		}
		if left := s.count("select count(*) from contact_notices where id = '" + visitorID + "'"); left != 0 {
			t.Error("the notice is not erased")
		}
		if cleanUps := s.count("select count(*) from jobs where kind = '" + JobCleanUp + "'"); cleanUps != 1 {
			t.Errorf("%d jobs delete the file with the mail, want 1", cleanUps)
		}
	})
}
