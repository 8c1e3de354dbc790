package storage

import (
	"net/http"
	"strings"

	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles requests for the older of the two listings of objects. This listing has the entries of one folder: objects and
// subfolders. The newer listing is in listv2.go.

// Limits of requests with a JSON body. Other handlers of this package also use maxNames and maxBodyBytes.
const (
	defaultPageSize = 100  // entries of a listing if the request has no limit; also the client's default
	maxPageSize     = 1500 // maximum number of entries in a listing
	maxNames        = 1000 // maximum number of names in a request to remove or sign objects
	maxBodyBytes    = 2 << 20
)

// listRequest is the body of a request to List.
type listRequest struct {
	Prefix string `json:"prefix"` // the folder; "" is the top level
	Limit  *int64 `json:"limit"`  // maximum number of entries, at most maxPageSize; nil means defaultPageSize
	Offset int64  `json:"offset"` // number of entries to skip
	Search string `json:"search"` // only entries whose names begin with this text are listed
	SortBy sortBy `json:"sortBy"`
}

// sortBy is the order of a listing of objects.
type sortBy struct {
	Column string `json:"column"` // "" means the default of the listing, the name
	Order  string `json:"order"`  // asc or desc; "" means asc
}

// listItem is an entry in the form of the type FileObject of the client (supabase-js). For a folder, all fields except the name
// are null.
type listItem struct {
	Name           string        `json:"name"`
	ID             *string       `json:"id"`
	UpdatedAt      *string       `json:"updated_at"`
	CreatedAt      *string       `json:"created_at"`
	LastAccessedAt *string       `json:"last_accessed_at"`
	Metadata       *fileMetadata `json:"metadata"`
}

// List handles POST /storage/v1/object/list/{bucket}. It responds with the entries directly in a folder. Callers who may not list get an
// empty array for every bucket.
func (s *Service) List(w http.ResponseWriter, r *http.Request) error {
	var req listRequest
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return err
	}
	l, prefix, err := req.toListing(r.PathValue("bucket"))
	if err != nil {
		return err
	}
	items := []listItem{} // not nil: without entries, the response is []
	// No name can contain a longer search text, and SQLite refuses long patterns.
	if !policy.Object(identity.Of(r.Context()), l.Bucket, policy.FileList) || !files.Storable(l.Bucket) || len(l.Search) > files.MaxName {
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
			item.ID, item.CreatedAt, item.UpdatedAt, item.LastAccessedAt, item.Metadata = &o.ID, &created, &updated, &created, metadataOf(o)
		}
		items = append(items, item)
	}
	return httpx.JSON(w, http.StatusOK, items)
}

// toListing checks the request. If the search text contains a slash, the part up to its last slash is a folder below the requested one.
// prefix is this part. The names in the response begin with it.
func (req *listRequest) toListing(bucketID string) (l listing, prefix string, err error) {
	l = listing{Bucket: bucketID, Folder: strings.TrimLeft(req.Prefix, "/"), Search: req.Search, Column: "name", Limit: defaultPageSize, Offset: req.Offset}
	if l.Folder != "" && !strings.HasSuffix(l.Folder, "/") {
		l.Folder += "/"
	}
	if slash := strings.LastIndexByte(l.Search, '/'); slash >= 0 {
		prefix, l.Search = l.Search[:slash+1], l.Search[slash+1:]
		l.Folder += prefix
	}
	if !files.Storable(l.Folder) || !files.Storable(l.Search) {
		return l, "", files.ErrInvalidParameter("prefix and search must not have control characters")
	}
	if req.Limit != nil {
		l.Limit = min(*req.Limit, maxPageSize)
	}
	if l.Limit < 1 {
		return l, "", files.ErrInvalidParameter("limit must be at least 1")
	}
	if l.Offset < 0 {
		return l, "", files.ErrInvalidParameter("offset must not be negative")
	}
	l.Descending, err = readSorting(req.SortBy.Column, req.SortBy.Order, listSorts, "sortBy.column", "sortBy.order", &l.Column)
	return l, prefix, err
}
