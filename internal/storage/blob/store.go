package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
)

// Store stores blobs. Its implementations are Disk and S3. Ids are UUIDs that the caller creates and uses once. A blob is stored in one of
// two ways:
//   - as a whole: Call Stage, and then Commit or Discard of its result, a Staged.
//   - in pieces: Call Append for each piece, then Finish, and then Commit of its result. To abandon the blob instead, call Store.Discard.
//
// A process that dies can leave a blob to which no row of the database refers. To find such blobs, the caller records an id before Stage
// or Finish, and deletes that record once a row refers to the blob.
type Store interface {
	// Stage stores all of body. The caller then commits the blob, which makes it permanent under id, or discards it. An error of body is
	// returned unchanged, and nothing is stored. Stage needs the id because S3 stores a large blob under its final name immediately.
	Stage(ctx context.Context, id string, body io.Reader) (*Staged, error)
	// Open opens a blob for reading until ctx ends. The error is fs.ErrNotExist if there is no such blob.
	Open(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// Delete removes a blob. It is not an error if there is no such blob.
	Delete(ctx context.Context, id string) error

	// Append adds data, a piece of any size up to PieceSize, to a blob that arrives in pieces. state is what the previous call for the
	// blob returned, or the zero Partial for the first piece. isLast is true if the piece completes the blob. The caller saves the
	// returned state, and any node (server of the site) can continue with it. If the state was not saved, the next call gets the old
	// state and overwrites the piece. Calls for one id must not run concurrently.
	Append(ctx context.Context, id string, state Partial, data []byte, isLast bool) (Partial, error)
	// Finish stages the appended blob. The result has no SHA-256. After Finish, Staged.Discard keeps the pieces, so that Finish
	// can be called again. Finish can also be called for a blob that was already committed.
	Finish(ctx context.Context, id string, state Partial) (*Staged, error)
	// Discard removes everything that Append and Finish have stored under id.
	Discard(ctx context.Context, id string, state Partial) error

	// Sweep removes what interrupted uploads have left, but nothing that is newer than the given time. It keeps the pieces of ids for
	// which keep returns true.
	Sweep(ctx context.Context, before time.Time, keep func(id string) bool) error
	// Empty reports whether the store has no blobs and no pieces.
	Empty(ctx context.Context) (bool, error)

	// Marker returns the id that Mark has written, or "" if there is none.
	Marker(ctx context.Context) (string, error)
	// Mark writes an id, a UUID, into the store. The database contains the same id. A store with another id belongs to another site.
	Mark(ctx context.Context, marker string) error
	// Ready returns nil if the store can be used and has the given marker.
	Ready(ctx context.Context, marker string) error
}

// PieceSize is the maximum size in bytes of a piece of Append, and the size of the parts in which S3 sends a large blob.
const PieceSize = 8 << 20

// Staged is a complete blob that is not committed (stored permanently) yet. Its ReadSeeker reads the blob's bytes. The caller of Stage or
// Finish must always call Discard in the end; after a Commit, Discard does nothing.
type Staged struct {
	Info
	io.ReadSeeker
	commit, discard func(context.Context) error
}

// Commit stores the blob durably under its id. After that the Staged must not be read any more.
func (s *Staged) Commit(ctx context.Context) error {
	err := s.commit(ctx)
	if err == nil {
		s.discard = nil
	}
	return err
}

// Discard removes the blob if it was not committed. After Commit, or a second time, it does nothing.
func (s *Staged) Discard(ctx context.Context) (err error) {
	if s.discard != nil {
		err, s.discard = s.discard(ctx), nil
	}
	return err
}

// Put stages a body and commits it. The error is fs.ErrExist if there is a blob with that id.
func Put(ctx context.Context, s Store, id string, body io.Reader) (Info, error) {
	staged, err := s.Stage(ctx, id, body)
	if err != nil {
		return Info{}, err
	}
	err = staged.Commit(ctx)
	return staged.Info, errors.Join(err, staged.Discard(context.WithoutCancel(ctx)))
}

// Partial is the state of a blob that arrives in pieces. Callers read Size only; the other fields belong to S3.
type Partial struct {
	Size       int64   `json:"size"` // stored bytes
	UploadID   string  `json:"upload_id,omitempty"`
	Parts      []*Part `json:"parts,omitempty"`
	TailSize   int64   `json:"tail,omitempty"` // bytes at the end that are too few for a part (S3.Append)
	OldTailEnd int64   `json:"old,omitempty"`  // Size when the previous tail was written, which the next call deletes
}

// Part is a part of a multipart upload that the S3 server has confirmed.
type Part struct {
	ETag  string `json:"e"`
	CRC32 string `json:"c,omitempty"`
}

// ErrUnavailable is the error for a store that does not respond, or responds with an error. The client may try again.
var ErrUnavailable = apperr.New(http.StatusServiceUnavailable, "SlowDown", "The file store does not respond at the moment, please try again")

var errPieceTooLarge = errors.New("a piece is larger than PieceSize")

// bodyReader reads a body, and counts and hashes its bytes. It fails when its context ends or checkSpace returns an error.
type bodyReader struct {
	ctx        context.Context // a field, because Read has no context parameter
	body       io.Reader
	checkSpace func() error
	hash       hash.Hash
	size       int64
}

func newBodyReader(ctx context.Context, body io.Reader, checkSpace func() error) *bodyReader {
	return &bodyReader{ctx: ctx, body: body, checkSpace: checkSpace, hash: sha256.New()}
}

func (r *bodyReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if err := r.checkSpace(); err != nil {
		return 0, err
	}
	n, err := r.body.Read(p)
	r.size += int64(n)
	_, _ = r.hash.Write(p[:n]) // never fails
	return n, err
}

func (r *bodyReader) info() Info { return Info{r.size, hex.EncodeToString(r.hash.Sum(nil))} }

// validID returns an error unless id is a UUID in canonical form. Nothing else can become a path or a key.
func validID(id string) error {
	if u, err := uuid.Parse(id); err != nil || u.String() != id {
		return fmt.Errorf("%q is not a blob id", id)
	}
	return nil
}
