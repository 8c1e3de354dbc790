package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// This file reads blobs from S3. s3Reader can seek, and it continues with a new request if the connection breaks.

// Open implements Store. It sends one request for the whole blob, so that a running read continues even if the blob is removed. After a
// Seek to another position, the next Read sends a new request.
func (s *S3) Open(ctx context.Context, id string) (io.ReadSeekCloser, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	r, err := s.open(ctx, key)
	if err != nil {
		return nil, err // not r: a nil *s3Reader in an interface is not nil
	}
	return r, nil
}

func (s *S3) open(ctx context.Context, key string) (*s3Reader, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, requestError(ctx, "open", err)
	}
	return &s3Reader{ctx: ctx, store: s, key: key, size: aws.ToInt64(out.ContentLength), etag: out.ETag, body: out.Body}, nil
}

// s3Reader reads an object as a stream. If body is nil, the next Read first requests the object's bytes from position on.
type s3Reader struct {
	ctx      context.Context // a field, because Read has no context parameter
	store    *S3
	key      string
	etag     *string // entity tag of the object; nil before the first request
	size     int64   // bytes of the whole object
	position int64   // position of the next Read
	failures int     // number of consecutive attempts to read that returned no bytes

	body         io.ReadCloser // the stream of the response, or nil
	bodyPosition int64         // position in the object of the next byte of body
}

func (r *s3Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if r.position >= r.size {
			return 0, io.EOF
		}
		if r.body != nil && r.bodyPosition != r.position { // Seek has changed the position
			r.closeBody()
		}
		if r.body == nil {
			if err := r.request(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p)
		r.position += int64(n)
		r.bodyPosition = r.position
		if n > 0 {
			r.failures = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		// The connection broke before the end of the object. Continue at this position with a new request, a few times.
		r.closeBody()
		if r.failures++; r.failures >= readAttempts {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, requestError(r.ctx, "read", err)
		}
	}
}

// request opens the stream at the position of the next Read.
func (r *s3Reader) request() error {
	out, err := r.store.client.GetObject(r.ctx, &s3.GetObjectInput{
		Bucket: &r.store.bucket, Key: &r.key, IfMatch: r.etag, Range: aws.String(fmt.Sprintf("bytes=%d-", r.position)),
	})
	if err != nil {
		return requestError(r.ctx, "read", err)
	}
	r.body, r.bodyPosition, r.etag = out.Body, r.position, out.ETag
	if rest := aws.ToInt64(out.ContentLength); rest != r.size-r.position {
		r.closeBody()
		return fmt.Errorf("%d bytes are stored from %d on, of %d in all", rest, r.position, r.size)
	}
	return nil
}

// Seek sets the position. It sends no request.
func (r *s3Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.position
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.position, fmt.Errorf("seek before the start: %w", fs.ErrInvalid)
	}
	r.position = offset
	return r.position, nil
}

func (r *s3Reader) Close() error {
	r.closeBody()
	return nil
}

// closeBody closes the stream without reading the rest of it.
func (r *s3Reader) closeBody() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}
