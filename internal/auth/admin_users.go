package auth

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file handles the requests of the admin API that read accounts: all of them in pages, or one.

// usersResponse is the response body of AdminListUsers.
type usersResponse struct {
	Users []User `json:"users"`
	Aud   string `json:"aud"` // always "authenticated", as Supabase Auth sends it
}

const (
	usersPerPage    = 50   // accounts on a page if the request has no per_page
	maxUsersPerPage = 1000 // a larger per_page is reduced to this number
)

// AdminListUsers handles GET /auth/v1/admin/users, and requires the service key (the API key with the role service_role). It returns a page
// of the accounts that the filter parameter selects. The newest account comes first; sort=created_at asc reverses the order. The
// X-Total-Count header is the number of accounts on all pages. The Link header has the URLs of the next page and the last page.
func (s *Service) AdminListUsers(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := requireServiceKey(ctx); err != nil {
		return err
	}
	query := r.URL.Query()
	request, err := readUserPageRequest(query)
	if err != nil {
		return err
	}
	users, total, err := listUsers(ctx, s.db, request)
	if err != nil {
		return err
	}
	lastPage := (total + request.size - 1) / request.size
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	w.Header().Set("Link", pageLinks(r.URL.Path, query, request.number, lastPage))
	return respondPrivate(w, usersResponse{Users: users, Aud: "authenticated"}, nil)
}

// readUserPageRequest reads the query parameters page, per_page, filter (a part of the e-mail address or of the full name) and sort
// ("created_at", "created_at asc" or "created_at desc").
func readUserPageRequest(query url.Values) (userPageRequest, error) {
	request := userPageRequest{number: 1, size: usersPerPage, filter: query.Get("filter")}
	for name, field := range map[string]*int{"page": &request.number, "per_page": &request.size} {
		text := query.Get(name)
		if text == "" { // supabase-js sends both parameters even if its caller gave no values
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return userPageRequest{}, errPagination.Because(err)
		}
		*field = int(min(n, math.MaxInt32)) // avoids an overflow of int
	}
	if request.size == 0 {
		return userPageRequest{}, errPagination.Becausef("per_page is 0")
	}
	request.number, request.size = max(request.number, 1), min(request.size, maxUsersPerPage)
	if !utf8.ValidString(request.filter) || strings.ContainsRune(request.filter, 0) {
		return userPageRequest{}, errUnstorableText
	}
	if query.Has("sort") {
		field, direction, _ := strings.Cut(query.Get("sort"), " ")
		direction = strings.ToLower(direction)
		if field != "created_at" || direction != "" && direction != "asc" && direction != "desc" {
			return userPageRequest{}, errSort.Becausef("sort %q", query.Get("sort"))
		}
		request.oldestFirst = direction == "asc"
	}
	return request, nil
}

// AdminGetUser handles GET /auth/v1/admin/users/{user_id}, and requires the service key.
func (s *Service) AdminGetUser(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	u, err := userInPath(r.Context(), s.db, r)
	return respondPrivate(w, u, err)
}
