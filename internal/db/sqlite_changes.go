package db

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"modernc.org/sqlite"
)

// This file tells package auth whether anything was committed to an SQLite database. The package uses a cached response only
// if nothing was committed after the response was stored in the cache.

// Changes identifies a state of an SQLite database. As long as DB.Changes returns an equal value, no process has committed anything. Values
// of different DBs cannot be compared.
type Changes struct {
	connection int64 // number of the connection that read the version
	version    int64 // SQLite's data_version
}

// Changes returns the current state. On SQLite the call costs a tenth of a small query. On PostgreSQL ok is false, because there the call
// would cost as much as a query.
func (d *DB) Changes(ctx context.Context) (c Changes, ok bool, err error) {
	s, ok := d.driver.(*sqliteDriver)
	if !ok || s.changes == nil {
		return Changes{}, false, nil
	}
	if err := d.checkReadable(); err != nil {
		return Changes{}, false, err
	}
	if c, err = s.changes.read(); err != nil {
		return Changes{}, false, d.classify(ctx, translate(err))
	}
	return c, true, nil
}

// changeCounter reads SQLite's data_version, a number that changes for a connection when another connection commits. It opens its own
// connection without database/sql, because database/sql would take longer than the statement itself.
type changeCounter struct {
	dsn string

	mu         sync.Mutex
	conn       sqldriver.Conn // nil before the first use, and after an error
	connection int64          // counts the connections that were opened: the versions of two connections cannot be compared
	closed     bool           // close was called
}

// read returns the number of the connection and its data_version.
func (c *changeCounter) read() (changes Changes, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if c.closed {
			return Changes{}, sqldriver.ErrBadConn
		}
		connector, err := sqlite.NewConnector(c.dsn)
		if err != nil {
			return Changes{}, err
		}
		if c.conn, err = (statementConnector{connector}).Connect(context.Background()); err != nil {
			c.conn = nil
			return Changes{}, err
		}
		c.connection++
	}
	version, err := dataVersion(c.conn.(*statementConn)) // statementConnector makes all connections
	if err != nil {
		err = errors.Join(err, c.conn.Close())
		c.conn = nil
		return Changes{}, err
	}
	return Changes{c.connection, version}, nil
}

func dataVersion(conn *statementConn) (version int64, err error) {
	rows, err := conn.QueryContext(context.Background(), "pragma data_version", nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]sqldriver.Value, 1)
	if err := rows.Next(row); err != nil {
		return 0, err
	}
	version, ok := row[0].(int64)
	if !ok {
		return 0, fmt.Errorf("data_version is %T", row[0])
	}
	return version, nil
}

func (c *changeCounter) close() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		err = c.conn.Close()
	}
	c.conn, c.closed = nil, true
	return err
}
