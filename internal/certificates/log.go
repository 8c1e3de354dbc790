package certificates

import (
	"context"
	"log/slog"
	"slices"

	"go.uber.org/zap/zapcore"
)

// zapCore carries certmagic's log lines into ours. What it tells about its daily work is left out; what was obtained and
// what failed the manager says itself.
type zapCore struct {
	log    *slog.Logger
	fields []zapcore.Field
}

// Enabled is zap's.
func (zapCore) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

// With is zap's.
func (c zapCore) With(fields []zapcore.Field) zapcore.Core {
	return zapCore{c.log, append(slices.Clip(c.fields), fields...)}
}

// Check is zap's.
func (c zapCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write is zap's. Its errors are warnings here: they are tried again, and cert_failed tells of them as errors.
func (c zapCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(c.fields, fields) {
		f.AddTo(values)
	}
	c.log.LogAttrs(context.Background(), slog.LevelWarn, "certificates: "+entry.Message, slog.Any("detail", values.Fields))
	return nil
}

// Sync is zap's.
func (zapCore) Sync() error { return nil }
