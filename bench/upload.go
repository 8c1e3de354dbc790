package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	bits "encoding/binary" // not "binary", which is a variable of this package
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"atelie/internal/storage/blob/blobtest"
)

const (
	uploadSize          = 2_000_000_000 // bytes of the file
	uploadInterruptions = 20            // how often the connection is interrupted
	uploadChunk         = 6 << 20       // bytes of a piece, which one request sends; hosted Supabase requires this size
	uploadMaxMB         = 100           // the server's peak memory must stay below this
)

// uploadTable prints the speed and the memory of a large resumable upload with interruptions, on disk and on S3. It returns an error if the
// file that it downloads afterwards differs, or if the server's memory reaches uploadMaxMB.
func uploadTable(ctx context.Context, out io.Writer) (err error) {
	if _, err := fmt.Fprintf(out, "\nResumable upload of %.1f GB in pieces of 6 MiB, "+
		"cut %d times within a piece and twice resumed on a server that was started again\n", uploadSize/1e9, uploadInterruptions); err != nil {
		return err
	}
	err = resumableUpload(ctx, out, "disk", "")
	bucket, bucketErr := blobtest.FreshBucket(ctx)
	defer func() { err = errors.Join(err, blobtest.Stop()) }()
	if bucketErr != nil {
		return errors.Join(err, bucketErr)
	}
	host := strings.TrimPrefix(bucket.Endpoint, "http://")
	store := fmt.Sprintf("s3://%s:%s@%s/%s?tls=off&create=on", bucket.KeyID, bucket.Secret, host, bucket.Bucket)
	return errors.Join(err, resumableUpload(ctx, out, "S3 (versitygw)", store))
}

// resumableUpload measures an upload to one file store and prints a line. store is the value of ATELIE_STORAGE_URL.
func resumableUpload(ctx context.Context, out io.Writer, name, store string) (err error) {
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env := append(os.Environ(), "ATELIE_DATA_DIR="+dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_STORAGE_URL="+store)
	_, serviceKey, err := keysOf(ctx, env)
	if err != nil {
		return err
	}
	u := &uploadState{ctx: ctx, serviceKey: serviceKey}
	if u.server, err = start(ctx, env, binary, "serve"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.server.stop()) }()
	if err := u.begin(); err != nil {
		return err
	}
	begin := time.Now()
	var peak float64
	for cut := range uploadInterruptions + 1 {
		// Each interruption is in the middle of a piece; the last part ends at the end of the file.
		end := int64(uploadSize)
		if cut < uploadInterruptions {
			end = uploadSize/(uploadInterruptions+1)*int64(cut+1) + uploadChunk/2
		}
		if err := u.send(end); err != nil {
			return fmt.Errorf("after %d bytes: %w", u.offset, err)
		}
		if cut != 5 && cut != 14 { // after these two interruptions the server is restarted
			continue
		}
		now, err := u.server.memory("VmHWM")
		if err != nil {
			return err
		}
		peak = max(peak, now)
		if err := u.server.stop(); err != nil {
			return err
		}
		if u.server, err = start(ctx, env, binary, "serve"); err != nil {
			return err
		}
	}
	took := time.Since(begin)
	now, err := u.server.memory("VmHWM")
	if err != nil {
		return err
	}
	peak = max(peak, now)
	identical, err := u.compare()
	if err != nil {
		return err
	}
	download, err := u.server.memory("VmHWM")
	if err != nil {
		return err
	}
	verdict := "identical"
	if !identical {
		verdict = "DIFFERENT"
	}
	if _, err := fmt.Fprintf(out, "  %-15s %6.1f s   %5.0f MB/s   SHA-256 %s   peak memory of the server %.0f MB, after the download %.0f MB\n", name, took.Seconds(), uploadSize/1e6/took.Seconds(), verdict, peak, max(peak, download)); err != nil {
		return err
	}
	if peak = max(peak, download); !identical || peak >= uploadMaxMB {
		return fmt.Errorf("upload on %s: %s bytes, %.0f MB", name, verdict, peak)
	}
	return nil
}

// uploadState is the state of a running upload.
type uploadState struct {
	ctx        context.Context
	server     *server
	serviceKey string
	path       string // path of the upload's URL
	offset     int64  // number of bytes that the server has received
	sent       film   // the file
}

func (u *uploadState) request(method, path string, body io.Reader, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(u.ctx, method, u.server.url+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+u.serviceKey)
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); err == nil {
		r.ContentLength = n
	}
	return client.Do(r)
}

func (u *uploadState) begin() error {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	response, err := u.request(http.MethodPost, "/storage/v1/upload/resumable", http.NoBody, "Upload-Length", strconv.Itoa(uploadSize),
		"Upload-Metadata", "bucketName "+encode("product-images")+",objectName "+encode("large.mp4")+",contentType "+encode("video/mp4"))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	u.path = strings.TrimPrefix(response.Header.Get("Location"), u.server.url)
	if response.StatusCode != http.StatusCreated {
		return errors.New("begin: " + response.Status)
	}
	return nil
}

var errCut = errors.New("the line is cut here")

// send uploads the file up to end. Unless that is the end of the file, the connection breaks there, within a piece.
func (u *uploadState) send(end int64) error {
	for u.offset < end {
		length := min(uploadChunk, uploadSize-u.offset)
		var body io.Reader = io.NewSectionReader(u.sent, u.offset, length)
		cut := u.offset+length > end
		if cut {
			body = io.MultiReader(io.NewSectionReader(u.sent, u.offset, end-u.offset), failing{})
		}
		response, err := u.request(http.MethodPatch, u.path, io.NopCloser(body), "Upload-Offset", strconv.FormatInt(u.offset, 10),
			"Content-Type", "application/offset+octet-stream", "Content-Length", strconv.FormatInt(length, 10))
		switch {
		case cut && err == nil:
			return errors.Join(errors.New("half a piece was answered with "+response.Status), response.Body.Close())
		case cut:
			return u.ask()
		case err != nil:
			return err
		}
		text, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		// The server was still storing the interrupted piece: the offset has changed since ask, or the upload was locked.
		if response.StatusCode == http.StatusConflict || bytes.Contains(text, []byte("ERR_UPLOAD_INTERRUPTED")) {
			if err := u.ask(); err != nil {
				return err
			}
			continue
		}
		if response.StatusCode != http.StatusNoContent {
			return fmt.Errorf("PATCH: %s: %s", response.Status, text)
		}
		if u.offset, err = strconv.ParseInt(response.Header.Get("Upload-Offset"), 10, 64); err != nil {
			return err
		}
	}
	return nil
}

// ask reads the offset of the upload from the server.
func (u *uploadState) ask() error {
	response, err := u.request(http.MethodHead, u.path, http.NoBody)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // HEAD has none
	if response.StatusCode != http.StatusOK {
		return errors.New("HEAD: " + response.Status)
	}
	u.offset, err = strconv.ParseInt(response.Header.Get("Upload-Offset"), 10, 64)
	return err
}

// compare downloads the file and reports whether it has the same hash as what was sent.
func (u *uploadState) compare() (bool, error) {
	response, err := u.request(http.MethodGet, "/storage/v1/object/public/product-images/large.mp4", http.NoBody)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	ours, theirs := sha256.New(), sha256.New()
	if _, err := io.Copy(ours, io.NewSectionReader(u.sent, 0, uploadSize)); err != nil {
		return false, err
	}
	_, err = io.Copy(theirs, response.Body)
	return response.StatusCode == http.StatusOK && bytes.Equal(ours.Sum(nil), theirs.Sum(nil)), err
}

// failing is a body whose reading fails, which breaks the connection.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errCut }

// film is a file of random bytes that begins like an MP4 video. Its bytes are computed when they are read, so it needs no disk.
type film struct{}

const filmBlock = 64 << 10

// ReadAt implements io.ReaderAt.
func (film) ReadAt(p []byte, at int64) (int, error) {
	block := make([]byte, filmBlock)
	for done := 0; done < len(p); {
		n := at + int64(done)
		var seed [32]byte
		bits.LittleEndian.PutUint64(seed[:], uint64(n/filmBlock))
		_, _ = rand.NewChaCha8(seed).Read(block) // never fails
		if n < filmBlock {
			copy(block, "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41")
		}
		done += copy(p[done:], block[n%filmBlock:])
	}
	return len(p), nil
}
