package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"atelie/internal/config"
)

// healthTimeout limits the whole check. It is longer than the server's own limit for /health/ready (2 s), and shorter than the limit of
// the health check in deploy/Dockerfile (5 s).
const healthTimeout = 4 * time.Second

// healthCommand is the command atelie health. It checks whether the server on this machine is ready.
type healthCommand struct{}

// Run requests /health/ready from the server that has the same settings, and fails if the server is not ready. The container image uses this
// command as its health check, so that it needs no other program such as curl.
func (c *healthCommand) Run(env *environment) error {
	address, err := healthAddress(&env.cfg.Server)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(env.ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health/ready", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{}} // unlike http.DefaultClient, it ignores HTTP_PROXY
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	var health struct {
		Status string `json:"status"`
		Disk   string `json:"disk"`
	}
	decodeErr := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&health)
	if err := response.Body.Close(); err != nil {
		return err
	}
	if decodeErr != nil || health.Status == "" { // the response is not from this program, but for example from a proxy
		health.Status = "it answered " + response.Status
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health: the server is not ready: %s", health.Status)
	}
	if health.Disk != "" {
		return env.printf("ready, but the disk has little free space\n")
	}
	return env.printf("ready\n")
}

// healthAddress returns the address (host:port) at which the server accepts unencrypted requests from this machine.
func healthAddress(s *config.Server) (string, error) {
	address := s.Listen
	if len(s.Domain) > 0 {
		address = s.ListenHTTP
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "127.0.0.1" // an image may lack the name localhost
	}
	return net.JoinHostPort(host, port), nil
}
