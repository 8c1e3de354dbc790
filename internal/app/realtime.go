package app

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/realtime"
	"atelie/internal/tables"
)

// wireRealtime makes live changes of what tables and functions write.
func (a *App) wireRealtime(ctx context.Context) error {
	cfg := realtime.Config{Tables: map[string][]realtime.Column{}, MaxSockets: a.cfg.Realtime.MaxSockets, MaxPerAddress: a.cfg.Realtime.MaxSocketsPerAddress}
	for table, columns := range tables.ColumnTypes() {
		for _, c := range columns {
			cfg.Tables[table] = append(cfg.Tables[table], realtime.Column{Name: c.Name, Type: c.Type, Key: c.Key})
		}
	}
	var err error
	if a.Realtime, err = realtime.New(ctx, a.DB, a.Tokens, a.Auth.Standings, cfg, a.log, a.now); err != nil {
		return err
	}
	a.Tables.SetRecorder(func(ctx context.Context, tx *db.Tx, changes []tables.Change) error {
		out := make([]realtime.Change, len(changes))
		for i, c := range changes {
			out[i] = realtime.Change{Table: c.Table, Type: c.Type, Record: c.Record, Old: c.Old}
		}
		return a.Realtime.Record(ctx, tx, out)
	})
	a.Functions.SetRecorded(func(ctx context.Context, tx *db.Tx, id string) error {
		return a.Tables.RecordInserted(ctx, tx, "contact_submissions", []string{id})
	})
	return nil
}
