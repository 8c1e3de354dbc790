package db

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// maxStatements is the largest number of cached statements. A limit is needed because the texts of queries with a caller's
// filters are unlimited in number.
const maxStatements = 200

// statementCache is an LRU cache of prepared statements for reading on SQLite, where preparing a short query takes about half
// of its time.
type statementCache struct {
	db     *sql.DB
	mu     sync.Mutex
	byText map[string]*list.Element // elements of recent, by the statement's text
	recent *list.List               // of *statement, the most recently used first
}

// statement is a prepared statement. If the cache evicts a statement while callers use it, the last caller to release it closes
// it.
type statement struct {
	text     string
	prepared *sql.Stmt
	users    int  // number of callers between acquire and release
	evicted  bool // no longer in the cache, or never put into it
}

func newStatementCache(d *sql.DB) *statementCache {
	return &statementCache{db: d, byText: map[string]*list.Element{}, recent: list.New()}
}

// acquire returns the prepared statement of a text. The caller must call release when it no longer reads the result.
func (s *statementCache) acquire(ctx context.Context, text string) (*statement, error) {
	if st := s.lookup(text); st != nil {
		return st, nil
	}
	prepared, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.insert(text, prepared), nil
}

func (s *statementCache) lookup(text string) *statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byText[text]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	st := e.Value.(*statement) // the list contains nothing else
	st.users++
	return st
}

// insert adds a statement. If another caller has added the same text meanwhile, the new statement is used once and closed.
func (s *statementCache) insert(text string, prepared *sql.Stmt) *statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &statement{text: text, prepared: prepared, users: 1}
	if s.byText[text] != nil {
		st.evicted = true
		return st
	}
	s.byText[text] = s.recent.PushFront(st)
	if s.recent.Len() > maxStatements {
		oldest := s.recent.Back()
		old := oldest.Value.(*statement) // the list contains nothing else
		s.recent.Remove(oldest)
		delete(s.byText, old.text)
		old.evicted = true
		if old.users == 0 {
			_ = old.prepared.Close() // nothing can be done when it fails
		}
	}
	return st
}

func (s *statementCache) release(st *statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.users--; st.evicted && st.users == 0 {
		_ = st.prepared.Close() // nothing can be done when it fails
	}
}

// preparedQuerier reads with cached statements. Writes do not use the cache.
type preparedQuerier struct {
	stdQuerier
	statements *statementCache
}

func (p preparedQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	st, err := p.statements.acquire(ctx, query)
	if err != nil {
		return nil, translate(err)
	}
	rows, err := st.prepared.QueryContext(ctx, sqliteArgs(args)...) //nolint:rowserrcheck // the caller reads the rows and asks Err
	if err != nil {
		p.statements.release(st)
		return nil, translate(err)
	}
	return &preparedRows{stdRows: stdRows{rows}, release: sync.OnceFunc(func() { p.statements.release(st) })}, nil
}

func (p preparedQuerier) QueryRow(ctx context.Context, query string, args ...any) Row {
	return preparedRow{p, ctx, query, args}
}

type preparedRows struct {
	stdRows
	release func()
}

func (r *preparedRows) Close() error {
	err := r.stdRows.Close()
	r.release()
	return err
}

// preparedRow runs its query when it is scanned.
type preparedRow struct {
	querier preparedQuerier
	ctx     context.Context // lives from QueryRow to Scan
	query   string
	args    []any
}

func (r preparedRow) Scan(dest ...any) error {
	st, err := r.querier.statements.acquire(r.ctx, r.query)
	if err != nil {
		return translate(err)
	}
	defer r.querier.statements.release(st)
	return stdRow{st.prepared.QueryRowContext(r.ctx, sqliteArgs(r.args)...)}.Scan(dest...)
}
