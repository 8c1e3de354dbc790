package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"atelie/internal/s3client"
)

// bucket is a Destination (where a backup is stored) in an S3 bucket.
type bucket struct {
	cfg      s3client.Config
	client   *s3.Client
	uploader *manager.Uploader

	// putOnce uploads with the If-None-Match header, so that it replaces no object. Some S3 servers do not support this header, or support it
	// only in one of the two kinds of upload.
	unsupportedSingle    atomic.Bool // the header is known not to work in an upload with one request
	unsupportedMultipart atomic.Bool // the header is known not to work in an upload with several requests
	loggedUnconditional  atomic.Bool // the warning about uploads without the header was logged

	mu      sync.Mutex
	ensured bool // ensure has nothing to do: the bucket exists, or cfg does not ask to create it
}

// partSize is the size in bytes of the parts of an S3 multipart upload. They are uploaded one after the other (Concurrency 1).
const partSize = 8 << 20

func newBucket(cfg s3client.Config) *bucket {
	b := &bucket{cfg: cfg, ensured: !cfg.Create, client: s3client.New(cfg)}
	b.uploader = manager.NewUploader(b.client, func(u *manager.Uploader) { u.PartSize, u.Concurrency = partSize, 1 })
	return b
}

func (b *bucket) Label() string {
	return "s3 " + b.cfg.Endpoint + "/" + b.cfg.Bucket + "/" + b.cfg.Prefix
}

// ensure creates the bucket if cfg.Create is true. If the bucket exists already, ensure returns no error.
func (b *bucket) ensure(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ensured {
		return nil
	}
	_, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.cfg.Bucket})
	if code := s3client.CodeOf(err); err != nil && code != "BucketAlreadyOwnedByYou" && code != "BucketAlreadyExists" {
		return b.explain(err)
	}
	b.ensured = true
	return nil
}

func (b *bucket) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	if err := b.ensure(ctx); err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name)}
	if _, ok := body.(io.ReaderAt); ok { // the uploader reads the parts of an io.ReaderAt without copying them into buffers
		in.Body = body
		_, err := b.uploader.Upload(ctx, in)
		return b.explain(err)
	}
	_, err := b.put(ctx, in, body)
	return b.explain(err)
}

// smallFile is the size in bytes up to which a file is uploaded with a single request.
const smallFile = 1 << 20

// put stores body as the object that in names, and returns its size in bytes. It sends a small object without the uploader, which would
// allocate a whole part for it.
func (b *bucket) put(ctx context.Context, in *s3.PutObjectInput, body io.Reader) (size int64, err error) {
	start, err := io.ReadAll(io.LimitReader(body, smallFile))
	if err != nil {
		return 0, err
	}
	if len(start) < smallFile {
		in.Body = bytes.NewReader(start)
		_, err = b.client.PutObject(ctx, in)
		return int64(len(start)), err
	}
	rest := &counter{from: body}
	in.Body = io.MultiReader(bytes.NewReader(start), rest)
	_, err = b.uploader.Upload(ctx, in)
	return smallFile + rest.n, err
}

// errExists is returned by putOnce if the object exists, errUnconditional if the server does not support the condition.
var (
	errExists        = errors.New("the object exists")
	errUnconditional = errors.New("the server does not support If-None-Match")
)

// putOnce is put for an object that must not exist. It stores nothing if the server does not support the condition (errUnconditional).
func (b *bucket) putOnce(ctx context.Context, in *s3.PutObjectInput, body io.ReadSeeker) (size int64, err error) {
	size, err = body.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if b.unsupported(size).Load() {
		return 0, errUnconditional
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	in.IfNoneMatch = aws.String("*")
	size, err = b.put(ctx, in, body)
	in.IfNoneMatch = nil
	switch {
	case s3client.StatusOf(err) == http.StatusPreconditionFailed:
		return 0, fmt.Errorf("%w (%w)", errExists, err)
	case rejectsCondition(err):
		return 0, fmt.Errorf("%w (%w)", errUnconditional, err)
	}
	return size, err
}

// unsupported returns the flag that is set when the server is known not to support If-None-Match in uploads of size bytes.
func (b *bucket) unsupported(size int64) *atomic.Bool {
	if size > partSize {
		return &b.unsupportedMultipart
	}
	return &b.unsupportedSingle
}

// rejectsCondition reports whether an error is that of a server that does not support If-None-Match. Those answer 501, or 400 with one of
// several codes. Errors of an interrupted upload have the status 400 and other codes.
func rejectsCondition(err error) bool {
	codes := []string{"InvalidArgument", "InvalidRequest", "NotImplemented", "NotSupported"}
	status := s3client.StatusOf(err)
	return status == http.StatusNotImplemented || status == http.StatusBadRequest && slices.Contains(codes, s3client.CodeOf(err))
}

// counter counts the bytes that are read.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (n int, err error) {
	n, err = c.from.Read(p)
	c.n += int64(n)
	return n, err
}

func (b *bucket) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	return b.Write(ctx, name, body)
}

func (b *bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name)})
	if err != nil {
		return nil, b.explain(err)
	}
	return bucketBody{out.Body}, nil
}

func (b *bucket) List(ctx context.Context, prefix string, each func(Object) error) error {
	return b.listAfter(ctx, prefix, "", each)
}

// listAfter is List for the names that follow after in byte order. If each returns fs.SkipAll, the listing ends without an error and
// without a request for the next page.
func (b *bucket) listAfter(ctx context.Context, prefix, after string, each func(Object) error) error {
	in := &s3.ListObjectsV2Input{Bucket: &b.cfg.Bucket, Prefix: aws.String(b.cfg.Prefix + prefix)}
	if after != "" {
		in.StartAfter = aws.String(b.cfg.Prefix + after)
	}
	for pages := s3.NewListObjectsV2Paginator(b.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return missingAs(b.explain(err), nil)
		}
		for _, o := range page.Contents {
			found := Object{Name: strings.TrimPrefix(aws.ToString(o.Key), b.cfg.Prefix), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}
			if err := each(found); errors.Is(err, fs.SkipAll) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep does nothing, because an interrupted upload leaves no object. Its parts have to be removed by a lifecycle rule of the bucket.
func (b *bucket) Sweep(time.Time) error { return nil }

func (b *bucket) Delete(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Prefix + name)})
	return missingAs(b.explain(err), nil)
}

// explain converts an error of the S3 server. A missing object becomes fs.ErrNotExist, and so does a missing bucket that the first write
// will create. Any other error becomes a destinationError.
func (b *bucket) explain(err error) error {
	switch code := s3client.CodeOf(err); {
	case code == "NoSuchKey", code == "NotFound", code == "NoSuchBucket" && b.cfg.Create:
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	}
	return toDestinationError(err)
}
