package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"atelie/internal/app"
	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
)

// backupCommand is the command atelie backup, a group of commands for the continuous backup of the site. A restore point is a point in time
// whose state the backup can restore. A restore test is a trial restore that is compared with the site; the JSON output calls it a proof.
type backupCommand struct {
	Status backupStatusCommand `cmd:"" help:"Show the latest restore point, failures, and when the last restore test succeeded."`
	Now    backupNowCommand    `cmd:"" help:"Update the backup and wait until it is up to date. With PostgreSQL, this takes a snapshot."`
	Verify backupVerifyCommand `cmd:"" help:"Restore the backup into a temporary folder now and compare it with the site, as the server does every night."`
	List   backupListCommand   `cmd:"" settings:"config data-dir backup-url" help:"List the restore points."`
}

// errBackupsOff is the error of the commands if backups are off.
var errBackupsOff = errors.New("backups are off (backup-url)")

type backupListCommand struct {
	From string `env:"ATELIE_RESTORE_FROM" placeholder:"FOLDER|S3-URL" help:"List this backup instead of the one in the settings: a folder or s3://…"`
}

// Run prints a line for each day that has restore points. It reads only the backup, so it works after the loss of the site too.
func (c *backupListCommand) Run(env *environment) error {
	destination, err := openBackup(env, c.From)
	if err != nil {
		return err
	}
	days, err := backup.ListRestorePoints(env.ctx, destination)
	if err != nil {
		return err
	}
	for _, d := range days {
		text := fmt.Sprintf("%s  %s", d.First.Format(time.DateOnly), d.First.Format("15:04:05Z"))
		if d.RestorePoints > 1 {
			text += fmt.Sprintf(" to %s, %d restore points", d.Last.Format("15:04:05Z"), d.RestorePoints)
		}
		env.say("%s\n", text)
	}
	if len(days) == 0 {
		return env.printf("Nothing can be restored yet.\n")
	}
	return nil
}

// openBackup opens the backup destination from (the value of the flag --from). If from is "", it opens the destination in the settings.
func openBackup(env *environment, from string) (backup.Destination, error) {
	location, err := env.cfg.BackupLocation()
	if from != "" {
		location, err = config.ParseLocation("--from", from)
	}
	if err != nil {
		return nil, err
	}
	if location == nil {
		return nil, errBackupsOff
	}
	return app.OpenBackupDestination(location), nil
}

// destinationTimeout limits how long backup status waits for a destination that accepts connections and never responds.
const destinationTimeout = 10 * time.Second

type backupStatusCommand struct {
	JSON bool `name:"json" help:"Print one JSON object, for programs."`
}

// Run prints the status of the backup. It fails if something is wrong with the backup.
func (c *backupStatusCommand) Run(env *environment) error {
	return env.withBackup(func(a *app.App) error {
		s, err := a.Backup.Status(env.ctx)
		if err != nil {
			return err
		}
		// The destination can have a later restore point than the database: a server stores the time only every few minutes.
		limited, cancel := context.WithTimeout(env.ctx, destinationTimeout)
		defer cancel()
		newest, destinationErr := a.Backup.Newest(limited)
		if destinationErr != nil && limited.Err() != nil && env.ctx.Err() == nil {
			destinationErr = fmt.Errorf("no response within %s: %w", destinationTimeout, destinationErr)
		}
		if newest.After(s.LastBackup) {
			s.LastBackup = newest
		}
		if c.JSON {
			text, err := json.Marshal(statusJSON(s, destinationErr))
			if err == nil {
				err = env.printf("%s\n", text)
			}
			return err
		}
		return printStatus(env, s, destinationErr)
	})
}

// jsonStatus is the output of backup status --json. A time is null if the event has not happened yet.
type jsonStatus struct {
	Destination        string     `json:"destination"`
	SameDisk           bool       `json:"same_disk"`
	LastBackup         *time.Time `json:"last_backup"`
	BackupError        string     `json:"backup_error"`
	LastRestoreTest    *time.Time `json:"last_proof"`
	TestedRestorePoint *time.Time `json:"proven_restore_point"`
	RestoreTestError   string     `json:"proof_error"`
	WaitingFiles       int64      `json:"waiting_files"`
	Incomplete         string     `json:"proof_incomplete"` // why the newest restore test is incomplete; "" if it is complete
	IncompleteCode     string     `json:"proof_incomplete_code"`
}

func statusJSON(s backup.Status, destinationErr error) jsonStatus {
	optional := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	if s.BackupError == "" && destinationErr != nil {
		s.BackupError = destinationErr.Error()
	}
	return jsonStatus{s.Destination, s.SameDisk, optional(s.LastBackup), s.BackupError, optional(s.LastRestoreTest), optional(s.TestedRestorePoint), s.RestoreTestError, s.WaitingFiles, s.RestoreTestIncomplete, s.RestoreTestIncompleteCode}
}

func printStatus(env *environment, s backup.Status, destinationErr error) error {
	env.say("Destination: %s\n", s.Destination)
	if s.SameDisk {
		env.say("It is on the disk of the data folder: it protects from mistakes, not from the loss of the disk. Set ATELIE_BACKUP_URL to another disk or a bucket.\n")
	}
	if s.LastBackup.IsZero() {
		env.say("Last backup: none yet\n")
	} else {
		env.say("Last backup: %s\n", s.LastBackup.UTC().Format(time.RFC3339))
	}
	if s.WaitingFiles > 0 {
		env.say("Files that are not in the backup yet: %d\n", s.WaitingFiles)
	}
	if s.LastRestoreTest.IsZero() {
		env.say("Last restore test: none yet. One runs every night at four; atelie backup verify starts one now.\n")
	} else {
		env.say("Last restore test: %s; the state of %s was restored and compared\n", s.LastRestoreTest.UTC().Format(time.RFC3339), s.TestedRestorePoint.UTC().Format(time.RFC3339))
	}
	var wrong []error
	switch {
	case s.BackupError == "":
	case s.ErrorSince.IsZero():
		wrong = append(wrong, fmt.Errorf("backup: %s", s.BackupError))
	default:
		wrong = append(wrong, fmt.Errorf("backup: %s (since %s)", s.BackupError, s.ErrorSince.UTC().Format(time.RFC3339)))
	}
	if destinationErr != nil {
		wrong = append(wrong, fmt.Errorf("the backup destination cannot be read: %w", destinationErr))
	}
	if s.RestoreTestError != "" {
		wrong = append(wrong, fmt.Errorf("restore test: %s", s.RestoreTestError))
	}
	if s.RestoreTestIncomplete != "" {
		wrong = append(wrong, fmt.Errorf("restore test: %s (%s, since %s)", s.RestoreTestIncomplete, s.RestoreTestIncompleteCode, s.RestoreTestIncompleteSince.UTC().Format(time.RFC3339)))
	}
	return errors.Join(wrong...)
}

// withBackup opens the site, and fails if backups are off.
func (e *environment) withBackup(fn func(*app.App) error) error {
	return e.with(func(a *app.App) error {
		if a.Backup == nil {
			return errBackupsOff
		}
		return fn(a)
	})
}

// withRunningBackup calls fn while a backup service runs. If a server has locked the data folder of an SQLite database, that server's
// service runs already; otherwise withRunningBackup runs one in this process. serverEnded returns an error once the server that fn relies
// on has ended.
func (e *environment) withRunningBackup(fn func(a *app.App, serverEnded func() error) error) error {
	runService := func(a *app.App) error {
		ctx, cancel := context.WithCancel(e.ctx)
		var service sync.WaitGroup
		service.Go(func() { a.Backup.Run(ctx) })
		defer service.Wait()
		defer cancel()
		return fn(a, func() error { return nil })
	}
	if e.cfg.Database.URL != "" {
		return e.withBackup(runService)
	}
	if err := datafolder.Prepare(e.cfg.Server.DataDir, e.log); err != nil {
		return err
	}
	release, err := datafolder.Lock(e.cfg.Server.DataDir)
	if _, ok := errors.AsType[*datafolder.InUseError](err); ok {
		return e.withBackup(func(a *app.App) error { return fn(a, e.serverEnded) })
	}
	if err != nil {
		return err
	}
	return errors.Join(e.withBackup(runService), release())
}

// serverEnded returns an error if no server has the data folder locked any more.
func (e *environment) serverEnded() error {
	release, err := datafolder.Lock(e.cfg.Server.DataDir)
	if err == nil {
		return errors.Join(errors.New("the server has ended: run the command again"), release())
	}
	return nil
}

// waiting returns the functions of a wait: it prints why the backup is delayed, and ends the wait when the server has ended.
func (e *environment) waiting(serverEnded func() error) backup.Waiting {
	last := ""
	return backup.Waiting{Ended: serverEnded, Each: func(state string) error {
		if state == last {
			return nil
		}
		if last = state; state == "" {
			return nil
		}
		return e.printf("Waiting: %s\n", state)
	}}
}

type backupNowCommand struct{}

// Run waits until the destination has everything that was written before.
func (backupNowCommand) Run(env *environment) error {
	return env.withRunningBackup(func(a *app.App, serverEnded func() error) error {
		newest, err := a.Backup.BringUpToDate(env.ctx, env.waiting(serverEnded))
		if err != nil {
			return err
		}
		return env.printf("The backup is up to date: its latest restore point is %s.\n", newest.UTC().Format(time.RFC3339Nano))
	})
}

type backupVerifyCommand struct{}

// Run requests a restore test and waits for the result.
func (backupVerifyCommand) Run(env *environment) error {
	return env.withRunningBackup(func(a *app.App, serverEnded func() error) error {
		env.say("Restoring the newest backup into a temporary folder to compare it…\n")
		t, err := a.Backup.RequestRestoreTest(env.ctx, env.waiting(serverEnded))
		if err != nil {
			return err
		}
		if err := env.printf("Restore test: the state of %s was restored; %d tables with %d rows, %d files and the secret are what the site had then.\n",
			t.RestorePoint.UTC().Format(time.RFC3339), t.Tables, t.Rows, t.Files); err != nil || t.Copy.Compared == 0 {
			return err
		}
		return env.printf("The secondary destination is up to date too: %d of its objects were compared, %d of them were damaged and copied again.\n", t.Copy.Compared, t.Copy.Repaired)
	})
}
