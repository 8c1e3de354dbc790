package tables

import (
	"strconv"
	"strings"
	"testing"
)

// Proves T-texts-pt.
func TestPortugueseTextsHaveTheirOwnColumns(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.want("a work", s.call(admin, "POST", "products?select=title,title_pt,description_pt,dimensions_pt,medium_pt,seo_meta_title_pt,seo_meta_desc_pt",
			`{"title":"Sea","title_pt":"Mar","description_pt":"Azul","dimensions_pt":"grande","medium_pt":"Óleo","seo_meta_title_pt":"O mar","seo_meta_desc_pt":"Mar, óleo"}`, representation), 201,
			`[{"title":"Sea","title_pt":"Mar","description_pt":"Azul","dimensions_pt":"grande","medium_pt":"Óleo","seo_meta_title_pt":"O mar","seo_meta_desc_pt":"Mar, óleo"}]`)
		s.want("by its title", s.call(anonymous, "GET", "products?select=title&title_pt=ilike.*mar*&order=medium_pt.asc", ""), 200, `[{"title":"Sea"}]`)
		s.want("a review", s.call(admin, "POST", "reviews?select=message_pt", `{"client_name":"Rui","message":"Good","message_pt":"Bom"}`, representation), 201, `[{"message_pt":"Bom"}]`)
		s.want("a cover", s.call(admin, "POST", "cover_images?select=title_pt,description_pt,alt_en,alt_pt", `{"image_url":"/a.jpg","title_pt":"Mar","description_pt":"Azul","alt_en":"The sea","alt_pt":"O mar"}`, representation), 201,
			`[{"title_pt":"Mar","description_pt":"Azul","alt_en":"The sea","alt_pt":"O mar"}]`)
		for body, table := range map[string]string{
			`{"title":"A","title_pt":"` + strings.Repeat("é", maxTitle+1) + `"}`:                         "products",
			`{"client_name":"A","message":"B","message_pt":"` + strings.Repeat("é", maxMessage+1) + `"}`: "reviews",
			`{"image_url":"/a.jpg","alt_pt":"` + strings.Repeat("é", maxAlt+1) + `"}`:                    "cover_images",
			`{"title":"A","alt_texts":{"/a.jpg":{"en":"` + strings.Repeat("é", maxAlt+1) + `"}}}`:        "products",
			`{"title":"A","alt_texts":{"/` + strings.Repeat("a", maxAddress) + `":{"en":"x"}}}`:          "products",
			`{"title":"A","alt_texts":{` + strings.TrimSuffix(manyAltTexts(maxGallery+2), ",") + `}}`:    "products",
		} {
			s.refused("too long", s.call(admin, "POST", table, body), 400, "22001")
		}
	})
}

// manyAltTexts returns n members of a value of alt_texts.
func manyAltTexts(n int) string {
	var all strings.Builder
	for i := range n {
		all.WriteString(`"/` + id(i) + `":{"en":"x"},`)
	}
	return all.String()
}

// Proves T-review-mark.
func TestAReviewIsMarkedOnlyIfItsRowSaysSo(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.want("without", s.call(admin, "POST", "reviews?select=from_commission", `{"client_name":"Rui","message":"Good"}`, representation), 201, `[{"from_commission":false}]`)
		s.want("with", s.call(admin, "POST", "reviews?select=from_commission", `{"client_name":"Ana","message":"Good","from_commission":true}`, representation), 201, `[{"from_commission":true}]`)
		s.want("found by it", s.call(anonymous, "GET", "reviews?select=client_name&from_commission=is.true", ""), 200, `[{"client_name":"Ana"}]`)
		s.refused("null", s.call(admin, "POST", "reviews", `{"client_name":"Rui","message":"Good","from_commission":null}`), 400, "23502")
	})
}

// Proves T-alt-texts.
func TestAltTexts(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		read := func() string {
			return s.call(anonymous, "GET", "products?select=alt_texts&id=eq."+id(1), "").body
		}
		// Both databases return the same bytes: the texts are sorted and empty ones are left out, however the body was written.
		s.want("insert", s.call(admin, "POST", "products?select=alt_texts", `{"id":"`+id(1)+`","title":"A","alt_texts":{"/b.jpg": {"pt":"B \"é\" <p>","en":"b"},"/a.jpg":{"en":"a","pt":" "},"/c.jpg":{}}}`, representation), 201,
			`[{"alt_texts":{"/a.jpg":{"en":"a"},"/b.jpg":{"en":"b","pt":"B \"é\" <p>"}}}]`)
		s.want("another name", s.call(anonymous, "GET", "products?select=texts:alt_texts", ""), 200, `[{"texts":{"/a.jpg":{"en":"a"},"/b.jpg":{"en":"b","pt":"B \"é\" <p>"}}}]`)
		if got := s.call(anonymous, "GET", "products?select=alt_texts", "", "Accept: text/csv"); got.status != 200 || !strings.HasPrefix(got.body, "alt_texts\n\"{\"\"/a.jpg") {
			t.Errorf("CSV: %d %s", got.status, got.body)
		}
		for name, c := range map[string]struct{ body, want string }{
			"an update":                    {`{"alt_texts":{"/a.jpg":{"pt":"x"}}}`, `[{"alt_texts":{"/a.jpg":{"pt":"x"}}}]`},
			"as revisions have it":         {`{"alt_texts":"{\"/a.jpg\":{\"en\":\"y\"}}"}`, `[{"alt_texts":{"/a.jpg":{"en":"y"}}}]`},
			"null":                         {`{"alt_texts":null}`, `[{"alt_texts":null}]`},
			"an empty object is no text":   {`{"alt_texts":{}}`, `[{"alt_texts":null}]`},
			"empty texts are no texts too": {`{"alt_texts":{"/a.jpg":{"en":""}}}`, `[{"alt_texts":null}]`},
		} {
			s.want(name, s.call(admin, "PATCH", "products?id=eq."+id(1), c.body), 204, "")
			if got := read(); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
		s.want("many rows", s.call(admin, "POST", "products", `[{"id":"`+id(1)+`","title":"A","alt_texts":{"/a.jpg":{"en":"a"}}},{"id":"`+id(2)+`","title":"B","alt_texts":null}]`, "Prefer: resolution=merge-duplicates"), 201, "")
		s.want("without", s.call(anonymous, "GET", "products?select=title&alt_texts=is.null", ""), 200, `[{"title":"B"}]`)
		s.want("with", s.call(anonymous, "GET", "products?select=title&or=(alt_texts.not.is.null,title.eq.C)", ""), 200, `[{"title":"A"}]`)

		for _, value := range []string{`[]`, `"x"`, `""`, `7`, `true`, `{"/a.jpg":"x"}`, `{"/a.jpg":{"de":"x"}}`, `{"/a.jpg":{"en":1}}`, `{"/a.jpg":{"en":null}}`, `{"/a.jpg":null}`, `["/a.jpg"]`} {
			s.refused(value, s.call(admin, "PATCH", "products?id=eq."+id(1), `{"alt_texts":`+value+`}`), 400, "22P02")
		}
		s.refused("a NUL", s.call(admin, "PATCH", "products?id=eq."+id(1), `{"alt_texts":{"/a.jpg":{"en":"\u0000"}}}`), 400, "22021")
		for _, query := range []string{"alt_texts=eq.x", "alt_texts=neq.{}", "alt_texts=like.*a*", "alt_texts=in.(a)", "alt_texts=cs.{a}", "alt_texts=not.gt.a", "or=(alt_texts.eq.x)", "order=alt_texts", "select=alt_texts->a", "select=alt_texts->>a", "alt_texts->>a=eq.x"} {
			s.refused(query, s.call(anonymous, "GET", "products?"+query, ""), 400, "0A000")
		}
		s.refused("a cast", s.call(anonymous, "GET", "products?select=alt_texts::text", ""), 400, "42846")
		s.refused("no boolean", s.call(anonymous, "GET", "products?alt_texts=is.true", ""), 400, "42804")
		if got := read(); got != `[{"alt_texts":{"/a.jpg":{"en":"a"}}}]` {
			t.Errorf("after refusals: %s", got)
		}
	})
}

// Proves T-rpc-missing.
func TestMissingTexts(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		none := `{"works":{"title":0,"description":0,"medium":0,"seo":0,"alt_texts":0},"series":0,"covers":0,"reviews":0}`
		s.want("an empty site", s.call(admin, "POST", "rpc/get_missing_texts", ""), 200, none)
		for n, values := range []string{
			`"title":"A","title_pt":"A","description":"","description_pt":null,"seo_meta_title":"S","seo_meta_desc":"S","seo_meta_desc_pt":"S"`,
			`"title":"B","title_pt":"","description":"x","description_pt":"y","medium":"Oil","image_url":"/b.jpg"`,
			`"title":"C","description_pt":"y","image_url":"/c.jpg","alt_texts":{"/c.jpg":{"pt":"C"}},"published_at":null,"seo_meta_desc_pt":"S"`,
		} {
			s.want("work", s.call(admin, "POST", "products", `{"id":"`+id(n+1)+`",`+values+`}`), 201, "")
		}
		for n, values := range []string{`"title":"A"`, `"title":"A","title_pt":"A","text_pt":"A","is_published":false`, `"title":"A","title_pt":"A"`} {
			s.want("series", s.call(admin, "POST", "series", `{"slug":"s`+strconv.Itoa(n)+`",`+values+`}`), 201, "")
		}
		for _, values := range []string{
			`"title":"A","alt_en":"A","alt_pt":"A"`, `"title":"A","title_pt":"A","description_pt":"A","alt_en":"A","alt_pt":"A"`, `"alt_pt":"A"`, `"title":"A","title_pt":"A"`,
			`"title":"A","title_pt":"A","alt_en":"A","alt_pt":"A"`, `"media_type":"video"`,
		} {
			s.want("cover", s.call(admin, "POST", "cover_images", `{"image_url":"/a.jpg",`+values+`}`), 201, "")
		}
		for _, values := range []string{`"message":"A"`, `"message":"A","message_pt":"A"`, `"message":"A","is_active":false`} {
			s.want("review", s.call(admin, "POST", "reviews", `{"client_name":"A",`+values+`}`), 201, "")
		}
		s.want("counts", s.call(admin, "GET", "rpc/get_missing_texts", ""), 200, `{"works":{"title":2,"description":1,"medium":1,"seo":2,"alt_texts":1},"series":2,"covers":4,"reviews":2}`)
		for who, status := range map[string]int{anonymous: 401, signedIn: 403} {
			s.refused(who, s.call(who, "POST", "rpc/get_missing_texts", "{}"), status, "42501")
		}
		s.want("service", s.call(service, "POST", "rpc/get_missing_texts", "{}"), 200, `{"works":{"title":2,"description":1,"medium":1,"seo":2,"alt_texts":1},"series":2,"covers":4,"reviews":2}`)
		s.refused("an argument", s.call(admin, "POST", "rpc/get_missing_texts", `{"a":1}`), 404, "PGRST202")
	})
}
