package functions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/settings"
)

// This file handles POST /functions/v1/contact-reply, with which owners (administrators) reply to a visitor's message and manage the
// conversation. It also runs the jobs that mail the replies.

// JobReply is the kind of the job that mails an owner's reply to the visitor.
const JobReply = "contact.reply"

// ReplyMail is a mail to the visitor. It has one of two uses:
//   - Config.SendReply mails a text of an owner. At most one of Offer, Progress and Review is set; for a plain reply, none is.
//   - Config.SendCopy mails a copy, which is the visitor's own message. Only Thanks can be set.
type ReplyMail struct {
	ID        string // the same at every attempt to send the mail
	To        Recipient
	ReplyTo   string // the owner's e-mail address, for the Reply-To header; "" for none
	Link      string // private link (secret URL of the conversation for the visitor); "" for none
	MessageID string
	Text      string
	Progress  bool       // the text is a note on the progress of a commission
	Review    bool       // the text requests a review
	Thanks    bool       // the copy also thanks for the message, in place of a thank-you mail
	Offer     *OfferMail // the offer that the text describes; nil for other texts
	At        time.Time  // when the text was written
}

// replyJob is the payload of JobReply.
type replyJob struct {
	ID      string `json:"id"`       // id of the row of contact_replies
	ReplyTo string `json:"reply_to"` // ReplyMail.ReplyTo
}

// replyRequest is the body of a call of the contact-reply function. The actions are
//   - state: changes nothing
//   - reply: stores a reply, which can have pictures, mails it if there is a mail server, and sets the message's status to replied
//   - resend: mails a reply again
//   - renew: replaces the private link
//   - done, reopen: mark the conversation as done, or remove the mark
type replyRequest struct {
	messageAction // the action, the id of the message, and the pictures

	// ID depends on the action:
	//   - reply: an idempotency key. A second call with the same ID and text stores nothing. With another text, it stores another reply.
	//   - resend: the id of the reply.
	//   - other actions: ignored.
	ID   string `json:"id"`
	Text string `json:"text"` // for reply
}

// conversationState is the response of contact-reply. The replies themselves are rows of the contact_replies table.
type conversationState struct {
	Success  bool          `json:"success"`
	Mail     bool          `json:"mail"`     // whether replies are mailed
	Links    bool          `json:"links"`    // whether the owner lets visitors follow their messages
	Language i18n.Language `json:"language"` // of the message
	Link     *stateLink    `json:"link"`     // null if the message has none, or only an expired one
	Pictures []picture     `json:"pictures"` // of the replies
}

// stateLink is the private link to the message.
type stateLink struct {
	URL       string    `json:"url"` // "" if the server can no longer derive it, because the site's secret was replaced
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// contactReply handles the contact-reply function for owners (administrators). All actions respond with conversationState.
func (s *Service) contactReply(w http.ResponseWriter, r *http.Request) error {
	if mayHavePictures(r) {
		r = s.withPictureTimeout(r)
	}
	var req replyRequest
	err := s.readMessageAction(w, r, &req, &req.messageAction)
	defer discardPictures(context.WithoutCancel(r.Context()), req.pictures)
	if err != nil {
		return err
	}
	actions := map[string]func(context.Context, *db.Tx, replyRequest) error{
		"": nil, "state": nil, "reply": s.addOwnerReply, "resend": s.resendReply, "renew": s.renewLink,
		"done": s.changeDoneMark, "reopen": s.changeDoneMark,
	}
	act, ok := actions[req.Action]
	if !ok {
		return errInvalid("The action must be state, reply, resend, renew, done or reopen")
	}
	if req.Action == "reply" {
		req.Text = normalizeText(req.Text)
		if key := problemOfReply(req.Text, req.pictures); key != "" {
			return errInvalid(i18n.EN.Text(key))
		}
	}
	return respondWithState(s, w, r, req.MessageID, req, act, s.stateOf)
}

// respondWithState runs an action of an owner's call about a message, with the message locked, and responds with the state that stateOf
// returns in the same transaction. act is nil for a call that only requests the state, which also works on a full disk.
func respondWithState[Request, State any](s *Service, w http.ResponseWriter, r *http.Request, messageID string, req Request,
	act func(context.Context, *db.Tx, Request) error, stateOf func(context.Context, *db.Tx, string) (State, error)) error {
	if act != nil {
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
	}
	var state State
	err := s.db.WithTx(r.Context(), func(tx *db.Tx) (err error) {
		if act != nil {
			if err := lockMessage(r.Context(), tx, messageID); err != nil {
				return err
			}
			if err := act(r.Context(), tx, req); err != nil {
				return err
			}
		}
		state, err = stateOf(r.Context(), tx, messageID)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, state)
}

// stateOf returns the state of the conversation about a message.
func (s *Service) stateOf(ctx context.Context, tx *db.Tx, messageID string) (conversationState, error) {
	state := conversationState{Success: true, Mail: s.cfg.MailServer}
	visitor, err := readRecipient(ctx, tx, messageID)
	if err != nil && !errors.Is(err, db.ErrNoRows) { // an open page requests the state again when the message is deleted
		return state, err
	}
	state.Language = visitor.Language
	if state.Links, err = s.linksEnabled(ctx, tx); err != nil {
		return state, err
	}
	if state.Pictures, err = listPictures(ctx, tx, messageID); err != nil {
		return state, err
	}
	l, err := readLinkOf(ctx, tx, messageID)
	if err != nil || !l.ExpiresAt.After(s.now()) {
		return state, db.NoRowsAs(err, nil)
	}
	state.Link = &stateLink{s.urlOf(l), l.CreatedAt.UTC(), l.ExpiresAt.UTC()}
	return state, nil
}

// addOwnerReply handles the reply action.
func (s *Service) addOwnerReply(ctx context.Context, tx *db.Tx, req replyRequest) error {
	r := reply{ID: replyID(req.MessageID, req.ID, req.Text), MessageID: req.MessageID, Author: authorOwner, Kind: kindReply, Text: req.Text, CreatedAt: s.now(), NewPictures: req.pictures}
	return s.sendOwnerReply(ctx, tx, r, "replied")
}

// sendOwnerReply stores a text of the owner, and mails it if there is a mail server. Without one the visitor reads it at the private link;
// the error is errUnreachable if the message has no link either. status is passed to addReply.
func (s *Service) sendOwnerReply(ctx context.Context, tx *db.Tx, r reply, status string) error {
	if len(r.NewPictures) > 0 { // pictures are not mailed
		if err := s.checkLinksOn(ctx, tx, r.MessageID); err != nil {
			return err
		}
	}
	r.Delivery = deliveryNone
	if s.cfg.MailServer {
		r.Delivery, r.DeliveryAt = deliveryQueued, &r.CreatedAt
		enabled, err := s.linksEnabled(ctx, tx)
		if err == nil && enabled {
			err = s.ensureLink(ctx, tx, r.MessageID)
		}
		if err != nil {
			return err
		}
	} else if err := s.checkHasLink(ctx, tx, r.MessageID, errUnreachable); err != nil {
		return err
	}
	added, err := s.addReply(ctx, tx, r, status)
	if err != nil || !added || r.Delivery != deliveryQueued {
		return err
	}
	return s.queueReply(ctx, tx, r)
}

// queueReply queues the job that mails a reply. Visitors answer to the site's public address or, without one, to the owner's own.
func (s *Service) queueReply(ctx context.Context, tx *db.Tx, r reply) error {
	site, err := settings.LoadSite(ctx, tx)
	if err != nil {
		return err
	}
	owner, err := s.cfg.OwnAddress(ctx, identity.Of(ctx).UserID)
	if err != nil {
		return err
	}
	return s.cfg.Queue.Add(ctx, tx, jobs.Job{Kind: JobReply, Payload: replyJob{r.ID, cmp.Or(site.Email, owner.Email)}, About: r.MessageID})
}

// resendReply handles the resend action. A reply whose mail is still queued is refused, unless its job is lost.
func (s *Service) resendReply(ctx context.Context, tx *db.Tx, req replyRequest) error {
	id, err := uuid.Parse(req.ID)
	if err != nil {
		return errInvalid("The id must be a UUID")
	}
	r, err := readReply(ctx, tx, id.String())
	switch {
	case errors.Is(err, db.ErrNoRows) || err == nil && (r.MessageID != req.MessageID || r.Author != authorOwner):
		return errNoReply
	case err != nil:
		return err
	case !s.cfg.MailServer:
		return errNoMailServer
	case r.Delivery == deliveryQueued && r.DeliveryAt != nil && s.now().Sub(*r.DeliveryAt) < noticeLife:
		return errReplyQueued
	}
	if open, err := s.mayMail(ctx, tx, r); err != nil || !open {
		closed := errOfferClosed
		if r.Kind == kindReviewRequest {
			closed = errReviewClosed
		}
		return cmp.Or(err, error(closed))
	}
	if _, err := setDelivery(ctx, tx, r.ID, deliveryQueued, "", s.now()); err != nil {
		return err
	}
	return errors.Join(s.cfg.RecordReply(ctx, tx, r.ID, false), s.queueReply(ctx, tx, r))
}

// mayMail reports whether a reply may be mailed: an offer only while it can be answered, and a request for a review only while the client
// can write the review.
func (s *Service) mayMail(ctx context.Context, q db.Querier, r reply) (bool, error) {
	if r.Kind == kindReviewRequest {
		review, err := readReview(ctx, q, r.MessageID)
		return review.State == stateAsked, err
	}
	if r.Kind != kindOffer {
		return true, nil
	}
	o, err := readOffer(ctx, q, r.ID)
	return err == nil && o.state(s.now()) == offerOpen, err
}

// renewLink handles the renew action: a new link replaces the previous one. Links must be turned on in the settings, unless the message has
// a link from before.
func (s *Service) renewLink(ctx context.Context, tx *db.Tx, req replyRequest) error {
	if err := s.checkLinksOn(ctx, tx, req.MessageID); err != nil {
		return err
	}
	return s.replaceLink(ctx, tx, req.MessageID)
}

// sendReply runs a JobReply: it mails a reply and records the result.
func (s *Service) sendReply(ctx context.Context, payload []byte) error {
	var j replyJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("reply: %w", err))
	}
	r, err := readReply(ctx, s.db, j.ID)
	if errors.Is(err, db.ErrNoRows) || err == nil && r.Delivery != deliveryQueued { // the message was deleted, or the job ran before
		return nil
	}
	if err != nil {
		return err
	}
	if open, err := s.mayMail(ctx, s.db, r); err != nil {
		return err
	} else if !open {
		return s.recordDelivery(ctx, r, deliveryNone, "")
	}
	err = s.mailReply(ctx, r, j.ReplyTo)
	if err == nil {
		return s.recordDelivery(ctx, r, deliverySent, "")
	}
	delivery := deliveryQueued
	if jobs.IsPermanent(err) || jobs.InfoOf(ctx).LastTry {
		delivery = deliveryFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.storeTimeout) // the job's own context may have expired
	defer cancel()
	return errors.Join(err, s.recordDelivery(ctx, r, delivery, errorSummary(err)))
}

func (s *Service) mailReply(ctx context.Context, r reply, replyTo string) error {
	visitor, err := readRecipient(ctx, s.db, r.MessageID)
	if err != nil {
		return err
	}
	pictures, err := countReplyPictures(ctx, s.db, r.ID)
	if err != nil {
		return err
	}
	r.Text = mailedText(r.Text, pictures, visitor.Language)
	m := ReplyMail{ID: jobs.InfoOf(ctx).ID, To: visitor, ReplyTo: replyTo, MessageID: r.MessageID, Text: r.Text, Progress: r.Kind == kindProgress, Review: r.Kind == kindReviewRequest, At: r.CreatedAt}
	if r.Kind == kindOffer {
		o, err := readOffer(ctx, s.db, r.ID)
		if err != nil {
			return err
		}
		m.Offer = &OfferMail{o.Price, o.Deposit, o.PromisedOn, o.ExpiresOn}
	}
	if m.Link, err = s.linkURL(ctx, s.db, r.MessageID); err != nil {
		return err
	}
	return s.cfg.SendReply(ctx, m)
}

// recordDelivery records the state of the mail with a reply. If the message was deleted while the mail was sent, it cleans up again.
func (s *Service) recordDelivery(ctx context.Context, r reply, delivery, cause string) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		found, err := setDelivery(ctx, tx, r.ID, delivery, cause, s.now())
		if err != nil {
			return err
		}
		if !found {
			return s.CleanUpMessages(ctx, tx, r.MessageID)
		}
		return s.cfg.RecordReply(ctx, tx, r.ID, false)
	})
}
