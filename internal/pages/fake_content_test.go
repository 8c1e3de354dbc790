package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// fakeContent answers the queries of pages from memory. The tests of internal/app use the real tables.
type fakeContent struct {
	works   []work
	covers  []string // rows
	most    int      // limit of the rows of one query; 0 for 1000
	queries int      // number of calls of rows
}

// content returns a reader of the fake content. Only pictures below /known/ have renditions.
func (s *fakeContent) content() ContentReader {
	return ContentReader{Rows: s.rows, Count: func(_ context.Context, _, query string) (int64, error) {
		return int64(len(s.matching(query))), nil
	}, Pictures: func(_ context.Context, addresses []string) (map[string]Picture, error) {
		out := map[string]Picture{}
		for _, a := range addresses {
			if strings.HasPrefix(a, "/known/") {
				out[a] = Picture{Share: "/share" + a, Large: "/large" + a, Width: 1600, Height: 800}
			}
		}
		return out, nil
	}}
}

func (s *fakeContent) rows(_ context.Context, table, query string) (out []string, err error) {
	s.queries++
	switch table {
	case "cover_images":
		return s.covers, nil
	case "products":
	default:
		return nil, nil
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	found := s.matching(query)
	if order := q.Get("order"); strings.HasPrefix(order, "created_at.desc") {
		slices.SortStableFunc(found, func(a, b work) int { return b.CreatedAt.Compare(a.CreatedAt) })
	} else if strings.HasPrefix(order, "published_at.desc") {
		slices.SortStableFunc(found, func(a, b work) int { return b.PublishedAt.Compare(a.PublishedAt) })
	} else if strings.HasPrefix(order, "updated_at.desc") {
		slices.SortStableFunc(found, func(a, b work) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	} else {
		slices.SortFunc(found, func(a, b work) int { return cmp.Compare(a.ID, b.ID) })
	}
	from, limit := 0, cmp.Or(s.most, 1000)
	if text := q.Get("offset"); text != "" {
		if from, err = strconv.Atoi(text); err != nil {
			return nil, err
		}
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		limit = min(limit, n)
	}
	found = found[min(from, len(found)):]
	for _, w := range found[:min(limit, len(found))] {
		text, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

func (s *fakeContent) matching(query string) (out []work) {
	for _, w := range s.works {
		if _, list, ok := strings.Cut(query, "artwork_type=not.in.("); ok {
			list, _, _ = strings.Cut(list, ")")
			if slices.Contains(strings.Split(list, ","), w.Type) {
				continue
			}
		}
		if _, kind, ok := strings.Cut(query, "artwork_type=eq."); ok && !strings.HasPrefix(kind, w.Type) {
			continue
		}
		if _, id, ok := strings.Cut(query, "id=eq."); ok && id != w.ID {
			continue
		}
		if _, id, ok := strings.Cut(query, "id=gt."); ok && w.ID <= id {
			continue
		}
		out = append(out, w)
	}
	return out
}

var day = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func workID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// newFakeContent returns works of every type. A higher number is a newer work.
func newFakeContent() *fakeContent {
	at := func(n int) time.Time { return day.AddDate(0, 0, n) }
	return &fakeContent{works: []work{
		{ID: workID(1), Title: "Sol de inverno", Description: "A street that\nfaces north.", Type: "mural", ImageURL: "/known/sol.jpg", ImageGallery: []string{"/known/sol.jpg", "/known/near.jpg", "https://elsewhere.example/x.jpg"},
			Dimensions: "14 × 7 m", Medium: "Acrylic on plaster", CreationDate: "2025-09-02", Tags: []string{"sun", "street"}, SEOTitle: "Winter sun", SEODesc: "The owner's own words.", CreatedAt: at(1), UpdatedAt: at(9)},
		{ID: workID(2), Title: "Serra", Type: "watercolour", Medium: "watercolour", Dimensions: "46 × 61 cm", ImageURL: "/unknown.jpg", CreatedAt: at(2)},
		{ID: workID(3), Title: "Hidden", Type: "oil", ImageURL: "/known/oil.jpg", CreatedAt: at(3)},
		{ID: workID(4), Title: " ", Type: "digital", VideoGallery: []string{"/known/film.mp4"}, CreatedAt: at(4)},
	}, covers: []string{`{"title":"First","image_url":"/unknown.mp4","video_thumbnail_url":null}`, `{"title":"A cover","image_url":"/known/cover.jpg","video_thumbnail_url":null}`}}
}

// newServiceWith returns a site with these works at https://a.example.
func newServiceWith(t *testing.T, d *db.DB, s *fakeContent) *Service {
	t.Helper()
	clock := day
	service, err := newWithDefaults(d, built, Config{SiteURL: "https://a.example", APIURL: "https://a.example", AnonKey: testKey, Content: s.content()}, func() time.Time {
		clock = clock.Add(2 * time.Second) // after generatedLife
		return clock
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func request(t *testing.T, handler httpx.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	httpx.Handle(WriteError, handler).ServeHTTP(rec, r)
	return rec
}

func fetch(t *testing.T, handler httpx.Handler, target string) string {
	t.Helper()
	rec := request(t, handler, http.MethodGet, target)
	if rec.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
	}
	return rec.Body.String()
}
