package functions

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/settings"
)

// The page /enquiry/{token} shows a visitor's message (enquiry_page.go). This file makes the part of the page about the commission (a work
// that the visitor orders). It also handles the form with which the visitor accepts or declines an offer.

//go:embed commission.html
var commissionSource string

// commissionPart is the data of the template commission.html.
type commissionPart struct {
	Stage    string     // sentence about the stage of the commission; "" for stageEnquiry (nothing is decided)
	StageAt  time.Time  // when the stage was set; the zero time for stageEnquiry
	Promised string     // sentence about the day for which the work is promised; "" if there is no such day
	Offer    *offerPart // nil if there is no offer

	Name        string // the name that the visitor has entered in a refused answer; "" for none
	Alert       string // why the answer was refused; "" if no answer was refused
	NameInvalid bool   // whether Alert is about Name
}

// offerPart is the newest offer, as the page shows it.
type offerPart struct {
	ID, Text, Price, Deposit, Promised, Expires string
	Terms, TermsLang                            string // TermsLang is for the lang attribute; "" if the terms are in the page's language
	State                                       string // sentence about the state of the offer; "" while it can be answered
}

// showCommission adds the commission, its newest offer and its place (number) on the waiting list to the page. It returns the stage of the
// commission.
func (p *enquiryPage) showCommission(ctx context.Context, s *Service, site settings.Site) (stage string, err error) {
	if p.Enquiry.Quarantined { // only messages in the inbox have a commission
		return stageEnquiry, nil
	}
	id := p.Enquiry.Message.ID
	if site.Commissions.State == settings.CommissionsWaitlist {
		place, err := placeOnWaitlist(ctx, s.db, id)
		if err != nil {
			return "", err
		}
		if place > 0 {
			p.Place = p.Language.Text("enquiry.place", "place", p.Language.Ordinal(place))
		}
	}
	c, err := readCommission(ctx, s.db, id)
	if err != nil {
		return "", err
	}
	if c.Stage != stageEnquiry {
		p.Commission.Stage = p.Language.Text("enquiry.stage."+c.Stage, "when", p.Language.Time(c.StageAt))
		p.Commission.StageAt = c.StageAt
	}
	if c.PromisedOn != "" && (c.Stage == stageAccepted || c.Stage == stageInProgress) {
		p.Commission.Promised = p.Language.Text("enquiry.promised", "day", p.Language.Date(c.PromisedOn))
	}
	offers, err := listOffers(ctx, s.db, id)
	if err != nil || len(offers) == 0 {
		return c.Stage, err
	}
	o := offers[len(offers)-1]
	part := &offerPart{ID: o.ID, Text: o.Text, Price: o.Price, Deposit: o.Deposit, Promised: p.Language.Date(o.PromisedOn), Expires: p.Language.Date(o.ExpiresOn), Terms: o.Terms}
	if o.TermsLanguage != p.Language {
		part.TermsLang = string(o.TermsLanguage)
	}
	switch state := o.state(s.now()); state {
	case offerOpen:
	case offerAccepted, offerDeclined:
		key := "enquiry.offer.state." + state
		if o.AnsweredName == "" {
			key += "Unnamed"
		}
		part.State = p.Language.Text(key, "when", p.Language.Time(*o.AnsweredAt), "name", removeBidiControls(o.AnsweredName))
		if state == offerAccepted && c.Stage == stageAccepted {
			part.State += " " + p.T("enquiry.offer.told")
		}
	default:
		part.State = p.T("enquiry.offer.state." + state)
	}
	p.Commission.Offer = part
	return c.Stage, nil
}

// handleAnswer stores a visitor's answer to an offer and redirects to the page. If the answer cannot be stored, the page shows the reason
// and keeps the entered name.
func (s *Service) handleAnswer(w http.ResponseWriter, r *http.Request, p enquiryPage, form url.Values) error {
	answer, name := form.Get("answer"), trimSpace(strings.ToValidUTF8(form.Get("name"), "\uFFFD"))
	p.Commission.Name = name
	problem := ""
	switch {
	case p.Enquiry.Quarantined || answer != offerAccepted && answer != offerDeclined: // no form sends this
		problem = "contact.unreadable"
	case name == "" && answer == offerAccepted:
		problem, p.Commission.NameInvalid = "enquiry.offer.error.name", true
	case !isLine(name, maxAnswerName):
		problem, p.Commission.NameInvalid = "enquiry.offer.error.nameLong", true
	}
	if problem != "" {
		return s.showAnswerError(w, r, p, errInvalid(p.T(problem)))
	}
	if err := s.cfg.CheckSpace(); err != nil {
		return s.showAnswerError(w, r, p, apperr.From(err))
	}
	err := s.answerOffer(r.Context(), p.Enquiry.Message, p.Language, form.Get("offer"), answer, name)
	refusal, ok := errors.AsType[*apperr.Error](err)
	switch {
	case err == nil:
		http.Redirect(w, r, p.Path+"#offer", http.StatusSeeOther)
		return nil
	case errors.Is(err, errNoInboxMessage):
		return s.writeNoEnquiry(w, r, p)
	case ok && answerErrorTexts[refusal.Code] != "":
		return s.showAnswerError(w, r, p, refusal)
	}
	return err
}

// showAnswerError shows the conversation with an error about the answer to an offer.
func (s *Service) showAnswerError(w http.ResponseWriter, r *http.Request, p enquiryPage, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	p.Commission.Alert = alertText(p.Language, e)
	return s.showEnquiry(w, r, p, e.Status)
}
