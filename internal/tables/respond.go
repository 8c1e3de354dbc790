package tables

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// This file chooses the format of a response by the Accept header of the request, and writes the response.

// Media types of request bodies and responses.
const (
	jsonMedia   = "application/json"
	objectMedia = "application/vnd.pgrst.object+json"
	csvMedia    = "text/csv"
)

// format is the form of a response that the Accept header asks for. The zero value is a JSON array.
type format struct {
	single     bool // one JSON object instead of an array
	csv        bool // CSV instead of JSON
	stripNulls bool // the JSON object of a row leaves out the keys whose value is null
}

// media returns the Content-Type, without the charset.
func (f format) media() string {
	switch {
	case f.csv:
		return csvMedia
	case f.single && f.stripNulls:
		return objectMedia + ";nulls=stripped"
	case f.single:
		return objectMedia
	case f.stripNulls:
		return "application/vnd.pgrst.array+json;nulls=stripped"
	}
	return jsonMedia
}

// formats maps the media types of Accept that the server can send to their formats. PostgREST's own types
// (application/vnd.pgrst…) can also have the parameter nulls=stripped.
var formats = map[string]format{
	"*/*": {}, "application/*": {}, jsonMedia: {},
	"application/vnd.pgrst.array+json": {}, "application/vnd.pgrst.array": {},
	objectMedia: {single: true}, "application/vnd.pgrst.object": {single: true},
	csvMedia: {csv: true},
}

// negotiate returns the format that the Accept header prefers. If the server can send none of its media types, the error has the code
// PGRST107. Execution plans (application/vnd.pgrst.plan) are never sent, because they would show internals of the database.
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
		f, known := formats[media]
		weight := 1.0
		if q, given := params["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		// If weights are equal, the first type counts. The condition is not weight <= best, because NaN must be skipped too.
		if !known || !(weight > best) || weight > 1 {
			continue
		}
		f.stripNulls = params["nulls"] == "stripped" && strings.HasPrefix(media, "application/vnd.pgrst.")
		best, chosen = weight, f
	}
	if best == 0 {
		return format{}, errMediaType(accept)
	}
	return chosen, nil
}

// checkSchemaHeader returns an error if the request names a schema other than public: in the Accept-Profile header of GET and HEAD, or in the
// Content-Profile header of other methods. If the request names the schema public, the response gets the Content-Profile header.
func checkSchemaHeader(w http.ResponseWriter, r *http.Request) error {
	header := "Content-Profile"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		header = "Accept-Profile"
	}
	switch r.Header.Get(header) {
	case "":
	case "public":
		w.Header().Set("Content-Profile", "public")
	default:
		return errSchema
	}
	return nil
}

// contentRange returns the Content-Range header: "0-23/100", or "0-23/*" with a nil total, and "*/0" or "*/*" without rows.
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

// response is the HTTP response to a request on a table.
type response struct {
	status  int
	headers map[string]string // headers with an empty value are not sent
	media   string            // "" means no body
	body    string
}

// setRows sets the body to the rows, which are JSON texts with the given fields; nil rows mean no body.
func (res *response) setRows(rows []string, f format, fields []Field) (err error) {
	if rows == nil {
		return nil
	}
	res.media = f.media()
	switch {
	case f.csv:
		res.body, err = encodeCSV(rows, fields)
		return err
	case f.stripNulls:
		if rows, err = removeNulls(rows); err != nil {
			return err
		}
	}
	switch {
	case !f.single:
		res.body = "[" + strings.Join(rows, ",") + "]"
	case len(rows) == 1: // for HEAD there are no rows (countPage)
		res.body = rows[0]
	}
	return nil
}

func (res response) write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	for name, value := range res.headers {
		if value != "" {
			h.Set(name, value)
		}
	}
	if res.media != "" {
		h.Set("Content-Type", res.media+"; charset=utf-8")
	}
	if res.media == "" || r.Method == http.MethodHead {
		w.WriteHeader(res.status)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(res.body)))
	w.WriteHeader(res.status)
	_, err := io.WriteString(w, res.body)
	return err
}
