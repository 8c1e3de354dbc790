package tables

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles calls of the server's functions, at /rest/v1/rpc/{function}.

// function is a function of the server that clients can call.
type function struct {
	params   []string                   // names of the arguments, sorted; all are required
	readOnly bool                       // the function writes nothing, so GET can call it too
	result   Kind                       // kind of the returned value; "" if the function returns none
	allowed  func(identity.Caller) bool // reports whether a caller may call the function
	// call runs the function and returns its result as JSON, or "" if there is none.
	call func(s *Service, ctx context.Context, args map[string]any) (string, error)
}

// functions contains the functions of this package by name. Other packages handle the other functions, such as get_history. A function
// whose name begins with move_ moves some rows of a table to another place in the table's order. A function whose name begins with reorder_
// sets the order of all rows.
var functions = map[string]function{
	"get_missing_texts": {readOnly: true, result: JSON, allowed: policy.MissingTexts, call: (*Service).getMissingTexts},
	"get_user_role":     {params: []string{"user_id"}, readOnly: true, result: Text, allowed: hasAccountOrServiceKey, call: (*Service).getUserRole},
	"move_saved_reply":  moveRows("saved_replies", "saved reply"),
	"move_series":       moveRows("series", "series"),
	"move_series_work":  moveRows("series_works", "work of a series"),
	"move_work":         moveRows("products", "work"),
	"reorder_covers":    reorderRows("cover_images", "cover"),
	"reorder_reviews":   reorderRows("reviews", "review"),
	// address is the URL of the picture.
	"set_media_focus": {params: []string{"address", "x", "y"}, allowed: policy.MediaFocus, call: (*Service).setMediaFocus},
}

// hasAccountOrServiceKey reports whether the caller is signed in, or has the service key. getUserRole checks the rest.
func hasAccountOrServiceKey(c identity.Caller) bool {
	return c.Role == identity.Authenticated || c.Role == identity.Service
}

// mayUpdate returns the condition of functions that change the order of a table's rows.
func mayUpdate(table string) func(identity.Caller) bool {
	return func(c identity.Caller) bool { return policy.Table(c, table, policy.Update).Allowed }
}

// RPC handles GET and POST /rest/v1/rpc/{function}. The arguments are in the query string, or in the body as a JSON object or a form.
func (s *Service) RPC(w http.ResponseWriter, r *http.Request) error {
	if err := checkSchemaHeader(w, r); err != nil {
		return err
	}
	format, err := negotiate(r.Header)
	if err != nil {
		return err
	}
	prefer, err := parsePrefer(r.Header)
	if err != nil {
		return err
	}
	name := r.PathValue("function")
	args, err := readArguments(w, r)
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
	if caller := identity.Of(r.Context()); !f.allowed(caller) {
		return httpx.DeniedError(caller, "function "+name)
	}
	result, err := f.call(s, r.Context(), args)
	if err != nil {
		return err
	}
	headers := map[string]string{"Preference-Applied": prefer.applied("count", "handling", "timezone")}
	if result == "" {
		return response{status: http.StatusNoContent, headers: headers}.write(w, r)
	}
	var total *int64
	if prefer.count != "" {
		total = new(int64(1))
	}
	headers["Content-Range"] = contentRange(0, 1, total)
	if format.csv {
		if result, err = encodeCSV([]string{`{"pgrst_scalar":` + result + `}`}, []Field{{Column: &Column{Kind: f.result}}}); err != nil {
			return err
		}
	}
	format.stripNulls = false // a function's result is a single value, not a row
	return response{status: http.StatusOK, media: format.media(), body: result, headers: headers}.write(w, r)
}

// queryParams are the parameters of queries on tables. In a call of a function they are not arguments and have no effect, because
// the result is a single value.
var queryParams = []string{"select", "order", "limit", "offset", "columns", "on_conflict", "and", "or"}

// readArguments returns the arguments of a function call by name: from the query string, or for POST from the body.
func readArguments(w http.ResponseWriter, r *http.Request) (map[string]any, error) {
	args := map[string]any{}
	if r.Method != http.MethodPost {
		params, err := parseQueryParams(r.URL.RawQuery)
		for _, p := range params {
			if !slices.Contains(queryParams, p.key) {
				args[p.key] = p.value
			}
		}
		return args, err
	}
	body, media, err := readBody(w, r, jsonMedia, formMedia)
	if err != nil || len(strings.TrimSpace(string(body))) == 0 {
		return args, err
	}
	if media == formMedia {
		return parseForm(body)
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

// getUserRole is the function get_user_role: it returns the role of an account as a JSON string, or null. A signed-in account
// may ask for its own role, an owner for any role.
func (s *Service) getUserRole(ctx context.Context, args map[string]any) (string, error) {
	id, err := fromJSON(UUID, args["user_id"])
	if err != nil {
		return "", err
	}
	if caller := identity.Of(ctx); !policy.UserRole(caller, id.(string)) {
		return "", httpx.DeniedError(caller, "function get_user_role")
	}
	t := schema["user_roles"]
	st := renderValue(s.db.Dialect, t, t.byName["role"], Compare{t.Key, Equal, id})
	role, err := db.One[string](ctx, s.db, st.sql, st.args...)
	if errors.Is(err, db.ErrNoRows) {
		return "null", nil
	}
	return jsonText(role), err
}

// reorderRows returns the function that sets the order of a table's rows. noun names a row in error texts.
func reorderRows(table, noun string) function {
	return function{params: []string{"ids"}, allowed: mayUpdate(table), call: func(s *Service, ctx context.Context, args map[string]any) (string, error) {
		return "", s.reorder(ctx, schema[table], noun, args["ids"])
	}}
}

// reorder numbers the rows of t in one transaction: first those named by ids, from 1 in the order of ids, then the others in
// the order that they had.
func (s *Service) reorder(ctx context.Context, t *Table, noun string, ids any) error {
	named, err := rowIDs(noun, ids)
	if err != nil {
		return err
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := db.LockTable(ctx, tx, t.Name); err != nil { // otherwise a row that is added meanwhile could get a number that is in use
			return err
		}
		all, err := queryTexts(ctx, tx, renderKeys(tx.Dialect, &Query{Table: t, Where: visible(identity.Of(ctx), t), Order: []Term{{Column: t.Position}}}))
		if err != nil {
			return err
		}
		for _, id := range named {
			if !slices.Contains(all, id) {
				return errReorder("there is no " + noun + " " + id)
			}
		}
		rest := slices.DeleteFunc(all, func(id string) bool { return slices.Contains(named, id) })
		order := slices.Concat(named, rest)
		changed, err := queryTexts(ctx, tx, renderRenumber(tx.Dialect, t, order))
		if err != nil || len(changed) == 0 {
			return err
		}
		return s.recordWritten(ctx, tx, t, orderKeys(order, changed), sameKeys(changed))
	})
}

// rowIDs reads the argument ids, and returns an error if an id is repeated.
func rowIDs(noun string, arg any) ([]string, error) {
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
			return nil, errReorder("the " + noun + " " + text + " is named twice")
		}
		seen[text] = true
		ids = append(ids, text)
	}
	return ids, nil
}
