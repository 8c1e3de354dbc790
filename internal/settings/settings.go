// Package settings reads, checks and saves what the owner sets at /admin/settings. That page calls rpc/get_site_settings and
// rpc/save_site_settings. The settings are rows of site_settings. A field that is not stored has the value of the seed (the texts and
// settings of a new site, in seed.json). A new setting needs a field here, and a check in validate.go.
package settings

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Settings is everything that the owner sets at /admin/settings. Only Site is public: pages contain no other field.
type Settings struct {
	Site           Site     `json:"site"`
	NoticeEmail    []string `json:"noticeEmail"`    // recipients of notices (mails about new messages); empty: the owners' own addresses
	NoticeWebhook  string   `json:"noticeWebhook"`  // URL that is called for each new message; "" for none
	NoticeLanguage string   `json:"noticeLanguage"` // en or pt; "" for the language of each owner's account
	ThanksEnabled  bool     `json:"thanksEnabled"`  // whether visitors get a thank-you mail
}

// Site is the public part of the settings. Pages contain it in the form that LoadPageSite returns.
type Site struct {
	Name         string    `json:"name"`
	Instagram    string    `json:"instagram,omitempty"` // user name or https URL
	Facebook     string    `json:"facebook,omitempty"`  // user name or https URL
	WhatsApp     string    `json:"whatsapp,omitempty"`  // phone number in E.164, or https URL of WhatsApp
	Email        string    `json:"email,omitempty"`
	Portrait     string    `json:"portrait,omitempty"` // URL of an uploaded picture
	PrivacySince string    `json:"privacySince"`       // YYYY-MM-DD, the day on which the privacy text came into force
	Privacy      Privacy   `json:"privacy,omitzero"`
	Texts        SiteTexts `json:"texts"`
	Gallery      Gallery   `json:"gallery"`
	// Commissions is missing in the JSON if all its fields are empty.
	Commissions Commissions `json:"commissions,omitzero"`
	// ResponseTime selects the text about the response time: responseWritten or responseMeasured. Pages contain the selected text in Texts,
	// and not this field (LoadPageSite).
	ResponseTime string `json:"responseTime,omitempty"`
	// EnquiryLinks is true if visitors get a private link, a URL at which they follow their message. Pages do not contain this field.
	EnquiryLinks bool `json:"enquiryLinks,omitempty"`
	// EnquiryCopies is true if visitors who get a private link also get a mail with the link and a copy of their message. Pages do not
	// contain this field.
	EnquiryCopies bool `json:"enquiryCopies,omitempty"`
	// MessageMonths is the number of months after which messages are deleted, one of messageMonths. 0 means that they are kept until
	// somebody deletes them. The number is public, because the privacy page states it.
	MessageMonths int `json:"messageMonths,omitempty"`
}

// Privacy holds the owner's texts for the eight sections of the privacy page, in Portuguese only. The page shows the
// program's own text for an empty section.
type Privacy struct {
	Information string `json:"information,omitempty"`
	Use         string `json:"use,omitempty"`
	Sharing     string `json:"sharing,omitempty"`
	Security    string `json:"security,omitempty"`
	Cookies     string `json:"cookies,omitempty"`
	Rights      string `json:"rights,omitempty"`
	Contact     string `json:"contact,omitempty"`
	Changes     string `json:"changes,omitempty"`
}

// SiteTexts holds the owner's texts in both languages. web/src/lib/site-text.ts reads them.
type SiteTexts struct {
	EN Texts `json:"en"`
	PT Texts `json:"pt"`
}

// Texts are the sentences that only the owner can write. Their JSON names are keys of the site's locales. No field has
// omitempty, because missing and empty texts differ: for a missing text pages show the seed's text, for an empty text they show
// the text of the other language, or nothing when both are empty.
type Texts struct {
	AboutTitle          string `json:"about.title"`
	AboutDescription    string `json:"about.description"`
	AboutDescription2   string `json:"about.description2"`
	PortraitAlt         string `json:"about.portraitAlt"`
	TrustedBy           string `json:"testimonials.trustedBy"`
	ContactResponseTime string `json:"contact.responseTime"`
	ContactSuccessBody  string `json:"contact.success.body"`
}

// Text returns the text that pick selects of the texts in language l, or of the other language's if that text is empty.
// web/src/lib/site-text.ts has the same rule.
func (s Site) Text(l i18n.Language, pick func(Texts) string) string {
	first, second := s.Texts.EN, s.Texts.PT
	if l == i18n.PT {
		first, second = second, first
	}
	return cmp.Or(pick(first), pick(second))
}

// Config holds the functions of other packages that the settings call. All of them are required.
type Config struct {
	// Describe returns the descriptions of uploaded files, by their URL. Unknown URLs are left out.
	Describe func(ctx context.Context, urls []string) (map[string]json.RawMessage, error)
	// CheckWebhook returns why a webhook's URL cannot be called (one of the Reason constants), or "" when it can.
	CheckWebhook func(ctx context.Context, url string) (reason string)
	// Demo returns the site of the loaded demo content, in the form of seed.json, and the ids of its works. Both are nil when
	// no demo content was loaded.
	Demo func(ctx context.Context, q db.Querier) (site []byte, works []string, err error)
}

// Service handles rpc/get_site_settings and rpc/save_site_settings.
type Service struct {
	db  *db.DB
	cfg Config
	now func() time.Time
}

// New returns a service that reads and writes the settings in d.
func New(d *db.DB, cfg Config, now func() time.Time) *Service {
	return &Service{db: d, cfg: cfg, now: now}
}

// ownerSettings is the body of the responses of Get and Save. Version is a hash of the settings: a save must name the version
// that it was made from. Seed and Guide are for the first-run guide (guide.go). The version depends on Settings alone.
type ownerSettings struct {
	Version  string      `json:"version"`
	Settings Settings    `json:"settings"`
	Seed     []string    `json:"seed"`
	Guide    string      `json:"guide"`
	Page     Site        `json:"page"`     // the public part as pages contain it
	Answers  answerTimes `json:"response"` // what can be measured of the response time
}

// loadForOwner reads all that the owner's settings page shows.
func (s *Service) loadForOwner(ctx context.Context, q db.Querier) (all ownerSettings, err error) {
	if all.Settings, err = load(ctx, q); err != nil {
		return all, err
	}
	if all.Version, err = versionOf(all.Settings); err != nil {
		return all, err
	}
	if all.Guide, err = loadGuide(ctx, q); err != nil {
		return all, err
	}
	if all.Answers, err = readAnswerTimes(ctx, q); err != nil {
		return all, err
	}
	if all.Page, err = all.Settings.Site.forPages(ctx, q); err != nil {
		return all, err
	}
	all.Seed, err = s.unchangedNames(ctx, q, all.Settings.Site)
	return all, err
}

func versionOf(s Settings) (string, error) {
	text, err := json.Marshal(s) // not the stored text: PostgreSQL reorders the keys of a JSON value
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// errConflict has the code with which PostgREST responds with the status 409.
var errConflict = apperr.New(http.StatusConflict, "PT409", "The settings were changed in the meantime")

func authorize(c identity.Caller) error {
	if policy.SiteSettings(c) {
		return nil
	}
	return httpx.DeniedError(c, "the site's settings")
}
