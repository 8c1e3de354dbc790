package tables

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// function is what /rest/v1/rpc/{function} can call. call gives the JSON of the result, "" for none.
type function struct {
	params   []string // all of them required
	readOnly bool     // only these answer GET
	result   Kind
	call     func(s *Service, ctx context.Context, args map[string]any) (string, error)
}

var functions = map[string]function{
	"get_user_role":   {params: []string{"user_id"}, readOnly: true, result: Text, call: (*Service).getUserRole},
	"reorder_reviews": {params: []string{"ids"}, call: (*Service).reorderReviews},
	"set_media_focus": {params: []string{"address", "x", "y"}, call: (*Service).setMediaFocus},
}

// RPC answers GET and POST /rest/v1/rpc/{function}. Arguments come in the address, as a JSON object or
// as a form.
func (s *Service) RPC(w http.ResponseWriter, r *http.Request) error {
	if err := checkProfile(w, r); err != nil {
		return err
	}
	form, err := negotiate(r.Header)
	if err != nil {
		return err
	}
	prefer, err := parsePrefer(r.Header)
	if err != nil {
		return err
	}
	name := r.PathValue("function")
	args, err := arguments(w, r)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(args))
	f, ok := functions[name]
	if !ok || !slices.Equal(names, f.params) {
		return errUnknownFunction(name, names)
	}
	if r.Method != http.MethodPost && !f.readOnly {
		return errReadOnly
	}
	result, err := f.call(s, r.Context(), args)
	if err != nil {
		return err
	}
	headers := map[string]string{"Preference-Applied": prefer.applied("count", "handling", "timezone")}
	if result == "" {
		return answer{status: http.StatusNoContent, headers: headers}.write(w, r)
	}
	var total *int64
	if prefer.count != "" {
		total = new(int64)
		*total = 1
	}
	headers["Content-Range"] = contentRange(0, 1, total)
	if form.csv {
		if result, err = csvText([]string{`{"pgrst_scalar":` + result + `}`}, []Field{{Column: &Column{Kind: f.result}}}); err != nil {
			return err
		}
	}
	form.strip = false // a function's value is no object
	return answer{status: http.StatusOK, media: form.media(), body: result, headers: headers}.write(w, r)
}

// aside are the parameters that shape an answer; a single value has nothing to shape, so that they change nothing.
var aside = []string{"select", "order", "limit", "offset", "columns", "on_conflict", "and", "or"}

func arguments(w http.ResponseWriter, r *http.Request) (map[string]any, error) {
	args := map[string]any{}
	if r.Method != http.MethodPost {
		pairs, err := parsePairs(r.URL.RawQuery)
		for _, p := range pairs {
			if !slices.Contains(aside, p.key) {
				args[p.key] = p.value
			}
		}
		return args, err
	}
	body, media, err := readBody(w, r, arrayMedia, formMedia)
	if err != nil || len(strings.TrimSpace(string(body))) == 0 {
		return args, err
	}
	if media == formMedia {
		return formObject(body)
	}
	v, err := decodeJSON(body)
	if err != nil {
		return nil, err
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, errBody("Empty or invalid json", "the arguments must be an object")
	}
	return args, nil
}

// getUserRole gives the role of a user as a JSON string, or null (spec §6). Signed-in users may ask for themselves,
// admins for anyone.
func (s *Service) getUserRole(ctx context.Context, args map[string]any) (string, error) {
	caller := identity.Of(ctx)
	if caller.Role == identity.Anon || caller.Role == "" {
		return "", errDenied(caller, "function get_user_role") // before a word about the arguments
	}
	id, err := fromJSON(UUID, args["user_id"])
	if err != nil {
		return "", err
	}
	if !policy.UserRole(caller, id.(string)) {
		return "", errDenied(caller, "function get_user_role")
	}
	t := schema["user_roles"]
	st := renderValue(s.db.Dialect, t, t.byName["role"], Compare{t.Key, Equal, id})
	var role string
	err = s.db.QueryRow(ctx, st.sql, st.args...).Scan(&role)
	if errors.Is(err, db.ErrNoRows) {
		return "null", nil
	}
	return jsonText(role), err
}

// reorderReviews gives the named reviews the numbers 1..n in the order of ids; those that are not named follow in the
// order that they had. Either all of it happens or nothing (READING §3.14).
func (s *Service) reorderReviews(ctx context.Context, args map[string]any) (string, error) {
	caller := identity.Of(ctx)
	if !policy.ReorderReviews(caller) {
		return "", errDenied(caller, "function reorder_reviews")
	}
	named, err := reviewIDs(args["ids"])
	if err != nil {
		return "", err
	}
	t := schema["reviews"]
	return "", s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lock(ctx, tx, t); err != nil { // a review that is added now would get a number twice
			return err
		}
		all, err := texts(ctx, tx, renderKeys(tx.Dialect, &Query{Table: t, Where: visible(caller, t), Order: []Term{{Column: t.Counter}}}))
		if err != nil {
			return err
		}
		for _, id := range named {
			if !slices.Contains(all, id) {
				return errReorder("there is no review " + id)
			}
		}
		rest := slices.DeleteFunc(all, func(id string) bool { return slices.Contains(named, id) })
		order := slices.Concat(named, rest)
		changed, err := texts(ctx, tx, renderRenumber(tx.Dialect, t, order))
		if err != nil || len(changed) == 0 {
			return err
		}
		s.announce(ctx, tx, t)
		return s.recordWritten(ctx, tx, t, inOrder(order, changed), same(changed))
	})
}

// reviewIDs reads a list of ids without repeats.
func reviewIDs(arg any) ([]string, error) {
	items, err := fromJSON(List, arg)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	ids := []string{}
	for _, item := range items.([]string) {
		id, err := parseUUID(item)
		if err != nil {
			return nil, err
		}
		text := id.(string)
		if seen[text] {
			return nil, errReorder("the review " + text + " is named twice")
		}
		seen[text] = true
		ids = append(ids, text)
	}
	return ids, nil
}
