package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"golang.org/x/crypto/argon2"

	"atelie/internal/db/dbtest"
)

// writeTables prints the cost of small writes, and of the session check that precedes most requests of an owner. The reference is a Go
// handler in another process that writes the same bytes from memory. The last number of a row is the CPU time of the reference for one
// request, divided by that of the program. For a sign-in, the reference is the CPU time of hashing the password.
func writeTables(ctx context.Context, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, dbtest.Stop()) }()
	for _, engine := range []struct {
		name string
		url  func(context.Context) (string, error) // returns the URL of a new database; "" for SQLite in the data folder
	}{
		{"SQLite", func(context.Context) (string, error) { return "", nil }},
		{"PostgreSQL (without fsync)", dbtest.FreshPostgres},
	} {
		if _, err := fmt.Fprintf(out, "\nSmall writes and session checks on %s, %d clients, median of %d rounds\n", engine.name, clients, rounds); err != nil {
			return err
		}
		url, err := engine.url(ctx)
		if err != nil {
			return err
		}
		if err := writeTable(ctx, out, engine.name, url); err != nil {
			return err
		}
	}
	return nil
}

// writeTable prints the rows of one engine.
func writeTable(ctx context.Context, out io.Writer, engine, databaseURL string) error {
	a, err := newAuthBench(ctx, out, databaseURL)
	if err != nil {
		return err
	}
	a.engine = engine
	defer a.close()
	sessions := make([]tokens, clients)
	for i := range sessions {
		if sessions[i], _, err = a.signIn(ctx); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name, method, path string
		bearer             func(worker int) string
		body               func(worker int) any
		done               func(worker int, answer []byte) error
	}{
		{"own user", http.MethodGet, "/auth/v1/user", func(i int) string { return sessions[i].Access }, func(int) any { return nil }, nil},
		{"refresh", http.MethodPost, "/auth/v1/token?grant_type=refresh_token", func(int) string { return a.public },
			func(i int) any { return map[string]string{"refresh_token": sessions[i].Refresh} },
			func(i int, answer []byte) error { return json.Unmarshal(answer, &sessions[i]) }},
		{"create a work, as owner", http.MethodPost, "/rest/v1/products", func(i int) string { return sessions[i].Access }, func(i int) any { return product(i) }, nil},
		{"create a work, by key", http.MethodPost, "/rest/v1/products", func(int) string { return a.service }, func(i int) any { return product(i) }, nil},
		{"message", http.MethodPost, "/functions/v1/submit-contact", func(int) string { return a.public }, func(int) any {
			return map[string]string{"name": "Rui", "email": "rui@example.com", "message": "How large is the mural on the corner, and may I see it on a weekday?", "reason": "general"}
		}, nil},
	} {
		send := func(ctx context.Context, url string, worker int) ([]byte, error) {
			return a.send(ctx, c.method, url+c.path, c.bearer(worker), c.body(worker), http.StatusCreated)
		}
		sample, err := send(ctx, a.server.url, 0)
		if err == nil && c.done != nil {
			err = c.done(0, sample)
		}
		if err != nil {
			return err
		}
		err = a.compare(ctx, c.name, sample, func(ctx context.Context, worker int) error {
			answer, err := send(ctx, a.server.url, worker)
			if err != nil || c.done == nil {
				return err // a refresh that failed can be retried: it gets the same successor
			}
			return c.done(worker, answer)
		}, func(url string) func(context.Context, int) error {
			return func(ctx context.Context, worker int) error {
				_, err := send(ctx, url, worker)
				return err
			}
		})
		if err != nil {
			return err
		}
	}
	return a.signInRow(ctx)
}

// compare prints the rate and the CPU time of a request to the server (ours) and to a reference that responds with body
// (theirs).
func (a *authBench) compare(ctx context.Context, name string, body []byte, ours func(context.Context, int) error, theirs func(string) func(context.Context, int) error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file := a.dir + "/mirrored"
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return err
	}
	mirror, err := start(ctx, os.Environ(), self, "reference", file)
	if err != nil {
		return err
	}
	var rateA, rateB, cpuA, cpuB []float64
	for range rounds {
		r, c, err := flood(ctx, a.server, ours)
		if err != nil {
			return errors.Join(err, mirror.stop())
		}
		rateA, cpuA = append(rateA, r), append(cpuA, c)
		if r, c, err = flood(ctx, mirror, theirs(mirror.url)); err != nil {
			return errors.Join(err, mirror.stop())
		}
		rateB, cpuB = append(rateB, r), append(cpuB, c)
	}
	record(fmt.Sprintf("%s: %s, CPU of a Go handler", a.engine, name), median(cpuB)/median(cpuA))
	_, err = fmt.Fprintf(a.out, "  %-24s %5d bytes %7.0f/s   reference %7.0f/s   (%.2f)   CPU %5.0f µs a request   reference %4.0f µs   (%.2f)\n",
		name, len(body), median(rateA), median(rateB), median(rateA)/median(rateB), median(cpuA), median(cpuB), median(cpuB)/median(cpuA))
	return errors.Join(err, mirror.stop())
}

// signInRow prints how much CPU time a sign-in takes beside the hash of its password. It alternates between ten sign-ins and ten
// computations of argon2id with the same cost in this process.
func (a *authBench) signInRow(ctx context.Context) error {
	const turns, tries = 12, 10
	if err := waitUntilIdle(ctx, a.server); err != nil { // the mails of the messages are sent in the background
		return err
	}
	var hashes, wholes []float64
	salt := make([]byte, 16)
	for range turns {
		hash, err := spent(ownCPU, func() error {
			for range tries {
				argon2.IDKey([]byte(ownerPassword), salt, 2, 19*1024, 1, 32)
			}
			return nil
		})
		if err != nil {
			return err
		}
		whole, err := spent(a.server.cpu, func() error {
			for range tries {
				if _, _, err := a.signIn(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		hashes, wholes = append(hashes, ms(hash)/tries), append(wholes, ms(whole)/tries)
	}
	hash, whole := median(hashes), median(wholes)
	recordCost(a.engine+": sign-in, CPU of the hash alone", whole/hash)
	_, err := fmt.Fprintf(a.out, "  %-24s CPU %.1f ms a request   argon2id (19 MiB, 2 passes) alone %.1f ms   (%.2f)   median of %d turns of %d\n",
		"sign-in", whole, hash, whole/hash, turns, tries)
	return err
}
