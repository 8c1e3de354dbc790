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

// oneLanguage returns the SQL condition that a row has a text in only one language. The English text is in column, and the Portuguese text
// is in the column with the suffix _pt. Exactly one of the two is empty.
func oneLanguage(column string) string {
	return "(coalesce(" + column + ", '') = '') <> (coalesce(" + column + "_pt, '') = '')"
}

// getMissingTexts implements the function get_missing_texts. Its query has one subquery for each table.
func (s *Service) getMissingTexts(ctx context.Context, _ map[string]any) (string, error) {
	var m missingTexts
	err := s.db.QueryRow(ctx, "select works.title, works.description, works.medium, works.seo, works.alt_texts, series.missing, covers.missing, reviews.missing from"+
		" (select count(*) filter (where "+oneLanguage("title")+") as title, count(*) filter (where "+oneLanguage("description")+") as description,"+
		" count(*) filter (where "+oneLanguage("medium")+") as medium, count(*) filter (where "+oneLanguage("seo_meta_title")+" or "+oneLanguage("seo_meta_desc")+") as seo, count(*) filter (where alt_texts is null and image_url is not null) as alt_texts from products) as works,"+
		" (select count(*) as missing from series where "+oneLanguage("title")+" or "+oneLanguage("text")+") as series,"+
		" (select count(*) as missing from cover_images where "+oneLanguage("title")+" or "+oneLanguage("description")+
		" or (coalesce(alt_en, '') = '' or coalesce(alt_pt, '') = '') and coalesce(media_type, '') <> 'video') as covers,"+
		" (select count(*) as missing from reviews where "+oneLanguage("message")+") as reviews").
		Scan(&m.Works.Title, &m.Works.Description, &m.Works.Medium, &m.Works.SEO, &m.Works.AltTexts, &m.Series, &m.Covers, &m.Reviews)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(m)
	return string(text), err
}
