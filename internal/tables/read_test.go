package tables

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// fill inserts the fixture of the read tests: eight works, of which 2 to 4 have the same created_at; four reviews, of which two have the same
// display_order and one has none; three covers, of which one is hidden; and two messages.
func (s *site) fill() {
	s.t.Helper()
	at := func(n int) time.Time { return today.Add(time.Duration(n) * time.Hour) }
	same := at(2)
	insert := func(table string, rows ...map[string]any) {
		s.t.Helper()
		if err := s.service.InsertRows(context.Background(), identity.Caller{Role: identity.Service}, table, rows); err != nil {
			s.t.Fatal(err)
		}
	}
	insert("products",
		map[string]any{"id": id(1), "title": "Água-forte", "artwork_type": "digital", "is_featured": true, "created_at": at(1), "tags": []string{"água", "azul"}, "creation_date": "2024-02-29", "medium": "Aguarela"},
		map[string]any{"id": id(2), "title": "Mural, with \"quotes\" (and more)", "artwork_type": "mural", "created_at": same, "tags": []string{"a,b", `c"d`, `e\f`, "{g}"}, "dimensions": "3 × 4 m"},
		map[string]any{"id": id(3), "title": "mural do Porto", "artwork_type": "mural", "is_featured": true, "in_stock": false, "created_at": same, "description": "Line one\nline two\u2028<b>&amp;</b> \\ / \u007f 😀"},
		map[string]any{"id": id(4), "title": "100% AÇÃO_1", "artwork_type": "watercolour", "created_at": same, "image_gallery": []string{"/a.jpg", "/b.jpg"}, "tags": []string{}, "creation_date": time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)},
		map[string]any{"id": id(5), "title": "Oil", "artwork_type": "oil", "created_at": at(5), "price": 900, "medium": "oil"},
		map[string]any{"id": id(6), "title": "acrylic", "artwork_type": "acrylic", "created_at": at(6)},
		map[string]any{"id": id(7), "title": "No type", "created_at": at(7).Add(123456 * time.Microsecond), "is_featured": true},
		map[string]any{"id": id(8), "title": "Zebra", "artwork_type": "digital", "created_at": at(8), "medium": ""},
	)
	insert("reviews",
		map[string]any{"id": id(1), "client_name": "Ana", "message": "Lovely", "display_order": 2, "created_at": at(1)},
		map[string]any{"id": id(2), "client_name": "Bia", "message": "Great", "display_order": 2, "created_at": at(2)},
		map[string]any{"id": id(3), "client_name": "Caio", "message": "Hidden", "display_order": 1, "is_active": false, "created_at": at(3)},
		map[string]any{"id": id(4), "client_name": "Duarte", "message": "Late", "created_at": at(4)},
	)
	s.exec("update reviews set display_order = null where id = $1", id(4))
	insert("cover_images",
		map[string]any{"id": id(1), "image_url": "/1.mp4", "media_type": "video", "video_thumbnail_url": "/1.mp4", "display_order": 2, "created_at": at(1)},
		map[string]any{"id": id(2), "image_url": "/2.jpg", "media_type": "image", "display_order": 1, "created_at": at(2)},
		map[string]any{"id": id(3), "image_url": "/3.jpg", "media_type": "gif", "display_order": 1, "is_active": false, "created_at": at(3)},
	)
	insert("contact_submissions",
		map[string]any{"id": id(1), "name": "Inês", "email": "ines@example.pt", "message": "Olá, gostei muito", "created_at": at(1)},
		map[string]any{"id": id(2), "name": "John", "email": "john@example.com", "message": "Hello there, I'd like", "reason": "commission", "status": "read", "created_at": at(2)},
	)
	s.changed = nil
}

// ids returns the last digit of each row's id, which keeps tables of expected results short.
func ids(t testing.TB, body string) string {
	t.Helper()
	var out []string
	for part := range strings.SplitSeq(body, `"id":"00000000-0000-4000-8000-00000000000`) {
		out = append(out, part[:1])
	}
	return strings.Join(out[1:], "")
}

// Proves S4-active-1.
func TestReadsOfTheSite(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for _, c := range []struct{ name, who, path, want string }{
			{"covers", anonymous, "cover_images?select=*&is_active=eq.true&order=display_order.asc", `[` +
				`{"id":"` + id(2) + `","image_url":"/2.jpg","title":null,"description":null,"media_type":"image","video_thumbnail_url":null,"is_active":true,"display_order":1,"created_at":"2026-03-12T11:30:00.25+00:00","visible_from":null,"visible_until":null,"title_pt":null,"description_pt":null,"alt_en":null,"alt_pt":null},` +
				`{"id":"` + id(1) + `","image_url":"/1.mp4","title":null,"description":null,"media_type":"video","video_thumbnail_url":"/1.mp4","is_active":true,"display_order":2,"created_at":"2026-03-12T10:30:00.25+00:00","visible_from":null,"visible_until":null,"title_pt":null,"description_pt":null,"alt_en":null,"alt_pt":null}]`},
			{"reviews of the page", anonymous, "reviews?select=*&is_active=eq.true&order=display_order.asc", `[` +
				`{"id":"` + id(2) + `","client_name":"Bia","location":null,"message":"Great","image_url":null,"is_active":true,"display_order":2,"created_at":"2026-03-12T11:30:00.25+00:00","message_pt":null,"from_commission":false},` +
				`{"id":"` + id(1) + `","client_name":"Ana","location":null,"message":"Lovely","image_url":null,"is_active":true,"display_order":2,"created_at":"2026-03-12T10:30:00.25+00:00","message_pt":null,"from_commission":false},` +
				`{"id":"` + id(4) + `","client_name":"Duarte","location":null,"message":"Late","image_url":null,"is_active":true,"display_order":null,"created_at":"2026-03-12T13:30:00.25+00:00","message_pt":null,"from_commission":false}]`},
			{"one product whole", anonymous, "products?id=eq." + id(3), `[{"id":"` + id(3) + `","title":"mural do Porto","description":"Line one\nline two` + "\u2028" + `<b>&amp;</b> \\ / ` + "\u007f" + ` 😀","artwork_type":"mural","image_url":null,"image_gallery":[],"video_gallery":[],` +
				`"is_featured":true,"in_stock":false,"dimensions":null,"medium":null,"creation_date":null,"tags":[],"is_customizable":false,"seo_meta_title":null,"seo_meta_desc":null,"price":0,"created_at":"2026-03-12T11:30:00.25+00:00","published_at":"2026-03-12T09:30:00.25+00:00","title_pt":null,"description_pt":null,"dimensions_pt":null,"medium_pt":null,"seo_meta_title_pt":null,"seo_meta_desc_pt":null,"alt_texts":null}]`},
			{"lists", anonymous, "products?select=tags,image_gallery,creation_date&order=created_at&limit=4", `[{"tags":["água","azul"],"image_gallery":[],"creation_date":"2024-02-29"},` +
				`{"tags":["a,b","c\"d","e\\f","{g}"],"image_gallery":[],"creation_date":null},{"tags":[],"image_gallery":[],"creation_date":null},{"tags":[],"image_gallery":["/a.jpg","/b.jpg"],"creation_date":"2025-01-02"}]`},
			{"role of the signed-in admin", admin, "user_roles?select=role&user_id=eq." + adminID, `[{"role":"admin"}]`},
			{"messages", admin, "contact_submissions?select=name,status,reason,created_at&order=created_at.desc", `[{"name":"John","status":"read","reason":"commission","created_at":"2026-03-12T11:30:00.25+00:00"},` +
				`{"name":"Inês","status":"new","reason":"general","created_at":"2026-03-12T10:30:00.25+00:00"}]`},
			{"microseconds", anonymous, "products?select=created_at,price&title=eq.No%20type", `[{"created_at":"2026-03-12T16:30:00.373456+00:00","price":0}]`},
		} {
			s.want(c.name, s.call(c.who, "GET", c.path, ""), 200, c.want)
		}
		for _, c := range []struct{ name, who, path, want string }{
			{"home strip", anonymous, "products?select=*&is_featured=eq.true&order=created_at.desc", "731"},
			{"gallery", anonymous, "products?select=*&artwork_type=not.in.(oil,acrylic)&order=created_at.desc", "82341"},
			{"gallery, murals", anonymous, "products?select=*&artwork_type=eq.mural&order=created_at.desc", "23"},
			{"admin's products", admin, "products?select=*&order=created_at.desc", "87652341"},
			{"admin's reviews", admin, "reviews?select=*&order=display_order.asc,created_at.desc", "3214"},
			{"admin's covers", admin, "cover_images?select=*&order=display_order", "321"},
		} {
			if got := s.call(c.who, "GET", c.path, ""); got.status != 200 || ids(t, got.body) != c.want {
				t.Errorf("%s: got %d, rows %s, want %s", c.name, got.status, ids(t, got.body), c.want)
			}
		}
	})
}

func TestFilters(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for query, want := range map[string]string{
			"title=eq.Oil":  "5",
			"title=eq.oil":  "",
			"title=neq.Oil": "1234678",
			`title=eq.Mural, with "quotes" (and more)`:             "2", // outside of lists nothing needs quotes
			"price=eq.0&price=gte.0&price=lte.0":                   "12345678",
			"price=gt.0":                                           "",
			"price=lt.1":                                           "12345678",
			"title=gt.a":                                           "136", // by code point, on both engines
			"title=lte.No type":                                    "247",
			"is_featured=eq.true":                                  "137",
			"is_featured=eq.T":                                     "137",
			"is_featured=is.true":                                  "137",
			"is_featured=is.FALSE":                                 "24568",
			"is_featured=is.unknown":                               "",
			"is_featured=not.is.unknown":                           "12345678",
			"in_stock=gt.false":                                    "1245678",
			"medium=is.null":                                       "23467",
			"medium=not.is.null":                                   "158",
			"medium=eq.":                                           "8",
			"medium=isdistinct.oil":                                "1234678",
			"medium=not.isdistinct.oil":                            "5",
			"medium=neq.oil":                                       "18", // unknown is not true
			"artwork_type=in.(oil,acrylic)":                        "56",
			"artwork_type=not.in.(oil,acrylic)":                    "12348",
			"artwork_type=in.()":                                   "",
			"artwork_type=not.in.()":                               "12345678",
			`title=in.("Mural, with \"quotes\" (and more)",Oil)`:   "25",
			`title=in.("Oil","Zebra")`:                             "58",
			`title=in.(Oil,"Zebra"x)`:                              "5", // quotes inside a value are part of it
			"id=in.(" + id(1) + "," + strings.ToUpper(id(8)) + ")": "18",
			"id=eq.{" + id(1) + "}":                                "1",
			"is_featured=in.(true,f)":                              "12345678",
			"price=in.(0,1)":                                       "12345678",
			"creation_date=in.(2024-02-29)":                        "1",
			"creation_date=eq.2025-01-02":                          "4",
			"creation_date=gt.2024-02-29":                          "4",
			"creation_date=eq.2025-01-02T23:59:59-03:00":           "4", // the time of day is ignored
			"created_at=eq.2026-03-12T11:30:00.25%2B00:00":         "234",
			"created_at=eq.2026-03-12T12:30:00.250%2B01:00":        "234",
			"created_at=in.(2026-03-12 11:30:00.25)":               "234",
			"created_at=gte.2026-03-12T14:30:00.25Z":               "5678",
			"created_at=gt.2026-03-12T16:30:00.373455Z":            "78",
			"created_at=lt.2026-03-12T16:30:00.373456Z":            "123456",
			"title=like.*ural*":                                    "23",
			"title=like.M*":                                        "2",
			"title=like.%25ural%25":                                "23",
			"title=like.Zebr_":                                     "8",
			"title=like._gua-forte":                                "1", // one letter, not one byte
			`title=like.100\%25*`:                                  "4",
			`title=like.100\_*`:                                    "",
			`title=like.*\_1`:                                      "4",
			"title=not.like.*a*":                                   "457",
			"title=ilike.MURAL*":                                   "23",
			"title=ilike.água*":                                    "1",
			"title=ilike.ÁGUA*":                                    "1",
			"title=ilike.*ação*":                                   "4",
			"title=ilike.agua*":                                    "",
			"title=not.ilike.*O*":                                  "68",
			"medium=ilike.*":                                       "158",
			"title=like(any).{M*,Z*}":                              "28",
			"title=like(all).{*u*,*o*}":                            "123",
			"title=not.like(any).{M*,Z*}":                          "134567",
			"title=ilike(any).{OIL,zebra}":                         "58",
			"title=eq(any).{Oil,Zebra}":                            "58",
			"price=gt(all).{-2,-1}":                                "12345678",
			"title=eq(any).{}":                                     "",
			"title=eq(all).{}":                                     "12345678",
			"tags=cs.{água}":                                       "1",
			"tags=cs.{azul,água}":                                  "1",
			`tags=cs.{"a,b"}`:                                      "2",
			`tags=cs.{"c\"d","e\\f","{g}"}`:                        "2",
			"tags=cs.{}":                                           "12345678",
			"tags=cs.{null}":                                       "",
			"tags=not.cs.{azul}":                                   "2345678",
			"tags=cd.{água,azul,verde}":                            "1345678",
			"tags=cd.{}":                                           "345678",
			"tags=ov.{azul,verde}":                                 "1",
			"tags=ov.{}":                                           "",
			"tags=eq.{água,azul}":                                  "1",
			"tags=eq.{azul,água}":                                  "",
			"tags=neq.{}":                                          "12",
			"tags=is.null":                                         "",
			"or=(title.eq.Oil,title.eq.Zebra)":                     "58",
			`or=(title.eq."Mural, with \"quotes\" (and more)",title.eq.Zebra)`:         "28",
			"or=(artwork_type.is.null,and(artwork_type.eq.mural,is_featured.is.true))": "37",
			"or=( title.eq.Oil , tags.cs.{azul,água} )":                                "1", // a value without quotes keeps its space
			"and=(artwork_type.eq.mural,or(title.like.M*,title.like.m*))":              "23",
			"not.or=(title.like.*a*,title.like.*o*)":                                   "45",
			"not.and=(artwork_type.eq.mural,is_featured.is.true)":                      "124568",
			"or=(not.and(price.eq.0,in_stock.is.true),title.not.like.*)":               "3",
			"or=(id.in.(" + id(1) + "," + id(2) + "),title.in.(\"Oil\",Zebra))":        "1258",
			"or=(title.like(any).{M*,Z*},title.eq.Oil)":                                "258",
			`"title"=eq.Oil`:              "5",
			"title=eq.Oil&title=eq.Zebra": "",
			"title=gte.A&title=lt.N":      "2",
			"apikey=abc&title=eq.Oil":     "5",
		} {
			got := s.call(anonymous, "GET", "products?select=id&order=id&"+escape(query), "")
			if got.status != 200 || ids(t, got.body) != want {
				t.Errorf("%s: got %d, rows %q, want %q (%s)", query, got.status, ids(t, got.body), want, truncate(got.body))
			}
		}
	})
}

// escape encodes a readable query as the client does. Escaped parts stay unchanged.
func escape(query string) string {
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		key, value, found := strings.Cut(part, "=")
		plain, err := url.PathUnescape(value)
		if err != nil {
			plain = value
		}
		p := url.QueryEscape(key)
		if found {
			p += "=" + url.QueryEscape(plain)
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "&")
}

func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for query, want := range map[string]string{
			"":                                      "87652341", // the newest first, rows of equal times by id
			"order=created_at":                      "12345678",
			"order=created_at.desc":                 "87652341",
			"order=title":                           "42758631", // by code point
			"order=title.desc":                      "13685724",
			"order=medium":                          "81576234", // nulls last, among them the newest first
			"order=medium.desc":                     "76234518",
			"order=medium.nullsfirst":               "76234815",
			"order=medium.desc.nullslast":           "51876234",
			"order=medium.asc.nullslast,id.desc":    "81576432",
			"order=creation_date":                   "14876523",
			"order=is_featured.desc,title":          "73142586",
			"order=artwork_type,id":                 "61823547",
			"order=artwork_type.desc&order=id.desc": "74532816",
			"order=%22title%22.asc":                 "42758631",
		} {
			got := s.call(anonymous, "GET", "products?select=id&"+query, "")
			if got.status != 200 || ids(t, got.body) != want {
				t.Errorf("%s: got %d, rows %s, want %s", query, got.status, ids(t, got.body), want)
			}
		}
	})
}

func TestSelect(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for query, want := range map[string]string{
			"select=title,price":              `[{"title":"Oil","price":0}]`,
			"select=price,title,price":        `[{"price":0,"title":"Oil","price":0}]`,
			"select=name:title,on:in_stock":   `[{"name":"Oil","on":true}]`,
			"select=price:title,t:price":      `[{"price":"Oil","t":0}]`, // names of columns and of tables in use
			"select=products:title,row:id":    `[{"products":"Oil","row":"` + id(5) + `"}]`,
			"select=nome%20do%20quadro:title": `[{"nome do quadro":"Oil"}]`,
			"select=%22t%C3%ADtulo%22:title":  `[{"título":"Oil"}]`,
			"select=%22title%22":              `[{"title":"Oil"}]`,
			"select=%20title%20,%20medium":    `[{"title":"Oil","medium":"oil"}]`,
			"select=title,*&select=id":        strings.Replace(s.call(anonymous, "GET", "products?title=eq.Oil", "").body, "[{", `[{"title":"Oil",`, 1),
			"select=":                         `[{}]`,
		} {
			s.want(query, s.call(anonymous, "GET", "products?title=eq.Oil&"+query, ""), 200, want)
		}
	})
}

func TestRangesAndCounts(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		const exact = "Prefer: count=exact"
		for _, c := range []struct {
			query, headers string
			status         int
			rows, shown    string // Content-Range
		}{
			{"", "", 200, "12345678", "0-7/*"},
			{"", exact, 200, "12345678", "0-7/8"},
			{"", "Prefer: count=planned", 200, "12345678", "0-7/8"},
			{"", "Prefer: count=estimated", 200, "12345678", "0-7/8"},
			{"", "Prefer: count=none", 200, "12345678", "0-7/*"},
			{"limit=3", "", 200, "123", "0-2/*"},
			{"limit=3", exact, 206, "123", "0-2/8"},
			{"limit=8", exact, 200, "12345678", "0-7/8"},
			{"limit=3&offset=2", exact, 206, "345", "2-4/8"},
			{"limit=3&offset=6", exact, 206, "78", "6-7/8"},
			{"limit=9223372036854775807&offset=6", exact, 206, "78", "6-7/8"},
			{"offset=6", "", 200, "78", "6-7/*"},
			{"offset=-4", "", 200, "12345678", "0-7/*"},
			{"offset=8", exact, 206, "", "*/8"},
			{"offset=8", "", 200, "", "*/*"},
			{"offset=900", "", 200, "", "*/*"},
			{"limit=0", "", 200, "", "*/*"},
			{"limit=0&offset=5", exact, 206, "", "*/8"},
			{"title=eq.none", exact, 200, "", "*/0"},
			{"title=eq.none", "", 200, "", "*/*"},
			{"title=eq.Oil", exact, 200, "5", "0-0/1"},
			{"", "Range: 0-1", 200, "12", "0-1/*"},
			{"", "Range: 2-", 200, "345678", "2-7/*"},
			{"", "Range: 2-3|" + exact, 206, "34", "2-3/8"},
			{"", "Range: 5-100|" + exact, 206, "678", "5-7/8"},
			{"limit=3", "Range: 0-1", 200, "12", "0-1/*"},
			{"limit=3&offset=1", "Range: 2-7", 200, "34", "2-3/*"},
			{"", "Range: bytes=0-1", 200, "12345678", "0-7/*"},
			{"", "Range: 1-99999999999999999999", 200, "2345678", "1-7/*"},
		} {
			headers := strings.Split(c.headers, "|")
			if c.headers == "" {
				headers = nil
			}
			got := s.call(anonymous, "GET", "products?select=id&order=id&"+c.query, "", headers...)
			if got.status != c.status || ids(t, got.body) != c.rows || got.header.Get("Content-Range") != c.shown {
				t.Errorf("%s %s: got %d, rows %s, %s", c.query, c.headers, got.status, ids(t, got.body), got.header.Get("Content-Range"))
			}
			if len(headers) > 0 && strings.HasPrefix(headers[0], "Range") {
				continue // only for GET
			}
			head := s.call(anonymous, "HEAD", "products?select=id&order=id&"+c.query, "", headers...)
			if head.status != c.status || head.body != "" || head.header.Get("Content-Range") != c.shown || head.header.Get("Content-Type") != got.header.Get("Content-Type") {
				t.Errorf("HEAD %s %s: got %d %q %v", c.query, c.headers, head.status, head.body, head.header)
			}
		}
		if got := s.call(anonymous, "HEAD", "products", "", "Range: 0-1").header.Get("Content-Range"); got != "0-7/*" {
			t.Errorf("HEAD takes no Range: got %s", got)
		}
		for query, details := range map[string]string{
			"offset=9":               "An offset of 9 was requested, but there are only 8 rows.",
			"offset=1&title=eq.none": "An offset of 1 was requested, but there are only 0 rows.",
			"limit=-1":               "Limit should be greater than or equal to zero.",
		} {
			got := s.call(anonymous, "GET", "products?"+query, "", exact)
			if e := s.refused(query, got, 416, "PGRST103"); e.Details == nil || *e.Details != details {
				t.Errorf("%s: %s", query, got.body)
			}
			if got := s.call(anonymous, "HEAD", "products?"+query, "", exact); got.status != 416 {
				t.Errorf("HEAD %s: got %d", query, got.status)
			}
		}
		if got := s.call(anonymous, "GET", "products?offset=9", "", exact).header.Get("Content-Range"); got != "*/8" {
			t.Errorf("past the end: %s", got)
		}
		s.refused("a range upside down", s.call(anonymous, "GET", "products", "", "Range: 1-0"), 416, "PGRST103")
		s.refused("a range outside the limit", s.call(anonymous, "GET", "products?limit=2", "", "Range: 5-6"), 416, "PGRST103")
	})
}

func TestReadsReturnAtMostAThousandRows(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for part := range 3 {
			rows := make([]map[string]any, 401)
			for i := range rows {
				rows[i] = map[string]any{"title": fmt.Sprintf("Product %d-%d", part, i)}
			}
			if err := s.service.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "products", rows); err != nil {
				t.Fatal(err)
			}
		}
		for _, query := range []string{"", "&limit=1100"} {
			got := s.call(anonymous, "GET", "products?select=price"+query, "", "Prefer: count=exact")
			if got.status != 206 || got.header.Get("Content-Range") != "0-999/1203" || strings.Count(got.body, "{") != 1000 {
				t.Errorf("got %d %s, %d rows", got.status, got.header.Get("Content-Range"), strings.Count(got.body, "{"))
			}
			if head := s.call(anonymous, "HEAD", "products?select=price"+query, "", "Prefer: count=exact"); head.header.Get("Content-Range") != "0-999/1203" {
				t.Errorf("HEAD: %s", head.header.Get("Content-Range"))
			}
		}
	})
}

// Proves T-accept-array.
func TestResponseFormats(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		const one = "products?select=title&title=eq.Oil"
		for accept, want := range map[string]struct{ media, body string }{
			"*/*":                              {"application/json; charset=utf-8", `[{"title":"Oil"}]`},
			"application/json":                 {"application/json; charset=utf-8", `[{"title":"Oil"}]`},
			"application/vnd.pgrst.array+json": {"application/json; charset=utf-8", `[{"title":"Oil"}]`},
			"text/html,application/xml;q=0.9,*/*;q=0.8":                 {"application/json; charset=utf-8", `[{"title":"Oil"}]`},
			"application/vnd.pgrst.object+json":                         {"application/vnd.pgrst.object+json; charset=utf-8", `{"title":"Oil"}`},
			"application/vnd.pgrst.object":                              {"application/vnd.pgrst.object+json; charset=utf-8", `{"title":"Oil"}`},
			"application/json;q=0.5, application/vnd.pgrst.object+json": {"application/vnd.pgrst.object+json; charset=utf-8", `{"title":"Oil"}`},
			"application/vnd.pgrst.object+json;nulls=stripped":          {"application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8", `{"title":"Oil"}`},
			"application/vnd.pgrst.array+json;nulls=stripped":           {"application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8", `[{"title":"Oil"}]`},
			"application/json;nulls=stripped":                           {"application/json; charset=utf-8", `[{"title":"Oil"}]`},
			"text/csv":                                                  {"text/csv; charset=utf-8", "title\nOil"},
		} {
			got := s.call(anonymous, "GET", one, "", "Accept: "+accept)
			s.want(accept, got, 200, want.body)
			if got.header.Get("Content-Type") != want.media {
				t.Errorf("%s: got %s", accept, got.header.Get("Content-Type"))
			}
			head := s.call(anonymous, "HEAD", one, "", "Accept: "+accept)
			if head.status != 200 || head.body != "" || head.header.Get("Content-Type") != want.media {
				t.Errorf("HEAD %s: got %d %q %v", accept, head.status, head.body, head.header)
			}
		}
		for _, accept := range []string{"application/vnd.pgrst.plan+json", "application/vnd.pgrst.plan+text; for=\"application/json\"", "application/geo+json", "application/octet-stream", "application/json;q=NaN", "image/png, text/html", "application/json;q=0", "nonsense;;"} {
			s.refused(accept, s.call(anonymous, "GET", one, "", "Accept: "+accept), 406, "PGRST107")
		}
		for query, n := range map[string]string{"title=eq.none": "0", "artwork_type=eq.mural": "2", "": "8", "limit=3": "3", "limit=0": "0"} {
			got := s.call(anonymous, "GET", "products?"+query, "", "Accept: application/vnd.pgrst.object+json")
			if e := s.refused(query, got, 406, "PGRST116"); e.Details == nil || *e.Details != "The result contains "+n+" rows" || e.Message != "JSON object requested, multiple (or no) rows returned" {
				t.Errorf("%q: %s", query, got.body)
			}
			if head := s.call(anonymous, "HEAD", "products?"+query, "", "Accept: application/vnd.pgrst.object+json"); head.status != 406 {
				t.Errorf("HEAD %q: got %d", query, head.status)
			}
		}
		s.want("one by its place", s.call(anonymous, "GET", "products?select=title&order=title&limit=1", "", "Accept: application/vnd.pgrst.object+json"), 200, `{"title":"100% AÇÃO_1"}`)
		// The schema can be named, as the client does.
		got := s.call(anonymous, "GET", one, "", "Accept-Profile: public")
		if got.status != 200 || got.header.Get("Content-Profile") != "public" {
			t.Errorf("public: %d %v", got.status, got.header)
		}
		s.refused("schema auth", s.call(anonymous, "GET", one, "", "Accept-Profile: auth"), 406, "PGRST106")
		s.refused("schema auth", s.call(admin, "POST", "products", `{"title":"A"}`, "Content-Profile: auth"), 406, "PGRST106")
	})
}

// Proves T-prefer-applied.
func TestPreferencesOfReads(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for prefer, want := range map[string]string{
			"":                                       "",
			"count=exact":                            "count=exact",
			"count=estimated":                        "count=estimated",
			"count=planned":                          "count=planned",
			"timezone=UTC, count=exact":              "count=exact, timezone=UTC",
			"timezone=Europe/Lisbon":                 "",
			"tx=rollback":                            "",
			"return=representation, count=exact":     "count=exact",
			"count=exact,handling=lenient,something": "count=exact, handling=lenient",
			"handling=strict , tx=rollback":          "handling=strict",
		} {
			if got := s.call(anonymous, "GET", "products", "", "Prefer: "+prefer); got.status != 200 || got.header.Get("Preference-Applied") != want {
				t.Errorf("%q: got %d %q", prefer, got.status, got.header.Get("Preference-Applied"))
			}
		}
		got := s.call(anonymous, "GET", "products", "", "Prefer: handling=strict, color=blue", "Prefer: max-affected=many")
		if e := s.refused("strict", got, 400, "PGRST122"); e.Details == nil || *e.Details != "Invalid preferences: color=blue, max-affected=many" {
			t.Errorf("strict: %s", got.body)
		}
	})
}

// TestCountsAreConsistentWithTheirRows reads during concurrent writes. Count and rows must be from one point in time.
func TestCountsAreConsistentWithTheirRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 60 {
				if err := s.service.InsertRows(context.Background(), identity.Caller{Role: identity.Service}, "products", []map[string]any{{"title": fmt.Sprint(i)}}); err != nil {
					t.Error(err)
				}
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			got := s.call(anonymous, "GET", "products?select=id", "", "Prefer: count=exact")
			if n := strings.Count(got.body, "{"); n > 0 && (got.status != http.StatusOK || got.header.Get("Content-Range") != fmt.Sprintf("0-%d/%d", n-1, n)) {
				t.Fatalf("%d rows, but %d %s", n, got.status, got.header.Get("Content-Range"))
			}
		}
	})
}

// Proves T-limits-time.
func TestSlowReadIsCancelled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.service.readTimeout = time.Nanosecond
		for _, method := range []string{"GET", "HEAD"} {
			r := httptest.NewRequest(method, "/rest/v1/products", nil)
			r.SetPathValue("table", "products")
			err := s.service.Read(httptest.NewRecorder(), r)
			if e := apperr.From(err); !errors.Is(e, apperr.Timeout) || e.Cause == nil {
				t.Errorf("%s: got %v", method, err)
			}
		}
	})
}

// Proves T-limits-time.
func TestErrorsOfOtherPackagesHavePostgRESTsCodes(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{errors.New("disk on fire"), 500, `{"code":"PGRSTX00","details":null,"hint":null,"message":"Unexpected failure, please check server logs for more information"}`},
		{apperr.Timeout.Becausef("slow"), 504, `{"code":"57014","details":null,"hint":null,"message":"canceling statement due to statement timeout"}`},
		{httpx.ErrTooLarge, 413, `{"code":"54000","details":null,"hint":null,"message":"The request is too large"}`},
		{identity.ErrExpired.Becausef("an hour ago"), 401, `{"code":"PGRST303","details":null,"hint":null,"message":"JWT expired"}`},
		{identity.ErrBadToken, 401, `{"code":"PGRST301","details":null,"hint":null,"message":"JWT invalid"}`},
		{identity.ErrNoKey, 401, "{\"code\":\"PGRST302\",\"details\":null,\"hint\":\"No `apikey` request header or url param was found.\",\"message\":\"No API key found in request\"}"},
	} {
		rec := httptest.NewRecorder()
		WriteError(rec, httptest.NewRequest("GET", "/", nil), apperr.From(c.err))
		if rec.Code != c.status || rec.Body.String() != c.body {
			t.Errorf("%v: got %d %s", c.err, rec.Code, rec.Body)
		}
	}
}
