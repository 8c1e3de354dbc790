package tables

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const (
	arrayMedia  = "application/json"
	objectMedia = "application/vnd.pgrst.object+json"
)

// negotiate reads Accept and tells whether one object is wanted instead of an array. Nothing acceptable is PGRST107.
func negotiate(h http.Header) (single bool, err error) {
	accept := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return false, nil
	}
	best := 0.0
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || params["nulls"] != "" {
			continue
		}
		weight := 1.0
		if q, given := params["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if weight <= best { // of equals the first counts
			continue
		}
		switch media {
		case "*/*", "application/*", arrayMedia, "application/vnd.pgrst.array+json", "application/vnd.pgrst.array":
			best, single = weight, false
		case objectMedia, "application/vnd.pgrst.object":
			best, single = weight, true
		}
	}
	if best == 0 {
		return false, errMediaType(accept)
	}
	return single, nil
}

// checkProfile refuses schemas other than public, and names the schema when the client did.
func checkProfile(w http.ResponseWriter, r *http.Request) error {
	header := "Content-Profile"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		header = "Accept-Profile"
	}
	switch r.Header.Get(header) {
	case "":
	case "public":
		w.Header().Set("Content-Profile", "public")
	default:
		return errSchema()
	}
	return nil
}

// contentRange writes Content-Range: "0-23/100", "0-23/*" without a count, "*/0" or "*/*" when nothing is shown.
func contentRange(offset, shown int64, total *int64) string {
	part, of := "*", "*"
	if shown > 0 {
		part = strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+shown-1, 10)
	}
	if total != nil {
		of = strconv.FormatInt(*total, 10)
	}
	return part + "/" + of
}

// answer is what a request on a table gets.
type answer struct {
	status  int
	headers map[string]string // those with an empty value are left out
	media   string            // "" means no body
	body    string
}

// show puts rows (one JSON text each) into the answer, as an array or as the one object; nil rows mean no body.
func (a answer) show(rows []string, single bool) answer {
	switch {
	case rows == nil:
	case single && len(rows) == 1:
		a.media, a.body = objectMedia, rows[0]
	case single: // the headers of one row, without it (HEAD)
		a.media = objectMedia
	default:
		a.media, a.body = arrayMedia, "["+strings.Join(rows, ",")+"]"
	}
	return a
}

func (a answer) write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	for name, value := range a.headers {
		if value != "" {
			h.Set(name, value)
		}
	}
	if a.media != "" {
		h.Set("Content-Type", a.media+"; charset=utf-8")
	}
	if a.media == "" || r.Method == http.MethodHead {
		w.WriteHeader(a.status)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, err := io.WriteString(w, a.body)
	return err
}
