// Command mailserver runs a mail server with STARTTLS and a login for the TypeScript tests. It prints a line of JSON with its address and
// the file of its certificate, and then a line for each mail that it has accepted. A line such as "451 Try later" on standard input sets
// its reply to the next recipient; the program confirms that with a line of JSON. It stops at the end of the input.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"atelie/internal/mail/mailtest"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// greeting is the first line of the output.
type greeting struct {
	URL          string `json:"url"`          // smtp URL with user and password
	Certificates string `json:"certificates"` // path of the certificate's file (PEM)
}

// confirmation says that the reply to the next recipient is set.
type confirmation struct {
	Answer string `json:"answer"` // the line of the input
}

// message is a mail that the server has accepted.
type message struct {
	From    string              `json:"from"`
	To      string              `json:"to"`
	Subject string              `json:"subject"`
	Text    string              `json:"text"`
	HTML    string              `json:"html"`
	Headers map[string][]string `json:"headers"`
}

// serve runs the server until the end of the input.
func serve() (err error) {
	cert, inPEM, err := mailtest.Certificate("127.0.0.1")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "atelie-mailserver-*.pem")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(inPEM)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	var mu sync.Mutex
	print := func(v any) {
		mu.Lock()
		defer mu.Unlock()
		if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	server, err := mailtest.Start(mailtest.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, OnReceive: func(r mailtest.Received) {
		m, err := mailtest.Open(r.Data)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		print(message{From: r.From, To: r.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML, Headers: m.Header})
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	address := url.URL{Scheme: "smtp", User: url.UserPassword(mailtest.User, mailtest.Password), Host: server.Address()}
	print(greeting{URL: address.String(), Certificates: file.Name()})

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		number, text, _ := strings.Cut(lines.Text(), " ")
		code, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		server.Answer(mailtest.Refusal(code, text))
		print(confirmation{lines.Text()})
	}
	return lines.Err()
}
