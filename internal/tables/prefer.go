package tables

import (
	"net/http"
	"strconv"
	"strings"
)

// This file reads the Prefer request header (RFC 7240), by which a client chooses details of a write and of the response.

// preferences are the values of the Prefer header, for the preferences that PostgREST knows. A preference that was not sent is "". If a
// preference is repeated, only the first one has an effect.
type preferences struct {
	resolution  string // merge-duplicates or ignore-duplicates: what an insert does if a row has the key already
	missing     string // default or null: the value of a column that is missing in a row of the body
	result      string // the preference return: representation, minimal, headers-only
	count       string // exact, planned, estimated: all three give the exact count
	timezone    string // UTC; other time zones are treated as unknown preferences
	handling    string // strict or lenient: an unknown preference is an error, or is ignored
	maxAffected *int64 // maximum number of rows that a write may change; used only with handling=strict, as in PostgREST
}

// parsePrefer reads the Prefer header. It ignores unknown preferences, except with handling=strict: then it returns an error for them.
func parsePrefer(h http.Header) (preferences, error) {
	var p preferences
	var unknown []string
	for part := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		part = strings.TrimSpace(part)
		name, value, _ := strings.Cut(part, "=")
		switch part {
		case "", "tx=commit", "tx=rollback": // the latter two are ignored, as with PostgREST's default settings
		case "resolution=merge-duplicates", "resolution=ignore-duplicates", "missing=default", "missing=null",
			"return=representation", "return=minimal", "return=headers-only", "count=exact", "count=planned", "count=estimated",
			"handling=strict", "handling=lenient", "timezone=UTC":
			if preference := p.named(name); *preference == "" {
				*preference = value
			}
		default: // max-affected has any number as its value
			n, err := strconv.ParseInt(value, 10, 64)
			if name != "max-affected" || err != nil || n < 0 {
				unknown = append(unknown, part)
			} else if p.maxAffected == nil {
				p.maxAffected = &n
			}
		}
	}
	if p.handling == "strict" && unknown != nil {
		return p, errPreferences(unknown)
	}
	return p, nil
}

// named returns the preference with a name, other than max-affected.
func (p *preferences) named(name string) *string {
	return map[string]*string{
		"resolution": &p.resolution, "missing": &p.missing, "return": &p.result, "count": &p.count, "handling": &p.handling, "timezone": &p.timezone,
	}[name]
}

// applied returns the value of the Preference-Applied header: the named preferences that the request has.
func (p preferences) applied(names ...string) string {
	var out []string
	for _, name := range names {
		value := ""
		if name != "max-affected" {
			value = *p.named(name)
		} else if limit := p.affectedLimit(); limit != nil {
			value = strconv.FormatInt(*limit, 10)
		}
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	return strings.Join(out, ", ")
}

// affectedLimit returns the maximum number of rows that a write may change, or nil for no limit.
func (p preferences) affectedLimit() *int64 {
	if p.handling != "strict" {
		return nil
	}
	return p.maxAffected
}
