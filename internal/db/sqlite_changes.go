package db

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"modernc.org/sqlite"
)

// Changes stands for what was committed to a database until a moment: as long as DB.Changes returns an equal value, nobody has
// committed anything, in this process or another one. Values of different DBs cannot be compared.
type Changes struct{ connection, version int64 }

// Changes returns the present value, at a tenth of the cost of a small query. ok is false on PostgreSQL, which has no such number that
// costs less than reading the rows again.
func (d *DB) Changes(ctx context.Context) (c Changes, ok bool, err error) {
	s, ok := d.driver.(*sqliteDriver)
	if !ok || s.changes == nil {
		return Changes{}, false, nil
	}
	if err := d.refuse(); err != nil {
		return Changes{}, false, err
	}
	if c, err = s.changes.read(); err != nil {
		return Changes{}, false, d.classify(ctx, translate(err))
	}
	return c, true, nil
}

// changeCounter reads SQLite's data_version, which changes for a connection when another connection has committed. It has a connection
// of its own, without database/sql, whose bookkeeping would take longer than the statement.
type changeCounter struct {
	dsn string

	mu         sync.Mutex
	conn       sqldriver.Conn // nil before the first use, and after an error
	connection int64          // number of the connection: their versions cannot be compared
	closed     bool
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
	version, err := dataVersion(c.conn.(*statementConn)) // which statementConnector makes
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
