package supabase

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"atelie/internal/files"
)

// This file rewrites URLs in imported rows: a URL of one of the source's files becomes the URL of that file on this site.

// storagePaths are the beginnings of the paths of a project's files in URLs. The bucket and the name of the file follow, as in
// /storage/v1/object/public/product-images/vase.jpg. The shortest path comes last, because others begin with it.
var storagePaths = []string{
	files.PublicPath,
	"/storage/v1/object/sign/",
	"/storage/v1/object/authenticated/",
	"/storage/v1/render/image/public/",
	"/storage/v1/render/image/sign/",
	"/storage/v1/object/",
}

// rewriter returns the function that replaces URLs in the rows of a table. For the URL of one of the source's files, the function returns
// the file's public URL on this site. It returns other URLs as they are, also those of files in buckets that are not imported. It prints a
// line for each URL of a file that is not imported.
func (i *Import) rewriter(table string) func(string) string {
	return func(fileURL string) string {
		u, err := url.Parse(fileURL)
		if err != nil {
			return fileURL
		}
		bucket, name, ok := storedFile(u)
		isRelative := u.Host == "" && u.Scheme == "" // leads to this site already
		if !ok || isRelative {
			return fileURL
		}
		label := table + ": " + fileURL + ": "
		switch {
		case !i.isSource(u):
			text := label + "a file of another project, which is not imported (--project-url says which project's files are)"
			i.printErr = errors.Join(i.printErr, i.problem(printable(text)))
			return fileURL
		case !files.SiteBucket(bucket):
			i.printErr = errors.Join(i.printErr, i.problem(printable(label+"a file of a bucket that is not imported")))
			return fileURL
		}
		decodedName, err := url.PathUnescape(name)
		isImported := err == nil && i.files[bucket+"/"+decodedName]
		if i.Files != nil && !isImported {
			text := "Note: " + label + "this file is not imported, so a row shows nothing there"
			i.printErr = errors.Join(i.printErr, i.Print(printable(text)))
		}
		return i.Site.FilesURL + files.PublicPath + bucket + "/" + name
	}
}

// storedFile returns the bucket and the name of the project's file to which a URL leads. Both are encoded as in the URL. ok is false if
// the URL leads to no file of a project.
func storedFile(u *url.URL) (bucket, name string, ok bool) {
	for _, path := range storagePaths {
		if rest, cut := strings.CutPrefix(u.EscapedPath(), path); cut {
			bucket, name, ok = strings.Cut(rest, "/")
			return bucket, name, ok && name != ""
		}
	}
	return "", "", false
}

// isSource reports whether a URL leads to the source.
func (i *Import) isSource(u *url.URL) bool {
	if len(i.Origins) > 0 {
		return slices.Contains(i.Origins, origin(u))
	}
	return strings.HasSuffix(strings.ToLower(u.Hostname()), ".supabase.co")
}

// origin returns the host of a URL in lower case, with a port that is not the scheme's own. http and https count as the same: rows
// can be older than a project's certificate.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	return host
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
