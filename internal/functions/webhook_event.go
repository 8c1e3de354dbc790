package functions

import (
	"encoding/json"
	"time"
)

// webhookEvent is the body of a webhook call, in the form of Standard Webhooks.
type webhookEvent struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"` // RFC 3339, in UTC
	Data      any    `json:"data"`
}

// webhookData is a visitor's message in an event.
type webhookData struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Message   string `json:"message"`
	Reason    string `json:"reason"`
	CreatedAt string `json:"created_at"`
}

func webhookDataOf(m contactMessage) webhookData {
	return webhookData{m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt.UTC().Format(time.RFC3339Nano)}
}

// webhookBody returns the event about one message in JSON.
func webhookBody(m contactMessage) ([]byte, error) {
	d := webhookDataOf(m)
	return json.Marshal(webhookEvent{"contact_submission.created", d.CreatedAt, d})
}
