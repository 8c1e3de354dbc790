package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
)

// Store keeps blobs: Disk in a folder, S3 in a bucket. Ids are UUIDs that the caller makes and uses once.
//
// A blob that nothing refers to may stay behind when the process dies: the caller notes an id before Put or Finish and
// strikes it out once a row refers to it.
type Store interface {
	// Put stores body under id. check, when given, sees the complete file; an error from body or check leaves nothing
	// behind and is returned as it is. When Put returns nil, the blob is stored durably.
	Put(ctx context.Context, id string, body io.Reader, check func(f io.ReadSeeker) error) (Info, error)
	// Open gives a blob for reading while ctx lasts; the error is fs.ErrNotExist when there is none.
	Open(ctx context.Context, id string) (io.ReadSeekCloser, error)
	// Delete removes a blob. One that is not there counts as deleted.
	Delete(ctx context.Context, id string) error

	// Append adds data to a blob that arrives in pieces and returns its new state; the first call has the zero state.
	// The caller keeps the state: what is appended to a state that was not kept is overwritten by the next call, so
	// that an upload goes on from what is known, on any node. No two calls for one id may run at once. last says that
	// the blob is complete with this piece. A piece has at most PieceSize bytes.
	Append(ctx context.Context, id string, at Staged, data []byte, last bool) (Staged, error)
	// Finish makes a blob of what was appended, with Put's check; a second call after success does nothing more.
	Finish(ctx context.Context, id string, at Staged, check func(f io.ReadSeeker) error) error
	// Discard removes everything that Append and Finish have stored under id.
	Discard(ctx context.Context, id string, at Staged) error

	// Sweep removes what broken uploads left that began before a moment; pieces of ids that keep knows stay.
	Sweep(ctx context.Context, before time.Time, keep func(id string) bool) error
	// Empty tells whether nothing at all lies in the store.
	Empty(ctx context.Context) (bool, error)
	// Ready tells whether the store answers.
	Ready(ctx context.Context) error
}

// PieceSize is the size in bytes of the parts that a blob travels in, and the most that Append takes at once.
const PieceSize = 8 << 20

// Staged says what of an arriving blob is stored. Size is in bytes; the rest belongs to the store.
type Staged struct {
	Size     int64  `json:"size"`
	UploadID string `json:"upload_id,omitempty"`
	Parts    []Part `json:"parts,omitempty"`
	Tail     int64  `json:"tail,omitempty"` // bytes at the end that are no part yet
	Old      int64  `json:"old,omitempty"`  // the size at which an earlier tail was written that can go
}

// Part is a piece that S3 has confirmed.
type Part struct {
	ETag  string `json:"e"`
	CRC32 string `json:"c,omitempty"`
}

// ErrUnavailable says that the store does not answer or refuses us: no fault of the caller, who may try again.
var ErrUnavailable = apperr.New(http.StatusServiceUnavailable, "SlowDown", "The file store does not answer at the moment, please try again")

var errTooMuch = errors.New("a piece is larger than PieceSize")

// validID accepts UUIDs in their canonical form only, so that nothing else can ever become a path or a key.
func validID(id string) error {
	if u, err := uuid.Parse(id); err != nil || u.String() != id {
		return fmt.Errorf("%q is not a blob id", id)
	}
	return nil
}
