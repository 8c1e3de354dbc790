package db

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// maxStatements bounds the prepared statements that are kept; queries by address have endlessly many texts.
const maxStatements = 200

// statements keeps the readers' prepared statements, the least recently used leaving first. Preparing is about half of
// what a short query costs SQLite.
type statements struct {
	db     *sql.DB
	mu     sync.Mutex
	byText map[string]*list.Element // of *statement
	recent *list.List               // the most recently used in front
}

// statement is one text, prepared. One that has left the list is closed by its last user.
type statement struct {
	text  string
	sql   *sql.Stmt
	users int
	gone  bool
}

func newStatements(d *sql.DB) *statements {
	return &statements{db: d, byText: map[string]*list.Element{}, recent: list.New()}
}

// take gives a prepared statement; release must follow.
func (s *statements) take(ctx context.Context, text string) (*statement, error) {
	if st := s.known(text); st != nil {
		return st, nil
	}
	prepared, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.keep(text, prepared), nil
}

func (s *statements) known(text string) *statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byText[text]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	st := e.Value.(*statement) // nothing else is put there
	st.users++
	return st
}

// keep puts a statement into the list; when another caller was faster, this one serves once and goes.
func (s *statements) keep(text string, prepared *sql.Stmt) *statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &statement{text: text, sql: prepared, users: 1}
	if s.byText[text] != nil {
		st.gone = true
		return st
	}
	s.byText[text] = s.recent.PushFront(st)
	if s.recent.Len() > maxStatements {
		last := s.recent.Back()
		old := last.Value.(*statement) // nothing else is put there
		s.recent.Remove(last)
		delete(s.byText, old.text)
		old.gone = true
		if old.users == 0 {
			_ = old.sql.Close() // frees memory; there is nothing to be done when it fails
		}
	}
	return st
}

func (s *statements) release(st *statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.users--; st.gone && st.users == 0 {
		_ = st.sql.Close() // as above
	}
}

// preparedQuerier reads through kept statements. Writes do not pass here: they run in transactions.
type preparedQuerier struct {
	stdQuerier
	statements *statements
}

func (p preparedQuerier) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	st, err := p.statements.take(ctx, query)
	if err != nil {
		return nil, translate(err)
	}
	rows, err := st.sql.QueryContext(ctx, sqliteArgs(args)...) //nolint:rowserrcheck // the caller reads the rows and asks Err
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
	st, err := r.querier.statements.take(r.ctx, r.query)
	if err != nil {
		return translate(err)
	}
	defer r.querier.statements.release(st)
	return stdRow{st.sql.QueryRowContext(r.ctx, sqliteArgs(r.args)...)}.Scan(dest...)
}
