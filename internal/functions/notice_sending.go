package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/settings"
)

// This file plans and sends notices. A notice is a mail or a webhook call to owners (administrators) about a visitor's message or reply, or
// a mail to the visitor about the message.

// Kinds of jobs.
const (
	JobPlan   = "contact.plan"   // finds the recipients of the notices about a new message or reply
	JobNotice = "contact.notice" // sends one notice to one recipient
)

// Values of the contact_notices.channel column. A new message first gets one row, with channelPlan. JobPlan replaces this row with one row
// for each notice.
const (
	channelPlan    = "plan"    // the recipients are not known yet
	channelMail    = "mail"    // mail to an owner, or to an e-mail address in the settings
	channelWebhook = "webhook" // call of the owner's webhook
	channelThanks  = "thanks"  // thank-you mail to the visitor
	channelCopy    = "copy"    // mail to the visitor with a copy of the message (contact_copy.go)
)

const (
	// noticeLife is the age at which an unsent notice is shown as failed. All attempts of its job together take less time, so the
	// notice has no job any more.
	noticeLife = 12 * time.Hour
	// Limits of thank-you mails. Without them, a program could enter addresses of other people into the form, and so make the site send
	// mails to them.
	thanksInterval = 24 * time.Hour // minimum time between two thank-you mails to one mailbox
	thanksPerDay   = 200            // maximum number of thank-you mails to all mailboxes in thanksWindow
	thanksWindow   = 24 * time.Hour
	// maxRecipients is how many of the e-mail addresses in the owner's settings get notices.
	maxRecipients = 10
	// noticeWorkers is the number of workers in the pool that runs the jobs of notices, digests and replies. These jobs have their own
	// pool, so that the mails of sign-ins do not wait for them.
	noticeWorkers = 4
)

// NoticeMail is a mail about one message or reply, or about many messages if Digest is set. A thank-you mail must not include any of the
// message's content, because the visitor may have entered somebody else's e-mail address.
type NoticeMail struct {
	ID        string // id of the notice, the same at every attempt to send the mail
	To        Recipient
	Thanks    bool    // whether this is the thank-you mail to the visitor
	Digest    *Digest // nil for a mail about one message; if it is set, all fields below except At are empty
	MessageID string
	Name      string // name of the visitor
	Email     string // e-mail address of the visitor
	Reason    string // one of reasons
	Text      string // text of the message or of the reply
	Reply     bool   // whether Text is a visitor's reply, and not the message itself
	// OfferAnswer is whether the reply is an answer to an offer. Review is whether the reply says that the client has written a review.
	OfferAnswer, Review bool
	At                  time.Time // when the message or the reply was sent; for a digest, when its newest message was sent
}

// noticeJob is the payload of JobPlan, JobNotice and JobCopy.
type noticeJob struct {
	ID string `json:"id"` // id of the row of contact_notices
}

// queueNotice stores a notice about a new message and queues its job, in the transaction that stores the message. It does nothing for a
// message that is not in the inbox.
func (s *Service) queueNotice(ctx context.Context, tx *db.Tx, kind string, n notice) error {
	n.ID = uuid.NewString()
	return errors.Join(
		insertIfInInbox(ctx, tx, n, s.now()),
		s.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: kind, Payload: noticeJob{n.ID}, About: n.MessageID, IfRowIn: "contact_submissions"}),
	)
}

// planNotices runs a JobPlan: it finds the recipients of the notices about a message and queues a notice for each.
func (s *Service) planNotices(ctx context.Context, payload []byte) error {
	n, m, err := s.loadNotice(ctx, payload)
	if err != nil || n.ID == "" {
		return err
	}
	if err := s.replacePlan(ctx, n, m); err != nil {
		return s.recordFailure(ctx, "id", n.ID, err)
	}
	return nil
}

// replacePlan replaces n, a row with channelPlan, with the notices about the message m and queues their jobs, in one transaction. If more
// than noticesPerHour messages have arrived in this hour, the notices to owners join a digest and get no jobs.
func (s *Service) replacePlan(ctx context.Context, n notice, m contactMessage) error {
	noticeSettings, err := settings.LoadNotices(ctx, s.db)
	if err != nil {
		return err
	}
	list, err := s.findRecipients(ctx, noticeSettings)
	if err != nil {
		return err
	}
	wanted := make([]notice, 0, len(list)+2)
	for _, r := range list {
		wanted = append(wanted, notice{Channel: channelMail, Recipient: r.Email, Language: r.Language})
	}
	if noticeSettings.Webhook != "" {
		wanted = append(wanted, notice{Channel: channelWebhook, Recipient: hostOfWebhook(noticeSettings.Webhook), Language: i18n.EN})
	}
	mayThank := false
	if noticeSettings.Thanks && n.ReplyID == "" {
		if mayThank, err = s.countThanks(ctx, m.ID); err != nil {
			return err
		}
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		all := slices.Clone(wanted) // a copy, because WithTx may call this function again
		hits, err := tx.Hit(ctx, "contact-notices", "", noticeWindow, s.now())
		if err != nil {
			return err
		}
		if hits > noticesPerHour {
			for i := range all {
				if all[i].DigestID, err = s.joinDigest(ctx, tx, all[i]); err != nil {
					return err
				}
			}
		}
		if mayThank {
			free, err := claimThanks(ctx, tx, hashMailbox(m.Email), s.now(), s.now().Add(-thanksInterval))
			if err != nil {
				return err
			}
			if free {
				all = append(all, notice{Channel: channelThanks, Recipient: m.Email, Language: n.Language})
			}
		}
		for _, next := range all {
			next.ID, next.MessageID, next.ReplyID = uuid.NewString(), m.ID, n.ReplyID
			fresh, err := insertNotice(ctx, tx, next, s.now())
			if err != nil {
				return err
			}
			if !fresh || next.DigestID != "" {
				continue
			}
			if err := s.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: JobNotice, Payload: noticeJob{next.ID}, About: m.ID}); err != nil {
				return err
			}
		}
		return deleteNotice(ctx, tx, n.ID)
	})
}

// countThanks counts a thank-you mail about a message against thanksPerDay, and reports whether the mail is within this limit. It returns
// false for a message of which the visitor gets a copy, because the copy has the words of the thank-you mail.
func (s *Service) countThanks(ctx context.Context, messageID string) (allowed bool, err error) {
	if copied, err := hasCopy(ctx, s.db, messageID); err != nil || copied {
		return false, err
	}
	hits, err := s.db.Hit(ctx, "contact-thanks", "", thanksWindow, s.now())
	return hits <= thanksPerDay, err
}

// loadNotice reads the notice that a job's payload names, and its message. It returns a notice without an ID when the job has
// nothing to do.
func (s *Service) loadNotice(ctx context.Context, payload []byte) (notice, contactMessage, error) {
	var j noticeJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return notice{}, contactMessage{}, jobs.Permanent(fmt.Errorf("notice: %w", err))
	}
	n, m, err := readNotice(ctx, s.db, j.ID)
	if errors.Is(err, db.ErrNoRows) || n.SentAt != nil { // the owner has deleted the message, or the job ran before
		return notice{}, m, nil
	}
	return n, m, err
}

// sendNotice runs a JobNotice: it sends one notice and records the result.
func (s *Service) sendNotice(ctx context.Context, payload []byte) error {
	n, m, err := s.loadNotice(ctx, payload)
	if err != nil || n.ID == "" {
		return err
	}
	switch n.Channel {
	case channelMail, channelThanks:
		m.Message = mailedText(m.Message, m.Pictures, n.Language)
		err = s.cfg.SendNotice(ctx, NoticeMail{
			ID: jobs.InfoOf(ctx).ID, To: Recipient{n.Recipient, n.Language}, Thanks: n.Channel == channelThanks,
			MessageID: m.ID, Name: m.Name, Email: m.Email, Reason: m.Reason, Text: m.Message, Reply: n.ReplyID != "", OfferAnswer: n.ReplyKind == kindAnswer, Review: n.ReplyKind == kindReview, At: m.CreatedAt,
		})
	case channelCopy:
		err = s.sendCopy(ctx, n, m)
	case channelWebhook:
		var noticeSettings settings.Notices
		if noticeSettings, err = settings.LoadNotices(ctx, s.db); err != nil {
			break
		}
		if noticeSettings.Webhook == "" { // the owner has removed it from the settings
			return deleteNotice(ctx, s.db, n.ID)
		}
		var body []byte
		if body, err = encodeMessageEvent(m, n.ReplyID); err == nil {
			err = s.callWebhook(ctx, noticeSettings.Webhook, n.ID, body)
		}
	default:
		err = jobs.Permanent(fmt.Errorf("notice by %q", n.Channel))
	}
	if err != nil {
		return s.recordFailure(ctx, "id", n.ID, err)
	}
	exists, err := markNoticeSent(ctx, s.db, n.ID, s.now())
	if err == nil && !exists {
		return s.cleanUpAfterNotice(ctx, n, m.ID)
	}
	return err
}

// recordFailure records a failed attempt in the notices whose column ("id" or "digest_id") has the value id: its cause, and
// whether no other attempt follows. The admin area shows both. recordFailure returns cause, joined with an error of the database.
func (s *Service) recordFailure(ctx context.Context, column, id string, cause error) error {
	final := jobs.IsPermanent(cause) || jobs.InfoOf(ctx).LastTry
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.storeTimeout) // the job's own context may have expired
	defer cancel()
	return errors.Join(cause, markFailed(ctx, s.db, column, id, errorSummary(cause), final, s.now()))
}

// errorSummary returns the error's text for the owner: one line of at most 300 characters.
func errorSummary(cause error) string {
	text := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(sanitize(cause.Error()), "\uFFFD")), " "))
	return string(text[:min(len(text), 300)])
}

// MessageURL returns the URL at which the owner reads a message, or the list of all messages when messageID is "".
func MessageURL(siteURL, messageID string, l i18n.Language) string {
	target, q := siteURL+"/admin/contact-messages", url.Values{}
	if messageID != "" {
		q.Set("message", messageID)
	}
	if l == i18n.PT {
		q.Set("lang", "pt")
	}
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	return target
}

// state returns the state that the owner sees: waiting, retrying, sent or failed.
func (n notice) state(now time.Time) string {
	switch {
	case n.SentAt != nil:
		return "sent"
	case n.FailedAt != nil || now.Sub(n.QueuedAt) >= noticeLife:
		return "failed"
	case n.LastError != "":
		return "retrying"
	}
	return "waiting"
}
