package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/jobs"
)

// This file completes the deletion of messages, and of the data about an e-mail address, with a job. The job deletes what a transaction
// cannot delete: mails that were written to files, and the remains of deleted rows in SQLite's files.

// JobCleanUp is the kind of that job. Its value, a former name of the kind, must not change, because stored jobs have it.
const JobCleanUp = "contact.forget"

// cleanUpJob is the payload of JobCleanUp.
type cleanUpJob struct {
	MessageIDs []string `json:"message_ids,omitempty"` // the deleted messages
	Address    string   `json:"address,omitempty"`     // an erased e-mail address; the job deletes the mails to it and about it. "" for none
}

// CleanUpMessages deletes the jobs about messages and queues a JobCleanUp. The caller deletes the messages themselves in the same
// transaction. A foreign key then makes the database delete the notices about these messages.
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

// cleanUp runs a JobCleanUp. It deletes the files with mails, and scrubs the database (see scrub).
func (s *Service) cleanUp(ctx context.Context, payload []byte) error {
	var j cleanUpJob
	if err := json.Unmarshal(payload, &j); err != nil {
		return jobs.Permanent(fmt.Errorf("clean up messages: %w", err))
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

// cleanUpTimeout is the time limit of one run of a JobCleanUp. In a minute, a scrub overwrites some 250 MB, or checks
// 5 GB in which there is nothing to overwrite. After an interrupted run, the next one has less to do.
const cleanUpTimeout = 15 * time.Minute

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

// cleanUpAfterNotice is called for a notice that was deleted while it was sent: with its message, or because everything about its recipient's
// address was erased. In the second case the message and its other jobs remain. The first JobCleanUp may have run before the mail was
// written to a file, so another one is queued.
func (s *Service) cleanUpAfterNotice(ctx context.Context, n notice, messageID string) error {
	if deleted, err := s.cleanUpIfDeleted(ctx, messageID); err != nil || deleted || n.Channel == channelWebhook {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return s.cfg.Queue.Enqueue(ctx, tx, JobCleanUp, cleanUpJob{Address: strings.ToLower(n.Recipient)})
	})
}

// cleanUpIfDeleted calls CleanUpMessages again for a message that was deleted while a notice about it was sent. The first JobCleanUp may
// have run before the mail was written to a file. It does nothing, and deleted is false, if the message exists.
func (s *Service) cleanUpIfDeleted(ctx context.Context, messageID string) (deleted bool, err error) {
	exists, err := hasMessage(ctx, s.db, messageID)
	if err != nil || exists {
		return false, err
	}
	return true, s.db.WithTx(ctx, func(tx *db.Tx) error { return s.CleanUpMessages(ctx, tx, messageID) })
}
