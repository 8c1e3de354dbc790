package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/settings"
)

// This file collects notices (mails and webhook calls to owners about visitors' messages) in digests, and sends the digests. A digest is
// one notice about many messages, for an hour in which many arrive. An open digest takes further notices, until it is sent.

// JobDigest is the kind of the job that sends a digest to one recipient.
const JobDigest = "contact.digest"

// Limits of notices. Recipients get a separate notice about each of the first noticesPerHour messages of an hour (noticeWindow). About the
// later messages of the hour, each recipient gets one digest, at the end of the hour.
const (
	noticesPerHour   = 5
	noticeWindow     = time.Hour
	digestMaxMail    = 10  // maximum number of messages in the list of a mail
	digestMaxWebhook = 100 // maximum number of messages in a webhook call
)

// Digest is the content of a digest that is sent by mail.
type Digest struct {
	Count       int           // number of messages in the digest
	Quarantined int           // number of further messages of the hour, which are in quarantine because of a flood (flood.go)
	Newest      []DigestEntry // the newest messages, at most digestMaxMail
}

// DigestEntry is a message in the list of a digest, or a visitor's reply to one.
type DigestEntry struct {
	ID, Name, Reason string    // of the message
	At               time.Time // when the message or the reply was sent
	Pictures         int       // number of pictures of the reply; 0 for a message
}

// digestJob is the payload of JobDigest.
type digestJob struct {
	ID        string        `json:"id"`      // id of the row of contact_digests
	Channel   string        `json:"channel"` // channelMail or channelWebhook
	Recipient string        `json:"recipient"`
	Language  i18n.Language `json:"language"`
	Since     time.Time     `json:"since"` // start of the hour with the messages
}

// joinDigest returns the id of the open digest for the channel and recipient of n, which the caller stores in n. If there is none,
// joinDigest opens a digest and queues its job for the end of the hour.
func (s *Service) joinDigest(ctx context.Context, tx *db.Tx, n notice) (id string, err error) {
	now := s.now()
	since := now.Truncate(noticeWindow)
	due := since.Add(noticeWindow)
	// All tries of a job take less time than noticeLife. So a digest that was due more than noticeLife ago has no job any more. It is
	// replaced, because the notices in it would never be sent.
	id, opened, err := findOrOpenDigest(ctx, tx, uuid.NewString(), n.Channel, n.Recipient, due, now.Add(-noticeLife))
	if err != nil || !opened {
		return id, err
	}
	j := digestJob{ID: id, Channel: n.Channel, Recipient: n.Recipient, Language: n.Language, Since: since}
	return id, s.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: JobDigest, Payload: j, At: due})
}

// sendDigest runs a JobDigest. It closes the digest, so that no more notices join it, and sends the digest with its messages that still
// exist. At a second attempt the digest is already closed, which is no error.
func (s *Service) sendDigest(ctx context.Context, payload []byte) error {
	var j digestJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("digest: %w", err))
	}
	if err := closeDigest(ctx, s.db, j.ID); err != nil {
		return err
	}
	messages, count, err := listDigestMessages(ctx, s.db, j.ID, digestMaxWebhook)
	if err != nil || count == 0 {
		return err
	}
	quarantined, err := countFlood(ctx, s.db, j.Since)
	if err == nil {
		err = s.deliverDigest(ctx, j, messages, count, quarantined)
	}
	if err != nil {
		return s.recordFailure(ctx, "digest_id", j.ID, err)
	}
	if err := markDigestSent(ctx, s.db, j.ID, s.now()); err != nil {
		return err
	}
	for _, m := range messages {
		if _, err := s.cleanUpIfDeleted(ctx, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// deliverDigest sends the mail or calls the webhook. If there is no webhook any more, it deletes the notices of the digest instead.
// messages are the newest messages of the digest, and count is the number of all its messages. quarantined is Digest.Quarantined.
func (s *Service) deliverDigest(ctx context.Context, j digestJob, messages []contactMessage, count, quarantined int) error {
	switch j.Channel {
	case channelMail:
		d := &Digest{Count: count, Quarantined: quarantined}
		for _, m := range messages[:min(len(messages), digestMaxMail)] {
			d.Newest = append(d.Newest, DigestEntry{m.ID, m.Name, m.Reason, m.CreatedAt, m.Pictures})
		}
		return s.cfg.SendNotice(ctx, NoticeMail{ID: jobs.InfoOf(ctx).ID, To: Recipient{j.Recipient, j.Language}, Digest: d, At: messages[0].CreatedAt})
	case channelWebhook:
		noticeSettings, err := settings.LoadNotices(ctx, s.db)
		if err != nil {
			return err
		}
		if noticeSettings.Webhook == "" { // the owner has removed it from the settings
			return deleteDigestNotices(ctx, s.db, j.ID)
		}
		body, err := encodeDigestEvent(messages, count, quarantined, s.now())
		if err != nil {
			return err
		}
		return s.callWebhook(ctx, noticeSettings.Webhook, j.ID, body)
	}
	return jobs.Permanent(fmt.Errorf("digest by %q", j.Channel))
}

// encodeDigestEvent returns the webhook event of a digest, with the newest message first.
func encodeDigestEvent(messages []contactMessage, count, quarantined int, now time.Time) ([]byte, error) {
	type entry struct {
		webhookMessage
		Pictures int `json:"pictures,omitempty"` // number of pictures of a reply
	}
	type data struct {
		Count       int     `json:"count"`
		Quarantined int     `json:"kept_aside"`
		Messages    []entry `json:"messages"`
	}
	d := data{Count: count, Quarantined: quarantined}
	for _, m := range messages {
		d.Messages = append(d.Messages, entry{toWebhookMessage(m), m.Pictures})
	}
	return json.Marshal(webhookEvent{"contact_submission.digest", now.UTC().Format(time.RFC3339Nano), d})
}
