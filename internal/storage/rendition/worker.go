package rendition

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"atelie/internal/apperr"
)

// Command is the hidden command of the program that does one job and ends.
const Command = "picture-worker"

// task is what a worker is told on its first line. Memory bounds its data segment in bytes, CPU its processor time, each
// also for every program that it starts; expected is what the job should take, which Go's collector keeps to.
type task struct {
	expected int64

	Job    Job    `json:"job"`
	Limits Limits `json:"limits"`
	Memory int64  `json:"memory"`
	Vips   string `json:"vips,omitempty"`

	CPU time.Duration `json:"cpu"`
}

// answer is what a worker writes before it ends: a result or a refusal. Engine marks a failure that is libvips' own
// and says nothing of the file.
type answer struct {
	Result Result   `json:"result,omitzero"`
	Error  *refusal `json:"error,omitempty"`
	Engine bool     `json:"engine,omitempty"`
}

// refusal carries an apperr.Error from one process to the other.
type refusal struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Cause   string `json:"cause,omitempty"`
}

// usage is what a worker and the programs it started have taken together: processor time, and the largest resident
// set of any of them in bytes (Linux counts from before the program was started, when it was a copy of this one: no less
// than this process had). Zero where the system does not tell.
type usage struct {
	cpu  time.Duration
	peak int64
}

const (
	answerLimit = 16 << 20 // a result has some 200 bytes a rendition
	stderrLimit = 64 << 10
)

// work has one task done by a process of its own, which is dead when work returns. The files of the result lie in the
// task's folder, nothing else does.
func (s *Studio) work(ctx context.Context, t task) (_ Result, used usage, err error) {
	folder := t.Job.Folder
	t.Job.Folder, err = os.MkdirTemp(folder, "work-")
	if err != nil {
		return Result{}, used, err
	}
	defer func() {
		if e := os.RemoveAll(t.Job.Folder); e != nil && err == nil {
			err = e
		}
	}()
	order, err := json.Marshal(t)
	if err != nil {
		return Result{}, used, err
	}
	a, used, err := s.start(ctx, append(order, '\n'), t.expected, t.Job.Folder)
	if err != nil {
		return Result{}, used, err
	}
	if a.Error != nil {
		err := error(apperr.New(a.Error.Status, a.Error.Code, a.Error.Message).Because(errors.New(a.Error.Cause)))
		if a.Engine {
			err = engineError{err}
		}
		return Result{}, used, err
	}
	for i := range a.Result.Made {
		m := &a.Result.Made[i]
		name := filepath.Base(m.File)
		to := filepath.Join(folder, strings.TrimPrefix(filepath.Base(t.Job.Folder), "work-")+"-"+name)
		if err := os.Rename(filepath.Join(t.Job.Folder, name), to); err != nil {
			return Result{}, used, err
		}
		m.File = to
	}
	return a.Result, used, nil
}

// engineError is a failure of libvips that the own engine may not have.
type engineError struct{ error }

func (e engineError) Unwrap() error { return e.error }

// start runs a worker and reads what it says. Its standard input stays open as long as this process lives: the worker
// ends itself when it closes.
func (s *Studio) start(ctx context.Context, order []byte, expected int64, folder string) (answer, usage, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, ErrTooSlow)
	defer cancel()
	c := exec.CommandContext(limited, s.cfg.Program[0], s.cfg.Program[1:]...)
	c.Dir = folder
	// Nothing of the server's own environment: it has secrets, and the worker reads what strangers sent.
	c.Env = []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", expected*9/10>>20), fmt.Sprintf("GOMAXPROCS=%d", defaultWorkers()), "TMPDIR=" + folder, "HOME=" + folder, "LC_ALL=C"}
	var stdout, stderr bounded
	stdout.limit, stderr.limit = answerLimit, stderrLimit
	c.Stdout, c.Stderr = &stdout, &stderr
	lifeline, err := c.StdinPipe()
	if err != nil {
		return answer{}, usage{}, err
	}
	ownGroup(c)
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		return answer{}, usage{}, fmt.Errorf("picture worker: %w", err)
	}
	_, wrote := lifeline.Write(order)
	err = c.Wait()
	endGroup(c) // what the worker started and has not waited for
	used := usageOf(c.ProcessState)
	if stderr.Len() > 0 {
		s.cfg.Log.DebugContext(ctx, "picture worker", "said", stderr.String())
	}
	switch {
	case ctx.Err() != nil:
		return answer{}, used, context.Cause(ctx)
	case limited.Err() != nil:
		return answer{}, used, ErrTooSlow.Becausef("killed after %s", s.cfg.Timeout)
	}
	var a answer
	if broken := json.Unmarshal(stdout.Bytes(), &a); err == nil && broken == nil {
		return a, used, nil
	} else {
		err = errors.Join(err, wrote, broken, errors.New(tail(stderr.String())))
	}
	if used.cpu > s.cfg.CPU*9/10 { // the system counts a little otherwise than it tells
		return answer{}, used, ErrTooSlow.Because(err)
	}
	if outOfMemory(stderr.String()) {
		return answer{}, used, ErrTooCostly.Because(err)
	}
	s.cfg.Log.WarnContext(ctx, "picture worker ended without an answer", "cause", err)
	return answer{}, used, ErrUnreadable.Because(err)
}

// outOfMemory knows how Go's runtime and the C programs say so.
func outOfMemory(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range []string{"out of memory", "cannot allocate memory", "memory allocation failed", "unable to allocate", "pthread_create failed", "failed to create new os thread"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// tail is the part of a text that a log line has room for: a Go program says first why it dies.
func tail(text string) string { return text[:min(len(text), 2000)] }

// bounded keeps the first bytes written to it and lets the rest go.
type bounded struct {
	bytes.Buffer

	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// Work is the worker's side: it reads a task, does it in this process and writes the answer. It is for a process that
// does nothing else: it lowers its own limits and its priority, and ends it when in closes, which is when the server
// has died. stderr is the log's.
func Work(ctx context.Context, in io.Reader, out, stderr io.Writer) error {
	decoder := json.NewDecoder(in)
	var t task
	if err := decoder.Decode(&t); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	if err := confine(t.Memory, t.CPU); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		var rest json.RawMessage
		if err := decoder.Decode(&rest); err != nil { // also io.EOF
			cancel()
			endOwnGroup()
		}
	}()
	log := slog.New(slog.NewTextHandler(stderr, nil))
	var (
		a   answer
		err error
	)
	switch err = checkScans(t.Job.Source); {
	case err != nil:
	case t.Vips != "":
		a.Result, err = makeWithVips(ctx, t.Vips, t.Job, t.Limits)
	default:
		a.Result, err = Make(ctx, t.Job, t.Limits)
	}
	if err != nil {
		var engine engineError
		a.Engine = errors.As(err, &engine)
		e := apperr.From(err)
		log.Info("refused", "code", e.Code, "cause", err)
		a.Error = &refusal{Status: e.Status, Code: e.Code, Message: e.Message}
		if e.Cause != nil {
			a.Error.Cause = e.Cause.Error()
		}
	}
	return json.NewEncoder(out).Encode(a)
}
