package pages

import (
	"crypto/sha256"
	"encoding/hex"
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
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Settings is everything that the owner says at /admin/settings (READING §3.24). Only Site is ever part of a page.
type Settings struct {
	Site          Site     `json:"site"`
	NoticeEmail   []string `json:"noticeEmail"`   // who hears of new messages
	NoticeWebhook string   `json:"noticeWebhook"` // URL, or ""
	// en or pt; "" for what each owner's account asks for
	NoticeLanguage string `json:"noticeLanguage"`
	ThanksEnabled  bool   `json:"thanksEnabled"` // whether visitors get a thank-you mail
}

// settingsAnswer is what both calls answer with. Version names the state of the settings: a save must show the one that it
// was made from.
type settingsAnswer struct {
	Version  string   `json:"version"`
	Settings Settings `json:"settings"`
}

func answerOf(s Settings) (settingsAnswer, error) {
	text, err := json.Marshal(s) // of what was read, not of the stored text: PostgreSQL orders keys anew
	if err != nil {
		return settingsAnswer{}, err
	}
	sum := sha256.Sum256(text)
	return settingsAnswer{Version: hex.EncodeToString(sum[:8]), Settings: s}, nil
}

// Upper limits in characters (code points), READING §3.27.
const (
	maxName         = 60
	maxLine         = 200
	maxText         = 5000
	maxAddress      = 254
	maxURL          = 1000
	maxNoticeEmails = 10
	maxSettingsBody = 512 << 10 // bytes: all texts at their limits, escaped
)

// The refusals are written by the tables surface, hence in PostgREST's form; PT409 is its way to name a status.
var (
	errSettingsStale = apperr.New(http.StatusConflict, "PT409", "The settings were changed in the meantime")
	errSettingsLarge = apperr.New(http.StatusRequestEntityTooLarge, "54000", "The request is too large")
	errSettingsJSON  = apperr.New(http.StatusBadRequest, "PGRST102", "Empty or invalid json")
)

func checkSettingsCaller(c identity.Caller) error {
	if policy.SiteSettings(c) {
		return nil
	}
	status := http.StatusForbidden
	if c.Role == identity.Anon || c.Role == "" {
		status = http.StatusUnauthorized
	}
	return apperr.New(status, "42501", "permission denied for the site's settings")
}

// errSetting names the field in Details, such as "site.email", so that the form can show the refusal beside it.
func errSetting(field, why string) *apperr.Error {
	e := apperr.New(http.StatusBadRequest, "22023", field+" "+why)
	e.Details = field
	return e
}

var (
	handle = regexp.MustCompile(`^@?[A-Za-z0-9._-]+$`)
	phone  = regexp.MustCompile(`^\+?[0-9 ().-]+$`)
	// Where this program's own storage serves files from; the portrait is an upload.
	stored = regexp.MustCompile(`^/storage/v1/object/public/[^/]+/.`)
)

// tidy trims every field and returns a refusal for the first one that no page could show.
func (s *Settings) tidy() error {
	s.NoticeWebhook = strings.TrimSpace(s.NoticeWebhook)
	for _, check := range []func() error{s.tidyTexts, s.tidyLinks, s.tidyNotice} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := time.Parse(time.DateOnly, s.Site.PrivacySince); err != nil {
		return errSetting("site.privacySince", "is no date (YYYY-MM-DD)")
	}
	return nil
}

func (s *Settings) tidyTexts() error {
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
	p := &s.Site.Privacy
	for name, value := range map[string]*string{"information": &p.Information, "use": &p.Use, "sharing": &p.Sharing, "security": &p.Security,
		"cookies": &p.Cookies, "rights": &p.Rights, "contact": &p.Contact, "changes": &p.Changes} {
		texts = append(texts, text{"site.privacy." + name, value, maxText, false})
	}
	for _, t := range texts {
		*t.value = strings.TrimSpace(strings.ReplaceAll(*t.value, "\r\n", "\n"))
		if n := utf8.RuneCountInString(*t.value); n > t.limit {
			return errSetting(t.field, fmt.Sprintf("may have at most %d characters", t.limit))
		}
		if strings.ContainsFunc(*t.value, func(r rune) bool { return unicode.IsControl(r) && (t.line || (r != '\n' && r != '\t')) }) {
			return errSetting(t.field, "holds control characters")
		}
	}
	if s.Site.Name == "" {
		return errSetting("site.name", "must not be empty")
	}
	return nil
}

func (s *Settings) tidyLinks() error {
	for field, link := range map[string]*string{"instagram": &s.Site.Instagram, "facebook": &s.Site.Facebook, "whatsapp": &s.Site.WhatsApp} {
		*link = strings.TrimSpace(*link)
		given, isURL := *link, strings.Contains(*link, ":") || strings.Contains(*link, "/")
		whatsapp := field == "whatsapp"
		switch {
		case given == "":
		case isURL:
			u := secureURL(given)
			if u == nil {
				return errSetting("site."+field, "must be an address that begins with https://")
			}
			if host := u.Hostname(); whatsapp && host != "wa.me" && host != "whatsapp.com" && !strings.HasSuffix(host, ".whatsapp.com") {
				return errSetting("site.whatsapp", "must lead to wa.me or whatsapp.com")
			}
		case whatsapp:
			if n := digits(given); !phone.MatchString(given) || n < 7 || n > 15 { // E.164
				return errSetting("site.whatsapp", "must be a phone number with its country code")
			}
		case len(given) > maxLine || !handle.MatchString(given):
			return errSetting("site."+field, "must be a name or an address")
		}
	}
	s.Site.Email = strings.TrimSpace(s.Site.Email)
	if s.Site.Email != "" && !isEmail(s.Site.Email) {
		return errSetting("site.email", "is no e-mail address")
	}
	s.Site.Portrait = strings.TrimSpace(s.Site.Portrait)
	if u, err := url.Parse(s.Site.Portrait); s.Site.Portrait != "" && (err != nil || len(s.Site.Portrait) > maxURL || u.User != nil ||
		(u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https") || (u.Scheme == "" && u.Host != "") || !stored.MatchString(u.Path)) {
		return errSetting("site.portrait", "must be a picture that was uploaded here")
	}
	return nil
}

func (s *Settings) tidyNotice() error {
	addresses := []string{}
	for _, a := range s.NoticeEmail {
		a = strings.TrimSpace(a)
		if !isEmail(a) {
			return errSetting("noticeEmail", "holds what is no e-mail address")
		}
		if !slices.ContainsFunc(addresses, func(other string) bool { return strings.EqualFold(a, other) }) {
			addresses = append(addresses, a)
		}
	}
	if len(addresses) > maxNoticeEmails {
		return errSetting("noticeEmail", fmt.Sprintf("may have at most %d addresses", maxNoticeEmails))
	}
	s.NoticeEmail = addresses
	if s.NoticeWebhook != "" && secureURL(s.NoticeWebhook) == nil && !isOnThisMachine(s.NoticeWebhook) {
		return errSetting("noticeWebhook", "must be an address that begins with https://")
	}
	if s.NoticeLanguage != "" && !slices.Contains(i18n.Languages, i18n.Language(s.NoticeLanguage)) {
		return errSetting("noticeLanguage", "must be en or pt, or empty")
	}
	return nil
}

// secureURL gives the parts of an absolute https address, nil for anything else.
func secureURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !strings.EqualFold(u.Scheme, "https") || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(text, isBlank) {
		return nil
	}
	return u
}

// isOnThisMachine tells an http address that no network carries: what it is sent needs no encryption.
func isOnThisMachine(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.Scheme != "http" || u.User != nil || strings.ContainsFunc(text, isBlank) {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || (err == nil && ip.IsLoopback())
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isEmail takes plain addresses only: no display name, comment or quoting, and a domain that mail can leave for.
func isEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxAddress {
		return false
	}
	_, domain, _ := strings.Cut(text, "@")
	return strings.Contains(domain, ".") || domain == "localhost"
}

func digits(text string) (n int) {
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}
