package functions

import (
	"net/http"
	"slices"
	"time"

	"atelie/internal/httpx"
)

// This file handles POST /functions/v1/commission-board, which returns commissions (works that visitors order) for the board. The board is
// an admin page with a column for each stage, and a card for each commission. Each commission belongs to the message that asks for it.

// Maximum numbers of cards in a column of the board.
const (
	maxOpenCards   = 100 // of each stage that is neither finished nor declined
	maxClosedCards = 20  // of each of the stages finished and declined
	maxAllCards    = 500 // of each stage that the field all of the request names
)

// boardStages are the columns of the board, in their order.
var boardStages = []string{stageEnquiry, stageOffer, stageAccepted, stageInProgress, stageFinished, stageDeclined}

// boardState is the response of commission-board.
type boardState struct {
	Success bool          `json:"success"`
	Columns []boardColumn `json:"columns"` // one for each of boardStages
}

// boardColumn is a stage with its commissions.
type boardColumn struct {
	Stage string      `json:"stage"`
	Total int         `json:"total"` // number of commissions of the stage; Cards can have fewer
	Next  []string    `json:"next"`  // the stages to which its commissions can be moved
	Cards []boardCard `json:"cards"`
}

// boardCard is a commission on the board.
type boardCard struct {
	MessageID string  `json:"message_id"`
	Name      string  `json:"name"`       // of the visitor
	ArtworkID *string `json:"artwork_id"` // the work that the message asks about; null for none
	// Price is that of the accepted offer, or of the newest offer if none is accepted. It is "" for a commission without an offer, and in the
	// enquiry column.
	Price      string    `json:"price"`
	PromisedOn string    `json:"promised_on"` // YYYY-MM-DD; "" for none
	Unread     bool      `json:"unread"`      // whether the status of the message is new
	CreatedAt  time.Time `json:"created_at"`  // of the message
}

// commissionBoard handles the commission-board function for owners (administrators). Before an owner has decided something, a message that
// asks for a commission has no row in the commissions table. Its card is in the enquiry column then, until an owner marks it as done.
func (s *Service) commissionBoard(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		All []string `json:"all"` // the stages of which the caller wants up to maxAllCards cards
	}
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	for _, stage := range req.All {
		if !slices.Contains(boardStages, stage) {
			return errInvalid("The stages in all must be enquiry, offer, accepted, in_progress, finished or declined")
		}
	}
	totals, err := countStages(r.Context(), s.db)
	if err != nil {
		return err
	}
	state := boardState{Success: true}
	for _, stage := range boardStages {
		limit := maxOpenCards
		switch {
		case slices.Contains(req.All, stage):
			limit = maxAllCards
		case stage == stageFinished || stage == stageDeclined:
			limit = maxClosedCards
		}
		cards, err := listCards(r.Context(), s.db, stage, limit)
		if err != nil {
			return err
		}
		state.Columns = append(state.Columns, boardColumn{stage, totals[stage], nextStages[stage], cards})
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, state)
}
