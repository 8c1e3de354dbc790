package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// fakeMedia is a MediaService that knows every URL that begins with /f. It records the calls of Describe and SetFocus.
type fakeMedia struct {
	calls    int
	urls     []string
	detailed bool
	focus    string
}

func (m *fakeMedia) Describe(_ context.Context, addresses []string, detailed bool) (map[string]json.RawMessage, error) {
	m.calls++
	m.urls, m.detailed = addresses, detailed
	out := map[string]json.RawMessage{}
	for _, at := range addresses {
		if strings.HasPrefix(at, "/f") {
			out[at] = json.RawMessage(`{"v":` + jsonText(at[1:]) + `}`)
		}
	}
	return out, nil
}

func (m *fakeMedia) SetFocus(_ context.Context, address string, x, y float64) (bool, error) {
	m.focus = fmt.Sprint(address, x, y)
	return strings.HasPrefix(address, "/f"), nil
}

// Proves T-select-media.
func TestTheComputedColumnMedia(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		media := &fakeMedia{}
		s.service.media = media
		for table, rows := range map[string][]map[string]any{
			"products": {
				{"title": "a", "image_url": "/f1", "image_gallery": []string{"/f2", "/g", "/f1"}, "video_gallery": []string{`/f"3`}},
				{"title": "b"},
			},
			"reviews":      {{"client_name": "c", "message": "m", "image_url": "/f4"}},
			"cover_images": {{"image_url": "/f5", "video_thumbnail_url": "/f6", "display_order": 1}},
		} {
			if err := s.service.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, table, rows); err != nil {
				t.Fatal(err)
			}
		}
		for query, want := range map[string]string{
			"products?select=title,media&order=title":                             `[{"title":"a","media":{"/f1":{"v":"f1"},"/f2":{"v":"f2"},"/f\"3":{"v":"f\"3"}}},{"title":"b","media":{}}]`,
			"products?select=m:media,media,title::text&title=eq.b":                `[{"m":{},"media":{},"title":"b"}]`,
			"reviews?select=media":                                                `[{"media":{"/f4":{"v":"f4"}}}]`,
			"cover_images?select=media,video_thumbnail_url&image_url=not.is.null": `[{"media":{"/f5":{"v":"f5"},"/f6":{"v":"f6"}},"video_thumbnail_url":"/f6"}]`,
			"products?select=media&title=eq.none":                                 `[]`,
		} {
			media.calls = 0
			rec := s.call(anonymous, "GET", query, "")
			got := strings.ReplaceAll(strings.ReplaceAll(rec.body, `": `, `":`), `, "`, `,"`)
			if rec.status != 200 || got != want {
				t.Errorf("%s: %d %s\nwant %s", query, rec.status, got, want)
			}
			if media.calls > 1 || media.detailed {
				t.Errorf("%s: %d calls, detailed %t", query, media.calls, media.detailed)
			}
		}
		media.calls = 0
		if rec := s.call(anonymous, "GET", "products?select=*", ""); strings.Contains(rec.body, `"media"`) || media.calls != 0 {
			t.Errorf("not requested: %s", rec.body)
		}
		if rec := s.call(anonymous, "GET", "products?select=media&title=eq.a", "", "Accept: text/csv"); rec.body != "media\n"+`"{""/f1"":{""v"":""f1""},""/f2"":{""v"":""f2""},""/f\\""3"":{""v"":""f\\""3""}}"` {
			t.Errorf("CSV: %s", rec.body)
		}
		if rec := s.call(admin, "GET", "reviews?select=media", "", "Accept: "+objectMedia); rec.status != 200 || rec.body != `{"media":{"/f4":{"v":"f4"}}}` || !media.detailed {
			t.Errorf("one, for the owner: %d %s", rec.status, rec.body)
		}
		rec := s.call(admin, "POST", "reviews?select=media,client_name", `{"client_name":"x","message":"y","image_url":"/f9"}`, "Prefer: return=representation")
		if rec.status != 201 || rec.body != `[{"media":{"/f9":{"v":"f9"}},"client_name":"x"}]` {
			t.Errorf("a new row: %d %s", rec.status, rec.body)
		}
		// The column can be selected, but not filtered, ordered by or written.
		for query, code := range map[string]string{
			"products?media=not.is.null": "42703", "products?order=media": "42703", "products?select=media->x": "42703", "products?select=media::text": "42703",
			"products?or=(media.is.null)": "42703", "contact_submissions?select=media": "42703", "user_roles?select=media": "42703",
		} {
			s.refused("media", s.call(service, "GET", query, ""), 400, code)
		}
		s.refused("media", s.call(service, "POST", "reviews", `{"client_name":"x","message":"y","media":{}}`), 400, "PGRST204")
	})
}

// Proves T-rpc-focus.
func TestSetMediaFocus(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		media := &fakeMedia{}
		s.service.media = media
		for _, who := range []string{admin, service} {
			if rec := s.call(who, "POST", "rpc/set_media_focus", `{"address":"/f1","x":0.25,"y":1}`); rec.status != 204 || media.focus != "/f10.25 1" {
				t.Errorf("%s: %d %s, %q", who, rec.status, rec.body, media.focus)
			}
		}
		media.focus = ""
		for who, status := range map[string]int{anonymous: 401, signedIn: 403} {
			s.refused("media", s.call(who, "POST", "rpc/set_media_focus", `{"address":"/f1","x":0.25,"y":1}`), status, "42501")
		}
		for _, body := range []string{`{"address":"/f1","x":1.1,"y":1}`, `{"address":"/f1","x":-0.1,"y":1}`, `{"address":"/f1","x":"0","y":1}`, `{"address":1,"x":0,"y":0}`, `{"address":"/f1","x":0,"y":1e999}`} {
			s.refused("media", s.call(admin, "POST", "rpc/set_media_focus", body), 400, "22023")
		}
		s.refused("media", s.call(admin, "POST", "rpc/set_media_focus", `{"address":"/f1","x":0}`), 404, "PGRST202")
		if media.focus != "" {
			t.Errorf("written: %q", media.focus)
		}
		s.refused("media", s.call(admin, "POST", "rpc/set_media_focus", `{"address":"/g","x":0,"y":0}`), 404, "P0002")
	})
}
