package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"
)

// The places in index.html that are filled in for each page view.
const (
	langMark  = `<html lang="en"`
	titleMark = `<title>Ateliê</title>`
	bootMark  = `<script type="application/json" id="boot">{}</script>`
	headEnd   = `</head>`
	rootMark  = `<div id="root"></div>`
)

// boot is what the page needs before it can ask for anything; lib/boot.ts reads it.
type boot struct {
	APIURL   string `json:"apiUrl"`
	AnonKey  string `json:"anonKey"`
	Language string `json:"language"`
	Today    string `json:"today"` // YYYY-MM-DD, so that the first render needs no clock
	Site     Site   `json:"site"`
	// Media is what is known of the pictures that Site names, by address.
	Media map[string]json.RawMessage `json:"media,omitempty"`
	// Art is the work of the address, in a view that has one.
	Art string `json:"art,omitempty"`
	// Queries are what the components will ask for.
	Queries []knownQuery `json:"queries,omitempty"`
}

// material is all that a page is made of besides the built site.
type material struct{ head, data string }

// sum tells whether two pages of a view are made of the same.
func (m material) sum() [sha256.Size]byte { return sha256.Sum256([]byte(m.head + "\x00" + m.data)) }

// gather reads what a view's page is made of.
func (s *Service) gather(ctx context.Context, v view) (material, error) {
	b, err := s.boot(ctx, v)
	if err != nil {
		return material{}, err
	}
	head, err := s.head(ctx, v, b)
	if err != nil {
		return material{}, err
	}
	data, err := json.Marshal(b) // Marshal writes < as \u003c, so the block cannot be closed from inside
	return material{head, string(data)}, err
}

// assemble makes the whole page of a view: the built shell, its head, the data that its first drawing needs, and the
// drawing. whole is false when that failed: the next visitor may be luckier.
func (s *Service) assemble(ctx context.Context, v view, m material) (page []byte, whole bool) {
	urgent, drawn, whole := s.draw(ctx, v, m.data)
	page = bytes.Replace(s.shell, []byte(langMark), []byte(`<html lang="`+v.language+`"`), 1)
	page = bytes.Replace(page, []byte(titleMark), []byte(m.head), 1)
	page = bytes.Replace(page, []byte(bootMark), []byte(`<script type="application/json" id="boot">`+m.data+`</script>`), 1)
	page = bytes.Replace(page, []byte(headEnd), []byte(s.built.preloads(v.path, v.language)+headEnd), 1)
	if drawn != "" {
		page = s.built.afterPicture(withUrgent(page, urgent+urgentPicture(drawn)))
	}
	return bytes.Replace(page, []byte(rootMark), []byte(`<div id="root">`+drawn+`</div>`), 1), whole
}

func (s *Service) boot(ctx context.Context, v view) (boot, error) {
	site, err := LoadSite(ctx, s.db)
	if err != nil {
		return boot{}, err
	}
	b := boot{APIURL: s.cfg.APIURL, AnonKey: s.cfg.AnonKey, Language: v.language, Today: s.now().Format(time.DateOnly), Site: site, Art: v.art}
	if s.cfg.Describe != nil && site.Portrait != "" {
		if b.Media, err = s.cfg.Describe(ctx, []string{site.Portrait}); err != nil {
			return boot{}, err
		}
	}
	b.Queries, err = s.queries(ctx, v)
	return b, err
}
