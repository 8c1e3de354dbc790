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

// Open implements Store. It requests the whole blob with one request, so that the blob can be read to its end even if it is
// removed meanwhile. After a Seek to another position, the next Read sends another request.
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
		return nil, failed(ctx, "open", err)
	}
	return &s3Reader{ctx: ctx, s: s, key: key, size: aws.ToInt64(out.ContentLength), etag: out.ETag, body: out.Body}, nil
}

// s3Reader reads an object as a stream from its position. If body is nil, the next Read requests the object from there.
type s3Reader struct {
	ctx  context.Context // a field, because Read has no context parameter
	s    *S3
	key  string
	etag *string       // entity tag of the object that was opened
	size int64         // bytes of the whole object
	at   int64         // position of the next Read
	body io.ReadCloser // nil, or a stream at position bodyAt
	cuts int           // interruptions since the last byte was read

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
		// The connection broke before the end of the object. Continue at this position with a new request, a few times.
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
	r.body, r.bodyAt, r.etag = out.Body, r.at, out.ETag
	if rest := aws.ToInt64(out.ContentLength); rest != r.size-r.at {
		r.closeBody()
		return fmt.Errorf("%d bytes are stored from %d on, of %d in all", rest, r.at, r.size)
	}
	return nil
}

// Seek sets the position. It sends no request.
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

// closeBody closes the stream without reading the rest of it.
func (r *s3Reader) closeBody() {
	if r.body != nil {
		_ = r.body.Close()
		r.body = nil
	}
}
