package supabase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelie/internal/policy"
)

// Project is a running Supabase project, or another server with Supabase's API. It reads accounts, rows and files from the API. It
// implements Data and Files.
type Project struct{ client client }

// NewProject returns the project at a URL. key is its service key (the API key with full rights). wait waits between two attempts at a
// request.
func NewProject(projectURL, key string, wait func(ctx context.Context, d time.Duration) error) (*Project, error) {
	base, err := parseProjectURL(projectURL)
	if err != nil {
		return nil, err
	}
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the service key is missing, or has characters that no key has")
	}
	dialer := &net.Dialer{Timeout: connectTimeout}
	httpClient := &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
		// Redirects are not followed, because a redirect could send the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Project{client{base: base, key: key, http: httpClient, wait: wait}}, nil
}

// Close closes the idle connections.
func (p *Project) Close() { p.client.http.CloseIdleConnections() }

// Origin returns the host of a project's URL in the form of Import.Origins: in lower case, without a default port.
func Origin(projectURL string) (string, error) {
	u, err := parseProjectURL(projectURL)
	if err != nil {
		return "", err
	}
	return origin(u), nil
}

// json makes a request with the JSON of body, or without a body if body is nil, and decodes the JSON of the response into out.
func (p *Project) json(ctx context.Context, method, path string, query url.Values, body any, out any) error {
	var text []byte
	header := http.Header{"Accept": {"application/json"}}
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
		header.Set("Content-Type", "application/json")
	}
	response, err := p.client.readAll(ctx, method, path, query, text, header)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(response))
	d.UseNumber()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("%s %s: the response cannot be read: %w", method, printable(path), err)
	}
	return nil
}

// Rows reads a table by its key: each page begins after the last row of the page before, so that changes meanwhile neither repeat
// nor hide other rows. The table of roles has no such key and is read by row numbers.
func (p *Project) Rows(ctx context.Context, table string, yield func(map[string]any) error) error {
	last := ""
	for read := 0; ; {
		query := url.Values{"select": {"*"}, "limit": {strconv.Itoa(batch)}}
		if table == "user_roles" {
			query.Set("order", "user_id,role")
			query.Set("offset", strconv.Itoa(read))
		} else {
			query.Set("order", "id")
			if last != "" {
				query.Set("id", "gt."+last)
			}
		}
		var rows []map[string]any
		err := p.json(ctx, http.MethodGet, "/rest/v1/"+table, query, nil, &rows)
		if statusErr, ok := errors.AsType[*statusError](err); ok && statusErr.status == http.StatusNotFound && read == 0 {
			return ErrNoTable
		}
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		for _, row := range rows {
			if read++; table != "user_roles" {
				id, _ := row["id"].(string)
				if id <= last {
					return errors.New("the rows do not come in the order of their ids, which must be of the type uuid")
				}
				last = id
			}
			if err := yield(row); err != nil {
				return err
			}
		}
	}
}

// Others names the buckets that are not the site's and have files.
func (p *Project) Others(ctx context.Context, yield func(string) error) error {
	var buckets []struct{ ID string }
	if err := p.json(ctx, http.MethodGet, "/storage/v1/bucket", nil, nil, &buckets); err != nil {
		return err
	}
	for n, b := range buckets {
		if slices.Contains(policy.Buckets, b.ID) {
			continue
		}
		if n == 1000 {
			return yield("more than 1000 buckets")
		}
		entries, err := p.page(ctx, b.ID, "", 0, 1)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			if err := yield("the files of the bucket " + printable(b.ID) + ", which this site does not have"); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry is a file or, without an id, a folder in a listing.
type entry struct {
	Name     string  `json:"name"`
	ID       *string `json:"id"`
	Metadata struct {
		CacheControl string `json:"cacheControl"`
	} `json:"metadata"`
}

func (p *Project) page(ctx context.Context, bucket, folder string, offset, limit int) (entries []entry, err error) {
	err = p.json(ctx, http.MethodPost, "/storage/v1/object/list/"+url.PathEscape(bucket), nil, map[string]any{
		"prefix": folder, "limit": limit, "offset": offset, "sortBy": map[string]string{"column": "name", "order": "asc"},
	}, &entries)
	return entries, err
}

// placeholderFile is the name of the file that the dashboard puts into an empty folder.
const placeholderFile = ".emptyFolderPlaceholder"

// List lists a bucket folder by folder, since the API has no listing of full names that every version knows.
func (p *Project) List(ctx context.Context, bucket string, yield func(File) error) error {
	const perPage = 500
	folders := []string{""}
	seen := 0
	for len(folders) > 0 {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		for offset := 0; ; {
			entries, err := p.page(ctx, bucket, folder, offset, perPage)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				break
			}
			for _, e := range entries {
				if seen++; seen > maxFiles {
					return fmt.Errorf("the source has more than %d files and folders", maxFiles)
				}
				switch {
				case e.Name == "" || e.Name == placeholderFile:
				case e.ID != nil:
					if err := yield(File{Name: folder + e.Name, CacheControl: e.Metadata.CacheControl}); err != nil {
						return err
					}
				case strings.Count(folder, "/") >= maxDepth || len(folder)+len(e.Name) > 2048:
					return fmt.Errorf("folders lie deeper than %d levels, or have very long names", maxDepth)
				default:
					folders = append(folders, folder+strings.TrimSuffix(e.Name, "/")+"/")
				}
			}
			offset += len(entries)
		}
	}
	return nil
}

// headBytes is how many bytes of a file are requested when only its first bytes are needed.
const headBytes = 64 << 10

// Open downloads a file.
func (p *Project) Open(ctx context.Context, bucket string, f File, head bool) (io.ReadCloser, int64, error) {
	header := http.Header{}
	if head {
		header.Set("Range", fmt.Sprintf("bytes=0-%d", headBytes-1))
	}
	segments := strings.Split(f.Name, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
		if s == "." || s == ".." {
			return io.NopCloser(bytes.NewReader(nil)), 0, nil // the site refuses the name
		}
	}
	res, err := p.client.do(ctx, http.MethodGet, "/storage/v1/object/authenticated/"+bucket+"/"+strings.Join(segments, "/"), nil, nil, header)
	if statusErr, ok := errors.AsType[*statusError](err); ok && (statusErr.status == http.StatusNotFound || statusErr.status == http.StatusBadRequest) {
		return nil, 0, ErrNoFile
	}
	if err != nil {
		return nil, 0, err
	}
	size := res.ContentLength
	if res.StatusCode == http.StatusPartialContent {
		size = -1
		if _, total, ok := strings.Cut(res.Header.Get("Content-Range"), "/"); ok {
			if n, err := strconv.ParseInt(total, 10, 64); err == nil {
				size = n
			}
		}
	}
	return res.Body, size, nil
}
