package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/sync/errgroup"
)

// S3Config says which bucket to use and how. Endpoint is http(s)://host[:port]; Prefix is empty or ends in a slash.
// PathStyle puts the bucket into the path, not the host name; Create allows to make it when it is missing.
type S3Config struct {
	Endpoint, Region  string
	KeyID, Secret     string
	Bucket, Prefix    string
	PathStyle, Create bool
}

// S3 keeps blobs in a bucket of an S3 server, under the names that Disk has in its folder. It has no local state.
type S3 struct {
	client *s3.Client
	bucket string
	prefix string
}

// Limits of the way to the server. inFlight pieces of an upload travel while one more fills: (inFlight+1) x PieceSize is
// what an upload costs in memory. minPart is S3's own least size of a part that is not the last.
const (
	inFlight     = 2
	minPart      = 5 << 20
	dialTime     = 5 * time.Second
	answerTime   = 30 * time.Second
	startTime    = 20 * time.Second
	readyTime    = 2 * time.Second
	retryPause   = time.Second
	cleanUpTime  = 30 * time.Second
	openAttempts = 4
	smallPiece   = 256 << 10 // most pictures need no whole buffer
)

// NewS3 opens the bucket. The error says in one line what is wrong with the address, the key or the bucket.
func NewS3(ctx context.Context, cfg S3Config) (*S3, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext
	transport.ResponseHeaderTimeout = answerTime
	transport.MaxIdleConnsPerHost = 32
	// Compression would hide a blob's length, and pictures gain nothing.
	transport.DisableCompression = true
	s := &S3{bucket: cfg.Bucket, prefix: cfg.Prefix, client: s3.New(s3.Options{
		BaseEndpoint: aws.String(cfg.Endpoint),
		Region:       cfg.Region,
		Credentials:  aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(cfg.KeyID, cfg.Secret, "")),
		UsePathStyle: cfg.PathStyle,
		HTTPClient:   &http.Client{Transport: transport},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxBackoff = retryPause
			o.RateLimiter = noRateLimit{} // after an outage the first request must get through
		}),
		Logger: logging.Nop{},
		// The server's own checksums are checked where it sends them; parts of one object have none for the whole.
		DisableLogOutputChecksumValidationSkipped: true,
	})}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := s.ensureBucket(ctx, cfg.Create); err != nil {
		return nil, fmt.Errorf("storage-url: %s: %s", cfg.Endpoint, reason(err, cfg.Bucket))
	}
	return s, nil
}

func (s *S3) ensureBucket(ctx context.Context, create bool) error {
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket})
	if err == nil || !create || statusOf(err) != http.StatusNotFound {
		return err
	}
	_, err = s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &s.bucket})
	var mine *types.BucketAlreadyOwnedByYou // another node was quicker
	if errors.As(err, &mine) {
		return nil
	}
	return err
}

// reason explains to the owner why the bucket cannot be used.
func reason(err error, bucket string) string {
	switch status := statusOf(err); {
	case status == http.StatusNotFound:
		return "there is no bucket " + bucket + " (add create=on to have it made), or the server does not know the key"
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return "the server refuses the key, or the key may not use bucket " + bucket
	case status == http.StatusMovedPermanently:
		return "bucket " + bucket + " is in another region (set region=)"
	case status != 0:
		return fmt.Sprintf("the server answers %d", status)
	}
	var deepest error
	for e := err; e != nil; e = errors.Unwrap(e) {
		deepest = e
	}
	return "no answer: " + strings.ReplaceAll(deepest.Error(), "\n", " ")
}

type noRateLimit struct{}

func (noRateLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (noRateLimit) AddTokens(uint) error { return nil }

// statusOf gives the HTTP status of the server's answer, 0 when there was none.
func statusOf(err error) int {
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		return answered.HTTPStatusCode()
	}
	return 0
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// failed names what a call failed for: a blob that is not there, one that is there already, or a store that cannot be
// used. The end of the caller's context stays what it is.
func failed(ctx context.Context, doing string, err error) error {
	switch status := statusOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case status == http.StatusNotFound && codeOf(err) != "NoSuchBucket" && codeOf(err) != "NoSuchUpload":
		return fmt.Errorf("%s: %w", doing, errors.Join(fs.ErrNotExist, err))
	case status == http.StatusPreconditionFailed:
		return fmt.Errorf("%s: %w", doing, errors.Join(fs.ErrExist, err))
	}
	return ErrUnavailable.Because(fmt.Errorf("%s: %w", doing, err))
}

func (s *S3) key(id string) (string, error) {
	if err := validID(id); err != nil {
		return "", err
	}
	return s.prefix + id[:2] + "/" + id[2:4] + "/" + id, nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Put is Store's. A file of one piece is checked before it is sent; check sees a larger one when it lies in the bucket
// already, where nothing refers to it yet.
func (s *S3) Put(ctx context.Context, id string, body io.Reader, check func(f io.ReadSeeker) error) (Info, error) {
	key, err := s.key(id)
	if err != nil {
		return Info{}, err
	}
	hash := sha256.New()
	counted := &counter{r: io.TeeReader(contextReader{ctx, body}, hash)}
	first, whole, err := nextPiece(counted)
	if err != nil {
		return Info{}, err
	}
	if whole {
		defer buffers.Put(first)
		if check != nil {
			if err := check(bytes.NewReader(first.Bytes())); err != nil {
				return Info{}, err
			}
		}
		_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(first.Bytes()), IfNoneMatch: aws.String("*")})
		return Info{counted.n, hex.EncodeToString(hash.Sum(nil))}, failed(ctx, "put", err)
	}
	uploadID, err := s.begin(ctx, key)
	if err != nil {
		return Info{}, err
	}
	parts, err := s.sendAll(ctx, key, uploadID, first, counted)
	if err == nil {
		err = s.complete(ctx, key, uploadID, parts)
	}
	if err != nil {
		return Info{}, errors.Join(err, s.abort(context.WithoutCancel(ctx), key, uploadID))
	}
	if check != nil {
		if err := s.checkStored(ctx, id, counted.n, check); err != nil {
			return Info{}, errors.Join(err, s.Delete(context.WithoutCancel(ctx), id))
		}
	}
	return Info{counted.n, hex.EncodeToString(hash.Sum(nil))}, nil
}

// nextPiece reads up to PieceSize bytes; whole says that the body ended.
func nextPiece(r io.Reader) (b *bytes.Buffer, whole bool, err error) {
	b = buffers.Get().(*bytes.Buffer)
	b.Reset()
	_, err = io.CopyN(b, r, smallPiece)
	if err == nil {
		b.Grow(PieceSize) // at once: growing by doubling would end at twice the size
		_, err = io.CopyN(b, r, PieceSize-smallPiece)
	}
	if errors.Is(err, io.EOF) {
		return b, true, nil
	}
	if err != nil {
		buffers.Put(b)
		return nil, false, err
	}
	return b, false, nil
}

// sendAll sends first and the rest of a body in pieces, a few at once.
func (s *S3) sendAll(ctx context.Context, key, uploadID string, first *bytes.Buffer, body io.Reader) ([]Part, error) {
	var (
		group, sending = errgroup.WithContext(ctx)
		mu             sync.Mutex
		parts          []Part
		failure        error
	)
	group.SetLimit(inFlight)
	for b, last := first, false; ; {
		number := len(parts) + 1
		mu.Lock()
		parts = append(parts, Part{})
		mu.Unlock()
		piece := b
		group.Go(func() error {
			defer buffers.Put(piece)
			part, err := s.sendPart(sending, key, uploadID, number, piece.Bytes())
			mu.Lock()
			parts[number-1] = part
			mu.Unlock()
			return err
		})
		if last || sending.Err() != nil {
			break
		}
		if b, last, failure = nextPiece(body); failure != nil {
			break
		}
		if last && b.Len() == 0 {
			buffers.Put(b)
			break
		}
	}
	// What stopped the sender comes first: the others only follow it.
	if err := group.Wait(); failure == nil {
		failure = err
	}
	return parts, failure
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (s *S3) begin(ctx context.Context, key string) (string, error) {
	out, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.bucket, Key: &key, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32})
	if err != nil {
		return "", failed(ctx, "begin upload", err)
	}
	return aws.ToString(out.UploadId), nil
}

func (s *S3) sendPart(ctx context.Context, key, uploadID string, number int, data []byte) (Part, error) {
	out, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.bucket, Key: &key, UploadId: &uploadID, PartNumber: aws.Int32(int32(number)), // at most 10,000
		Body: bytes.NewReader(data), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return Part{}, failed(ctx, "send part", err)
	}
	return Part{aws.ToString(out.ETag), aws.ToString(out.ChecksumCRC32)}, nil
}

func (s *S3) complete(ctx context.Context, key, uploadID string, parts []Part) error {
	sent := make([]types.CompletedPart, 0, len(parts))
	for i, p := range parts {
		part := types.CompletedPart{ETag: aws.String(p.ETag), PartNumber: aws.Int32(int32(i + 1))} // at most 10,000
		if p.CRC32 != "" {
			part.ChecksumCRC32 = aws.String(p.CRC32)
		}
		sent = append(sent, part)
	}
	_, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.bucket, Key: &key, UploadId: &uploadID, IfNoneMatch: aws.String("*"), MultipartUpload: &types.CompletedMultipartUpload{Parts: sent},
	})
	return failed(ctx, "complete upload", err)
}

// abort forgets a multipart upload; one that is not known is forgotten already.
func (s *S3) abort(ctx context.Context, key, uploadID string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTime)
	defer cancel()
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: &key, UploadId: &uploadID})
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return failed(ctx, "abort upload", err)
}

func (s *S3) checkStored(ctx context.Context, id string, size int64, check func(io.ReadSeeker) error) (err error) {
	f, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return checkWhole(f, size, check)
}

// Delete is Store's.
func (s *S3) Delete(ctx context.Context, id string) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	return s.deleteKey(ctx, key)
}

func (s *S3) deleteKey(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTime)
	defer cancel()
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key})
	if statusOf(err) == http.StatusNotFound && codeOf(err) != "NoSuchBucket" {
		return nil
	}
	return failed(ctx, "delete", err)
}

// Empty is Store's.
func (s *S3) Empty(ctx context.Context) (bool, error) {
	page, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &s.prefix, MaxKeys: aws.Int32(1)})
	if err != nil {
		return false, failed(ctx, "list", err)
	}
	return len(page.Contents) == 0, nil
}

// Ready is Store's: one quick question, without a second try.
func (s *S3) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	if err != nil {
		return ErrUnavailable.Because(err)
	}
	return nil
}
