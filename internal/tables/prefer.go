package tables

import (
	"net/http"
	"strconv"
	"strings"
)

// preferences are what the Prefer header asks for (RFC 7240), "" where it is silent. Of repeated ones the first counts.
type preferences struct {
	resolution  string // merge-duplicates, ignore-duplicates
	missing     string // default, null
	result      string // representation, minimal, headers-only
	count       string // exact, planned, estimated: all three are answered exactly
	timezone    string // UTC alone; other zones are unknown here
	handling    string // strict, lenient
	maxAffected *int64 // counts under strict handling alone
}

// parsePrefer reads the header. Unknown preferences are ignored, or refused when handling=strict is among them.
func parsePrefer(h http.Header) (preferences, error) {
	var p preferences
	var invalid []string
	for part := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		part = strings.TrimSpace(part)
		name, value, _ := strings.Cut(part, "=")
		switch part {
		case "":
		case "resolution=merge-duplicates", "resolution=ignore-duplicates":
			first(&p.resolution, value)
		case "missing=default", "missing=null":
			first(&p.missing, value)
		case "return=representation", "return=minimal", "return=headers-only":
			first(&p.result, value)
		case "count=exact", "count=planned", "count=estimated":
			first(&p.count, value)
		case "handling=strict", "handling=lenient":
			first(&p.handling, value)
		case "timezone=UTC":
			first(&p.timezone, value)
		case "tx=commit", "tx=rollback": // known, and ignored as in the reference's default
		default:
			n, err := strconv.ParseInt(value, 10, 64)
			switch {
			case name != "max-affected" || err != nil || n < 0:
				invalid = append(invalid, part)
			case p.maxAffected == nil:
				p.maxAffected = &n
			}
		}
	}
	if p.handling == "strict" && invalid != nil {
		return p, errPreferences(invalid)
	}
	return p, nil
}

func first(dst *string, value string) {
	if *dst == "" {
		*dst = value
	}
}

// applied writes Preference-Applied: of the named preferences, those that were sent.
func (p preferences) applied(names ...string) string {
	sent := map[string]string{"resolution": p.resolution, "missing": p.missing, "return": p.result, "count": p.count, "handling": p.handling, "timezone": p.timezone}
	if limit := p.affectedLimit(); limit != nil {
		sent["max-affected"] = strconv.FormatInt(*limit, 10)
	}
	var out []string
	for _, name := range names {
		if sent[name] != "" {
			out = append(out, name+"="+sent[name])
		}
	}
	return strings.Join(out, ", ")
}

// affectedLimit gives the most rows that a write may change, nil without a limit.
func (p preferences) affectedLimit() *int64 {
	if p.handling != "strict" {
		return nil
	}
	return p.maxAffected
}
