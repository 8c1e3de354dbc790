package s3client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"atelie/internal/s3client"
	"atelie/internal/storage/blob/blobtest"
)

// readTimeout is the documented limit.
const readTimeout = 30 * time.Second

func config() s3client.Config {
	return s3client.Config{Endpoint: "http://s3.example", Region: "us-east-1", KeyID: "k", Secret: "s", Bucket: "b", PathStyle: true}
}

// get requests an object, and returns the response's body.
func get(t *testing.T, client *s3.Client) io.ReadCloser {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	return out.Body
}

// Proves H-backup-stalls.
func TestStalledBodyTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		client := s3client.NewOver(config(), blobtest.Pipes(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			blobtest.Stall(w, r, "first")
			ended <- time.Now()
		}))
		body := get(t, client)
		began := time.Now()
		got, err := io.ReadAll(body)
		if string(got) != "first" || err == nil || !strings.Contains(err.Error(), "sent nothing for 30s") {
			t.Errorf("got %q, error %v", got, err)
		}
		if took := time.Since(began); took != readTimeout {
			t.Errorf("took %s", took)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
		if took := (<-ended).Sub(began); took != readTimeout {
			t.Errorf("the server's connection was closed after %s", took)
		}
	})
}

func TestSlowBodyIsReadCompletely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := s3client.NewOver(config(), blobtest.Pipes(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "6")
			for range 3 {
				time.Sleep(readTimeout - time.Second)
				_, err := io.WriteString(w, "ab")
				if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
					t.Error(err)
				}
			}
		}))
		body := get(t, client)
		var got []byte
		for piece := make([]byte, 2); len(got) < 6; {
			n, err := body.Read(piece)
			if got = append(got, piece[:n]...); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute) // a slow reader
		}
		if err := body.Close(); err != nil || string(got) != "ababab" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Proves H-backup-stalls.
func TestStalledListTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client := s3client.NewOver(config(), blobtest.Pipes(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			blobtest.Stall(w, r, "<ListBucketResult>")
		}))
		began := time.Now()
		_, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("b")})
		if err == nil || !strings.Contains(err.Error(), "sent nothing for 30s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); requests != 3 || took < 3*readTimeout || took > 3*readTimeout+10*time.Second {
			t.Errorf("%d requests in %s", requests, took)
		}
	})
}
