package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"atelie/internal/auth"
	"atelie/internal/functions"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/mail"
	"atelie/internal/pages"
	"atelie/internal/sms"
)

// wireDelivery makes the senders and gives the queue what it does with messages.
func (a *App) wireDelivery() error {
	siteName := func(ctx context.Context) (string, error) {
		site, err := pages.LoadSite(ctx, a.DB)
		return site.Name, err
	}
	server, err := a.cfg.Mail.SMTP()
	if err != nil {
		return err
	}
	mails := mail.Config{From: a.cfg.Mail.From, Dir: a.cfg.MailDir(), SiteURL: a.cfg.Server.SiteURL, SiteName: siteName}
	if server != nil {
		mails.Server = &mail.Server{Host: server.Host, Port: server.Port, User: server.User, Password: server.Password, TLS: server.TLS}
	}
	if a.Mail, err = mail.New(mails, a.log, a.now); err != nil {
		return err
	}
	texts := sms.Config{SiteName: siteName}
	if c := a.cfg.SMS; c.HookURL != "" {
		texts.Hook = &sms.Hook{URL: c.HookURL, Secret: c.HookSecret}
	} else if c.TwilioAccount != "" {
		texts.Twilio = &sms.Twilio{Account: c.TwilioAccount, Token: c.TwilioToken, From: c.TwilioFrom, BaseURL: c.TwilioURL}
	}
	if a.sms, err = sms.New(texts, a.now); err != nil {
		return err
	}
	a.Functions.SetNotices(functions.Notices{
		Queue: a.Jobs, Owners: a.noticeOwners, Send: a.sendNotice,
		WebhookKey: derive([]byte(a.cfg.Auth.JWTSecret), "webhooks"), PrivateWebhooks: bool(a.cfg.Mail.WebhookPrivate),
	})
	a.Jobs.Handle(auth.JobMail, a.deliverMail)
	a.Jobs.Handle(auth.JobSMS, a.deliverSMS)
	return nil
}

// smsProvider names what sends text messages, as /settings tells it; "" for nothing.
func (a *App) smsProvider() string {
	switch c := a.cfg.SMS; {
	case c.HookURL != "":
		return "webhook"
	case c.TwilioAccount != "":
		return "twilio"
	}
	return ""
}

var errOutdated = errors.New("the link or the code has expired before it could be sent")

func (a *App) deliverMail(ctx context.Context, payload []byte) error {
	var m auth.Mail
	if err := json.Unmarshal(payload, &m); err != nil {
		return jobs.Permanent(fmt.Errorf("mail: %w", err))
	}
	if m.Outdated(a.now()) {
		return jobs.Permanent(errOutdated)
	}
	_, err := a.Mail.Send(ctx, mail.Message{
		ID: jobs.TicketOf(ctx).ID, Kind: mail.Kind(m.Kind), To: m.To, Language: i18n.Choose(m.Language),
		Link: m.Link, Code: m.Code, NewEmail: m.NewEmail, Device: m.Device, IP: m.IP, At: m.At,
	})
	return err
}

func (a *App) deliverSMS(ctx context.Context, payload []byte) error {
	var m auth.SMS
	if err := json.Unmarshal(payload, &m); err != nil {
		return jobs.Permanent(fmt.Errorf("sms: %w", err))
	}
	ticket := jobs.TicketOf(ctx)
	if m.Outdated(ticket.Created, a.now()) {
		return jobs.Permanent(errOutdated)
	}
	return a.sms.Send(ctx, sms.Message{
		ID: ticket.ID, UserID: m.UserID, Phone: m.Phone, Code: m.Code, Type: m.Type, Channel: m.Channel, Language: i18n.Choose(m.Language),
	})
}

// noticeOwners are who is told of new messages when the owner has set nothing else.
func (a *App) noticeOwners(ctx context.Context) ([]functions.Recipient, error) {
	owners, err := a.Auth.Owners(ctx)
	told := make([]functions.Recipient, 0, len(owners))
	for _, o := range owners {
		if o.Email != "" {
			told = append(told, functions.Recipient{Email: o.Email, Language: i18n.Choose(o.Language)})
		}
	}
	return told, err
}

func (a *App) sendNotice(ctx context.Context, n functions.NoticeMail) error {
	m := mail.Message{
		ID: n.ID, Kind: mail.ContactNotice, To: n.To.Email, Language: n.To.Language, At: n.At,
		Link:    functions.MessageAddress(a.cfg.Server.SiteURL, n.MessageID, n.To.Language),
		Contact: &mail.Contact{Name: n.Name, Email: n.Email, Reason: n.Reason, Text: n.Text},
	}
	if n.Thanks {
		m.Kind, m.Contact, m.Link = mail.ContactThanks, nil, ""
	}
	_, err := a.Mail.Send(ctx, m)
	return err
}
