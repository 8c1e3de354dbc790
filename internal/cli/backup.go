package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atelie/internal/app"
	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
)

// backupCommand is the command atelie backup.
type backupCommand struct {
	Status backupStatusCommand `cmd:"" help:"Say how the backup is: until when it has everything, and when it was last restored and compared."`
	Now    backupNowCommand    `cmd:"" help:"Bring the backup up to date and wait until it is; of PostgreSQL, take a snapshot."`
	Verify backupVerifyCommand `cmd:"" help:"Restore the newest backup into a temporary folder now and compare it, as every night."`
	List   backupListCommand   `cmd:"" help:"List the moments that can be restored."`
}

// errBackupsOff is the error of the commands while backups are off.
var errBackupsOff = errors.New("backups are off (backup-url)")

type backupListCommand struct {
	From string `env:"ATELIE_RESTORE_FROM" placeholder:"PLACE" help:"Another backup than the one of the settings: a folder or s3://…"`
}

// Run prints a line for each day. It reads only the place of the backup, so it also works after the loss of the site.
func (c *backupListCommand) Run(env *environment) error {
	place, err := openBackup(env, c.From)
	if err != nil {
		return err
	}
	days, err := backup.ListRestorePoints(env.ctx, place)
	if err != nil {
		return err
	}
	for _, d := range days {
		text := fmt.Sprintf("%s  %s", d.First.Format(time.DateOnly), d.First.Format("15:04:05Z"))
		if d.RestorePoints > 1 {
			text += fmt.Sprintf(" to %s, %d moments", d.Last.Format("15:04:05Z"), d.RestorePoints)
		}
		env.say("%s\n", text)
	}
	if len(days) == 0 {
		return env.printf("Nothing can be restored yet.\n")
	}
	return nil
}

// openBackup opens the place that the flag --from names, or the place in the settings if from is "".
func openBackup(env *environment, from string) (backup.Destination, error) {
	place, err := env.cfg.BackupLocation()
	if from != "" {
		place, err = config.ParseLocation("--from", from)
	}
	if err != nil {
		return nil, err
	}
	if place == nil {
		return nil, errBackupsOff
	}
	return app.OpenBackupDestination(place), nil
}

// placeTimeout is how long the status waits for the place, which may accept connections and answer nothing.
const placeTimeout = 10 * time.Second

type backupStatusCommand struct {
	JSON bool `name:"json" help:"Print one JSON object, for programs."`
}

// Run prints how the backup is. It fails if something is wrong with it.
func (c *backupStatusCommand) Run(env *environment) error {
	return env.withBackup(func(a *app.App) error {
		s, err := a.Backup.Status(env.ctx)
		if err != nil {
			return err
		}
		// A running server knows of the newest moment before it stores it.
		limited, cancel := context.WithTimeout(env.ctx, placeTimeout)
		defer cancel()
		newest, placeErr := a.Backup.Newest(limited)
		if placeErr != nil && limited.Err() != nil && env.ctx.Err() == nil {
			placeErr = fmt.Errorf("no answer within %s: %w", placeTimeout, placeErr)
		}
		if newest.After(s.LastBackup) {
			s.LastBackup = newest
		}
		if c.JSON {
			text, err := json.Marshal(statusJSON(s, placeErr))
			if err == nil {
				err = env.printf("%s\n", text)
			}
			return err
		}
		return printStatus(env, s, placeErr)
	})
}

// jsonStatus is what backup status --json prints. Times are null if there is none.
type jsonStatus struct {
	Destination        string     `json:"place"`
	SameDisk           bool       `json:"same_disk"`
	LastBackup         *time.Time `json:"last_backup"`
	BackupError        string     `json:"backup_error"`
	LastProof          *time.Time `json:"last_proof"`
	ProvenRestorePoint *time.Time `json:"proven_moment"`
	ProofError         string     `json:"proof_error"`
	WaitingFiles       int64      `json:"waiting_files"`
	Undone             string     `json:"proof_undone"` // why the newest proof could not be done
	UndoneCode         string     `json:"proof_undone_code"`
}

func statusJSON(s backup.Status, placeErr error) jsonStatus {
	optional := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	if s.BackupError == "" && placeErr != nil {
		s.BackupError = placeErr.Error()
	}
	return jsonStatus{s.Destination, s.SameDisk, optional(s.LastBackup), s.BackupError, optional(s.LastProof), optional(s.ProvenRestorePoint), s.ProofError, s.WaitingFiles, s.ProofUndone, s.ProofUndoneCode}
}

func printStatus(env *environment, s backup.Status, placeErr error) error {
	lines := []string{"Place: " + s.Destination}
	if s.SameDisk {
		lines = append(lines, "It is on the disk of the data folder: it protects from mistakes, not from a lost disk. Set ATELIE_BACKUP_URL to another disk or a bucket.")
	}
	if s.LastBackup.IsZero() {
		lines = append(lines, "Last backup: none yet")
	} else {
		lines = append(lines, "Last backup: "+s.LastBackup.UTC().Format(time.RFC3339))
	}
	if s.WaitingFiles > 0 {
		lines = append(lines, fmt.Sprintf("Files that are not in it yet: %d", s.WaitingFiles))
	}
	if s.LastProof.IsZero() {
		lines = append(lines, "Last proof: none yet")
	} else {
		lines = append(lines, fmt.Sprintf("Last proof: %s; the state of %s was restored and compared", s.LastProof.UTC().Format(time.RFC3339), s.ProvenRestorePoint.UTC().Format(time.RFC3339)))
	}
	for _, line := range lines {
		env.say("%s\n", line)
	}
	var wrong []error
	switch {
	case s.BackupError == "":
	case s.ErrorSince.IsZero():
		wrong = append(wrong, fmt.Errorf("backup: %s", s.BackupError))
	default:
		wrong = append(wrong, fmt.Errorf("backup: %s (since %s)", s.BackupError, s.ErrorSince.UTC().Format(time.RFC3339)))
	}
	if placeErr != nil {
		wrong = append(wrong, fmt.Errorf("the place of the backup cannot be read: %w", placeErr))
	}
	if s.ProofError != "" {
		wrong = append(wrong, fmt.Errorf("proof: %s", s.ProofError))
	}
	if s.ProofUndone != "" {
		wrong = append(wrong, fmt.Errorf("proof: %s (%s, since %s)", s.ProofUndone, s.ProofUndoneCode, s.ProofUndoneSince.UTC().Format(time.RFC3339)))
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

// withRunningBackup calls fn while a service keeps the backup: that of a server on the data folder of an SQLite database, else one
// of this process. serverEnded returns an error when the server that fn relies on has ended.
func (e *environment) withRunningBackup(fn func(a *app.App, serverEnded func() error) error) error {
	noServer := func() error { return nil }
	if e.cfg.Database.URL != "" {
		return e.withBackup(func(a *app.App) error { return e.runBackup(a, func() error { return fn(a, noServer) }) })
	}
	if err := datafolder.Prepare(e.cfg.Server.DataDir, e.log); err != nil {
		return err
	}
	release, err := datafolder.Lock(e.cfg.Server.DataDir)
	if _, ok := errors.AsType[*datafolder.InUse](err); ok {
		return e.withBackup(func(a *app.App) error { return fn(a, e.serverEnded) })
	}
	if err != nil {
		return err
	}
	return errors.Join(e.withBackup(func(a *app.App) error { return e.runBackup(a, func() error { return fn(a, noServer) }) }), release())
}

// runBackup keeps the backup in this process while fn runs.
func (e *environment) runBackup(a *app.App, fn func() error) error {
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Backup.Run(ctx)
	}()
	err := fn()
	cancel()
	<-ended
	return err
}

// serverEnded returns an error if no server has the data folder locked any more.
func (e *environment) serverEnded() error {
	release, err := datafolder.Lock(e.cfg.Server.DataDir)
	if err == nil {
		return errors.Join(errors.New("the server has ended meanwhile: run the command again"), release())
	}
	return nil
}

// waiting prints what keeps the backup, and ends when the server has ended.
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

// Run waits until everything that was written before is in the place.
func (backupNowCommand) Run(env *environment) error {
	return env.withRunningBackup(func(a *app.App, serverEnded func() error) error {
		newest, err := a.Backup.BringUpToDate(env.ctx, env.waiting(serverEnded))
		if err != nil {
			return err
		}
		return env.printf("The backup is up to date: its newest state is that of %s.\n", newest.UTC().Format(time.RFC3339Nano))
	})
}

type backupVerifyCommand struct{}

// Run has the proof done now and waits for its result.
func (backupVerifyCommand) Run(env *environment) error {
	return env.withRunningBackup(func(a *app.App, serverEnded func() error) error {
		env.say("Restoring the newest backup into a temporary folder to compare it…\n")
		p, err := a.Backup.RequestProof(env.ctx, env.waiting(serverEnded))
		if err != nil {
			return err
		}
		if err := env.printf("Proven: the state of %s was restored; %d tables with %d rows, %d files and the secret are what the site had then.\n",
			p.RestorePoint.UTC().Format(time.RFC3339), p.Tables, p.Rows, p.Files); err != nil || p.Copy.Compared == 0 {
			return err
		}
		return env.printf("The second place has it too: %d of its objects were compared, %d of them were damaged and copied again.\n", p.Copy.Compared, p.Copy.Repaired)
	})
}
