package storage

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file handles requests for the newer of the two listings of objects. A response has a page of entries (objects and folders) and a
// cursor for the next page. The older listing is in list.go.

// maxPageSizeV2 is the maximum number of entries in a page of ListV2, and the default.
const maxPageSizeV2 = 1000

// listV2Request is the body of a request to ListV2.
type listV2Request struct {
	Prefix             string `json:"prefix"`         // the beginning of the full names
	Limit              *int64 `json:"limit"`          // maximum number of entries, at most maxPageSizeV2; nil means maxPageSizeV2
	Cursor             string `json:"cursor"`         // from the previous response; "" for the first page
	WithDelimiter      bool   `json:"with_delimiter"` // true: a folder below the prefix is one entry; false: its objects are entries
	SortBy             sortBy `json:"sortBy"`
	NoncurrentVersions string `json:"noncurrentVersions"` // must be exclude or "", because objects have no versions
}

// listV2Folder and listV2Object are the entries of a page. Name is the full name; the Name of a folder ends in a slash. Key is Name without
// that slash. If the request has WithDelimiter, Key is only the last part of the name: the folder "a/b/" has the Key "b".
type listV2Folder struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type listV2Object struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	Key            string        `json:"key"`
	UpdatedAt      string        `json:"updated_at"`
	CreatedAt      string        `json:"created_at"`
	LastAccessedAt string        `json:"last_accessed_at"`
	Metadata       *fileMetadata `json:"metadata"`
}

type listV2Response struct {
	HasNext    bool           `json:"hasNext"`
	Folders    []listV2Folder `json:"folders"`
	Objects    []listV2Object `json:"objects"`
	NextCursor string         `json:"nextCursor,omitempty"`
}

// ListV2 handles POST /storage/v1/object/list-v2/{bucket}. Unlike List, it returns full names, and a cursor instead of an offset. If
// objects are added or removed between two requests, the next page still begins where the previous page ended. Callers who may not list
// get an empty list for every bucket (docs/product.md, rule 1).
func (s *Service) ListV2(w http.ResponseWriter, r *http.Request) error {
	var req listV2Request
	if err := httpx.DecodeLenientJSON(w, r, maxBodyBytes, &req); err != nil {
		return err
	}
	p, err := req.toPage(r.PathValue("bucket"))
	if err != nil {
		return err
	}
	response := listV2Response{Folders: []listV2Folder{}, Objects: []listV2Object{}} // empty, not null, in JSON
	if !policy.Object(identity.Of(r.Context()), p.Bucket, policy.FileList) || !files.Storable(p.Bucket) {
		return httpx.JSON(w, http.StatusOK, response)
	}
	limit := int(p.Limit)
	p.Limit++ // one entry more shows whether there is another page
	entries, err := listPage(r.Context(), s.db, p)
	if err != nil {
		return err
	}
	if response.HasNext = len(entries) > limit; response.HasNext {
		entries = entries[:limit]
		if response.NextCursor, err = p.encodeCursor(entries[limit-1]); err != nil {
			return err
		}
	}
	for _, e := range entries {
		key := strings.TrimSuffix(e.Name, "/")
		if p.Delimiter {
			key = key[strings.LastIndexByte(key, '/')+1:]
		}
		if o := e.Object; o != nil {
			created := isoTime(o.CreatedAt)
			response.Objects = append(response.Objects, listV2Object{o.ID, e.Name, key, isoTime(o.UpdatedAt), created, created, metadataOf(o)})
		} else {
			response.Folders = append(response.Folders, listV2Folder{e.Name, key})
		}
	}
	return httpx.JSON(w, http.StatusOK, response)
}

// toPage checks the request.
func (req *listV2Request) toPage(bucketID string) (p page, err error) {
	p = page{Bucket: bucketID, Prefix: strings.TrimLeft(req.Prefix, "/"), Delimiter: req.WithDelimiter, Column: "name", Limit: maxPageSizeV2}
	if !files.Storable(p.Prefix) {
		return p, files.ErrInvalidParameter("prefix must not have control characters")
	}
	if req.Limit != nil {
		p.Limit = min(*req.Limit, maxPageSizeV2)
	}
	if p.Limit < 1 {
		return p, files.ErrInvalidParameter("limit must be from 1 to " + strconv.Itoa(maxPageSizeV2))
	}
	if p.Descending, err = readSorting(req.SortBy.Column, req.SortBy.Order, pageSorts, "sortBy.column", "sortBy.order", &p.Column); err != nil {
		return p, err
	}
	if v := req.NoncurrentVersions; v != "" && v != "exclude" {
		return p, files.ErrNotSupported("noncurrentVersions")
	}
	if req.Cursor != "" {
		p.After, err = p.decodeCursor(req.Cursor)
	}
	return p, err
}

// decodeCursor decodes and checks a cursor. A cursor is not signed, because it contains nothing secret, and with a forged cursor
// the page only begins elsewhere.
func (p *page) decodeCursor(cursor string) (*pageEnd, error) {
	var end pageEnd
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &end)
	}
	needsTime := p.Column != "name" && !end.Folder                                   // the order by name needs none, and a folder has none
	badYear := end.Time != nil && (end.Time.Year() < 1970 || end.Time.Year() > 9999) // only a forged cursor has such a year
	if err != nil || !files.Storable(end.Name) || needsTime != (end.Time != nil) || badYear {
		return nil, files.ErrInvalidParameter("cursor is not one of this listing").Because(err)
	}
	return &end, nil
}

// encodeCursor returns the cursor for the next page after a page that ends with the entry last.
func (p *page) encodeCursor(last entry) (string, error) {
	end := pageEnd{Name: last.Name, Folder: last.Object == nil}
	if o := last.Object; o != nil {
		switch p.Column {
		case "created_at":
			end.Time = &o.CreatedAt
		case "updated_at":
			end.Time = &o.UpdatedAt
		}
	}
	text, err := json.Marshal(end)
	return base64.RawURLEncoding.EncodeToString(text), err
}
