package tables

import (
	"context"

	"atelie/internal/db"
)

// This file contains the queries of the function get_missing_texts.

// oneLanguage returns the SQL condition that a row has a text in only one language. The English text is in column, and the Portuguese text
// is in the column with the suffix _pt. Exactly one of the two is empty.
func oneLanguage(column string) string {
	return "(coalesce(" + column + ", '') = '') <> (coalesce(" + column + "_pt, '') = '')"
}

// countMissingTexts counts the missing texts, with one subquery for each table.
func countMissingTexts(ctx context.Context, q db.Querier) (m missingTexts, err error) {
	err = q.QueryRow(ctx, "select works.title, works.description, works.medium, works.seo, works.alt_texts, series.missing, covers.missing, reviews.missing from"+
		" (select count(*) filter (where "+oneLanguage("title")+") as title, count(*) filter (where "+oneLanguage("description")+") as description,"+
		" count(*) filter (where "+oneLanguage("medium")+") as medium, count(*) filter (where "+oneLanguage("seo_meta_title")+" or "+oneLanguage("seo_meta_desc")+") as seo, count(*) filter (where alt_texts is null and image_url is not null) as alt_texts from products) as works,"+
		" (select count(*) as missing from series where "+oneLanguage("title")+" or "+oneLanguage("text")+") as series,"+
		" (select count(*) as missing from cover_images where "+oneLanguage("title")+" or "+oneLanguage("description")+
		" or (coalesce(alt_en, '') = '' or coalesce(alt_pt, '') = '') and coalesce(media_type, '') <> 'video') as covers,"+
		" (select count(*) as missing from reviews where "+oneLanguage("message")+") as reviews").
		Scan(&m.Works.Title, &m.Works.Description, &m.Works.Medium, &m.Works.SEO, &m.Works.AltTexts, &m.Series, &m.Covers, &m.Reviews)
	return m, err
}
