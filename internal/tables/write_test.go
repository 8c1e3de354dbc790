package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
)

const representation = "Prefer: return=representation"

func TestInsertAsTheSiteDoes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		// The body that the site's form for works sends.
		got := s.call(admin, "POST", "products?select=*", `{"title":"Água","description":"Uma \"onda\"","artwork_type":"watercolour","image_url":"https://x/a.jpg","image_gallery":["https://x/b.jpg"],"video_gallery":[],
			"is_featured":true,"in_stock":false,"dimensions":"30 × 40 cm","medium":"Papel","creation_date":"2026-01-31","tags":["mar","céu"],"is_customizable":true,"seo_meta_title":"T","seo_meta_desc":"D","price":0}`, representation)
		key := keysOf(t, got.body, "id")[0]
		if _, err := uuid.Parse(key); err != nil {
			t.Error(err)
		}
		whole := `{"id":"` + key + `","title":"Água","description":"Uma \"onda\"","artwork_type":"watercolour","image_url":"https://x/a.jpg","image_gallery":["https://x/b.jpg"],"video_gallery":[],` +
			`"is_featured":true,"in_stock":false,"dimensions":"30 × 40 cm","medium":"Papel","creation_date":"2026-01-31","tags":["mar","céu"],"is_customizable":true,"seo_meta_title":"T","seo_meta_desc":"D","price":0,"created_at":"2026-03-12T09:30:00.25+00:00","published_at":"2026-03-12T09:30:00.25+00:00","title_pt":null,"description_pt":null,"dimensions_pt":null,"medium_pt":null,"seo_meta_title_pt":null,"seo_meta_desc_pt":null,"alt_texts":null}`
		s.want("product", got, 201, "["+whole+"]")
		s.want("product, in a later read", s.call(anonymous, "GET", "products", "", "Accept: application/vnd.pgrst.object+json"), 200, whole)
		if h := got.header; h.Get("Preference-Applied") != "return=representation" || h.Get("Content-Range") != "*/*" || h.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("headers %v", h)
		}
		got = s.call(admin, "POST", "products", `{"title":"Only a title"}`)
		s.want("minimal by default", got, 201, "")
		if got.header.Get("Content-Type") != "" || got.header.Get("Preference-Applied") != "" {
			t.Errorf("headers %v", got.header)
		}
		s.want("defaults", s.call(anonymous, "GET", "products?title=like.Only*&select=description,image_gallery,is_featured,in_stock,tags,is_customizable,price,artwork_type", ""), 200,
			`[{"description":null,"image_gallery":[],"is_featured":false,"in_stock":true,"tags":[],"is_customizable":false,"price":0,"artwork_type":null}]`)
		s.want("price is always 0", s.call(admin, "POST", "products?select=price", `{"title":"Dear","price":900}`, representation), 201, `[{"price":0}]`)
		s.want("review", s.call(admin, "POST", "reviews?select=client_name,location,image_url,is_active,display_order", `{"client_name":"Ana","location":null,"message":"Lovely","image_url":null,"is_active":true}`, representation), 201,
			`[{"client_name":"Ana","location":null,"image_url":null,"is_active":true,"display_order":1}]`)
		s.want("cover", s.call(admin, "POST", "cover_images?select=media_type,video_thumbnail_url,display_order,is_active", `{"image_url":"/v.mp4","media_type":"video","display_order":1,"is_active":true,"video_thumbnail_url":"/v.mp4"}`, representation), 201,
			`[{"media_type":"video","video_thumbnail_url":"/v.mp4","display_order":1,"is_active":true}]`)
		if want := []string{"products", "products", "products", "reviews", "cover_images"}; !slices.Equal(s.changed, want) {
			t.Errorf("announced %v, want %v", s.changed, want)
		}
	})
}

func TestInsertForms(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		oneRow := `{"id":"` + id(1) + `","title":"A"}`
		for _, c := range []struct {
			name, query, body string
			headers           []string
			status            int
			want              string
			header, value     string
		}{
			{name: "one row, return=minimal", body: oneRow, headers: []string{"Prefer: return=minimal"}, status: 201, header: "Preference-Applied", value: "return=minimal"},
			{name: "one row, return=headers-only", body: oneRow, headers: []string{"Prefer: return=headers-only"}, status: 201, header: "Location", value: "/products?id=eq." + id(1)},
			{name: "one row, return=representation has no Location", body: oneRow, headers: []string{representation}, query: "select=id", status: 201, want: `[{"id":"` + id(1) + `"}]`, header: "Location"},
			{name: "one row, count=exact", body: oneRow, headers: []string{"Prefer: count=exact"}, status: 201, header: "Content-Range", value: "*/1"},
			{name: "one row as a single object", body: oneRow, headers: []string{representation, "Accept: application/vnd.pgrst.object+json"}, query: "select=title", status: 201, want: `{"title":"A"}`, header: "Content-Type", value: "application/vnd.pgrst.object+json; charset=utf-8"},
			{name: "several rows in the order of the body", body: `[{"title":"C"},{"title":"A"},{"title":"B"}]`, headers: []string{representation, "Prefer: count=exact"}, query: "select=title", status: 201, want: `[{"title":"C"},{"title":"A"},{"title":"B"}]`, header: "Content-Range", value: "*/3"},
			{name: "several rows with order=", body: `[{"title":"C"},{"title":"A"},{"title":"B"}]`, headers: []string{representation}, query: "select=title&order=title.desc", status: 201, want: `[{"title":"C"},{"title":"B"},{"title":"A"}]`},
			{name: "no rows", body: `[]`, headers: []string{representation, "Prefer: count=exact"}, status: 201, want: `[]`, header: "Content-Range", value: "*/0"},
			{name: "columns= ignores other members", body: `[{"title":"A","medium":"oil","nonsense":1}]`, headers: []string{representation}, query: `columns="title"&select=title,medium`, status: 201, want: `[{"title":"A","medium":null}]`},
			{name: "columns= stores null for missing members", body: `[{"title":"A","medium":"oil"},{"title":"B"}]`, headers: []string{representation}, query: `columns="title","medium"&select=title,medium`, status: 201, want: `[{"title":"A","medium":"oil"},{"title":"B","medium":null}]`},
			{name: "columns= with missing=default stores defaults", body: `[{"title":"A","in_stock":false},{"title":"B"}]`, headers: []string{representation, "Prefer: missing=default"}, query: `columns=title,in_stock&select=title,in_stock`, status: 201, want: `[{"title":"A","in_stock":false},{"title":"B","in_stock":true}]`, header: "Preference-Applied", value: "missing=default, return=representation"},
			{name: "no media type", body: oneRow, headers: []string{"Content-Type: "}, status: 201},
			{name: "with a charset", body: oneRow, headers: []string{"Content-Type: application/json; charset=utf-8"}, status: 201},
			{name: "filters are ignored", body: oneRow, query: "title=eq.Z", status: 201},
			{name: "scalars are converted by their text", body: `{"title":5,"description":true,"is_featured":"yes","price":"12","tags":[1,true,"x"],"creation_date":"2026-01-02T23:00:00-05:00","id":"{` + strings.ToUpper(id(1)) + `}"}`, headers: []string{representation}, query: "select=id,title,description,is_featured,tags,creation_date", status: 201,
				want: `[{"id":"` + id(1) + `","title":"5","description":"true","is_featured":true,"tags":["1","true","x"],"creation_date":"2026-01-02"}]`},
			{name: "a list as PostgreSQL writes it", body: `{"title":"A","tags":"{a,\"b,c\"}"}`, headers: []string{representation}, query: "select=tags", status: 201, want: `[{"tags":["a","b,c"]}]`},
			{name: "created_at of the caller", body: `{"title":"A","created_at":"2020-01-02 03:04:05.1234567+02"}`, headers: []string{representation}, query: "select=created_at", status: 201, want: `[{"created_at":"2020-01-02T01:04:05.123457+00:00"}]`},
		} {
			s.exec("delete from products")
			got := s.call(admin, "POST", "products?"+escape(c.query), c.body, c.headers...)
			s.want(c.name, got, c.status, c.want)
			if c.header != "" && got.header.Get(c.header) != c.value {
				t.Errorf("%s: %s is %q", c.name, c.header, got.header.Get(c.header))
			}
		}
		s.exec("delete from products")
		s.changed = nil
		for body, n := range map[string]string{`[]`: "0", `[{"title":"A"},{"title":"B"}]`: "2"} {
			got := s.call(admin, "POST", "products", body, "Accept: application/vnd.pgrst.object+json", "Prefer: return=minimal")
			if e := s.refused(body, got, 406, "PGRST116"); e.Details == nil || *e.Details != "The result contains "+n+" rows" {
				t.Errorf("%s: %s", body, got.body)
			}
		}
		s.refused("all or nothing", s.call(admin, "POST", "products?columns=title,artwork_type", `[{"title":"A"},{"title":"B","artwork_type":"sculpture"}]`), 400, "23514")
		s.refused("all or nothing", s.call(admin, "POST", "products", `[{"id":"`+id(1)+`","title":"A"},{"id":"`+id(1)+`","title":"B"}]`), 409, "23505")
		if n := s.count("products"); n != 0 || len(s.changed) > 0 {
			t.Errorf("refused inserts left %d rows and were recorded: %v", n, s.changed)
		}
	})
}

func TestUpsert(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		reset := func() {
			s.exec("delete from products")
			s.exec("insert into products (id, title, medium, is_featured, created_at) values ($1, 'Old', 'oil', $2, $3)", id(1), true, today.Add(-time.Hour))
			s.changed = nil
		}
		both := `[{"id":"` + id(1) + `","title":"New"},{"id":"` + id(2) + `","title":"Second"}]`
		old := `[{"id":"` + id(1) + `","title":"New"}]`
		const columns = "products?select=title,medium,is_featured&on_conflict=id"
		for _, c := range []struct {
			name, path, body, prefer string
			status                   int
			want, stored             string
		}{
			{"merge both", columns, both, "resolution=merge-duplicates", 201, `[{"title":"New","medium":"oil","is_featured":true},{"title":"Second","medium":null,"is_featured":false}]`, "New,Second"},
			{"merge an old one", columns, old, "resolution=merge-duplicates", 200, `[{"title":"New","medium":"oil","is_featured":true}]`, "New"},
			{"merge by the key unasked", "products?select=title", old, "resolution=merge-duplicates", 200, `[{"title":"New"}]`, "New"},
			{"merge with columns and null", columns + "&columns=id,title,medium", old, "resolution=merge-duplicates", 200, `[{"title":"New","medium":null,"is_featured":true}]`, "New"},
			{"merge with columns and default", columns + "&columns=id,title,is_featured", old, "resolution=merge-duplicates,missing=default", 200, `[{"title":"New","medium":"oil","is_featured":false}]`, "New"},
			{"merge nothing", "products?select=title", "[]", "resolution=merge-duplicates", 200, `[]`, "Old"},
			{"ignore", columns, both, "resolution=ignore-duplicates", 201, `[{"title":"Second","medium":null,"is_featured":false}]`, "Old,Second"},
			{"ignore all", columns, old, "resolution=ignore-duplicates", 201, `[]`, "Old"},
			{"ignore within", columns, `[{"id":"` + id(3) + `","title":"X"},{"id":"` + id(3) + `","title":"Y"}]`, "resolution=ignore-duplicates", 201, `[{"title":"X","medium":null,"is_featured":false}]`, "Old,X"},
		} {
			reset()
			got := s.call(admin, "POST", c.path, c.body, representation, "Prefer: "+c.prefer)
			s.want(c.name, got, c.status, c.want)
			if applied := got.header.Get("Preference-Applied"); !strings.HasPrefix(applied, strings.Split(c.prefer, ",")[0]) {
				t.Errorf("%s: applied %q", c.name, applied)
			}
			var titles []string
			for part := range strings.SplitSeq(s.call(admin, "GET", "products?select=title&order=title", "").body, `"title":"`) {
				titles = append(titles, strings.Split(part, `"`)[0])
			}
			if stored := strings.Join(titles[1:], ","); stored != c.stored {
				t.Errorf("%s: stored %s, want %s", c.name, stored, c.stored)
			}
			if (c.want == "[]") == (len(s.changed) == 1) {
				t.Errorf("%s: announced %v", c.name, s.changed)
			}
		}
		reset()
		s.refused("without a resolution", s.call(admin, "POST", "products", old), 409, "23505")
		s.refused("not a key", s.call(admin, "POST", "products?on_conflict=title", old, "Prefer: resolution=merge-duplicates"), 400, "42P10")
		s.refused("too many keys", s.call(admin, "POST", "products?on_conflict=id,title", old, "Prefer: resolution=ignore-duplicates"), 400, "42P10")
		s.refused("no column", s.call(admin, "POST", "products?on_conflict=ident", old, "Prefer: resolution=merge-duplicates"), 400, "42703")
		s.refused("one row twice", s.call(admin, "POST", "products", `[{"id":"`+id(1)+`","title":"X"},{"id":"`+id(1)+`","title":"Y"}]`, "Prefer: resolution=merge-duplicates"), 400, "21000")
		s.want("stored", s.call(admin, "GET", "products?select=title", ""), 200, `[{"title":"Old"}]`)
	})
}

// Proves A-prod-15, T-updated-at.
//
// TestSecondSaveOfAnOldVersionChangesNothing saves as the admin area does: with the updated_at of the version that the form was loaded with as
// a filter.
func TestSecondSaveOfAnOldVersionChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		now := today
		s.service.now = func() time.Time { return now }
		for table, row := range map[string]string{
			"products": `{"title":"A"}`, "reviews": `{"client_name":"Ana","message":"Lovely"}`, "cover_images": `{"image_url":"/a.jpg","display_order":1}`,
		} {
			now = today
			key := keysOf(t, s.call(admin, "POST", table+"?select=id", row, representation).body, "id")[0]
			seen := url.QueryEscape("2026-03-12T09:30:00.25+00:00")
			save := func(extra string) reply {
				now = now.Add(time.Second)
				return s.call(admin, "PATCH", table+"?id=eq."+key+"&updated_at=eq."+seen+"&select=updated_at", `{"image_url":"/b.jpg"`+extra+`}`, representation)
			}
			s.want(table+": the first", save(""), 200, `[{"updated_at":"2026-03-12T09:30:01.25+00:00"}]`)
			s.want(table+": the second", save(""), 200, `[]`)
			seen = url.QueryEscape("2026-03-12T09:30:01.25+00:00")
			s.want(table+": a time that is sent does not count", save(`,"updated_at":"2020-01-01T00:00:00Z"`), 200, `[{"updated_at":"2026-03-12T09:30:03.25+00:00"}]`)
			now = now.Add(time.Second)
			merged := s.call(admin, "POST", table+"?select=updated_at&columns=id,image_url", `{"id":"`+key+`",`+row[1:len(row)-1]+`,"image_url":"/c.jpg"}`, representation, "Prefer: resolution=merge-duplicates")
			if table == "cover_images" { // the other tables have required columns that columns= leaves out
				s.want(table+": merged", merged, 200, `[{"updated_at":"2026-03-12T09:30:04.25+00:00"}]`)
			}
		}
		key := keysOf(t, s.call(admin, "GET", "reviews?select=id", "").body, "id")[0]
		now = now.Add(time.Hour)
		s.want("reorder", s.call(admin, "POST", "rpc/reorder_reviews", `{"ids":["`+key+`"]}`), 204, "")
		s.want("a new position does not change updated_at", s.call(admin, "GET", "reviews?select=updated_at", ""), 200, `[{"updated_at":"2026-03-12T09:30:03.25+00:00"}]`)
	})
}

func TestUpdate(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, c := range []struct {
			name, query, body string
			headers           []string
			status            int
			want, shown       string // the body and Content-Range
			changed           string // products whose medium is "new" afterwards
		}{
			{"by id", "id=eq." + id(2), `{"medium":"new"}`, nil, 204, "", "0-0/*", "2"},
			{"by id, shown", "id=eq." + id(2) + "&select=id,medium", `{"medium":"new"}`, []string{representation}, 200, `[{"id":"` + id(2) + `","medium":"new"}]`, "0-0/*", "2"},
			{"one object", "id=eq." + id(2) + "&select=medium", `{"medium":"new"}`, []string{representation, "Accept: application/vnd.pgrst.object+json"}, 200, `{"medium":"new"}`, "0-0/*", "2"},
			{"many, the newest first", "artwork_type=in.(mural,oil)&select=title", `{"medium":"new"}`, []string{representation, "Prefer: count=exact"}, 200, `[{"title":"Oil"},{"title":"Mural, with \"quotes\" (and more)"},{"title":"mural do Porto"}]`, "0-2/3", "235"},
			{"many, in an order", "artwork_type=in.(mural,oil)&select=title&order=title.desc", `{"medium":"new"}`, []string{representation}, 200, `[{"title":"mural do Porto"},{"title":"Oil"},{"title":"Mural, with \"quotes\" (and more)"}]`, "0-2/*", "235"},
			{"none", "title=eq.nothing", `{"medium":"new"}`, []string{"Prefer: count=exact"}, 204, "", "*/0", ""},
			{"none, shown", "title=eq.nothing", `{"medium":"new"}`, []string{representation}, 200, "[]", "*/*", ""},
			{"without a filter", "", `{"medium":"new"}`, []string{"Prefer: count=exact"}, 204, "", "0-7/8", "12345678"},
			{"by what is changed", "medium=eq.oil&select=id", `{"medium":"new"}`, []string{representation}, 200, `[{"id":"` + id(5) + `"}]`, "0-0/*", "5"},
			{"nothing to set", "id=eq." + id(2), `{}`, []string{representation}, 200, "[]", "*/*", ""},
			{"a part", "order=title&limit=2&offset=1", `{"medium":"new"}`, []string{"Prefer: count=exact"}, 204, "", "0-1/2", "27"},
			{"from an offset", "order=title&offset=6", `{"medium":"new"}`, []string{"Prefer: count=exact"}, 204, "", "0-1/2", "13"},
			{"columns: the rest is passed over", "id=eq." + id(2) + "&columns=medium", `{"medium":"new","title":"Other"}`, nil, 204, "", "0-0/*", "2"},
			{"columns: what is missing is null", "id=eq." + id(8) + "&columns=description,medium&select=medium,description", `{"description":"new"}`, []string{representation}, 200, `[{"medium":null,"description":"new"}]`, "0-0/*", ""},
			{"columns: or the default", "id=eq." + id(2) + "&columns=medium,in_stock,tags&select=medium,in_stock,tags", `{"medium":"new"}`, []string{representation, "Prefer: missing=default"}, 200, `[{"medium":"new","in_stock":true,"tags":[]}]`, "0-0/*", "2"},
			{"an array of one", "id=eq." + id(2), `[{"medium":"new"}]`, nil, 204, "", "0-0/*", "2"},
			{"as many as allowed", "artwork_type=eq.mural", `{"medium":"new"}`, []string{"Prefer: handling=strict, max-affected=2"}, 204, "", "0-1/*", "23"},
			{"a lenient limit is none", "artwork_type=eq.mural", `{"medium":"new"}`, []string{"Prefer: max-affected=1"}, 204, "", "0-1/*", "23"},
		} {
			s.clear()
			s.fill()
			got := s.call(admin, "PATCH", "products?"+c.query, c.body, c.headers...)
			s.want(c.name, got, c.status, c.want)
			if got.header.Get("Content-Range") != c.shown {
				t.Errorf("%s: %s", c.name, got.header.Get("Content-Range"))
			}
			if changed := ids(t, s.call(admin, "GET", "products?select=id&order=id&medium=eq.new", "").body); changed != c.changed {
				t.Errorf("%s: changed %s, want %s", c.name, changed, c.changed)
			}
			if some := got.header.Get("Content-Range")[0] == '0'; some != (len(s.changed) == 1) {
				t.Errorf("%s: announced %v", c.name, s.changed)
			}
		}
		s.clear()
		s.fill()
		for _, c := range []struct {
			name, query, body string
			headers           []string
			status            int
			code              string
		}{
			{"a part without an order", "limit=1", `{"medium":"new"}`, nil, 400, "PGRST109"},
			{"more than allowed", "artwork_type=eq.mural", `{"medium":"new"}`, []string{"Prefer: handling=strict, max-affected=1"}, 400, "PGRST124"},
			{"not one", "artwork_type=eq.mural", `{"medium":"new"}`, []string{"Accept: application/vnd.pgrst.object+json"}, 406, "PGRST116"},
			{"two objects", "", `[{"medium":"new"},{"medium":"new"}]`, nil, 400, "PGRST102"},
			{"a plan", "", `{"medium":"new"}`, []string{"Accept: application/vnd.pgrst.plan+json"}, 406, "PGRST107"},
			{"strict about the unknown", "", `{"medium":"new"}`, []string{"Prefer: handling=strict, anything"}, 400, "PGRST122"},
			{"not JSON", "", `{"medium":`, nil, 400, "PGRST102"},
			{"an unknown column", "", `{"colour":"new"}`, nil, 400, "PGRST204"},
			{"an unknown filter", "colour=eq.red", `{"medium":"new"}`, nil, 400, "42703"},
			{"null where something must be", "", `{"title":null}`, nil, 400, "23502"},
			{"a value out of the list", "", `{"artwork_type":"new"}`, nil, 400, "23514"},
			{"another's key", "id=eq." + id(1), `{"id":"` + id(2) + `"}`, nil, 409, "23505"},
			{"one key for all", "", `{"id":"` + id(9) + `"}`, nil, 409, "23505"},
		} {
			before := s.snapshot("products")
			s.refused(c.name, s.call(admin, "PATCH", "products?"+c.query, c.body, c.headers...), c.status, c.code)
			if s.snapshot("products") != before || len(s.changed) > 0 {
				t.Errorf("%s: changed something", c.name)
			}
		}
		s.want("every kind", s.call(admin, "PATCH", "products?id=eq."+id(1)+"&select=id,tags,is_featured,creation_date,price,created_at,artwork_type",
			`{"id":"`+id(9)+`","tags":["é"],"is_featured":"off","creation_date":null,"price":77,"created_at":"2026-01-01T00:00:00Z","artwork_type":null}`, representation), 200,
			`[{"id":"`+id(9)+`","tags":["é"],"is_featured":false,"creation_date":null,"price":0,"created_at":"2026-01-01T00:00:00+00:00","artwork_type":null}]`)
		s.want("cover", s.call(admin, "PATCH", "cover_images?id=eq."+id(1)+"&select=title,description,display_order,is_active", `{"title":"T","description":"D","display_order":4,"is_active":false}`, representation), 200,
			`[{"title":"T","description":"D","display_order":4,"is_active":false}]`)
		s.want("status", s.call(admin, "PATCH", "contact_submissions?id=eq."+id(1)+"&select=status", `{"status":"replied"}`, representation), 200, `[{"status":"replied"}]`)
		s.want("the work that a message asks about", s.call(admin, "GET", "contact_submissions?id=eq."+id(1)+"&select=artwork_id", ""), 200, `[{"artwork_id":null}]`)
		s.want("its state", s.call(admin, "GET", "contact_submissions?id=eq."+id(1)+"&state=eq.waiting_them&select=state,last_text,last_author,done_at", ""), 200,
			`[{"state":"waiting_them","last_text":null,"last_author":null,"done_at":null}]`)
		s.refused("the mark of a conversation", s.call(admin, "PATCH", "contact_submissions", `{"done_at":"2026-01-01T00:00:00Z"}`), 403, "42501")
		s.want("for strangers", s.call(anonymous, "GET", "contact_submissions?select=artwork_id", ""), 200, `[]`)
		s.refused("a status that is none", s.call(admin, "PATCH", "contact_submissions", `{"status":"lost"}`), 400, "23514")
		s.want("reordering row by row", s.call(admin, "PATCH", "reviews?id=eq."+id(1)+"&select=display_order", `{"display_order":1}`, representation), 200, `[{"display_order":1}]`)
	})
}

// clear empties the tables of the fixture.
func (s *site) clear() {
	s.t.Helper()
	for _, table := range []string{"products", "reviews", "cover_images", "contact_submissions"} {
		s.exec("delete from " + table)
	}
}

func TestDelete(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, c := range []struct {
			name, query string
			headers     []string
			status      int
			want, shown string
			left        string
		}{
			{"by id", "id=eq." + id(2), nil, 204, "", "*/*", "1345678"},
			{"counted", "artwork_type=eq.mural", []string{"Prefer: count=exact"}, 204, "", "*/2", "145678"},
			{"shown", "artwork_type=in.(mural,oil)&select=id", []string{representation}, 200, `[{"id":"` + id(5) + `"},{"id":"` + id(2) + `"},{"id":"` + id(3) + `"}]`, "*/*", "14678"},
			{"shown in an order", "artwork_type=eq.mural&select=title&order=title.desc", []string{representation}, 200, `[{"title":"mural do Porto"},{"title":"Mural, with \"quotes\" (and more)"}]`, "*/*", "145678"},
			{"one object", "id=eq." + id(2) + "&select=id", []string{representation, "Accept: application/vnd.pgrst.object+json"}, 200, `{"id":"` + id(2) + `"}`, "*/*", "1345678"},
			{"none", "title=eq.nothing", []string{"Prefer: count=exact"}, 204, "", "*/0", "12345678"},
			{"none, shown", "title=eq.nothing", []string{representation}, 200, "[]", "*/*", "12345678"},
			{"a part", "order=title&limit=2", []string{"Prefer: count=exact"}, 204, "", "*/2", "135678"},
			{"without a filter", "", []string{"Prefer: count=exact"}, 204, "", "*/8", ""},
			{"as many as allowed", "artwork_type=eq.mural", []string{"Prefer: handling=strict, max-affected=2"}, 204, "", "*/*", "145678"},
		} {
			s.clear()
			s.fill()
			got := s.call(admin, "DELETE", "products?"+c.query, "", c.headers...)
			s.want(c.name, got, c.status, c.want)
			if got.header.Get("Content-Range") != c.shown {
				t.Errorf("%s: %s", c.name, got.header.Get("Content-Range"))
			}
			if left := ids(t, s.call(admin, "GET", "products?select=id&order=id", "").body); left != c.left {
				t.Errorf("%s: left %s, want %s", c.name, left, c.left)
			}
			if (c.left == "12345678") == (len(s.changed) == 1) {
				t.Errorf("%s: announced %v", c.name, s.changed)
			}
		}
		s.clear()
		s.fill()
		s.refused("a part without an order", s.call(admin, "DELETE", "products?offset=1", ""), 400, "PGRST109")
		s.refused("more than allowed", s.call(admin, "DELETE", "products", "", "Prefer: handling=strict", "Prefer: max-affected=7"), 400, "PGRST124")
		s.refused("not one", s.call(admin, "DELETE", "products", "", "Accept: application/vnd.pgrst.object+json"), 406, "PGRST116")
		if n := s.count("products"); n != 8 || len(s.changed) > 0 {
			t.Errorf("refused deletes left %d rows, recorded %v", n, s.changed)
		}
		// A message is not public, so no change of visible content is recorded.
		s.want("message", s.call(admin, "DELETE", "contact_submissions?id=eq."+id(1), ""), 204, "")
		if len(s.changed) > 0 {
			t.Errorf("announced %v", s.changed)
		}
	})
}

func TestNewReviewsAreLast(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill() // the numbers are 2, 2, 1 and none
		review := func(extra string) string { return `{"client_name":"N","message":"M"` + extra + `}` }
		s.want("last + 1", s.call(admin, "POST", "reviews?select=display_order", review(""), representation), 201, `[{"display_order":3}]`)
		s.want("null is none", s.call(admin, "POST", "reviews?select=display_order", review(`,"display_order":null`), representation), 201, `[{"display_order":4}]`)
		s.want("one's own number", s.call(admin, "POST", "reviews?select=display_order", review(`,"display_order":10`), representation), 201, `[{"display_order":10}]`)
		s.want("many", s.call(admin, "POST", "reviews?select=display_order&columns=client_name,message,display_order", "["+review("")+","+review(`,"display_order":20`)+","+review("")+"]", representation), 201,
			`[{"display_order":11},{"display_order":20},{"display_order":21}]`)
		s.want("a merge keeps the number", s.call(admin, "POST", "reviews?select=display_order", `{"id":"`+id(3)+`","client_name":"N","message":"M"}`, representation, "Prefer: resolution=merge-duplicates"), 200, `[{"display_order":1}]`)
		s.want("the largest number", s.call(admin, "POST", "reviews?select=display_order", review(`,"display_order":2147483647`), representation), 201, `[{"display_order":2147483647}]`)
		s.refused("no number is left", s.call(admin, "POST", "reviews", review("")), 400, "22003")
		s.want("covers are as written", s.call(admin, "POST", "cover_images?select=display_order", `{"image_url":"/x.jpg"}`, representation), 201, `[{"display_order":null}]`)
	})
}

// TestConcurrentAddsAndReordersOfReviews has several owners add reviews while others reorder them. No number occurs twice, and no review is lost.
func TestConcurrentAddsAndReordersOfReviews(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.service.record = func(context.Context, *db.Tx, []db.RowChange) error { return nil }
		var wg sync.WaitGroup
		const writers, each = 6, 5
		for n := range writers {
			wg.Go(func() {
				for i := range each {
					if got := s.call(admin, "POST", "reviews", fmt.Sprintf(`{"client_name":"%d","message":"%d"}`, n, i)); got.status != 201 {
						t.Errorf("insert: %d %s", got.status, got.body)
					}
				}
			})
		}
		for range 2 {
			wg.Go(func() {
				for range each {
					keys := keysOf(t, s.call(admin, "GET", "reviews?select=id", "").body, "id")
					if got := s.call(admin, "POST", "rpc/reorder_reviews", `{"ids":["`+strings.Join(keys, `","`)+`"]}`); got.status != 204 && len(keys) > 0 {
						t.Errorf("reorder: %d %s", got.status, got.body)
					}
				}
			})
		}
		wg.Wait()
		var want []string
		for i := range writers * each {
			want = append(want, fmt.Sprintf(`{"display_order":%d}`, i+1))
		}
		s.want("numbers", s.call(admin, "GET", "reviews?select=display_order&order=display_order", ""), 200, "["+strings.Join(want, ",")+"]")
	})
}

func TestInsertRows(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		owner := identity.Caller{Role: identity.Authenticated, UserID: adminID, Admin: true}
		if err := s.service.InsertRows(t.Context(), owner, "products", []map[string]any{
			{"title": "A", "tags": []string{"x"}, "created_at": today.Add(-time.Hour), "price": 3},
			{"title": "B", "is_featured": true, "creation_date": "2026-01-02"},
		}); err != nil {
			t.Fatal(err)
		}
		s.want("rows with columns of their own", s.call(anonymous, "GET", "products?select=title,tags,is_featured,creation_date,price,created_at&order=title", ""), 200,
			`[{"title":"A","tags":["x"],"is_featured":false,"creation_date":null,"price":0,"created_at":"2026-03-12T08:30:00.25+00:00"},{"title":"B","tags":[],"is_featured":true,"creation_date":"2026-01-02","price":0,"created_at":"2026-03-12T09:30:00.25+00:00"}]`)
		if err := s.service.InsertRows(t.Context(), owner, "reviews", nil); err != nil {
			t.Errorf("no rows: %v", err)
		}
		if !slices.Equal(s.changed, []string{"products"}) {
			t.Errorf("announced %v", s.changed)
		}
		for name, c := range map[string]struct {
			caller identity.Caller
			table  string
			row    map[string]any
			code   string
		}{
			"a visitor":              {identity.Caller{Role: identity.Anon}, "products", map[string]any{"title": "C"}, "42501"},
			"nobody":                 {identity.Caller{}, "products", map[string]any{"title": "C"}, "42501"},
			"a message":              {owner, "contact_submissions", map[string]any{"name": "C"}, "42501"},
			"no such table":          {owner, "paintings", map[string]any{"title": "C"}, "PGRST205"},
			"no such column":         {owner, "products", map[string]any{"colour": "C"}, "PGRST204"},
			"no title":               {owner, "products", map[string]any{"medium": "C"}, "23502"},
			"not JSON":               {owner, "products", map[string]any{"title": make(chan int)}, "unexpected_failure"},
			"a title that is a list": {owner, "products", map[string]any{"title": []string{"C"}}, "22P02"},
		} {
			if err := apperr.From(s.service.InsertRows(t.Context(), c.caller, c.table, []map[string]any{c.row})); err.Code != c.code {
				t.Errorf("%s: got %v, want %s", name, err, c.code)
			}
		}
		if n := s.count("products"); n != 2 {
			t.Errorf("%d products", n)
		}
	})
}

// TestRowsThatOnlyTheDatabaseRejects tests rows that pass the checks of schema.go.
func TestRowsThatOnlyTheDatabaseRejects(t *testing.T) {
	for code, status := range map[string]int{db.UniqueViolation: 409, db.ForeignKeyViolation: 409, db.CheckViolation: 400, db.NotNullViolation: 400} {
		err := apperr.From(errConstraint(schema["products"], &db.ConstraintError{Code: code, Cause: errNoOrder}))
		if err.Code != code || err.Status != status || err.Cause == nil {
			t.Errorf("%s: got %v", code, err)
		}
	}
	if err := errConstraint(schema["products"], io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("another error became %v", err)
	}
}
