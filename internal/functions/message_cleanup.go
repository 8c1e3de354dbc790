package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
	"atelie/internal/jobs"
)

// JobCleanUp is the kind of the job that completes the deletion of messages. It deletes what a transaction cannot delete: the mails about
// the messages that were written to files, and remains of their text in SQLite's files. The value is the former name of the kind, because
// stored jobs have it.
const JobCleanUp = "contact.forget"

// cleanUpJob is the payload of JobCleanUp.
type cleanUpJob struct {
	MessageIDs []string `json:"message_ids,omitempty"` // the deleted messages
	Address    string   `json:"address,omitempty"`     // an erased e-mail address, for which the job deletes the mails to and about it; "" for none
}

// CleanUpMessages deletes the jobs about messages and queues a JobCleanUp. The caller deletes the messages themselves in the same
// transaction. The database deletes the notices about them by a foreign key.
func (s *Service) CleanUpMessages(ctx context.Context, tx *db.Tx, messageIDs ...string) error {
	if len(messageIDs) == 0 {
		return nil
	}
	for _, id := range messageIDs {
		if err := s.cfg.Queue.Drop(ctx, tx, id); err != nil {
			return err
		}
	}
	return s.cfg.Queue.Enqueue(ctx, tx, JobCleanUp, cleanUpJob{MessageIDs: messageIDs})
}

// cleanUp runs a JobCleanUp: it deletes the files with mails, and scrubs the database.
func (s *Service) cleanUp(ctx context.Context, payload []byte) error {
	var j cleanUpJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("forget: %w", err))
	}
	if err := s.cfg.DeleteMails(ctx, j.MessageIDs); err != nil {
		return err
	}
	if j.Address != "" {
		if err := s.cfg.DeleteMailsOf(ctx, j.Address); err != nil {
			return err
		}
	}
	return s.scrub(ctx)
}

// cleanUpTime is the time limit of one run of a JobCleanUp. In a minute, a scrub overwrites some 250 MB, or checks
// 5 GB in which there is nothing to overwrite. A run that was interrupted leaves less to do for the next one.
const cleanUpTime = 15 * time.Minute

// scrub removes the remains of deleted rows from SQLite's files. One scrub serves all jobs that were queued before it began. The pool of
// JobCleanUp has one worker, so no other call runs meanwhile.
func (s *Service) scrub(ctx context.Context) error {
	if jobs.InfoOf(ctx).Created.Before(s.lastScrub) {
		return nil
	}
	begun := s.now()
	if err := s.db.Scrub(ctx); err != nil {
		return err
	}
	s.lastScrub = begun
	return nil
}

// cleanUpAgain calls CleanUpMessages again for a message that was deleted while a notice about it was sent. The first JobCleanUp
// may have run before the mail was written to a file.
func (s *Service) cleanUpAgain(ctx context.Context, messageID string) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error { return s.CleanUpMessages(ctx, tx, messageID) })
}
