package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/crypto/argon2"

	"atelie/internal/db/dbtest"
)

// writeCostTables prints the cost of small writes, and of the session check that precedes most requests of an owner. It compares the program
// with a reference: a Go handler in another process that writes the same bytes from memory. The last number of a row is the CPU time of the
// reference for one request divided by the CPU time of the program, so a larger number is better. Only sign-ins have another row, which
// signInRow prints.
func writeCostTables(ctx context.Context, out io.Writer) (err error) {
	defer func() { err = errors.Join(err, dbtest.Stop()) }() // ends the PostgreSQL server that FreshPostgres starts
	for _, engine := range engines {
		if _, err := fmt.Fprintf(out, "\nSmall writes and session checks on %s, %d clients, median of %d rounds\n", engine.name, clients, rounds); err != nil {
			return err
		}
		databaseURL, err := engine.url(ctx)
		if err != nil {
			return err
		}
		if err := writeCostRows(ctx, out, engine.name, databaseURL); err != nil {
			return err
		}
	}
	return nil
}

// writeCostRows prints the rows of one engine. databaseURL is "" for SQLite in the data folder.
func writeCostRows(ctx context.Context, out io.Writer, engine, databaseURL string) error {
	site, err := newBenchSite(ctx, out, databaseURL)
	if err != nil {
		return err
	}
	site.engine = engine
	defer site.close()
	sessions := make([]tokens, clients)
	for i := range sessions {
		if sessions[i], _, err = site.signIn(ctx); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name, method, path string
		bearer             func(clientID int) string                 // returns the token of the Authorization header
		body               func(clientID int) any                    // returns the body, which is sent as JSON
		onResponse         func(clientID int, response []byte) error // called with each response of the program; nil: nothing to do
	}{
		{"own user", http.MethodGet, "/auth/v1/user", func(i int) string { return sessions[i].Access },
			func(int) any { return nil }, nil},
		{"refresh", http.MethodPost, "/auth/v1/token?grant_type=refresh_token", func(int) string { return site.anonKey },
			func(i int) any { return map[string]string{"refresh_token": sessions[i].Refresh} },
			func(i int, response []byte) error { return json.Unmarshal(response, &sessions[i]) }},
		{"create a work, as owner", http.MethodPost, "/rest/v1/products", func(i int) string { return sessions[i].Access },
			func(i int) any { return product(i) }, nil},
		{"create a work, by key", http.MethodPost, "/rest/v1/products", func(int) string { return site.serviceKey },
			func(i int) any { return product(i) }, nil},
		{"message", http.MethodPost, "/functions/v1/submit-contact", func(int) string { return site.anonKey }, func(int) any {
			return map[string]string{"name": "Rui", "email": "rui@example.com", "message": "How large is the mural on the corner, and may I see it on a weekday?", "reason": "general"}
		}, nil},
	} {
		send := func(ctx context.Context, url string, clientID int) ([]byte, error) {
			return site.send(ctx, c.method, url+c.path, c.bearer(clientID), c.body(clientID), http.StatusCreated)
		}
		sample, err := send(ctx, site.server.url, 0) // the bytes that the reference will write
		if err == nil && c.onResponse != nil {
			err = c.onResponse(0, sample)
		}
		if err != nil {
			return err
		}
		err = site.compare(ctx, c.name, sample, func(ctx context.Context, clientID int) error {
			response, err := send(ctx, site.server.url, clientID)
			if err != nil || c.onResponse == nil {
				return err // a refresh that failed can be retried: it gets the same successor
			}
			return c.onResponse(clientID, response)
		}, func(url string) func(context.Context, int) error {
			return func(ctx context.Context, clientID int) error {
				_, err := send(ctx, url, clientID)
				return err
			}
		})
		if err != nil {
			return err
		}
	}
	return site.signInRow(ctx)
}

// compare measures a request to the site and to a reference that responds with body, and prints the rates and the CPU times of both.
// sendToSite sends the request to the site. sendTo returns a function that sends it to the server at a URL.
func (b *benchSite) compare(ctx context.Context, name string, body []byte, sendToSite func(context.Context, int) error, sendTo func(string) func(context.Context, int) error) error {
	reference, err := startReference(ctx, body)
	if err != nil {
		return err
	}
	var siteRates, referenceRates, siteCPUs, referenceCPUs []float64
	for range rounds {
		rate, cpu, err := flood(ctx, b.server, sendToSite)
		if err != nil {
			return errors.Join(err, reference.stop())
		}
		siteRates, siteCPUs = append(siteRates, rate), append(siteCPUs, cpu)
		if rate, cpu, err = flood(ctx, reference, sendTo(reference.url)); err != nil {
			return errors.Join(err, reference.stop())
		}
		referenceRates, referenceCPUs = append(referenceRates, rate), append(referenceCPUs, cpu)
	}
	record(fmt.Sprintf("%s: %s, CPU of a Go handler", b.engine, name), median(referenceCPUs)/median(siteCPUs))
	_, err = fmt.Fprintf(b.out, "  %-24s %5d bytes %7.0f/s   reference %7.0f/s   (%.2f)   CPU %5.0f µs a request   reference %4.0f µs   (%.2f)\n",
		name, len(body), median(siteRates), median(referenceRates), median(siteRates)/median(referenceRates), median(siteCPUs), median(referenceCPUs), median(referenceCPUs)/median(siteCPUs))
	return errors.Join(err, reference.stop())
}

// signInRow prints the CPU time of a sign-in divided by the CPU time of hashing its password, so here a smaller number is better. It
// alternates between ten sign-ins and ten computations of argon2id with the same cost in this process.
func (b *benchSite) signInRow(ctx context.Context) error {
	const turns, tries = 12, 10
	if err := waitUntilIdle(ctx, b.server); err != nil { // the mails of the messages are sent in the background
		return err
	}
	var hashCPUs, signInCPUs []float64
	salt := make([]byte, 16)
	for range turns {
		hashCPU, err := spent(ownCPU, func() error {
			for range tries {
				argon2.IDKey([]byte(ownerPassword), salt, 2 /* passes */, 19*1024 /* KiB */, 1 /* thread */, 32 /* bytes */)
			}
			return nil
		})
		if err != nil {
			return err
		}
		signInCPU, err := spent(b.server.cpu, func() error {
			for range tries {
				if _, _, err := b.signIn(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		hashCPUs, signInCPUs = append(hashCPUs, ms(hashCPU)/tries), append(signInCPUs, ms(signInCPU)/tries)
	}
	hashCPU, signInCPU := median(hashCPUs), median(signInCPUs)
	recordCost(b.engine+": sign-in, CPU of the hash alone", signInCPU/hashCPU)
	_, err := fmt.Fprintf(b.out, "  %-24s CPU %.1f ms a request   argon2id (19 MiB, 2 passes) alone %.1f ms   (%.2f)   median of %d turns of %d\n",
		"sign-in", signInCPU, hashCPU, signInCPU/hashCPU, turns, tries)
	return err
}
