package storage

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"atelie/internal/files"
)

// FuzzNames checks that a valid name never leads out of a folder, however often its percent-escapes are decoded.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"a.png", "folder/a.png", "../x", "a//b", "%2e%2e/x", "%252e%252e%252fx", `a\b`, "a\x00", "é/ü.png", "%", "%zz", strings.Repeat("a", files.MaxName+1)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !files.ValidName(name) {
			return
		}
		if len(name) > files.MaxName || !files.Storable(name) {
			t.Errorf("%q cannot be stored", name)
		}
		for seen := name; ; {
			if path.Clean("/"+seen) != "/"+seen || strings.ContainsAny(seen, "\\\x00") || !utf8.ValidString(seen) {
				t.Errorf("%q becomes %q", name, seen)
			}
			decoded, err := url.PathUnescape(seen)
			if err != nil || decoded == seen {
				return
			}
			seen = decoded
		}
	})
}

// FuzzForm checks that a form is either refused, or has one file whose content is contiguous in the body.
func FuzzForm(f *testing.F) {
	const boundary = "limit"
	part := func(header, body string) string {
		return "--" + boundary + "\r\n" + header + "\r\n\r\n" + body + "\r\n"
	}
	file := part(`Content-Disposition: form-data; name=""; filename="a.png"`, "bytes")
	for _, body := range []string{
		file + "--" + boundary + "--\r\n", part(`Content-Disposition: form-data; name="cacheControl"`, "3600") + file + "--" + boundary + "--", file, file + file + "--" + boundary + "--",
		part(`Content-Disposition: form-data; name="metadata"`, `{"a":1}`) + file + part(`Content-Disposition: form-data; name="metadata"`, "null") + "--" + boundary + "--", part("X: y", ""), "",
		strings.Repeat(part(`Content-Disposition: form-data; name="x"`, "y"), maxFields+1) + file,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		parsed := &form{parts: multipart.NewReader(bytes.NewReader(body), boundary)}
		err := parsed.findFile()
		if err == nil {
			var content []byte
			if content, err = io.ReadAll(parsed); err == nil {
				if !bytes.Contains(body, content) {
					t.Errorf("%q is not in %q", content, body)
				}
				_, err = parsed.options()
			}
		}
		if err != nil && !files.IsRefusal(err) {
			t.Errorf("%q: %v", body, err)
		}
	})
}

// FuzzOptions checks that accepted options of an upload can be stored and sent unchanged.
func FuzzOptions(f *testing.F) {
	for _, pair := range [][2]string{{"max-age=3600", `{"a":1}`}, {"public, max-age=1, stale-while-revalidate=5", "null"}, {"max-age=-1", "[]"}, {"no-store, no-store", `{"a":"\u0000"}`}, {"x\r\nX-Injected: 1", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)}} {
		f.Add(pair[0], []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, directives string, metadata []byte) {
		header, err := parseCacheControl(directives)
		if err != nil && !files.IsRefusal(err) {
			t.Error(err)
		}
		if err == nil {
			if again, err := parseCacheControl(header); err != nil || again != header || strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q gives %q, and that %q (%v)", directives, header, again, err)
			}
		}
		m, err := decodeMetadata(metadata)
		if err == nil {
			var text any
			if text, err = encodeMetadata(m); err == nil && text != nil {
				if _, err := decodeMetadata([]byte(text.(string))); err != nil || strings.Contains(text.(string), `\u0000`) && !strings.Contains(text.(string), `\\u0000`) {
					t.Errorf("%q gives %q (%v)", metadata, text, err)
				}
			}
		}
		if err != nil && !files.IsRefusal(err) {
			t.Errorf("%q: %v", metadata, err)
		}
	})
}
