package pages

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"atelie/internal/settings"
)

// This file makes the HTML of a page: it reads the data of the page from the database, renders the page with React, and inserts the result
// into index.html.

// bootData is the boot data of a page: JSON in the page from which its scripts start without further requests. web/src/lib/boot.ts reads
// the boot data, so a new field needs a line there too. In the JSON and in URLs (?art=) a work is called art.
type bootData struct {
	APIURL   string `json:"apiUrl"`   // public URL of the backend
	AnonKey  string `json:"anonKey"`  // the public API key
	Language string `json:"language"` // en or pt
	// SecondFactor is whether owners must sign in with a second factor. Only the admin pages use it.
	SecondFactor bool `json:"secondFactorRequired,omitempty"`
	// BackupDays is the maximum number of days for which backups contain deleted data; 0 without backups. The privacy page and the dialog
	// before an erasure show it.
	BackupDays int           `json:"backupDays,omitempty"`
	Today      string        `json:"today"` // YYYY-MM-DD: the server and the browser must render the page with the same date
	Site       settings.Site `json:"site"`
	// Media maps the URL of the portrait (Site.Portrait) to the description of its file, as the column media of /rest/v1 contains it.
	Media map[string]json.RawMessage `json:"media,omitempty"`
	// HasReviews is whether the site shows reviews. If it is true, the navigation bar has a link to the reviews.
	HasReviews bool `json:"hasReviews"`
	// EmptyTypes are the types without works, whose filter buttons the gallery leaves out. The list is empty if the owner has chosen that the
	// gallery shows a button for each type.
	EmptyTypes    []string      `json:"empty,omitempty"`
	WorkID        string        `json:"art,omitempty"`         // id of the work that the URL names; "" for none
	WorkMissing   bool          `json:"noWork,omitempty"`      // the URL names a work that does not exist
	ReviewsPage   int           `json:"reviewsPage,omitempty"` // number of the page of reviews that the URL names, from 1; 0 for none
	SeriesSlug    string        `json:"series,omitempty"`      // slug of the series that the URL names; "" for none
	SeriesMissing bool          `json:"noSeries,omitempty"`    // the URL names a series that does not exist
	Queries       []queryResult `json:"queries,omitempty"`     // results of the queries of the page's components
}

// pageInputs contains everything from which the page of a view (what a URL selects) is made, besides the built site: the HTML tags of its
// head, and its boot data in JSON.
type pageInputs struct{ headHTML, bootJSON string }

// hash returns a hash of the inputs. Two pages of one view with equal inputs are equal.
func (in pageInputs) hash() [sha256.Size]byte {
	return sha256.Sum256([]byte(in.headHTML + "\x00" + in.bootJSON)) // the byte 0 separates the parts: JSON contains none
}

// readInputs reads the inputs for the page of a view from the database.
func (s *Service) readInputs(ctx context.Context, v view) (pageInputs, error) {
	b, err := s.readBoot(ctx, v)
	if err != nil {
		return pageInputs{}, err
	}
	return s.inputsFrom(ctx, v, b)
}

// inputsFrom returns the inputs for the page of a view with this boot data.
func (s *Service) inputsFrom(ctx context.Context, v view, b bootData) (pageInputs, error) {
	head, err := s.makeHead(ctx, v, b)
	if err != nil {
		return pageInputs{}, err
	}
	data, err := json.Marshal(b) // writes < as \u003c, so that no text can end the script element
	return pageInputs{head, string(data)}, err
}

// assemble returns the HTML of a page. inAdvance is true if no visitor waits for the page. complete is false if rendering failed. In this
// case the browser renders the page, and the caller must not cache it, because another attempt can succeed.
func (s *Service) assemble(ctx context.Context, v view, in pageInputs, inAdvance bool) (page []byte, complete bool) {
	rendered, complete := s.renderPage(ctx, v, in.bootJSON, inAdvance)
	isServerRendered := rendered.Body != ""
	scripts, preloads := s.manifest.scriptTags(v, isServerRendered)
	return s.template.fill(map[string]string{
		langMark:    `<html lang="` + v.language + `"`,
		titleMark:   in.headHTML,
		scriptsMark: scripts,
		sheetMark:   rendered.Head + s.styles, // rendered.Head has the preloads of pictures, which must come before the long style sheet
		headEndMark: preloads + headEndMark,
		rootMark:    `<div id="root">` + rendered.Body + `</div>`,
		bootMark:    `<script type="application/json" id="boot">` + in.bootJSON + `</script>`,
	}), complete
}

// readBoot reads the boot data for the page of a view from the database.
func (s *Service) readBoot(ctx context.Context, v view) (bootData, error) {
	site, err := settings.LoadPageSite(ctx, s.db)
	if err != nil {
		return bootData{}, err
	}
	key, err := s.cfg.AnonKey(ctx)
	if err != nil {
		return bootData{}, err
	}
	b := bootData{
		APIURL:        s.cfg.APIURL,
		AnonKey:       key,
		Language:      v.language,
		SecondFactor:  s.cfg.SecondFactor,
		BackupDays:    s.cfg.BackupDays,
		Today:         s.now().Format(time.DateOnly),
		Site:          site,
		WorkID:        v.workID,
		WorkMissing:   v.workMissing,
		ReviewsPage:   v.reviewsPage,
		SeriesSlug:    v.seriesSlug,
		SeriesMissing: v.seriesMissing,
	}
	if site.Portrait != "" {
		if b.Media, err = s.cfg.DescribePictures(ctx, []string{site.Portrait}); err != nil {
			return bootData{}, err
		}
	}
	if b.HasReviews, err = s.hasReviews(ctx); err != nil {
		return bootData{}, err
	}
	if b.EmptyTypes, err = s.emptyTypes(ctx, site.Gallery); err != nil {
		return bootData{}, err
	}
	b.Queries, err = s.readQueries(ctx, v)
	return b, err
}
