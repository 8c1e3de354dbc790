package sms

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Twilio is an account at Twilio, or at another service with the same API (version 2010-04-01).
type Twilio struct {
	Account, Token string // user name and password of the API
	From           string // the sender: a number with +, a name, or the id of a messaging service (MG…)
	BaseURL        string // such as https://api.twilio.com, without a path
}

// callTwilio sends a message through Twilio's API.
func (s *Sender) callTwilio(ctx context.Context, m Message) error {
	t := s.cfg.Twilio
	text, err := s.messageText(ctx, m)
	if err != nil {
		return err
	}
	form := url.Values{"To": {"+" + m.Phone}, "Body": {text}}
	switch {
	case m.Channel == "whatsapp":
		form.Set("To", "whatsapp:+"+m.Phone)
		form.Set("From", "whatsapp:"+strings.TrimPrefix(t.From, "whatsapp:"))
	case strings.HasPrefix(t.From, "MG"): // the id of a messaging service
		form.Set("MessagingServiceSid", t.From)
	default:
		form.Set("From", t.From)
	}
	endpoint := strings.TrimRight(t.BaseURL, "/") + "/2010-04-01/Accounts/" + url.PathEscape(t.Account) + "/Messages.json"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("sms: the service's URL cannot be called") // without the cause: it contains the account
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(t.Account, t.Token)
	_, err = s.exchange(req)
	return err
}
