package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelie/internal/media/rendition"
)

// This file measures how soon after an upload pages get the picture in a smaller size.

const (
	firstUploads = 15 // uploads in a row while a visitor loads pages
	firstAlone   = 3  // uploads of each of firstSources while the server does nothing else
	// firstPollInterval is the wait between two requests for a rendition: here, a smaller picture that the server makes from the upload.
	firstPollInterval = 25 * time.Millisecond
	fastUplink        = 100_000_000 / 8 // bytes per second that an artist uploads over a fast connection
)

// firstSources are the sizes in pixels of the uploaded pictures. The first one is uploaded many times in a row.
var firstSources = []struct {
	name          string
	width, height int
}{{"24 MP", 6000, 4000}, {"48 MP", 8000, 6000}}

// firstSizes prints the time from the response to an upload until the server sends the first rendition of the uploaded picture. firstSizes
// requests the rendition immediately, as a page does, and repeats the request while the server sends a substitute (another rendition). The
// reference is a process that only decodes the picture and encodes its first sizes. During the uploads in a row, firstSizes also measures
// how much the response times of a visitor's pages grow.
func firstSizes(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-first")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pictures, references := make([][]byte, len(firstSources)), make([]time.Duration, len(firstSources))
	for i, source := range firstSources {
		file := filepath.Join(dir, "source.jpg")
		if _, err := child(ctx, "", self(), "picture-generate", file, strconv.Itoa(source.width), strconv.Itoa(source.height)); err != nil {
			return err
		}
		if pictures[i], err = os.ReadFile(file); err != nil {
			return err
		}
		if references[i], err = plainFirstSizes(ctx, dir, file); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "\n## The first size of an upload, 640 px wide, on two processors\n\n"+
		"From the response to the upload to the first response in WebP at a URL of a page; medians. \"Plain\" is a process that only decodes\n"+
		"and encodes. \"In a row\" are %d uploads, each after the response to the one before, while a visitor requests pages each %d ms. \"At 100\n"+
		"Mbit/s\" are as many, at the intervals that such a connection needs. The last columns are the visitor's p99 before and during the uploads.\n\n"+
		"| engine | upload | first size | maximum | plain | ratio to it | page p99 before | page p99 during | ratio | memory |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
		firstUploads, visitInterval.Milliseconds()); err != nil {
		return err
	}
	for _, engine := range []string{"off", "auto"} { // values of ATELIE_VIPS: the program's own code, and the vips command
		if _, err := exec.LookPath("vips"); engine == "auto" && err != nil {
			continue // vips is not installed
		}
		if err := firstSizeRows(ctx, out, dir, engine, pictures, references); err != nil {
			return err
		}
	}
	return nil
}

// engineNames are the printed names of the engines, by the value of ATELIE_VIPS.
var engineNames = map[string]string{"off": "own", "auto": "vips"}

// plainFirstSizes returns how long a process takes that only makes the first sizes of a picture: the median of five runs.
func plainFirstSizes(ctx context.Context, dir, file string) (time.Duration, error) {
	job, err := json.Marshal(rendition.Job{Source: file, Folder: dir, NeedsFacts: true, Orders: []rendition.Order{{Width: 320, Format: rendition.WebP}, {Width: 640, Format: rendition.WebP}}})
	if err != nil {
		return 0, err
	}
	var times []time.Duration
	for range 5 {
		begin := time.Now()
		if _, err := child(ctx, "", self(), "picture-make", string(job)); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
	}
	return median(times), nil
}

// firstSizeRows measures one engine on a new site and prints its rows.
func firstSizeRows(ctx context.Context, out io.Writer, dir, engine string, pictures [][]byte, references []time.Duration) (err error) {
	env := append(os.Environ(), "ATELIE_DATA_DIR="+filepath.Join(dir, engine), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_VIPS="+engine)
	anonKey, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	program, err := onTwoProcessors(ctx)
	if err != nil {
		return err
	}
	s, err := start(ctx, env, program[0], program[1:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for size, picture := range pictures {
		var alone []time.Duration
		for i := range firstAlone {
			if err := waitUntilIdle(ctx, s); err != nil {
				return err
			}
			took, err := firstSizeAlone(ctx, s.url, serviceKey, fmt.Sprintf("product-images/alone-%d-%d.jpg", size, i), picture)
			if err != nil {
				return err
			}
			alone = append(alone, took)
		}
		if err := printFirst(out, engine, firstSources[size].name+", alone", alone, references[size], "| | | |"); err != nil {
			return err
		}
	}
	if setScheduling(ctx, "--rr", "1") {
		defer setScheduling(context.WithoutCancel(ctx), "--other", "0") // reset it before the next server starts, which would inherit it
	}
	for _, row := range []struct {
		name     string
		interval time.Duration // between the beginnings of two uploads, at least
	}{
		{fmt.Sprintf("%s, %d in a row", firstSources[0].name, firstUploads), 0},
		{fmt.Sprintf("%s, %d at 100 Mbit/s", firstSources[0].name, firstUploads), time.Duration(len(pictures[0])) * time.Second / fastUplink},
	} {
		if err := waitUntilIdle(ctx, s); err != nil {
			return err
		}
		if err := firstSizeRowWithVisitor(ctx, out, s, engine, anonKey, serviceKey, row.name, row.interval, pictures[0], references[0]); err != nil {
			return err
		}
	}
	return nil
}

// firstSizeRowWithVisitor measures uploads while a visitor requests pages, and prints a row.
func firstSizeRowWithVisitor(ctx context.Context, out io.Writer, s *server, engine, anonKey, serviceKey, name string, interval time.Duration, picture []byte, reference time.Duration) error {
	idle := visit(ctx, s.url, anonKey, func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(idleDuration):
		}
		return nil
	})
	var row []time.Duration
	stopWatching, memory := watchMemory(s.process.Process.Pid, treeMemory)
	meanwhile := visit(ctx, s.url, anonKey, func(ctx context.Context) (err error) {
		row, err = firstSizesOfMany(ctx, s.url, serviceKey, picture, interval)
		return err
	})
	stopWatching()
	if err := errors.Join(idle.err, meanwhile.err); err != nil {
		return err
	}
	ratio := float64(meanwhile.at(99)) / float64(idle.at(99))
	recordCost("first size, page p99, "+name+", "+engineNames[engine], ratio)
	return printFirst(out, engine, name, row, reference, fmt.Sprintf("| %.1f ms | %.1f ms | **%.2f** | %.0f MB |", ms(idle.at(99)), ms(meanwhile.at(99)), ratio, *memory))
}

// printFirst prints and records one row. visitor has the last columns.
func printFirst(out io.Writer, engine, upload string, took []time.Duration, reference time.Duration, visitor string) error {
	ratio := median(took).Seconds() / reference.Seconds()
	recordCost(fmt.Sprintf("first size, %s, %s", upload, engineNames[engine]), ratio)
	_, err := fmt.Fprintf(out, "| %s | %s | **%.2f s** | **%.2f s** | %.2f s | **%.2f** %s\n", engineNames[engine], upload, median(took).Seconds(),
		slices.Max(took).Seconds(), reference.Seconds(), ratio, visitor)
	return err
}

// firstSizesOfMany uploads a picture many times, each time after the response to the upload before and not before the interval is over. It
// returns how long the first size of each takes, and deletes the pictures for the same reason as firstSizeAlone.
func firstSizesOfMany(ctx context.Context, url, serviceKey string, picture []byte, interval time.Duration) ([]time.Duration, error) {
	took, errs := make([]time.Duration, firstUploads), make([]error, firstUploads)
	name := func(i int) string { return fmt.Sprintf("product-images/%d-%d.jpg", interval.Milliseconds(), i) }
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for i := range firstUploads {
		next := time.After(interval)
		if err := uploadPicture(ctx, url, serviceKey, name(i), picture); err != nil {
			return nil, err
		}
		waiting.Go(func() { took[i], errs[i] = waitForFirst(ctx, url, name(i), picture) })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-next:
		}
	}
	waiting.Wait()
	for i := range firstUploads {
		errs = append(errs, deletePicture(ctx, url, serviceKey, name(i)))
	}
	return took, errors.Join(errs...)
}

// firstSizeAlone uploads a picture and returns the result of waitForFirst. Then it deletes the picture, so that the server does not
// make its other renditions.
func firstSizeAlone(ctx context.Context, url, serviceKey, name string, picture []byte) (time.Duration, error) {
	if err := uploadPicture(ctx, url, serviceKey, name, picture); err != nil {
		return 0, err
	}
	took, err := waitForFirst(ctx, url, name, picture)
	if err != nil {
		return 0, err
	}
	return took, deletePicture(ctx, url, serviceKey, name)
}

func uploadPicture(ctx context.Context, url, serviceKey, name string, picture []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/storage/v1/object/"+name, bytes.NewReader(picture))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+serviceKey)
	r.Header.Set("Content-Type", "image/jpeg")
	return expectOK(r)
}

func deletePicture(ctx context.Context, url, serviceKey, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, url+"/storage/v1/object/"+name, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+serviceKey)
	return expectOK(r)
}

// waitForFirst requests an uploaded picture as a page does. It returns the time until the first rendition.
func waitForFirst(ctx context.Context, url, name string, picture []byte) (time.Duration, error) {
	begin := time.Now()
	sum := sha256.Sum256(picture) // a picture without metadata is stored unchanged, so this is its version
	address := url + "/storage/v1/render/image/public/" + name + "?width=640&v=" + hex.EncodeToString(sum[:])[:16]
	for {
		kind, err := typeOf(ctx, address)
		if err != nil {
			return 0, err
		}
		if kind == "image/webp" {
			return time.Since(begin), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(firstPollInterval):
		}
	}
}

// typeOf requests an address as a browser requests a picture, and returns the type of the response. It leaves out the body: while a
// rendition is made, that is the whole stored file, and reading it again and again would be the load that is measured.
func typeOf(ctx context.Context, address string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "image/webp,*/*")
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", response.Status, strings.TrimPrefix(address, "http://"))
	}
	return response.Header.Get("Content-Type"), nil
}
