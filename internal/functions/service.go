// Package functions serves /functions/v1, where clients call functions of the server by name, as in Supabase.
//   - Visitors send messages with the contact form.
//   - Owners (administrators) reply to messages, manage commissions (works that visitors order), see the quarantine (messages that look
//     like spam), and export and erase data.
//
// The package also serves the pages of private links (/enquiry/{token}), at which visitors follow their messages, and the calendars of
// commissions. It sends notices (mails and webhook calls about messages). A new function needs an entry in catalog, and in Function of
// package policy.
package functions

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/policy"
	"atelie/internal/webhook"
)

// Config contains the settings of the functions, and the functions of other packages that they call.
type Config struct {
	// Messages of visitors.
	MessagesPerHour int                                                  // limit for all visitors together; more go into quarantine. 0: no limit
	CheckSpace      func() error                                         // returns apperr.NoSpace while the disk is full
	WritePage       func(http.ResponseWriter, *http.Request, Page) error // writes a page as the response

	// These functions record changed rows for live changes (the events by which open admin pages update themselves).
	RecordInserted func(ctx context.Context, tx *db.Tx, id string) error                // a new message
	RecordUpdated  func(ctx context.Context, tx *db.Tx, id string) error                // a changed message
	RecordDeleted  func(ctx context.Context, tx *db.Tx, ids []string) error             // deleted messages; also calls CleanUpMessages for them
	RecordReply    func(ctx context.Context, tx *db.Tx, id string, inserted bool) error // a reply that was inserted or updated
	// RecordCommission records a row of commissions, commission_offers or commission_reviews that was inserted or updated.
	RecordCommission func(ctx context.Context, tx *db.Tx, table, key string, inserted bool) error

	// Private links (enquiry_link.go).
	SiteURL         string                                                                      // public URL of the site, with which the links begin
	LinkKey         []byte                                                                      // key from which the tokens are derived
	PreviousLinkKey []byte                                                                      // key for links that are older than the current secret; nil if there is none
	FindWork        func(ctx context.Context, id string, l i18n.Language) (*EnquiryWork, error) // a published work; nil if there is none with this id

	// Pictures in conversations (conversation_pictures.go).
	ReceivePicture func(ctx context.Context, name string, body io.Reader) (ReceivedPicture, error) // stores a picture without its metadata
	ServePicture   func(w http.ResponseWriter, r *http.Request, name string, small bool) error     // responds with a picture

	// Reviews about finished commissions (commission_review.go).
	CopyForReview func(ctx context.Context, name string) (ReviewPicture, error) // copies a picture of a conversation to the pictures of reviews
	RemovePicture func(ctx context.Context, tx *db.Tx, name string) error       // removes the object of the picture of a client's review
	RecordReview  func(ctx context.Context, tx *db.Tx, id string) error         // records the new row of reviews with this id for live changes

	// Notices and mails.
	Queue         *jobs.Queue                                                 // runs the jobs of this package
	Owners        func(ctx context.Context) ([]Recipient, error)              // all owners who have an e-mail address
	OwnAddress    func(ctx context.Context, userID string) (Recipient, error) // the e-mail address of an owner; Email is "" if there is none
	MailServer    bool                                                        // whether there is a mail server; without one, mails are written to files
	SendNotice    func(ctx context.Context, m NoticeMail) error               // sends a notice by mail
	SendReply     func(ctx context.Context, m ReplyMail) error                // sends an owner's reply by mail
	SendCopy      func(ctx context.Context, m ReplyMail) error                // sends a visitor a copy of the message
	SendTest      func(ctx context.Context, to Recipient) error               // sends a test mail immediately, without the queue
	DeleteMails   func(ctx context.Context, messageIDs []string) error        // deletes the files of mails about these messages
	DeleteMailsOf func(ctx context.Context, address string) error             // deletes the files of mails to or about an e-mail address

	// Data about e-mail addresses.
	AddressPlaces func() []AddressPlace // every place with data about e-mail addresses, in the order of erasing
	// AddressHasRole reports whether an account with a role has the address. Roles cannot change until tx ends.
	AddressHasRole func(ctx context.Context, tx *db.Tx, address string) (bool, error)

	// Webhooks.
	WebhookKey           []byte // key that signs webhook calls; at least 16 bytes
	PreviousWebhookKey   []byte // key of a second signature, for receivers that still check with the previous key; nil for no second signature
	AllowPrivateWebhooks bool   // webhooks may use http and addresses in private networks
}

// Service handles the calls of functions.
type Service struct {
	db        *db.DB
	cfg       Config
	now       func() time.Time
	webhooks  *http.Client
	lastScrub time.Time // start of the most recent scrub that succeeded

	storeTimeout time.Duration
}

// New returns the service, and registers the handlers of its jobs with the queue.
func New(d *db.DB, cfg Config, now func() time.Time) *Service {
	s := &Service{db: d, cfg: cfg, now: now, webhooks: webhook.NewClient(cfg.AllowPrivateWebhooks), storeTimeout: defaultStoreTimeout}
	cfg.Queue.HandlePool(noticeWorkers, jobs.DefaultRunTime, map[string]jobs.Handler{JobPlan: s.planNotices, JobNotice: s.sendNotice, JobDigest: s.sendDigest, JobReply: s.sendReply})
	// One worker, because one scrub serves all jobs that waited for it (scrub).
	cfg.Queue.HandlePool(1, cleanUpTimeout, map[string]jobs.Handler{JobCleanUp: s.cleanUp})
	cfg.Queue.HandlePool(copyWorkers, jobs.DefaultRunTime, map[string]jobs.Handler{JobCopy: s.sendNotice})
	return s
}

// function is one server function. Package policy decides who may call it. showForm and submitForm serve browsers without
// scripts. They are nil if the function has no HTML form.
type function struct {
	perMinute int // limit of calls by visitors from one IP address in a minute
	// checksSpace is whether run calls Config.CheckSpace itself for the actions that store data, so that the others work on a full disk. If it
	// is false, each POST fails while the disk is full.
	checksSpace bool
	run         func(*Service, http.ResponseWriter, *http.Request) error        // handles POST
	showForm    func(*Service, http.ResponseWriter, *http.Request) error        // handles GET: sends an empty form
	submitForm  func(*Service, http.ResponseWriter, *http.Request, error) error // handles POST of the form; if the error is not nil, it only shows the form again with the error
}

// catalog contains the functions by name.
var catalog = map[string]function{
	"submit-contact":     {perMinute: 30, run: (*Service).submitContact, showForm: (*Service).showContactForm, submitForm: (*Service).submitContactForm},
	"contact-quarantine": {checksSpace: true, run: (*Service).contactQuarantine},
	"contact-notices":    {checksSpace: true, run: (*Service).contactNotices},
	"contact-reply":      {checksSpace: true, run: (*Service).contactReply},
	"commission":         {checksSpace: true, run: (*Service).commission},
	"commission-board":   {checksSpace: true, run: (*Service).commissionBoard},
	"calendar-feed":      {checksSpace: true, run: (*Service).calendarFeed},
	"commission-review":  {checksSpace: true, run: (*Service).commissionReview},
	"contact-export":     {checksSpace: true, run: (*Service).contactExport},
	"address-data":       {checksSpace: true, run: (*Service).addressData},
	"mail-test":          {checksSpace: true, run: (*Service).mailTest},
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 64 << 10

// allowedMethods is the value of the Allow header.
const allowedMethods = "GET, HEAD, POST, OPTIONS"

// AllowAnonymous reports whether a request is accepted without a key, as if it had the anon key. A browser without scripts
// cannot send a key with its form. This gives nobody more rights: the anon key is public, and cookies are not read.
func AllowAnonymous(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.Header.Get("apikey") != "" || r.URL.Query().Has("apikey") {
		return false
	}
	switch r.Method {
	case http.MethodOptions:
		return true
	case http.MethodGet, http.MethodHead:
		return wantsPage(r)
	case http.MethodPost:
		return wantsPage(r) && isFormType(r.Header.Get("Content-Type"))
	}
	return false
}

// Invoke handles /functions/v1/{name}: POST calls the function, and a browser may GET its form.
func (s *Service) Invoke(w http.ResponseWriter, r *http.Request) error {
	name, caller := r.PathValue("name"), identity.Of(r.Context())
	f, ok := catalog[name]
	if !ok {
		return errNoFunction
	}
	if !policy.Function(caller, name) {
		return errForbidden
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allowedMethods)
		w.WriteHeader(http.StatusNoContent)
		return nil
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && f.showForm != nil && wantsPage(r):
		return f.showForm(s, w, r)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", allowedMethods)
		return errMethodNotAllowed
	}
	var refused error
	if !f.checksSpace {
		refused = s.cfg.CheckSpace()
	}
	if refused == nil && !caller.Admin && caller.Role != identity.Service {
		refused = s.enforceLimit(w, r, name, httpx.LimitSubject(r.Context()), f.perMinute, errTooManyMessages)
	}
	if f.submitForm != nil && wantsPage(r) && isFormType(r.Header.Get("Content-Type")) {
		return f.submitForm(s, w, r, refused)
	}
	if refused != nil {
		return refused
	}
	return f.run(s, w, r)
}

// callWindow is the time in which function.perMinute limits calls.
const callWindow = time.Minute

// enforceLimit counts a call under name. It returns refusal when the subject (an IP address or an account) has made more than perMinute
// calls under this name in the current minute, and sets Retry-After to the seconds until the next minute (RFC 9110 §10.2.3).
func (s *Service) enforceLimit(w http.ResponseWriter, r *http.Request, name, subject string, perMinute int, refusal *apperr.Error) error {
	now := s.now()
	hits, err := s.db.Hit(r.Context(), name, subject, callWindow, now)
	if err != nil {
		return err
	}
	if hits > perMinute {
		w.Header().Set("Retry-After", strconv.FormatInt(60-now.Unix()%60, 10))
		return refusal.Becausef("call %d of this minute", hits)
	}
	return nil
}
