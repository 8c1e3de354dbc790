package functions

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// The page /enquiry/{token} shows a visitor's message (enquiry_page.go). This file makes the part of the page about the review of a
// finished commission. It also handles the form with which the client (the visitor who has ordered the work) writes the review.

//go:embed commission_review.html
var commissionReviewSource string

// reviewPart is the data of the template commission_review.html.
type reviewPart struct {
	Title   string   // heading; "" if the page shows nothing about a review
	State   string   // sentence about the state of the review; "" while the client has not written it
	Picture *picture // the stored picture of the review; nil for none

	Requested   bool // whether an owner has requested the review, and the client has not written it yet
	CanEdit     bool // whether the page has the form with which the client writes or changes the review
	CanWithdraw bool // whether the page has the button with which the client withdraws the review
	Approved    bool // whether the owner has approved the review

	Refused  bool // whether the client's form was refused; Name, Place and Text are then those of the form
	Name     string
	Place    string
	Text     string
	Problems map[string]string // the error message of each field with a problem, by its name: name, place, text or picture
	Alert    string            // error that belongs to no field; "" for none
}

// IsFirstInvalid reports whether a field is the first one with a problem. The template gives this field the focus.
func (p reviewPart) IsFirstInvalid(field string) bool {
	for _, name := range []string{"name", "place", "text", "picture"} {
		if p.Problems[name] != "" {
			return name == field
		}
	}
	return false
}

// showReview adds the client's review to the page. If no review is requested or written, it usually adds nothing. But an owner may have
// withdrawn the request while the client was writing. Then the client's form was refused, and the page shows why.
func (p *enquiryPage) showReview(ctx context.Context, s *Service) error {
	if p.Enquiry.Quarantined { // only messages in the inbox have a commission, and so a review
		return nil
	}
	r, err := readReview(ctx, s.db, p.Enquiry.Message.ID)
	if err != nil {
		return err
	}
	isEmpty := r.State == stateNotAsked || (r.State == stateWithdrawn && r.Text == "") // no review is requested or written
	if isEmpty && !p.Review.Refused {
		return nil
	}
	part := &p.Review
	part.Title = p.T("enquiry.review.title")
	part.Requested = r.State == stateAsked
	part.CanEdit = r.State == stateAsked || r.State == stateWaiting
	part.CanWithdraw = r.State != stateApproved && r.Text != ""
	part.Approved = r.State == stateApproved
	switch r.State {
	case stateAsked:
		part.Title = p.T("enquiry.review.ask")
	case stateWaiting:
		part.State = p.Language.Text("enquiry.review.state.waiting", "when", p.Language.Time(*r.WrittenAt))
	case stateApproved, stateDeclined:
		part.State = p.Language.Text("enquiry.review.state."+r.State, "when", p.Language.Time(*r.DecidedAt))
	default:
		part.State = p.T("enquiry.review.state.withdrawn")
	}
	if part.Picture, err = pictureOfReview(ctx, s.db, r); err != nil {
		return err
	}
	if part.Refused { // keep the texts of the form
		return nil
	}
	part.Name, part.Place, part.Text = r.Name, r.Place, r.Text
	if r.Name == "" {
		part.Name = p.Enquiry.Message.Name
	}
	return nil
}

// handleReview stores what the client has written in the form of a review. If it refuses the form, the page shows the problems beside the
// fields, and keeps the client's texts. formErr is the error of a form that could not be read completely.
func (s *Service) handleReview(w http.ResponseWriter, r *http.Request, p enquiryPage, form url.Values, pictures []unsavedPicture, formErr error) error {
	get := func(name string) string { return strings.ToValidUTF8(form.Get(name), "\uFFFD") }
	t := reviewText{get("name"), get("place"), get("text")}.normalized()
	p.Text = "" // the text is that of the other form
	p.Review = reviewPart{Name: t.Name, Place: t.Place, Text: t.Text, Problems: map[string]string{}}
	for _, problem := range t.problems(p.Language) {
		p.Review.Problems[problem.Field] = problem.Text
	}
	refusal := errInvalid("The review is not complete")
	switch e := apperr.From(formErr); {
	case formErr == nil && len(pictures) > 1, formErr != nil && e.Code == errTooManyPictures.Code:
		p.Review.Problems["picture"] = p.T("enquiry.review.error.pictures")
	case formErr != nil && pictureErrorTexts[e.Code] != "":
		p.Review.Problems["picture"], refusal = p.T(pictureErrorTexts[e.Code]), e
	case formErr != nil:
		return s.showReviewError(w, r, p, e)
	}
	if len(p.Review.Problems) > 0 {
		return s.showReviewError(w, r, p, refusal)
	}
	if err := s.cfg.CheckSpace(); err != nil {
		return s.showReviewError(w, r, p, apperr.From(err))
	}
	return s.afterReview(w, r, p, s.writeReview(r.Context(), p.Enquiry.Message, p.Language, t, pictures, form.Get("remove") == "yes"))
}

// afterReview responds after the review was changed, or with the error.
func (s *Service) afterReview(w http.ResponseWriter, r *http.Request, p enquiryPage, err error) error {
	if errors.Is(err, errNoInboxMessage) {
		return s.writeNoEnquiry(w, r, p)
	}
	refusal, ok := errors.AsType[*apperr.Error](err)
	switch {
	case err == nil:
		http.Redirect(w, r, p.Path+"#review", http.StatusSeeOther)
		return nil
	case ok && (refusal.Code == errReviewNotOpen.Code || refusal.Code == errPicturesFull.Code || refusal.Code == errFullConversation.Code):
		return s.showReviewError(w, r, p, refusal)
	}
	return err
}

// showReviewError shows the conversation with an error about the review.
func (s *Service) showReviewError(w http.ResponseWriter, r *http.Request, p enquiryPage, e *apperr.Error) error {
	httpx.NoteError(r.Context(), e)
	p.Review.Refused = true
	p.Review.Alert = alertText(p.Language, e)
	if len(p.Review.Problems) > 0 {
		p.Review.Alert = p.T("enquiry.review.error.fields")
	}
	return s.showEnquiry(w, r, p, e.Status)
}
