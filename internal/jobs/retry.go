package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// This file decides whether and when a job that has failed is retried.

// backoff contains the waits between the tries of a job. The first one is the wait before the second try. When the try after the last wait
// fails, the job has failed permanently.
var backoff = [...]time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
}

// maxBackoff is the longest wait between two tries. If a job is due in more than maxBackoff + db.ClockSkew, the node (server) that queued
// it had a wrong clock. The job then runs immediately.
var maxBackoff = backoff[len(backoff)-1]

// maxTries is the maximum number of tries of a job.
const maxTries = len(backoff) + 1

// immediateTries is how many of a job's first tries are repeated without a wait, if they were interrupted because the program stopped. A
// job that was interrupted in a later try waits as after a failure.
const immediateTries = 2

// permanentError is the type of the errors that Permanent returns.
type permanentError struct{ cause error }

func (e *permanentError) Error() string { return e.cause.Error() }

func (e *permanentError) Unwrap() error { return e.cause }

// Permanent marks an error as permanent: another try would only repeat it. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err is marked by Permanent.
func IsPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

// recordFailure records that a try of a job has failed. Another try follows after a wait, unless the error is Permanent or this was the
// last try.
func (q *Queue) recordFailure(ctx context.Context, log *slog.Logger, j job, cause error) error {
	if IsPermanent(cause) || j.tries >= maxTries {
		log.Error("job failed permanently", "cause", cause.Error())
		return failJob(ctx, q.db, j, errorText(cause), q.now())
	}
	wait := backoff[j.tries-1]
	log.Warn("job failed, another try follows", "in", wait.String(), "cause", cause.Error())
	err := retryJob(ctx, q.db, j, errorText(cause), q.now().Add(wait))
	if wait < q.poll { // if the wait is longer, the regular read of the queue finds the job
		time.AfterFunc(wait, func() { q.wake(j.kind) })
	}
	return err
}

const maxErrorText = 500 // bytes

// errorText returns the text of an error for the last_error column of the jobs table: at most maxErrorText bytes, without NUL
// and invalid UTF-8, because PostgreSQL rejects these.
func errorText(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	if len(text) <= maxErrorText {
		return text
	}
	cut := maxErrorText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
