// Package backup keeps a continuous backup of a running site, and restores sites from it. The backup has
//   - every commit of an SQLite database, or nightly snapshots of a PostgreSQL database
//   - each stored file, once
//   - the site's secrets
//
// The backup is stored in a destination, which is a folder or an S3 bucket. A secondary destination can have a copy of the backup. Each
// night the package runs a restore test: it restores the newest state into a temporary folder and compares the result with the site.
package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/s3client"
)

// Names of objects and folders in a destination.
const (
	DatabaseDir     = "database"  // the replica of an SQLite database, in the format of litestream (a library that replicates SQLite)
	SnapshotsDir    = "snapshots" // nightly snapshots of a PostgreSQL database
	BlobsDir        = "blobs"     // the bytes of stored files (blobs), by id
	RestoreTestsDir = "proofs"    // checksums of the site's database, with which a restore test compares the restored one

	formatName       = "format.json" // version of the layout, and the site's id
	secretName       = "secret"      // the site's secrets, not encrypted
	sealedSecretName = "secret.age"  // the site's secrets, encrypted with a passphrase (age)
	temporaryDir     = "tmp"         // unfinished objects, if the destination is a folder
)

// BlobName returns the name of a blob's bytes in a destination.
func BlobName(id string) string { return path.Join(BlobsDir, id[:2], id[2:4], id) }

// Destination is where a backup is stored: a folder, or an S3 bucket and a prefix. It stores objects (named files).
type Destination interface {
	// Write stores body under name, and replaces an object that was stored there. It never leaves an incomplete object under name. When
	// Write returns nil, the object is on disk.
	Write(ctx context.Context, name string, body io.ReadSeeker) error
	// Add is Write for an object that never changes. If body is an *os.File and the destination is a folder on the same disk, Add makes a
	// hard link instead of a copy.
	Add(ctx context.Context, name string, body io.ReadSeeker) error
	// Open reads an object. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List calls each for the objects whose names begin with prefix. prefix is the name of a folder and a slash, or "" for all objects. The
	// objects of one folder are sorted by name. The order of the folders is not defined.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Delete removes an object. A missing object is not an error.
	Delete(ctx context.Context, name string) error
	// Sweep removes the unfinished objects of interrupted writes that are older than a time.
	Sweep(before time.Time) error
	// Label returns a name of the destination for texts. It contains no secrets.
	Label() string
	// RangeClient returns a new client with which litestream reads and writes the replica. The caller must call the client's Init.
	RangeClient() RangeClient
}

// RangeClient is a litestream.ReplicaClient that can also list a range of the replica's files. The replica of an SQLite database consists of
// LTX files. An LTX file (litestream's format) has the database pages that a range of transactions has changed. Several LTX files of one
// level are compacted into one LTX file of the next level (maintain.go).
type RangeClient interface {
	litestream.ReplicaClient
	// LTXFilesBetween lists the LTX files of a level whose first transaction is first or later, and before end. If end is 0, there is no
	// upper limit. The list is sorted by transaction. FileInfo.CreatedAt is the modification time of the file. Listing a whole level is
	// expensive, because S3 servers charge for each thousand names.
	LTXFilesBetween(ctx context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error)
}

// Object is a stored object. Size is in bytes.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time
}

// DestinationConfig says where a destination is. Folder is an absolute path, or "" if Bucket is set.
type DestinationConfig struct {
	Folder string
	Bucket *s3client.Config
}

// OpenDestination returns a destination. It neither reads nor writes: the destination may be unreachable, and its folder or bucket may be
// missing.
func OpenDestination(cfg DestinationConfig) Destination {
	if cfg.Bucket != nil {
		return newBucket(*cfg.Bucket)
	}
	return &folder{root: cfg.Folder}
}

// Format is the content of format.json, by which a destination is recognized.
type Format struct {
	Format int    `json:"format"` // version of the layout
	Site   string `json:"site"`   // marker of the site's files, which the database has too
	Engine string `json:"engine"` // "sqlite" or "postgres"
}

// formatVersion is the version of the layout that this program writes.
const formatVersion = 1

// ErrOtherSite is wrapped by errors about a destination that has another site's backup.
var ErrOtherSite = errors.New("this backup destination has the backup of another site")

// ReadFormat reads the format.json of a destination. The error is fs.ErrNotExist if the destination has no backup.
func ReadFormat(ctx context.Context, dest Destination) (f Format, err error) {
	text, err := readAll(ctx, dest, formatName)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("%s is damaged: %w", formatName, err)
	}
	if f.Format > formatVersion {
		return f, fmt.Errorf("%s: the backup has format %d and this program knows %d: use the newer program", formatName, f.Format, formatVersion)
	}
	return f, nil
}

// Claim records in a destination that it has the backup of a site. before is the format.json that was there, the zero value if the
// destination had no backup. The error wraps ErrOtherSite if the destination has the backup of another site.
func Claim(ctx context.Context, dest Destination, site, engine string) (before Format, err error) {
	want := Format{Format: formatVersion, Site: site, Engine: engine}
	before, err = ReadFormat(ctx, dest)
	switch {
	case err == nil && before == want:
		return before, nil
	case err == nil && before.Site != site:
		return before, fmt.Errorf("%w: its site is %s, this one is %s; set another backup-url, or move what is there away", ErrOtherSite, before.Site, site)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return before, err
	}
	text, _ := json.Marshal(want) // cannot fail: it has only texts and a number
	return before, dest.Write(ctx, formatName, bytes.NewReader(append(text, '\n')))
}

// readAll reads a small object.
func readAll(ctx context.Context, dest Destination, name string) (text []byte, err error) {
	r, err := dest.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, 1<<20))
}

// listNames returns the names of the objects whose names begin with prefix and for which wanted returns true. prefix is as for List.
func listNames(ctx context.Context, dest Destination, prefix string, wanted func(Object) bool) (names []string, err error) {
	err = dest.List(ctx, prefix, func(o Object) error {
		if wanted(o) {
			names = append(names, o.Name)
		}
		return nil
	})
	return names, err
}

// missingAs returns other in place of fs.ErrNotExist, and any other err unchanged.
func missingAs(err, other error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return other
	}
	return err
}

// destinationError is the error for a destination that cannot be reached or read. It does not mean that the backup is damaged. The error
// for a missing object is fs.ErrNotExist instead.
type destinationError struct{ err error }

func (e *destinationError) Error() string { return e.err.Error() }
func (e *destinationError) Unwrap() error { return e.err }

// toDestinationError converts an error from a destination to a destinationError. It returns io.EOF and fs.ErrNotExist unchanged.
func toDestinationError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) || isDestinationError(err) {
		return err
	}
	return &destinationError{err}
}

// isDestinationError reports whether an error is or wraps a destinationError.
func isDestinationError(err error) bool {
	_, ok := errors.AsType[*destinationError](err)
	return ok
}

// bucketBody is the body of an object in a bucket. Its read errors are destinationErrors.
type bucketBody struct{ io.ReadCloser }

func (b bucketBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return n, toDestinationError(err)
}
