package db

import (
	"container/list"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// Limits of the prepared statements that a connection to SQLite keeps.
const (
	// maxStatements is the number of statements. Without a limit the number would grow, because each combination of filters in requests
	// gives another statement.
	maxStatements = 200
	// maxStatementBytes is the length of a statement's SQL. A longer statement is not kept: it has thousands of values and is rarely run
	// again.
	maxStatementBytes = 8 << 10
)

// openStatementPool is sql.Open for SQLite, with connections that keep their prepared statements. Preparing takes about half of the time
// of a short query. For an insert it takes longer than running, because the triggers are compiled too.
func openStatementPool(dsn string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(statementConnector{connector}), nil
}

// statementConnector opens connections that keep their prepared statements.
type statementConnector struct{ sqldriver.Connector }

func (c statementConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver has changed: its connections lack methods of sqliteConn"), conn.Close())
	}
	return &statementConn{sqliteConn: full, idle: map[string]*list.Element{}, recent: list.New()}, nil
}

// sqliteConn is what database/sql uses of the driver's connections.
type sqliteConn interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.QueryerContext
	sqldriver.Pinger
	sqldriver.SessionResetter
	sqldriver.Validator
}

// statementConn is a connection with an LRU cache of its prepared statements. A statement in use is not in the cache, so a query that is
// run again while its rows are being read is prepared twice. database/sql lets only one goroutine at a time use a connection.
type statementConn struct {
	sqliteConn
	idle   map[string]*list.Element // unused statements by SQL text; the Value of an element is a *statement
	recent *list.List               // the same statements, the most recently used first
}

// statement is a prepared statement of a connection.
type statement struct {
	text string
	sqldriver.Stmt
	exec  sqldriver.StmtExecContext
	query sqldriver.StmtQueryContext
}

// take returns a prepared statement. The caller must return it with put, or close it.
func (c *statementConn) take(ctx context.Context, text string) (*statement, error) {
	if e := c.idle[text]; e != nil {
		delete(c.idle, text)
		return c.recent.Remove(e).(*statement), nil // recent contains only statements
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	st := &statement{text: text, Stmt: prepared}
	var executes, queries bool
	st.exec, executes = prepared.(sqldriver.StmtExecContext)
	st.query, queries = prepared.(sqldriver.StmtQueryContext)
	if !executes || !queries {
		return nil, errors.Join(errors.New("the SQLite driver has changed: its statements have no contexts"), prepared.Close())
	}
	return st, nil
}

// put makes a statement available for its next use.
func (c *statementConn) put(st *statement) error {
	if c.idle[st.text] != nil || len(st.text) > maxStatementBytes {
		return st.Close()
	}
	c.idle[st.text] = c.recent.PushFront(st)
	if c.recent.Len() <= maxStatements {
		return nil
	}
	oldest := c.recent.Remove(c.recent.Back()).(*statement) // as above
	delete(c.idle, oldest.text)
	return oldest.Close()
}

// ExecContext implements sqldriver.ExecerContext.
func (c *statementConn) ExecContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	st, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := st.exec.ExecContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return result, c.put(st)
}

// QueryContext implements sqldriver.QueryerContext. The statement is in use until the rows are closed.
func (c *statementConn) QueryContext(ctx context.Context, query string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	st, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := st.query.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &statementRows{Rows: rows, conn: c, statement: st}, nil
}

// Close implements sqldriver.Conn.
func (c *statementConn) Close() error {
	var err error
	for e := c.recent.Front(); e != nil; e = e.Next() {
		err = errors.Join(err, e.Value.(*statement).Close()) // as above
	}
	clear(c.idle)
	c.recent.Init()
	return errors.Join(err, c.sqliteConn.Close())
}

// statementRows returns its statement to the connection when it is closed.
type statementRows struct {
	sqldriver.Rows
	conn      *statementConn
	statement *statement // nil after Close
}

func (r *statementRows) Close() error {
	if r.statement == nil {
		return nil
	}
	st := r.statement
	r.statement = nil
	if err := r.Rows.Close(); err != nil {
		return errors.Join(err, st.Close())
	}
	return r.conn.put(st)
}
