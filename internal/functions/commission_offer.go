package functions

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file makes and withdraws offers for commissions (works that visitors order): the offer and withdraw actions of the commission
// function. It also stores the visitors' answers to offers.

// The states of an offer. offerAccepted and offerDeclined are also the values of the commission_offers.answer column. They are equal to the
// stages to which these answers move the commission (stageAccepted and stageDeclined).
const (
	offerAccepted  = "accepted"
	offerDeclined  = "declined"
	offerOpen      = "open" // the visitor can answer it
	offerExpired   = "expired"
	offerWithdrawn = "withdrawn"
)

// Limits of an offer in characters.
const (
	maxOfferLine  = 200 // of the price and of the deposit
	maxAnswerName = 100 // of the name that a visitor enters with an answer; the same limit as in the contact form
)

// expiryDelay is the time from the beginning (in UTC) of an offer's last day until the offer expires. After 36 hours the day has ended in
// every time zone.
const expiryDelay = 36 * time.Hour

// OfferMail has the values of an offer that a mail contains in addition to the text. A day is YYYY-MM-DD, or "" for none.
type OfferMail struct {
	Price, Deposit, PromisedOn, ExpiresOn string
}

// state returns the state of an offer, one of the constants above.
func (o offer) state(now time.Time) string {
	lastDay, err := time.Parse(time.DateOnly, o.ExpiresOn) // an error if there is no last day
	switch {
	case o.Answer != "":
		return o.Answer
	case o.WithdrawnAt != nil:
		return offerWithdrawn
	case err == nil && !now.Before(lastDay.Add(expiryDelay)):
		return offerExpired
	}
	return offerOpen
}

// problem returns the error for an invalid offer, or nil for a valid one.
func (o offer) problem(now time.Time) *apperr.Error {
	switch key := problemOfReply(o.Text, nil /* no pictures */); {
	case key != "":
		return errInvalid(i18n.EN.Text(key))
	case o.Price == "":
		return errInvalid("The price must not be empty")
	case !isLine(o.Price, maxOfferLine) || !isLine(o.Deposit, maxOfferLine):
		return errInvalid("Price and deposit are one line of at most 200 characters each")
	case !isDay(o.PromisedOn) || !isDay(o.ExpiresOn):
		return errInvalid("The promised_on and the expires_on must be a date (YYYY-MM-DD), or empty")
	case o.state(now) == offerExpired:
		return errInvalid("The expires_on has passed")
	}
	return nil
}

// makeOffer handles the offer action. It stores an offer with the current terms, and mails it like a reply. It withdraws an earlier offer
// that is still open.
func (s *Service) makeOffer(ctx context.Context, tx *db.Tx, req commissionRequest) error {
	now := s.now()
	o := offer{
		MessageID: req.MessageID, Text: normalizeText(req.Text), Price: trimSpace(req.Price), Deposit: trimSpace(req.Deposit),
		PromisedOn: req.PromisedOn, ExpiresOn: req.ExpiresOn, CreatedAt: now,
	}
	o.ID = replyID(req.MessageID, req.ID, o.Text, o.Price, o.Deposit, o.PromisedOn, o.ExpiresOn)
	if _, err := readReply(ctx, tx, o.ID); err == nil { // a second call
		return nil
	} else if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if problem := o.problem(now); problem != nil {
		return problem
	}
	c, err := readCommission(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	if c.Stage != stageEnquiry && c.Stage != stageOffer && c.Stage != stageDeclined {
		return errStageStep
	}
	if err := s.withdrawOffers(ctx, tx, req.MessageID); err != nil {
		return err
	}
	if err := s.sendOwnerReply(ctx, tx, reply{ID: o.ID, MessageID: o.MessageID, Author: authorOwner, Kind: kindOffer, Text: o.Text, CreatedAt: now}, "replied"); err != nil {
		return err
	}
	if err := s.checkHasLink(ctx, tx, req.MessageID, errNoPlaceToAnswer); err != nil {
		return err
	}
	visitor, err := readRecipient(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	site, err := settings.LoadSite(ctx, tx)
	if err != nil {
		return err
	}
	o.Terms, o.TermsLanguage = site.Commissions.Terms(visitor.Language)
	if err := insertOffer(ctx, tx, o); err != nil {
		return err
	}
	c.Stage, c.StageAt = stageOffer, now
	return errors.Join(s.cfg.RecordCommission(ctx, tx, "commission_offers", o.ID, true), s.saveCommission(ctx, tx, req.MessageID, c))
}

// withdrawOffer handles the withdraw action: it withdraws an open offer, and moves a commission in the stage offer back to enquiry.
func (s *Service) withdrawOffer(ctx context.Context, tx *db.Tx, req commissionRequest) error {
	id, err := uuid.Parse(req.ID)
	if err != nil {
		return errInvalid("The id must be a UUID")
	}
	o, err := readOffer(ctx, tx, id.String())
	switch {
	case errors.Is(err, db.ErrNoRows) || err == nil && o.MessageID != req.MessageID:
		return errNoOffer
	case err != nil:
		return err
	case o.Answer != "":
		return errOfferAnswered
	case o.WithdrawnAt != nil: // a second call
		return nil
	}
	c, err := readCommission(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	if err := s.withdrawOffers(ctx, tx, req.MessageID); err != nil || c.Stage != stageOffer {
		return err
	}
	c.Stage, c.StageAt = stageEnquiry, s.now()
	return s.saveCommission(ctx, tx, req.MessageID, c)
}

// answerOffer stores a visitor's answer to an offer: offerAccepted or offerDeclined, and the name, which may be "" for offerDeclined. Only
// the first answer counts; the same answer with the same name is no error and changes nothing. The error is errNoInboxMessage,
// errUnknownOffer, errOfferAnswered, errOfferWithdrawn or errOfferExpired if the offer cannot be answered.
func (s *Service) answerOffer(ctx context.Context, m contactMessage, l i18n.Language, offerID, answer, name string) error {
	id, err := uuid.Parse(offerID)
	if err != nil {
		return errUnknownOffer
	}
	return s.withLockedMessage(ctx, m.ID, func(ctx context.Context, tx *db.Tx) error {
		o, err := readOffer(ctx, tx, id.String())
		if errors.Is(err, db.ErrNoRows) || err == nil && o.MessageID != m.ID {
			return errUnknownOffer
		}
		if err != nil {
			return err
		}
		now := s.now()
		switch o.state(now) {
		case offerWithdrawn:
			return errOfferWithdrawn
		case offerExpired:
			return errOfferExpired
		case offerAccepted, offerDeclined:
			if o.Answer == answer && o.AnsweredName == name {
				return nil
			}
			return errOfferAnswered
		}
		c, err := readCommission(ctx, tx, m.ID)
		if err != nil {
			return err
		}
		o.Answer, o.AnsweredAt, o.AnsweredName = answer, &now, name
		c.Stage, c.StageAt = answer, now
		if answer == offerAccepted {
			c.PromisedOn = o.PromisedOn
		}
		if err := errors.Join(storeAnswer(ctx, tx, o), s.cfg.RecordCommission(ctx, tx, "commission_offers", o.ID, false), s.saveCommission(ctx, tx, m.ID, c)); err != nil {
			return err
		}
		r := reply{ID: uuid.NewString(), MessageID: m.ID, Author: authorVisitor, Kind: kindAnswer, Text: answerText(l, o), CreatedAt: now, Delivery: deliveryNone}
		return s.addAndAnnounce(ctx, tx, r, m.Language)
	})
}

// answerText returns the visitor's answer as a text of the conversation.
func answerText(l i18n.Language, o offer) string {
	text := l.Text("enquiry.offer.text."+o.Answer, "when", l.Date(o.CreatedAt.UTC().Format(time.DateOnly)), "price", o.Price)
	if o.AnsweredName != "" {
		text += "\n" + o.AnsweredName
	}
	return text
}
