package certificates

import (
	"context"
	"log/slog"
	"slices"

	"go.uber.org/zap/zapcore"
)

// zapCore passes the log lines of certmagic on to a slog.Logger. Certmagic writes them with the library zap. zapCore drops all lines
// below the level warning, because the manager itself logs whether a certificate was obtained.
type zapCore struct {
	log    *slog.Logger
	fields []zapcore.Field // added to every line (With)
}

// Enabled implements zapcore.Core.
func (zapCore) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (c zapCore) With(fields []zapcore.Field) zapcore.Core {
	return zapCore{c.log, append(slices.Clip(c.fields), fields...)}
}

// Check implements zapcore.Core.
func (c zapCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements zapcore.Core. It logs errors as warnings, because certmagic tries again. The manager itself logs as an error that a
// certificate could not be obtained (the event cert_failed).
func (c zapCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(c.fields, fields) {
		f.AddTo(values)
	}
	c.log.LogAttrs(context.Background(), slog.LevelWarn, "certificates: "+entry.Message, slog.Any("detail", values.Fields))
	return nil
}

// Sync implements zapcore.Core.
func (zapCore) Sync() error { return nil }
