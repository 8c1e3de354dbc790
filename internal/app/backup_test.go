package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// Proves H-backup-default.
func TestAServerBacksItselfUpIntoItsDataFolder(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := configuration(t)
			cfg.Backup = config.Backup{Retention: 720 * time.Hour}
			if dialect == db.Postgres {
				cfg.Database.URL = dbtest.URL(t, dialect)
			}
			a := newAppOf(t, cfg, time.Now)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			served := make(chan error, 1)
			go func() { served <- a.Serve(ctx, listener, nil) }()
			picture := outagePicture(t)
			if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", "picture.jpg", bytes.NewReader(picture), int64(len(picture)), storage.PutOptions{Upsert: true}); err != nil {
				t.Fatal(err)
			}
			place := backup.OpenPlace(backup.PlaceConfig{Folder: filepath.Join(cfg.Server.DataDir, "backups")})
			began := time.Now()
			var status backup.Status
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if status, err = a.Backup.Status(t.Context()); err == nil && !status.LastBackup.IsZero() && (dialect == db.Postgres || status.LastBackup.After(began)) && status.WaitingFiles == 0 {
					break
				}
				err = fmt.Errorf("not yet: %+v", status)
			}
			if err != nil {
				t.Error(err)
			}
			if !status.SameDisk || status.BackupError != "" {
				t.Errorf("got %+v", status)
			}
			if state, err := a.backupState(t.Context()); err != nil || !state.On || state.Age < 0 || state.Age > time.Minute {
				t.Errorf("metrics: %+v, %v", state, err)
			}
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
			if secrets, err := backup.ReadSecrets(t.Context(), place, ""); err != nil || secrets.Current != cfg.Auth.JWTSecret {
				t.Errorf("the secret: %+v, %v", secrets, err)
			}
			blobs := 0
			if err := place.List(t.Context(), backup.BlobsDir+"/", func(backup.Object) error { blobs++; return nil }); err != nil || blobs == 0 {
				t.Errorf("%d files in the backup, %v", blobs, err)
			}
			marker, err := db.ReadMarker(t.Context(), a.DB)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := backup.ReadFormat(t.Context(), place); err != nil || f.Site != marker || f.Engine != string(dialect) {
				t.Errorf("got %+v, %v", f, err)
			}
			err = filepath.WalkDir(cfg.Server.DataDir, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := e.Info()
				if errors.Is(err, os.ErrNotExist) {
					return nil
				}
				if err == nil && path != cfg.Server.DataDir && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %s", path, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestABackupIsOnTheSameDiskUnlessAPlaceIsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		url, second func(data, elsewhere string) string
		same        bool
	}{
		"default":               {func(_, _ string) string { return "" }, func(_, _ string) string { return "" }, true},
		"elsewhere":             {func(_, e string) string { return e }, func(_, _ string) string { return "" }, false},
		"second elsewhere":      {func(_, _ string) string { return "" }, func(_, e string) string { return e }, false},
		"both in the same data": {func(_, _ string) string { return "" }, func(d, _ string) string { return filepath.Join(d, "second") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, elsewhere := configuration(t), t.TempDir()
			cfg.Backup = config.Backup{URL: c.url(cfg.Server.DataDir, elsewhere), CopyURL: c.second(cfg.Server.DataDir, elsewhere), Retention: 720 * time.Hour}
			a := newAppOf(t, cfg, time.Now)
			if status, err := a.Backup.Status(t.Context()); err != nil || status.SameDisk != c.same {
				t.Errorf("%+v, %v", status, err)
			}
		})
	}
}
