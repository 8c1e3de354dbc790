package media

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// This file responds to requests for public renditions (resized copies of pictures) from the row cache, without a query. The row cache
// contains the database rows of earlier responses. This file also defines how long a failure to make a rendition is remembered.

// publicRenditionPath is the prefix of the path in every public URL of a rendition.
const publicRenditionPath = "/storage/v1/render/image/public/"

// fallbackLifetime is how long cached rows are used for a rendition in a format that is not the best one for the client. After this time
// the rows are read again, because the rendition in the best format may exist by then. A new rendition does not invalidate the row cache:
// visitors cause new renditions, and must not be able to empty the cache.
const fallbackLifetime = 10 * time.Second

// errReadAgain is returned for cached rows that must be read again: they have expired, or they name a substitute (an existing picture that
// was sent because the rendition did not exist yet).
var errReadAgain = errors.New("the rows must be read again")

// FromCache returns a handler that responds to requests for public renditions whose rows are in the row cache. It passes all other
// requests to next. For public renditions, next must call RenderPublic, which also adds the rows to the cache.
func (s *Service) FromCache(next http.Handler) http.Handler {
	keyOf := func(r *http.Request) (string, bool) {
		if (r.Method != http.MethodGet && r.Method != http.MethodHead) || !strings.HasPrefix(r.URL.Path, publicRenditionPath) {
			return "", false
		}
		return rowKey(r), true
	}
	respond := func(w http.ResponseWriter, r *http.Request, rows servedRows) error {
		isExpired := !rows.expires.IsZero() && !s.now().Before(rows.expires)
		if rows.rendition.isSubstitute || isExpired {
			return errReadAgain
		}
		return s.sendFile(w, r, false, rows) // false: the rendition is public
	}
	return s.rows.FromCache(next, keyOf, respond)
}

// rowKey returns the key of a request in the row cache. It contains everything on which the response depends: the URL, and whether the
// client accepts AVIF and WebP.
func rowKey(r *http.Request) string {
	formats := ""
	avif, webp := acceptedFormats(r.Header.Get("Accept"))
	if avif {
		formats = "a"
	}
	if webp {
		formats += "w"
	}
	return formats + r.URL.EscapedPath() + "?" + r.URL.RawQuery
}

// After a rendition could not be made, this process responds to requests for that rendition with the same error for failureLifetime,
// because another attempt would take as long. The process remembers at most maxFailures errors.
const (
	failureLifetime = 10 * time.Minute
	maxFailures     = 1000
)

// failure is the error of a rendition that could not be made. Until the time expires, requests for the rendition get this error.
type failure struct {
	err     error
	expires time.Time
}
