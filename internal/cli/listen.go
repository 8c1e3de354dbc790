package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens a listener on a TCP address (host:port). The operator reads the texts of its errors, so these say what to do.
func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port (%w)", address, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: not allowed; ports below 1024 need the right CAP_NET_BIND_SERVICE, as in deploy/atelie.service (%w)", address, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: this machine has no such address (%w)", address, err)
	case err != nil:
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}
