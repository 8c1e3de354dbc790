package auth

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelie/internal/httpx"
)

type usersBody struct {
	Users []User `json:"users"`
	Aud   string `json:"aud"`
}

// userPage is which accounts to list. Pages count from 1.
type userPage struct {
	number, size int64
	oldestFirst  bool
	filter       string // a part of the address or of the full name; "" lists all
}

const (
	usersPerPage    = 50
	maxUsersPerPage = 1000
)

// AdminListUsers is GET /auth/v1/admin/users, for the service key alone: a page of accounts, newest first. per_page is
// taken as 1000 beyond that. X-Total-Count and Link tell of the rest.
func (s *Service) AdminListUsers(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	query := r.URL.Query()
	page, err := readUserPage(query)
	if err != nil {
		return err
	}
	users, total, err := listUsers(ctx, s.db, page)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Total-Count", strconv.FormatInt(total, 10))
	h.Set("Link", pageLinks(r.URL.Path, query, page, total))
	return httpx.JSON(w, http.StatusOK, usersBody{Users: users, Aud: "authenticated"})
}

func readUserPage(query url.Values) (userPage, error) {
	p := userPage{number: 1, size: usersPerPage, filter: query.Get("filter")}
	for name, field := range map[string]*int64{"page": &p.number, "per_page": &p.size} {
		text := query.Get(name)
		if text == "" { // the client sends both names always
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return userPage{}, errPagination.Because(err)
		}
		*field = int64(min(n, math.MaxInt32))
	}
	if p.size == 0 {
		return userPage{}, errPagination.Becausef("per_page is 0")
	}
	p.number, p.size = max(p.number, 1), min(p.size, maxUsersPerPage)
	if !utf8.ValidString(p.filter) || strings.ContainsRune(p.filter, 0) {
		return userPage{}, errUnreadableText
	}
	if query.Has("sort") {
		field, direction, _ := strings.Cut(query.Get("sort"), " ")
		direction = strings.ToLower(direction)
		if field != "created_at" || direction != "" && direction != "asc" && direction != "desc" {
			return userPage{}, errSort.Becausef("sort %q", query.Get("sort"))
		}
		p.oldestFirst = direction == "asc"
	}
	return p, nil
}

// pageLinks writes the Link header. page stands first in each query, because the client reads what follows the first =.
func pageLinks(path string, query url.Values, p userPage, total int64) string {
	rest := url.Values{}
	for name, values := range query {
		if name != "page" && name != "apikey" {
			rest[name] = values
		}
	}
	link := func(page int64, rel string) string {
		address := fmt.Sprintf("%s?page=%d", path, page)
		if more := rest.Encode(); more != "" {
			address += "&" + more
		}
		return "<" + address + `>; rel="` + rel + `"`
	}
	last := (total + p.size - 1) / p.size
	links := link(last, "last")
	if last > p.number {
		links = link(p.number+1, "next") + ", " + links
	}
	return links
}
