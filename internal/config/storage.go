package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// S3 is a bucket's address, taken apart. Endpoint is http(s)://host[:port]; Prefix is empty or ends in a slash.
type S3 struct {
	Endpoint, Region  string
	KeyID, Secret     string
	Bucket, Prefix    string
	PathStyle, Create bool
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
)

// S3 reads the address of the bucket; nil when files are kept in the data folder. The error has one line per mistake,
// and none repeats the address: it has a secret.
func (s *Storage) S3() (*S3, error) {
	if s.URL == "" {
		return nil, nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "s3" || u.Hostname() == "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("storage-url: is not an address such as s3://KEY:SECRET@s3.example.com/bucket (write / in a secret as %2F, + as %2B; leave it empty for the data folder)")
	}
	var errs []error
	mistake := func(format string, args ...any) { errs = append(errs, fmt.Errorf("storage-url: "+format, args...)) }
	b := &S3{Endpoint: "https://" + u.Host, Region: "us-east-1", KeyID: u.User.Username(), PathStyle: true}
	b.Secret, _ = u.User.Password()
	if b.KeyID == "" || b.Secret == "" {
		mistake("needs a key and a secret before the @")
	}
	folder := strings.Trim(u.Path, "/")
	b.Bucket, b.Prefix, _ = strings.Cut(folder, "/")
	if !bucketName.MatchString(b.Bucket) {
		mistake("names no bucket after the host: 3 to 63 lower-case letters, digits, dots and hyphens")
	}
	if b.Prefix != "" {
		if path.Clean(b.Prefix) != b.Prefix || strings.HasPrefix(b.Prefix, "..") {
			mistake("the prefix after the bucket must not have empty or dot segments")
		}
		b.Prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		mistake("what stands after ? cannot be read")
	}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var (
			value = query.Get(name)
			on    Switch
		)
		if len(query[name]) > 1 {
			mistake("%s stands twice", name)
		}
		switch name {
		case "region":
			if b.Region = value; !regionName.MatchString(value) {
				mistake("region must be a name such as eu-west-1")
			}
			continue
		case "tls", "path-style", "create":
			if err := on.UnmarshalText([]byte(value)); err != nil {
				mistake("%s must be on or off", name)
			}
		default:
			mistake("after ? only region, tls, path-style and create can stand")
			continue
		}
		switch name {
		case "tls":
			if !on {
				b.Endpoint = "http://" + u.Host
			}
		case "path-style":
			b.PathStyle = bool(on)
		case "create":
			b.Create = bool(on)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return b, nil
}
