package blob

import (
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

	"atelie/internal/s3client"
)

// This file implements the methods of S3 for blobs that arrive in pieces: Append, Finish, Discard and Sweep. Such a blob is sent by a
// multipart upload of S3, in which each part except the last must have at least minPartSize bytes. Pieces can be smaller. The bytes at the
// end of the blob that are too few for a part are stored in a separate object, the tail of the blob.

// Append implements Store. It adds data, the new piece, to the bytes of the tail. If the sum has at least minPartSize bytes, or if the
// piece is the last one, Append sends these bytes as the next part. If not, it stores them as the new tail.
func (s *S3) Append(ctx context.Context, id string, state Partial, data []byte, isLast bool) (Partial, error) {
	key, err := s.key(id)
	if err != nil {
		return state, err
	}
	if len(data) > PieceSize {
		return state, errPieceTooLarge
	}
	if state.UploadID == "" {
		if state.UploadID, err = s.beginUpload(ctx, key); err != nil {
			return state, err
		}
	}
	if state.OldTailEnd > 0 { // the caller has saved the state of the last call, so the tail before that call is no longer needed
		if err := s.deleteKey(ctx, s.tailKey(id, state.OldTailEnd)); err != nil {
			return state, err
		}
		state.OldTailEnd = 0
	}
	var tail []byte
	if state.TailSize > 0 {
		if tail, err = s.readTail(ctx, id, state); err != nil {
			return state, err
		}
		state.OldTailEnd = state.Size
	}
	newSize := state.Size + int64(len(data))
	body := newJoinedReader(tail, data)
	if body.Size() < minPartSize && !isLast {
		newTail := s.tailKey(id, newSize)
		if _, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &newTail, Body: body}); err != nil {
			return state, requestError(ctx, "store the tail", err)
		}
		state.Size, state.TailSize = newSize, body.Size()
		return state, nil
	}
	part, err := s.sendPart(ctx, key, state.UploadID, len(state.Parts)+1, body)
	if err != nil {
		return state, err
	}
	state.Parts, state.Size, state.TailSize = append(slices.Clone(state.Parts), &part), newSize, 0
	return state, nil
}

// tailKey returns the name of the object with a blob's tail. end is the size of the blob including this tail. Each tail has a name of its
// own, so that Append can also continue from the state before the newest tail.
func (s *S3) tailKey(id string, end int64) string {
	return s.tailPrefix(id) + strconv.FormatInt(end, 10)
}

func (s *S3) tailPrefix(id string) string { return s.prefix + piecesFolder + "/" + id + "/" }

// readTail returns the bytes of the tail that state describes.
func (s *S3) readTail(ctx context.Context, id string, state Partial) ([]byte, error) {
	key := s.tailKey(id, state.Size)
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, requestError(ctx, "read the tail", err)
	}
	tail := make([]byte, state.TailSize)
	_, err = io.ReadFull(out.Body, tail)
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return nil, requestError(ctx, "read the tail", err)
	}
	return tail, nil
}

// joinedSlices is an io.ReaderAt of two slices, one after the other. Joining them in one slice would need memory for both again.
type joinedSlices [2][]byte

func newJoinedReader(first, second []byte) *io.SectionReader {
	return io.NewSectionReader(joinedSlices{first, second}, 0, int64(len(first)+len(second)))
}

// ReadAt implements io.ReaderAt.
func (j joinedSlices) ReadAt(p []byte, offset int64) (n int, err error) {
	for _, slice := range j {
		if size := int64(len(slice)); offset >= size {
			offset -= size
			continue
		}
		n += copy(p[n:], slice[offset:])
		offset = 0
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Finish implements Store. It completes the object under its final name before the commit, because nothing refers to that yet.
func (s *S3) Finish(ctx context.Context, id string, state Partial) (*Staged, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.completeUpload(ctx, key, state.UploadID, state.Parts); err != nil {
		// An earlier call may have completed the upload: then the object exists.
		if s3client.CodeOf(err) != "NoSuchUpload" && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	f, err := s.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := checkSize(f.size, state); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Staged{Info: Info{Size: state.Size}, ReadSeeker: f,
		commit: func(ctx context.Context) error {
			return errors.Join(f.Close(), s.deleteTails(ctx, s.tailPrefix(id), nil))
		},
		discard: func(context.Context) error { return f.Close() }}, nil
}

// Discard implements Store.
func (s *S3) Discard(ctx context.Context, id string, state Partial) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	if state.UploadID != "" {
		if err := s.abortUpload(ctx, key, state.UploadID); err != nil {
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
			return requestError(ctx, "list tails", err)
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
			return requestError(ctx, "list uploads", err)
		}
		for _, u := range page.Uploads {
			key := aws.ToString(u.Key)
			id := key[strings.LastIndexByte(key, '/')+1:]
			if own, err := s.key(id); err != nil || own != key || keep(id) || !aws.ToTime(u.Initiated).Before(before) {
				continue
			}
			if err := s.abortUpload(ctx, key, aws.ToString(u.UploadId)); err != nil {
				return err
			}
		}
	}
	prefix := s.prefix + piecesFolder + "/"
	return s.deleteTails(ctx, prefix, func(o types.Object) bool {
		id, _, _ := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), prefix), "/")
		return keep(id) || !aws.ToTime(o.LastModified).Before(before)
	})
}
