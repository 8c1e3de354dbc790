package storage

import (
	"net/http"
	"slices"
	"strings"

	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Limits of the calls that take JSON: pages of a listing, names in one removal, bytes of a body.
const (
	defaultPage = 100 // the client's default (spec §9)
	maxPage     = 1500
	maxRemoved  = 1000
	maxBody     = 2 << 20
)

// listRequest is the body of a listing as the client sends it.
type listRequest struct {
	Prefix string `json:"prefix"`
	Limit  *int64 `json:"limit"`
	Offset int64  `json:"offset"`
	Search string `json:"search"`
	SortBy struct {
		Column string `json:"column"`
		Order  string `json:"order"`
	} `json:"sortBy"`
}

// listItem is an entry as the client's type FileObject reads it; a folder has nulls (WIRE, Files).
type listItem struct {
	Name           string        `json:"name"`
	ID             *string       `json:"id"`
	UpdatedAt      *string       `json:"updated_at"`
	CreatedAt      *string       `json:"created_at"`
	LastAccessedAt *string       `json:"last_accessed_at"`
	Metadata       *fileMetadata `json:"metadata"`
}

// List answers POST /storage/v1/object/list/{bucket}. To who may not list, every bucket is empty (READING §2).
func (s *Service) List(w http.ResponseWriter, r *http.Request) error {
	var req listRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	l, prefix, err := req.listing(r.PathValue("bucket"))
	if err != nil {
		return err
	}
	items := []listItem{}
	if !policy.Object(identity.Of(r.Context()), l.Bucket, policy.FileList) || !storable(l.Bucket) {
		return httpx.JSON(w, http.StatusOK, items)
	}
	entries, err := listEntries(r.Context(), s.db, l)
	if err != nil {
		return err
	}
	for _, e := range entries {
		item := listItem{Name: prefix + e.Name}
		if o := e.Object; o != nil {
			created, updated := isoTime(o.CreatedAt), isoTime(o.UpdatedAt)
			item.ID, item.CreatedAt, item.UpdatedAt, item.LastAccessedAt, item.Metadata = &o.ID, &created, &updated, &created, o.metadata()
		}
		items = append(items, item)
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// listing checks the request. A search may lead into a folder; its names then begin with that folder, as prefix says.
func (req *listRequest) listing(bucketID string) (l listing, prefix string, err error) {
	l = listing{Bucket: bucketID, Folder: strings.TrimLeft(req.Prefix, "/"), Search: req.Search, Column: "name", Limit: defaultPage, Offset: req.Offset}
	if l.Folder != "" && !strings.HasSuffix(l.Folder, "/") {
		l.Folder += "/"
	}
	if slash := strings.LastIndexByte(l.Search, '/'); slash >= 0 {
		prefix, l.Search = l.Search[:slash+1], l.Search[slash+1:]
		l.Folder += prefix
	}
	if !storable(l.Folder) || !storable(l.Search) {
		return l, "", errInvalidParameter("prefix and search must not have control characters")
	}
	if req.Limit != nil {
		l.Limit = min(*req.Limit, maxPage)
	}
	if l.Limit < 1 {
		return l, "", errInvalidParameter("limit must be at least 1")
	}
	if l.Offset < 0 {
		return l, "", errInvalidParameter("offset must not be negative")
	}
	if req.SortBy.Column != "" {
		if !slices.Contains(listSorts, req.SortBy.Column) {
			return l, "", errInvalidParameter("sortBy.column must be one of " + strings.Join(listSorts, ", "))
		}
		l.Column = req.SortBy.Column
	}
	l.Descending, err = isDescending(req.SortBy.Order, "sortBy.order")
	return l, prefix, err
}
