package sms

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// hookBody is the body of a request, with the keys of Supabase's hook for sending SMS.
type hookBody struct {
	User hookUser `json:"user"`
	SMS  hookSMS  `json:"sms"`
}

// hookUser is the account that gets the message.
type hookUser struct {
	ID           string            `json:"id"`
	Phone        string            `json:"phone"`
	UserMetadata map[string]string `json:"user_metadata"` // its only key is locale, the language for the text
}

// hookSMS is the message.
type hookSMS struct {
	OTP   string `json:"otp"` // the code
	Phone string `json:"phone"`
	Type  string `json:"sms_type"` // Message.Type
}

// callHook sends a message to the hook.
func (s *Sender) callHook(ctx context.Context, m Message) error {
	h := s.cfg.Hook
	body, err := json.Marshal(hookBody{
		User: hookUser{ID: m.UserID, Phone: m.Phone, UserMetadata: map[string]string{"locale": string(m.Language)}},
		SMS:  hookSMS{OTP: m.Code, Phone: m.Phone, Type: m.Type},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("sms: the hook's URL cannot be called") // without the cause: it contains the URL, which may be secret
	}
	id, timestamp := "msg_"+m.ID, strconv.FormatInt(s.now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", timestamp)
	req.Header.Set("webhook-signature", "v1,"+h.sign(id, timestamp, body))
	response, err := s.exchange(req)
	if err != nil {
		return err
	}
	return hookError(response)
}

// sign returns the signature of a request. timestamp is the time of the request in Unix seconds.
func (h *Hook) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
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
	status := body.Error.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return refusalError(status, fmt.Errorf("sms: the hook reported the error %d", status))
}
