package functions

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/activity"
	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file serves /enquiry/{token}, the page of a private link, and handles the forms on it. The page shows a visitor's message (called an
// enquiry here), the replies to it, the commission (a work that the visitor orders) and the visitor's review of that work.

// Limits of requests for private links in a minute. The limits by IP address also slow down the guessing of tokens.
const (
	enquiryRequestsPerMinute = 120 // by one IP address
	enquiryPostsPerMinute    = 30  // by one IP address
	enquiryPostsPerLink      = 10  // for one private link, by all IP addresses together
	enquiryPicturesPerMinute = 600 // by one IP address: a conversation can have a hundred pictures
)

// EnquiryWork is the artwork that a message asks about, as the page of the private link shows it.
type EnquiryWork struct {
	Title   string
	URL     string // URL of the page that shows the work; "" for none
	Picture string // URL of a small rendition (resized copy) of its picture; "" for none
}

//go:embed enquiry.html
var enquirySource string

// enquiryTemplate is the template of the page. It includes the templates of the commission and of the client's review.
var enquiryTemplate = template.Must(template.New("enquiry").Parse(enquirySource + commissionSource + commissionReviewSource))

// enquiryPage is the data of the template enquiry.html.
type enquiryPage struct {
	Language   i18n.Language // language of the page
	Path       string        // path and query of the page
	OtherPath  string        // path and query of the page in the other language
	Enquiry    *enquiry      // nil for the page of a link that does not exist
	State      string        // sentence about how far the conversation is, such as that an owner has read the message
	Place      string        // sentence about the place on the waiting list; "" for none
	Next       string        // what the visitor can do or expect next
	NextAnchor string        // link to the form for the step in Next, such as "#reply"; "" for none
	Commission commissionPart
	Review     reviewPart
	Work       *EnquiryWork
	Replies    []reply
	Text       string // the text of the reply in the form that the visitor has sent
	ReplyID    string // idempotency key in the form, so that a reply that is sent twice is stored once (replyID)
	Alert      string // error shown above the form; "" for none
	Max        int    // maximum length of a reply in characters

	TextInvalid     bool // whether Alert is about Text
	PicturesInvalid bool // whether Alert is about the pictures of the reply
	ConfirmErase    bool // whether the page asks to confirm the erasure of the enquiry
	Erased          bool // whether the page says that the enquiry was erased
}

// T returns a text of package i18n in the page's language, for the template.
func (p enquiryPage) T(key string) string { return p.Language.Text(key) }

// Lang returns the language of the visitor's message if it differs from that of the page, for the lang attribute. Replies of visitors may
// be in any language.
func (p enquiryPage) Lang() string {
	if l := p.Enquiry.Message.Language; l != p.Language {
		return string(l)
	}
	return ""
}

// setEnquiryHeaders sets headers that keep a private page out of search engines and caches, and its URL out of the Referer header.
func setEnquiryHeaders(h http.Header) {
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// Enquiry handles /enquiry/{token}, the private link to a message: GET shows the message, its state, and the replies; POST adds a reply
// or erases everything. It needs no scripts. All links that do not exist have the same response, whether they are unknown, expired or
// malformed.
func (s *Service) Enquiry(w http.ResponseWriter, r *http.Request) error {
	setEnquiryHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		return errMethodNotAllowed
	}
	p := enquiryPage{Language: requestedLanguage(r, ""), Max: maxMessage}
	token := strings.TrimPrefix(r.URL.Path, EnquiryPath)
	if token, rest, ok := strings.Cut(token, "/picture/"); ok {
		return s.enquiryPicture(w, r, token, rest)
	}
	hash := hashText(token)
	if err := s.limitEnquiries(w, r, hash); errors.Is(err, errTooManyRequests) {
		return s.writeEnquiryRefusal(w, r, p, apperr.From(err))
	} else if err != nil {
		return err
	}
	var form url.Values
	var formErr error
	if r.Method == http.MethodPost && !mayHavePictures(r) {
		form, formErr = readForm(w, r)
	}
	e, err := findEnquiry(r.Context(), s.db, hash, s.now())
	if errors.Is(err, db.ErrNoRows) {
		return s.writeNoEnquiry(w, r, p)
	}
	if err != nil {
		return err
	}
	p.setLanguage(r, e.Message.Language)
	p.Enquiry = &e
	if r.Method != http.MethodPost {
		return s.showEnquiry(w, r, p, http.StatusOK)
	}
	var pictures []unsavedPicture
	if mayHavePictures(r) {
		r = s.withPictureTimeout(r)
		form, pictures, formErr = s.readEnquiryForm(w, r, e)
		defer discardPictures(r.Context(), pictures)
	}
	p.Text = normalizeText(strings.ToValidUTF8(form.Get("text"), "\uFFFD"))
	if form.Get("action") == "review" && !e.Quarantined {
		return s.handleReview(w, r, p, form, pictures, formErr)
	}
	if formErr != nil {
		return s.showEnquiryError(w, r, p, apperr.From(formErr))
	}
	switch form.Get("action") {
	case "remove-review":
		return s.afterReview(w, r, p, s.withdrawReview(r.Context(), e.Message))
	case "erase":
		return s.handleErase(w, r, p, form.Get("confirm") == "yes")
	case "answer":
		return s.handleAnswer(w, r, p, form)
	}
	return s.handleReply(w, r, p, form.Get("id"), pictures)
}

// limitEnquiries counts a request against the limits. It counts posts for links that do not exist too, so that these need the same work.
func (s *Service) limitEnquiries(w http.ResponseWriter, r *http.Request, hash string) error {
	subject := httpx.LimitSubject(r.Context())
	if err := s.enforceLimit(w, r, "enquiry", subject, enquiryRequestsPerMinute, errTooManyRequests); err != nil || r.Method != http.MethodPost {
		return err
	}
	if err := s.enforceLimit(w, r, "enquiry-post", subject, enquiryPostsPerMinute, errTooManyRequests); err != nil {
		return err
	}
	return s.enforceLimit(w, r, "enquiry-link", hash, enquiryPostsPerLink, errTooManyRequests)
}

// setLanguage sets the language of the page: the language that the URL names, or else that of the message.
func (p *enquiryPage) setLanguage(r *http.Request, message i18n.Language) {
	p.Language = message
	p.Path = r.URL.Path
	switch lang := i18n.Language(r.URL.Query().Get("lang")); lang {
	case i18n.EN, i18n.PT:
		p.Language = lang
		p.Path += "?lang=" + string(lang)
	}
	p.OtherPath = r.URL.Path + "?lang=" + string(p.Language.Other())
}

// handleReply stores a visitor's reply and redirects to it.
func (s *Service) handleReply(w http.ResponseWriter, r *http.Request, p enquiryPage, clientID string, pictures []unsavedPicture) error {
	key := problemOfReply(p.Text, pictures)
	if p.Enquiry.Quarantined { // its page has no form
		key = "contact.unreadable"
	}
	if key != "" {
		p.TextInvalid, p.ReplyID = true, clientID
		return s.showEnquiryError(w, r, p, errInvalid(p.T(key)))
	}
	if err := s.cfg.CheckSpace(); err != nil {
		return s.showEnquiryError(w, r, p, apperr.From(err))
	}
	err := s.addVisitorReply(r.Context(), p.Enquiry.Message, p.Text, clientID, pictures)
	switch {
	case errors.Is(err, errNoInboxMessage):
		return s.writeNoEnquiry(w, r, p)
	case errors.Is(err, errFullConversation):
		return s.showEnquiryError(w, r, p, errInvalid(p.T("enquiry.full")))
	case errors.Is(err, errPicturesFull):
		return s.showEnquiryError(w, r, p, errPicturesFull)
	case err != nil:
		return err
	}
	http.Redirect(w, r, p.Path+"#last", http.StatusSeeOther)
	return nil
}

// handleErase asks whether the visitor wants to erase the enquiry, or erases it if confirmed is true: the message, the replies, and
// everything about them.
func (s *Service) handleErase(w http.ResponseWriter, r *http.Request, p enquiryPage, confirmed bool) error {
	if !confirmed {
		p.ConfirmErase = true
		if err := p.showReview(r.Context(), s); err != nil {
			return err
		}
		return s.writeEnquiry(w, r, p, http.StatusOK, p.T("enquiry.erase.title"))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(db.WithActor(r.Context(), activity.VisitorActor)), s.storeTimeout)
	defer cancel()
	id := p.Enquiry.Message.ID
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		if !p.Enquiry.Quarantined {
			return s.deleteMessages(ctx, tx, []string{id})
		}
		if _, err := removeQuarantined(ctx, tx, id); errors.Is(err, db.ErrNoRows) {
			// The message was erased already, its time in quarantine has ended, or an owner has restored it since findEnquiry read it.
			return s.deleteMessages(ctx, tx, []string{id})
		} else if err != nil {
			return err
		}
		return errors.Join(activity.RecordDeletion(ctx, tx, activity.VisitorActor, s.now()), s.CleanUpMessages(ctx, tx, id))
	})
	if err != nil {
		return err
	}
	p.Erased = true
	return s.writeEnquiry(w, r, p, http.StatusOK, p.T("enquiry.erased.title"))
}

// showEnquiry writes the page with the conversation.
func (s *Service) showEnquiry(w http.ResponseWriter, r *http.Request, p enquiryPage, status int) error {
	var err error
	m := p.Enquiry.Message
	if p.Replies, err = listReplies(r.Context(), s.db, m.ID); err != nil {
		return err
	}
	if err := addPictures(r.Context(), s.db, m.ID, p.Replies); err != nil {
		return err
	}
	site, err := settings.LoadSite(r.Context(), s.db)
	if err != nil {
		return err
	}
	if m.ArtworkID != nil {
		if p.Work, err = s.cfg.FindWork(r.Context(), *m.ArtworkID, p.Language); err != nil {
			return err
		}
	}
	stage, err := p.showCommission(r.Context(), s, site)
	if err := errors.Join(err, p.showReview(r.Context(), s)); err != nil {
		return err
	}
	p.State = p.stateText()
	offer := p.Commission.Offer // only the form of an open offer has the field for the name, beside which the error is shown
	p.Commission.NameInvalid = p.Commission.NameInvalid && offer != nil && offer.State == ""
	p.showNext(stage, s.cfg.MailServer)
	if p.ReplyID == "" {
		p.ReplyID = uuid.NewString()
	}
	title := p.T("enquiry.title")
	if alert := cmp.Or(p.Alert, p.Commission.Alert, p.Review.Alert); alert != "" { // screen readers read the title first
		title = alert
	}
	return s.writeEnquiry(w, r, p, status, title)
}

// stateText returns the text about the state of the enquiry. The status is that of the visitor's last text: a reply makes the message new
// again. An owner who has moved the commission since then, as on the board, has read it.
func (p enquiryPage) stateText() string {
	last := p.Enquiry.Message.CreatedAt
	replied := p.Enquiry.Status == "replied"
	answered := false // the answer to the visitor's last text is in the conversation; otherwise it was mailed
	for _, r := range p.Replies {
		switch {
		case r.Author == authorVisitor:
			last, answered = r.CreatedAt, false
		case replied && r.Kind != kindProgress && r.Kind != kindReviewRequest:
			last, answered = r.CreatedAt, true
		}
	}
	say := func(key string, at time.Time) string { return p.Language.Text(key, "when", p.Language.Time(at)) }
	switch {
	case replied && answered:
		return say("enquiry.state.answered", last)
	// AnsweredAt is the time of the first answer in a conversation. The times of later answers by mail are not stored.
	case replied && p.Enquiry.AnsweredAt != nil && p.Enquiry.AnsweredAt.After(last):
		return say("enquiry.state.answeredByMail", *p.Enquiry.AnsweredAt)
	case replied:
		return p.T("enquiry.state.answeredByMailUndated")
	case p.Enquiry.Status != "new" && p.Enquiry.ReadAt != nil:
		return say("enquiry.state.read", *p.Enquiry.ReadAt)
	case p.Commission.StageAt.After(last):
		return say("enquiry.state.read", p.Commission.StageAt)
	}
	return say("enquiry.state.received", last)
}

// showNext adds what the visitor can do or expect next. mailed is whether the owner's texts are also mailed.
func (p *enquiryPage) showNext(stage string, mailed bool) {
	key, question := "answer", false
	if n := len(p.Replies); n > 0 {
		last := p.Replies[n-1]
		question = last.Author == authorVisitor && last.Kind == kindReply
	}
	switch offer := p.Commission.Offer; {
	case offer != nil && offer.State == "":
		key, p.NextAnchor = "offer", "#offer"
	case p.Review.Requested:
		key, p.NextAnchor = "review", "#review"
	case stage == stageAccepted || stage == stageInProgress:
		key = "news"
	case p.Enquiry.Status == "replied" || !question && (stage == stageFinished || stage == stageDeclined):
		key = "write"
	}
	if mailed && (key == "answer" || key == "news") {
		key += "Mailed"
	}
	p.Next = p.T("enquiry.next." + key)
}

// showEnquiryError shows the conversation again, with the visitor's text and the error.
func (s *Service) showEnquiryError(w http.ResponseWriter, r *http.Request, p enquiryPage, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	p.Alert, p.PicturesInvalid = alertText(p.Language, e), pictureErrorTexts[e.Code] != ""
	return s.showEnquiry(w, r, p, e.Status)
}

// writeNoEnquiry writes the page of a link that does not exist.
func (s *Service) writeNoEnquiry(w http.ResponseWriter, r *http.Request, p enquiryPage) error {
	return s.writeEnquiry(w, r, enquiryPage{Language: p.Language}, http.StatusNotFound, p.T("enquiry.none.title"))
}

// writeEnquiryRefusal writes a page without the enquiry that explains a refused request.
func (s *Service) writeEnquiryRefusal(w http.ResponseWriter, r *http.Request, p enquiryPage, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	p.Alert = p.T("enquiry.tooMany")
	return s.writeEnquiry(w, r, p, e.Status, p.Alert)
}

func (s *Service) writeEnquiry(w http.ResponseWriter, r *http.Request, p enquiryPage, status int, title string) error {
	var main bytes.Buffer
	if err := enquiryTemplate.Execute(&main, p); err != nil {
		return err
	}
	return s.cfg.WritePage(w, r, Page{status, p.Language, title, template.HTML(main.String())}) // html/template has escaped it
}
