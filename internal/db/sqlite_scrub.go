package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net/url"
	"time"

	"atelie/internal/interval"
)

// This file scrubs SQLite's files: it removes the bytes of deleted rows that are left in them. The pragma secure_delete is not enough. It
// overwrites a deleted row, but when rows move to other pages, a copy of them stays in the unused part of the old page. The write-ahead log
// has earlier versions of pages until it is emptied. A vacuum would remove the copies too, but would rewrite the whole database, and no
// write is possible meanwhile.

// Limits of a scrub. A write waits at most for one step of the scrub, or for a checkpoint of scrubLog pages.
const (
	scrubTimeout  = "busy_timeout(50)"    // pragma: a step waits at most 50 ms for a lock
	scrubAttempts = 20                    // how often a step is tried while readers or writers hold a lock
	scrubPause    = 25 * time.Millisecond // wait between two steps, and before another attempt
	scrubReads    = 1000                  // pages that are read between two pauses
	scrubWrites   = 32                    // pages that one transaction overwrites
	scrubLog      = 512                   // pages that are overwritten between two checkpoints, so that the log stays small
)

// maxScrubPages is the number of pages from which on a database is not scrubbed: 64 GB with SQLite's usual pages of 4 kB. The scrub
// recognizes a page of a table or index by its first byte, which is 2, 5, 10 or 13. In other pages this byte is the highest byte of a page
// number. It is certainly 0 only if all page numbers fit into 24 bits. In a larger database the scrub could confuse the pages.
const maxScrubPages = 1 << 24

// scrub overwrites the unused parts of all pages, and empties the write-ahead log. It uses a separate connection, so that writes do not
// wait while scrub waits for readers. After an interruption, the next scrub does not overwrite the same parts again. complete is false if
// only the log was emptied, because the database has too many pages or uses auto_vacuum.
func (d *sqliteDriver) scrub(ctx context.Context) (complete bool, err error) {
	restart := d.restartLog.Load()
	options := url.Values{"_pragma": {scrubTimeout}, "_txlock": {"immediate"}}
	if restart != nil {
		options["_pragma"] = append(options["_pragma"], "wal_autocheckpoint(0)")
	}
	conn, err := sql.Open("sqlite", d.dsn(options))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)
	emptyLog := func() error { return truncateLog(ctx, conn) }
	if restart != nil {
		emptyLog = func() error { return (*restart)(ctx) }
	}
	if complete, err = clearUnusedParts(ctx, conn, emptyLog); err != nil || restart == nil {
		return complete, translate(err)
	}
	return complete, retryScrub(ctx, func() error { return removeOldFrames(ctx, conn, d.file+"-wal") })
}

// retryScrub calls step again while it fails because of other connections.
func retryScrub(ctx context.Context, step func() error) error {
	for n := 1; ; n++ {
		err := translate(step())
		if err == nil || n == scrubAttempts || !errors.Is(err, ErrLogInUse) && !errors.Is(err, errLocked) {
			return err
		}
		if err := interval.Sleep(ctx, scrubPause); err != nil {
			return err
		}
	}
}

// readPage reads the bytes of a page. The first page has the number 1.
const readPage = "select data from sqlite_dbpage('main') where pgno = $1"

// clearUnusedParts overwrites the unused parts of all pages with zeros, a few pages in each transaction. It calls emptyLog after the
// last one, and after each scrubLog pages. If pageGap does not recognize all pages, clearUnusedParts only calls emptyLog and returns false.
func clearUnusedParts(ctx context.Context, conn *sql.DB, emptyLog func() error) (complete bool, err error) {
	var pages, autoVacuum int
	if err := conn.QueryRowContext(ctx, "select page_count, auto_vacuum from pragma_page_count(), pragma_auto_vacuum()").Scan(&pages, &autoVacuum); err != nil {
		return false, err
	}
	if pages >= maxScrubPages || autoVacuum != 0 { // pageGap does not recognize the pages that auto_vacuum adds
		return false, emptyLog()
	}
	read, err := conn.PrepareContext(ctx, readPage)
	if err != nil {
		return false, err
	}
	defer func() { _ = read.Close() }() // the connection is closed soon
	var data []byte
	var found []int
	logged, emptied := 0, false // pages that were overwritten since emptyLog, and whether it was called
	for page := 1; page <= pages; page++ {
		err := read.QueryRowContext(ctx, page).Scan(&data)
		gone := errors.Is(err, sql.ErrNoRows) // the database has become smaller
		if err != nil && !gone {
			return false, err
		}
		last := gone || page == pages
		if !gone && isAnyNonZero(pageGap(page, data)) {
			found = append(found, page)
		}
		if len(found) < scrubWrites && !last && page%scrubReads != 0 {
			continue
		}
		if err := clearPages(ctx, conn, found); err != nil {
			return false, err
		}
		logged, found = logged+len(found), found[:0]
		if logged >= scrubLog || last && (logged > 0 || !emptied) {
			if err := emptyLog(); err != nil {
				return false, err
			}
			logged, emptied = 0, true
		}
		if last {
			break
		}
		if err := interval.Sleep(ctx, scrubPause); err != nil { // writes that have waited come first
			return false, err
		}
	}
	return true, nil
}

// clearPages overwrites the unused parts of some pages in one transaction, which reads the pages again.
func clearPages(ctx context.Context, conn *sql.DB, pages []int) error {
	if len(pages) == 0 {
		return nil
	}
	return retryScrub(ctx, func() error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after a commit this is a no-op by contract
		for _, page := range pages {
			var data []byte
			err := tx.QueryRowContext(ctx, readPage, page).Scan(&data)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			gap := pageGap(page, data)
			if !isAnyNonZero(gap) {
				continue
			}
			clear(gap)
			if _, err := tx.ExecContext(ctx, "update sqlite_dbpage set data = $1 where pgno = $2", data, page); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// pageGap returns the unused part of a page of a table or an index, between the list of its cells and the first cell (sqlite.org/fileformat2.html,
// "B-tree Pages"). It returns nil for any other page: SQLite overwrites those when it frees them.
func pageGap(number int, data []byte) []byte {
	start := 0
	if number == 1 {
		start = 100 // the header of the database
	}
	if len(data) < start+12 {
		return nil
	}
	header := data[start:]
	begin := start
	switch header[0] {
	case 2, 5:
		begin += 12
	case 10, 13:
		begin += 8
	default:
		return nil
	}
	begin += 2 * int(binary.BigEndian.Uint16(header[3:]))
	end := cmp.Or(int(binary.BigEndian.Uint16(header[5:])), 65536) // a stored 0 stands for 65536
	if end > len(data) || begin > end {
		return nil
	}
	return data[begin:end]
}

func isAnyNonZero(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) > 0 }
