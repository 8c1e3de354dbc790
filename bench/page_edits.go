package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/andybalholm/brotli"
)

const (
	editCount = 200  // number of edits of each page's work
	largeSite = 8400 // number of works; the gallery shows 5,040, and 1,200 are featured
)

// editedPage is a page that is requested after each edit of a work that it shows.
type editedPage struct {
	name, path string
	workQuery  string        // query string of /rest/v1/products that finds the work to edit
	targetP99  time.Duration // target for the p99 of the response time
}

// pageEdits prints how long the first visitor after an edit of a work waits for a page with this work, because the server has to render the
// page again. The pauses between edits have many lengths, so that some requests arrive while the server renders other pages in advance. The
// reference, measured after each wait, is the time that the benchmark takes to compress the same page.
func pageEdits(ctx context.Context, out io.Writer) error {
	if _, err := fmt.Fprintf(out, "\nThe first request for a page after an edit of what it shows, %d edits\n  %-34s %8s %8s %8s %8s %10s %10s %10s %10s %10s %12s\n",
		editCount, "", "p50 ms", "p99 ms", "max ms", "wanted", "ref. p50", "ref. p99", "p50 ratio", "p99 ratio", "brotli kB", "identity kB"); err != nil {
		return err
	}
	home := editedPage{"home", "/", "is_featured=eq.true&order=created_at.desc&limit=1", 50 * time.Millisecond}
	gallery := editedPage{"gallery", "/gallery/all", "artwork_type=eq.mural&order=created_at.desc&limit=1", 80 * time.Millisecond}
	if err := demoEdits(ctx, out, home, gallery); err != nil {
		return err
	}
	return largeEdits(ctx, out, home, gallery)
}

// demoEdits measures pages of a site with the demo content.
func demoEdits(ctx context.Context, out io.Writer, pages ...editedPage) (err error) {
	env, remove, err := newSite()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := loadDemo(ctx, env); err != nil {
		return err
	}
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := waitUntilIdle(ctx, s); err != nil { // the demo's pictures are made in the background
		return err
	}
	return measureEdits(ctx, out, s, env, "demo content", pages)
}

// largeEdits measures pages of a large site.
func largeEdits(ctx context.Context, out io.Writer, pages ...editedPage) (err error) {
	env, remove, err := newSite()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	s, err := start(ctx, env, binary, "serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	_, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	if _, err := fillProducts(ctx, s.url, serviceKey, largeSite); err != nil {
		return err
	}
	if err := waitUntilIdle(ctx, s); err != nil {
		return err
	}
	return measureEdits(ctx, out, s, env, fmt.Sprintf("%d works", largeSite), pages)
}

// newSite returns the environment of a site in a new folder, and the function that removes the folder.
func newSite() (env []string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	return append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0"), func() error { return os.RemoveAll(dir) }, err
}

func measureEdits(ctx context.Context, out io.Writer, s *server, env []string, content string, pages []editedPage) error {
	_, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	owner := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	for _, p := range pages {
		found, err := call{method: http.MethodGet, path: "/rest/v1/products?select=id&" + p.workQuery, header: owner}.do(ctx, s.url)
		if err != nil {
			return err
		}
		var works []struct{ ID string }
		if err := json.Unmarshal(found, &works); err != nil || len(works) != 1 {
			return errors.Join(err, errors.New("the page shows no work: "+string(found)))
		}
		visit := call{method: http.MethodGet, path: p.path, header: browserHeader}
		var took, reference []time.Duration
		plain, _, err := call{method: http.MethodGet, path: p.path}.response(ctx, s.url)
		if err != nil {
			return err
		}
		for n := range editCount {
			edit := call{method: http.MethodPatch, path: "/rest/v1/products?id=eq." + works[0].ID, body: fmt.Sprintf(`{"title":"Edited %d"}`, n), header: owner}
			if _, err := edit.do(ctx, s.url); err != nil {
				return err
			}
			begun := time.Now()
			if _, err := visit.do(ctx, s.url); err != nil {
				return err
			}
			took = append(took, time.Since(begun))
			begun = time.Now()
			if err := compressAsReference(plain); err != nil {
				return err
			}
			reference = append(reference, time.Since(begun))
			time.Sleep(time.Duration(n*37%600) * time.Millisecond)
		}
		slices.Sort(took)
		slices.Sort(reference)
		p50, p99, reference50, reference99 := median(took), took[editCount*99/100], median(reference), reference[editCount*99/100]
		ratio50, ratio99 := p50.Seconds()/reference50.Seconds(), p99.Seconds()/reference99.Seconds()
		row := p.name + ", " + content
		recordCost(row+", wait after an edit, p50, of compressing the page", ratio50)
		recordCost(row+", wait after an edit, p99, of compressing the page", ratio99)
		compressed, _, err := visit.response(ctx, s.url)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "  %-34s %8.1f %8.1f %8.1f %8.0f %10.2f %10.2f %10.1f %10.1f %10.1f %12.1f\n", row, ms(p50), ms(p99), ms(took[editCount-1]), ms(p.targetP99),
			ms(reference50), ms(reference99), ratio50, ratio99, float64(len(compressed))/1000, float64(len(plain))/1000); err != nil {
			return err
		}
	}
	return nil
}

// compressAsReference compresses a page with brotli as a server would while a visitor waits.
func compressAsReference(page []byte) error {
	w := brotli.NewWriterLevel(io.Discard, 5)
	_, err := w.Write(page)
	return errors.Join(err, w.Close())
}
