package storage

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// maxPageV2 is the longest and the usual page of the newer listing.
const maxPageV2 = 1000

// listV2Request is the body of the newer listing as the client sends it. Prefix is how full names begin.
type listV2Request struct {
	Prefix        string `json:"prefix"`
	Limit         *int64 `json:"limit"`
	Cursor        string `json:"cursor"`
	WithDelimiter bool   `json:"with_delimiter"`
	SortBy        struct {
		Column string `json:"column"`
		Order  string `json:"order"`
	} `json:"sortBy"`
	NoncurrentVersions string `json:"noncurrentVersions"`
}

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

type listV2Answer struct {
	HasNext    bool           `json:"hasNext"`
	Folders    []listV2Folder `json:"folders"`
	Objects    []listV2Object `json:"objects"`
	NextCursor string         `json:"nextCursor,omitempty"`
}

// ListV2 answers POST /storage/v1/object/list-v2/{bucket}: full names, and pages by cursor, which stay right while
// objects come and go. To who may not list, every bucket is empty (READING §2).
func (s *Service) ListV2(w http.ResponseWriter, r *http.Request) error {
	var req listV2Request
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	p, err := req.page(r.PathValue("bucket"))
	if err != nil {
		return err
	}
	answer := listV2Answer{Folders: []listV2Folder{}, Objects: []listV2Object{}}
	if !policy.Object(identity.Of(r.Context()), p.Bucket, policy.FileList) || !storable(p.Bucket) {
		return httpx.JSON(w, http.StatusOK, answer)
	}
	limit := int(p.Limit)
	p.Limit++ // one more tells whether there is another page
	entries, err := listPage(r.Context(), s.db, p)
	if err != nil {
		return err
	}
	if answer.HasNext = len(entries) > limit; answer.HasNext {
		entries = entries[:limit]
		if answer.NextCursor, err = p.cursor(entries[limit-1]); err != nil {
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
			answer.Objects = append(answer.Objects, listV2Object{o.ID, e.Name, key, isoTime(o.UpdatedAt), created, created, o.metadata()})
		} else {
			answer.Folders = append(answer.Folders, listV2Folder{e.Name, key})
		}
	}
	return httpx.JSON(w, http.StatusOK, answer)
}

// page checks the request.
func (req *listV2Request) page(bucketID string) (p page, err error) {
	p = page{Bucket: bucketID, Prefix: strings.TrimLeft(req.Prefix, "/"), Delimiter: req.WithDelimiter, Column: "name", Limit: maxPageV2}
	if !storable(p.Prefix) {
		return p, errInvalidParameter("prefix must not have control characters")
	}
	if req.Limit != nil {
		p.Limit = min(*req.Limit, maxPageV2)
	}
	if p.Limit < 1 {
		return p, errInvalidParameter("limit must be from 1 to " + strconv.Itoa(maxPageV2))
	}
	if c := req.SortBy.Column; c != "" {
		if !slices.Contains(pageSorts, c) {
			return p, errInvalidParameter("sortBy.column must be one of " + strings.Join(pageSorts, ", "))
		}
		p.Column = c
	}
	if p.Descending, err = isDescending(req.SortBy.Order, "sortBy.order"); err != nil {
		return p, err
	}
	if v := req.NoncurrentVersions; v != "" && v != "exclude" {
		return p, errNotOffered("noncurrentVersions")
	}
	if req.Cursor != "" {
		p.After, err = p.place(req.Cursor)
	}
	return p, err
}

// place reads a cursor. Nothing secret is in it, and a made-up one only begins elsewhere.
func (p *page) place(cursor string) (*place, error) {
	bad := func(cause error) *apperr.Error {
		return errInvalidParameter("cursor is not one of this listing").Because(cause)
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, bad(err)
	}
	var at place
	if err := json.Unmarshal(text, &at); err != nil {
		return nil, bad(err)
	}
	if !storable(at.Name) || (p.Column != "name" && !at.Folder) != (at.Time != nil) || (at.Time != nil && (at.Time.Year() < 1970 || at.Time.Year() > 9999)) {
		return nil, bad(nil)
	}
	return &at, nil
}

// cursor writes where a page ended.
func (p *page) cursor(last entry) (string, error) {
	at := place{Name: last.Name, Folder: last.Object == nil}
	if o := last.Object; o != nil {
		switch p.Column {
		case "created_at":
			at.Time = &o.CreatedAt
		case "updated_at":
			at.Time = &o.UpdatedAt
		}
	}
	text, err := json.Marshal(at)
	return base64.RawURLEncoding.EncodeToString(text), err
}
