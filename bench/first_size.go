package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	firstUploads = 15                    // measured uploads
	firstAtOnce  = 3                     // concurrent uploads among them
	firstAlone   = 3                     // further uploads, while the server does nothing else
	firstPoll    = 10 * time.Millisecond // between two requests for a rendition
)

// firstSizes prints how long it takes from an upload of 24 megapixels until a page gets its first rendition, a smaller
// picture made from the upload. It measures fifteen uploads, three at a time, on two processors, and compares them with
// single uploads to an idle server and with the vips command that makes the same size. Like a page, it requests the
// rendition immediately, and repeats the request while the server answers with the stored file.
func firstSizes(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-first")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	source := filepath.Join(dir, "source.jpg")
	picture, err := generateUpload(ctx, source)
	if err != nil {
		return err
	}
	_, noVips := exec.LookPath("vips")
	var reference []time.Duration
	for range 5 {
		if noVips != nil {
			break
		}
		begin := time.Now()
		if _, err := child(ctx, "", "vips", "thumbnail", source, filepath.Join(dir, "640.webp")+"[Q=80,strip]", "640"); err != nil {
			return err
		}
		reference = append(reference, time.Since(begin))
	}
	if _, err := fmt.Fprintf(out, "\n## The first size after %d uploads of 24 MP (%.1f MB), %d at a time, on two processors\n\nFrom the answer to the upload to the first answer in WebP on the address of a page, 640 px wide. \"Alone\" is the median of %d\nuploads with nothing else to do.\n\n| engine | median | most | alone | ratio of the median to alone | vips thumbnail alone | ratio to it |\n| --- | --- | --- | --- | --- | --- | --- |\n",
		firstUploads, float64(len(picture))/1e6, firstAtOnce, firstAlone); err != nil {
		return err
	}
	for _, engine := range []string{"off", "auto"} {
		if engine == "auto" && noVips != nil {
			continue
		}
		alone, all, err := firstSizesOf(ctx, dir, engine, picture)
		if err != nil {
			return err
		}
		thumbnail, ratio := "not installed", ""
		if noVips == nil {
			thumbnail = fmt.Sprintf("%.2f s", median(reference).Seconds())
			ratio = fmt.Sprintf("%.2f", median(all).Seconds()/median(reference).Seconds())
		}
		if _, err := fmt.Fprintf(out, "| %s | **%.2f s** | **%.2f s** | %.2f s | **%.2f** | %s | %s |\n", engineNames[engine], median(all).Seconds(), slices.Max(all).Seconds(),
			median(alone).Seconds(), median(all).Seconds()/median(alone).Seconds(), thumbnail, ratio); err != nil {
			return err
		}
	}
	return nil
}

// engineNames are the printed names of the engines, by the value of ATELIE_VIPS.
var engineNames = map[string]string{"off": "own", "auto": "vips"}

// firstSizesOf measures one engine on a new site. It returns the times of the single uploads (alone) and of the
// concurrent ones (all).
func firstSizesOf(ctx context.Context, dir, engine string, picture []byte) (alone, all []time.Duration, err error) {
	env := append(os.Environ(), "ATELIE_DATA_DIR="+filepath.Join(dir, engine), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_VIPS="+engine)
	_, key, err := keysOf(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	program, err := onTwoProcessors(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := start(ctx, env, program[0], program[1:]...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for i := range firstAlone {
		if err := waitUntilIdle(ctx, s); err != nil {
			return nil, nil, err
		}
		took, err := firstSize(ctx, s.url, key, fmt.Sprintf("product-images/alone-%d.jpg", i), picture)
		if err != nil {
			return nil, nil, err
		}
		alone = append(alone, took)
	}
	if err := waitUntilIdle(ctx, s); err != nil {
		return nil, nil, err
	}
	all = make([]time.Duration, firstUploads)
	errs := make([]error, firstUploads)
	next := make(chan int)
	var working sync.WaitGroup
	for range firstAtOnce {
		working.Go(func() {
			for i := range next {
				all[i], errs[i] = firstSize(ctx, s.url, key, fmt.Sprintf("product-images/%d.jpg", i), picture)
			}
		})
	}
	for i := range firstUploads {
		next <- i
	}
	close(next)
	working.Wait()
	return alone, all, errors.Join(errs...)
}

// firstSize uploads a picture and requests it as a page does. It returns the time from the answer to the upload until the
// first rendition.
func firstSize(ctx context.Context, url, key, name string, picture []byte) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/storage/v1/object/"+name, bytes.NewReader(picture))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "image/jpeg")
	if err := expectOK(r); err != nil {
		return 0, err
	}
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
		case <-time.After(firstPoll):
		}
	}
}

// typeOf requests an address as a browser requests a picture, and returns the type of the answer.
func typeOf(ctx context.Context, address string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "image/webp,*/*")
	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", answer.Status, strings.TrimPrefix(address, "http://"))
	}
	return answer.Header.Get("Content-Type"), nil
}
