package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// This file is the part of S3 for blobs that arrive in pieces.

// tailKey returns the name of the object with a blob's tail: the bytes at its end that are too few for a part of a multipart
// upload. end is the size of the blob with its tail.
func (s *S3) tailKey(id string, end int64) string {
	return s.tailPrefix(id) + strconv.FormatInt(end, 10)
}

func (s *S3) tailPrefix(id string) string { return s.prefix + pieces + "/" + id + "/" }

// Append implements Store. A piece of at least minPart bytes, or the last one, becomes a part of a multipart upload. A
// smaller piece, the tail, is stored in a separate object, and the next call prepends it to its piece.
func (s *S3) Append(ctx context.Context, id string, at Partial, data []byte, last bool) (Partial, error) {
	key, err := s.key(id)
	if err != nil {
		return at, err
	}
	if len(data) > PieceSize {
		return at, errTooMuch
	}
	if at.UploadID == "" {
		if at.UploadID, err = s.begin(ctx, key); err != nil {
			return at, err
		}
	}
	if at.Old > 0 { // the caller has saved at, so the tail before the current one is not needed any more
		if err := s.deleteKey(ctx, s.tailKey(id, at.Old)); err != nil {
			return at, err
		}
		at.Old = 0
	}
	if at.Tail > 0 {
		tail, err := s.readTail(ctx, id, at, len(data))
		if err != nil {
			return at, err
		}
		data = append(tail, data...)
		at.Old = at.Size
	}
	newSize := at.Size - at.Tail + int64(len(data))
	if len(data) < minPart && !last {
		tail := s.tailKey(id, newSize)
		if _, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &tail, Body: bytes.NewReader(data)}); err != nil {
			return at, failed(ctx, "store the tail", err)
		}
		at.Size, at.Tail = newSize, int64(len(data))
		return at, nil
	}
	part, err := s.sendPart(ctx, key, at.UploadID, len(at.Parts)+1, data)
	if err != nil {
		return at, err
	}
	at.Parts, at.Size, at.Tail = append(slices.Clone(at.Parts), &part), newSize, 0
	return at, nil
}

// readTail returns the tail, in a slice with capacity for spare more bytes.
func (s *S3) readTail(ctx context.Context, id string, at Partial, spare int) ([]byte, error) {
	key := s.tailKey(id, at.Size)
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, failed(ctx, "read the tail", err)
	}
	tail := make([]byte, at.Tail, at.Tail+int64(spare))
	_, err = io.ReadFull(out.Body, tail)
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return nil, failed(ctx, "read the tail", err)
	}
	return tail, nil
}

// Finish implements Store. It completes the object in its final place before the commit: nothing refers to it yet.
func (s *S3) Finish(ctx context.Context, id string, at Partial) (*Staged, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.complete(ctx, key, at.UploadID, at.Parts); err != nil {
		// An earlier call may have completed the upload. Then the object is there.
		if codeOf(err) != "NoSuchUpload" && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	f, err := s.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := sameSize(f.size, at); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Staged{Info: Info{Size: at.Size}, ReadSeeker: f,
		commit: func(ctx context.Context) error {
			return errors.Join(f.Close(), s.deleteTails(ctx, s.tailPrefix(id), nil))
		},
		discard: func(context.Context) error { return f.Close() }}, nil
}

// Discard implements Store.
func (s *S3) Discard(ctx context.Context, id string, at Partial) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if at.UploadID != "" {
		if err := s.abort(ctx, key, at.UploadID); err != nil {
			return err
		}
	}
	return errors.Join(s.deleteTails(ctx, s.tailPrefix(id), nil), s.Delete(ctx, id))
}

// deleteTails removes the tails whose names begin with prefix, except those for which keep is true. keep may be nil.
func (s *S3) deleteTails(ctx context.Context, prefix string, keep func(types.Object) bool) error {
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failed(ctx, "list tails", err)
		}
		for _, o := range page.Contents {
			if keep != nil && keep(o) {
				continue
			}
			if err := s.deleteKey(ctx, aws.ToString(o.Key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep implements Store. It removes multipart uploads and tails.
func (s *S3) Sweep(ctx context.Context, before time.Time, keep func(id string) bool) error {
	uploads := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: &s.prefix})
	for uploads.HasMorePages() {
		page, err := uploads.NextPage(ctx)
		if err != nil {
			return failed(ctx, "list uploads", err)
		}
		for _, u := range page.Uploads {
			key := aws.ToString(u.Key)
			id := key[strings.LastIndexByte(key, '/')+1:]
			if own, err := s.key(id); err != nil || own != key || keep(id) || !aws.ToTime(u.Initiated).Before(before) {
				continue
			}
			if err := s.abort(ctx, key, aws.ToString(u.UploadId)); err != nil {
				return err
			}
		}
	}
	prefix := s.prefix + pieces + "/"
	return s.deleteTails(ctx, prefix, func(o types.Object) bool {
		id, _, _ := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), prefix), "/")
		return keep(id) || !aws.ToTime(o.LastModified).Before(before)
	})
}
