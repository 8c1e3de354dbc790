package backup

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
)

// The replica (the copy of an SQLite database in the backup) is made from SQLite's write-ahead log. When the replica is opened, this file
// decides whether the backup can continue with the log, or must begin again with a whole copy of the database. The backup can continue if
// the log has all transactions after the newest local LTX file. An LTX file has the database pages that a range of transactions has changed,
// and the salts (logSalts) of the log from which it was made. If the log has other salts, transactions can be missing.
//
// litestream's own check is whether the last page of the newest LTX file is still in the log. This is not enough:
//   - While litestream has the database closed, SQLite may checkpoint transactions (move them from the log into the database) that are in
//     no LTX file.
//   - The next write then restarts the log: it overwrites the log from its beginning.
//   - Until new writes reach the old page, litestream's check succeeds, although the checkpointed transactions are not in the log.

// logSalts are two numbers in the header of a log. SQLite changes them each time it restarts the log. They are zero if there is no log. The
// format of the header is in sqlite.org/fileformat2.html, "WAL Header".
type logSalts [2]uint32

// errLogRestarted is returned if the log was restarted while it was read.
var errLogRestarted = errors.New("the write-ahead log was restarted while the backup read it; the backup reads it again")

// readLogSalts reads the salts of the log in a file.
func readLogSalts(file string) (salts logSalts, err error) {
	f, err := os.Open(file)
	if err != nil {
		return salts, missingAs(err, nil)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var header [litestream.WALHeaderSize]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the log was truncated, so it has no header
			err = nil
		}
		return salts, err
	}
	return logSalts{binary.BigEndian.Uint32(header[16:]), binary.BigEndian.Uint32(header[20:])}, nil // offsets of Salt-1 and Salt-2
}

// newestLTXFileSalts returns the salts that the log had when the newest local LTX file was made from it. ok is false if there is no local
// LTX file, or if the header of the newest one is damaged.
func (r *replica) newestLTXFileSalts(ctx context.Context) (salts logSalts, ok bool, err error) {
	list, err := listLTXFiles(r.lite.LTXLevelDir(0), 0, 0, 0 /* level 0, all transactions */)
	if err != nil || len(list) == 0 {
		return salts, false, err
	}
	newest := list[len(list)-1]
	body, err := os.Open(r.lite.LTXPath(0, newest.MinTXID, newest.MaxTXID))
	if err != nil {
		return salts, false, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	header, _, err := ltx.PeekHeader(reader{ctx, body})
	if err != nil {
		return salts, false, nil // litestream itself returns an error for a damaged LTX file, and the backup begins again
	}
	return logSalts{header.WALSalt1, header.WALSalt2}, true, nil
}

// continueLog has litestream read the log for the first time since the replica was opened. If the log was restarted since the newest LTX
// file, continueLog first empties the log, so that litestream begins again with a whole copy of the database. The error is errLogRestarted
// if another program has checkpointed and restarted the log meanwhile; the local folder must be removed then.
func (r *replica) continueLog(ctx context.Context, d *db.DB) error {
	file := r.lite.WALPath()
	before, err := readLogSalts(file)
	if err != nil {
		return err
	}
	known, ok, err := r.newestLTXFileSalts(ctx)
	if err != nil {
		return err
	}
	continued := ok && known == before
	if !continued {
		if ok {
			r.log.InfoContext(ctx, "backup: SQLite has checkpointed the database while it was not backed up; the backup continues with a whole copy of it")
		}
		if err := d.TruncateLog(ctx); err != nil {
			return err
		}
	}
	if err := r.syncOnly(ctx); err != nil { // a checkpoint of litestream would restart the log too
		return err
	}
	after, err := readLogSalts(file)
	if err == nil && continued && after != before {
		err = errLogRestarted
	}
	return err
}
