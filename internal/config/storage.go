package config

import (
	"errors"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// S3 is the parsed URL of a bucket for files or backups, at Amazon S3 or a service with the same API, such as
// s3://KEY:SECRET@s3.example.com/bucket/prefix?region=eu-west-1.
type S3 struct {
	Endpoint  string // http(s)://host[:port]
	Region    string
	KeyID     string // id of the access key
	Secret    string // secret of the access key
	Bucket    string
	Prefix    string // beginning of the names of all objects: "", or a text that ends with a slash
	PathStyle bool   // true: the URLs of objects have the bucket's name in the path; false: in the host name
	Create    bool   // the bucket is created if it does not exist
}

// The accepted names of buckets and regions.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
)

// storageURL is the name of the setting with the URL of the bucket for files.
const storageURL = "storage-url"

// Bucket parses the setting storage-url, the URL of the bucket for files. It returns nil if the setting is empty: files are then stored in
// the data folder. Errors are those of ParseS3.
func (s *Storage) Bucket() (*S3, error) {
	if s.URL == "" {
		return nil, nil
	}
	return ParseS3(storageURL, s.URL)
}

// ParseS3 parses the URL of a bucket. setting is the name of the setting or flag with the URL. The error has one line for each mistake,
// and each line begins with that name. The error does not repeat the URL, because it contains a secret.
func ParseS3(setting, bucketURL string) (*S3, error) {
	u, err := url.Parse(bucketURL)
	if err != nil || u.Scheme != "s3" || u.Hostname() == "" || u.Fragment != "" || u.Opaque != "" {
		hint := ""
		if setting == storageURL {
			hint = "; leave it empty to store files in the data folder"
		}
		return nil, errors.New(setting + ": is not a URL such as s3://KEY:SECRET@s3.example.com/bucket (write / in a secret as %2F, + as %2B" + hint + ")")
	}
	var m mistakes // collects the errors
	check := func(isWrong bool, format string, args ...any) { m.addIf(isWrong, setting+": "+format, args...) }
	b := &S3{Endpoint: "https://" + u.Host, Region: "us-east-1", KeyID: u.User.Username(), PathStyle: true}
	b.Secret, _ = u.User.Password()
	check(b.KeyID == "" || b.Secret == "", "needs a key and a secret before the @")
	b.Bucket, b.Prefix, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	check(!bucketName.MatchString(b.Bucket), "names no bucket after the host: 3 to 63 lower-case letters, digits, dots and hyphens")
	if b.Prefix != "" {
		check(path.Clean(b.Prefix) != b.Prefix || strings.HasPrefix(b.Prefix, ".."), "the prefix after the bucket must not have empty or dot segments")
		b.Prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	check(err != nil, "the parameters after ? are invalid")
	for _, name := range slices.Sorted(maps.Keys(query)) {
		value := query.Get(name)
		check(len(query[name]) > 1, "%s is given twice", name)
		var on Switch
		if name == "tls" || name == "path-style" || name == "create" {
			check(on.UnmarshalText([]byte(value)) != nil, "%s must be on or off", name)
		}
		switch name {
		case "region":
			b.Region = value
			check(!regionName.MatchString(value), "region must be a name such as eu-west-1")
		case "tls":
			if !on {
				b.Endpoint = "http://" + u.Host
			}
		case "path-style":
			b.PathStyle = bool(on)
		case "create":
			b.Create = bool(on)
		default:
			check(true, "the only parameters are region, tls, path-style and create")
		}
	}
	if len(m) > 0 {
		return nil, m.join()
	}
	return b, nil
}
