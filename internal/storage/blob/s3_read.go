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

// Open is Store's. It asks for the whole blob at once, so that one that is removed meanwhile can be read to its end; a
// seek to elsewhere costs another request when something is read there.
func (s *S3) Open(ctx context.Context, id string) (io.ReadSeekCloser, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, failed(ctx, "open", err)
	}
	return &s3Reader{ctx: ctx, s: s, key: key, size: aws.ToInt64(out.ContentLength), etag: out.ETag, body: out.Body}, nil
}

// s3Reader reads an object as a stream from where it stands.
type s3Reader struct {
	ctx  context.Context // io.Reader has no other way to take one
	s    *S3
	key  string
	etag *string
	size int64
	at   int64
	body io.ReadCloser // nil, or what stands at bodyAt
	cuts int

	bodyAt int64
}

func (r *s3Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if r.at >= r.size {
			return 0, io.EOF
		}
		if r.body != nil && r.bodyAt != r.at {
			r.closeBody()
		}
		if r.body == nil {
			if err := r.request(); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p)
		r.at += int64(n)
		r.bodyAt = r.at
		if n > 0 {
			r.cuts = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		// The connection broke, or ended before the object did: go on from here with a new one, a few times.
		r.closeBody()
		if r.cuts++; r.cuts >= openAttempts {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, failed(r.ctx, "read", err)
		}
	}
}

func (r *s3Reader) request() error {
	out, err := r.s.client.GetObject(r.ctx, &s3.GetObjectInput{
		Bucket: &r.s.bucket, Key: &r.key, IfMatch: r.etag, Range: aws.String(fmt.Sprintf("bytes=%d-", r.at)),
	})
	if err != nil {
		return failed(r.ctx, "read", err)
	}
	r.body, r.bodyAt = out.Body, r.at
	return nil
}

// Seek asks nothing of the server.
func (r *s3Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, fmt.Errorf("seek before the start: %w", fs.ErrInvalid)
	}
	r.at = offset
	return r.at, nil
}

func (r *s3Reader) Close() error {
	r.closeBody()
	return nil
}

// closeBody gives the connection up; what it would still have brought is of no use.
func (r *s3Reader) closeBody() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}
