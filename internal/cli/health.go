package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"atelie/internal/config"
)

type healthCommand struct{}

// Run asks the running server with the same settings. It is the health check of images that hold nothing but the program.
func (c *healthCommand) Run(env *environment) error {
	address, err := healthAddress(&env.cfg.Server)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(env.ctx, 4*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health/ready", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{}} // no proxy: it is this machine
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("health: the server is not ready: it answered %s", answer.Status)
	}
	return env.printf("ready\n")
}

// healthAddress is where the server answers without encryption, as seen from the machine itself.
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
		host = "127.0.0.1" // an image need not know localhost
	}
	return net.JoinHostPort(host, port), nil
}
