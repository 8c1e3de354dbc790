package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"atelie/internal/db"
	"atelie/internal/jobs"
)

// JobForget is the kind of the job that deletes what remains after messages were deleted: mails about them that were stored as
// files, and copies of their text in SQLite's files. With an address it deletes the mails to and about it too.
const JobForget = "contact.forget"

// forgetJob is the payload of JobForget.
type forgetJob struct {
	MessageIDs []string `json:"message_ids,omitempty"`
	Address    string   `json:"address,omitempty"`
}

// ForgetMessages deletes the jobs about messages and queues a JobForget. The caller deletes the messages in the same
// transaction; the database deletes their notices with them.
func (s *Service) ForgetMessages(ctx context.Context, tx *db.Tx, messageIDs ...string) error {
	if len(messageIDs) == 0 {
		return nil
	}
	for _, id := range messageIDs {
		if err := s.cfg.Queue.Drop(ctx, tx, id); err != nil {
			return err
		}
	}
	return s.cfg.Queue.Enqueue(ctx, tx, JobForget, forgetJob{MessageIDs: messageIDs})
}

// deleteMails runs a JobForget: it deletes mails about the messages that were stored as files, and scrubs the database.
func (s *Service) deleteMails(ctx context.Context, payload []byte) error {
	var j forgetJob
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

// cleanup records the last scrub of this process. A scrub removes from SQLite's files what remains of the rows that were deleted
// before it began, so jobs that were queued before it began need no other scrub.
type cleanup struct {
	mu      sync.Mutex
	scrubAt time.Time // start of the last scrub that succeeded
}

// scrub removes the remains of deleted rows from SQLite's files. It does nothing if a successful scrub has begun since the job
// was queued.
func (s *Service) scrub(ctx context.Context) error {
	s.cleanup.mu.Lock()
	defer s.cleanup.mu.Unlock()
	if jobs.InfoOf(ctx).Created.Before(s.cleanup.scrubAt) {
		return nil
	}
	begun := s.now()
	if err := s.db.Scrub(ctx); err != nil {
		return err
	}
	s.cleanup.scrubAt = begun
	return nil
}

// cleanUpDeleted calls ForgetMessages again for a message that was deleted while a notice about it was sent: the first
// JobForget may have run before the mail became a file.
func (s *Service) cleanUpDeleted(ctx context.Context, messageID string) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error { return s.ForgetMessages(ctx, tx, messageID) })
}
