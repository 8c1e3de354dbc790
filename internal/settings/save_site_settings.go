package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// saveRequest is the body of rpc/save_site_settings. A request can leave out Settings or Guide.
type saveRequest struct {
	Version  string          `json:"version"`  // version of the settings on which the request is based, from an earlier response
	Settings json.RawMessage `json:"settings"` // the fields to replace
	Guide    *string         `json:"guide"`    // one of guideStates; nil leaves the state as it is
}

// Save handles rpc/save_site_settings {version, settings, guide}. It replaces the fields that settings contains and, if the request has
// guide, the state of the first-run guide. A request with only guide needs no version. The response is the same as that of Get. If the
// settings were changed after version was read, the error is errConflict (409). If a field is invalid, the error (400) names it.
func (s *Service) Save(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := authorize(identity.Of(ctx)); err != nil {
		return err
	}
	var body saveRequest
	switch err := httpx.DecodeRPC(w, r, maxBody, &body); {
	case err != nil:
		return err
	case len(body.Settings) == 0 && body.Guide == nil:
		return httpx.ErrRPCBadJSON.Becausef("no settings")
	case body.Guide != nil && !slices.Contains(guideStates, *body.Guide):
		return errField("guide", "must be done or dismissed, or empty")
	}
	if len(body.Settings) > 0 {
		before, after, err := body.apply(ctx, s.db) // stores nothing
		if err != nil {
			return err
		}
		if err := s.checkURLs(ctx, before, after); err != nil { // not in the transaction, because a DNS query may be slow
			return err
		}
	}
	var saved ownerSettings
	err := s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
		if len(body.Settings) > 0 {
			if err := db.LockTable(ctx, tx, "site_settings"); err != nil {
				return err
			}
			_, after, err := body.apply(ctx, tx) // again, because the settings may have changed before they were locked
			if err != nil {
				return err
			}
			if err := saveAll(ctx, tx, after, s.now()); err != nil {
				return err
			}
			if err := storeResponseTime(ctx, tx, after.Site); err != nil {
				return err
			}
		}
		if body.Guide != nil {
			if err := save(ctx, tx, guideKey, *body.Guide, s.now()); err != nil {
				return err
			}
		}
		saved, err = s.loadForOwner(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, saved)
}

// apply returns the stored settings (before), and the normalized settings that result from the request (after). It stores
// nothing. The error is errConflict if the version of the stored settings is not the request's.
func (r saveRequest) apply(ctx context.Context, q db.Querier) (before, after Settings, err error) {
	if before, err = load(ctx, q); err != nil {
		return before, after, err
	}
	version, err := versionOf(before)
	if err != nil {
		return before, after, err
	}
	if version != r.Version {
		return before, after, errConflict.Becausef("%s is not %s", r.Version, version)
	}
	after = before
	after.NoticeEmail = slices.Clone(before.NoticeEmail) // Unmarshal writes into the slice that it finds
	after.Site.Gallery.Types = slices.Clone(before.Site.Gallery.Types)
	if err := json.Unmarshal(r.Settings, &after); err != nil {
		return before, after, httpx.ErrRPCBadJSON.Because(err)
	}
	return before, after, after.normalizeAndCheck(before)
}
