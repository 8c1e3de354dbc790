package settings

import (
	"context"
	"slices"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// Commissions are the settings about commissions (works that visitors order). Pages contain them unless State is CommissionsOff.
type Commissions struct {
	State string          `json:"state"` // one of commissionStates
	Texts CommissionTexts `json:"texts"`
	// Slots is how many commissions the artist works on at a time, at most maxSlots; 0 means no limit. Pages do not contain Slots.
	Slots int `json:"slots,omitempty"`
	// Free is how many slots are free. It is computed for pages and never stored. If it is 0, pages do not show it: there is no limit, or
	// commissions are not open. If no slot is free, pages have the State CommissionsClosed instead of CommissionsOpen.
	Free int `json:"free,omitempty"`
}

// maxSlots is the maximum of Commissions.Slots.
const maxSlots = 100

// The states of commissions.
const (
	CommissionsOff      = "" // the site says nothing about commissions
	CommissionsOpen     = "open"
	CommissionsWaitlist = "waitlist" // new commissions are put on a waiting list
	CommissionsClosed   = "closed"
)

var commissionStates = []string{CommissionsOff, CommissionsOpen, CommissionsWaitlist, CommissionsClosed}

// CommissionTexts holds the texts about commissions in both languages. A text that is empty in one language is shown in the other one. A
// text that is empty in both is not shown.
type CommissionTexts struct {
	EN CommissionText `json:"en"`
	PT CommissionText `json:"pt"`
}

// CommissionText has the owner's texts about commissions in one language.
type CommissionText struct {
	Accepts  string `json:"accepts"`  // what the artist takes
	Declines string `json:"declines"` // what the artist does not take
	Prices   string `json:"prices"`   // such as "from 300 €"
	LeadTime string `json:"leadTime"` // how long a commission takes, one line
	Steps    string `json:"steps"`    // one step for each line
	Terms    string `json:"terms"`    // the conditions of an offer
}

// Terms returns the terms in language l, or those in the other language if there are none in l, and the language of the result.
func (c Commissions) Terms(l i18n.Language) (terms string, in i18n.Language) {
	texts := map[i18n.Language]string{i18n.EN: c.Texts.EN.Terms, i18n.PT: c.Texts.PT.Terms}
	if texts[l] == "" {
		l = l.Other()
	}
	return texts[l], l
}

// normalizeAndCheckCommissions clears Free and checks the settings about commissions, except their texts (normalizeAndCheckTexts).
func (s *Settings) normalizeAndCheckCommissions() error {
	if !slices.Contains(commissionStates, s.Site.Commissions.State) {
		return errField("site.commissions.state", "must be open, waitlist or closed, or empty")
	}
	if slots := s.Site.Commissions.Slots; slots < 0 || slots > maxSlots {
		return errField("site.commissions.slots", "must be a number from 0 to 100")
	}
	s.Site.Commissions.Free = 0
	return nil
}

// countFree replaces Slots by Free. If commissions are open but no slot is free, it sets State to CommissionsClosed.
func (c *Commissions) countFree(ctx context.Context, q db.Querier) error {
	slots := c.Slots
	c.Slots, c.Free = 0, 0
	if slots == 0 || c.State != CommissionsOpen {
		return nil
	}
	taken, err := TakenSlots(ctx, q)
	if err != nil {
		return err
	}
	if c.Free = max(0, slots-taken); c.Free == 0 {
		c.State = CommissionsClosed
	}
	return nil
}
