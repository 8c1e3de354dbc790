package settings

import (
	"context"

	"atelie/internal/db"
)

// LoadPageSite reads the public part of the settings in the form that pages contain. That form differs from the stored one:
//
//   - It has no settings about commissions while they are off.
//   - It has the number of free slots (how many more commissions the artist can take).
//   - It has the measured response time in place of the owner's text, if the owner has chosen that.
func LoadPageSite(ctx context.Context, q db.Querier) (Site, error) {
	site, err := LoadSite(ctx, q)
	if err != nil {
		return Site{}, err
	}
	return site.forPages(ctx, q)
}

// forPages returns site in the form of LoadPageSite.
func (site Site) forPages(ctx context.Context, q db.Querier) (Site, error) {
	if site.Commissions.State == CommissionsOff {
		site.Commissions = Commissions{}
	}
	if err := site.Commissions.countFree(ctx, q); err != nil {
		return Site{}, err
	}
	site.EnquiryLinks, site.EnquiryCopies = false, false // pages do not need them
	if err := site.setResponseTime(ctx, q); err != nil {
		return Site{}, err
	}
	return site, site.setConfirmation() // the text after a sent message must not name another response time
}
