package db

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
)

// This file empties SQLite's write-ahead log: the file beside the database to which commits are written first. It also removes the old
// frames (versions of pages) that the file has after the last transaction.

// ErrLogInUse is returned by TruncateLog, and by a scrub (the removal of deleted bytes), while a reader still needs the write-ahead log.
var ErrLogInUse = errors.New("the write-ahead log is being read, it cannot be emptied yet")

// TruncateLog moves SQLite's write-ahead log into the database and empties it. It waits for readers only briefly. Moving the log is called
// a checkpoint. Only the part of the program that runs the checkpoints (see DelegateCheckpoints) may call TruncateLog.
func (d *DB) TruncateLog(ctx context.Context) (err error) {
	s, ok := d.driver.(*sqliteDriver)
	if !ok {
		return errors.ErrUnsupported
	}
	conn, err := sql.Open("sqlite", s.dsn(url.Values{"_pragma": {scrubTimeout, "wal_autocheckpoint(0)"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return truncateLog(ctx, conn)
}

// truncateLog moves the write-ahead log into the database and empties it. Each attempt has two statements. The first one
// (passive) moves most pages and does not block writes. The second one (truncate) moves the rest and blocks writes; it waits for
// readers for at most scrubTimeout.
func truncateLog(ctx context.Context, conn *sql.DB) error {
	return retryScrub(ctx, func() error {
		var busy, frames, moved int
		if err := conn.QueryRowContext(ctx, "pragma wal_checkpoint(passive)").Scan(&busy, &frames, &moved); err != nil {
			return err
		}
		if frames-moved > scrubLog { // a reader needs most of the log
			return ErrLogInUse
		}
		if err := conn.QueryRowContext(ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, &frames, &moved); err != nil {
			return err
		}
		if busy != 0 {
			return ErrLogInUse
		}
		return nil
	})
}

// removeOldFrames truncates a write-ahead log after its last transaction. The frames that follow are from before the log was restarted. conn
// must begin its transactions with the write lock, so that no other connection writes at the same time.
func removeOldFrames(ctx context.Context, conn *sql.DB, file string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	// When ctx ends, database/sql would release the lock, even while the file is being truncated.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // the transaction only holds the lock
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	end, err := logEnd(f)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(end), f.Sync())
}

// Sizes and offsets in a write-ahead log (sqlite.org/fileformat2.html, "WAL File Format").
const (
	logHeaderSize   = 32
	frameHeaderSize = 24
)

var errNoLog = errors.New("the write-ahead log has no valid header")

// logEnd returns where the last transaction in a write-ahead log ends. It follows the checksums, as SQLite does after a crash.
func logEnd(log io.ReaderAt) (int64, error) {
	header := make([]byte, logHeaderSize)
	if _, err := log.ReadAt(header, 0); err != nil {
		return 0, errors.Join(errNoLog, err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if header[3]&1 != 0 {
		order = binary.BigEndian
	}
	size := int64(binary.BigEndian.Uint32(header[8:]))
	sum := logSum{order: order}
	sum.add(header[:24])
	if !sum.is(header[24:]) || size < 512 || size > 65536 {
		return 0, errNoLog
	}
	frame := make([]byte, frameHeaderSize+size)
	end := int64(logHeaderSize)
	for at := end; ; at += int64(len(frame)) {
		if _, err := log.ReadAt(frame, at); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return end, err
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderSize:])
		if string(frame[8:16]) != string(header[16:24]) || !sum.is(frame[16:24]) {
			return end, nil
		}
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // the last frame of a transaction
			end = at + int64(len(frame))
		}
	}
}

// logSum is the running checksum of a write-ahead log.
type logSum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *logSum) add(data []byte) {
	for i := 0; i < len(data); i += 8 {
		s.a += s.order.Uint32(data[i:]) + s.b
		s.b += s.order.Uint32(data[i+4:]) + s.a
	}
}

// is reports whether the checksum is the stored one.
func (s *logSum) is(stored []byte) bool {
	return s.a == binary.BigEndian.Uint32(stored) && s.b == binary.BigEndian.Uint32(stored[4:])
}
