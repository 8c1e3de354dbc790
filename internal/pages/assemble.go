package pages

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"atelie/internal/settings"
)

// boot is the boot data of a page: the JSON block from which the page's scripts start without further requests.
// web/src/lib/boot.ts reads it.
type boot struct {
	APIURL   string `json:"apiUrl"`
	AnonKey  string `json:"anonKey"`
	Language string `json:"language"`
	// SecondFactor is true if owners must sign in with a second factor; the admin pages read it.
	SecondFactor bool          `json:"secondFactorRequired,omitempty"`
	Today        string        `json:"today"` // YYYY-MM-DD: the server and the browser must draw the page with the same date
	Site         settings.Site `json:"site"`
	// Media contains the descriptions of the pictures in Site, by URL.
	Media map[string]json.RawMessage `json:"media,omitempty"`
	// HasReviews is true if the navigation bar shows a link to the reviews.
	HasReviews bool        `json:"hasReviews"`
	Art        string      `json:"art,omitempty"`    // see view
	NoWork     bool        `json:"noWork,omitempty"` // see view
	Queries    []queryData `json:"queries,omitempty"`
}

// pageInputs contains everything besides the built site on which a page depends: the HTML tags of its head, and its boot
// data in JSON.
type pageInputs struct{ head, boot string }

// sum returns a hash of the inputs. Equal inputs of the same view give the same page.
func (in pageInputs) sum() [sha256.Size]byte {
	return sha256.Sum256([]byte(in.head + "\x00" + in.boot))
}

// readInputs reads the inputs of a view's page from the database.
func (s *Service) readInputs(ctx context.Context, v view) (pageInputs, error) {
	b, err := s.readBoot(ctx, v)
	if err != nil {
		return pageInputs{}, err
	}
	head, err := s.head(ctx, v, b)
	if err != nil {
		return pageInputs{}, err
	}
	data, err := json.Marshal(b) // writes < as \u003c, so that no text can end the script element
	return pageInputs{head, string(data)}, err
}

// assemble returns the HTML of a page. complete is false if drawing failed. In this case the browser draws the page, and
// the caller must not cache it, because the next attempt can succeed.
func (s *Service) assemble(ctx context.Context, v view, in pageInputs) (page []byte, complete bool) {
	drawn, complete := s.draw(ctx, v, in.boot)
	scripts, preloads := s.manifest.scripts(v, drawn.Body != "")
	return s.template.fill(map[string]string{
		langMark: `<html lang="` + v.language + `"`, titleMark: in.head,
		scriptsMark: scripts, sheetMark: drawn.Head + s.styles, headEnd: preloads + headEnd, // the preloads of pictures come before the long style sheet
		rootMark: `<div id="root">` + drawn.Body + `</div>`, bootMark: `<script type="application/json" id="boot">` + in.boot + `</script>`,
	}), complete
}

// readBoot reads the boot data of a view's page from the database.
func (s *Service) readBoot(ctx context.Context, v view) (boot, error) {
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil {
		return boot{}, err
	}
	key, err := s.cfg.AnonKey(ctx)
	if err != nil {
		return boot{}, err
	}
	b := boot{APIURL: s.cfg.APIURL, AnonKey: key, SecondFactor: s.cfg.SecondFactor, Language: v.language, Today: s.now().Format(time.DateOnly), Site: site, Art: v.art, NoWork: v.noWork}
	if site.Portrait != "" {
		if b.Media, err = s.cfg.Describe(ctx, []string{site.Portrait}); err != nil {
			return boot{}, err
		}
	}
	if b.HasReviews, err = s.hasReviews(ctx); err != nil {
		return boot{}, err
	}
	b.Queries, err = s.queries(ctx, v)
	return b, err
}
