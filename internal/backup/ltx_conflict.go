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

// This file protects the backup against uploads that arrive late. The backup uploads LTX files. An LTX file has the database pages that a
// range of transactions has changed. Its name contains the numbers of these transactions.
//
// After an error the backup may remove its local LTX files. It then continues with the number that follows the newest LTX file of the
// destination. But a proxy or an S3 server may still hold an earlier upload of an LTX file with that number. If this upload were completed
// later, its LTX file would replace the new LTX file, which has the same name and other content.
//
// Three rules prevent this for LTX files of level 0 (those that are not compacted):
//   - No upload replaces an LTX file.
//   - If an S3 server cannot ensure this rule, the backup checks before each upload whether the LTX file exists.
//   - Before the backup continues after the newest LTX file of the destination, it compares this file with the local file of the same name.

// errLTXConflict is returned if the destination and the local folder have LTX files of the same name with different content. The backup must
// continue after the LTX file of the destination, with a whole copy of the database.
var errLTXConflict = errors.New("an upload that was interrupted earlier has reached the backup destination: the backup continues after it, with a whole copy of the database")

// errSharedDestination is reported together with errLTXConflict if errLTXConflict has occurred conflictsUntilError times or more.
var errSharedDestination = errors.New("parts of another program appear in this backup destination again and again; perhaps a server with a copy of this data folder uses it too: stop that server, or set another ATELIE_BACKUP_URL for one of the two")

// ltxConflicts counts how often errLTXConflict was returned. The waits limit how often the backup makes a whole copy of the database.
type ltxConflicts struct {
	count int
	last  time.Time // when errLTXConflict was last returned
}

// Waits and counts of errLTXConflict.
const (
	conflictPause       = 5 * time.Second  // wait after the first errLTXConflict; the wait doubles each time
	maxConflictPause    = 10 * time.Minute // maximum wait
	conflictsUntilError = 3                // from this count on, the error is errSharedDestination
	conflictsReset      = time.Hour        // after this time without errLTXConflict, the count begins again
)

// add counts err if it is errLTXConflict. It returns how long the backup waits before it continues, and the error to report. For any other
// error, the wait is 0 and the error is returned unchanged.
func (c *ltxConflicts) add(err error, now time.Time) (pause time.Duration, reported error) {
	if !errors.Is(err, errLTXConflict) {
		return 0, err
	}
	if now.Sub(c.last) > conflictsReset {
		c.count = 0
	}
	c.last = now
	c.count++
	if c.count >= conflictsUntilError {
		err = fmt.Errorf("%w (%w)", errSharedDestination, err)
	}
	return min(conflictPause<<min(c.count-1, 10), maxConflictPause), err // at most 10 doublings, so that the shift does not overflow
}

// checkSame returns errLTXConflict unless the LTX file info in the destination has the content of local. It compares only the trailers,
// because a whole LTX file can be as large as the database. A trailer has the checksum of its LTX file.
func checkSame(ctx context.Context, client RangeClient, info *ltx.FileInfo, local io.ReadSeeker) error {
	start, err := local.Seek(-ltx.TrailerSize, io.SeekEnd)
	if err != nil {
		return err
	}
	want := make([]byte, ltx.TrailerSize)
	if _, err := io.ReadFull(local, want); err != nil {
		return err
	}
	got, err := readTrailer(ctx, client, info, start)
	isShorter := info.Size < start+ltx.TrailerSize // then the server rejects the range, or returns fewer bytes
	if err != nil && !isShorter {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %w", ltxFileName(info), errLTXConflict)
	}
	return nil
}

// readTrailer reads the trailer of an LTX file, which begins at the offset start. A server that does not support ranges returns the whole LTX
// file; the last bytes of the response are the trailer.
func readTrailer(ctx context.Context, client RangeClient, info *ltx.FileInfo, start int64) (end []byte, err error) {
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

// checkNewest compares the last LTX file of a list of level 0 in the destination with the local file of the same name, if there is one.
func (c liveClient) checkNewest(ctx context.Context, list []*ltx.FileInfo) error {
	if len(list) == 0 {
		return nil
	}
	newest := list[len(list)-1]
	local, err := os.Open(c.lite.LTXPath(0, newest.MinTXID, newest.MaxTXID))
	if err != nil {
		return missingAs(err, nil) // litestream fetches it
	}
	return errors.Join(checkSame(ctx, c.RangeClient, newest, local), local.Close())
}
