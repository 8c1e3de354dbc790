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
)

// tailKey names the bytes at the end that are too few for a part; end is the blob's size with them.
func (s *S3) tailKey(id string, end int64) string {
	return s.stagedPrefix(id) + strconv.FormatInt(end, 10)
}

func (s *S3) stagedPrefix(id string) string { return s.prefix + staged + "/" + id + "/" }

// Append is Store's. A piece that is large enough becomes a part; a smaller one waits in an object of its own and is
// joined with the next.
func (s *S3) Append(ctx context.Context, id string, at Staged, data []byte, last bool) (Staged, error) {
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
	if at.Old > 0 { // the state that replaced it was kept, or it would not be here
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
	grown := at.Size - at.Tail + int64(len(data))
	if len(data) < minPart && !last {
		tail := s.tailKey(id, grown)
		if _, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &tail, Body: bytes.NewReader(data)}); err != nil {
			return at, failed(ctx, "keep the end", err)
		}
		at.Size, at.Tail = grown, int64(len(data))
		return at, nil
	}
	part, err := s.sendPart(ctx, key, at.UploadID, len(at.Parts)+1, data)
	if err != nil {
		return at, err
	}
	at.Parts, at.Size, at.Tail = append(slices.Clone(at.Parts), part), grown, 0
	return at, nil
}

// readTail gives the bytes at the end, with room for more.
func (s *S3) readTail(ctx context.Context, id string, at Staged, room int) ([]byte, error) {
	key := s.tailKey(id, at.Size)
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, failed(ctx, "read the end", err)
	}
	tail := make([]byte, at.Tail, at.Tail+int64(room))
	_, err = io.ReadFull(out.Body, tail)
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return nil, failed(ctx, "read the end", err)
	}
	return tail, nil
}

// Finish is Store's. check sees the object in the bucket; when it refuses, the object goes.
func (s *S3) Finish(ctx context.Context, id string, at Staged, check func(f io.ReadSeeker) error) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if err := s.complete(ctx, key, at.UploadID, at.Parts); err != nil {
		// An earlier call may have come this far; checkStored then finds it whole.
		if codeOf(err) != "NoSuchUpload" && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := s.checkStored(ctx, id, at.Size, check); err != nil {
		return err
	}
	return s.deleteStaged(ctx, id)
}

// Discard is Store's.
func (s *S3) Discard(ctx context.Context, id string, at Staged) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if at.UploadID != "" {
		if err := s.abort(ctx, key, at.UploadID); err != nil {
			return err
		}
	}
	return errors.Join(s.deleteStaged(ctx, id), s.Delete(ctx, id))
}

// deleteStaged removes the small ends of an upload.
func (s *S3) deleteStaged(ctx context.Context, id string) error {
	prefix := s.stagedPrefix(id)
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failed(ctx, "list ends", err)
		}
		for _, o := range page.Contents {
			if err := s.deleteKey(ctx, aws.ToString(o.Key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep is Store's: multipart uploads and ends without an upload that began before a moment.
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
	prefix := s.prefix + staged + "/"
	ends := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
	for ends.HasMorePages() {
		page, err := ends.NextPage(ctx)
		if err != nil {
			return failed(ctx, "list ends", err)
		}
		for _, o := range page.Contents {
			id, _, _ := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), prefix), "/")
			if keep(id) || !aws.ToTime(o.LastModified).Before(before) {
				continue
			}
			if err := s.deleteKey(ctx, aws.ToString(o.Key)); err != nil {
				return err
			}
		}
	}
	return nil
}
