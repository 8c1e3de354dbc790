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
	csvMedia    = "text/csv"
)

// format is the form of an answer, as Accept asks for it. The zero value is a JSON array.
type format struct {
	single bool // one object instead of an array
	csv    bool
	strip  bool // members that are null are left out
}

// media is the Content-Type, without the charset.
func (f format) media() string {
	switch {
	case f.csv:
		return csvMedia
	case f.single && f.strip:
		return objectMedia + ";nulls=stripped"
	case f.single:
		return objectMedia
	case f.strip:
		return "application/vnd.pgrst.array+json;nulls=stripped"
	}
	return arrayMedia
}

// acceptable are the media types that can be answered; with nulls=stripped the vendor's own ones leave out nulls.
var acceptable = map[string]format{
	"*/*": {}, "application/*": {}, arrayMedia: {},
	"application/vnd.pgrst.array+json": {}, "application/vnd.pgrst.array": {},
	objectMedia: {single: true}, "application/vnd.pgrst.object": {single: true},
	csvMedia: {csv: true},
}

// negotiate reads Accept. Nothing acceptable is PGRST107; that includes execution plans, which stay closed.
func negotiate(h http.Header) (format, error) {
	accept := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return format{}, nil
	}
	best, chosen := 0.0, format{}
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		f, known := acceptable[media]
		weight := 1.0
		if q, given := params["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if !known || !(weight > best) || weight > 1 { // of equals the first counts; NaN is none
			continue
		}
		f.strip = params["nulls"] == "stripped" && strings.HasPrefix(media, "application/vnd.pgrst.")
		best, chosen = weight, f
	}
	if best == 0 {
		return format{}, errMediaType(accept)
	}
	return chosen, nil
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

// show puts rows (one JSON text each) into the answer; nil rows mean no body. fields are what the rows hold.
func (a answer) show(rows []string, f format, fields []Field) (answer, error) {
	if rows == nil {
		return a, nil
	}
	a.media = f.media()
	var err error
	switch {
	case f.csv:
		a.body, err = csvText(rows, fields)
		return a, err
	case f.strip:
		if rows, err = withoutNulls(rows); err != nil {
			return a, err
		}
	}
	switch {
	case !f.single:
		a.body = "[" + strings.Join(rows, ",") + "]"
	case len(rows) == 1: // none when HEAD measured it
		a.body = rows[0]
	}
	return a, nil
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
