package functions

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
)

// This file handles POST /functions/v1/commission-review. With it, owners (administrators) request a review of a finished commission from
// the client (the visitor who has ordered the work), and approve or decline the review that the client has written. The approval inserts
// the review into the reviews table, which visitors see. The file also stores what the client writes (commission_review_page.go has the
// form).

// Limits of a review in characters, the same as those of the reviews table.
const (
	maxReviewLine = 200 // of the client's name, and of the place that the client enters, such as a city
	maxReviewText = 5000
)

// Limits of the requests for a review in one conversation.
const (
	maxReviewRequests     = 3              // maximum number of requests
	reviewRequestInterval = 24 * time.Hour // minimum time between two requests
)

// ReviewPicture is a copy of a picture of a conversation. Its file is stored in the bucket review-images. Its database rows are not stored
// yet.
type ReviewPicture struct {
	ReceivedPicture

	URL string // public URL; it can be requested after Save
}

// reviewRequest is the body of a call of the commission-review function. The actions are
//   - state: changes nothing
//   - ask: requests a review
//   - withdraw: withdraws the request
//   - approve: publishes the review
//   - decline: does not publish it
type reviewRequest struct {
	messageAction // the action and the id of the message

	// For approve: texts that are published in place of the client's own texts. null keeps the client's text.
	Name  *string `json:"name"`
	Place *string `json:"place"`
	Text  *string `json:"text"`
	// For approve: whether visitors see the review immediately. null means true.
	Active *bool `json:"active"`
	// For approve and decline: written_at of the review as the owner has seen it. The call fails if the client has changed the review since
	// then. null skips this check.
	WrittenAt *time.Time `json:"written_at"`

	picture *picture       // for approve: the client's picture; nil for none
	copied  *ReviewPicture // for approve: the copy of picture; nil for none
}

// reviewState is the response of commission-review.
type reviewState struct {
	Success    bool       `json:"success"`
	State      string     `json:"state"`    // one of the state constants of store_commission_reviews.go
	CanAsk     bool       `json:"can_ask"`  // whether a review can be requested now
	AskedAt    *time.Time `json:"asked_at"` // null if no review was ever requested
	Name       string     `json:"name"`     // Name, Place and Text are "" while there is no review by the client, and after its approval
	Place      string     `json:"place"`
	Text       string     `json:"text"`
	Picture    *picture   `json:"picture"` // null for none
	ReplyID    *string    `json:"reply_id"`
	WrittenAt  *time.Time `json:"written_at"`
	DecidedAt  *time.Time `json:"decided_at"`
	ReviewID   *string    `json:"review_id"`    // id of the row of reviews; null before the approval
	AskAgainAt *time.Time `json:"ask_again_at"` // when the next request is possible; null if CanAsk is true, or if none is possible in this state
}

// commissionReview handles the commission-review function for owners: it requests a review of a finished commission from the client, and
// approves or declines the review that the client has written. All actions respond with reviewState.
func (s *Service) commissionReview(w http.ResponseWriter, r *http.Request) error {
	var req reviewRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	if err := req.parseMessageID(); err != nil {
		return err
	}
	actions := map[string]func(context.Context, *db.Tx, reviewRequest) error{
		"": nil, "state": nil, "ask": s.askForReview, "withdraw": s.withdrawRequest, "approve": s.approveReview, "decline": s.declineReview,
	}
	act, ok := actions[req.Action]
	if !ok {
		return errInvalid("The action must be state, ask, withdraw, approve or decline")
	}
	if req.Action == "approve" {
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
		if err := s.copyReviewPicture(r.Context(), &req); err != nil {
			return err
		}
		if req.copied != nil {
			defer req.copied.Discard(context.WithoutCancel(r.Context()))
		}
	}
	return respondWithState(s, w, r, req.MessageID, req, act, s.reviewStateOf)
}

func (s *Service) reviewStateOf(ctx context.Context, tx *db.Tx, messageID string) (reviewState, error) {
	r, err := readReview(ctx, tx, messageID)
	if err != nil {
		return reviewState{}, err
	}
	state := reviewState{
		Success: true, State: r.State, Name: r.Name, Place: r.Place, Text: r.Text, ReplyID: r.ReplyID,
		WrittenAt: inUTC(r.WrittenAt), DecidedAt: inUTC(r.DecidedAt), ReviewID: r.ReviewID,
	}
	if r.State != stateNotAsked {
		state.AskedAt = inUTC(&r.AskedAt)
	}
	if state.Picture, err = pictureOfReview(ctx, tx, r); err != nil {
		return state, err
	}
	c, err := readCommission(ctx, tx, messageID)
	if err != nil {
		return state, err
	}
	n, last, err := readRequests(ctx, tx, messageID)
	if err != nil || c.Stage != stageFinished || r.State == stateWaiting || r.State == stateApproved || n >= maxReviewRequests {
		return state, err
	}
	if last != nil && s.now().Before(last.Add(reviewRequestInterval)) {
		again := last.Add(reviewRequestInterval)
		state.AskAgainAt = inUTC(&again)
		return state, nil
	}
	state.CanAsk = true
	return state, nil
}

// pictureOfReview returns the picture of a review that is not approved, or nil.
func pictureOfReview(ctx context.Context, q db.Querier, r commissionReview) (*picture, error) {
	if r.ReplyID == nil || r.State == stateApproved {
		return nil, nil
	}
	all, err := listPictures(ctx, q, r.MessageID)
	if i := slices.IndexFunc(all, func(p picture) bool { return p.ReplyID == *r.ReplyID }); i >= 0 {
		return &all[i], err
	}
	return nil, err
}

// askForReview handles the ask action. It stores the request as a text of the conversation and mails it like a reply. A further request
// keeps what the client has written before.
func (s *Service) askForReview(ctx context.Context, tx *db.Tx, req reviewRequest) error {
	r, err := readReview(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	c, err := readCommission(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	n, last, err := readRequests(ctx, tx, req.MessageID)
	now := s.now()
	switch {
	case err != nil:
		return err
	case r.State == stateWaiting:
		return errReviewWritten
	case r.State == stateApproved:
		return errReviewApproved
	case c.Stage != stageFinished:
		return errReviewNotFinished
	case n >= maxReviewRequests || last != nil && now.Before(last.Add(reviewRequestInterval)):
		return errReviewAsked
	}
	visitor, err := readRecipient(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	text := visitor.Language.Text("enquiry.review.request")
	if err := s.sendOwnerReply(ctx, tx, reply{ID: uuid.NewString(), MessageID: req.MessageID, Author: authorOwner, Kind: kindReviewRequest, Text: text, CreatedAt: now}, ""); err != nil {
		return err
	}
	if err := s.checkHasLink(ctx, tx, req.MessageID, errNoPlaceForReview); err != nil {
		return err
	}
	inserted := r.State == stateNotAsked
	r.State, r.AskedAt = stateAsked, now
	return s.saveReview(ctx, tx, r, inserted)
}

// withdrawRequest handles the withdraw action. A review that was declined before the request has the state declined again, so that the
// owner can still approve it.
func (s *Service) withdrawRequest(ctx context.Context, tx *db.Tx, req reviewRequest) error {
	r, err := readReview(ctx, tx, req.MessageID)
	switch {
	case err != nil:
		return err
	case r.State == stateWithdrawn, r.State == stateDeclined && r.DecidedAt.Before(r.AskedAt): // a second call
		return nil
	case r.State == stateWaiting:
		return errReviewWritten
	case r.State != stateAsked:
		return errNoReviewRequest
	}
	r.State = stateWithdrawn
	if r.Text != "" {
		r.State = stateDeclined
	}
	return s.saveReview(ctx, tx, r, false)
}

// declineReview handles the decline action. What the client has written stays, so that the owner can still approve it.
func (s *Service) declineReview(ctx context.Context, tx *db.Tx, req reviewRequest) error {
	r, err := readReview(ctx, tx, req.MessageID)
	switch {
	case err != nil:
		return err
	case r.State == stateDeclined: // a second call
		return nil
	case r.State != stateWaiting:
		return errNoReview
	case req.hasSeenOther(r):
		return errReviewChanged
	}
	now := s.now()
	r.State, r.DecidedAt = stateDeclined, &now
	return s.saveReview(ctx, tx, r, false)
}

// hasSeenOther reports whether the client has changed the review since the owner saw it.
func (req reviewRequest) hasSeenOther(r commissionReview) bool {
	return req.WrittenAt != nil && (r.WrittenAt == nil || !r.WrittenAt.Equal(*req.WrittenAt))
}

// copyReviewPicture copies the picture of a review, before the transaction that approves it. Nobody sees the copy until that transaction is
// committed.
func (s *Service) copyReviewPicture(ctx context.Context, req *reviewRequest) error {
	r, err := readReview(ctx, s.db, req.MessageID)
	if err != nil || r.Text == "" {
		return err
	}
	if req.picture, err = pictureOfReview(ctx, s.db, r); err != nil || req.picture == nil {
		return err
	}
	copied, err := s.cfg.CopyForReview(ctx, req.picture.Name)
	if err != nil {
		return err
	}
	req.copied = &copied
	return nil
}

// approveReview handles the approve action: it inserts a row into reviews with what the client has written, or with the owner's changes.
func (s *Service) approveReview(ctx context.Context, tx *db.Tx, req reviewRequest) error {
	r, err := readReview(ctx, tx, req.MessageID)
	switch {
	case err != nil:
		return err
	case r.State == stateApproved: // a second call
		return nil
	case r.State != stateWaiting && r.State != stateDeclined || r.Text == "":
		return errNoReview
	case req.hasSeenOther(r):
		return errReviewChanged
	}
	p, err := pictureOfReview(ctx, tx, r)
	switch {
	case err != nil:
		return err
	case (p == nil) != (req.picture == nil) || p != nil && p.ID != req.picture.ID:
		return errReviewChanged
	}
	published := r.reviewText
	for _, field := range []struct{ given, to *string }{{req.Name, &published.Name}, {req.Place, &published.Place}, {req.Text, &published.Text}} {
		if field.given != nil {
			*field.to = *field.given
		}
	}
	published = published.normalized()
	if problems := published.problems(i18n.EN); len(problems) > 0 {
		return errInvalid(problems[0].Text)
	}
	imageURL := ""
	if req.copied != nil {
		if err := req.copied.Save(ctx, tx); err != nil {
			return err
		}
		imageURL = req.copied.URL
	}
	id, now := uuid.NewString(), s.now()
	if err := insertPublicReview(ctx, tx, id, published, imageURL, req.Active == nil || *req.Active, now); err != nil {
		return err
	}
	r.State, r.DecidedAt, r.ReviewID, r.reviewText = stateApproved, &now, &id, reviewText{}
	return errors.Join(s.cfg.RecordReview(ctx, tx, id), s.saveReview(ctx, tx, r, false))
}

// normalized returns the texts as they are stored.
func (t reviewText) normalized() reviewText {
	return reviewText{trimSpace(t.Name), trimSpace(t.Place), normalizeText(t.Text)}
}

// reviewProblem is what is wrong with a field of a review: name, place or text.
type reviewProblem struct{ Field, Text string }

// problems returns what is wrong with normalized texts of a review.
func (t reviewText) problems(l i18n.Language) (all []reviewProblem) {
	add := func(field, key string) {
		all = append(all, reviewProblem{field, l.Text("enquiry.review.error." + key)})
	}
	switch {
	case t.Name == "":
		add("name", "name")
	case !isLine(t.Name, maxReviewLine):
		add("name", "line")
	}
	if !isLine(t.Place, maxReviewLine) {
		add("place", "line")
	}
	switch {
	case t.Text == "":
		add("text", "text")
	case hasControl(t.Text):
		all = append(all, reviewProblem{"text", l.Text("contact.error.messageSigns")})
	case utf8.RuneCountInString(t.Text) > maxReviewText:
		all = append(all, reviewProblem{"text", l.Text("contact.error.messageLong")})
	}
	return all
}

// writeReview stores what a client has written, with at most one picture. removePicture removes the picture that was sent before; a new
// picture replaces it. The first text after a request is recorded in the conversation, and owners are notified; a change is not. The error
// is errNoInboxMessage, errReviewNotOpen, errFullConversation or errPicturesFull if the review cannot be stored.
func (s *Service) writeReview(ctx context.Context, m contactMessage, l i18n.Language, t reviewText, pictures []unsavedPicture, removePicture bool) error {
	return s.withLockedMessage(ctx, m.ID, func(ctx context.Context, tx *db.Tx) error {
		r, err := readReview(ctx, tx, m.ID)
		if err == nil && r.State != stateAsked && r.State != stateWaiting {
			err = errReviewNotOpen
		}
		if err != nil {
			return err
		}
		now := s.now()
		reviewReply := reply{MessageID: m.ID, Author: authorVisitor, Kind: kindReview, Text: l.Text("enquiry.review.written"), CreatedAt: now, Delivery: deliveryNone, NewPictures: pictures}
		isFirst, err := isFirstText(ctx, tx, r)
		if err != nil {
			return err
		}
		if removePicture || len(pictures) > 0 {
			if err := s.removeReviewPicture(ctx, tx, r); err != nil {
				return err
			}
		}
		switch {
		case isFirst:
			reviewReply.ID = uuid.NewString()
			if err := s.addAndAnnounce(ctx, tx, reviewReply, m.Language); err != nil {
				return err
			}
			if r.ReplyID != nil {
				if err := movePictures(ctx, tx, *r.ReplyID, reviewReply.ID); err != nil {
					return err
				}
			}
			r.ReplyID = &reviewReply.ID
		default:
			reviewReply.ID = *r.ReplyID
			if err := s.savePictures(ctx, tx, reviewReply); err != nil {
				return err
			}
			if r.State == stateAsked { // withdrawn, and written again
				if err := errors.Join(setStatus(ctx, tx, m.ID, "new"), s.cfg.RecordUpdated(ctx, tx, m.ID)); err != nil {
					return err
				}
			}
		}
		r.State, r.reviewText, r.WrittenAt, r.DecidedAt = stateWaiting, t, &now, nil
		return s.saveReview(ctx, tx, r, false)
	})
}

// isFirstText reports whether a review that is written now is the first after the newest request.
func isFirstText(ctx context.Context, tx *db.Tx, r commissionReview) (bool, error) {
	if r.ReplyID == nil || r.State != stateAsked {
		return r.ReplyID == nil, nil
	}
	reviewReply, err := readReply(ctx, tx, *r.ReplyID)
	return reviewReply.CreatedAt.Before(r.AskedAt), err
}

// withdrawReview removes the texts and the picture of a client's review that is not approved. A waiting review is then requested again
// (stateAsked); all other states stay.
func (s *Service) withdrawReview(ctx context.Context, m contactMessage) error {
	return s.withLockedMessage(ctx, m.ID, func(ctx context.Context, tx *db.Tx) error {
		r, err := readReview(ctx, tx, m.ID)
		switch {
		case err != nil:
			return err
		case r.State == stateNotAsked, r.State == stateApproved:
			return errReviewNotOpen
		case r.Text == "": // the button was pressed twice
			return nil
		}
		if err := s.removeReviewPicture(ctx, tx, r); err != nil {
			return err
		}
		if r.State == stateWaiting {
			r.State = stateAsked
		}
		r.reviewText, r.WrittenAt = reviewText{}, nil
		return s.saveReview(ctx, tx, r, false)
	})
}

// removeReviewPicture removes the picture of a review and its file. It removes the row even if the file is missing, because the row would
// occupy the position of the next picture.
func (s *Service) removeReviewPicture(ctx context.Context, tx *db.Tx, r commissionReview) error {
	if r.ReplyID == nil {
		return nil
	}
	p, err := pictureOfReview(ctx, tx, r)
	if err == nil {
		err = deletePictures(ctx, tx, *r.ReplyID)
	}
	if err != nil || p == nil {
		return err
	}
	return s.cfg.RemovePicture(ctx, tx, p.Name)
}
