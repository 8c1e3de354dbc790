package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db/dbtest"
)

// nodeClients is the number of clients. It is large enough to keep three nodes (servers of one site) busy.
const nodeClients = 3 * clients

// nodeTable prints how many requests a second are handled by one, two and three nodes on one PostgreSQL database. Each client sends all its
// requests to the same node. All processes share one machine, so nodeTable also prints the CPU time of the nodes and of the database.
func nodeTable(ctx context.Context, out io.Writer) (err error) {
	databaseURL, err := dbtest.FreshPostgres(ctx)
	defer func() { err = errors.Join(err, dbtest.Stop()) }()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "atelie-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const works = 20_000 // in the database
	env := append(os.Environ(), "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_DATABASE_URL="+databaseURL, "ATELIE_JWT_SECRET="+strings.Repeat("nodes-share-this", 3))
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for i := range 3 {
		s, err := start(ctx, append(env, "ATELIE_DATA_DIR="+filepath.Join(dir, strconv.Itoa(i))), binary, "serve")
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	firstEnv := append(env, "ATELIE_DATA_DIR="+filepath.Join(dir, "0"))
	anonKey, serviceKey, err := keysOf(ctx, firstEnv)
	if err != nil {
		return err
	}
	id, err := fillProducts(ctx, servers[0].url, serviceKey, works)
	if err != nil {
		return err
	}
	work, err := json.Marshal(product(works))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "\nNodes on one PostgreSQL (without fsync), %d works, %d clients, median of %d rounds, "+
		"on %d cores that nodes, database and clients share\n  %-20s %5s %12s %7s %9s %9s %34s %18s\n",
		works, nodeClients, rounds, runtime.NumCPU(), "", "nodes", "requests/s", "", "p50 ms", "p99 ms", "CPU us/request: nodes, database", "cores busy: ours, all"); err != nil {
		return err
	}
	reader := http.Header{"Apikey": {anonKey}}
	writer := http.Header{"Apikey": {serviceKey}, "Authorization": {"Bearer " + serviceKey}, "Content-Type": {"application/json"}, "Prefer": {"return=minimal"}}
	for _, c := range []call{
		{"24 newest", http.MethodGet, "/rest/v1/products?select=*&order=created_at.desc&limit=24", "", reader},
		{"one by id", http.MethodGet, "/rest/v1/products?select=*&id=eq." + id, "", reader},
		{"create", http.MethodPost, "/rest/v1/products", string(work), writer},
	} {
		if err := c.nodeRows(ctx, out, servers); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	_, err = fmt.Fprintln(out, "  Where all cores are busy the machine is the limit: more nodes on it only share what it has.")
	return err
}

// nodeRows measures a call with one server, then with two, and so on. It prints a row for each number of servers.
func (c call) nodeRows(ctx context.Context, out io.Writer, servers []*server) error {
	var one float64
	for count := 1; count <= len(servers); count++ {
		var all []measurement
		var database, busy, machine []float64
		for range rounds {
			others := []func() (time.Duration, error){databaseCPU, ownCPU, machineCPU}
			before := make([]time.Duration, len(others))
			for i, clock := range others {
				var err error
				if before[i], err = clock(); err != nil {
					return err
				}
			}
			begin := time.Now()
			m, err := c.measure(ctx, nodeClients, servers[:count]...)
			if err != nil {
				return err
			}
			elapsed := time.Since(begin)
			requests := m.rate * elapsed.Seconds()
			total := time.Duration(float64(m.cpu) * requests)
			for i, clock := range others {
				after, err := clock()
				if err != nil {
					return err
				}
				switch spent := after - before[i]; i {
				case 0:
					database, total = append(database, float64(spent.Microseconds())/requests), total+spent
				case 1:
					total += spent
				case 2:
					machine = append(machine, spent.Seconds()/elapsed.Seconds())
				}
			}
			all, busy = append(all, m), append(busy, total.Seconds()/elapsed.Seconds())
		}
		m := medianOf(all)
		if count == 1 {
			one = m.rate
		}
		if _, err := fmt.Fprintf(out, "  %-20s %5d %12.0f  x%.2f %10.2f %9.2f %25d, %7.0f %10.1f of %.1f\n", c.name, count, m.rate, m.rate/one, ms(m.p50), ms(m.p99), m.cpu.Microseconds(), median(database), median(busy), median(machine)); err != nil {
			return err
		}
	}
	return nil
}

// databaseCPU returns the CPU time of our PostgreSQL server and its sessions, with a resolution of 10 ms each.
func databaseCPU() (total time.Duration, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	found := map[string]cpuTimes{}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no such process") {
			continue // the process has ended
		}
		if err != nil {
			return 0, err
		}
		if !strings.Contains(string(text), "(postgres)") {
			continue
		}
		if found[filepath.Base(filepath.Dir(file))], err = parseStat(string(text)); err != nil {
			return 0, err
		}
	}
	self := strconv.Itoa(os.Getpid())
	for _, p := range found {
		switch {
		case p.parent == self:
			total += p.own + p.childrens // the children are sessions that have ended
		case found[p.parent].parent == self:
			total += p.own
		}
	}
	return total, nil
}

// machineCPU returns the CPU time of all processes of the machine.
func machineCPU() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text)) // cpu user nice system idle iowait irq softirq
	if len(fields) < 8 {
		return 0, errors.New("unreadable /proc stat")
	}
	return ticks([]string{fields[1], fields[2], fields[3], fields[6], fields[7]})
}
