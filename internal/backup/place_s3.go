package backup

import (
	"context"
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
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// S3Config says which bucket a place is in, and under which names.
type S3Config struct {
	Endpoint, Region string // Endpoint is http(s)://host[:port]
	KeyID, Secret    string
	Bucket, Prefix   string // Prefix begins the name of every object; it is empty or ends in a slash
	PathStyle        bool   // the bucket's name is in the path of requests, not in the host name
	Create           bool   // the bucket is created by the first write if it is missing
}

// bucket is a place in an S3 bucket.
type bucket struct {
	cfg      S3Config
	client   *s3.Client
	uploader *manager.Uploader

	mu      sync.Mutex
	created bool // the bucket exists, or need not be created
}

// Limits of the requests. A large object is sent in parts of partSize bytes, one after the other.
const (
	partSize      = 8 << 20
	dialTimeout   = 5 * time.Second
	headerTimeout = 30 * time.Second
	writeTimeout  = 30 * time.Second // until a connection takes the next writePiece bytes of a request
	writePiece    = 64 << 10
)

// steadyConn limits each write. A server that takes no more of a request would hold it for as long as TCP tries: headerTimeout begins
// after the last byte.
type steadyConn struct{ net.Conn }

func (c steadyConn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		if err = c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(p[written:min(written+writePiece, len(p))])
		written += n
	}
	return written, err
}

func newBucket(cfg S3Config) *bucket {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err // without a connection: a nil one in steadyConn is not nil
		}
		return steadyConn{conn}, nil
	}
	transport.ResponseHeaderTimeout = headerTimeout
	transport.DisableCompression = true
	b := &bucket{cfg: cfg, created: !cfg.Create, client: s3.New(s3.Options{
		BaseEndpoint: aws.String(cfg.Endpoint),
		Region:       cfg.Region,
		Credentials:  aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(cfg.KeyID, cfg.Secret, "")),
		UsePathStyle: cfg.PathStyle,
		HTTPClient:   &http.Client{Transport: transport},
		Logger:       logging.Nop{},
		// The server sends no checksum of an object that was uploaded in parts: that needs no warning.
		DisableLogOutputChecksumValidationSkipped: true,
	})}
	b.uploader = manager.NewUploader(b.client, func(u *manager.Uploader) { u.PartSize, u.Concurrency = partSize, 1 })
	return b
}

func (b *bucket) Label() string {
	return "s3 " + b.cfg.Endpoint + "/" + b.cfg.Bucket + "/" + b.cfg.Prefix
}

// ensure creates the bucket if the configuration says so.
func (b *bucket) ensure(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.created {
		return nil
	}
	_, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.cfg.Bucket})
	var (
		mine   *types.BucketAlreadyOwnedByYou
		exists *types.BucketAlreadyExists
	)
	if err != nil && !errors.As(err, &mine) && !errors.As(err, &exists) {
		return b.explain(err)
	}
	b.created = true
	return nil
}

func (b *bucket) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	if err := b.ensure(ctx); err != nil {
		return err
	}
	_, err := b.uploader.Upload(ctx, &s3.PutObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name), Body: body})
	return b.explain(err)
}

func (b *bucket) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	return b.Write(ctx, name, body)
}

func (b *bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name)})
	if err != nil {
		return nil, b.explain(err)
	}
	return out.Body, nil
}

func (b *bucket) List(ctx context.Context, prefix string, each func(Object) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.cfg.Bucket, Prefix: aws.String(b.cfg.Prefix + prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err = b.explain(err); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			found := Object{Name: strings.TrimPrefix(aws.ToString(o.Key), b.cfg.Prefix), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}
			if err := each(found); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep does nothing: an interrupted upload leaves no object. Its parts are the server's to remove, by a rule of the bucket.
func (b *bucket) Sweep(time.Time) error { return nil }

func (b *bucket) Delete(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name)})
	if err = b.explain(err); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// explain makes fs.ErrNotExist of a missing object, and of a missing bucket that the first write creates.
func (b *bucket) explain(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch code := api.ErrorCode(); {
	case code == "NoSuchKey", code == "NotFound", code == "NoSuchBucket" && b.cfg.Create:
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	}
	return err
}
