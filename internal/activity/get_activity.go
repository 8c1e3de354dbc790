package activity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles rpc/get_activity, from which the owner's account page gets the activity log, pageSize entries at a time.

// maxBody is the maximum size of a request body in bytes.
const maxBody = 4 << 10

// The errors of a malformed request. All errors of /rest/v1 have codes as in PostgREST. 22023 is PostgreSQL's code (SQLSTATE) for an
// invalid parameter value.
var (
	errInvalidKind  = apperr.New(http.StatusBadRequest, "22023", `"kind" must be sign_in, refused, change, export or key, or be left out`)
	errInvalidAfter = apperr.New(http.StatusBadRequest, "22023", `"after" must be the value of "next" in an earlier response, or be left out`)
)

// response is the body of a response of rpc/get_activity.
type response struct {
	Entries []Entry `json:"entries"`
	Next    string  `json:"next"` // value of "after" for the request of the next entries; "" if there are none
}

// GetActivity handles rpc/get_activity {kind, after}. It returns at most pageSize entries, the newest first.
//   - kind selects the entries of one kind. For example, "refused" stands for refused attempts such as a sign-in with a wrong password, and
//     "key" for changes of keys, roles and accounts. Without kind, the response has entries of all kinds.
//   - after is the value of "next" in the previous response. Without it, the response begins with the newest entry.
func (s *Service) GetActivity(w http.ResponseWriter, r *http.Request) error {
	if caller := identity.Of(r.Context()); !policy.Activity(caller) {
		return httpx.DeniedError(caller, "the activity")
	}
	var body struct {
		Kind  Kind
		After string
	}
	if err := httpx.DecodeRPC(w, r, maxBody, &body); err != nil {
		return err
	}
	kinds := Kinds
	if body.Kind != "" {
		if !slices.Contains(Kinds, body.Kind) {
			return errInvalidKind
		}
		kinds = []Kind{body.Kind}
	}
	after, err := parsePosition(body.After)
	if err != nil {
		return errInvalidAfter.Because(err)
	}
	page, err := s.readPage(r.Context(), kinds, after)
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, page)
}

// readPage merges the entries of the activity table and the events of accounts in the order of Position, and returns the first pageSize of
// them. It reads one more of each, to know whether other entries follow.
func (s *Service) readPage(ctx context.Context, kinds []Kind, after Position) (response, error) {
	stored, err := listStoredEntries(ctx, s.db, kinds, after, pageSize+1)
	if err != nil {
		return response{}, err
	}
	events, err := s.cfg.Events(ctx, kinds, after, pageSize+1)
	if err != nil {
		return response{}, err
	}
	list := make([]Entry, 0, len(stored)+len(events))
	positions := make(map[string]Position, cap(list))
	for _, e := range stored {
		list = append(list, e.Entry)
		positions[e.ID] = Position{e.At, e.entryID, uuid.Nil.String()} // all events of accounts with the same time follow
	}
	for _, e := range events {
		list = append(list, e)
		positions[e.ID] = Position{e.At, 0, e.ID} // no entry of the activity table with the same time follows
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return b.At.Compare(a.At) })
	if len(list) <= pageSize {
		return response{Entries: list}, nil
	}
	list = list[:pageSize]
	return response{list, positions[list[pageSize-1].ID].encode()}, nil
}

// beforeNewest is the position before the newest entry. Its year is so late that no wrong clock has written a later time.
var beforeNewest = Position{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Event: uuid.Nil.String()}

// encode returns the position as text, which clients send back as "after".
func (p Position) encode() string {
	text, _ := json.Marshal(p) //nolint:errchkjson // a time before the year 10000 always has a JSON form
	return base64.RawURLEncoding.EncodeToString(text)
}

// parsePosition parses the text of encode. "" stands for beforeNewest.
func parsePosition(text string) (p Position, err error) {
	if text == "" {
		return beforeNewest, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, err
	}
	if p.At.Year() < 1 {
		return p, errors.New("the time is out of range")
	}
	id, err := uuid.Parse(p.Event)
	p.Event = id.String()
	return p, err
}
