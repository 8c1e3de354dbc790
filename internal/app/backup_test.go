package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/storage"
	"atelie/internal/storage/blob/blobtest"
)

// Proves H-backup-default.
//
// TestBackupIsInTheDataFolderByDefault starts a server without a setting for the backup, stores a file, and waits until the status says that
// the backup is up to date.
func TestBackupIsInTheDataFolderByDefault(t *testing.T) {
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
			destination := backup.OpenDestination(backup.DestinationConfig{Folder: filepath.Join(cfg.Server.DataDir, "backups")})
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
			if secrets, err := backup.ReadSecrets(t.Context(), destination, ""); err != nil || secrets.Current != cfg.Auth.JWTSecret {
				t.Errorf("the secret: %+v, %v", secrets, err)
			}
			blobs := 0
			if err := destination.List(t.Context(), backup.BlobsDir+"/", func(backup.Object) error { blobs++; return nil }); err != nil || blobs == 0 {
				t.Errorf("%d files in the backup, %v", blobs, err)
			}
			marker, err := db.ReadMarker(t.Context(), a.DB)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := backup.ReadFormat(t.Context(), destination); err != nil || f.Site != marker || f.Engine != string(dialect) {
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

// /proc is another disk than every folder for files.
func TestBackupIsOnTheSameDiskUnlessADestinationIsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		url, second   func(data string) string
		before, after bool // expected before and after a copy to the secondary destination
	}{
		"default":                       {none, none, true, true},
		"another folder of the disk":    {func(d string) string { return d + " backup" }, none, true, true},
		"elsewhere":                     {elsewhere, none, false, false},
		"a link to another disk":        {func(d string) string { return filepath.Join(d, "link", "backups") }, none, false, false},
		"a bucket":                      {func(string) string { return "s3://key:secret@s3.example/copies" }, none, false, false},
		"second elsewhere":              {none, elsewhere, true, false},
		"second in a bucket":            {none, func(string) string { return "s3://key:secret@s3.example/copies" }, true, false},
		"both on the disk":              {none, func(d string) string { return filepath.Join(d, "second") }, true, true},
		"both on the disk, one outside": {none, func(d string) string { return d + " second" }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configuration(t)
			if err := os.Symlink("/proc", filepath.Join(cfg.Server.DataDir, "link")); err != nil {
				t.Fatal(err)
			}
			cfg.Backup = config.Backup{URL: c.url(cfg.Server.DataDir), CopyURL: c.second(cfg.Server.DataDir), Retention: 720 * time.Hour}
			a := newAppOf(t, cfg, time.Now)
			if status, err := a.Backup.Status(t.Context()); err != nil || status.SameDisk != c.before {
				t.Errorf("before a copy: %+v, %v", status, err)
			}
			if cfg.Backup.CopyURL == "" {
				return
			}
			second, err := cfg.SecondaryBackupLocation()
			if err != nil {
				t.Fatal(err)
			}
			for label, same := range map[string]bool{"another place of before": c.before, second.Label(): c.after} {
				detail, err := json.Marshal(backup.CopyDetail{Destination: label, Ended: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				if err := backup.RecordSuccess(t.Context(), a.DB, backup.KindCopy, time.Now(), string(detail)); err != nil {
					t.Fatal(err)
				}
				if status, err := a.Backup.Status(t.Context()); err != nil || status.SameDisk != same {
					t.Errorf("after a copy in %s: %+v, %v", label, status, err)
				}
			}
		})
	}
}

func none(string) string      { return "" }
func elsewhere(string) string { return "/proc/none/backups" }

// Proves H-backup-split.
func TestSplitBackupOfSeveralNodesIsAProblem(t *testing.T) {
	files := blobtest.Bucket(t)
	address := func(prefix string) string {
		return "s3://" + files.KeyID + ":" + files.Secret + "@" + strings.TrimPrefix(files.Endpoint, "http://") + "/" + files.Bucket + "/" + prefix + "?tls=off&create=on"
	}
	for name, c := range map[string]struct {
		dialect            db.Dialect
		files, destination string
		split              bool
	}{
		"PostgreSQL and a bucket":            {db.Postgres, address("one"), "", true},
		"PostgreSQL and files on the disk":   {db.Postgres, "", "", false},
		"SQLite and a bucket":                {db.SQLite, address("two"), "", false},
		"a bucket for the backup":            {db.Postgres, address("three"), address("backup"), false},
		"a folder that the operator has set": {db.Postgres, address("four"), t.TempDir(), false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configuration(t)
			cfg.Backup = config.Backup{URL: c.destination, Retention: 720 * time.Hour}
			cfg.Storage.URL = c.files
			if c.dialect == db.Postgres {
				cfg.Database.URL = dbtest.URL(t, c.dialect)
			}
			var log lockedBuffer
			a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			status, err := a.Backup.Status(t.Context())
			if split := strings.Contains(status.BackupError, "set ATELIE_BACKUP_URL to a bucket"); err != nil || split != c.split {
				t.Errorf("%+v, %v", status, err)
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			a.Backup.Run(ctx)
			if isLogged := strings.Contains(log.String(), "set ATELIE_BACKUP_URL to a bucket"); isLogged != c.split {
				t.Errorf("the log: %s", log.String())
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
