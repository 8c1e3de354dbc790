package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"atelie/internal/jobs"
	"atelie/internal/webhook"
)

// This file checks the URL of the webhook in the site's settings, and calls the webhook for notices about visitors' messages. The calls are
// signed as Standard Webhooks 1.0 (standardwebhooks.com) requires, so that the receiver can verify the sender.

// lookupTimeout is the timeout of the DNS query for a webhook's host when the URL is checked.
const lookupTimeout = 2 * time.Second

// CheckWebhook checks the URL of a webhook before it is saved in the settings. It returns nil or
//   - webhook.ErrURL: not a URL with https, or one with a user name
//   - webhook.ErrHost: the host or the port is not valid
//   - webhook.ErrPrivate: the host is in a private network
//
// A host name that does not resolve now is accepted. Each call of the webhook checks the IP address again.
func (s *Service) CheckWebhook(ctx context.Context, webhookURL string) error {
	u, err := webhook.ParseURL(webhookURL, s.cfg.AllowPrivateWebhooks)
	if err != nil {
		return err
	}
	if s.cfg.AllowPrivateWebhooks {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		if !webhook.IsPublic(ip) {
			return webhook.ErrPrivate
		}
		return nil
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return webhook.ErrPrivate
	}
	if !strings.Contains(name, ".") {
		return webhook.ErrHost
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	isPrivate := func(ip netip.Addr) bool { return !webhook.IsPublic(ip) }
	if found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name); err == nil && slices.ContainsFunc(found, isPrivate) {
		return webhook.ErrPrivate
	}
	return nil
}

// hostOfWebhook returns the host of a webhook's URL, to be stored and shown as the recipient of notices. The rest of the URL may be secret.
func hostOfWebhook(webhookURL string) string {
	u, err := url.Parse(webhookURL)
	if err != nil {
		return ""
	}
	return u.Host
}

// callWebhook posts a body to the owner's webhook, signed as Standard Webhooks 1.0 says. id must be the same at every attempt. The error is
// jobs.Permanent if another attempt would fail too.
func (s *Service) callWebhook(ctx context.Context, webhookURL, id string, body []byte) error {
	if _, err := webhook.ParseURL(webhookURL, s.cfg.AllowPrivateWebhooks); err != nil {
		return jobs.Permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, webhookURL, bytes.NewReader(body))
	if err != nil {
		return jobs.Permanent(webhook.ErrURL)
	}
	webhook.Sign(req, id, s.now(), body, s.cfg.WebhookKey, s.cfg.PreviousWebhookKey)
	err = webhook.Send(s.webhooks, req)
	refused, answered := errors.AsType[webhook.StatusError](err)
	if errors.Is(err, webhook.ErrPrivate) || answered && refused.Status == http.StatusGone { // by Standard Webhooks, 410 means that the receiver wants no more calls
		return jobs.Permanent(err)
	}
	return err
}

// webhookEvent is the body of a webhook call, in the form of Standard Webhooks.
type webhookEvent struct {
	Type      string `json:"type"`      // contact_submission.created, contact_submission.digest or contact_reply.created
	Timestamp string `json:"timestamp"` // RFC 3339, in UTC
	Data      any    `json:"data"`      // depends on Type
}

// webhookMessage is a visitor's message in an event.
type webhookMessage struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Message   string `json:"message"`
	Reason    string `json:"reason"`     // one of reasons
	CreatedAt string `json:"created_at"` // RFC 3339, in UTC
}

func toWebhookMessage(m contactMessage) webhookMessage {
	return webhookMessage{m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt.UTC().Format(time.RFC3339Nano)}
}

// webhookReply is a visitor's reply in an event: its message with the text and the time of the reply.
type webhookReply struct {
	webhookMessage
	ReplyID  string `json:"reply_id"`
	Pictures int    `json:"pictures"` // number of pictures of the reply, whose text can be ""
}

// encodeMessageEvent returns the event about a new message in JSON, or about a visitor's reply if replyID is not "".
func encodeMessageEvent(m contactMessage, replyID string) ([]byte, error) {
	d := toWebhookMessage(m)
	if replyID != "" {
		return json.Marshal(webhookEvent{"contact_reply.created", d.CreatedAt, webhookReply{d, replyID, m.Pictures}})
	}
	return json.Marshal(webhookEvent{"contact_submission.created", d.CreatedAt, d})
}
