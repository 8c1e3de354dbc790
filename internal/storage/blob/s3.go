package blob

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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"atelie/internal/apperr"
	"atelie/internal/s3client"
)

// S3 stores blobs in a bucket of an S3 server, under the names that Disk uses in its folder. It stores nothing on this
// machine.
type S3 struct {
	client *s3.Client
	bucket string
	prefix string // begins the name of every object; it is empty or ends in a slash
}

// Limits of the requests to the server. Sizes are in bytes. A blob that is larger than PieceSize is sent in parts of PieceSize, by S3's
// multipart upload.
const (
	maxInFlight    = 2                // parts of an upload that are sent at the same time; these and the next part are in memory
	minPartSize    = 5 << 20          // minimum size of a part; S3 accepts a smaller one only as the last part
	startTimeout   = 20 * time.Second // for all requests of NewS3
	readyTimeout   = 2 * time.Second  // for the request by which Ready checks the bucket
	cleanUpTimeout = 30 * time.Second // for the deletion of an object, or for the end of an upload that failed
	partGrace      = 10 * time.Second // how long a part may still be sent after its context has ended; see sendPart
	readAttempts   = 4                // a read fails after this many consecutive attempts that returned no bytes
	smallPiece     = 256 << 10        // only a piece that is larger than this gets a buffer of PieceSize
)

// NewS3 connects to the server and checks that the bucket can be used. The text of the error is one line, for the operator.
func NewS3(ctx context.Context, cfg s3client.Config) (*S3, error) {
	s := &S3{bucket: cfg.Bucket, prefix: cfg.Prefix, client: s3client.New(cfg)}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.ensureBucket(ctx, cfg.Create); err != nil {
		return nil, fmt.Errorf("storage-url: %s: %s", cfg.Endpoint, explainBucketError(err, cfg.Bucket))
	}
	return s, nil
}

// ensureBucket returns an error unless the bucket can be used. If create is true, it creates a missing bucket.
func (s *S3) ensureBucket(ctx context.Context, create bool) error {
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket})
	isMissing := s3client.StatusOf(err) == http.StatusNotFound
	if err == nil || !isMissing || !create {
		return err
	}
	_, err = s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &s.bucket})
	if s3client.CodeOf(err) == "BucketAlreadyOwnedByYou" { // another node (server of the site) has created it
		return nil
	}
	return err
}

// explainBucketError returns one line for the operator that says why the bucket cannot be used.
func explainBucketError(err error, bucket string) string {
	switch status := s3client.StatusOf(err); {
	case status == http.StatusNotFound:
		return "there is no bucket " + bucket + " (add create=on to have it made), or the server does not know the key"
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return "the server refuses the key, or the key may not use bucket " + bucket
	case status == http.StatusMovedPermanently:
		return "bucket " + bucket + " is in another region (set region=)"
	case status != 0:
		return fmt.Sprintf("the server responded with status %d", status)
	}
	var rootCause error
	for e := err; e != nil; e = errors.Unwrap(e) {
		rootCause = e
	}
	return "no response: " + strings.ReplaceAll(rootCause.Error(), "\n", " ")
}

// storeFullCodes are the error codes of servers whose disk is full or whose quota is used up.
var storeFullCodes = []string{"XMinioStorageFull", "InsufficientStorage", "QuotaExceeded", "StorageQuotaExceeded"}

// requestError converts the error of a request: to fs.ErrNotExist for a missing blob, fs.ErrExist for a blob that exists
// already, apperr.NoSpace for a full store, and otherwise to ErrUnavailable. If ctx has ended, the result contains the error of
// ctx instead. action names the request in error texts.
func requestError(ctx context.Context, action string, err error) error {
	switch status := s3client.StatusOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case status == http.StatusInsufficientStorage, slices.Contains(storeFullCodes, s3client.CodeOf(err)):
		return apperr.NoSpace.Because(fmt.Errorf("%s: %w", action, err))
	case status == http.StatusNotFound && s3client.CodeOf(err) != "NoSuchBucket" && s3client.CodeOf(err) != "NoSuchUpload":
		return fmt.Errorf("%s: %w", action, errors.Join(fs.ErrNotExist, err))
	case status == http.StatusPreconditionFailed:
		return fmt.Errorf("%s: %w", action, errors.Join(fs.ErrExist, err))
	}
	return ErrUnavailable.Because(fmt.Errorf("%s: %w", action, err))
}

// key returns the name of a blob's object in the bucket.
func (s *S3) key(id string) (string, error) {
	if err := validID(id); err != nil {
		return "", err
	}
	return s.prefix + id[:2] + "/" + id[2:4] + "/" + id, nil
}

// buffers holds buffers for pieces.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Stage implements Store. It keeps a blob of one piece in memory until the commit. A larger blob it uploads immediately under its
// final name, because nothing refers to that yet.
func (s *S3) Stage(ctx context.Context, id string, body io.Reader) (*Staged, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	source := newBodyReader(ctx, body, Unbounded)
	first, whole, err := nextPiece(source)
	if err != nil {
		return nil, err
	}
	if whole {
		return s.stagePiece(key, first, source.info()), nil
	}
	uploadID, err := s.beginUpload(ctx, key)
	if err != nil {
		return nil, err
	}
	parts, err := s.sendAll(ctx, key, uploadID, first, source)
	if err == nil {
		err = s.completeUpload(ctx, key, uploadID, parts)
	}
	if err != nil {
		return nil, errors.Join(err, s.abortUpload(context.WithoutCancel(ctx), key, uploadID))
	}
	r := &s3Reader{ctx: ctx, store: s, key: key, size: source.size}
	return &Staged{Info: source.info(), ReadSeeker: r,
		commit:  func(context.Context) error { return r.Close() },
		discard: func(ctx context.Context) error { return errors.Join(r.Close(), s.deleteKey(ctx, key)) }}, nil
}

// stagePiece stages a blob of one piece. The piece's buffer is reused after commit or discard.
func (s *S3) stagePiece(key string, piece *bytes.Buffer, info Info) *Staged {
	discard := func(context.Context) error {
		buffers.Put(piece)
		return nil
	}
	return &Staged{Info: info, ReadSeeker: bytes.NewReader(piece.Bytes()), discard: discard, commit: func(ctx context.Context) error {
		_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(piece.Bytes()), IfNoneMatch: aws.String("*")})
		if err != nil {
			err = requestError(ctx, "put", err)
			// The client repeats a request whose response was lost. The repeated one is refused, because the first one stored the blob.
			if !errors.Is(err, fs.ErrExist) || !s.hasContent(ctx, key, piece.Bytes()) {
				return err
			}
		}
		return discard(ctx)
	}}
}

// hasContent reports whether a key has exactly the content. After an error it returns false.
func (s *S3) hasContent(ctx context.Context, key string, content []byte) bool {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return false
	}
	stored, err := io.ReadAll(io.LimitReader(out.Body, int64(len(content))+1))
	return errors.Join(err, out.Body.Close()) == nil && bytes.Equal(stored, content)
}

// nextPiece reads up to PieceSize bytes into a buffer from the pool; whole is true if the body has ended.
func nextPiece(r io.Reader) (b *bytes.Buffer, whole bool, err error) {
	b = buffers.Get().(*bytes.Buffer)
	b.Reset()
	_, err = io.CopyN(b, r, smallPiece)
	if err == nil {
		b.Grow(PieceSize) // in one step: growing by doubling could end at twice the size
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

// sendAll sends first and the rest of body in parts, maxInFlight at a time.
func (s *S3) sendAll(ctx context.Context, key, uploadID string, first *bytes.Buffer, body io.Reader) (parts []*Part, err error) {
	group, sending := errgroup.WithContext(ctx)
	group.SetLimit(maxInFlight)
	for next, last := first, false; next.Len() > 0; {
		piece, part, number := next, new(Part), len(parts)+1
		parts = append(parts, part)
		group.Go(func() (err error) {
			defer buffers.Put(piece)
			*part, err = s.sendPart(sending, key, uploadID, number, bytes.NewReader(piece.Bytes()))
			return err
		})
		if last || sending.Err() != nil {
			break
		}
		if next, last, err = nextPiece(body); err != nil {
			break
		}
	}
	// The error of the body is returned before the errors of the parts.
	if failure := group.Wait(); err == nil {
		err = failure
	}
	return parts, err
}

func (s *S3) beginUpload(ctx context.Context, key string) (string, error) {
	out, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.bucket, Key: &key, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32})
	if err != nil {
		return "", requestError(ctx, "begin upload", err)
	}
	return aws.ToString(out.UploadId), nil
}

// sendPart sends one part of a multipart upload. After ctx has ended it continues for up to partGrace: the server may still
// receive an interrupted part after the upload was aborted, and would keep it in the bucket.
func (s *S3) sendPart(ctx context.Context, key, uploadID string, number int, body io.ReadSeeker) (Part, error) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(partGrace, cancel) })()
	out, err := s.client.UploadPart(sending, &s3.UploadPartInput{
		Bucket: &s.bucket, Key: &key, UploadId: &uploadID, PartNumber: aws.Int32(int32(number)), // at most 10,000
		Body: body, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Part{}, requestError(ctx, "send part", err)
	}
	return Part{aws.ToString(out.ETag), aws.ToString(out.ChecksumCRC32)}, nil
}

func (s *S3) completeUpload(ctx context.Context, key, uploadID string, parts []*Part) error {
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
	return requestError(ctx, "complete upload", err)
}

// abortUpload ends a multipart upload and removes its parts. An unknown upload is no error.
func (s *S3) abortUpload(ctx context.Context, key, uploadID string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTimeout)
	defer cancel()
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: &key, UploadId: &uploadID})
	if s3client.StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return requestError(ctx, "abort upload", err)
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, id string) error {
	key, err := s.key(id)
	if err != nil {
		return err
	}
	return s.deleteKey(ctx, key)
}

func (s *S3) deleteKey(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTimeout)
	defer cancel()
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key})
	if s3client.StatusOf(err) == http.StatusNotFound && s3client.CodeOf(err) != "NoSuchBucket" {
		return nil
	}
	return requestError(ctx, "delete", err)
}

// Empty implements Store.
func (s *S3) Empty(ctx context.Context) (bool, error) {
	page, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &s.prefix, MaxKeys: aws.Int32(1)})
	if err != nil {
		return false, requestError(ctx, "list", err)
	}
	return len(page.Contents) == 0, nil
}
