// Package s3client creates clients for S3 servers, on which files and backups can be stored.
package s3client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// StatusOf returns the HTTP status of the server's response to a request that has failed, or 0 if there was no response.
func StatusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// CodeOf returns the error code in the server's response to a request that has failed, or "".
func CodeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// Config says which server, bucket and credentials a client uses.
type Config struct {
	Endpoint, Region string // Endpoint is http(s)://host[:port]
	KeyID, Secret    string // the access key
	Bucket, Prefix   string // Prefix begins the name of every object; it is empty or ends in a slash
	PathStyle        bool   // the bucket's name is in the path of requests, not in the host name
	Create           bool   // a missing bucket may be created; New ignores this field, and its caller creates the bucket
}

// Limits of the requests.
const (
	dialTimeout   = 5 * time.Second  // timeout for opening a connection
	headerTimeout = 30 * time.Second // maximum time from the end of a request to the headers of its response
	maxRetryWait  = time.Second      // maximum wait between two attempts of a request
	keepAlive     = 30 * time.Second // interval of TCP keep-alive probes
	maxIdleConns  = 32               // maximum number of idle connections to a server
)

// Dial is a function that opens connections, such as the method DialContext of net.Dialer.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// New returns a client for the server. It sends no request, so it does not check whether the bucket exists.
func New(cfg Config) *s3.Client {
	return NewOver(cfg, (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext)
}

// NewOver returns a client that opens its connections with dial, for tests with a server in the same process.
func NewOver(cfg Config, dial Dial) *s3.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return stallTimeoutConn{conn}, nil
	}
	transport.ResponseHeaderTimeout = headerTimeout
	transport.MaxIdleConnsPerHost = maxIdleConns
	// Compression would hide an object's length, and does not make pictures smaller.
	transport.DisableCompression = true
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(cfg.Endpoint),
		Region:       cfg.Region,
		Credentials:  aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(cfg.KeyID, cfg.Secret, "")),
		UsePathStyle: cfg.PathStyle,
		HTTPClient:   &http.Client{Transport: stallTimeoutTransport{transport}},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxBackoff = maxRetryWait
			o.RateLimiter = noRateLimit{} // the first request after an outage must be sent at once
		}),
		Logger: logging.Nop{},
		// The SDK verifies checksums if the server sends them. For an object that was uploaded in parts, the server sends no checksum of
		// the whole object. That needs no warning.
		DisableLogOutputChecksumValidationSkipped: true,
	})
}

// noRateLimit replaces the SDK's rate limit for retries, whose quota stays exhausted for a while after an outage.
type noRateLimit struct{}

func (noRateLimit) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (noRateLimit) AddTokens(uint) error { return nil }
