package hostile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// request is a request that is sent byte for byte, because the client of net/http refuses to send many of them.
type request struct {
	method, target string
	headers        [][2]string
	body           []byte
	framing        framing
	caller         string // whose key it has
	visit          *visit // what a request for a private link asks for, if it is well-formed
}

// framing is how the request marks the end of its body.
type framing int

const (
	exact   framing = iota // Content-Length
	chunked                // Transfer-Encoding: chunked, in pieces
	short                  // Content-Length is too large, and the client closes the connection
	long                   // Content-Length is too small
	both                   // Content-Length and Transfer-Encoding
	broken                 // invalid chunk sizes
)

func (r *request) header(name, value string) {
	r.headers = append(r.headers, [2]string{name, value})
}

// wire returns the bytes that are sent.
func (r *request) wire() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: site.example\r\n", r.method, r.target)
	for _, h := range r.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	length := len(r.body)
	switch r.framing {
	case exact:
		if length > 0 {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
		}
	case short:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length+10)
	case long:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length/2)
	case both:
		fmt.Fprintf(&b, "Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", length)
	case chunked, broken:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("\r\n")
	switch r.framing {
	case chunked, both:
		for part := range slices.Chunk(r.body, max(1, length/3)) {
			fmt.Fprintf(&b, "%x;extension=1\r\n%s\r\n", len(part), part)
		}
		b.WriteString("0\r\n\r\n")
	case broken:
		fmt.Fprintf(&b, "%x\r\n%sxyz\r\n\r\n", length, r.body)
	default:
		b.Write(r.body)
	}
	return b.Bytes()
}

// String returns the request for a failure, shortened.
func (r *request) String() string {
	wire := r.wire()
	if len(wire) > 1500 {
		wire = append(wire[:1500:1500], "…"...)
	}
	return fmt.Sprintf("as %s: %q", r.caller, wire)
}

// response is an HTTP response with its body.
type response struct {
	status int
	header http.Header
	body   []byte
}

// client uses one connection, and opens another when the server has closed it.
type client struct {
	address string
	conn    net.Conn
	reader  *bufio.Reader
}

// maxWait is how long a client waits for a response.
const maxWait = time.Minute

// send returns nil without an error if the server closed the connection without a response, as it may after an incomplete request.
func (c *client) send(r *request) (*response, error) {
	wire := r.wire()
	for attempt := 0; ; attempt++ {
		fresh := c.conn == nil
		if fresh {
			conn, err := net.Dial("tcp", c.address)
			if err != nil {
				return nil, err
			}
			c.conn, c.reader = conn, bufio.NewReader(conn)
		}
		a, err := c.exchange(r, wire)
		if err != nil || r.framing != exact || strings.EqualFold(a.header.Get("Connection"), "close") {
			c.close()
		}
		if err == nil {
			return a, nil
		}
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil, fmt.Errorf("no answer within %s", maxWait)
		}
		if !fresh && attempt == 0 {
			continue // the server had closed the idle connection
		}
		if r.framing == exact || r.framing == chunked {
			return nil, fmt.Errorf("connection closed without an answer: %w", err)
		}
		return nil, nil
	}
}

func (c *client) exchange(r *request, wire []byte) (*response, error) {
	if err := c.conn.SetDeadline(time.Now().Add(maxWait)); err != nil {
		return nil, err
	}
	// The server may respond and close before it has read everything; the response counts.
	_, sent := c.conn.Write(wire)
	if tcp, ok := c.conn.(*net.TCPConn); ok && r.framing != exact && r.framing != chunked {
		_ = tcp.CloseWrite()
	}
	for {
		res, err := http.ReadResponse(c.reader, &http.Request{Method: r.method})
		if err != nil {
			if sent != nil {
				return nil, sent
			}
			return nil, err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
		if res.StatusCode >= 200 { // past 100 Continue
			return &response{res.StatusCode, res.Header, body}, nil
		}
	}
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}
