package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/superfly/ltx"
)

// This file protects the backup against uploads that arrive late. The backup uploads parts. A part is an LTX file: the database pages that
// some transactions have changed. The name of a part contains the numbers of its transactions.
//
// After an error the backup may remove its local parts. It then continues with the number that follows the newest part of the destination.
// But a proxy or an S3 server may still hold an earlier upload of a part with that number. If this upload were completed later, its part
// would replace the new part, which has the same name and other content.
//
// Three rules prevent this for parts of level 0 (those that are not merged):
//   - No upload replaces a part.
//   - If an S3 server cannot ensure this, the backup checks before each upload whether the part exists.
//   - Before the backup continues after the newest part of the destination, it compares that part with the local one.

// errOtherPart is returned if the destination and the local folder have parts of the same name with different content. The backup must
// continue after the part of the destination, with a whole copy of the database.
var errOtherPart = errors.New("an upload that was interrupted earlier has reached the backup destination: the backup continues after it, with a whole copy of the database")

// errSharedDestination is reported, with errOtherPart, after errOtherPart was returned several times.
var errSharedDestination = errors.New("parts of another program appear in this backup destination again and again; perhaps a server with a copy of this data folder uses it too: stop that server, or set another ATELIE_BACKUP_URL for one of the two")

// otherParts counts how often errOtherPart was returned. Each time costs a whole copy of the database.
type otherParts struct {
	count int
	last  time.Time // when errOtherPart was last returned
}

// Waits after errOtherPart.
const (
	otherPartPause  = 5 * time.Second  // wait after the first errOtherPart; it doubles each time
	otherPartMax    = 10 * time.Minute // maximum wait
	otherPartsUntil = 3                // from this count on, the error is errSharedDestination
	otherPartsReset = time.Hour        // after this time without errOtherPart, the count begins again
)

// add counts err if it is errOtherPart. It returns how long the backup waits before it continues, and the error to report. For any other
// error, the wait is 0 and the error is returned unchanged.
func (o *otherParts) add(err error, now time.Time) (pause time.Duration, report error) {
	if !errors.Is(err, errOtherPart) {
		return 0, err
	}
	if now.Sub(o.last) > otherPartsReset {
		o.count = 0
	}
	o.last = now
	o.count++
	if o.count >= otherPartsUntil {
		err = fmt.Errorf("%w (%w)", errSharedDestination, err)
	}
	return min(otherPartPause<<min(o.count-1, 10), otherPartMax), err // at most 10 doublings, so that the shift does not overflow
}

// checkSame returns errOtherPart unless a part in the destination has the content of local. It compares the trailers, because a trailer has
// the checksum of the whole part, which can be as large as the database.
func checkSame(ctx context.Context, client ReplicaClient, info *ltx.FileInfo, local io.ReadSeeker) error {
	start, err := local.Seek(-ltx.TrailerSize, io.SeekEnd)
	if err != nil {
		return err
	}
	want := make([]byte, ltx.TrailerSize)
	if _, err := io.ReadFull(local, want); err != nil {
		return err
	}
	got, err := readTrailer(ctx, client, info, start)
	shorter := info.Size < start+ltx.TrailerSize // then a server rejects the range, or returns less
	if err != nil && !shorter {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %w", partName(info), errOtherPart)
	}
	return nil
}

// readTrailer reads the trailer of a part that begins at start. A server that does not support ranges returns the whole part; its last bytes
// are the trailer.
func readTrailer(ctx context.Context, client ReplicaClient, info *ltx.FileInfo, start int64) (end []byte, err error) {
	body, err := client.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, start, ltx.TrailerSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = toDestinationError(errors.Join(err, body.Close())) }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		end = append(end, buffer[:n]...)
		end = end[max(0, len(end)-ltx.TrailerSize):]
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// checkNewest compares the newest of some parts of level 0 in the destination with the local file of the same name, if there is one.
func (c liveClient) checkNewest(ctx context.Context, list []*ltx.FileInfo) error {
	if len(list) == 0 {
		return nil
	}
	newest := list[len(list)-1]
	local, err := os.Open(c.lite.LTXPath(0, newest.MinTXID, newest.MaxTXID))
	if errors.Is(err, os.ErrNotExist) {
		return nil // litestream fetches it
	}
	if err != nil {
		return err
	}
	return errors.Join(checkSame(ctx, c.ReplicaClient, newest, local), local.Close())
}
