package functions

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file handles POST /functions/v1/commission. With it, owners (administrators) change the stage and the promised date of a commission
// (a work that a visitor orders), make offers (commission_offer.go), and write notes on the progress. A new stage needs a constant here,
// and entries in nextStages and boardStages.

// The stages of a commission: values of the commissions.stage column. A message without a row in commissions has stageEnquiry.
const (
	stageEnquiry    = "enquiry"     // nothing is decided
	stageOffer      = "offer"       // an owner has made an offer
	stageAccepted   = "accepted"    // visitor and owner have agreed
	stageInProgress = "in_progress" // the artist works on it
	stageFinished   = "finished"
	stageDeclined   = "declined" // by the visitor or by an owner
)

// nextStages contains, for each stage, the stages to which an owner can move a commission. Usually these are the next one, the previous one
// and stageDeclined. An enquiry can be accepted without an offer, because artist and client may have agreed elsewhere. A finished
// commission cannot be declined, and a declined one can only become an enquiry again.
var nextStages = map[string][]string{
	stageEnquiry:    {stageOffer, stageAccepted, stageDeclined},
	stageOffer:      {stageEnquiry, stageAccepted, stageDeclined},
	stageAccepted:   {stageOffer, stageInProgress, stageDeclined},
	stageInProgress: {stageAccepted, stageFinished, stageDeclined},
	stageFinished:   {stageInProgress},
	stageDeclined:   {stageEnquiry},
}

// commissionRequest is the body of a call of the commission function. A date is YYYY-MM-DD, or "" for none. The actions are
//   - state: changes nothing
//   - stage: moves the commission to another stage
//   - promise: sets the promised date
//   - offer: makes an offer
//   - withdraw: withdraws an offer
//   - progress: stores a note on the progress, which can have pictures
type commissionRequest struct {
	messageAction // the action, the id of the message, and the pictures

	// ID depends on the action:
	//   - offer and progress: an idempotency key. A second call with the same ID and texts stores nothing.
	//   - withdraw: the id of the offer.
	ID    string `json:"id"`
	Stage string `json:"stage"` // for stage: the new stage
	// From is for stage: the stage that the owner sees. The call fails if the commission is in another stage. "" skips this check.
	From       string `json:"from"`
	Text       string `json:"text"`        // for offer and progress
	Price      string `json:"price"`       // for offer
	Deposit    string `json:"deposit"`     // for offer
	PromisedOn string `json:"promised_on"` // for offer and promise
	ExpiresOn  string `json:"expires_on"`  // for offer
}

// commissionState is the response of commission.
type commissionState struct {
	Success    bool         `json:"success"`
	Stage      string       `json:"stage"`
	StageAt    *time.Time   `json:"stage_at"` // when the stage was set; null if it was never set
	PromisedOn string       `json:"promised_on"`
	Next       []string     `json:"next"`   // the stages to which the commission can be moved
	Offers     []offerState `json:"offers"` // the newest first
	Terms      string       `json:"terms"`  // the terms that a new offer would have
	Place      int          `json:"place"`  // position on the waiting list, from 1; 0 if it is not on the list, or if there is no list
	Slots      int          `json:"slots"`  // how many commissions the artist works on at a time; 0 for no limit
	Taken      int          `json:"taken"`  // number of slots that are taken
}

// offerState is an offer in commissionState.
type offerState struct {
	ID           string     `json:"id"`
	Text         string     `json:"text"`
	Price        string     `json:"price"`
	Deposit      string     `json:"deposit"`
	PromisedOn   string     `json:"promised_on"`
	ExpiresOn    string     `json:"expires_on"`
	Terms        string     `json:"terms"`
	CreatedAt    time.Time  `json:"created_at"`
	State        string     `json:"state"` // one of the offer constants
	AnsweredAt   *time.Time `json:"answered_at"`
	AnsweredName string     `json:"answered_name"`
}

// commission handles the commission function for owners (administrators). All actions respond with commissionState.
func (s *Service) commission(w http.ResponseWriter, r *http.Request) error {
	if mayHavePictures(r) {
		r = s.withPictureTimeout(r)
	}
	var req commissionRequest
	err := s.readMessageAction(w, r, &req, &req.messageAction)
	defer discardPictures(context.WithoutCancel(r.Context()), req.pictures)
	if err != nil {
		return err
	}
	actions := map[string]func(context.Context, *db.Tx, commissionRequest) error{
		"": nil, "state": nil, "stage": s.setStage, "promise": s.setPromise, "offer": s.makeOffer, "withdraw": s.withdrawOffer, "progress": s.addProgress,
	}
	act, ok := actions[req.Action]
	if !ok {
		return errInvalid("The action must be state, stage, promise, offer, withdraw or progress")
	}
	return respondWithState(s, w, r, req.MessageID, req, act, s.commissionStateOf)
}

func (s *Service) commissionStateOf(ctx context.Context, tx *db.Tx, messageID string) (state commissionState, err error) {
	c, err := readCommission(ctx, tx, messageID)
	if err != nil {
		return state, err
	}
	state = commissionState{Success: true, Stage: c.Stage, PromisedOn: c.PromisedOn, Next: nextStages[c.Stage], Offers: []offerState{}}
	if c.Stored {
		state.StageAt = inUTC(&c.StageAt)
	}
	offers, err := listOffers(ctx, tx, messageID)
	if err != nil {
		return state, err
	}
	for _, o := range slices.Backward(offers) {
		state.Offers = append(state.Offers, offerState{
			o.ID, o.Text, o.Price, o.Deposit, o.PromisedOn, o.ExpiresOn, o.Terms, o.CreatedAt.UTC(), o.state(s.now()), inUTC(o.AnsweredAt), o.AnsweredName,
		})
	}
	visitor, err := readRecipient(ctx, tx, messageID)
	if err != nil && !errors.Is(err, db.ErrNoRows) { // an open page requests the state again when the message is deleted
		return state, err
	}
	site, err := settings.LoadSite(ctx, tx)
	if err != nil {
		return state, err
	}
	state.Terms, _ = site.Commissions.Terms(visitor.Language)
	state.Slots = site.Commissions.Slots
	if site.Commissions.State == settings.CommissionsWaitlist {
		if state.Place, err = placeOnWaitlist(ctx, tx, messageID); err != nil {
			return state, err
		}
	}
	state.Taken, err = settings.TakenSlots(ctx, tx)
	return state, err
}

// saveCommission stores the commission of a message and records it for live changes.
func (s *Service) saveCommission(ctx context.Context, tx *db.Tx, messageID string, c commission) error {
	if err := storeCommission(ctx, tx, messageID, c); err != nil {
		return err
	}
	return s.cfg.RecordCommission(ctx, tx, "commissions", messageID, !c.Stored)
}

// setStage handles the stage action. It also withdraws an open offer.
func (s *Service) setStage(ctx context.Context, tx *db.Tx, req commissionRequest) error {
	if nextStages[req.Stage] == nil {
		return errInvalid("The stage must be enquiry, offer, accepted, in_progress, finished or declined")
	}
	c, err := readCommission(ctx, tx, req.MessageID)
	switch {
	case err != nil:
		return err
	case c.Stored && c.Stage == req.Stage: // a second call
		return nil
	case req.From != "" && req.From != c.Stage:
		return errStageChanged
	case c.Stage != req.Stage && !slices.Contains(nextStages[c.Stage], req.Stage):
		return errStageStep
	}
	if err := s.withdrawOffers(ctx, tx, req.MessageID); err != nil {
		return err
	}
	c.Stage, c.StageAt = req.Stage, s.now()
	return s.saveCommission(ctx, tx, req.MessageID, c)
}

// setPromise handles the promise action.
func (s *Service) setPromise(ctx context.Context, tx *db.Tx, req commissionRequest) error {
	if !isDay(req.PromisedOn) {
		return errInvalid("The promised_on must be a date (YYYY-MM-DD), or empty")
	}
	c, err := readCommission(ctx, tx, req.MessageID)
	if err != nil {
		return err
	}
	if c.Stage != stageAccepted && c.Stage != stageInProgress && c.Stage != stageFinished {
		return errNotAgreed
	}
	if c.PromisedOn == req.PromisedOn {
		return nil
	}
	c.PromisedOn = req.PromisedOn
	return s.saveCommission(ctx, tx, req.MessageID, c)
}

// addProgress handles the progress action. Only the client sees the note, like a reply. The note is no answer, so the message keeps its
// status.
func (s *Service) addProgress(ctx context.Context, tx *db.Tx, req commissionRequest) error {
	text := normalizeText(req.Text)
	if key := problemOfReply(text, req.pictures); key != "" {
		return errInvalid(i18n.EN.Text(key))
	}
	return s.sendOwnerReply(ctx, tx, reply{ID: replyID(req.MessageID, req.ID, text), MessageID: req.MessageID, Author: authorOwner, Kind: kindProgress, Text: text, CreatedAt: s.now(), NewPictures: req.pictures}, "")
}

// isDay reports whether a text is "" or a day that both databases can store.
func isDay(text string) bool {
	t, err := time.Parse(time.DateOnly, text)
	return text == "" || err == nil && t.Year() >= 1900
}
