package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/superfly/ltx"
)

// This file keeps apart two parts with one name. When the local files are removed (databaseLoop.stop), the backup continues after the newest
// part of the destination. An upload from before may still be under way, in a proxy or an S3 server, and store its part later: under the
// name of a newer part with other pages. Therefore a bucket stores a part of level 0 only if it has none with this name (bucket.putOnce), and
// the newest part of the destination is compared with the local file before the backup continues after it (liveClient).

// errOtherPart is returned if the destination has a part with the name of a local one and with other content. The backup must continue after
// that part, with a whole copy of the database.
var errOtherPart = errors.New("an upload that was interrupted earlier has reached the backup destination: the backup continues after it, with a whole copy of the database")

// checkSame returns errOtherPart unless a part in the destination has the content of local. It compares the sizes and the trailers,
// because a trailer has the checksum of the whole part, which can be as large as the database.
func checkSame(ctx context.Context, client ReplicaClient, info *ltx.FileInfo, local io.ReadSeeker) error {
	size, err := local.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size != info.Size || size < ltx.TrailerSize {
		return fmt.Errorf("%s: %w", partName(info), errOtherPart)
	}
	if _, err := local.Seek(-ltx.TrailerSize, io.SeekEnd); err != nil {
		return err
	}
	var want, got [ltx.TrailerSize]byte
	if _, err := io.ReadFull(local, want[:]); err != nil {
		return err
	}
	body, err := client.OpenLTXFile(ctx, info.Level, info.MinTXID, info.MaxTXID, size-ltx.TrailerSize, ltx.TrailerSize)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(body, got[:])
	if err := errors.Join(err, body.Close()); err != nil {
		return toDestinationError(err)
	}
	if !bytes.Equal(got[:], want[:]) {
		return fmt.Errorf("%s: %w", partName(info), errOtherPart)
	}
	return nil
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
