package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"atelie/internal/auth"
	"atelie/internal/db"
	"atelie/internal/functions"
	"atelie/internal/health"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/mail"
	"atelie/internal/pages"
	"atelie/internal/settings"
	"atelie/internal/sms"
)

// This file creates the senders of mails and SMS, and the service for /functions/v1 (package functions). It also sends the mails and SMS that
// jobs and this service request. In the database, the messages of visitors are rows of contact_submissions.

// linkPurpose is the purpose string (see deriveKey) of the key for the tokens in private links, the URLs at which visitors follow their
// messages. It must not change: with a key from another string, no earlier link would be valid.
const linkPurpose = "links of enquiries"

// wireDelivery creates the senders of mails and SMS and the service for /functions/v1, and registers the handlers of the jobs that send
// mails and SMS.
func (a *App) wireDelivery(context.Context) error {
	siteName := func(ctx context.Context) (string, error) {
		site, err := settings.LoadSite(ctx, a.DB)
		return site.Name, err
	}
	server, err := a.cfg.Mail.Server()
	if err != nil {
		return err
	}
	mailConfig := mail.Config{Server: (*mail.Server)(server), From: a.cfg.Mail.From, Dir: a.cfg.MailDir(), SiteURL: a.cfg.Server.SiteURL, SiteName: siteName}
	if a.Mail, err = mail.New(mailConfig, a.log, a.now); err != nil {
		return err
	}
	smsConfig := sms.Config{SiteName: siteName}
	if c := a.cfg.SMS; c.HookURL != "" {
		smsConfig.Hook = &sms.Hook{URL: c.HookURL, Secret: c.HookSecret}
	} else if c.TwilioAccount != "" {
		smsConfig.Twilio = &sms.Twilio{Account: c.TwilioAccount, Token: c.TwilioToken, From: c.TwilioFrom, BaseURL: c.TwilioURL}
	}
	if a.sms, err = sms.New(smsConfig, a.now); err != nil {
		return err
	}
	record := func(ctx context.Context, tx *db.Tx, table, key string, inserted bool) error {
		if inserted {
			return a.Tables.RecordInserted(ctx, tx, table, []string{key})
		}
		return a.Tables.RecordUpdated(ctx, tx, table, []string{key})
	}
	a.Functions = functions.New(a.DB, functions.Config{
		WritePage: func(w http.ResponseWriter, r *http.Request, p functions.Page) error {
			return a.pages.WriteDocument(w, r, pages.Document(p))
		},
		CheckSpace: a.checkRowSpace,
		RecordInserted: func(ctx context.Context, tx *db.Tx, id string) error {
			return a.Tables.RecordInserted(ctx, tx, "contact_submissions", []string{id})
		},
		RecordUpdated: func(ctx context.Context, tx *db.Tx, id string) error {
			return a.Tables.RecordUpdated(ctx, tx, "contact_submissions", []string{id})
		},
		RecordReply: func(ctx context.Context, tx *db.Tx, id string, inserted bool) error {
			return record(ctx, tx, "contact_replies", id, inserted)
		},
		RecordCommission: record, SiteURL: a.cfg.Server.SiteURL, LinkKey: a.currentKey(linkPurpose), PreviousLinkKey: a.previousKey(linkPurpose),
		FindWork: func(ctx context.Context, id string, l i18n.Language) (*functions.EnquiryWork, error) {
			work, err := a.pages.LinkWork(ctx, id, l)
			return (*functions.EnquiryWork)(work), err
		},
		CopyForReview: a.copyForReview, RemovePicture: a.removePicture,
		RecordReview: func(ctx context.Context, tx *db.Tx, id string) error {
			return a.Tables.RecordInserted(ctx, tx, "reviews", []string{id})
		},
		ReceivePicture: a.receivePicture, ServePicture: a.servePicture,
		SendReply: a.sendReply, SendCopy: a.sendCopy,
		RecordDeleted: func(ctx context.Context, tx *db.Tx, ids []string) error {
			return a.Tables.RecordDeleted(ctx, tx, "contact_submissions", ids)
		},
		Queue: a.Jobs, Owners: a.noticeOwners, OwnAddress: a.administratorAddress, SendNotice: a.sendNotice, SendTest: a.sendTest, DeleteMails: a.Mail.DeleteAbout,
		DeleteMailsOf: a.Mail.DeleteOf, AddressHasRole: a.Auth.LockRolesAndCheckAddress, AddressPlaces: a.addressPlaces,
		MailServer: server != nil, MessagesPerHour: a.cfg.Mail.MessagesPerHour,
		WebhookKey: a.currentKey("webhooks"), PreviousWebhookKey: a.previousKey("webhooks"), AllowPrivateWebhooks: bool(a.cfg.Mail.WebhookPrivate),
	}, a.now)
	a.Jobs.Handle(auth.JobMail, a.deliverMail)
	a.Jobs.Handle(auth.JobSMS, a.deliverSMS)
	return nil
}

// smsProvider returns the name of the configured SMS provider for /auth/v1/settings, or "" if there is none.
func (a *App) smsProvider() string {
	switch c := a.cfg.SMS; {
	case c.HookURL != "":
		return "webhook"
	case c.TwilioAccount != "":
		return "twilio"
	}
	return ""
}

// errExpired is the error of a job that runs after its link or code has expired.
var errExpired = errors.New("the link or the code has expired before it could be sent")

// deliverMail handles auth.JobMail. It sends no mail about a problem with the site that has ended meanwhile.
func (a *App) deliverMail(ctx context.Context, payload []byte) error {
	var m auth.Mail
	if err := json.Unmarshal(payload, &m); err != nil {
		return jobs.Permanent(fmt.Errorf("mail: %w", err))
	}
	if m.Outdated(a.now()) {
		return jobs.Permanent(errExpired)
	}
	if ended, err := a.health.Ended(ctx, health.Code(m.Kind)); err != nil || ended {
		return err
	}
	language := i18n.Choose(m.Language)
	if health.Code(m.Kind).IsProblem() {
		m.Link = a.cfg.Server.SiteURL + "/admin" // the overview
		if language == i18n.PT {
			m.Link += "?lang=pt"
		}
	}
	_, err := a.SendMail(ctx, mail.Message{
		ID: jobs.InfoOf(ctx).ID, Kind: mail.Kind(m.Kind), To: m.To, Language: language,
		Link: m.Link, Code: m.Code, NewEmail: m.NewEmail, Cause: m.Cause, Device: m.Device, IP: m.IP, At: m.At,
	})
	return err
}

// SendMail sends a mail immediately, and records the result for the overview. It returns the mail's destination (mail.Mailer.Send).
func (a *App) SendMail(ctx context.Context, m mail.Message) (destination string, err error) {
	destination, err = a.Mail.Send(ctx, m)
	a.health.MailSent(ctx, err)
	return destination, err
}

// deliverSMS handles auth.JobSMS.
func (a *App) deliverSMS(ctx context.Context, payload []byte) error {
	var m auth.SMS
	if err := json.Unmarshal(payload, &m); err != nil {
		return jobs.Permanent(fmt.Errorf("sms: %w", err))
	}
	job := jobs.InfoOf(ctx)
	if m.Outdated(job.Created, a.now()) {
		return jobs.Permanent(errExpired)
	}
	return a.sms.Send(ctx, sms.Message{
		ID: job.ID, UserID: m.UserID, Phone: m.Phone, Code: m.Code, Type: m.Type, Channel: m.Channel, Language: i18n.Choose(m.Language),
	})
}

// noticeOwners returns the default recipients of notices about new messages: the owners with an e-mail address.
func (a *App) noticeOwners(ctx context.Context) ([]functions.Recipient, error) {
	owners, err := a.Auth.Owners(ctx)
	recipients := make([]functions.Recipient, 0, len(owners))
	for _, o := range owners {
		if o.Email != "" {
			recipients = append(recipients, functions.Recipient{Email: o.Email, Language: i18n.Choose(o.Language)})
		}
	}
	return recipients, err
}

// administratorAddress returns the e-mail address of an administrator and the language of mails to it.
func (a *App) administratorAddress(ctx context.Context, userID string) (functions.Recipient, error) {
	owners, err := a.Auth.Owners(ctx)
	for _, o := range owners {
		if o.ID == userID && o.Email != "" {
			return functions.Recipient{Email: o.Email, Language: i18n.Choose(o.Language)}, err
		}
	}
	return functions.Recipient{}, err
}

func (a *App) sendTest(ctx context.Context, to functions.Recipient) error {
	_, err := a.SendMail(ctx, mail.Message{Kind: mail.Test, To: to.Email, Language: to.Language, At: a.now()})
	return err
}

func (a *App) sendNotice(ctx context.Context, n functions.NoticeMail) error {
	m := mail.Message{
		ID: n.ID, Kind: mail.ContactNotice, To: n.To.Email, Language: n.To.Language, At: n.At,
		Link:    functions.MessageURL(a.cfg.Server.SiteURL, n.MessageID, n.To.Language),
		Contact: &mail.Contact{Name: n.Name, Email: n.Email, Reason: n.Reason, Text: n.Text},
	}
	if n.MessageID != "" {
		m.About = []string{n.MessageID}
	}
	switch {
	case n.Reply:
		m.Kind, m.Contact.OfferAnswer, m.Contact.Review = mail.ContactAnswer, n.OfferAnswer, n.Review
	case n.Thanks:
		m.Kind, m.Contact, m.Link = mail.ContactThanks, nil, ""
	case n.Digest != nil:
		m.Kind, m.Contact = mail.ContactDigest, nil
		m.Digest = &mail.Digest{Count: n.Digest.Count, Quarantined: n.Digest.Quarantined}
		for _, e := range n.Digest.Newest {
			m.About = append(m.About, e.ID)
			m.Digest.Newest = append(m.Digest.Newest, mail.DigestEntry{Name: e.Name, Reason: e.Reason, At: e.At, Pictures: e.Pictures})
		}
	}
	_, err := a.SendMail(ctx, m)
	return err
}

func (a *App) sendReply(ctx context.Context, r functions.ReplyMail) error {
	m := mail.Message{
		ID: r.ID, Kind: mail.ContactReply, To: r.To.Email, Language: r.To.Language, Link: r.Link, At: r.At,
		Reply: &mail.Reply{Text: r.Text, To: r.ReplyTo}, About: []string{r.MessageID},
	}
	switch {
	case r.Offer != nil:
		m.Kind, m.Reply.Offer = mail.ContactOffer, (*mail.Offer)(r.Offer)
	case r.Progress:
		m.Kind = mail.ContactProgress
	case r.Review:
		m.Kind = mail.ContactReview
	}
	_, err := a.SendMail(ctx, m)
	return err
}

func (a *App) sendCopy(ctx context.Context, c functions.ReplyMail) error {
	_, err := a.SendMail(ctx, mail.Message{
		ID: c.ID, Kind: mail.ContactCopy, To: c.To.Email, Language: c.To.Language, Link: c.Link, At: c.At, Copy: c.Text, Thanks: c.Thanks, About: []string{c.MessageID},
	})
	return err
}
