package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"atelie/internal/datafolder"
)

// This file reads and writes the marker of a store: a file in the folder, or an object in the bucket, that contains an id. The site's
// database contains the same id. If the marker is missing or different, the store was emptied or is the wrong one, for example because the
// wrong disk is mounted.

// markerName is the name of the file or object.
const markerName = ".atelie"

// Errors of Store.Ready, which checks the marker.
var (
	ErrNoMarker    = errors.New("the marker " + markerName + " of the file store is missing: the file store was emptied, or another one is mounted in its place")
	ErrOtherMarker = errors.New("the file store has another site's marker " + markerName)
)

// Marker implements Store.
func (d *Disk) Marker(context.Context) (string, error) {
	text, err := os.ReadFile(filepath.Join(d.root, markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// Mark implements Store. It writes a temporary file and renames it, so that the marker never has only a part of the id.
func (d *Disk) Mark(_ context.Context, marker string) (err error) {
	if err := validID(marker); err != nil {
		return err
	}
	f, err := d.createTemporary()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(marker + "\n")
	if err = errors.Join(err, f.Sync()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(d.root, markerName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return datafolder.SyncFolder(d.root)
}

// Ready implements Store.
func (d *Disk) Ready(ctx context.Context, marker string) error {
	if err := d.checkFolder(); err != nil {
		return err
	}
	found, err := d.Marker(ctx)
	if err != nil {
		return err
	}
	return compareMarkers(found, marker)
}

// checkFolder returns an error unless the folder has the subfolder for temporary files. NewDisk creates that subfolder.
func (d *Disk) checkFolder() error {
	if _, err := os.Stat(filepath.Join(d.root, temporaryFolder)); err != nil {
		return fmt.Errorf("the file store cannot be used: %w", err)
	}
	return nil
}

func compareMarkers(found, expected string) error {
	switch found {
	case expected:
		return nil
	case "":
		return ErrNoMarker
	}
	return ErrOtherMarker
}

// Marker implements Store.
func (s *S3) Marker(ctx context.Context) (string, error) { return s.readMarker(ctx) }

func (s *S3) readMarker(ctx context.Context, options ...func(*s3.Options)) (marker string, err error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + markerName)}, options...)
	if err = requestError(ctx, "read the marker", err); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	defer func() { err = errors.Join(err, out.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(out.Body, 100))
	return strings.TrimSpace(string(text)), err
}

// Mark implements Store.
func (s *S3) Mark(ctx context.Context, marker string) error {
	if err := validID(marker); err != nil {
		return err
	}
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + markerName), Body: bytes.NewReader([]byte(marker + "\n"))})
	return requestError(ctx, "write the marker", err)
}

// Ready implements Store with one short request that is not retried.
func (s *S3) Ready(ctx context.Context, marker string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	found, err := s.readMarker(ctx, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	if err != nil {
		return ErrUnavailable.Because(err)
	}
	return compareMarkers(found, marker)
}
