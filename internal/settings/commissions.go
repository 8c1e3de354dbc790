package settings

import "slices"

// Commissions is what the owner tells visitors about commissions. Pages contain nothing of it while State is CommissionsOff.
type Commissions struct {
	State string          `json:"state"` // one of commissionStates
	Texts CommissionTexts `json:"texts"`
}

// The states of commissions.
const (
	CommissionsOff      = "" // visitors are told nothing
	CommissionsOpen     = "open"
	CommissionsWaitlist = "waitlist" // who asks waits for a place
	CommissionsClosed   = "closed"
)

var commissionStates = []string{CommissionsOff, CommissionsOpen, CommissionsWaitlist, CommissionsClosed}

// CommissionTexts holds the texts about commissions in both languages. An empty text is shown in the other language, as one of
// SiteTexts; one that is empty in both is left out.
type CommissionTexts struct {
	EN CommissionText `json:"en"`
	PT CommissionText `json:"pt"`
}

// CommissionText is what visitors are told about commissions in one language. Prices are the owner's words, such as "from 300 €".
type CommissionText struct {
	Accepts  string `json:"accepts"`  // what the artist takes
	Declines string `json:"declines"` // what the artist does not take
	Prices   string `json:"prices"`
	LeadTime string `json:"leadTime"` // how long a commission takes, one line
	Steps    string `json:"steps"`    // one step a line
	Terms    string `json:"terms"`
}

func (s *Settings) normalizeCommissions() error {
	if !slices.Contains(commissionStates, s.Site.Commissions.State) {
		return errField("site.commissions.state", "must be open, waitlist or closed, or empty")
	}
	return nil
}
