package settings

import (
	"context"

	"atelie/internal/db"
)

// LoadPageSite reads the settings as pages contain them: without the texts about commissions while visitors are told nothing.
func LoadPageSite(ctx context.Context, q db.Querier) (site Site, err error) {
	if site, err = LoadSite(ctx, q); err != nil {
		return Site{}, err
	}
	if site.Commissions.State == CommissionsOff {
		site.Commissions = Commissions{}
	}
	return site, nil
}
