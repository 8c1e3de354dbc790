package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"
	"golang.org/x/sync/errgroup"
)

// bucketReplica is a RangeClient for the replica in an S3 bucket. It uses the same names and metadata as litestream's S3 client, so that the
// command litestream can read the replica. The program does not use litestream's S3 client, because that client fails if AWS_CA_BUNDLE is
// set, and needs a separate S3 configuration.
type bucketReplica struct {
	*bucket
	log *slog.Logger
}

// timestampKey is the name of the object metadata with the time of an LTX file's commits. The S3 server itself records only the time of the
// upload.
const timestampKey = "litestream-timestamp"

// headConcurrency is the maximum number of concurrent HEAD requests that read timestampKey.
const headConcurrency = 20

func (b *bucket) RangeClient() RangeClient {
	return &bucketReplica{b, slog.New(slog.DiscardHandler)}
}

// Type implements litestream.ReplicaClient.
func (*bucketReplica) Type() string { return "s3" }

// Init implements litestream.ReplicaClient.
func (r *bucketReplica) Init(ctx context.Context) error { return r.ensure(ctx) }

// SetLogger implements litestream.ReplicaClient.
func (r *bucketReplica) SetLogger(log *slog.Logger) { r.log = log }

// LTXFiles implements litestream.ReplicaClient. If useMetadata is true, it reads the times of the commits, with one request for each file.
func (r *bucketReplica) LTXFiles(ctx context.Context, level int, first ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	found, err := r.LTXFilesBetween(ctx, level, first, 0 /* no upper limit */)
	if err == nil && useMetadata {
		err = r.readTimes(ctx, found)
	}
	return ltx.NewFileInfoSliceIterator(found), err
}

// LTXFilesBetween implements RangeClient.
func (r *bucketReplica) LTXFilesBetween(ctx context.Context, level int, first, end ltx.TXID) (found []*ltx.FileInfo, err error) {
	dir := litestream.LTXLevelDir(DatabaseDir, level) + "/"
	err = r.listAfter(ctx, dir, dir+first.String(), func(o Object) error { // the name of an LTX file begins with its first transaction
		minTXID, maxTXID, err := ltx.ParseFilename(path.Base(o.Name))
		if err == nil && end > 0 && minTXID >= end {
			return fs.SkipAll
		}
		if err == nil && minTXID >= first { // an error means that the object is no LTX file
			found = append(found, &ltx.FileInfo{Level: level, MinTXID: minTXID, MaxTXID: maxTXID, Size: o.Size, CreatedAt: o.Modified.UTC()})
		}
		return nil
	})
	return found, err
}

// readTimes sets the times of LTX files to the times of their commits (timestampKey). An LTX file without this metadata keeps the time of its
// upload.
func (r *bucketReplica) readTimes(ctx context.Context, list []*ltx.FileInfo) error {
	heads, ctx := errgroup.WithContext(ctx)
	heads.SetLimit(headConcurrency)
	for _, info := range list {
		heads.Go(func() error {
			out, err := r.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &r.cfg.Bucket, Key: aws.String(r.cfg.Prefix + ltxFileName(info))})
			if err != nil {
				return r.explain(err)
			}
			at, err := time.Parse(time.RFC3339Nano, out.Metadata[timestampKey])
			if err == nil {
				info.CreatedAt = at.UTC()
			}
			return nil
		})
	}
	return heads.Wait()
}

// OpenLTXFile implements litestream.ReplicaClient.
func (r *bucketReplica) OpenLTXFile(ctx context.Context, level int, first, last ltx.TXID, offset, size int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &r.cfg.Bucket, Key: aws.String(r.cfg.Prefix + litestream.LTXFilePath(DatabaseDir, level, first, last))}
	switch {
	case size > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+size-1))
	case offset > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := r.client.GetObject(ctx, in)
	if err != nil {
		err = r.explain(err)
		return nil, litestream.NewLTXError("open", *in.Key, level, uint64(first), uint64(last), err)
	}
	return out.Body, nil
}

// WriteLTXFile implements litestream.ReplicaClient. It never replaces an LTX file of level 0 (ltx_conflict.go).
func (r *bucketReplica) WriteLTXFile(ctx context.Context, level int, first, last ltx.TXID, body io.Reader) (*ltx.FileInfo, error) {
	file, isSeekable := body.(io.ReadSeeker)
	header, body, err := ltx.PeekHeader(body)
	if err != nil {
		return nil, err
	}
	at := time.UnixMilli(header.Timestamp).UTC()
	info := &ltx.FileInfo{Level: level, MinTXID: first, MaxTXID: last, CreatedAt: at}
	in := &s3.PutObjectInput{
		Bucket: &r.cfg.Bucket, Key: aws.String(r.cfg.Prefix + ltxFileName(info)), Metadata: map[string]string{timestampKey: at.Format(time.RFC3339Nano)},
	}
	if level == 0 && isSeekable {
		err = r.writeNewLTXFile(ctx, info, in, file)
	} else {
		info.Size, err = r.put(ctx, in, body)
	}
	if err != nil {
		return nil, r.explain(err)
	}
	return info, nil
}

// writeNewLTXFile stores an LTX file of level 0 and sets its size. If the bucket has an LTX file of this name, writeNewLTXFile compares the
// two, because an earlier attempt of the same upload may have stored the file although the response did not arrive.
func (r *bucketReplica) writeNewLTXFile(ctx context.Context, info *ltx.FileInfo, in *s3.PutObjectInput, file io.ReadSeeker) (err error) {
	info.Size, err = r.putOnce(ctx, in, file)
	exists, unconditional := errors.Is(err, errExists), errors.Is(err, errUnconditional)
	if !exists && !unconditional {
		return err
	}
	found, err := r.LTXFilesBetween(ctx, info.Level, info.MinTXID, info.MaxTXID+1)
	switch {
	case err != nil:
		return err
	case len(found) > 0:
		info.Size = found[0].Size
		return checkSame(ctx, r, info, file)
	case exists:
		return fmt.Errorf("%s was there and is not any more", ltxFileName(info))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if info.Size, err = r.put(ctx, in, file); err != nil {
		return err // perhaps not because of the condition
	}
	r.unsupported(info.Size).Store(true)
	if !r.loggedUnconditional.Swap(true) {
		r.log.WarnContext(ctx, "backup: the S3 server does not support If-None-Match in uploads, so an upload that it stores late can replace a newer part of the database; the nightly restore test would report that", "destination", r.Label())
	}
	return nil
}

// DeleteLTXFiles implements litestream.ReplicaClient.
func (r *bucketReplica) DeleteLTXFiles(ctx context.Context, list []*ltx.FileInfo) error {
	for _, info := range list {
		if err := r.Delete(ctx, ltxFileName(info)); err != nil {
			return err
		}
	}
	return nil
}

// DeleteAll implements litestream.ReplicaClient.
func (r *bucketReplica) DeleteAll(ctx context.Context) error {
	all, err := listNames(ctx, r.bucket, DatabaseDir+"/", func(o Object) bool { return strings.HasSuffix(o.Name, ".ltx") })
	for _, name := range all {
		err = errors.Join(err, r.Delete(ctx, name))
	}
	return err
}
