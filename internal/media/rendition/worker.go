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
	"regexp"
	"strings"
	"syscall"
	"time"

	"atelie/internal/apperr"
)

// This file contains both sides of a worker: a process that makes the renditions of one picture. The server starts the process with runTask,
// and the process runs Work. The server writes a task to the standard input of the process. The process writes a response to its standard
// output. Both are JSON.

// Command is the program's hidden command that runs a worker.
const Command = "picture-worker"

// task is what the server sends to a worker, as the first line of its input. The limits in Memory and CPU also apply to each program that
// the worker starts.
type task struct {
	// estimatedMemory is in bytes. It is not sent, because only the server uses it: for the worker's GOMEMLIMIT (Go's soft memory limit).
	estimatedMemory int64

	Job    Job    `json:"job"`
	Limits Limits `json:"limits"`
	Memory int64  `json:"memory"`         // limit of the data segment in bytes
	Vips   string `json:"vips,omitempty"` // path of libvips' command vips; "" for the program's own engine

	CPU time.Duration `json:"cpu"` // limit of processor time
	// IdleTime is how long libvips uses only idle processors (SCHED_IDLE) for a job that is not urgent.
	IdleTime time.Duration `json:"idleTime,omitempty"`
}

// response is what a worker sends to the server: a result, or an error if Error is not nil.
type response struct {
	Result       Result     `json:"result,omitzero"`
	Error        *errorJSON `json:"error,omitempty"`
	EngineFailed bool       `json:"engine,omitempty"` // libvips failed, but not because of the file: the own engine may succeed
}

// errorJSON is an apperr.Error in JSON.
type errorJSON struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Cause   string `json:"cause,omitempty"`
}

// Limits of a worker's output in bytes.
const (
	maxResponseBytes = 16 << 20 // a result has about 200 bytes per rendition
	maxStderrBytes   = 64 << 10
)

// runTask runs a task in a worker process, and returns when the process has ended. The files of the result are then in the task's
// folder. All other files that the worker wrote are removed.
func (s *Processor) runTask(ctx context.Context, t task) (_ Result, ended *os.ProcessState, err error) {
	folder := t.Job.Folder
	t.Job.Folder, err = os.MkdirTemp(folder, "work-")
	if err != nil {
		return Result{}, nil, err
	}
	defer func() {
		if e := os.RemoveAll(t.Job.Folder); e != nil && err == nil {
			err = e
		}
	}()
	line, err := json.Marshal(t)
	if err != nil {
		return Result{}, nil, err
	}
	resp, ended, err := s.runWorker(ctx, append(line, '\n'), t)
	if err != nil {
		return Result{}, ended, err
	}
	if resp.Error != nil {
		err := error(apperr.New(resp.Error.Status, resp.Error.Code, resp.Error.Message).Because(errors.New(resp.Error.Cause)))
		if resp.EngineFailed {
			err = engineError{err}
		}
		return Result{}, ended, err
	}
	for i := range resp.Result.Made {
		m := &resp.Result.Made[i]
		name := filepath.Base(m.File)
		to := filepath.Join(folder, strings.TrimPrefix(filepath.Base(t.Job.Folder), "work-")+"-"+name)
		if err := os.Rename(filepath.Join(t.Job.Folder, name), to); err != nil {
			return Result{}, ended, err
		}
		m.File = to
	}
	return resp.Result, ended, nil
}

// engineError is a failure of libvips whose cause is not the file: the own engine may succeed.
type engineError struct{ error }

func (e engineError) Unwrap() error { return e.error }

// runWorker runs a worker, sends it line, the task as JSON, and reads its response. It keeps the worker's input open. When this
// process dies, the input closes and the worker ends itself.
func (s *Processor) runWorker(ctx context.Context, line []byte, t task) (response, *os.ProcessState, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, ErrTooSlow)
	defer cancel()
	c := exec.CommandContext(limited, s.cfg.Program[0], s.cfg.Program[1:]...)
	c.Dir = t.Job.Folder
	// The worker reads untrusted files, so it must not get the server's environment, which has secrets.
	c.Env = []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", t.estimatedMemory*9/10>>20), fmt.Sprintf("GOMAXPROCS=%d", halfProcessors()), "TMPDIR=" + t.Job.Folder, "HOME=" + t.Job.Folder, "LC_ALL=C"}
	stdout, stderr := boundedBuffer{limit: maxResponseBytes}, boundedBuffer{limit: maxStderrBytes}
	c.Stdout, c.Stderr = &stdout, &stderr
	lifeline, err := c.StdinPipe()
	if err != nil {
		return response{}, nil, err
	}
	leadNewGroup(c)
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		if cause := context.Cause(limited); cause != nil { // ctx ended or the timeout was over before the process began
			err = cause
		}
		return response{}, nil, fmt.Errorf("picture worker: %w", err)
	}
	leave := func() {}
	if !t.Job.Urgent {
		leave = s.pool.pauser.add(func() { suspendGroup(c) }, func() { resumeGroup(c) })
	}
	_, writeErr := lifeline.Write(line)
	err = c.Wait()
	leave()
	killGroup(c) // ends programs for which the worker has not waited
	if stderr.Len() > 0 {
		s.cfg.Log.DebugContext(ctx, "picture worker", "said", stderr.String())
	}
	switch {
	case ctx.Err() != nil:
		return response{}, c.ProcessState, context.Cause(ctx)
	case limited.Err() != nil:
		return response{}, c.ProcessState, ErrTooSlow.Becausef("killed after %s", s.cfg.Timeout)
	}
	var resp response
	if parseErr := json.Unmarshal(stdout.Bytes(), &resp); err == nil && parseErr == nil {
		return resp, c.ProcessState, nil
	} else {
		err = errors.Join(err, writeErr, parseErr, errors.New(shorten(stderr.String())))
	}
	// The kernel enforces the limit of processor time by counting ticks. On a busy machine the ticks add up to much more than the
	// time that it reports.
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime() // also of the programs that the worker started
	if cpu > s.cfg.CPU*9/10 || status.Signal() == syscall.SIGKILL && cpu > s.cfg.CPU/2 {
		return response{}, c.ProcessState, ErrTooSlow.Because(err)
	}
	if outOfMemory.MatchString(stderr.String()) {
		return response{}, c.ProcessState, ErrTooCostly.Because(err)
	}
	s.cfg.Log.WarnContext(ctx, "a picture worker ended without a response; its picture is refused as damaged", "cause", err)
	return response{}, c.ProcessState, ErrUnreadable.Because(err)
}

// outOfMemory matches the messages of Go's runtime and of C programs about a lack of memory.
var outOfMemory = regexp.MustCompile("(?i)out of memory|cannot allocate memory|memory allocation failed|unable to allocate|" +
	"pthread_create failed|failed to create new os thread")

// shorten returns the beginning of a program's output, for a log line. A Go program writes the reason of a crash there.
func shorten(text string) string { return text[:min(len(text), 2000)] }

// boundedBuffer is a buffer that keeps the first limit bytes and drops the rest.
type boundedBuffer struct {
	bytes.Buffer

	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// Work is the main function of a worker process. It reads a task from in, runs it, and writes the response to out and its log to
// stderr. It lowers the limits and the priority of the process. If in closes, the server has died, and Work kills the process.
func Work(ctx context.Context, in io.Reader, out, stderr io.Writer) error {
	decoder := json.NewDecoder(in)
	var t task
	if err := decoder.Decode(&t); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	keepFilesPrivate()
	if err := confine(t.Memory, t.CPU, t.Job.Urgent); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		var rest json.RawMessage
		if err := decoder.Decode(&rest); err != nil { // also io.EOF
			cancel()
			killOwnGroup()
		}
	}()
	log := slog.New(slog.NewTextHandler(stderr, nil))
	var resp response
	err := checkScans(t.Job.Source)
	if err == nil {
		resp.Result, err = t.make(ctx)
	}
	if err != nil {
		_, resp.EngineFailed = errors.AsType[engineError](err)
		e := apperr.From(err)
		log.Info("refused", "code", e.Code, "cause", err)
		resp.Error = &errorJSON{Status: e.Status, Code: e.Code, Message: e.Message}
		if e.Cause != nil {
			resp.Error.Cause = e.Cause.Error()
		}
	}
	return json.NewEncoder(out).Encode(resp)
}

// make runs the job with the engine of the task. Libvips starts a process for each step, so an urgent job is left to the own engine
// where that is quicker. If that fails, libvips decides, which reads more files.
func (t task) make(ctx context.Context) (Result, error) {
	if t.Vips == "" {
		return Make(ctx, t.Job, t.Limits)
	}
	if t.Job.Urgent {
		if result, err := makeOwn(ctx, t.Job, t.Limits, true); err == nil || ctx.Err() != nil {
			return result, err
		}
	}
	return makeWithVips(ctx, t.Vips, t.IdleTime, t.Job, t.Limits)
}
