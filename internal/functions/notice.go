package functions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
)

// Kinds of queued work. JobPlan looks whom a new message is told to, JobNotice tells one of them.
const (
	JobPlan   = "contact.plan"
	JobNotice = "contact.notice"
)

// Ways of a notice. A plan stands for the others until it has been looked whom to tell.
const (
	byPlan    = "plan"
	byMail    = "mail"
	byWebhook = "webhook"
	byThanks  = "thanks"
)

const (
	// noticeLife is longer than all tries of a job together: what is not sent by then failed, whatever became of the job.
	noticeLife = 12 * time.Hour
	// thanksPause is between two thank-you mails to one address, thanksPerDay bounds all of them together: whoever writes
	// chooses the address, which may be a stranger's.
	thanksPause  = 24 * time.Hour
	thanksPerDay = 200
	maxNotified  = 10 // addresses in the settings
)

// Keys of the owner's settings that this file reads from site_settings.
const (
	keyNoticeMail    = "notice.email"    // a list of addresses; the owners' own when it is missing or empty
	keyNoticeWebhook = "notice.webhook"  // an address, or "" for none
	keyNoticeLang    = "notice.language" // "en" or "pt"; each owner's own, or the first owner's, when missing
	keyThanks        = "thanks.enabled"  // true or false; false when missing
)

// Recipient is somebody who is written to.
type Recipient struct {
	Email    string
	Language i18n.Language
}

// NoticeMail is a mail about a visitor's message. Thanks go to the visitor and have nothing of the message in them.
type NoticeMail struct {
	ID        string // same at every try
	To        Recipient
	Thanks    bool
	MessageID string
	Name      string
	Email     string
	Reason    string
	Text      string
	At        time.Time
}

// Notices is what the notices of new messages need of the rest of the program.
type Notices struct {
	Queue           *jobs.Queue
	Owners          func(ctx context.Context) ([]Recipient, error)
	Send            func(ctx context.Context, m NoticeMail) error
	WebhookKey      []byte // signs what webhooks are sent; 16 bytes at least
	PrivateWebhooks bool   // webhooks may be http and lie in private networks
}

// SetNotices lets new messages be told of, and names the handlers of that work. It is for wiring, before the first
// request; without it nobody is told.
func (s *Service) SetNotices(n Notices) {
	s.notices, s.hooks = n, newWebhookClient(n.PrivateWebhooks)
	n.Queue.Handle(JobPlan, s.planNotices)
	n.Queue.Handle(JobNotice, s.sendNotice)
}

type noticeJob struct {
	ID string `json:"id"` // of a row of contact_notices
}

// queueNotice writes down that a message is to be told of, in the transaction that stores it: the visitor waits for
// nothing, and a node that dies now leaves the work to another.
func (s *Service) queueNotice(ctx context.Context, tx *db.Tx, messageID string, language i18n.Language) error {
	if s.notices.Queue == nil {
		return nil
	}
	id := uuid.NewString()
	if _, err := insertNotice(ctx, tx, notice{ID: id, MessageID: messageID, Channel: byPlan, Language: language}, s.now()); err != nil {
		return err
	}
	return s.notices.Queue.Enqueue(ctx, tx, JobPlan, noticeJob{id})
}

// planNotices makes the rows and jobs of everybody who is to be told, in one transaction with the end of the plan.
func (s *Service) planNotices(ctx context.Context, payload []byte) error {
	n, m, err := s.openNotice(ctx, payload)
	if err != nil || n.ID == "" {
		return err
	}
	settings, err := readNoticeSettings(ctx, s.db)
	if err != nil {
		return s.noteNotice(ctx, n, err)
	}
	told, err := s.whomToTell(ctx, settings)
	if err != nil {
		return s.noteNotice(ctx, n, err)
	}
	wanted := make([]notice, 0, len(told)+2)
	for _, r := range told {
		wanted = append(wanted, notice{Channel: byMail, Recipient: r.Email, Language: r.Language})
	}
	if settings.webhook != "" {
		wanted = append(wanted, notice{Channel: byWebhook, Recipient: webhookHost(settings.webhook), Language: i18n.EN})
	}
	thanks := false
	if settings.thanks {
		hits, err := s.db.Hit(ctx, "contact-thanks", "", 24*time.Hour, s.now())
		if err != nil {
			return s.noteNotice(ctx, n, err)
		}
		thanks = hits <= thanksPerDay
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		all := slices.Clone(wanted)
		if thanks {
			free, err := claimThanks(ctx, tx, mailbox(m.Email), s.now(), s.now().Add(-thanksPause))
			if err != nil {
				return err
			}
			if free {
				all = append(all, notice{Channel: byThanks, Recipient: m.Email, Language: n.Language})
			}
		}
		for _, next := range all {
			next.ID, next.MessageID = uuid.NewString(), m.ID
			fresh, err := insertNotice(ctx, tx, next, s.now())
			if err != nil {
				return err
			}
			if fresh {
				if err := s.notices.Queue.Enqueue(ctx, tx, JobNotice, noticeJob{next.ID}); err != nil {
					return err
				}
			}
		}
		return deleteNotice(ctx, tx, n.ID)
	})
	if err != nil {
		return s.noteNotice(ctx, n, err)
	}
	return nil
}

// whomToTell gives the addresses of the settings, or the owners' own when the settings say nothing.
func (s *Service) whomToTell(ctx context.Context, settings noticeSettings) ([]Recipient, error) {
	owners, err := s.notices.Owners(ctx)
	if err != nil {
		return nil, err
	}
	if len(settings.emails) == 0 {
		told := slices.DeleteFunc(slices.Clone(owners), func(r Recipient) bool { return !usable(r.Email) })
		for i := range told {
			if settings.language != "" {
				told[i].Language = settings.language
			}
		}
		return told, nil
	}
	language := settings.language
	if language == "" && len(owners) > 0 {
		language = owners[0].Language
	}
	told := make([]Recipient, 0, len(settings.emails))
	for _, email := range settings.emails {
		if email = strings.TrimSpace(email); usable(email) && len(told) < maxNotified {
			told = append(told, Recipient{email, i18n.Choose(string(language))})
		}
	}
	return told, nil
}

// usable tells that mail can be sent to an address as it stands.
func usable(email string) bool {
	a, err := netmail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= maxEmail && !strings.ContainsFunc(email, unicode.IsControl)
}

// mailbox is what most addresses of one mailbox have in common, as a hash: without its case, its dots, and what follows
// a plus sign.
func mailbox(email string) string {
	local, domain, _ := strings.Cut(strings.ToLower(email), "@")
	local, _, _ = strings.Cut(local, "+")
	sum := sha256.Sum256([]byte(strings.ReplaceAll(local, ".", "") + "@" + domain))
	return hex.EncodeToString(sum[:])
}

// openNotice reads what a job is about; a notice without id means that nothing is left to do.
func (s *Service) openNotice(ctx context.Context, payload []byte) (notice, contactMessage, error) {
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

// sendNotice tells one receiver.
func (s *Service) sendNotice(ctx context.Context, payload []byte) error {
	n, m, err := s.openNotice(ctx, payload)
	if err != nil || n.ID == "" {
		return err
	}
	switch n.Channel {
	case byMail, byThanks:
		err = s.notices.Send(ctx, NoticeMail{
			ID: jobs.TicketOf(ctx).ID, To: Recipient{n.Recipient, n.Language}, Thanks: n.Channel == byThanks,
			MessageID: m.ID, Name: m.Name, Email: m.Email, Reason: m.Reason, Text: m.Message, At: m.CreatedAt,
		})
	case byWebhook:
		var settings noticeSettings
		if settings, err = readNoticeSettings(ctx, s.db); err != nil {
			break
		}
		if settings.webhook == "" { // taken out of the settings meanwhile
			return deleteNotice(ctx, s.db, n.ID)
		}
		var body []byte
		if body, err = webhookBody(m); err == nil {
			err = s.callWebhook(ctx, settings.webhook, n.ID, body)
		}
	default:
		err = jobs.Permanent(fmt.Errorf("notice by %q", n.Channel))
	}
	if err != nil {
		return s.noteNotice(ctx, n, err)
	}
	return markNoticeSent(ctx, s.db, n.ID, s.now())
}

// noteNotice writes down why a try failed, and whether it was the last; the owner sees it beside the message.
func (s *Service) noteNotice(ctx context.Context, n notice, cause error) error {
	final := jobs.IsPermanent(cause) || jobs.TicketOf(ctx).Last
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime) // the try may have used up its time
	defer cancel()
	return errors.Join(cause, markNoticeFailed(ctx, s.db, n.ID, reasonText(cause), final, s.now()))
}

// reasonText is a cause as the owner reads it: one line of at most 300 characters.
func reasonText(cause error) string {
	text := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(harmless(cause.Error()), "\uFFFD")), " "))
	return string(text[:min(len(text), 300)])
}

// webhookBody is the event as Standard Webhooks shapes it.
func webhookBody(m contactMessage) ([]byte, error) {
	type data struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Email     string `json:"email"`
		Message   string `json:"message"`
		Reason    string `json:"reason"`
		CreatedAt string `json:"created_at"`
	}
	at := m.CreatedAt.UTC().Format(time.RFC3339Nano)
	return json.Marshal(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      data   `json:"data"`
	}{"contact_submission.created", at, data{m.ID, m.Name, m.Email, m.Message, m.Reason, at}})
}

// noticeSettings are what the owner has set; the zero value is a site whose owner has set nothing.
type noticeSettings struct {
	emails   []string // none: the owners' own addresses
	webhook  string
	language i18n.Language
	thanks   bool
}

// set reads one setting. What cannot be understood counts as not set: a message must be told of all the same.
func (n *noticeSettings) set(key, value string) {
	switch key {
	case keyNoticeMail:
		var emails []string
		if json.Unmarshal([]byte(value), &emails) == nil {
			n.emails = emails
		}
	case keyNoticeWebhook:
		var address string
		if json.Unmarshal([]byte(value), &address) == nil {
			n.webhook = strings.TrimSpace(address)
		}
	case keyNoticeLang:
		var l i18n.Language
		if json.Unmarshal([]byte(value), &l) == nil && slices.Contains(i18n.Languages, l) {
			n.language = l
		}
	case keyThanks:
		n.thanks = strings.TrimSpace(value) == "true"
	}
}

// MessageAddress is where the owner reads a message, under the site's address.
func MessageAddress(siteURL, messageID string, l i18n.Language) string {
	q := url.Values{"message": {messageID}}
	if l == i18n.PT {
		q.Set("lang", "pt")
	}
	return siteURL + "/admin/contact-messages?" + q.Encode()
}

// PurgeThanked forgets whom thank-you mails went to once they may get another.
func (s *Service) PurgeThanked(ctx context.Context) error {
	return deleteThanked(ctx, s.db, s.now().Add(-thanksPause))
}

// noticeState is what the owner is told of a notice.
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
