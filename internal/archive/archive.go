// Package archive writes a whole site into one zip file (Export) and reads such a file into an empty site (Open, Import). The file
// has the site's rows as JSON, the original files, and a static copy of the public pages. It has no passwords, keys or sessions.
// docs/hosting.md describes the format.
package archive

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"atelie/internal/db"
)

// Format is the version of the format. A program reads archives of its own version and of all earlier ones.
const Format = 1

// Names in an archive.
const (
	manifestName = "site.json"
	readmeName   = "README.txt"
	tablesFolder = "tables/"
	filesFolder  = "files/" // the originals
	staticFolder = "site/"  // the static copy
	filesList    = tablesFolder + "files.json"
	bucketsList  = tablesFolder + "buckets.json"
)

// entryTime is the time of all entries of an archive, so that the same content gives the same bytes. Zip knows no earlier one.
var entryTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Manifest is site.json, the last entry of an archive.
type Manifest struct {
	Format  int    `json:"format"`
	Schema  int64  `json:"schema"`  // schema version of the database
	Program string `json:"program"` // version of the program
	SiteURL string `json:"site_url"`
	// Owners are the addresses of the owners. An import makes no accounts of them.
	Owners []string `json:"owners"`
	// Rows has the number of rows by table. Files and Pages count the originals and the pages of the static copy.
	Rows    map[string]int64  `json:"rows"`
	Files   int               `json:"files"`
	Pages   int               `json:"pages"`
	LeftOut map[string]string `json:"left_out"` // tables that are not in the archive, and why
	Entries []Entry           `json:"entries"`  // all entries except this one
}

// Entry describes an entry of the zip file. Size is in bytes before compression; SHA256 is in hexadecimal digits.
type Entry struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// File is a stored file of the site, a row of tables/files.json. Path is its entry. Fields without a JSON name are known only to an
// export.
type File struct {
	Path         string          `json:"path"`
	Bucket       string          `json:"bucket"`
	Name         string          `json:"name"` // the name of the object in its bucket
	CacheControl string          `json:"cache_control"`
	Metadata     json.RawMessage `json:"metadata,omitempty"` // the JSON object that came with the upload
	Focus        *[2]float64     `json:"focus,omitempty"`    // the picture's focus point, as fractions of width and height

	BlobID, SHA256 string `json:"-"`
	Size           int64  `json:"-"`
	Cleaned        bool   `json:"-"` // the public file is a cleaned copy of this one
}

// View names a page of the static copy. Language is en or pt. Work is the id of the work that the page shows, or "". Part counts the
// pages of a gallery from 0.
type View struct {
	Path, Language, Work string
	Part                 int
}

// Config has what archives need of the rest of the program.
type Config struct {
	DB              *db.DB
	SiteURL, APIURL string // public URLs of the site and of its backend
	Program         string // version of the program
	Now             func() time.Time

	Owners  func(ctx context.Context) ([]string, error)
	Files   func(ctx context.Context, q db.Querier) ([]File, error) // all files, in a fixed order, with empty paths
	Buckets func(ctx context.Context, q db.Querier) ([]json.RawMessage, error)

	// For exports. Open opens the bytes of a file. Paths are the paths of the public pages; Draw returns the HTML of one, and the number
	// of its parts; Locate returns the view that has the page of a work. Get answers a GET request for a path of the site.
	Open   func(ctx context.Context, blobID string) (io.ReadSeekCloser, error)
	Paths  func() ([]string, error)
	Draw   func(ctx context.Context, v View) (html []byte, parts int, err error)
	Locate func(ctx context.Context, linked View) (at View, ok bool, err error)
	Get    func(ctx context.Context, target string) (Response, error)

	// For imports. Put stores a file as an upload does.
	SaveBucket func(ctx context.Context, bucket json.RawMessage) error
	Put        func(ctx context.Context, f File, body io.Reader) error
	SetFocus   func(ctx context.Context, f File) error
}

// Response is the answer to a GET request.
type Response struct {
	Status      int
	ContentType string
	Body        []byte
}

// Progress is called from time to time: part names what is being done, done and all count it.
type Progress func(part string, done, all int)
