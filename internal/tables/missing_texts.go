package tables

import (
	"context"
	"encoding/json"
)

// This file implements the function get_missing_texts, with which the dashboard of the admin area shows how many texts lack a translation.

// missingTexts is the result of rpc/get_missing_texts: how many rows, including hidden ones, lack a text. A row lacks a text if it has the
// text in only one of the two languages. A text that is in neither language does not count. The fields that count alternative texts (what a
// picture shows, in words) follow other rules, which their comments state.
type missingTexts struct {
	Works struct {
		// Works whose title, description or medium is in one language only.
		Title       int64 `json:"title"`
		Description int64 `json:"description"`
		Medium      int64 `json:"medium"`
		SEO         int64 `json:"seo"`       // works whose title or description for search engines is in one language only
		AltTexts    int64 `json:"alt_texts"` // works that have a picture and no alternative text at all
	} `json:"works"`
	Series int64 `json:"series"` // series whose title or text is in one language only
	// Covers counts the covers whose title or description is in one language only, and those that are pictures and lack an alternative text.
	Covers  int64 `json:"covers"`
	Reviews int64 `json:"reviews"` // reviews whose message is in one language only
}

// getMissingTexts implements the function get_missing_texts.
func (s *Service) getMissingTexts(ctx context.Context, _ map[string]any) (string, error) {
	missing, err := countMissingTexts(ctx, s.db)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(missing)
	return string(text), err
}
