package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"atelie/internal/apperr"
	"atelie/internal/i18n"
)

// This file trims and checks the settings before they are saved. A new field needs a check in normalizeAndCheck, or a row in the list of
// normalizeAndCheckTexts.

// Maximum lengths in characters (code points), except where a comment states another unit. A longer value is an error.
const (
	maxName         = 60        // name of the site
	maxLine         = 200       // a text of one line, or a user name of Instagram or Facebook
	maxText         = 5000      // a text of several lines, or the terms of commissions
	maxCommission   = 2000      // a text of several lines about commissions, except the terms
	maxAddress      = 254       // bytes of an e-mail address
	maxURL          = 1000      // bytes of a URL
	maxNoticeEmails = 10        // number of e-mail addresses that get notices (mails about new messages)
	maxBody         = 768 << 10 // bytes of a request; enough for all texts at their limits, escaped
)

// messageMonths are the valid values of Site.MessageMonths: after how many months messages are deleted. 0 means never.
var messageMonths = []int{0, 6, 12, 24}

// errField returns the error for an invalid field. Its code is the SQLSTATE invalid_parameter_value. Its Details is the name of the
// setting, such as "site.email". The form shows the error beside the input for that setting.
func errField(field, why string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "22023", field+" "+why)
	e.Details = field
	return e
}

// Reasons why a URL is rejected, sent in the error's Hint. The form has a text for each.
const (
	ReasonWebhookHTTPS   = "webhook_https"    // the URL is not https, or has a user name
	ReasonWebhookHost    = "webhook_host"     // the host name is invalid
	ReasonWebhookPrivate = "webhook_private"  // the host is in a private network
	reasonPortrait       = "portrait_unknown" // the URL is not that of a picture that was uploaded to this site
)

// webhookErrors has the text of the error for each reason that Config.CheckWebhook returns.
var webhookErrors = map[string]string{
	ReasonWebhookHTTPS:   "must be a URL that begins with https://",
	ReasonWebhookHost:    "has a host name that is not valid",
	ReasonWebhookPrivate: "points to a host in a private network",
}

// checkURLs checks the URLs of the webhook and of the portrait, unless they are unchanged. It returns an error if Config.CheckWebhook
// rejects the webhook, or if the portrait is not an uploaded picture.
func (s *Service) checkURLs(ctx context.Context, before, after Settings) error {
	if webhook := after.NoticeWebhook; webhook != "" && webhook != before.NoticeWebhook {
		if reason := s.cfg.CheckWebhook(ctx, webhook); reason != "" {
			e := errField("noticeWebhook", webhookErrors[reason])
			e.Hint = reason
			return e
		}
	}
	if portrait := after.Site.Portrait; portrait != "" && portrait != before.Site.Portrait {
		known, err := s.cfg.Describe(ctx, []string{portrait})
		if err != nil {
			return err
		}
		var file struct {
			Kind string `json:"kind"`
		}
		if text, ok := known[portrait]; ok {
			if err := json.Unmarshal(text, &file); err != nil {
				return err
			}
		}
		if file.Kind != "image" {
			e := errField("site.portrait", "must be a picture that was uploaded here")
			e.Hint = reasonPortrait
			return e
		}
	}
	return nil
}

var (
	// userName matches a user name of Instagram or Facebook.
	userName = regexp.MustCompile(`^@?[A-Za-z0-9._-]+$`)
	// uploadPath matches the path of a public file in this program's storage.
	uploadPath = regexp.MustCompile(`^/storage/v1/object/public/[^/]+/.`)
)

// normalizeAndCheck trims every field and returns an error for the first invalid one. It does not check an unchanged WhatsApp number:
// earlier versions stored numbers without a country code, and those must not block a save of other fields.
func (s *Settings) normalizeAndCheck(before Settings) error {
	s.NoticeWebhook = strings.TrimSpace(s.NoticeWebhook)
	if s.Site.WhatsApp != before.Site.WhatsApp {
		if err := s.Site.normalizeAndCheckWhatsApp(); err != nil {
			return err
		}
	}
	for _, check := range []func() error{s.normalizeAndCheckTexts, s.normalizeAndCheckLinks, s.normalizeAndCheckNotice, s.checkGallery, s.normalizeAndCheckCommissions} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := time.Parse(time.DateOnly, s.Site.PrivacySince); err != nil {
		return errField("site.privacySince", "must be a date (YYYY-MM-DD)")
	}
	if s.Site.ResponseTime != responseWritten && s.Site.ResponseTime != responseMeasured {
		return errField("site.responseTime", "must be measured, or empty")
	}
	if !slices.Contains(messageMonths, s.Site.MessageMonths) {
		return errField("site.messageMonths", "must be 0, 6, 12 or 24")
	}
	return nil
}

func (s *Settings) normalizeAndCheckTexts() error {
	type text struct {
		field string
		value *string
		limit int
		line  bool
	}
	texts := []text{{"site.name", &s.Site.Name, maxName, true}}
	for language, t := range map[string]*Texts{"en": &s.Site.Texts.EN, "pt": &s.Site.Texts.PT} {
		at := "site.texts." + language + "."
		texts = append(texts, text{at + "about.title", &t.AboutTitle, maxLine, true}, text{at + "about.description", &t.AboutDescription, maxText, false},
			text{at + "about.description2", &t.AboutDescription2, maxText, false}, text{at + "about.portraitAlt", &t.PortraitAlt, maxLine, true},
			text{at + "testimonials.trustedBy", &t.TrustedBy, maxLine, true}, text{at + "contact.responseTime", &t.ContactResponseTime, maxLine, true},
			text{at + "contact.success.body", &t.ContactSuccessBody, maxText, false})
	}
	for language, t := range map[string]*CommissionText{"en": &s.Site.Commissions.Texts.EN, "pt": &s.Site.Commissions.Texts.PT} {
		at := "site.commissions.texts." + language + "."
		texts = append(texts, text{at + "accepts", &t.Accepts, maxCommission, false}, text{at + "declines", &t.Declines, maxCommission, false},
			text{at + "prices", &t.Prices, maxCommission, false}, text{at + "leadTime", &t.LeadTime, maxLine, true},
			text{at + "steps", &t.Steps, maxCommission, false}, text{at + "terms", &t.Terms, maxText, false})
	}
	p := &s.Site.Privacy
	for name, value := range map[string]*string{"information": &p.Information, "use": &p.Use, "sharing": &p.Sharing, "security": &p.Security,
		"cookies": &p.Cookies, "rights": &p.Rights, "contact": &p.Contact, "changes": &p.Changes} {
		texts = append(texts, text{"site.privacy." + name, value, maxText, false})
	}
	for _, t := range texts {
		*t.value = strings.TrimSpace(strings.ReplaceAll(*t.value, "\r\n", "\n"))
		if n := utf8.RuneCountInString(*t.value); n > t.limit {
			return errField(t.field, fmt.Sprintf("may have at most %d characters", t.limit))
		}
		if strings.ContainsFunc(*t.value, func(r rune) bool { return unicode.IsControl(r) && (t.line || (r != '\n' && r != '\t')) }) {
			return errField(t.field, "contains control characters")
		}
	}
	if s.Site.Name == "" {
		return errField("site.name", "must not be empty")
	}
	return nil
}

// isURL reports whether the value of a link is meant as a URL, and not as a user name or a phone number.
func isURL(value string) bool { return strings.ContainsAny(value, ":/") }

// normalizeAndCheckWhatsApp changes a phone number to E.164, and checks the host and the number of a URL.
func (s *Site) normalizeAndCheckWhatsApp() error {
	s.WhatsApp = strings.TrimSpace(s.WhatsApp)
	if s.WhatsApp == "" {
		return nil
	}
	if isURL(s.WhatsApp) {
		u := secureURL(s.WhatsApp)
		if u == nil {
			return errField("site.whatsapp", "must be a URL that begins with https://")
		}
		if host := u.Hostname(); host != "wa.me" && host != "whatsapp.com" && !strings.HasSuffix(host, ".whatsapp.com") {
			return errField("site.whatsapp", "must lead to wa.me or whatsapp.com")
		}
		if isInvalidWaMe(u) {
			return errField("site.whatsapp", "must contain a phone number with its country code")
		}
		return nil
	}
	number, ok := toE164(s.WhatsApp)
	if !ok || !strings.HasPrefix(s.WhatsApp, "+") {
		return errField("site.whatsapp", "must be a phone number with its country code")
	}
	s.WhatsApp = number
	return nil
}

func (s *Settings) normalizeAndCheckLinks() error {
	for field, link := range map[string]*string{"instagram": &s.Site.Instagram, "facebook": &s.Site.Facebook} {
		*link = strings.TrimSpace(*link)
		switch value := *link; {
		case value == "":
		case isURL(value):
			if secureURL(value) == nil {
				return errField("site."+field, "must be a URL that begins with https://")
			}
		case len(value) > maxLine || !userName.MatchString(value):
			return errField("site."+field, "must be a name or a URL")
		}
	}
	s.Site.Email = strings.TrimSpace(s.Site.Email)
	if s.Site.Email != "" && !isEmail(s.Site.Email) {
		return errField("site.email", "must be an e-mail address")
	}
	s.Site.Portrait = strings.TrimSpace(s.Site.Portrait)
	if s.Site.Portrait != "" && !isUploadURL(s.Site.Portrait) {
		return errField("site.portrait", "must be a picture that was uploaded here")
	}
	return nil
}

func (s *Settings) normalizeAndCheckNotice() error {
	addresses := []string{}
	for _, a := range s.NoticeEmail {
		a = strings.TrimSpace(a)
		if !isEmail(a) {
			return errField("noticeEmail", "contains a text that is not an e-mail address")
		}
		if !slices.ContainsFunc(addresses, func(other string) bool { return strings.EqualFold(a, other) }) {
			addresses = append(addresses, a)
		}
	}
	if len(addresses) > maxNoticeEmails {
		return errField("noticeEmail", fmt.Sprintf("may have at most %d addresses", maxNoticeEmails))
	}
	s.NoticeEmail = addresses
	if s.NoticeWebhook != "" && secureURL(s.NoticeWebhook) == nil && !isLoopback(s.NoticeWebhook) {
		return errField("noticeWebhook", "must be a URL that begins with https://")
	}
	if s.NoticeLanguage != "" && !slices.Contains(i18n.Languages, i18n.Language(s.NoticeLanguage)) {
		return errField("noticeLanguage", "must be en or pt, or empty")
	}
	return nil
}

// isUploadURL reports whether text can be the URL of a public file in this program's storage: relative to the site, or with http or
// https.
func isUploadURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.User != nil || !uploadPath.MatchString(u.Path) {
		return false
	}
	return u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "" && u.Host == ""
}

// secureURL parses an absolute https URL without a user name. It returns nil for anything else.
func secureURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !strings.EqualFold(u.Scheme, "https") || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(text, isBlank) {
		return nil
	}
	return u
}

// isLoopback reports whether text is an http URL of this machine; a request there needs no encryption.
func isLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.Scheme != "http" || u.User != nil || strings.ContainsFunc(text, isBlank) {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || (err == nil && ip.IsLoopback())
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isEmail reports whether text is a plain e-mail address: without display name, comment or quotes, and with a domain that
// has a dot or is localhost.
func isEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxAddress {
		return false
	}
	_, domain, _ := strings.Cut(text, "@")
	return strings.Contains(domain, ".") || domain == "localhost"
}
