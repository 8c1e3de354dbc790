package functions

import (
	"encoding/json"
	"time"
)

// webhookEvent is the body of a webhook call, in the form of Standard Webhooks.
type webhookEvent struct {
	Type      string `json:"type"`      // contact_submission.created or contact_submission.digest
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

// encodeMessageEvent returns the event about a new message in JSON.
func encodeMessageEvent(m contactMessage) ([]byte, error) {
	d := toWebhookMessage(m)
	return json.Marshal(webhookEvent{"contact_submission.created", d.CreatedAt, d})
}
