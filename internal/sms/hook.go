package sms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"atelie/internal/webhook"
)

// Hook is a webhook of the operator (who runs the server). The webhook receives each message as JSON, and must send it to the phone. Requests
// are signed according to Standard Webhooks 1.0, so that the webhook can reject forged requests.
type Hook struct {
	URL    string
	Secret string // v1,whsec_ and the key of the signatures in base64

	key []byte // the decoded Secret; set by decodeSecret
}

// decodeSecret decodes Secret into key. The prefix "v1," may be missing. The error says which form Secret must have.
func (h *Hook) decodeSecret() (err error) {
	encoded, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(h.Secret), "v1,"), "whsec_")
	h.key, err = base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(h.key) < 16 {
		return errors.New("sms: the hook's secret must be v1,whsec_ and at least 16 bytes in base64")
	}
	return nil
}

// callHook sends a message to the hook.
func (s *Sender) callHook(ctx context.Context, m Message) error {
	h := s.cfg.Hook
	var call struct { // with the keys of Supabase's hook for sending SMS
		User struct { // the account that gets the message
			ID       string            `json:"id"`
			Phone    string            `json:"phone"`
			Metadata map[string]string `json:"user_metadata"` // its only key is locale, the language for the text
		} `json:"user"`
		SMS struct {
			OTP   string `json:"otp"` // the code
			Phone string `json:"phone"`
			Type  string `json:"sms_type"` // Message.Type
		} `json:"sms"`
	}
	call.User.ID, call.User.Phone, call.User.Metadata = m.UserID, m.Phone, map[string]string{"locale": string(m.Language)}
	call.SMS.OTP, call.SMS.Phone, call.SMS.Type = m.Code, m.Phone, m.Type
	body, err := json.Marshal(call)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("sms: the hook's URL cannot be called") // without the cause: it contains the URL, which may be secret
	}
	webhook.Sign(req, m.ID, s.now(), body, h.key)
	response, err := s.exchange(req)
	if err != nil {
		return err
	}
	return hookError(response)
}

// hookError returns the error that a hook reports with status 200: {"error":{"http_code":…,"message":…}}. It returns nil for
// any other response body.
func hookError(response []byte) error {
	var body struct {
		Error *struct {
			Status int `json:"http_code"`
		} `json:"error"`
	}
	understood := json.Unmarshal(response, &body) == nil // after a success, the body of a hook's response can be anything
	if !understood || body.Error == nil {
		return nil
	}
	status := cmp.Or(body.Error.Status, http.StatusInternalServerError)
	return refusalError(status, fmt.Errorf("sms: the hook reported the error %d", status))
}
